"""How the bodies of a tree move: poses, velocities and accelerations, over numbers or `Expr`.

Every body's frame turns about, or slides along, its own z axis (see `mechanism`). Two sets of axes are in
use for each body: its *own* axes, and the *joint axes* it would have with all the joints of its group at
zero. A group is a run of rotational joints with parallel axes: their angles add up, so that one cosine and
one sine lead from the joint axes, common to the group, to the own axes of each member.

Letters: w, wd angular velocity and acceleration; a acceleration of a frame's origin, less gravity;
U = [wd x] + [w x][w x], so that a point at r in the frame accelerates with a + U r (Eq. (20) of
[Izaguirre1992]).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from dynid.mechanism import Mechanism
from dynid.program import Scalar, cos, sin
from dynid.spatial import Array
from dynid.vectors import ZERO, Vector, Z, add, cross, dot, rotate_back, scale, turn, unturn, vector

Matrix: TypeAlias = tuple[Vector, Vector, Vector]  # rows
Scalars: TypeAlias = Sequence[Scalar]
Axes: TypeAlias = Literal["own", "joint", "parent"]
AXES: tuple[Axes, ...] = ("own", "joint", "parent")


@dataclass(frozen=True)
class Style:
    """Equal ways to write inverse dynamics; which is cheapest depends on the robot and on what is known.

    `axes` says for each body in which axes its equation of motion is written: its own, or the joint axes,
    into which its parameters are turned (cheap for a last link, whose motion then need not be turned), or
    those of its parent, of which it becomes a frozen part, so that only what its own joint adds remains.
    For the bodies that it names, `twice` gets U_31 and U_32 as 2 w_x w_z - U_13 and 2 w_y w_z - U_23, without
    wd_x and wd_y, and `difference` gets w_y^2 from U_33, not as a product.
    """

    axes: tuple[Axes, ...] = ()
    twice: frozenset[int] = frozenset()
    difference: frozenset[int] = frozenset()

    def of(self, j: int) -> Axes:
        return self.axes[j] if j < len(self.axes) else "own"

    def neighbours(self) -> Iterator[Style]:
        """All styles that differ in one decision."""
        everybody = frozenset(range(len(self.axes)))
        for turned in (everybody, *(frozenset({j}) for j in everybody)):
            yield replace(self, difference=self.difference ^ turned)
            yield replace(self, twice=self.twice ^ turned)
        for j, own in enumerate(self.axes):
            for axes in AXES:
                if axes != own:
                    yield replace(self, axes=(*self.axes[:j], axes, *self.axes[j + 1 :]))


PLAIN = Style()


@dataclass(frozen=True)
class Place:
    """Where joint j has brought its body: turned by (c, s) from the joint axes, slid by `slide`."""

    group: int  # first body of the group of parallel joints
    angle: Scalar  # sum of the group's joint variables up to here
    c: Scalar
    s: Scalar
    slide: Scalar
    lever: Vector  # from the parent's origin to the joint, in the parent's own axes or, inside a group,
    # in the group's joint axes


def places(mech: Mechanism, q: Scalars) -> list[Place]:
    """The pose of every body, joint by joint."""
    found: list[Place] = []
    for j, body in enumerate(mech.bodies):
        x = body.multiplier * q[body.coordinate] + body.offset
        lever = vector(body.placement.translation)
        if body.prismatic:
            found.append(Place(j, 0.0, 1.0, 0.0, x, lever))
            continue
        group, angle = j, x
        if body.parent >= 0 and not mech.bodies[body.parent].prismatic and _parallel(body.placement.rotation):
            parent = found[body.parent]
            group, angle = parent.group, parent.angle + x
            lever = turn(parent.c, parent.s, lever)
        found.append(Place(group, angle, cos(angle), sin(angle), 0.0, lever))
    return found


def _parallel(R: Array) -> bool:
    return bool((R == ((1, 0, 0), (0, 1, 0), (0, 0, 1))).all())


# --- velocities and accelerations ---------------------------------------------------------------------


@dataclass(frozen=True)
class Rates:
    """Angular velocity and acceleration in one set of axes, and what follows from them."""

    w: Vector
    wd: Vector
    U: Matrix
    squares: Vector  # of the components of w


def rates(w: Vector, column: Vector, wd_z: Scalar, twice: bool = False, difference: bool = False) -> Rates:
    """All of U from w, its third column and wd_z.

    U's third column is the acceleration of a point of the joint's axis, seen from its origin. It does not
    feel the motion of the joint, so it is turned like a vector from the parent's U, and wd_x and wd_y are
    read from it instead of being turned and summed themselves. `twice` and `difference` are those of `Style`.
    """
    x, y, z = w
    xx, zz = x * x, z * z
    yy = -column[2] - xx if difference else y * y  # U_33 = -(xx + yy)
    xy, xz, yz = x * y, x * z, y * z
    wd = (yz - column[1], column[0] - xz, wd_z)
    if twice:
        z2 = 2.0 * z
        last = (x * z2 - column[0], y * z2 - column[1], column[2])
    else:
        last = (xz - wd[1], yz + wd[0], column[2])
    U = ((-(yy + zz), xy - wd_z, column[0]), (xy + wd_z, -(xx + zz), column[1]), last)
    return Rates(w, wd, U, (xx, yy, zz))


def rates_of(w: Vector, wd: Vector) -> Rates:
    """U from w and wd."""
    column = (w[0] * w[2] + wd[1], w[1] * w[2] - wd[0], -(w[0] * w[0] + w[1] * w[1]))
    return rates(w, column, wd[2])


def times(U: Matrix, v: Vector) -> Vector:
    return (dot(U[0], v), dot(U[1], v), dot(U[2], v))


@dataclass(frozen=True)
class Motion:
    """Motion of a body in its own axes and in its joint axes; a is that of its origin, less gravity."""

    own: Rates
    a: Vector
    joint: Rates
    a_joint: Vector
    frozen: Rates  # in joint axes, as if the joint itself stood still
    # before the first joint of the group moves: what all its members share
    w0: Vector
    column0: Vector
    wd0_z: Scalar


REST = Rates(ZERO, ZERO, (ZERO, ZERO, ZERO), ZERO)


def motions(
    mech: Mechanism, at: Sequence[Place], qd: Scalars, qdd: Scalars, gravity: Vector, style: Style = PLAIN
) -> list[Motion]:
    """Outward recursion of Newton-Euler: Eqs. (18)-(20) of [Izaguirre1992], accelerations included."""
    found: list[Motion] = []
    for j, (body, place) in enumerate(zip(mech.bodies, at, strict=True)):
        how = j in style.twice, j in style.difference
        v = body.multiplier * qd[body.coordinate]
        vd = body.multiplier * qdd[body.coordinate]
        if place.group != j:  # a further joint of the parent's group
            parent = found[body.parent]
            w0, column0, wd0_z = parent.w0, parent.column0, parent.wd0_z
            w_z, wd_z = parent.joint.w[2], parent.joint.wd[2]
            a0 = add(parent.a_joint, times(parent.joint.U, place.lever))
        else:
            own, a = (found[body.parent].own, found[body.parent].a) if body.parent >= 0 else (REST, ZERO)
            if body.parent < 0:
                a = scale(-1.0, gravity)
            R = body.placement.rotation
            axis = vector(R[:, 2])
            w0 = rotate_back(R, own.w)
            column0 = rotate_back(R, times(own.U, axis))
            w_z, wd0_z = w0[2], dot(own.wd, axis)
            wd_z = wd0_z
            a0 = rotate_back(R, add(a, times(own.U, place.lever)))
        if body.prismatic:
            here = rates(w0, column0, wd0_z, *how)
            coriolis = (2.0 * v * w0[1], -2.0 * v * w0[0], vd)
            a0 = add(a0, scale(place.slide, column0), coriolis)
            found.append(Motion(here, a0, here, a0, here, w0, column0, wd0_z))
            continue
        w_z, wd_z = w_z + v, wd_z + vd
        x, y, _ = unturn(place.c, place.s, w0)
        own = rates((x, y, w_z), unturn(place.c, place.s, column0), wd_z, *how)
        joint = rates((w0[0], w0[1], w_z), column0, wd_z, *how)
        frozen = rates(w0, column0, wd0_z, *how)
        found.append(Motion(own, unturn(place.c, place.s, a0), joint, a0, frozen, w0, column0, wd0_z))
    return found


# --- velocities alone and gravity ---------------------------------------------------------------------


def outward(mech: Mechanism, at: Sequence[Place], j: int, u: Vector, v: Vector) -> tuple[Vector, Vector]:
    """Angular velocity u and velocity v of the parent's origin, for a point at the origin of body j moving
    with the parent; both in joint axes."""
    body, place = mech.bodies[j], at[j]
    if place.group == j:
        below = at[body.parent]
        R = body.placement.rotation
        u, v = unturn(below.c, below.s, u), unturn(below.c, below.s, v)
        u, v = rotate_back(R, u), rotate_back(R, add(v, cross(u, place.lever)))
        return u, add(v, cross(u, (0.0, 0.0, place.slide)))
    return u, add(v, cross(u, place.lever))


def in_link_frame(
    mech: Mechanism, at: Sequence[Place], j: int, u: Vector, v: Vector
) -> tuple[Vector, Vector]:
    """Angular velocity and velocity of the origin of body j, in joint axes, for the robot's link frame."""
    place, frame = at[j], mech.bodies[j].link
    u, v = unturn(place.c, place.s, u), unturn(place.c, place.s, v)
    v = add(v, cross(u, vector(frame.translation)))
    return rotate_back(frame.rotation, u), rotate_back(frame.rotation, v)


def unit_twists(mech: Mechanism, at: Sequence[Place]) -> list[dict[int, tuple[Vector, Vector]]]:
    """For each body, in its joint axes, the velocities by a unit speed of its own and each joint below."""
    found: list[dict[int, tuple[Vector, Vector]]] = []
    for j, body in enumerate(mech.bodies):
        below = found[body.parent] if body.parent >= 0 else {}
        found.append({i: outward(mech, at, j, u, v) for i, (u, v) in below.items()})
        found[j][j] = (ZERO, Z) if body.prismatic else (Z, ZERO)
    return found


def velocities(mech: Mechanism, at: Sequence[Place], qd: Scalars) -> list[tuple[Vector, Vector]]:
    """Angular velocity and velocity of the origin of every body, in its joint axes."""
    found: list[tuple[Vector, Vector]] = []
    for j, body in enumerate(mech.bodies):
        u, v = outward(mech, at, j, *found[body.parent]) if body.parent >= 0 else (ZERO, ZERO)
        speed = scale(body.multiplier * qd[body.coordinate], Z)
        found.append((u, add(v, speed)) if body.prismatic else (add(u, speed), v))
    return found


def gravity_in_joint_axes(mech: Mechanism, at: Sequence[Place], gravity: Vector) -> list[Vector]:
    """The acceleration of gravity in the joint axes of every body."""
    found: list[Vector] = []
    for j, (body, place) in enumerate(zip(mech.bodies, at, strict=True)):
        if body.parent < 0:
            found.append(rotate_back(body.placement.rotation, gravity))
        elif place.group != j:
            found.append(found[body.parent])
        else:
            below = at[body.parent]
            found.append(rotate_back(body.placement.rotation, unturn(below.c, below.s, found[body.parent])))
    return found
