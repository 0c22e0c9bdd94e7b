"""The rules and relations of [GK1990], written once for numbers and for symbols.

M. Gautier, W. Khalil, Direct calculation of minimum set of inertial parameters of serial robots, IEEE
Trans. Robotics and Automation 6(3), 1990. With r1 the first rotational joint and r2 the first rotational
joint after it whose axis is not parallel, the rules name parameters of links before r2 that have no
effect. Relations (15), (16), (19) and (20) move parameters of link j to link j - 1; all are columns of
the matrix lambda of (A2) to (A6), less what falls on parameters without effect.

Departures from the printed text: line 1 of (15) is XXR_j = XX_j - YY_j and the third term of YYR in (16)
is -2 S(theta) C(alpha) S(alpha) XZ_j; rule 2 asks for r1 parallel to gravity even if r1 = 1; and what (19)
and (20) add to the inertia tensor of a slide is passed on by (16), so all are applied link by link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from dynid.base.modified_dh import ModifiedDH, Row
from dynid.base.symbolic import Poly, symbol
from dynid.spatial import PARAMETER_LETTERS, SNAP, Array

Scalar: TypeAlias = float | Poly
State: TypeAlias = dict[str, dict[str, Scalar]]  # what each parameter has become, by standard parameter
Column: TypeAlias = dict[str, Scalar]  # what a unit of a parameter adds to others
Vector: TypeAlias = tuple[Scalar, Scalar, Scalar]
Matrix: TypeAlias = tuple[Vector, Vector, Vector]

TENSOR = PARAMETER_LETTERS[:6]
FIRST_MOMENTS = PARAMETER_LETTERS[6:9]
_ENTRIES = {"XX": (0, 0), "XY": (0, 1), "XZ": (0, 2), "YY": (1, 1), "YZ": (1, 2), "ZZ": (2, 2)}


@dataclass(frozen=True)
class Place:
    """A row of the table as scalars: cosine and sine of alpha and of theta, d and r."""

    Ca: Scalar
    Sa: Scalar
    Ct: Scalar
    St: Scalar
    d: Scalar
    r: Scalar


def closed_form(table: ModifiedDH, places: Sequence[Place]) -> State:
    """Steps 1 to 3 of Section V: each base parameter as a combination of standard parameters."""
    axes = first_axes(table)
    state = initial_state(len(places), without_effect(table, axes))
    for j in reversed(range(len(places))):
        regroup_link(state, j, columns_moved(table, axes, places[j], j))
    return state


def initial_state(links: int, silent: frozenset[str]) -> State:
    """Every parameter with an effect, as itself."""
    names = (f"{letters}{j + 1}" for j in range(links) for letters in PARAMETER_LETTERS)
    return {name: {name: 1} for name in names if name not in silent}


def regroup_link(state: State, j: int, moved: dict[str, Column]) -> None:
    """Move parameters of link j (counted from 0) to others; what falls on one without effect is gone."""
    for letters, column in moved.items():
        combination = state.pop(f"{letters}{j + 1}", None)
        if combination is None:
            continue
        for target, coefficient in column.items():
            receiver = state.get(target)
            if receiver is not None:
                add(receiver, combination, coefficient)


def add(receiver: dict[str, Scalar], combination: dict[str, Scalar], factor: Scalar) -> None:
    """Add a multiple of a combination to another one."""
    for name, coefficient in combination.items():
        total = receiver.get(name, 0) + factor * coefficient
        if total:
            receiver[name] = total
        else:
            receiver.pop(name, None)


# --- the relations ----------------------------------------------------------------------------------


def columns_moved(table: ModifiedDH, axes: FirstAxes, place: Place, j: int) -> dict[str, Column]:
    """What relations (15), (16), (19) and (20) do with the parameters of link j (counted from 0)."""
    if not table.rows[j].prismatic:
        return columns_of_rotation(place, j)
    moved = {letters: transport(place, letters, j) for letters in TENSOR}  # (16)
    if moves_along(table, axes, j):
        moved |= {letters: transport(place, letters, j) for letters in ("MX", "MY")}  # (19), (20)
    return moved


def columns_of_rotation(place: Place, j: int) -> dict[str, Column]:
    """Relation (15), which no more depends on theta than it does on q."""
    start = Place(place.Ca, place.Sa, 1, 0, place.d, place.r)
    XX, YY = transport(start, "XX", j), transport(start, "YY", j)
    both = {target: XX.get(target, 0) + YY.get(target, 0) for target in {**XX, **YY}}
    return {
        "YY": {**both, f"XX{j + 1}": -1},
        "MZ": transport(start, "MZ", j),
        "M": transport(start, "M", j),
    }


def transport(place: Place, letters: str, j: int) -> Column:
    """A row of lambda, (A2) to (A6): what a parameter of link j is worth in parameters of link j - 1.

    Turning the frame by A and shifting it by P turns a unit tensor e_a e_b' into A e_a e_b' A', and a first
    moment and a mass into tensors, a moment and a mass.
    """
    Ca, Sa, Ct, St, d, r = place.Ca, place.Sa, place.Ct, place.St, place.d, place.r
    A: Matrix = ((Ct, -St, 0), (Ca * St, Ca * Ct, -Sa), (Sa * St, Sa * Ct, Ca))
    P: Vector = (d, -r * Sa, r * Ca)
    nothing: Vector = (0, 0, 0)
    if letters in TENSOR:
        a, b = _ENTRIES[letters]
        return column(j, turned_tensor(A, a, b), nothing, 0)
    if letters == "M":
        return column(j, moment_tensor(P, P), P, 1)
    axis = FIRST_MOMENTS.index(letters)
    turned: Vector = (A[0][axis], A[1][axis], A[2][axis])
    either = zip(moment_tensor(P, turned), moment_tensor(turned, P), strict=True)
    return column(j, tuple(first + second for first, second in either), turned, 0)


def column(j: int, tensor: Sequence[Scalar], moment: Vector, mass: Scalar) -> Column:
    """The ten entries, non-zero ones only, by the names of link j - 1 (counted from 0)."""
    entries = zip(PARAMETER_LETTERS, (*tensor, *moment, mass), strict=True)
    return {f"{letters}{j}": entry for letters, entry in entries if entry}


def turned_tensor(A: Matrix, a: int, b: int) -> tuple[Scalar, ...]:
    """The six entries of A E A', where E has ones at (a, b) and (b, a)."""
    if a == b:
        return tuple(A[i][a] * A[k][a] for i, k in _ENTRIES.values())
    return tuple(A[i][a] * A[k][b] + A[i][b] * A[k][a] for i, k in _ENTRIES.values())


def moment_tensor(P: Vector, h: Vector) -> tuple[Scalar, ...]:
    """The six entries of (P'h) 1 - P h', the upper half taken for both."""
    (px, py, pz), (hx, hy, hz) = P, h
    return (py * hy + pz * hz, -px * hy, -px * hz, px * hx + pz * hz, -py * hz, px * hx + py * hy)


# --- the rules --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FirstAxes:
    """The joints r1 and r2, counted from 0 and len(joints) where there is none, and the first axis."""

    r1: int
    r2: int
    seen: tuple[Array, ...]  # direction of axis r1 in frame j at q = 0; constant for r1 <= j < r2

    def between(self, j: int) -> bool:
        """Whether link j turns about axis r1 alone."""
        return self.r1 <= j < self.r2

    def coordinate(self, j: int) -> str:
        """The coordinate axis of frame j along which axis r1 is: X, Y, Z, or nothing."""
        along = np.flatnonzero(np.abs(self.seen[j]) > SNAP)
        return "XYZ"[along[0]] if len(along) == 1 else ""


def first_axes(table: ModifiedDH) -> FirstAxes:
    """The first two rotational joints that are not parallel."""
    count = len(table.rows)
    turning = [j for j, row in enumerate(table.rows) if not row.prismatic]
    r1 = turning[0] if turning else count
    if not turning:
        return FirstAxes(r1, count, ())
    axis = table.poses[r1].rotation[:, 2]
    others = [j for j in turning if not parallel(table.poses[j].rotation[:, 2], axis)]
    seen = tuple(pose.rotation.T @ axis for pose in table.poses)
    return FirstAxes(r1, others[0] if others else count, seen)


def without_effect(table: ModifiedDH, axes: FirstAxes) -> frozenset[str]:
    """Section III-B: the parameters that the rules know to have no effect."""
    silent: set[str] = set()
    count, r1 = len(table.rows), axes.r1
    for j in range(r1):  # rule 1: slides before any rotation
        silent |= {f"{letters}{j + 1}" for letters in (*TENSOR, *FIRST_MOMENTS)}
    if r1 < count and stays_in_place(table, r1):  # rule 2
        silent |= {f"MX{r1 + 1}", f"MY{r1 + 1}"}
    if r1 == 0:
        silent.add("M1")
    for j in range(r1, axes.r2):  # rule 3, and what it leaves to the reader for slides across r1
        axis = axes.coordinate(j)
        if axis:
            silent |= {f"{letters}{j + 1}" for letters in TENSOR if letters != 2 * axis}
            silent.add(f"M{axis}{j + 1}")
    return frozenset(silent)


def stays_in_place(table: ModifiedDH, r1: int) -> bool:
    """Rule 2: axis r1 is along gravity, as every axis is if there is none, and so are the slides before."""
    axis = table.poses[r1].rotation[:, 2]
    before = (table.poses[j].rotation[:, 2] for j in range(r1))
    return parallel(axis, table.gravity) and all(parallel(slide, axis) for slide in before)


def moves_along(table: ModifiedDH, axes: FirstAxes, j: int) -> bool:
    """Whether (19) or (20) is for link j: it slides along r1, and the link before is parallel or across."""
    place = numeric_place(table.rows[j])
    right_angle = place.Ca * place.Sa == 0
    return axes.r1 < j < axes.r2 and axes.coordinate(j) == "Z" and right_angle


def parallel(a: Array, b: Array) -> bool:
    """Whether two vectors have one direction, up to sign; zero has any."""
    return bool(np.linalg.norm(np.cross(a, b)) <= SNAP * np.linalg.norm(a) * np.linalg.norm(b))


# --- the table as scalars -----------------------------------------------------------------------------


def numeric_places(table: ModifiedDH) -> list[Place]:
    """The table in numbers."""
    return [numeric_place(row) for row in table.rows]


def numeric_place(row: Row) -> Place:
    return Place(*row.alpha_cos_sin, *row.theta_cos_sin, row.d, row.r)


def symbolic_places(table: ModifiedDH) -> list[Place]:
    """The table in symbols, except for zeros and right angles."""
    return [symbolic_place(row, j + 1) for j, row in enumerate(table.rows)]


def symbolic_place(row: Row, number: int) -> Place:
    def length(value: float, letter: str) -> Scalar:
        return symbol(f"{letter}{number}") if value else 0

    def angle(cos_sin: tuple[float, float], name: str) -> tuple[Scalar, Scalar]:
        cos, sin = cos_sin
        return (symbol(f"C{name}{number}"), symbol(f"S{name}{number}")) if cos * sin else (cos, sin)

    alpha, theta = angle(row.alpha_cos_sin, "alpha"), angle(row.theta_cos_sin, "theta")
    return Place(*alpha, *theta, length(row.d, "D"), length(row.r, "R"))
