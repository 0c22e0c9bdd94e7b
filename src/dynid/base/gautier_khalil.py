"""Base parameters of serial robots in closed form, after [GK1990].

M. Gautier, W. Khalil, Direct calculation of minimum set of inertial parameters of serial robots, IEEE
Trans. Robotics and Automation 6(3), 1990. Three rules name parameters of the first links that have no
effect; relations (15), (16), (19) and (20) then move parameters of link j to link j - 1, from the last
link to the first. They live in `dynid.base.relations`, for numbers and for symbols alike.

For some robots the rules leave first moments to be studied case by case by conditions (4) and (5). There
`dynid.base.exact` decides, and the result says which rule was not enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dynid.base.columns import Columns, units
from dynid.base.exact import exact
from dynid.base.floating import reduced_on, without_rounding
from dynid.base.geometry import floating_geometry, squared_up
from dynid.base.modified_dh import ModifiedDH, in_modified_frames, modified_dh
from dynid.base.relations import (
    FirstAxes,
    State,
    closed_form,
    first_axes,
    numeric_places,
    symbolic_places,
)
from dynid.base.result import BaseParameters, linear_text, regrouped_name
from dynid.base.symbolic import combination_text
from dynid.robot import Robot
from dynid.spatial import PARAMETER_LETTERS, SNAP, Array

GRAVITY_ALONE = (
    "the rules and relations of [GK1990] are for kinetic and potential energy together; of gravity alone, "
    "conditions (4) and (5) decide all"
)


def gautier_khalil(robot: Robot, model: str, columns: Columns) -> BaseParameters:
    """Base parameters of a serial robot by the closed form of [GK1990], completed where it is incomplete.

    The rules rest on kinetic and potential energy together: they give the set for the torque and the
    energy and, without gravity, for the inertia matrix; of gravity alone conditions (4) and (5) decide. Motor
    inertia, friction and offsets join as in `exact`. The relations hold in the frames of the modified
    Denavit-Hartenberg table; the set is written in the robot's own.
    """
    table = modified_dh(robot)
    if model == "gravity":
        alone = exact(robot, model, columns)
        return replace(alone, method="gautier-khalil", notes=(*alone.notes, GRAVITY_ALONE))
    in_table = in_modified_frames(robot, table)
    if model == "inertia":
        table = replace(table, gravity=np.zeros(3))
    found = closed_form(table, numeric_places(table))
    structure = exact(in_table, model, columns)
    own = structure if table.own_frames else exact(robot, model, columns)
    notes = () if table.own_frames else (frames_note(table),)
    left = left_over(found, structure)
    if left:
        notes = (*notes, *completion_notes(table, left, structure, found))
    else:
        rows = with_links(structure, found)
        own = replace(own, matrix=on_pivots(robot, table, columns, rows, own.kept))
    return replace(own, method="gautier-khalil", notes=(*own.notes, *notes))


def gautier_khalil_symbolic(robot: Robot) -> list[str]:
    """The base parameters as formulas in the robot's lengths and oblique angles, one per line.

    D3 and R3 are d and r of joint 3 in the modified Denavit-Hartenberg table, Calpha3, Salpha3, Ctheta3
    and Stheta3 cosines and sines of its angles; zeros and right angles are put in. All parameters are in
    the frames of the table. What only condition (5) regroups has numbers as coefficients.
    """
    robot, _ = squared_up(robot)
    table = modified_dh(robot)
    found = closed_form(table, symbolic_places(table))
    columns = Columns(len(robot.links), robot.dof)
    structure = exact(in_modified_frames(robot, table), "torque", columns)
    left = left_over(found, structure)
    return [line(name, found, structure, left) for name in columns.names if name in found]


def line(name: str, found: State, structure: BaseParameters, left: Sequence[str]) -> str:
    """A parameter of the closed form as a formula, with what condition (5) adds in brackets."""
    text = title(name, found)
    if text != name:
        text += f" = {combination_text(found[name], structure.columns, name)}"
    if name in left:
        return f"{text}  [{fate(name, structure, found)}]"
    taken = linear_text([entry(structure, name, other) for other in left], [title(x, found) for x in left])
    return text if taken == "0" else f"{text}  [and by condition (5) {taken}]"


# --- the closed form as a matrix --------------------------------------------------------------------


def with_links(structure: BaseParameters, found: State) -> Array:
    """The matrix of the set `structure`, what it says of links replaced by the closed form."""
    number = {name: k for k, name in enumerate(structure.columns)}
    standard = [k for name, k in number.items() if name.rstrip("0123456789") in PARAMETER_LETTERS]
    matrix = np.array(structure.matrix)
    for row, kept in zip(matrix, structure.kept, strict=True):
        if kept in found:
            row[standard] = 0.0
            for name, coefficient in found[kept].items():
                row[number[name]] = coefficient
    return matrix


def on_pivots(robot: Robot, table: ModifiedDH, columns: Columns, matrix: Array, kept: Sequence[str]) -> Array:
    """A set in the frames of the table as one in the robot's own, with the identity on the `kept` names."""
    to_table = np.eye(len(columns))
    links = len(table.parameter_matrix)
    to_table[:links, :links] = table.parameter_matrix
    scale = np.array(units(robot, floating_geometry(robot), columns), dtype=np.float64)
    pivots = [columns.names.index(name) for name in kept]
    return without_rounding(reduced_on(matrix @ to_table / scale, pivots), scale, pivots)


# --- where the rules are incomplete -----------------------------------------------------------------


def left_over(found: State, structure: BaseParameters) -> list[str]:
    """The parameters of the closed form that are none of the fewest."""
    return [name for name in structure.columns if name in found and name not in structure.kept]


def completion_notes(
    table: ModifiedDH, left: Sequence[str], structure: BaseParameters, found: State
) -> tuple[str, ...]:
    """For each rule that is incomplete for this robot, a sentence about what conditions (4) and (5) add."""
    axes = first_axes(table)
    by_rule: dict[str, list[str]] = {}
    for name in left:
        rule = incomplete_rule(table, axes, int(name.lstrip("XYZM")) - 1)
        by_rule.setdefault(rule, []).append(f"{name} {fate(name, structure, found)}")
    return tuple(f"{rule}: {', '.join(fates)}" for rule, fates in by_rule.items())


def fate(name: str, structure: BaseParameters, found: State) -> str:
    """What becomes of a parameter that the rules keep although it is none of the fewest."""
    takers = [kept for kept in structure.kept if entry(structure, kept, name)]
    if not takers:
        return "has no effect by condition (4)"
    return f"is regrouped by condition (5) with {', '.join(title(taker, found) for taker in takers)}"


def title(name: str, found: State) -> str:
    """The name of a parameter of the closed form: ZZR1 if it takes up others."""
    return regrouped_name(name) if len(found[name]) > 1 else name


def entry(structure: BaseParameters, kept: str, name: str) -> float:
    """How much of the parameter `name` goes to the one `kept`."""
    return float(structure.matrix[structure.kept.index(kept), structure.columns.index(name)])


def incomplete_rule(table: ModifiedDH, axes: FirstAxes, j: int) -> str:
    """Which part of [GK1990] leaves parameters of link j (counted from 0) to study case by case."""
    first, link = f"axis {axes.r1 + 1}", f"link {j + 1}"
    if not axes.r1 < j < axes.r2:
        return "rule 2 of [GK1990] is about one link, but without gravity more first moments have no effect"
    if not table.rows[j].prismatic:
        return (
            f"rule 3 of [GK1990] leaves the first moments of {link} to study case by case, "
            f"and its axis coincides with {first}"
        )
    if abs(axes.seen[j][2]) <= SNAP:
        return (
            f"rule 3 of [GK1990] leaves {link}, a slide across {first}, to study case by case, "
            f"and {first} is neither x nor y of its frame"
        )
    oblique = "is carried by an oblique slide" if axes.coordinate(j) == "Z" else "slides obliquely"
    return (
        f"relations (19) and (20) of [GK1990] are for slides along and across {first}, and {link} {oblique}"
    )


def frames_note(table: ModifiedDH) -> str:
    """That the relations hold in other frames than the robot's."""
    others = ", ".join(str(j + 1) for j, link in enumerate(table.links) if not link.is_identity)
    return (
        "rules and relations speak of modified Denavit-Hartenberg frames; "
        f"the set is written in the robot's own, which are others for links {others}"
    )
