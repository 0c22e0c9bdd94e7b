"""The cheapest of many equal ways to write a robot's equations, for code that runs for years.

A robot's torques leave much to choose: which of the parameters that act together carries the value
(`sparse`), where on its axis a body's frame sits and how a last frame is turned (`Choice.slides`,
`Choice.turned`), and in which axes each equation of motion is written (`Style`). None of it changes a
torque; all of it changes how many operations the code has. `cheapest` walks downhill from choice to choice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from dynid.base.floating import independent_columns
from dynid.base.result import BaseParameters
from dynid.mechanism import BODY_LETTERS, Body, Mechanism, body_parameters
from dynid.motion import Axes, Style
from dynid.program import Program
from dynid.robot import Robot
from dynid.simplify import simplify
from dynid.spatial import Array, Frame, frozen, rotation_z
from dynid.steps import count

AXES: tuple[Axes, ...] = ("own", "joint", "parent")
DIAGONALS = ("Jzz", "Jxx", "Jyy")
WELL_APART = 1e-3  # columns closer to the others than this are poor carriers of a value
NEGLIGIBLE = 1e-12  # of the largest of its kind: what is left of a parameter that others have taken over


@dataclass(frozen=True)
class Choice:
    """One way to write the equations; tuples have one entry per body."""

    style: Style
    diagonals: tuple[str, ...]  # the second moment that the others take over
    slides: tuple[int, ...]  # where the frame sits on its axis: see `_places_on_axis`
    turned: bool = False  # last frames turned so that hy vanishes

    def neighbours(self) -> Iterator[Choice]:
        """All choices that differ in one decision."""
        style = self.style
        yield replace(self, turned=not self.turned)
        yield replace(self, style=replace(style, square=not style.square))
        yield replace(self, style=replace(style, twice=not style.twice))
        for j in range(len(self.slides)):
            for axes in AXES:
                if axes != style.axes[j]:
                    changed = (*style.axes[:j], axes, *style.axes[j + 1 :])
                    yield replace(self, style=replace(style, axes=changed))
            for diagonal in DIAGONALS:
                if diagonal != self.diagonals[j]:
                    yield replace(self, diagonals=(*self.diagonals[:j], diagonal, *self.diagonals[j + 1 :]))
            for slide in range(3):
                if slide != self.slides[j]:
                    yield replace(self, slides=(*self.slides[:j], slide, *self.slides[j + 1 :]))


Trace = Callable[[Mechanism, Array, Style], Program]


def cheapest(mech: Mechanism, rows: Array, parameters: Array, trace: Trace) -> tuple[Program, Choice]:
    """The cheapest program found, and how it is written.

    `trace(mechanism, body parameters, style)` records the program; `rows` are functionals of the standard
    `parameters` that decide all its outputs, such as `deciding_rows`.
    """
    bodies = len(mech.bodies)
    seen: dict[Choice, tuple[int, Program]] = {}

    def cost(choice: Choice) -> int:
        if choice not in seen:
            arranged, values = arrange(mech, rows, parameters, choice)
            program = simplify(trace(arranged, values, choice.style))
            seen[choice] = (count(program).total, program)
        return seen[choice][0]

    best: Choice | None = None
    for first in ("own", "joint"):
        current = _downhill(_start(bodies, first), cost)
        if best is None or cost(current) < cost(best):
            best = current
    assert best is not None
    return seen[best][1], best


def _start(bodies: int, second: Axes) -> Choice:
    """Where a walk starts: the last body in joint axes, which nearly always pays."""
    axes: list[Axes] = ["own"] * bodies
    for j in range(1, min(3, bodies)):
        axes[j] = second
    axes[-1] = "joint"
    return Choice(Style(tuple(axes)), ("Jzz",) * bodies, (0,) * bodies)


def _downhill(choice: Choice, cost: Callable[[Choice], int]) -> Choice:
    """First-improvement descent: every better neighbour is taken at once."""
    improved = True
    while improved:
        improved = False
        for neighbour in choice.neighbours():
            if cost(neighbour) < cost(choice):
                choice, improved = neighbour, True
                break
    return choice


# --- free geometry ------------------------------------------------------------------------------------


def arrange(mech: Mechanism, rows: Array, parameters: Array, choice: Choice) -> tuple[Mechanism, Array]:
    """The mechanism with its frames as chosen, and few body parameters that are equal to the given ones."""
    arranged = slid(mech, _amounts(mech, choice.slides))
    values = sparse(arranged, rows, parameters, choice.diagonals)
    if choice.turned:
        arranged = turned(arranged, values)
        values = sparse(arranged, rows, parameters, choice.diagonals)
    return arranged, values


def slid(mech: Mechanism, amounts: list[float]) -> Mechanism:
    """The mechanism with the frame of each body slid along its joint's axis."""
    shifts = [Frame(None, (0.0, 0.0, amount)) for amount in amounts]
    bodies: list[Body] = []
    for body, shift in zip(mech.bodies, shifts, strict=True):
        placement = body.placement @ shift
        if body.parent >= 0:
            placement = shifts[body.parent].inverse() @ placement
        bodies.append(replace(body, placement=placement, link=shift.inverse() @ body.link))
    return replace(mech, bodies=tuple(bodies))


def _amounts(mech: Mechanism, slides: tuple[int, ...]) -> list[float]:
    """How far each frame slides: 0 stays; 1 cancels the offset of its first child along its axis; 2 its own
    offset from its parent along its axis."""
    amounts = [0.0] * len(slides)
    for j in reversed(range(len(slides))):
        body = mech.bodies[j]
        if slides[j] == 2:
            amounts[j] = -float(body.placement.rotation[:, 2] @ body.placement.translation)
        elif slides[j] == 1:
            children = [k for k, other in enumerate(mech.bodies) if other.parent == j]
            if children:
                child = mech.bodies[children[0]].placement
                along = child.rotation[2, 2]
                amounts[j] = float(child.translation[2] + along * amounts[children[0]])
    return amounts


def turned(mech: Mechanism, values: Array) -> Mechanism:
    """The mechanism with the frames of its last bodies turned about their axes so that hy vanishes."""
    parents = {body.parent for body in mech.bodies}
    bodies = list(mech.bodies)
    for j, body in enumerate(bodies):
        hx, hy = values[10 * j + 1], values[10 * j + 2]
        if j in parents or body.prismatic or hy == 0.0:
            continue
        angle = math.atan2(hy, hx)
        link = Frame(rotation_z(-angle)) @ body.link
        bodies[j] = replace(body, offset=body.offset + angle, link=link)
    return replace(mech, bodies=tuple(bodies))


# --- parameters that act together ---------------------------------------------------------------------


def deciding_rows(robot: Robot, base: BaseParameters) -> Array:
    """Orthonormal rows, (base.count, parameters), that span what torques of the base set's model depend on.

    They come from sampled regressors: to rounding, while a base set's own matrix has the digits that people
    read. How many there are is the base set's to say.
    """
    if base.model == "inertia":
        robot = replace(robot, gravity=frozen((0, 0, 0)))
    samples = 4 + 4 * base.count // robot.dof
    q, qd, qdd = np.random.default_rng(0).uniform(-2.0, 2.0, (3, samples, robot.dof))
    regressor = robot.regressor(q, qd, qdd).reshape(samples * robot.dof, -1)
    return np.linalg.svd(regressor, full_matrices=False)[2][: base.count]


def sparse(mech: Mechanism, rows: Array, parameters: Array, diagonals: tuple[str, ...]) -> Array:
    """Body parameters, many of them zero, with the values of the functionals `rows` on `parameters`."""
    to_body = body_parameters(mech)
    basis = np.linalg.svd(rows @ np.linalg.inv(to_body), full_matrices=False)[2]
    target = basis @ (to_body @ parameters)
    pivots = independent_columns(basis, _order(mech, diagonals), len(basis), WELL_APART)
    values = np.zeros(len(parameters))
    values[pivots] = np.linalg.solve(basis[:, pivots], target)
    for k in range(10):
        kind = values[k::10]
        kind[np.abs(kind) < NEGLIGIBLE * np.abs(values).max(initial=0.0)] = 0.0
    return values


def _order(mech: Mechanism, diagonals: tuple[str, ...]) -> list[int]:
    """Columns by preference: what a joint regroups with the body before comes last."""
    first: list[int] = []
    last: list[int] = []
    for j in reversed(range(len(mech.bodies))):
        gone = BODY_LETTERS[4:] if mech.bodies[j].prismatic else ("m", "hz", diagonals[j])
        for k, letter in enumerate(BODY_LETTERS):
            (last if letter in gone else first).append(10 * j + k)
    return first + last
