"""The example of [GK1990], printed beside what dynid derives from its Table I.

M. Gautier, W. Khalil, Direct calculation of minimum set of inertial parameters of serial robots, IEEE Trans.
Robotics and Automation 6(3), 1990: relations (15), (16), (19) and (20), and the 36 base parameters of the
PUMA 560. Everything is compared as formulas. Exit status 0 if all agree, known misprints corrected.

Run it with:  python papers/gautier_khalil_1990.py
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import degrees, radians

from dynid import load_robot
from dynid.base import base_parameters
from dynid.base.gautier_khalil import gautier_khalil_symbolic
from dynid.base.modified_dh import ModifiedDH, modified_dh
from dynid.base.relations import (
    TENSOR,
    Place,
    State,
    closed_form,
    columns_moved,
    columns_of_rotation,
    first_axes,
    initial_state,
    regroup_link,
    symbolic_places,
    transport,
    without_effect,
)
from dynid.base.symbolic import Poly, combination_text, poly, symbol
from dynid.spatial import PARAMETER_LETTERS

# --- what the paper prints ----------------------------------------------------------------------------

# Table I: sigma, alpha (deg), d, theta, r of each joint; lengths are letters, 0 where they vanish.
TABLE_I = (
    (0, 0, "0", "theta1", "0"),
    (0, -90, "0", "theta2", "0"),
    (0, 0, "D3", "theta3", "R3"),
    (0, -90, "D4", "theta4", "R4"),
    (0, 90, "0", "theta5", "0"),
    (0, -90, "0", "theta6", "0"),
)

NO_EFFECT_BY_RULES = "XX1 XY1 XZ1 YY1 YZ1 MX1 MY1 MZ1 M1"
NO_EFFECT = NO_EFFECT_BY_RULES + " MZ2 M2"
REGROUPED = "YY2 YY3 MZ3 M3 YY4 MZ4 M4 YY5 MZ5 M5 YY6 MZ6 M6"

# Step b: the regroupings that are printed for each link.
REGROUPINGS = {
    6: {
        "XXR6": "XX6 - YY6",
        "XXR5": "XX5 + YY6",
        "ZZR5": "ZZ5 + YY6",
        "MYR5": "MY5 + MZ6",
        "MR5": "M5 + M6",
    },
    5: {
        "XXR5": "XX5 + YY6 - YY5",
        "XXR4": "XX4 + YY5",
        "ZZR4": "ZZ4 + YY5",
        "MYR4": "MY4 - MZ5",
        "MR4": "M4 + M5 + M6",
    },
    4: {
        "XXR4": "XX4 + YY5 - YY4",
        "XXR3": "XX3 + YY4 + 2 R4 MZ4 + R4^2 (M4+M5+M6)",
        "XYR3": "XY3 - D4 MZ4 - D4 R4 (M4+M5+M6)",
        "YYR3": "YY3 + D4^2 (M4+M5+M6)",
        "ZZR3": "ZZ3 + YY4 + 2 R4 MZ4 + (D4^2 + R4^2)(M4+M5+M6)",
        "MXR3": "MX3 + D4 (M4+M5+M6)",
        "MYR3": "MY3 + MZ4 + R4 (M4+M5+M6)",
        "MR3": "M3 + M4 + M5 + M6",
    },
    3: {
        "XXR3": "XX3 + YY4 + 2 R4 MZ4 + (R4^2 - D4^2)(M4+M5+M6) - YY3",
        "XXR2": "XX2 + YY3 + 2 R3 MZ3 + R3^2 (M3+M4+M5+M6) + D4^2 (M4+M5+M6)",
        "XZR2": "XZ2 - D3 MZ3 - D3 R3 (M3+M4+M5+M6)",
        "YYR2": "YY2 + YY3 + D4^2 (M4+M5+M6) + 2 R3 MZ3 + (D3^2 + R3^2)(M3+M4+M5+M6)",
        "ZZR2": "ZZ2 + D3^2 (M3+M4+M5+M6)",
        "MXR2": "MX2 + D3 (M3+M4+M5+M6)",
        "MZR2": "MZ2 + MZ3 + R3 (M3+M4+M5+M6)",
        "MR2": "M2 + M3 + M4 + M5 + M6",
    },
    2: {
        "XXR2": "XX2 - YY2 - D3^2 (M3+M4+M5+M6)",
        "ZZR1": "ZZ1 + YY2 + YYR3 + 2 R3 MZ3 + (R3^2 + D3^2)(M3+M4+M5+M6)",
    },
    1: {},
}
DEFINED_BEFORE = {"YYR3": REGROUPINGS[4]["YYR3"]}

# The minimum parameters of each link.
MINIMUM = {
    1: "ZZR1",
    2: "XXR2 XY2 XZR2 YZ2 ZZR2 MXR2 MY2",
    3: "XXR3 XYR3 XZ3 YZ3 ZZR3 MXR3 MYR3",
    4: "XXR4 XY4 XZ4 YZ4 ZZR4 MX4 MYR4",
    5: "XXR5 XY5 XZ5 YZ5 ZZR5 MX5 MYR5",
    6: "XXR6 XY6 XZ6 YZ6 ZZ6 MX6 MY6",
}

# The general relations, for links 1 and 2 in place of j - 1 and j, with Ca, Sa, Ct, St for the cosines and
# sines of alpha and theta.
RELATION_15 = {
    "XXR2": "XX2 - YY2",
    "XXR1": "XX1 + YY2 + 2 r MZ2 + r^2 M2",
    "XYR1": "XY1 + d Sa MZ2 + d r Sa M2",
    "XZR1": "XZ1 - d Ca MZ2 - d r Ca M2",
    "YYR1": "YY1 + Ca^2 YY2 + 2 r Ca^2 MZ2 + (d^2 + r^2 Ca^2) M2",
    "YZR1": "YZ1 + Ca Sa YY2 + 2 r Ca Sa MZ2 + r^2 Ca Sa M2",
    "ZZR1": "ZZ1 + Sa^2 YY2 + 2 r Sa^2 MZ2 + (d^2 + r^2 Sa^2) M2",
    "MXR1": "MX1 + d M2",
    "MYR1": "MY1 - Sa MZ2 - r Sa M2",
    "MZR1": "MZ1 + Ca MZ2 + r Ca M2",
    "MR1": "M1 + M2",
}
RELATION_16 = {
    "XXR1": "XX1 + Ct^2 XX2 - 2 Ct St XY2 + St^2 YY2",
    "XYR1": "XY1 + Ct St Ca XX2 + (Ct^2 - St^2) Ca XY2 - Ct Sa XZ2 - Ct St Ca YY2 + St Sa YZ2",
    "XZR1": "XZ1 + Ct St Sa XX2 + (Ct^2 - St^2) Sa XY2 + Ct Ca XZ2 - Ct St Sa YY2 - St Ca YZ2",
    "YYR1": "YY1 + St^2 Ca^2 XX2 + 2 Ct St Ca^2 XY2 - 2 St Ca XZ2 + Ct^2 Ca^2 YY2"
    " - 2 Ct Ca Sa YZ2 + Sa^2 ZZ2",
    "YZR1": "YZ1 + St^2 Ca Sa XX2 + 2 Ct St Ca Sa XY2 + St (Ca^2 - Sa^2) XZ2 + Ct^2 Ca Sa YY2"
    " + Ct (Ca^2 - Sa^2) YZ2 - Ca Sa ZZ2",
    "ZZR1": "ZZ1 + St^2 Sa^2 XX2 + 2 Ct St Sa^2 XY2 + 2 St Ca Sa XZ2 + Ct^2 Sa^2 YY2"
    " + 2 Ct Ca Sa YZ2 + Ca^2 ZZ2",
}
RELATION_19 = {  # Sa = 0
    "ZZR1": "ZZ1 + 2 d Ct MX2 - 2 d St MY2",
    "MXR1": "MX1 + Ct MX2 - St MY2",
    "MYR1": "MY1 + St Ca MX2 + Ct Ca MY2",
}
RELATION_20 = {  # Ca = 0
    "YYR1": "YY1 + 2 d Ct MX2 - 2 d St MY2",
    "MXR1": "MX1 + Ct MX2 - St MY2",
    "MZR1": "MZ1 + Sa St MX2 + Sa Ct MY2",
}

# Misprints, with what they should say. The printed line must differ from ours, the corrected one must not.
MISPRINTS = {
    ("(16)", "YYR1"): RELATION_16["YYR1"].replace("- 2 St Ca XZ2", "- 2 St Ca Sa XZ2"),
}
REMARKS = (
    "(15), line 1: the left side is XXR of link j, not of link j - 1 (read so above)",
    "(16), YYR: the third term is -2 St Ca Sa XZ, printed without Sa (corrected above)",
    "rule 2: MX and MY of link r1 go only if axis r1 is along gravity, also where r1 = 1",
    "step 3: what (19) and (20) put on the inertia tensor of a slide must be passed on by (16)",
)

# --- comparison -----------------------------------------------------------------------------------------


@dataclass
class Report:
    """Lines of the report, and whether everything agreed so far."""

    agree: bool = True
    lines: list[str] = field(default_factory=list[str])

    def say(self, text: str = "") -> None:
        self.lines.append(text)

    def check(self, what: str, agrees: bool) -> None:
        self.agree &= agrees
        self.say(f"  {what}: {'agrees' if agrees else 'DIFFERS'}")

    def formula(self, name: str, printed: str, ours: str, agrees: bool, corrected: str = "") -> None:
        self.agree &= agrees
        verdict = "differs, misprint" if corrected and agrees else "agrees" if agrees else "DIFFERS"
        self.say(f"  {name:5} paper      {printed}")
        if corrected:
            self.say(f"        corrected  {corrected}")
        self.say(f"        dynid      {ours}   [{verdict}]")


def main() -> int:
    """Print the report; 0 if everything agrees."""
    report = Report()
    table = modified_dh(load_robot("puma560"))
    compare_relations(report)
    compare_table(report, table)
    compare_no_effect_rules(report, table)
    compare_regroupings(report, table)
    compare_result(report, table)
    report.say("\nKnown misprints")
    for remark in REMARKS:
        report.say(f"  {remark}")
    report.say("\nEverything agrees." if report.agree else "\nNot everything agrees.")
    print("\n".join(report.lines))
    return 0 if report.agree else 1


def compare_relations(report: Report) -> None:
    """The general relations, as formulas in all their symbols."""
    Ca, Sa, Ct, St, d, r = map(symbol, ("Ca", "Sa", "Ct", "St", "d", "r"))
    anywhere, parallel, across = (Place(C, S, Ct, St, d, r) for C, S in ((Ca, Sa), (Ca, 0), (0, Sa)))
    turns_about_z = frozenset(("XX1", "XY1", "XZ1", "YY1", "YZ1", "MZ1"))
    turns_about_y = frozenset(("XX1", "XY1", "XZ1", "YZ1", "ZZ1", "MY1"))
    for title, printed, columns, silent in (
        ("(15), joint 2 turns", RELATION_15, columns_of_rotation(anywhere, 1), frozenset[str]()),
        ("(16), joint 2 slides", RELATION_16, moved(anywhere, TENSOR), frozenset[str]()),
        ("(19), joint 2 slides along r1, Sa = 0", RELATION_19, moved(parallel, ("MX", "MY")), turns_about_z),
        ("(20), joint 2 slides along r1, Ca = 0", RELATION_20, moved(across, ("MX", "MY")), turns_about_y),
    ):
        report.say(f"\nRelation {title}")
        state = initial_state(2, silent)
        before = as_polys(state)
        regroup_link(state, 1, columns)
        compare_formulas(report, printed, state, title[:4])
        compare_changes(report, printed, before, as_polys(state))


def moved(place: Place, letters: Sequence[str]) -> dict[str, dict[str, float | Poly]]:
    """Parameters of link 2 that (16), (19) and (20) move to link 1."""
    return {name: transport(place, name, 1) for name in letters}


def compare_changes(
    report: Report, printed: Mapping[str, str], before: Mapping[str, Poly], after: Mapping[str, Poly]
) -> None:
    """Whether the printed lines are all there is to say."""
    changed = {name for name, formula in after.items() if formula != before[name]}
    report.check("no other parameter changes", changed == {name.replace("R", "") for name in printed})


def compare_formulas(report: Report, printed: dict[str, str], state: State, number: str = "") -> None:
    """Printed lines beside ours."""
    for name, text in printed.items():
        standard = name.replace("R", "")
        ours = state[standard]
        corrected = MISPRINTS.get((number, name), "")
        agrees = parse(corrected or text) == as_poly(ours)
        if corrected:
            agrees &= parse(text) != as_poly(ours)
        report.formula(name, text, combination_text(ours, all_names(6), standard), agrees, corrected)


def compare_table(report: Report, table: ModifiedDH) -> None:
    """Table I and the table of the robot file."""
    report.say("\nTable I: sigma, alpha (deg), d, theta, r")
    for j, (sigma, alpha, d, theta, r) in enumerate(TABLE_I, start=1):
        row = table.rows[j - 1]
        lengths = [f"{name} = {value:g}" for name, value in ((d, row.d), (r, row.r)) if name != "0"]
        shown = f"{sigma} {alpha:4d} {d:>3} {theta} {r:>3}"
        same = (
            row.sigma == sigma
            and row.alpha == radians(alpha)
            and row.theta == 0.0
            and bool(row.d) == (d != "0")
            and bool(row.r) == (r != "0")
        )
        ours = f"dynid {row.sigma} {degrees(row.alpha):4.0f}  {', '.join(lengths)}".rstrip()
        report.check(f"joint {j}  paper {shown}   {ours}", same)


def compare_no_effect_rules(report: Report, table: ModifiedDH) -> None:
    """Step a."""
    silent = without_effect(table, first_axes(table))
    report.say("\nStep a, parameters without effect by rules 2 and 3")
    report.check(NO_EFFECT_BY_RULES, silent == frozenset[str](NO_EFFECT_BY_RULES.split()))


def compare_regroupings(report: Report, table: ModifiedDH) -> None:
    """Step b, link by link; lines of parameters without effect are not printed."""
    places, axes = symbolic_places(table), first_axes(table)
    state = initial_state(6, without_effect(table, axes))
    before = as_polys(state)
    for link, printed in REGROUPINGS.items():
        report.say(f"\nStep b, link {link}")
        regroup_link(state, link - 1, columns_moved(table, axes, places[link - 1], link - 1))
        compare_formulas(report, printed, state)
        after = as_polys(state)
        compare_changes(report, printed, before, after)
        kept = [name for name in state if name.endswith(str(link))]
        expected = [name.replace("R", "") for name in MINIMUM[link].split()]
        report.check(f"minimum parameters {MINIMUM[link]}", sorted(kept) == sorted(expected))
        before = after


def compare_result(report: Report, table: ModifiedDH) -> None:
    """Step c: the final lists."""
    report.say("\nStep c, the result")
    base = base_parameters(load_robot("puma560"), method="gautier-khalil")
    report.check(f"no effect: {NO_EFFECT}", set(base.no_effect) == set(NO_EFFECT.split()))
    report.check(f"regrouped: {REGROUPED}", set(base.regrouped) == set(REGROUPED.split()))
    names = [name for link in MINIMUM.values() for name in link.split()]
    report.check(f"{len(names)} base parameters, 24 fewer than 60", base.count == 36 == len(names))
    report.check("their names", sorted(base.names) == sorted(names))
    for line in gautier_khalil_symbolic(load_robot("puma560")):
        report.say(f"    {line}")
    report.check(
        "they are the closed form's", set(closed_form(table, symbolic_places(table))) == set(base.kept)
    )


# --- formulas -------------------------------------------------------------------------------------------


def all_names(links: int) -> list[str]:
    return [f"{letters}{j}" for j in range(1, links + 1) for letters in PARAMETER_LETTERS]


def as_poly(combination: dict[str, float | Poly]) -> Poly:
    """A combination as a polynomial in lengths, angles and parameters."""
    return sum((symbol(name) * poly(coefficient) for name, coefficient in combination.items()), poly(0))


def as_polys(state: State) -> dict[str, Poly]:
    return {name: as_poly(combination) for name, combination in state.items()}


def parse(text: str) -> Poly:
    """The polynomial of a formula such as '2 R3 MZ3 + (D3^2 + R3^2)(M3+M4)'."""
    tokens = re.findall(r"[A-Za-z]\w*|\d+|[-+^()]", text)

    def total() -> Poly:
        found = poly(0)
        while tokens and tokens[0] != ")":
            sign = -1 if tokens[0] == "-" else 1
            if tokens[0] in "+-":
                tokens.pop(0)
            found += product() * sign
        return found

    def product() -> Poly:
        found = poly(1)
        while tokens and tokens[0] not in "+-)":
            found = found * power()
        return found

    def power() -> Poly:
        token = tokens.pop(0)
        if token == "(":
            base = total()
            tokens.pop(0)
        elif token in DEFINED_BEFORE:
            base = parse(DEFINED_BEFORE[token])
        else:
            base = poly(int(token)) if token.isdigit() else symbol(token)
        if tokens and tokens[0] == "^":
            tokens.pop(0)
            exponent, found = int(tokens.pop(0)), poly(1)
            for _ in range(exponent):
                found = found * base
            return found
        return base

    return total()


if __name__ == "__main__":
    sys.exit(main())
