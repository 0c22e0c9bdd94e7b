"""Base parameters as constants of composite bodies: Theorems 2 to 5 of [Lin1994].

For the joint efforts and for the gravity load the theorems name the set. For the inertia matrix alone a
set follows from both by Eq. (9),

    w_I = [w~; 0] + [P1; P2] w_g

with w_g the set for gravity and w~ what the set for the efforts has beyond it: entries of H that go with
w_g either depend on those that go with w~, which gives P1, or are their own, which gives P2, Eq. (60).
Motor inertias and offsets are merged by the same elimination, and so is what the theorems count too much
when there is no gravity: how the entries of H and of the gravity load depend on each parameter comes from
Eqs. (9) and (11) at a fixed list of postures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynid.base.columns import Columns, units
from dynid.base.composite import Chain, chain_of, composite_constants, inertia_and_gravity
from dynid.base.composite_sets import Element, gravity_set, torque_set
from dynid.base.drives import constant_terms, friction_columns
from dynid.base.floating import (
    Floating,
    independent_columns,
    reduced_in_units,
    unit_columns,
    without_rounding,
)
from dynid.base.geometry import Geometry, floating_geometry, squared_up
from dynid.base.result import BaseParameters
from dynid.base.structure import GRAVITY
from dynid.errors import ArgumentError
from dynid.robot import Robot
from dynid.spatial import Array


@dataclass(frozen=True, eq=False)
class Problem:
    """A model of a robot: its chain in the units of `geometry`, and what its set is made of."""

    robot: Robot
    model: str
    columns: Columns
    geometry: Geometry
    chain: Chain
    elements: tuple[Element, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The elements, then the drive columns."""
        return (*(e.name for e in self.elements), *self.columns.names[10 * self.columns.links :])

    @property
    def leads(self) -> list[int]:
        """For each name a column of the same unit."""
        drives = range(10 * self.columns.links, len(self.columns))
        return [*(10 * e.body + e.lead for e in self.elements), *drives]

    @property
    def scale(self) -> Array:
        """By which the columns' parameters in SI are multiplied to have them in these units."""
        return np.array([float(unit) for unit in units(self.robot, self.geometry, self.columns)])


@dataclass(frozen=True, eq=False)
class Combinations:
    """Independent combinations of elements and drive columns, with the identity at `pivots`."""

    matrix: Array  # (count, elements + drives)
    pivots: tuple[int, ...]
    gap: tuple[float, float] | None = None  # smallest size kept, largest dropped; None in closed form


@dataclass(frozen=True, eq=False)
class InertiaPartition:
    """The set for the inertia matrix by Eq. (9): w_I = [w~; 0] + [P1; P2] w_g, in SI units."""

    rest: tuple[str, ...]  # elements of w~
    gravity: tuple[str, ...]  # elements of w_g
    P1: Array  # (w~, w_g)
    P2: Array  # (count - w~, w_g), reduced: the identity at the elements `seen`
    seen: tuple[str, ...]


def lin(robot: Robot, model: str, columns: Columns) -> BaseParameters:
    """Lin's base parameters of a serial robot for a model: torque, inertia, gravity or energy.

    A name that ends in R stands for an element with others, or motor inertias and offsets, added to it.
    """
    problem = problem_of(robot, model, columns)
    found = combinations(problem)
    constants = composite_constants(problem.chain)
    on_links = np.zeros((len(problem.elements), 10 * columns.links))
    for row, e in zip(on_links, problem.elements, strict=True):
        row[:] = e.weights @ constants[e.body]
    of_links, of_drives = np.split(found.matrix, [len(problem.elements)], axis=1)
    matrix = np.hstack([of_links @ on_links, of_drives])
    return BaseParameters(
        method="lin",
        model=model,
        columns=columns.names,
        matrix=without_rounding(matrix, problem.scale, [problem.leads[pivot] for pivot in found.pivots]),
        names=tuple(
            problem.names[pivot] + ("R" if np.count_nonzero(row) > 1 else "")
            for pivot, row in zip(found.pivots, found.matrix, strict=True)
        ),
        gap=found.gap,
        notes=notes(problem, found),
    )


def inertia_matrix_and_gravity(robot: Robot, values: ArrayLike, q: ArrayLike) -> tuple[Array, Array]:
    """Inertia matrix (N, n, n) and gravity load (N, n) from the values of Lin's set for torque alone.

    All constants of composite bodies outside the set are taken as zero. One posture q (n,) gives (n, n)
    and (n,). As for the set, nearly right angles are right. Eqs. (9), (11), (12) and (13) of [Lin1992].
    """
    square, _ = squared_up(robot)
    problem = problem_of(square, "torque", Columns(len(robot.links), robot.dof))
    pivots = combinations(problem).pivots
    beta, postures = np.asarray(values, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if beta.shape != (len(pivots),):
        raise ArgumentError(
            f"expected the {len(pivots)} values of Lin's set, got an array of shape {beta.shape}"
        )
    if postures.ndim not in (1, 2) or postures.shape[-1] != robot.dof:
        raise ArgumentError(f"q has shape {postures.shape}, expected (N, {robot.dof}) or ({robot.dof},)")
    chain = chain_of(square)
    constants = carriers([problem.elements[pivot] for pivot in pivots], robot.dof) @ beta
    H = np.zeros((*postures.shape, robot.dof))
    load = np.zeros(postures.shape)
    for sample in np.ndindex(postures.shape[:-1]):
        H[sample], load[sample] = inertia_and_gravity(chain, constants, postures[sample])
    return H, load


def inertia_partition(robot: Robot) -> InertiaPartition:
    """P1 and P2 of Eq. (9) for a serial robot, which relate its sets for inertia, gravity and torque."""
    square, _ = squared_up(robot)
    problem = problem_of(square, "inertia", Columns(len(robot.links), robot.dof))
    found = combinations(problem)
    split = len(problem.elements) - len(gravity_set(problem.chain))
    P = without_rounding(found.matrix, problem.scale[problem.leads], found.pivots)[:, split:]
    rest = [pivot for pivot in found.pivots if pivot < split]
    return InertiaPartition(
        rest=tuple(problem.names[pivot] for pivot in rest),
        gravity=problem.names[split:],
        P1=P[: len(rest)],
        P2=P[len(rest) :],
        seen=tuple(problem.names[pivot] for pivot in found.pivots[len(rest) :]),
    )


def notes(problem: Problem, found: Combinations) -> tuple[str, ...]:
    """What a reader should know: the frames of the constants, and where the theorems are not enough."""
    chain, said = problem.chain, list[str]()
    moved = [str(i + 1) for i, frame in enumerate(chain.links) if not frame.is_identity]
    if moved:
        said.append(
            "k and U are about and in modified Denavit-Hartenberg frames; "
            f"those of links {', '.join(moved)} are not the robot's own"
        )
    redundant = len(problem.elements) - sum(pivot < len(problem.elements) for pivot in found.pivots)
    if redundant and not chain.gravity.any():
        said.append(f"the theorems need gravity: without it {redundant} of their elements depend on others")
    return tuple(said)


# --- sets and how they combine ------------------------------------------------------------------------


def problem_of(robot: Robot, model: str, columns: Columns) -> Problem:
    """The problem in units in which the longest offset and gravity are one."""
    geometry = floating_geometry(robot)
    chain = chain_of(robot).scaled(float(geometry.length), float(geometry.acceleration))
    return Problem(robot, model, columns, geometry, chain, tuple(elements_of(chain, model)))


def elements_of(chain: Chain, model: str) -> list[Element]:
    """The elements from which a model's set is made; for inertia w~ first, then w_g."""
    if model == "gravity":
        return gravity_set(chain)
    elements = torque_set(chain)
    if model != "inertia":
        return elements
    by_gravity = gravity_set(chain)
    names = {e.name for e in by_gravity}
    return [*(e for e in elements if e.name not in names), *by_gravity]


def combinations(problem: Problem) -> Combinations:
    """The independent combinations that a model determines: where the theorems name a set, its elements."""
    width = len(problem.names)
    needs_gravity = problem.model != "gravity" and not problem.chain.gravity.any()
    if problem.model != "inertia" and not problem.columns.letters and not needs_gravity:
        return Combinations(np.eye(width), tuple(range(width)))
    rows = rows_of_model(problem)
    arithmetic = Floating()
    triangle, lengths = unit_columns(rows)
    basis = arithmetic.span(triangle)
    pivots = independent_columns(basis, range(width), len(basis))
    reduced = reduced_in_units(basis, pivots, lengths)
    cleared = without_rounding(reduced, np.ones(width), pivots)
    return Combinations(cleared, tuple(pivots), (arithmetic.kept, arithmetic.dropped))


def rows_of_model(problem: Problem) -> Array:
    """How entries of H and of the gravity load depend on elements and drives, (rows, elements + drives).

    At more postures than needed, in the units of the problem. By Theorems 2 and 3 these entries decide;
    friction is a function of velocity that nothing else produces.
    """
    n, count, width = problem.chain.dof, len(problem.elements), len(problem.names)
    first = 10 * problem.columns.links
    terms = constant_terms(problem.robot, problem.geometry, problem.model, problem.columns)
    drives = {key: 0.5 * row[first:].astype(np.float64) for key, row in terms.items()}  # they count twice
    nothing = np.zeros(width - count)
    constants = carriers(problem.elements, n)
    rng = np.random.default_rng(0)
    rows: list[Array] = []
    for _ in range(10 + 3 * width // n):
        H, load = inertia_and_gravity(problem.chain, constants, rng.uniform(-3.0, 3.0, n))
        entries = {(GRAVITY, i): 0.0 * load[i] if problem.model == "inertia" else load[i] for i in range(n)}
        if problem.model != "gravity":
            entries |= {(m, i): H[m, i] for i in range(n) for m in range(i + 1)}
        rows += [np.concatenate([entry, drives.get(key, nothing)]) for key, entry in entries.items()]
    friction = [count + column - first for column in friction_columns(problem.model, problem.columns)]
    return np.vstack([*rows, np.eye(width)[friction]])


def carriers(elements: Sequence[Element], bodies: int) -> Array:
    """Constants of composite bodies per unit of each element, the others zero, (bodies, 10, elements)."""
    constants = np.zeros((bodies, 10, len(elements)))
    for k, e in enumerate(elements):
        constants[e.body, :, k] = e.carrier
    return constants
