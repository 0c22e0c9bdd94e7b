"""The cheapest of many equal ways to write a robot's equations, for code that runs for years.

A robot's torques leave much to choose: which of the parameters that act together carries the value
(`sparse`), where on its axis a body's frame sits, how a last frame is turned and in which unit lengths are
measured (`Choice.slides`, `.turned`, `.unit`; `free_geometry`), and how the equations themselves are written
(`Style`, `CompoundStyle`). None of it changes a torque; all of it changes how many operations the code has.
`cheapest` walks downhill from choice to choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from dynid.base.floating import independent_columns
from dynid.base.result import BaseParameters
from dynid.free_geometry import aligned, measured_in, slid, slides_to, turned, worthy_units
from dynid.friction import armature_columns
from dynid.mechanism import BODY_LETTERS, Mechanism, body_parameters
from dynid.moments import CompoundStyle
from dynid.motion import AXES, PLAIN, Axes, Style
from dynid.program import Program
from dynid.robot import Robot
from dynid.simplify import simplify
from dynid.spatial import Array, frozen
from dynid.steps import Operations, arithmetic, count

Gathered: TypeAlias = Literal["all", "known", "none"]

DIAGONALS = ("Jzz", "Jxx", "Jyy")
GATHERED: tuple[Gathered, ...] = ("all", "known", "none")
UNITS = 10  # tried, the metre among them
WELL_APART = 1e-3  # columns closer to the others than this are poor carriers of a value
NEGLIGIBLE = 1e-12  # of the largest value: what is left of a parameter that others have taken over
EFFORT = 200_000  # steps of all programs that a search simplifies: seconds for an arm of 6 joints
RECORDING = 8  # times cheaper than simplifying is recording
PROMISING = 1.02  # how much longer than the best so far a program may be before simplification to be worth it

Written: TypeAlias = Style | CompoundStyle
Trace: TypeAlias = Callable[[Mechanism, Array, Any], Program]  # mechanism, body parameters, style
Report: TypeAlias = Callable[[Operations], None]


@dataclass(frozen=True)
class Choice:
    """One way to write the equations; tuples have one entry per body."""

    style: Written
    diagonals: tuple[str, ...]  # the second moment that the others take over
    slides: tuple[int, ...]  # where the frame sits on its axis: see `slides_to`
    aligned: bool = False  # frames turned so that axes are twisted about x
    turned: bool = False  # last frames turned so that hy vanishes
    unit: int = 0  # of length: the metre, or the k-th of `worthy_units`
    gathered: Gathered = "all"  # which parameters give their values to others: all, the known, or none

    def neighbours(self) -> Iterator[Choice]:
        """All choices that differ in one decision."""
        yield replace(self, aligned=not self.aligned)
        yield replace(self, turned=not self.turned)
        for gathered in GATHERED:
            if gathered != self.gathered:
                yield replace(self, gathered=gathered)
        for unit in range(UNITS):
            if unit != self.unit:
                yield replace(self, unit=unit)
        for style in self.style.neighbours():
            yield replace(self, style=style)
        for j in range(len(self.slides)):
            for diagonal in DIAGONALS if self.gathered != "none" else ():
                if diagonal != self.diagonals[j]:
                    yield replace(self, diagonals=(*self.diagonals[:j], diagonal, *self.diagonals[j + 1 :]))
            for slide in range(3):
                if slide != self.slides[j]:
                    yield replace(self, slides=(*self.slides[:j], slide, *self.slides[j + 1 :]))


def recursion_starts(bodies: int) -> list[Choice]:
    """Where searches for inverse dynamics start: a last body in its own axes nearly never pays."""
    starts: list[Choice] = []
    for second in AXES[:2]:
        for last in AXES[1:]:
            axes: list[Axes] = ["own"] * bodies
            axes[1:3] = [second for _ in axes[1:3]]
            axes[-1] = last
            starts.append(Choice(Style(tuple(axes)), ("Jzz",) * bodies, (0,) * bodies))
    return starts


def compound_starts(bodies: int) -> list[Choice]:
    """Where a search for the inertia matrix starts: all momenta carried to the base."""
    style = CompoundStyle((False,) * bodies, (-1,) * bodies)
    return [Choice(style, ("Jzz",) * bodies, (0,) * bodies)]


def cheapest(
    mech: Mechanism,
    rows: Array,
    parameters: Array,
    trace: Trace,
    starts: Sequence[Choice] | None = None,
    report: Report | None = None,
    effort: int = EFFORT,
) -> tuple[Program, Choice]:
    """The cheapest program found, and how it is written.

    `trace(mechanism, body parameters, style)` records the program; `rows` are functionals of the standard
    `parameters` that decide all its outputs, such as `deciding_rows`. The walks begin at `starts`, those for
    inverse dynamics if there are none, and tell `report` of each better program they find. A search that
    has simplified `effort` steps of programs ends with the best so far.
    """
    search = _Search(mech, rows, parameters, trace, effort)
    found = [_downhill(start, search, report) for start in starts or recursion_starts(len(mech.bodies))]
    best = min(found, key=search.cost)
    return search.program(best), best


class _Search:
    """Programs of the choices looked at so far; choices that come to the same program are simplified once."""

    def __init__(self, mech: Mechanism, rows: Array, parameters: Array, trace: Trace, effort: int) -> None:
        self.given = mech, rows, parameters
        self.trace = trace
        self._arranged: dict[Choice, tuple[Mechanism, Array]] = {}
        self._recorded: dict[Choice, Program] = {}
        self._simplified: dict[object, tuple[Program, int]] = {}
        self._left = effort

    @property
    def exhausted(self) -> bool:
        return self._left <= 0

    def recorded(self, choice: Choice) -> Program:
        if choice not in self._recorded:
            geometry = replace(choice, style=PLAIN)
            if geometry not in self._arranged:
                self._arranged[geometry] = arrange(*self.given, geometry)
            self._recorded[choice] = self.trace(*self._arranged[geometry], choice.style)
            self._left -= len(self._recorded[choice].live) // RECORDING
        return self._recorded[choice]

    def _simple(self, choice: Choice) -> tuple[Program, int]:
        recorded = self.recorded(choice)
        key = recorded.text
        if key not in self._simplified:
            self._left -= len(recorded.live)
            simple = simplify(recorded)
            self._simplified[key] = simple, arithmetic(simple)
        return self._simplified[key]

    def program(self, choice: Choice) -> Program:
        return self._simple(choice)[0]

    def cost(self, choice: Choice) -> int:
        return self._simple(choice)[1]

    def improves(self, new: Choice, old: Choice) -> bool:
        """Whether a choice is cheaper; one that is recorded as a much longer program is taken not to be."""
        if arithmetic(self.recorded(new)) > PROMISING * arithmetic(self.recorded(old)) + 2:
            return False
        return self.cost(new) < self.cost(old)


def _downhill(choice: Choice, search: _Search, report: Report | None) -> Choice:
    """First-improvement descent: every better neighbour is taken at once."""
    improved = True
    while improved:
        improved = False
        for neighbour in choice.neighbours():
            if search.exhausted:
                return choice
            if search.improves(neighbour, choice):
                choice, improved = neighbour, True
                if report:
                    report(count(search.program(choice)))
                break
    return choice


# --- free geometry ------------------------------------------------------------------------------------


def arrange(mech: Mechanism, rows: Array, parameters: Array, choice: Choice) -> tuple[Mechanism, Array]:
    """The mechanism with frames and unit as chosen, and few body parameters, equal to the given ones."""
    straight = aligned(mech) if choice.aligned else mech
    arranged = slid(straight, slides_to(straight, choice.slides))
    values = _gathered(arranged, rows, parameters, choice)
    if choice.turned:
        arranged = turned(arranged, values)
        values = _gathered(arranged, rows, parameters, choice)
    units = [1.0, *worthy_units(arranged, values)] if choice.unit else [1.0]
    return measured_in(arranged, values, units[min(choice.unit, len(units) - 1)])


def _gathered(mech: Mechanism, rows: Array, parameters: Array, choice: Choice) -> Array:
    """Body parameters of which those that act together are gathered in few, as far as chosen."""
    if choice.gathered == "none":
        return as_given(mech, parameters)
    if choice.gathered == "all" or parameters.ndim == 1:
        return sparse(mech, rows, parameters, choice.diagonals)
    known = sparse(mech, rows, parameters[:, 0], choice.diagonals)
    return np.column_stack([known, as_given(mech, parameters[:, 1:])])


# --- parameters that act together ---------------------------------------------------------------------


def deciding_rows(robot: Robot, base: BaseParameters) -> Array:
    """Orthonormal rows, (base.count, columns), that span what torques of the base set's model depend on.

    They come from sampled regressors: to rounding, while a base set's own matrix has the digits that people
    read. How many there are is the base set's to say. Its columns are the standard parameters and, if it was
    made with them, motor inertias.
    """
    if base.model == "inertia":
        robot = replace(robot, gravity=frozen((0, 0, 0)))
    samples = 4 + 4 * base.count // robot.dof
    q, qd, qdd = np.random.default_rng(0).uniform(-2.0, 2.0, (3, samples, robot.dof))
    columns = robot.regressor(q, qd, qdd)
    if "Ia1" in base.columns:
        columns = np.concatenate([columns, armature_columns(qdd, robot.transmission)], axis=2)
    sampled = columns.reshape(samples * robot.dof, -1)
    return np.linalg.svd(sampled, full_matrices=False)[2][: base.count]


def as_given(mech: Mechanism, parameters: Array) -> Array:
    """The body parameters of these standard parameters; what follows those of the bodies stays as it is."""
    bodies = 10 * len(mech.bodies)
    values = np.array(parameters, dtype=np.float64)
    values[:bodies] = body_parameters(mech) @ values[:bodies]
    return _without_rounding(values)


def _without_rounding(values: Array) -> Array:
    """The values to 15 digits of the largest, so that what ought to be equal is equal, or zero."""
    largest = np.abs(values).max(axis=0, initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        grid = np.where(largest > 0.0, 10.0 ** (15.0 - np.ceil(np.log10(largest))), 1.0)
    rounded = np.where(np.isfinite(grid), np.round(values * grid) / grid, values)
    return np.where(np.abs(rounded) < NEGLIGIBLE * largest, 0.0, rounded)


def sparse(mech: Mechanism, rows: Array, parameters: Array, diagonals: tuple[str, ...]) -> Array:
    """Body parameters, many of them zero, with the values of the functionals `rows` on `parameters`.

    `parameters`, (columns,) or (columns, k), are the standard ones and, if `rows` have them, motor inertias,
    which stay at the end. Where there are k columns, the same parameters are zero in all of them.
    """
    bodies = 10 * len(mech.bodies)
    to_body = np.eye(rows.shape[1])
    to_body[:bodies, :bodies] = body_parameters(mech)
    basis = np.linalg.svd(rows @ np.linalg.inv(to_body), full_matrices=False)[2]
    target = basis @ (to_body @ parameters)
    order = [*_order(mech, diagonals), *range(bodies, rows.shape[1])]
    pivots = independent_columns(basis, order, len(basis), WELL_APART)
    values = np.zeros(np.shape(parameters))
    values[pivots] = np.linalg.solve(basis[:, pivots], target)
    return _without_rounding(values)


def _order(mech: Mechanism, diagonals: tuple[str, ...]) -> list[int]:
    """Columns by preference: what a joint regroups with the body before comes last."""
    first: list[int] = []
    last: list[int] = []
    for j in reversed(range(len(mech.bodies))):
        gone = BODY_LETTERS[4:] if mech.bodies[j].prismatic else ("m", "hz", diagonals[j])
        for k, letter in enumerate(BODY_LETTERS):
            (last if letter in gone else first).append(10 * j + k)
    return first + last
