"""The physics of a tree of rigid bodies, written once, over scalars: numbers, or `Expr` that record.

Called with numbers these functions compute; called with `Expr` they record a program. Letters are the
papers': f, n force and moment; m, h, J mass, first and second moments of a body (`moments`); w, wd, a, U how
it moves (`motion`). `own` and `joint` axes are explained in `motion`.
"""

from __future__ import annotations

from collections.abc import Sequence

from dynid.mechanism import Mechanism
from dynid.moments import (
    CARRIED,
    CompoundStyle,
    Moments,
    Second,
    bodies_of,
    compounds,
    momentum,
    moved,
    rotated,
    together,
    turned,
)
from dynid.motion import (
    PLAIN,
    Place,
    Rates,
    Scalars,
    Style,
    gravity_in_joint_axes,
    in_link_frame,
    motions,
    places,
    rates_of,
    times,
    unit_twists,
    velocities,
)
from dynid.program import Expr, Scalar, gradient
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

# --- inverse dynamics ---------------------------------------------------------------------------------


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
    style: Style = PLAIN,
) -> list[Scalar]:
    """Joint efforts by recursive Newton-Euler, Eqs. (18)-(24) of [Izaguirre1992] for any tree."""
    at = places(mech, q)
    moving = motions(mech, at, qd, qdd, mech.gravity if gravity is None else gravity, style)
    masses = bodies_of(parameters)
    own_f, own_n, joint_f, joint_n = ([ZERO] * len(at) for _ in range(4))
    efforts: list[Scalar] = [0.0] * mech.dof
    for j in reversed(range(len(at))):
        body, place, motion = mech.bodies[j], at[j], moving[j]
        c, s, p = place.c, place.s, body.parent
        effort: Scalar = 0.0
        axes = style.of(j)
        if axes == "own":
            f, n = wrench(masses[j], motion.own, motion.a)
            own_f[j], own_n[j] = add(own_f[j], f), add(own_n[j], n)
        elif axes == "parent" and separable(mech, at, j):
            whole = turned(masses[j], c, s)
            v, vd = body.multiplier * qd[body.coordinate], body.multiplier * qdd[body.coordinate]
            f, n = added_wrench(whole, motion.w0, v, vd)
            joint_f[j], joint_n[j] = add(joint_f[j], f), add(joint_n[j], n)
            _, n = wrench(whole, motion.frozen, motion.a_joint)
            effort = n[2]
            whole = moved(rotated(whole, body.placement.rotation), place.lever)
            masses[p] = together(masses[p], whole)
        else:
            f, n = wrench(turned(masses[j], c, s), motion.joint, motion.a_joint)
            joint_f[j], joint_n[j] = add(joint_f[j], f), add(joint_n[j], n)
        f = add(turn(c, s, own_f[j]), joint_f[j])
        n = add(turn(c, s, own_n[j]), joint_n[j])
        effort = effort + (f[2] if body.prismatic else n[2])
        efforts[body.coordinate] = efforts[body.coordinate] + body.multiplier * effort
        n = add(n, cross((0.0, 0.0, place.slide), f))
        if p >= 0:
            f, n = at_parent(mech, at, j, f, n)
            total_f, total_n = (own_f, own_n) if place.group == j else (joint_f, joint_n)
            total_f[p], total_n[p] = add(total_f[p], f), add(total_n[p], n)
    return efforts


def separable(mech: Mechanism, at: Sequence[Place], j: int) -> bool:
    """Whether body j turns about an axis that is not its parent's, so that it can be frozen to that body."""
    body = mech.bodies[j]
    return body.parent >= 0 and not body.prismatic and at[j].group == j


def added_wrench(body: Moments, w0: Vector, v: Scalar, vd: Scalar) -> tuple[Vector, Vector]:
    """What the motion (v, vd) of its own joint adds to the wrench of a body, in joint axes.

    U gains [[-p, -vd, 0], [vd, -p, 0], [r, s, 0]] with p = v (2 w0_z + v), r = 2 v w0_x, s = 2 v w0_y.
    """
    (x, y, z), (hx, hy, _) = w0, body.h
    Jxx, Jxy, Jyy, Jxz, Jyz, _ = body.J
    v2 = 2.0 * v
    p, r, s = v2 * z + v * v, v2 * x, v2 * y
    force = (-(p * hx) - vd * hy, vd * hx - p * hy, r * hx + s * hy)
    moment = (
        Jxy * r + Jyy * s - Jxz * vd + Jyz * p,
        -(Jxz * p) - Jyz * vd - Jxx * r - Jxy * s,
        (Jxx + Jyy) * vd,
    )
    return force, moment


def velocity_torque(
    mech: Mechanism, q: Scalars, qd: Scalars, parameters: Scalars, style: Style = PLAIN
) -> list[Scalar]:
    """Coriolis and centrifugal efforts: no joint acceleration, no gravity ([Izaguirre1992], section 5)."""
    return inverse_dynamics(mech, q, qd, [0.0] * mech.dof, parameters, ZERO, style)


# --- compound links: inertia matrix and gravity -------------------------------------------------------


def inertia_matrix_and_gravity(
    mech: Mechanism,
    q: Scalars,
    parameters: Scalars,
    gravity: Vector | None = None,
    style: CompoundStyle = CARRIED,
) -> tuple[list[list[Scalar]], list[Scalar]]:
    """D_ij and D_i by compound links: Eqs. (9)-(13) of [Izaguirre1992], (9)-(11) of [Lin1992]."""
    at = places(mech, q)
    whole = compounds(mech, at, parameters, style)
    D: list[list[Scalar]] = [[0.0] * mech.dof for _ in range(mech.dof)]
    for j, body in enumerate(mech.bodies):
        row = momentum_along(mech, at, j, momentum(whole[j], body.prismatic), style.level_of(j))
        for i, along in row.items():
            along = mech.bodies[i].multiplier * body.multiplier * along
            k, m = mech.bodies[i].coordinate, body.coordinate
            D[k][m] = D[k][m] + along
            if i != j:
                D[m][k] = D[m][k] + along
    efforts: list[Scalar] = [0.0] * mech.dof
    weight = gravity_in_joint_axes(mech, at, mech.gravity if gravity is None else gravity)
    for j, body in enumerate(mech.bodies):
        gx, gy, gz = weight[j]
        h = whole[j].h
        effort = -(whole[j].m * gz) if body.prismatic else h[1] * gx - h[0] * gy
        efforts[body.coordinate] = efforts[body.coordinate] + body.multiplier * effort
    return D, efforts


def momentum_along(
    mech: Mechanism, at: Sequence[Place], j: int, given: tuple[Vector, Vector], level: int
) -> dict[int, Scalar]:
    """The part along joint j and each joint below of the momentum that joint j gives to its compound link.

    It is carried down the tree like a force and its moment, all the way or as far as body `level`; what is
    below that, gives body `level` a velocity, on which the momentum has the same power.
    """
    f, n = given
    found: dict[int, Scalar] = {}
    for i in mech.path(j):
        if i == level and not mech.bodies[i].prismatic:
            for k, (u, v) in unit_twists(mech, at)[i].items():
                found[k] = dot(u, n) + dot(v, f)
            break
        found[i] = f[2] if mech.bodies[i].prismatic else n[2]
        f, n = carried(mech, at, i, f, n)
    return found


def at_parent(mech: Mechanism, at: Sequence[Place], j: int, f: Vector, n: Vector) -> tuple[Vector, Vector]:
    """A force and moment at joint j, in its joint axes, about the origin of the body that carries it.

    The result is in that body's own axes, or in the joint axes if both are of one group.
    """
    body, place = mech.bodies[j], at[j]
    if place.group != j:
        return f, add(n, cross(place.lever, f))
    f = rotate(body.placement.rotation, f)
    return f, add(rotate(body.placement.rotation, n), cross(place.lever, f))


def carried(mech: Mechanism, at: Sequence[Place], j: int, f: Vector, n: Vector) -> tuple[Vector, Vector]:
    """A force and moment at joint j, in its joint axes, seen at and in the axes of the joint below."""
    parent = mech.bodies[j].parent
    if parent < 0:
        return f, n
    f, n = at_parent(mech, at, j, f, n)
    if at[j].group != j:
        return f, n
    below = at[parent]
    n = add(n, cross((0.0, 0.0, below.slide), f))
    return turn(below.c, below.s, f), turn(below.c, below.s, n)


def christoffel(D: Sequence[Sequence[Scalar]], q: Sequence[Expr]) -> list[list[list[Scalar]]]:
    """Coefficients c[i][j][k], j <= k, of qd_j qd_k in the velocity torque of joint i.

    Eqs. (30)-(32) of [Lin1992]: the pair (j, k) is summed once, so that c_ijk with j != k is the whole
    coefficient, twice Christoffel's symbol. Izaguirre's D_ijk, Eq. (1), summed over all j and k, is half of
    it. Entries with j > k are zero.
    """
    n = len(q)
    upper = [[gradient(D[i][j], q) if i <= j else [] for j in range(n)] for i in range(n)]
    slope = [[upper[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]
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
    for j, joint_twists in enumerate(unit_twists(mech, at)):
        twists = {i: in_link_frame(mech, at, j, u, v) for i, (u, v) in joint_twists.items()}
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


# --- energies -----------------------------------------------------------------------------------------


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
