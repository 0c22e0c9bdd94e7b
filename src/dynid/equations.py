"""The physics of a tree of rigid bodies, written once, over scalars of any kind.

Called with numbers these functions compute; called with `Expr` they record a program. Letters are the
papers': w, wd angular velocity and acceleration; a acceleration of a frame's origin, less gravity;
U = [wd x] + [w x][w x], so that a point at r in the frame accelerates with a + U r (Eq. (20) of
[Izaguirre1992]); f, n force and moment; m, h, J mass, first and second moments of a body about the origin
of its frame. All three moments are integrals of dm over the body: of 1, of r and of r r'.

Every body's frame turns about, or slides along, its own z axis (see `mechanism`). Two sets of axes are in
use for each body: its *own* axes, and the *joint axes* it would have with all the joints of its group at
zero. A group is a run of rotational joints with parallel axes: their angles add up, so that one cosine and
one sine lead from the joint axes, common to the group, to the own axes of each member.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dynid.mechanism import Mechanism
from dynid.program import Expr, Scalar, cos, gradient, sin
from dynid.spatial import Array
from dynid.vectors import (
    ZERO,
    Vector,
    X,
    Y,
    Z,
    add,
    cross,
    dot,
    rotate,
    rotate_back,
    scale,
    turn,
    unturn,
    vector,
)

Matrix: TypeAlias = tuple[Vector, Vector, Vector]  # rows
Scalars: TypeAlias = Sequence[Scalar]
Second: TypeAlias = tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]  # Jxx Jxy Jyy Jxz Jyz Jzz


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


def rates(w: Vector, column: Vector, wd_z: Scalar) -> Rates:
    """All of U from w, its third column and wd_z.

    U's third column is the acceleration of a point of the joint's axis, seen from its origin. It does not
    feel the motion of the joint, so it is turned like a vector from the parent's U, and wd_x and wd_y are
    read from it instead of being turned and summed themselves.
    """
    x, y, z = w
    xx, zz = x * x, z * z
    yy = -column[2] - xx  # U_33 = -(xx + yy)
    xy, xz, yz = x * y, x * z, y * z
    wd = (yz - column[1], column[0] - xz, wd_z)
    U = (
        (-(yy + zz), xy - wd_z, column[0]),
        (xy + wd_z, -(xx + zz), column[1]),
        (xz - wd[1], yz + wd[0], column[2]),
    )
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
    # before the first joint of the group moves: what all its members share
    w0: Vector
    column0: Vector
    wd0_z: Scalar


REST = Rates(ZERO, ZERO, (ZERO, ZERO, ZERO), ZERO)


def motions(mech: Mechanism, at: Sequence[Place], qd: Scalars, qdd: Scalars, gravity: Vector) -> list[Motion]:
    """Outward recursion of Newton-Euler: Eqs. (18)-(20) of [Izaguirre1992], accelerations included."""
    found: list[Motion] = []
    for j, (body, place) in enumerate(zip(mech.bodies, at, strict=True)):
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
            here = rates(w0, column0, wd0_z)
            coriolis = (2.0 * v * w0[1], -2.0 * v * w0[0], vd)
            a0 = add(a0, scale(place.slide, column0), coriolis)
            found.append(Motion(here, a0, here, a0, w0, column0, wd0_z))
            continue
        w_z, wd_z = w_z + v, wd_z + vd
        x, y, _ = unturn(place.c, place.s, w0)
        own = rates((x, y, w_z), unturn(place.c, place.s, column0), wd_z)
        joint = rates((w0[0], w0[1], w_z), column0, wd_z)
        found.append(Motion(own, unturn(place.c, place.s, a0), joint, a0, w0, column0, wd0_z))
    return found


# --- inverse dynamics ---------------------------------------------------------------------------------


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


def moment_of_inertia_forces(J: Second, r: Rates) -> Vector:
    """Sum over k of J_k x U_k (columns): Euler's I wd + w x I w without an inertia tensor."""
    Jxx, Jxy, Jyy, Jxz, Jyz, Jzz = J
    (_, U12, U13), (U21, _, U23), (U31, U32, _) = r.U
    xx, yy, zz = r.squares  # differences of U's diagonal are differences of squares
    return (
        Jxy * U31 + Jyy * U32 - Jxz * U21 - Jzz * U23 + Jyz * (zz - yy),
        Jyz * U12 + Jzz * U13 - Jxx * U31 - Jxy * U32 + Jxz * (xx - zz),
        Jxx * U21 + Jxz * U23 - Jyy * U12 - Jyz * U13 + Jxy * (yy - xx),
    )


def wrench(body: Moments, r: Rates, a: Vector) -> tuple[Vector, Vector]:
    """Force and moment about the origin that move a body: Eqs. (21), (22) of [Izaguirre1992]."""
    force = add(scale(body.m, a), times(r.U, body.h))
    moment = add(moment_of_inertia_forces(body.J, r), cross(body.h, a))
    return force, moment


def inverse_dynamics(
    mech: Mechanism,
    q: Scalars,
    qd: Scalars,
    qdd: Scalars,
    parameters: Scalars,
    gravity: Vector | None = None,
    in_joint_axes: Sequence[bool] = (),
) -> list[Scalar]:
    """Joint efforts by recursive Newton-Euler, Eqs. (18)-(24) of [Izaguirre1992] for any tree.

    `in_joint_axes` says for which bodies the parameters are turned into the joint axes and the equation of
    motion is written there (cheap for a last link, whose motion then need not be turned at all); the
    others are treated in their own axes.
    """
    at = places(mech, q)
    moving = motions(mech, at, qd, qdd, mech.gravity if gravity is None else gravity)
    joint_axes = tuple(in_joint_axes) + (False,) * (len(at) - len(in_joint_axes))
    own_f, own_n, joint_f, joint_n = ([ZERO] * len(at) for _ in range(4))
    efforts: list[Scalar] = [0.0] * mech.dof
    for j, parameters_j in reversed(list(enumerate(bodies_of(parameters)))):
        body, place, motion = mech.bodies[j], at[j], moving[j]
        c, s = place.c, place.s
        if joint_axes[j]:
            f, n = wrench(turned(parameters_j, c, s), motion.joint, motion.a_joint)
            joint_f[j], joint_n[j] = add(joint_f[j], f), add(joint_n[j], n)
        else:
            f, n = wrench(parameters_j, motion.own, motion.a)
            own_f[j], own_n[j] = add(own_f[j], f), add(own_n[j], n)
        f = add(turn(c, s, own_f[j]), joint_f[j])
        n = add(turn(c, s, own_n[j]), joint_n[j])
        effort = f[2] if body.prismatic else n[2]
        efforts[body.coordinate] = efforts[body.coordinate] + body.multiplier * effort
        n = add(n, cross((0.0, 0.0, place.slide), f))
        if body.parent < 0:
            continue
        p = body.parent
        if place.group != j:
            joint_f[p], joint_n[p] = add(joint_f[p], f), add(joint_n[p], n, cross(place.lever, f))
        else:
            R = body.placement.rotation
            f = rotate(R, f)
            own_f[p], own_n[p] = add(own_f[p], f), add(own_n[p], rotate(R, n), cross(place.lever, f))
    return efforts


def velocity_torque(
    mech: Mechanism, q: Scalars, qd: Scalars, parameters: Scalars, in_joint_axes: Sequence[bool] = ()
) -> list[Scalar]:
    """Coriolis and centrifugal efforts: no joint acceleration, no gravity ([Izaguirre1992], section 5)."""
    return inverse_dynamics(mech, q, qd, [0.0] * mech.dof, parameters, ZERO, in_joint_axes)


# --- compound links: inertia matrix and gravity -------------------------------------------------------


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


def inertia_matrix_and_gravity(
    mech: Mechanism, q: Scalars, parameters: Scalars, gravity: Vector | None = None
) -> tuple[list[list[Scalar]], list[Scalar]]:
    """D_ij and D_i by compound links: Eqs. (9)-(13) of [Izaguirre1992], (9)-(11) of [Lin1992].

    D_ij is the part along joint i of the momentum that joint j gives to compound link j, carried down
    the tree like a force and its moment.
    """
    at = places(mech, q)
    whole = compounds(mech, at, parameters)
    D: list[list[Scalar]] = [[0.0] * mech.dof for _ in range(mech.dof)]
    for j, body in enumerate(mech.bodies):
        f, n = momentum(whole[j], body.prismatic)
        for i in mech.path(j):
            other = mech.bodies[i]
            along = other.multiplier * body.multiplier * (f[2] if other.prismatic else n[2])
            k, m = other.coordinate, body.coordinate
            D[k][m] = D[k][m] + along
            if i != j:
                D[m][k] = D[m][k] + along
            f, n = carried(mech, at, i, f, n)
    efforts: list[Scalar] = [0.0] * mech.dof
    weight = gravity_in_joint_axes(mech, at, mech.gravity if gravity is None else gravity)
    for j, body in enumerate(mech.bodies):
        gx, gy, gz = weight[j]
        h = whole[j].h
        effort = -(whole[j].m * gz) if body.prismatic else h[1] * gx - h[0] * gy
        efforts[body.coordinate] = efforts[body.coordinate] + body.multiplier * effort
    return D, efforts


def carried(mech: Mechanism, at: Sequence[Place], i: int, f: Vector, n: Vector) -> tuple[Vector, Vector]:
    """A force and moment at joint i, in its joint axes, seen at and in the axes of the joint below."""
    body, place = mech.bodies[i], at[i]
    if body.parent < 0:
        return f, n
    if place.group != i:
        return f, add(n, cross(place.lever, f))
    below = at[body.parent]
    R = body.placement.rotation
    f = rotate(R, f)
    n = add(rotate(R, n), cross(add(place.lever, (0.0, 0.0, below.slide)), f))
    return turn(below.c, below.s, f), turn(below.c, below.s, n)


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


def christoffel(D: Sequence[Sequence[Scalar]], q: Sequence[Expr]) -> list[list[list[Scalar]]]:
    """Coefficients c[i][j][k], j <= k, of qd_j qd_k in the velocity torque of joint i.

    Eqs. (30)-(32) of [Lin1992]: the pair (j, k) is summed once, so that c_ijk with j != k is the whole
    coefficient, twice Christoffel's symbol. Izaguirre's D_ijk, Eq. (1), summed over all j and k, is half of
    it. Entries with j > k are zero.
    """
    n = len(q)
    slope = [[gradient(D[i][j], q) for j in range(n)] for i in range(n)]
    c: list[list[list[Scalar]]] = [[[0.0] * n for _ in range(n)] for _ in range(n)]
    for i in range(n):
        for j in range(n):
            c[i][j][j] = slope[i][j][j] - 0.5 * slope[j][j][i]
            for k in range(j + 1, n):
                c[i][j][k] = slope[i][j][k] + slope[i][k][j] - slope[j][k][i]
    return c


# --- regressors: everything linear in the standard parameters of the links ----------------------------


def regressor(mech: Mechanism, q: Scalars, qd: Scalars, qdd: Scalars) -> list[list[Scalar]]:
    """Y with Y @ standard parameters = inverse dynamics; columns in the robot's order, in its link frames.

    The column of a parameter is the wrench that a unit of it needs, and the row of a joint is that
    wrench's power on the joint's unit twist: Eqs. (56)-(60) of [Lin1992] for one moving joint.
    """
    at = places(mech, q)
    Y_: list[list[Scalar]] = [[0.0] * (10 * len(at)) for _ in range(mech.dof)]
    moving = motions(mech, at, qd, qdd, mech.gravity)
    for j, twists in enumerate(unit_twists(mech, at)):
        frame = mech.bodies[j].link
        own, a = moving[j].own, add(moving[j].a, times(moving[j].own.U, vector(frame.translation)))
        if not frame.is_identity:
            w, wd = rotate_back(frame.rotation, own.w), rotate_back(frame.rotation, own.wd)
            own, a = rates_of(w, wd), rotate_back(frame.rotation, a)
        columns = unit_wrenches(own, a)
        for i, (u, v) in twists.items():
            row = Y_[mech.bodies[i].coordinate]
            factor = mech.bodies[i].multiplier
            for k, (f, n) in enumerate(columns):
                row[10 * j + k] = row[10 * j + k] + factor * (dot(u, n) + dot(v, f))
    return Y_


def unit_wrenches(r: Rates, a: Vector) -> list[tuple[Vector, Vector]]:
    """Force and moment for one unit of XX XY XZ YY YZ ZZ MX MY MZ M."""
    (x, y, z), (xd, yd, zd) = r.w, r.wd
    xy, xz, yz = x * y, x * z, y * z
    xx, yy, zz = r.squares
    U = r.U
    moments: list[Vector] = [
        (xd, xz, -xy),
        (-U[2][0], U[2][1], xx - yy),
        (U[1][0], zz - xx, -U[1][2]),
        (-yz, yd, xy),
        (yy - zz, -U[0][1], U[0][2]),
        (yz, -xz, zd),
    ]
    first = [((U[0][k], U[1][k], U[2][k]), cross(e, a)) for k, e in enumerate((X, Y, Z))]
    return [(ZERO, n) for n in moments] + first + [(a, ZERO)]


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
    """For each link, in its link frame, the velocities a unit speed of each joint below gives it."""
    found: list[dict[int, tuple[Vector, Vector]]] = []
    for j, body in enumerate(mech.bodies):
        below = found[body.parent] if body.parent >= 0 else {}
        found.append({i: outward(mech, at, j, u, v) for i, (u, v) in below.items()})
        found[j][j] = (ZERO, Z) if body.prismatic else (Z, ZERO)
    return [
        {i: in_link_frame(mech, at, j, u, v) for i, (u, v) in twists.items()}
        for j, twists in enumerate(found)
    ]


# --- energies -----------------------------------------------------------------------------------------


def velocities(mech: Mechanism, at: Sequence[Place], qd: Scalars) -> list[tuple[Vector, Vector]]:
    """Angular velocity and velocity of the origin of every body, in its joint axes."""
    found: list[tuple[Vector, Vector]] = []
    for j, body in enumerate(mech.bodies):
        u, v = outward(mech, at, j, *found[body.parent]) if body.parent >= 0 else (ZERO, ZERO)
        speed = scale(body.multiplier * qd[body.coordinate], Z)
        found.append((u, add(v, speed)) if body.prismatic else (add(u, speed), v))
    return found


def kinetic_energy_columns(mech: Mechanism, q: Scalars, qd: Scalars) -> list[Scalar]:
    """Kinetic energy per unit of each standard parameter: DE of [GK1990], Eq. (7)."""
    at = places(mech, q)
    columns: list[Scalar] = []
    for j, (u, v) in enumerate(velocities(mech, at, qd)):
        (x, y, z), v = in_link_frame(mech, at, j, u, v)
        squares = [0.5 * (x * x), x * y, x * z, 0.5 * (y * y), y * z, 0.5 * (z * z)]
        columns += [*squares, *cross(v, (x, y, z)), 0.5 * dot(v, v)]
    return columns


def potential_energy_columns(mech: Mechanism, q: Scalars, gravity: Vector | None = None) -> list[Scalar]:
    """Potential energy per unit of each standard parameter: DU of [GK1990], Eq. (8).

    It is zero with all masses at the origin of the base.
    """
    g = mech.gravity if gravity is None else gravity
    at = places(mech, q)
    weight = gravity_in_joint_axes(mech, at, g)
    columns: list[Scalar] = []
    height: list[Scalar] = []  # of each body's origin, times the acceleration of gravity
    for j, (body, place) in enumerate(zip(mech.bodies, at, strict=True)):
        p = body.parent
        if place.group != j:
            rise = dot(weight[j], place.lever)
        else:
            rise = dot(unturn(at[p].c, at[p].s, weight[p]) if p >= 0 else g, place.lever)
        height.append((height[p] if p >= 0 else 0.0) - rise - weight[j][2] * place.slide)
        own = unturn(place.c, place.s, weight[j])
        x, y, z = rotate_back(body.link.rotation, own)
        columns += [0.0] * 6
        columns += [-x, -y, -z, height[j] - dot(own, vector(body.link.translation))]
    return columns
