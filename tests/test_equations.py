"""The physics against Pinocchio, MuJoCo, d'Alembert's principle, exact arithmetic and the papers.

The equations are called with numbers here, or recorded and replayed on other scalars; what compiles them is
tested elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from dynid import equations
from dynid.mechanism import Mechanism, body_parameters, mechanism
from dynid.program import Graph, Program, gradient
from dynid.robot import Joint, Link, Robot
from dynid.spatial import Frame
from helpers_rnea import motions, rnea
from helpers_robots import (
    Answers,
    MujocoTwin,
    PinocchioTwin,
    any_robot,
    random_body,
    random_motion,
    random_robot,
)

seeds = st.integers(0, 2**32 - 1)
SAMPLES = 3


@lru_cache(maxsize=4)
def prepared(robot: Robot) -> tuple[Mechanism, list[float]]:
    """The robot's bodies and their parameters."""
    mech = mechanism(robot)
    return mech, (body_parameters(mech) @ robot.parameters).tolist()


def computed(robot: Robot, q, qd, qdd, style=equations.PLAIN) -> Answers:
    """What `equations` makes of one sample, called with numbers."""
    mech, body = prepared(robot)
    q, qd, qdd = q.tolist(), qd.tolist(), qdd.tolist()
    D, gravity = equations.inertia_matrix_and_gravity(mech, q, body)
    return Answers(
        np.array(equations.inverse_dynamics(mech, q, qd, qdd, body, None, style)),
        np.array(D),
        np.array(gravity),
        np.array(equations.velocity_torque(mech, q, qd, body, style)),
        float(np.dot(equations.kinetic_energy_columns(mech, q, qd), robot.parameters)),
        float(np.dot(equations.potential_energy_columns(mech, q), robot.parameters)),
    )


def some_style(rng: np.random.Generator, robot: Robot) -> equations.Style:
    """Any of the equal ways to write the equations."""
    axes = tuple(str(axes) for axes in rng.choice(["own", "joint", "parent"], len(robot.joints)))
    twice, difference = (
        frozenset(np.flatnonzero(rng.integers(2, size=len(axes))).tolist()) for _ in range(2)
    )
    return equations.Style(axes, twice=twice, difference=difference)


def assert_same(ours, theirs, relative: float = 1e-12, floor: float = 0.0) -> None:
    """Equal to `relative` of the largest magnitude, or of `floor` if that is larger."""
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    assert ours.shape == theirs.shape
    scale = max(float(np.abs(theirs).max(initial=0.0)), floor)
    assert np.abs(ours - theirs).max(initial=0.0) <= relative * scale


def terms(robot: Robot, q, qd, qdd) -> float:
    """The largest effort if nothing cancelled, by two digits less.

    Some robots have no velocity torques or no gravity torques at all; what both sides compute for them is
    rounding of the terms that cancel, and is measured by these.
    """
    Y = np.abs(equations.regressor(mechanism(robot), q, qd, qdd))
    return 1e-2 * float((Y @ np.abs(robot.parameters)).max())


def assert_same_answers(ours: list[Answers], theirs: list[Answers], floor: float) -> None:
    """Quantity by quantity, over the whole sample."""
    for field in fields(Answers):
        both = ([getattr(one, field.name) for one in answers] for answers in (ours, theirs))
        cancels = field.name in ("gravity_torque", "velocity_torque")
        assert_same(*both, floor=floor if cancels else 0.0)


# --- against other libraries ----------------------------------------------------------------------


@settings(max_examples=80)
@given(seeds)
def test_equal_to_pinocchio_and_mujoco(seed):
    robot, rng = any_robot(seed), np.random.default_rng(seed)
    samples = list(zip(*random_motion(rng, robot, SAMPLES), strict=True))
    ours = [computed(robot, *sample, some_style(rng, robot)) for sample in samples]
    floor = max(terms(robot, *sample) for sample in samples)
    for twin in (PinocchioTwin(robot), MujocoTwin(robot)):
        assert_same_answers(ours, [twin.at(*sample) for sample in samples], floor)


@given(seeds)
def test_regressors_times_parameters_are_the_efforts_and_energies_of_pinocchio_and_mujoco(seed):
    robot, rng = any_robot(seed), np.random.default_rng(seed)
    mech, samples = mechanism(robot), list(zip(*random_motion(rng, robot, SAMPLES), strict=True))
    Y = [np.array(equations.regressor(mech, *(x.tolist() for x in sample))) for sample in samples]
    DE = [np.array(equations.kinetic_energy_columns(mech, *sample[:2])) for sample in samples]
    DU = [np.array(equations.potential_energy_columns(mech, sample[0])) for sample in samples]
    for twin in (PinocchioTwin(robot), MujocoTwin(robot)):
        theirs = [twin.at(*sample) for sample in samples]
        assert_same(Y @ robot.parameters, [one.inverse_dynamics for one in theirs])
        energies = [one.kinetic_energy + one.potential_energy for one in theirs]
        assert_same(np.add(DE, DU) @ robot.parameters, energies)


@given(seeds, st.sampled_from([0.0, 1.0]))
def test_parameters_need_not_be_physical(seed, mass):
    """Any ten numbers per link, also without mass: efforts are linear, and the plain oracle's."""
    robot, rng = any_robot(seed), np.random.default_rng(seed)
    links = [replace(link, parameters=rng.normal(size=10) * ([1] * 9 + [mass])) for link in robot.links]
    robot = replace(robot, links=tuple(links))
    q, qd, qdd = (x[0] for x in random_motion(rng, robot, 1))
    ours = computed(robot, q, qd, qdd, some_style(rng, robot))
    Y = np.array(equations.regressor(mechanism(robot), q, qd, qdd))
    floor = terms(robot, q, qd, qdd)
    rest, weightless = np.zeros(robot.dof), replace(robot, gravity=np.zeros(3))
    truth = rnea(robot, None, q, qd, qdd)
    assert_same(ours.inverse_dynamics, truth, floor=floor)
    assert_same(Y @ robot.parameters, truth, floor=floor)
    assert_same(ours.gravity_torque, rnea(robot, None, q, rest, rest), floor=floor)
    assert_same(ours.velocity_torque, rnea(weightless, None, q, qd, rest), floor=floor)
    columns = [rnea(weightless, None, q, rest, unit) for unit in np.eye(robot.dof)]
    assert_same(ours.mass_matrix, np.transpose(columns), floor=floor)


@settings(max_examples=25)
@given(seeds)
def test_every_column_of_the_regressors_is_the_effect_of_its_parameter(seed):
    robot, rng = any_robot(seed, most=3), np.random.default_rng(seed)
    q, qd, qdd = (x[0] for x in random_motion(rng, robot, 1))
    units = np.eye(10 * len(robot.links))
    Y = np.array(equations.regressor(mechanism(robot), q, qd, qdd))
    assert_same(Y, np.column_stack([rnea(robot, unit, q, qd, qdd) for unit in units]))


@given(seeds)
def test_the_inertia_matrix_of_a_physical_robot_is_symmetric_positive_definite(seed):
    robot, rng = any_robot(seed), np.random.default_rng(seed)
    for q in random_motion(rng, robot, SAMPLES)[0]:
        D = computed(robot, q, q, q).mass_matrix
        assert (D == D.T).all()
        assert np.linalg.eigvalsh(D)[0] > 0


# --- velocity torques -----------------------------------------------------------------------------


def mass_matrix_of_any_scalar(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Sum of the links' inertias through their Jacobians; q may be complex."""
    M: np.ndarray | float = 0.0
    for link, motion in zip(robot.links, motions(robot, q, 0 * q, 0 * q), strict=True):
        xx, xy, xz, yy, yz, zz, *first, m = link.parameters
        tensor = motion.R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ motion.R.T
        moment = motion.Jw.T @ np.cross(motion.R @ first, motion.Jv, axis=0)
        M = M + m * motion.Jv.T @ motion.Jv + motion.Jw.T @ tensor @ motion.Jw + moment + moment.T
    return np.asarray(M)


def slopes(robot: Robot, q: np.ndarray) -> np.ndarray:
    """d M_ij / d q_k as [i, j, k], by complex steps: no differences, so no digits are lost."""
    step = 1e-30
    moved = [mass_matrix_of_any_scalar(robot, q + 1j * step * unit) for unit in np.eye(robot.dof)]
    return np.stack([M.imag / step for M in moved], axis=-1)


def christoffel_at(robot: Robot, q: np.ndarray) -> np.ndarray:
    """`equations.christoffel` evaluated at one configuration, [i, j, k]."""
    (mech, body), graph = prepared(robot), Graph()
    symbols = graph.inputs("q", robot.dof)
    D, _ = equations.inertia_matrix_and_gravity(mech, symbols, body)
    c = np.array(equations.christoffel(D, symbols), dtype=object)
    program = Program(graph, (), tuple(c.flat))
    return np.reshape(program.replay(named(q=q.tolist())), c.shape).astype(float)


def named(**arrays) -> dict[str, object]:
    return {f"{stem}{k + 1}": x for stem, values in arrays.items() for k, x in enumerate(values)}


@settings(max_examples=30)
@given(seeds)
def test_velocity_torques_are_the_slopes_of_the_inertia_matrix(seed):
    """Lagrange's form of the oracle's matrix; Lin's c_ijk, each pair once; Izaguirre's D_ijk, twice."""
    robot, rng = any_robot(seed, most=5), np.random.default_rng(seed)
    q, qd, _ = (x[0] for x in random_motion(rng, robot, 1))
    dM, n = slopes(robot, q), robot.dof
    floor = terms(robot, q, qd, qd)
    lagrange = np.einsum("ijk,j,k->i", dM, qd, qd) - 0.5 * np.einsum("jki,j,k->i", dM, qd, qd)
    torque = computed(robot, q, qd, qd, some_style(rng, robot)).velocity_torque
    assert_same(torque, lagrange, floor=floor)
    c = christoffel_at(robot, q)
    assert_same(np.einsum("ijk,j,k->i", c, qd, qd), torque, floor=floor)
    D_ijk = 0.5 * (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1))
    pairs = np.triu(np.full((n, n), 2.0), 1) + np.eye(n)  # how often D_ijk is in c_ijk
    assert_same(c, D_ijk * pairs, floor=floor)


# --- energies -------------------------------------------------------------------------------------


def replayed(robot: Robot, q, qd) -> tuple[complex, complex]:
    """Kinetic and potential energy at a complex motion, by replaying the recorded equations."""
    mech, graph, n = mechanism(robot), Graph(), robot.dof
    symbols = graph.inputs("q", n), graph.inputs("qd", n)
    DE = equations.kinetic_energy_columns(mech, *symbols)
    DU = equations.potential_energy_columns(mech, symbols[0])
    program = Program(graph, (), (*DE, *DU))
    found = np.array(program.replay(named(q=q, qd=qd), np.sin, np.cos)).reshape(2, -1)
    kinetic, potential = found @ robot.parameters
    return kinetic, potential


@given(seeds)
def test_power_of_the_efforts_is_the_rate_of_the_energies(seed):
    """d/dt T = qd' (tau - gravity) and d/dt U = qd' gravity, the rates by complex steps along the motion."""
    robot, rng = any_robot(seed), np.random.default_rng(seed)
    q, qd, qdd = (x[0] for x in random_motion(rng, robot, 1))
    step = 1e-30
    kinetic, potential = replayed(robot, q + 1j * step * qd, qd + 1j * step * qdd)
    ours = computed(robot, q, qd, qdd)
    moving = ours.inverse_dynamics - ours.gravity_torque
    size = np.abs(qd).max() * terms(robot, q, qd, qdd)
    assert_same(kinetic.imag / step, qd @ moving, floor=size)
    assert_same(potential.imag / step, qd @ ours.gravity_torque, floor=size)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("driven", [False, True])
def test_energy_balance_of_a_simulated_motion(seed, driven):
    """A free arm keeps T + U; a driven one gains the work of its drives, integrated beside the motion."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 3, serial=seed != 1, mimic=0.3 if seed == 2 else 0.0, prismatic=0.3)
    robot = replace(robot, gravity=np.array([1.5, -2.0, -9.0]))
    n = robot.dof
    amplitude = driven * rng.uniform(-5, 5, n)

    def effort(t: float) -> np.ndarray:
        return amplitude * np.cos(5 * t + np.arange(n))

    def slope(t: float, state: np.ndarray) -> np.ndarray:
        q, qd = state[:n], state[n:-1]
        now = computed(robot, q, qd, np.zeros(n))
        qdd = np.linalg.solve(now.mass_matrix, effort(t) - now.inverse_dynamics)
        return np.concatenate([qd, qdd, [qd @ effort(t)]])

    start = np.concatenate([*rng.uniform(-1, 1, (2, n)), [0.0]])
    path = solve_ivp(slope, (0.0, 1.0), start, "DOP853", np.linspace(0, 1, 21), rtol=1e-11, atol=1e-12).y
    along = [computed(robot, y[:n], y[n:-1], np.zeros(n)) for y in path.T]
    kinetic = np.array([one.kinetic_energy for one in along])
    gained = kinetic + [one.potential_energy for one in along] - kinetic[0] - along[0].potential_energy
    exchanged = np.ptp(kinetic)
    assert exchanged > 0.1  # the motion is one
    np.testing.assert_allclose(gained, path[-1], rtol=0, atol=1e-9 * exchanged)


# --- the appendix of Gautier and Khalil 1990 --------------------------------------------------------


def dh_robot(rng: np.random.Generator, joints: int) -> tuple[Robot, np.ndarray]:
    """A chain in modified Denavit-Hartenberg frames and its table: sigma, alpha, d, theta, r, in rows."""
    sigma = rng.random(joints) < 0.4
    right, oblique = np.pi / 2 * rng.integers(-1, 3, joints), rng.uniform(-3, 3, joints)
    alpha = np.where(rng.random(joints) < 0.5, right, oblique)
    table = np.column_stack([sigma, alpha, *rng.uniform(-1, 1, (3, joints))])
    chain = []
    for j, (slides, alpha, d, theta, r) in enumerate(table):
        # Rx(alpha) Tx(d) Rz(theta) Tz(r); the joint variable adds to theta or r, so that only q is left
        c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
        R = np.array([[c, -s, 0], [ca * s, ca * c, -sa], [sa * s, sa * c, ca]])
        before = Frame(R, [d, -sa * r, ca * r])
        kind = "prismatic" if slides else "revolute"
        chain.append(Joint(name=f"j{j}", kind=kind, parent=j - 1, before=before))
    links = tuple(Link(name=f"l{j}", parameters=random_body(rng)) for j in range(joints))
    return Robot(name="dh", joints=tuple(chain), links=links, gravity=rng.normal(size=3)), table


def appendix_lambda(alpha: float, d: float, theta: float, r: float) -> tuple[np.ndarray, ...]:
    """lambda^j of (A2) from the printed entries (A3)-(A7), with the A and P in it."""
    C, S, Ca, Sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    CC, SS, CS, CCa, SSa, CSa = C * C, S * S, C * S, Ca * Ca, Sa * Sa, Ca * Sa
    DJ = [
        [CC, CS * Ca, CS * Sa, SS * CCa, SS * CSa, SS * SSa],
        [-2 * CS, (CC - SS) * Ca, (CC - SS) * Sa, 2 * CS * CCa, 2 * CS * CSa, 2 * CS * SSa],
        [0, -C * Sa, C * Ca, -2 * S * CSa, S * (CCa - SSa), 2 * S * CSa],
        [SS, -CS * Ca, -CS * Sa, CC * CCa, CC * CSa, CC * SSa],
        [0, S * Sa, -S * Ca, -2 * C * CSa, C * (CCa - SSa), 2 * C * CSa],
        [0, 0, 0, SSa, -CSa, CCa],
    ]
    DS_transposed = [
        [0, 0, 2 * r],
        [-d * S * Ca + r * C * Sa, -d * C * Ca - r * S * Sa, d * Sa],
        [-d * S * Sa - r * C * Ca, -d * C * Sa + r * S * Ca, -d * Ca],
        [2 * (d * C + r * S * CSa), 2 * (-d * S + r * C * CSa), 2 * r * CCa],
        [r * S * (SSa - CCa), r * C * (SSa - CCa), 2 * r * CSa],
        [2 * (d * C - r * S * CSa), 2 * (-d * S - r * C * CSa), 2 * r * SSa],
    ]
    Dm = [r * r, d * r * Sa, -d * r * Ca, d * d + r * r * CCa, r * r * CSa, d * d + r * r * SSa]
    P = np.array([d, -r * Sa, r * Ca])
    A = np.array([[C, Ca * S, Sa * S], [-S, Ca * C, Sa * C], [0, -Sa, Ca]])
    matrix = np.zeros((10, 10))
    matrix[:6, :6], matrix[6:9, :6], matrix[9, :6] = DJ, np.transpose(DS_transposed), Dm
    matrix[6:9, 6:9], matrix[9, 6:9], matrix[9, 9] = A, P, 1
    return matrix, A, P


@settings(max_examples=30)
@given(seeds)
def test_energy_regressors_follow_the_appendix_of_gautier_and_khalil(seed):
    """Eqs. (9)-(13) with (A1)-(A12), entries as printed, but for a comma lost in (A8): V2, -V1, 0, 0."""
    rng = np.random.default_rng(seed)
    robot, table = dh_robot(rng, int(rng.integers(1, 7)))
    q, qd, _ = (x[0] for x in random_motion(rng, robot, 1))
    DE, DU = np.zeros(10), np.array([*np.zeros(6), *(-robot.gravity), 0])  # (A10), (A12)
    w, V = np.zeros(3), np.zeros(3)
    expected = []
    for (slides, alpha, d, theta, r), x, v in zip(table, q, qd, strict=True):
        variable = (theta, r + x) if slides else (theta + x, r)
        matrix, A, P = appendix_lambda(alpha, d, *variable)
        w, V = A @ w, A @ (V + np.cross(w, P))
        (w if not slides else V)[2] += v
        if slides:
            f = [0, 0, 0, 0, 0, 0, -w[1], w[0], 0, V[2] - v / 2]  # (A9)
        else:
            f = [0, 0, w[0], 0, w[1], w[2] - v / 2, V[1], -V[0], 0, 0]  # (A8)
        DE = matrix @ DE + v * np.array(f)  # (9), (11), (A1)
        np.testing.assert_array_equal((matrix @ DU)[:6], 0)  # so that (13) is (A11)
        DU = matrix @ DU
        expected.append((DE, DU))
    mech = mechanism(robot)
    for ours, theirs in (
        (equations.kinetic_energy_columns(mech, q, qd), [DE for DE, _ in expected]),
        (equations.potential_energy_columns(mech, q), [DU for _, DU in expected]),
    ):
        assert_same(ours, np.concatenate(theirs))


# --- in exact arithmetic ----------------------------------------------------------------------------


class Exact(Fraction):
    """A fraction that takes floats for what they exactly are."""

    def __add__(self, other):
        return Exact(Fraction.__add__(self, Fraction(other)))

    def __sub__(self, other):
        return Exact(Fraction.__sub__(self, Fraction(other)))

    def __mul__(self, other):
        return Exact(Fraction.__mul__(self, Fraction(other)))

    def __rsub__(self, other):
        return Exact(Fraction(other)) - self

    def __neg__(self):
        return Exact(Fraction.__neg__(self))

    __radd__, __rmul__ = __add__, __mul__


@dataclass(frozen=True)
class Angle:
    """An angle with rational cosine and sine; so have sums, differences and negatives."""

    c: Exact
    s: Exact

    def __add__(self, other: Angle) -> Angle:
        return Angle(self.c * other.c - self.s * other.s, self.s * other.c + self.c * other.s)

    def __neg__(self) -> Angle:
        return Angle(self.c, -self.s)

    def __sub__(self, other: Angle) -> Angle:
        return self + -other


def rational(rng: np.random.Generator) -> Exact:
    return Exact(int(rng.integers(-9, 10)), int(rng.integers(1, 8)))


def rational_angle(rng: np.random.Generator) -> Angle:
    """From the tangent of its half."""
    t = rational(rng)
    return Angle(Exact(1 - t * t) * Exact(1 / Fraction(1 + t * t)), 2 * t * Exact(1 / Fraction(1 + t * t)))


@pytest.mark.parametrize("seed", range(12))
def test_lagrange_holds_without_any_rounding(seed):
    """From T and U alone follow all other functions, to the last digit of exact fractions.

    Right angles and dyadic lengths are exact in floats, so that the recorded programs hold no rounding.
    """
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 4, serial=seed % 3 > 0, mimic=0.0, prismatic=0.3, right=True)
    robot = replace(robot, gravity=np.array([1.5, -2.25, 9.75]))
    mech, n, graph = mechanism(robot), robot.dof, Graph()
    q, qd, qdd, p = (graph.inputs(stem, k) for stem, k in (("q", n), ("qd", n), ("qdd", n), ("p", 10 * n)))
    body = [sum((x * y for x, y in zip(row, p, strict=True)), 0.0) for row in body_parameters(mech).tolist()]

    def along(columns):
        return sum((x * y for x, y in zip(columns, p, strict=True)), 0.0)

    T = along(equations.kinetic_energy_columns(mech, q, qd))
    U = along(equations.potential_energy_columns(mech, q))
    momenta, T_q, U_q = gradient(T, qd), gradient(T, q), gradient(U, q)
    inertia = [gradient(momentum, qd) for momentum in momenta]
    rates = [
        sum((x * v for x, v in zip(gradient(momentum, q), qd, strict=True)), 0.0) for momentum in momenta
    ]
    coriolis = [rate - slope for rate, slope in zip(rates, T_q, strict=True)]
    efforts = [
        sum((x * a for x, a in zip(row, qdd, strict=True)), h + g)
        for row, h, g in zip(inertia, coriolis, U_q, strict=True)
    ]
    D, gravity = equations.inertia_matrix_and_gravity(mech, q, body)
    c = equations.christoffel(D, q)
    by_pairs = [sum((x * qd[j] * qd[k] for j in range(n) for k, x in enumerate(ci[j])), 0.0) for ci in c]
    style = some_style(rng, robot)
    claims = [
        (equations.inverse_dynamics(mech, q, qd, qdd, body), efforts),
        (equations.inverse_dynamics(mech, q, qd, qdd, body, None, style), efforts),
        ([along(row) for row in equations.regressor(mech, q, qd, qdd)], efforts),
        (equations.velocity_torque(mech, q, qd, body, style), coriolis),
        (by_pairs, coriolis),
        (gravity, U_q),
        *zip(D, inertia, strict=True),
    ]
    turning = [rational(rng) if joint.prismatic else rational_angle(rng) for joint in robot.joints]
    values = named(
        q=turning,
        **{stem: [rational(rng) for _ in range(k)] for stem, k in (("qd", n), ("qdd", n), ("p", 10 * n))},
    )
    for ours, lagrange in claims:
        outputs = Program(graph, (), (*ours, *lagrange)).replay(values, lambda x: x.s, lambda x: x.c)
        exact = [Fraction(x) for x in outputs]
        assert exact[: len(ours)] == exact[len(ours) :]
        assert any(exact) or lagrange is not efforts  # all else may be zero, for a slide say


@given(seeds)
def test_arrays_of_samples_are_scalars_too(seed):
    """Recorded once and replayed on whole columns, the equations give what numbers give."""
    robot, rng = any_robot(seed, most=4), np.random.default_rng(seed)
    (mech, body), graph, n = prepared(robot), Graph(), robot.dof
    symbols = graph.inputs("q", n), graph.inputs("qd", n), graph.inputs("qdd", n)
    program = Program(graph, (), tuple(equations.inverse_dynamics(mech, *symbols, body)))
    motion = random_motion(rng, robot, SAMPLES)
    columns = named(**dict(zip(("q", "qd", "qdd"), (x.T for x in motion), strict=True)))
    efforts = np.column_stack(np.broadcast_arrays(*program.replay(columns, np.sin, np.cos)))
    assert_same(efforts, [computed(robot, *sample).inverse_dynamics for sample in zip(*motion, strict=True)])
