"""Which linear combinations of inertial parameters the joints can tell: structurally, for any tree.

The inertia matrix and the gravity torque are analytic in q, so their joint values at q = 0 together
with all the directions in which they vary span everything that is identifiable. Going from the root
to the leaves, three things are handed on from link to link:

* `still`: at q = 0, the velocity that each joint on the way gives the link (the upward acceleration
  that stands for gravity is one more of these), and `swept`: the span of the ways they can vary;
* `seen`: the linear functionals of the inertia of link and all it carries, moved as one body, that
  the joints up to this link can tell.

A functional f of a body is stored by its coefficients on the upper triangle of the body's
pseudo-inertia S, so f(S) = trace(N S) for the matrix N of these coefficients. A body that moves
by the pose T turns N into T' N T, a joint with the twist matrix t turns it at the rate t' N + N t,
and two twists a and b have the functional a' I b = trace(a' b S).

Rates have the eigenvalues 0, +-i, +-2i for a rotation and are nilpotent for a slide, so fixed
polynomials in the rate (the spectral projectors, up to scale) give every span that a joint sweeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dynid.base.geometry import Geometry
from dynid.base.rational import Numbers

GRAVITY = -1  # the label, among joint numbers, of the acceleration that stands for gravity

_UPPER = np.triu_indices(4)
_STRICT = np.triu(np.ones((4, 4), dtype=int), 1)

# Twice a functional of the ten standard parameters XX XY XZ YY YZ ZZ MX MY MZ M, from its coefficients on
# the pseudo-inertia's upper triangle xx xy xz x yy yz y zz z 1: 2 xx = YY + ZZ - XX, xy = -XY, ...
_TWICE_STANDARD = np.array(
    [
        [-1, 0, 0, 1, 0, 1, 0, 0, 0, 0],
        [0, -2, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, -2, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 2, 0, 0, 0],
        [1, 0, 0, -1, 0, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, -2, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 2, 0, 0],
        [1, 0, 0, 1, 0, -1, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 2, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 2],
    ]
)

Rate = Callable[[Numbers], Numbers]


class Arithmetic(Protocol):
    """How spans are computed: exactly, or in floating point."""

    def span(self, rows: Any) -> Any: ...

    def reduce(self, rows: Any, order: Any) -> tuple[Any, list[int]]: ...


@dataclass(frozen=True, eq=False)
class Motion:
    """How a link can move: `still` at q = 0 by joint number or GRAVITY, `swept` what is added as q varies."""

    still: Mapping[int, Numbers]  # each (6,)
    swept: Numbers  # (k, 6)


@dataclass(frozen=True, eq=False)
class Sight:
    """What the joint of a link sees of the body that the link and all it carries form at q = 0."""

    varying: Numbers  # (k, 10): effects that vary with q
    constant: Mapping[int, Numbers]  # (10,): effect at q = 0 coupled with each joint before, or gravity


def motions(geometry: Geometry, arithmetic: Arithmetic, *, inertia: bool, gravity: bool) -> list[Motion]:
    """How each link can move, with the joints' own velocities (`inertia`), with gravity, or with both."""
    upward = np.concatenate([0 * geometry.gravity, -geometry.gravity])
    base = Motion(
        {GRAVITY: upward} if gravity and np.any(upward) else {}, np.zeros((0, 6), dtype=upward.dtype)
    )
    found: list[Motion] = []
    for number, step in enumerate(geometry.steps):
        above = found[step.parent] if step.parent >= 0 else base
        carry = velocity_transform(step.pose)
        still = {label: carry @ velocity for label, velocity in above.still.items()}
        rate = commutator_with(step.axis)
        varied = [rate(velocity[None]) for velocity in still.values()]
        start = stack([above.swept @ carry.T, *varied], 6)
        swept = arithmetic.span(orbit(start, rate, step.prismatic))
        if inertia:
            still[number] = step.axis
        found.append(Motion(still, swept))
    return found


def sights(geometry: Geometry, moves: list[Motion], arithmetic: Arithmetic) -> list[Sight]:
    """What each joint sees, given how the links move."""
    found: list[Sight] = []
    seen: list[Numbers] = []
    for step, motion in zip(geometry.steps, moves, strict=True):
        before = seen[step.parent] if step.parent >= 0 else np.zeros((0, 10), dtype=step.pose.dtype)
        twist = twist_matrix(step.axis)
        rate = rate_of(twist)
        handed_on = arithmetic.span(orbit(moved(before, step.pose), rate, step.prismatic))
        turned = rate(handed_on)
        forces = product(motion.swept, step.axis)
        varying = arithmetic.span(stack([turned, forces], 10))
        constant = {label: product(v[None], step.axis)[0] for label, v in motion.still.items()}
        everything = stack([handed_on, varying, *(row[None] for row in constant.values())], 10)
        seen.append(arithmetic.span(everything))
        found.append(Sight(varying, constant))
    return found


def composite_rows(geometry: Geometry, joint: int, functionals: Numbers, width: int) -> Numbers:
    """Functionals of the body that `joint` carries at q = 0, on all columns' parameters: (k, width).

    Twice the functional, so that whole numbers stay whole; the parameters are in the geometry's units.
    """
    rows = np.zeros((len(functionals), width), dtype=functionals.dtype)
    for link, local in carried(geometry, joint, functionals):
        rows[:, 10 * link : 10 * link + 10] = local @ _TWICE_STANDARD
    return rows


def carried(geometry: Geometry, joint: int, functionals: Numbers) -> Iterator[tuple[int, Numbers]]:
    """The functionals written in the frame of each link that `joint` carries."""
    local = {joint: functionals}
    yield joint, functionals
    for link in range(joint + 1, len(geometry.steps)):
        parent = geometry.steps[link].parent
        if parent in local:
            local[link] = moved(local[parent], geometry.steps[link].pose)
            yield link, local[link]


# --- functionals ------------------------------------------------------------------------------------


def unfold(functionals: Numbers) -> Numbers:
    """Upper triangular matrices (k, 4, 4) of functionals (k, 10)."""
    matrices = np.zeros((len(functionals), 4, 4), dtype=functionals.dtype)
    matrices[:, _UPPER[0], _UPPER[1]] = functionals
    return matrices


def fold(matrices: Numbers) -> Numbers:
    """Functionals (k, 10) of any matrices (k, 4, 4): entries across the diagonal act together."""
    symmetric = matrices + matrices.swapaxes(1, 2) * _STRICT
    return symmetric[:, _UPPER[0], _UPPER[1]]


def moved(functionals: Numbers, pose: Numbers) -> Numbers:
    """The functionals, written in the frame that has the given pose."""
    return fold(pose.T @ unfold(functionals) @ pose)


def rate_of(twist: Numbers) -> Rate:
    """How functionals of a body change per unit of a joint with the twist matrix `twist`."""

    def rate(functionals: Numbers) -> Numbers:
        matrices = unfold(functionals)
        return fold(twist.T @ matrices + matrices @ twist)

    return rate


def product(velocities: Numbers, axis: Numbers) -> Numbers:
    """The functionals axis' I v for each velocity v, (k, 10)."""
    matrices = [twist_matrix(velocity).T @ twist_matrix(axis) for velocity in velocities]
    return fold(np.array(matrices, dtype=axis.dtype).reshape(-1, 4, 4))


# --- velocities -------------------------------------------------------------------------------------


def cross_matrix(v: Numbers) -> Numbers:
    """[v x] in the arithmetic of v."""
    x, y, z = v
    zero = 0 * x
    return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]], dtype=v.dtype)


def twist_matrix(velocity: Numbers) -> Numbers:
    """The (4, 4) matrix that maps a point to its velocity."""
    matrix = np.zeros((4, 4), dtype=velocity.dtype)
    matrix[:3, :3] = cross_matrix(velocity[:3])
    matrix[:3, 3] = velocity[3:]
    return matrix


def velocity_transform(pose: Numbers) -> Numbers:
    """From the velocity (6,) of a body in one frame to that in a frame with the given pose."""
    turn, shift = pose[:3, :3].T, pose[:3, 3]
    matrix = np.zeros((6, 6), dtype=pose.dtype)
    matrix[:3, :3] = matrix[3:, 3:] = turn
    matrix[3:, :3] = -turn @ cross_matrix(shift)
    return matrix


def commutator_with(axis: Numbers) -> Rate:
    """ad(axis): how velocities seen in a link's frame change per unit of its joint, up to sign."""
    matrix = np.zeros((6, 6), dtype=axis.dtype)
    matrix[:3, :3] = matrix[3:, 3:] = cross_matrix(axis[:3])
    matrix[3:, :3] = cross_matrix(axis[3:])
    return lambda velocities: velocities @ matrix.T


def orbit(start: Numbers, rate: Rate, prismatic: bool) -> Numbers:
    """Rows that span everything the rows of `start` become as the joint moves.

    For a rotation about a unit axis the minimal polynomial of the rate D divides D (D^2+1) (D^2+4);
    the five combinations are the parts of frequency 0, 1 and 2, so that no part hides another.
    """
    first = rate(start)
    second = rate(first)
    if prismatic:
        return np.concatenate([start, first, second])
    third = rate(second)
    fourth = rate(third)
    return np.concatenate(
        [
            fourth + 5 * second + 4 * start,
            fourth + 4 * second,
            third + 4 * first,
            fourth + second,
            third + first,
        ]
    )


def stack(blocks: list[Numbers], width: int) -> Numbers:
    """The rows of all blocks, (rows, width)."""
    return np.concatenate(blocks).reshape(-1, width)
