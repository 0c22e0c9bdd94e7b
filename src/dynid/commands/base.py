"""`dynid base`: the base parameters of a robot, as a table a person likes to read."""

from __future__ import annotations

import argparse
import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dynid.base import BaseParameters, base_parameters
from dynid.base.typeset import compact, latex, markdown
from dynid.commands.output import print_json, remark
from dynid.formats.load import load_robot
from dynid.robot import Robot
from dynid.spatial import PARAMETER_LETTERS


def run(options: argparse.Namespace) -> int:
    robot = load_robot(options.robot, gravity=options.gravity, joints=options.joints)
    base = base_parameters(
        robot,
        model=options.model,
        method=options.method,
        armature=options.armature,
        friction=options.friction,
        offset=options.offset,
    )
    if options.json:
        print_json(_record(robot, base))
    elif options.markdown:
        sys.stdout.write(markdown(base) + "\n")
    elif options.latex:
        sys.stdout.write(latex(base) + "\n")
    else:
        _print(robot, base)
    warnings = [note for note in robot.notes if note.startswith("warning")]
    for note in (*warnings, *base.notes):
        remark(f"note: {note}", options.quiet or options.json)
    return 0


def bound(robot: Robot) -> int | None:
    """Upper bound of the count for the links of a serial robot, Eq. (18) of [GK1990]; None for trees."""
    if any(joint.parent != number - 1 or joint.mimic for number, joint in enumerate(robot.joints)):
        return None
    slides = sum(joint.prismatic for joint in robot.joints)
    turns = len(robot.joints) - slides
    return max(7 * turns + 4 * slides - 3 - (not robot.joints[0].prismatic), 0)


def formulas(robot: Robot, base: BaseParameters) -> list[str]:
    """Gautier and Khalil's set in the lengths and angles of the robot's table; nothing for other methods."""
    if base.method != "gautier-khalil" or base.model in ("inertia", "gravity"):
        return []
    from dynid.base.gautier_khalil import gautier_khalil_symbolic

    return ["", "as formulas in the modified Denavit-Hartenberg table", *gautier_khalil_symbolic(robot)]


def _record(robot: Robot, base: BaseParameters) -> dict[str, object]:
    return {
        "robot": robot.name,
        "model": base.model,
        "method": base.method,
        "count": base.count,
        "bound": bound(robot),
        "names": base.names,
        "expressions": base.expressions,
        "formulas": formulas(robot, base)[2:],
        "matrix": base.matrix,
        "columns": base.columns,
        "no_effect": base.no_effect,
        "regrouped": base.regrouped,
        "reasons": base.reasons,
        "gap": base.gap,
        "notes": base.notes,
    }


def _print(robot: Robot, base: BaseParameters) -> None:
    console = Console(highlight=False)
    links_alone = base.columns == robot.parameter_names  # no motors and no friction, which are not bounded
    most = bound(robot) if links_alone and base.model in ("torque", "energy") else None
    limit = "" if most is None else f", of at most {most} for {_joints(robot)}"
    console.print(
        Text(f"{robot.name}: {base.count} base parameters ({base.model}, {base.method}){limit}", style="bold")
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("parameter", no_wrap=True)
    table.add_column("stands for")
    for row, name in enumerate(base.names):
        text = compact(base, row)
        table.add_row(Text(name), Text("itself", style="dim") if text == name else Text(text))
    console.print(table)
    for formula in formulas(robot, base):
        console.print(Text(formula))
    if base.kept:  # Lin's constants of composite bodies are carried by no parameter in particular
        console.print(_fates(robot, base))
    if base.no_effect:
        console.print(Text("\nwithout effect", style="bold"))
        for reason, names in _by_reason(base).items():
            console.print(Text(f"  {', '.join(names)}: {reason}" if reason else f"  {', '.join(names)}"))
    if base.gap:
        console.print(Text(f"\nsmallest size kept {base.gap[0]:.1e}, largest dropped {base.gap[1]:.1e}"))


def _fates(robot: Robot, base: BaseParameters) -> Table:
    """What became of the parameters of every link."""
    table = Table(box=None, pad_edge=False, title="\nby link", title_justify="left", title_style="bold")
    table.add_column("link", no_wrap=True)
    for heading in ("kept", "regrouped with others", "without effect"):
        table.add_column(heading)
    silent, moved = set(base.no_effect), set(base.regrouped)
    for number, link in enumerate(robot.links, start=1):
        own = [f"{letters}{number}" for letters in PARAMETER_LETTERS]
        kept = [name for name in own if name not in silent and name not in moved]
        groups = (kept, [n for n in own if n in moved], [n for n in own if n in silent])
        table.add_row(Text(f"{number} {link.name}"), *(Text(" ".join(group) or "-") for group in groups))
    return table


def _joints(robot: Robot) -> str:
    slides = sum(joint.prismatic for joint in robot.joints)
    turns = len(robot.joints) - slides
    return " and ".join(
        f"{count} {kind} joint{'s' if count > 1 else ''}"
        for count, kind in ((turns, "rotational"), (slides, "translational"))
        if count
    )


def _by_reason(base: BaseParameters) -> dict[str, list[str]]:
    """Names without effect under their common reason; reasons that name the parameter say 'it'."""
    found: dict[str, list[str]] = {}
    for name in base.no_effect:
        found.setdefault(base.reasons.get(name, "").replace(name, "it"), []).append(name)
    return found
