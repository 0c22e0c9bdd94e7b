"""Mass, first and second moments of bodies, moved from frame to frame and put together.

All three are integrals of dm over the body: of 1, of r and of r r'. Unlike an inertia tensor, J = integral
of r r' dm simply turns with the axes, and a compound link's moments are sums of moments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dynid.mechanism import Mechanism
from dynid.motion import Place, Scalars
from dynid.program import Scalar
from dynid.spatial import Array
from dynid.vectors import ZERO, Vector, add, rotate, scale, turn

Second: TypeAlias = tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]  # Jxx Jxy Jyy Jxz Jyz Jzz


@dataclass(frozen=True)
class Moments:
    """Mass, first and second moments of a body about the origin of its frame."""

    m: Scalar
    h: Vector
    J: Second


def bodies_of(parameters: Scalars) -> list[Moments]:
    """Ten parameters a body, in the order of `mechanism.BODY_LETTERS`."""
    found: list[Moments] = []
    for k in range(0, len(parameters), 10):
        m, hx, hy, hz, *J = parameters[k : k + 10]
        found.append(Moments(m, (hx, hy, hz), (J[0], J[1], J[2], J[3], J[4], J[5])))
    return found


def turned(body: Moments, c: Scalar, s: Scalar) -> Moments:
    """The moments of a body in axes before a turn about z; the trace of J's xy block is kept, not squared."""
    Jxx, Jxy, Jyy, Jxz, Jyz, Jzz = body.J
    u = s * (Jxx - Jyy) + c * (2.0 * Jxy)
    t = s * u
    J = (Jxx - t, c * u - Jxy, Jyy + t, c * Jxz - s * Jyz, s * Jxz + c * Jyz, Jzz)
    return Moments(body.m, turn(c, s, body.h), J)


def rotated(body: Moments, R: Array) -> Moments:
    """The moments of a body seen from axes in which its own are the columns of the constant R."""
    Jxx, Jxy, Jyy, Jxz, Jyz, Jzz = body.J
    columns = [rotate(R, row) for row in ((Jxx, Jxy, Jxz), (Jxy, Jyy, Jyz), (Jxz, Jyz, Jzz))]
    rows = [rotate(R, (columns[0][i], columns[1][i], columns[2][i])) for i in range(3)]
    J = (rows[0][0], rows[0][1], rows[1][1], rows[0][2], rows[1][2], rows[2][2])
    return Moments(body.m, rotate(R, body.h), J)


def moved(body: Moments, r: Vector) -> Moments:
    """The moments of a body about a point from which its origin is at r."""
    h, J = body.h, body.J
    h2 = add(h, scale(body.m, r))
    pairs = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
    new = [
        J[k] + r[i] * (h[i] + h2[i] if i == k2 else h[k2]) + (0.0 if i == k2 else r[k2] * h2[i])
        for k, (i, k2) in enumerate(pairs)
    ]
    return Moments(body.m, h2, (new[0], new[1], new[2], new[3], new[4], new[5]))


def together(a: Moments, b: Moments) -> Moments:
    J = tuple(x + y for x, y in zip(a.J, b.J, strict=True))
    return Moments(a.m + b.m, add(a.h, b.h), (J[0], J[1], J[2], J[3], J[4], J[5]))


NOTHING = Moments(0.0, ZERO, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))


def compounds(mech: Mechanism, at: Sequence[Place], parameters: Scalars) -> list[Moments]:
    """Moments of the compound links, Eqs. (15)-(17) of [Izaguirre1992], (5)-(7) of [Lin1992].

    Compound j is body j with all that it carries, about the origin of its joint and in its joint axes.
    """
    own = bodies_of(parameters)
    inside_group = [NOTHING] * len(own)
    found = [NOTHING] * len(own)
    for j in reversed(range(len(own))):
        body, place = mech.bodies[j], at[j]
        whole = moved(own[j], (0.0, 0.0, place.slide)) if body.prismatic else turned(own[j], place.c, place.s)
        found[j] = whole = together(whole, inside_group[j])
        p = body.parent
        if p < 0:
            continue
        if place.group != j:
            inside_group[p] = together(inside_group[p], moved(whole, place.lever))
        else:
            own[p] = together(own[p], moved(rotated(whole, body.placement.rotation), place.lever))
    return found


def momentum(compound: Moments, prismatic: bool) -> tuple[Vector, Vector]:
    """Momentum of a compound link moved by its own joint alone; the angular one is about that joint."""
    (x, y, _), (Jxx, _, Jyy, Jxz, Jyz, _) = compound.h, compound.J
    if prismatic:
        return (0.0, 0.0, compound.m), (y, -x, 0.0)
    return (-y, x, 0.0), (-Jxz, -Jyz, Jxx + Jyy)
