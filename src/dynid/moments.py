"""Mass, first and second moments of bodies, moved from frame to frame and put together.

All three are integrals of dm over the body: of 1, of r and of r r'. Unlike an inertia tensor, J = integral
of r r' dm simply turns with the axes, and a compound link's moments are sums of moments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from dynid.mechanism import Mechanism
from dynid.motion import Place, Scalars
from dynid.program import Expr, Scalar
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


@dataclass(frozen=True)
class CompoundStyle:
    """Equal ways to write the compound links and what they make of the inertia matrix, one entry per body.

    `crossed` says which of two formulas turns the second moments of a compound (see `turned`). `level` is the
    body down to which the momentum of a compound is carried; joints further down meet it there, with the
    velocities they give that body. -1 carries it all the way.
    """

    crossed: tuple[bool, ...] = ()
    level: tuple[int, ...] = ()

    def crosses(self, j: int) -> bool:
        return j < len(self.crossed) and self.crossed[j]

    def level_of(self, j: int) -> int:
        return self.level[j] if j < len(self.level) else -1

    def neighbours(self) -> Iterator[CompoundStyle]:
        """All styles that differ in one decision."""
        for j, crossed in enumerate(self.crossed):
            yield replace(self, crossed=(*self.crossed[:j], not crossed, *self.crossed[j + 1 :]))
        for j, level in enumerate(self.level):
            for other in (-1, *range(1, j + 1)):
                if other != level:
                    yield replace(self, level=(*self.level[:j], other, *self.level[j + 1 :]))


CARRIED = CompoundStyle()


def turned(body: Moments, c: Scalar, s: Scalar, crossed: bool = False) -> Moments:
    """The moments of a body in axes before a turn about z.

    J's xy block is D = Jxx - Jyy and Jxy; no square of c or s is needed to turn it. With u = s D + 2 c Jxy
    the new Jxx is Jxx - s u; crossed, with u = c D - 2 s Jxy, it is Jyy + c u.
    """
    Jxx, Jxy, Jyy, Jxz, Jyz, Jzz = body.J
    if crossed:
        u = c * (Jxx - Jyy) - s * (2.0 * Jxy)
        t = c * u
        block = (Jyy + t, s * u + Jxy, Jxx - t)
    else:
        u = s * (Jxx - Jyy) + c * (2.0 * Jxy)
        t = s * u
        block = (Jxx - t, c * u - Jxy, Jyy + t)
    return Moments(body.m, turn(c, s, body.h), (*block, c * Jxz - s * Jyz, s * Jxz + c * Jyz, Jzz))


def rotated(body: Moments, R: Array) -> Moments:
    """The moments of a body seen from axes in which its own are the columns of the constant R."""
    Jxx, Jxy, Jyy, Jxz, Jyz, Jzz = body.J
    columns = [rotate(R, row) for row in ((Jxx, Jxy, Jxz), (Jxy, Jyy, Jyz), (Jxz, Jyz, Jzz))]
    rows = [rotate(R, (columns[0][i], columns[1][i], columns[2][i])) for i in range(3)]
    J = (rows[0][0], rows[0][1], rows[1][1], rows[0][2], rows[1][2], rows[2][2])
    return Moments(body.m, rotate(R, body.h), J)


def moved(body: Moments, r: Vector) -> Moments:
    """The moments of a body about a point from which its origin is at r.

    J gains r h' + h r' + m r r'. Where m and r are numbers so is the last term; where they are not, the new
    first moment h + m r takes it along.
    """
    h, J = body.h, body.J
    h2 = add(h, scale(body.m, r))
    new: list[Scalar] = []
    for k, (i, j) in enumerate(((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))):
        if any(isinstance(x, Expr) for x in (body.m, r[i], r[j])):
            new.append(J[k] + (r[i] * (h[i] + h2[i]) if i == j else r[i] * h[j] + r[j] * h2[i]))
        else:
            known = body.m * r[i] * r[j]
            new.append(J[k] + (2.0 * r[i] * h[i] if i == j else r[i] * h[j] + r[j] * h[i]) + known)
    return Moments(body.m, h2, (new[0], new[1], new[2], new[3], new[4], new[5]))


def together(a: Moments, b: Moments) -> Moments:
    J = tuple(x + y for x, y in zip(a.J, b.J, strict=True))
    return Moments(a.m + b.m, add(a.h, b.h), (J[0], J[1], J[2], J[3], J[4], J[5]))


NOTHING = Moments(0.0, ZERO, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))


def compounds(
    mech: Mechanism, at: Sequence[Place], parameters: Scalars, style: CompoundStyle = CARRIED
) -> list[Moments]:
    """Moments of the compound links, Eqs. (15)-(17) of [Izaguirre1992], (5)-(7) of [Lin1992].

    Compound j is body j with all that it carries, about the origin of its joint and in its joint axes.
    """
    own = bodies_of(parameters)
    inside_group = [NOTHING] * len(own)
    found = [NOTHING] * len(own)
    for j in reversed(range(len(own))):
        body, place = mech.bodies[j], at[j]
        if body.prismatic:
            whole = moved(own[j], (0.0, 0.0, place.slide))
        else:
            whole = turned(own[j], place.c, place.s, style.crosses(j))
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
