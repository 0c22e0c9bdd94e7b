"""The simulated plant: against dynid's own equations, which it does not use, and MuJoCo's integrator."""

from collections.abc import Callable
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from dynid import ArgumentError, RobotError, load_robot
from dynid.friction import armature_matrix, armature_of, friction_of
from dynid.plant import Setup, Truth, run
from dynid.plant.control import Control
from dynid.plant.integrate import ALPHA, EMBEDDED, GAMMAS, WEIGHTS, DivergedError, Precision, State, advance
from dynid.plant.plant import Plant
from dynid.plant.simulation import FRICTION_WIDTH, ClosedLoop
from dynid.robot import Joint, Link, Robot
from dynid.spatial import Frame, rotation_rpy
from dynid.trajectory import Trajectory, make_trajectory
from helpers_robots import MujocoTwin, any_robot, random_robot

EXACT = Precision(tolerance=1e-11)


def swing(robot: Robot, duration: float = 1.0, amplitude: float = 0.3, rate: float = 100.0) -> Trajectory:
    """Every joint goes forth and back with a period of its own, from rest, about the middle of its range."""
    t = np.arange(round(duration * rate) + 1) / rate
    k = np.arange(robot.dof)
    omega = 2.0 * np.pi * (1.0 + 0.3 * k) / duration
    limits = [robot.joints[j].limits for j in robot.free]
    middle = [0.5 * (max(limit.lower, -1.0) + min(limit.upper, 1.0)) for limit in limits]
    phase = omega * t[:, None]
    q = middle + amplitude * (1.0 - np.cos(phase))
    return make_trajectory(
        robot.joint_names,
        t,
        q,
        amplitude * omega * np.sin(phase),
        amplitude * omega**2 * np.cos(phase),
    )


def inverse(robot: Robot, truth: Truth) -> np.ndarray:
    """The efforts of rigid gears by dynid's equations, along the joints' motion, (N, n)."""
    rigid = robot.inverse_dynamics(truth.q, truth.qd, truth.qdd)
    motors = truth.qdd @ armature_matrix(armature_of(robot), robot.transmission)
    return rigid + motors + friction_of(robot, FRICTION_WIDTH).efforts(truth.qd)


def with_drives(robot: Robot, seed: int, *, side: str = "joint", coupled: bool = True) -> Robot:
    """The robot with motor inertia, friction and a transmission that couples all its joints."""
    rng = np.random.default_rng(seed)

    def drive(joint: Joint) -> Joint:
        if joint.mimic is not None:
            return joint
        Ia, Fv, Fc, Fo = rng.uniform(0.2, 1.0, 4)
        return replace(joint, armature=Ia, viscous=Fv, coulomb=Fc, offset=Fo)

    T = np.eye(robot.dof) + 0.3 * rng.normal(size=(robot.dof, robot.dof))
    return replace(
        robot,
        joints=tuple(map(drive, robot.joints)),
        transmission=T if coupled else None,
        friction_side=side,
    )


# --- what was recorded is what the equations say --------------------------------------------------


@pytest.mark.parametrize("kind", ["servo", "feedforward", "computed-torque"])
@pytest.mark.parametrize("name", ["puma560", "stanford", "scara", "panda", "planar2"])
def test_recorded_efforts_are_those_of_our_equations(name: str, kind: str) -> None:
    """Instant by instant, to rounding: MuJoCo's acceleration is the one our inverse dynamics needs."""
    robot = load_robot(name)
    setup = Setup(control=Control(kind=kind), precision=Precision(tolerance=1e-4))
    found = run(robot, swing(robot, 0.3), setup)
    efforts = inverse(robot, found.truth)
    np.testing.assert_allclose(found.log.effort, efforts, rtol=0, atol=1e-12 * np.abs(efforts).max())
    np.testing.assert_array_equal(found.log.position, found.truth.q)
    np.testing.assert_array_equal(found.log.velocity, found.truth.qd)


@pytest.mark.parametrize("side", ["joint", "motor"])
@pytest.mark.parametrize("seed", range(6))
def test_any_tree_with_coupled_drives(seed: int, side: str) -> None:
    """Oblique axes, distal frames, branches and mimic joints, behind a full transmission matrix."""
    robot = with_drives(any_robot(seed), seed, side=side)
    setup = Setup(control=Control(kind="servo"), precision=Precision(tolerance=1e-4))
    truth = run(robot, swing(robot, 0.1), setup).truth
    efforts = inverse(robot, truth)
    np.testing.assert_allclose(truth.effort, efforts, rtol=0, atol=1e-11 * np.abs(efforts).max())


def test_a_clock_of_the_controller_holds_efforts() -> None:
    robot = load_robot("puma560")
    setup = Setup(control=Control(kind="computed-torque", rate_hz=200.0), rate_hz=1000.0)
    truth = run(robot, swing(robot, 0.1), setup).truth
    steps = truth.effort[:100].reshape(20, 5, 6)
    np.testing.assert_array_equal(steps, np.repeat(steps[:, :1], 5, axis=1))
    assert np.all(np.any(np.diff(steps[:, 0], axis=0) != 0.0, axis=1))
    np.testing.assert_allclose(truth.effort, inverse(robot, truth), rtol=0, atol=1e-11)


def test_bodies_at_the_edge_of_the_possible() -> None:
    """A point mass, a rod, a plate and a link without mass: as such, MuJoCo rejects them."""

    def moments(points: np.ndarray) -> np.ndarray:
        inertia = sum(r @ r * np.eye(3) - np.outer(r, r) for r in points)
        return np.array([*inertia[np.triu_indices(3)], *points.sum(axis=0), len(points)])

    turned = rotation_rpy(0.3, 0.7, -0.4)
    bodies = {
        "point": moments(np.array([[0.2, 0.1, 0.0]])),
        "rod": moments(np.linspace(-0.3, 0.5, 5)[:, None] * turned[0]),
        "nothing": np.zeros(10),
        "plate": moments(np.array([[x, y, 0] for x in (0.1, 0.4) for y in (-0.2, 0.3)]) @ turned),
    }
    joints = [
        Joint(
            name=name,
            kind="revolute",
            parent=k - 1,
            before=Frame(rotation_rpy(1.1 * k, 0.5, 0.2), (0.1, 0.2, 0.3)),
            armature=0.1,
        )
        for k, name in enumerate(bodies)
    ]
    links = tuple(Link(name=name, parameters=body) for name, body in bodies.items())
    robot = Robot(name="edge", joints=tuple(joints), links=links)
    truth = run(robot, swing(robot, 0.1), Setup(control=Control(kind="servo"))).truth
    efforts = inverse(robot, truth)
    np.testing.assert_allclose(truth.effort, efforts, rtol=0, atol=1e-11 * np.abs(efforts).max())


# --- the motion between the instants ----------------------------------------------------------------


class Loose:
    """No controller at all."""

    def effort(self, t: float, theta: np.ndarray, theta_rate: np.ndarray) -> np.ndarray:
        return np.zeros_like(theta)


def released(
    robot: Robot, q: np.ndarray, duration: float, precision: Precision, stiffness: np.ndarray | None = None
) -> tuple[Plant, State]:
    """The robot some time after it was let go at rest."""
    plant = Plant(robot, friction_of(robot, FRICTION_WIDTH), stiffness)
    loop = ClosedLoop(plant, Loose(), np.full(robot.dof, np.inf), sampled=False)
    p, v = plant.at_rest(q, np.zeros_like(q), np.zeros_like(q))
    return plant, advance(loop, State(0.0, p, v), duration, precision)


def fixed(step: float) -> Precision:
    return Precision(tolerance=float("inf"), longest_step=step)


def test_the_coefficients_have_order_3_for_any_jacobian() -> None:
    """The conditions for W methods (Hairer and Wanner II, IV.7); without J, those of Runge-Kutta."""
    a, b, one = ALPHA, WEIGHTS, np.ones(4)
    c = a @ one
    assert b @ one == pytest.approx(1, abs=1e-14)
    assert b @ c == pytest.approx(1 / 2, abs=1e-14)
    assert b @ (c * c) == pytest.approx(1 / 3, abs=1e-14)
    assert b @ a @ c == pytest.approx(1 / 6, abs=1e-14)
    for with_jacobian in (b @ GAMMAS @ one, b @ a @ GAMMAS @ one, b @ GAMMAS @ c, b @ GAMMAS @ GAMMAS @ one):
        assert with_jacobian == pytest.approx(0, abs=1e-14)
    assert EMBEDDED @ one == pytest.approx(1, abs=1e-14)
    assert EMBEDDED @ c == pytest.approx(1 / 2, abs=1e-14)


@pytest.mark.parametrize("viscous", [0.0, 0.5])
def test_the_motion_converges_with_order_3(viscous: float) -> None:
    """A falling arm: halving the step divides the error of positions by eight."""
    robot = load_robot("stanford")
    robot = replace(robot, joints=tuple(replace(joint, viscous=viscous) for joint in robot.joints))
    q = np.array([0.1, -0.4, 0.5, 0.3, 0.6, -0.2])
    _, best = released(robot, q, 0.2, EXACT)
    steps = np.array([8e-3, 4e-3, 2e-3, 1e-3])
    errors = [np.abs(released(robot, q, 0.2, fixed(h))[1].p - best.p).max() for h in steps]
    orders = np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert errors[-1] < 1e-6
    assert orders[-1] == pytest.approx(3.0, abs=0.3)
    assert np.all(orders > 2.5)


def test_a_tolerance_keeps_its_promise_through_friction() -> None:
    """Joints that reverse and stick: the error of the whole motion follows the tolerance."""
    robot = load_robot("scara")
    trajectory = swing(robot, 0.3, amplitude=0.03, rate=50.0)
    control = Control(kind="servo")

    def motion(tolerance: float) -> np.ndarray:
        return run(robot, trajectory, Setup(control=control, precision=Precision(tolerance))).truth.q

    best = motion(3e-8)
    errors = np.array([np.abs(motion(10.0**-k) - best).max() for k in (4, 5, 6)])
    assert np.all(errors < [1e-4, 1e-5, 1e-6])
    assert errors[2] < errors[0] / 30.0


def test_positions_velocities_and_accelerations_belong_together() -> None:
    """The derivative of a quintic spline through the truth, sampled at 1 kHz, is the truth's next one."""
    robot = load_robot("stanford")
    setup = Setup(control=Control(kind="servo"), rate_hz=1000.0, precision=Precision(1e-8))
    truth = run(robot, swing(robot, 0.2, 0.02), setup).truth
    assert np.abs(truth.qdd).max() > 10.0
    spline = make_trajectory(robot.joint_names, truth.stamp_ns * 1e-9, truth.q)
    inside = slice(20, -20)
    np.testing.assert_allclose(spline.qd[inside], truth.qd[inside], rtol=0, atol=1e-5)
    np.testing.assert_allclose(spline.qdd[inside], truth.qdd[inside], rtol=0, atol=1e-2)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_free_fall_is_the_one_mujoco_integrates(seed: int) -> None:
    """Its Runge-Kutta method of order 4 on a model that the tests write, not the one of the plant."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 4, serial=bool(seed), mimic=0.0)
    q = rng.uniform(-1, 1, robot.dof)
    twin = MujocoTwin(robot)
    twin.model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    twin.model.opt.timestep = 1e-4
    data = mujoco.MjData(twin.model)
    data.qpos[twin.order] = q
    for _ in range(2000):
        mujoco.mj_step(twin.model, data)
    _, state = released(robot, q, 0.2, Precision(1e-10))
    np.testing.assert_allclose(state.p, data.qpos[twin.order], rtol=0, atol=1e-8)
    np.testing.assert_allclose(state.v, data.qvel[twin.order], rtol=0, atol=1e-6)


@pytest.mark.parametrize("coupled", [False, True])
def test_energy_is_conserved_without_friction(coupled: bool) -> None:
    """Motors included; the drift vanishes with the step as the method promises."""
    robot = load_robot("stanford")
    robot = replace(robot, joints=tuple(replace(joint, armature=0.3) for joint in robot.joints))
    if coupled:
        robot = replace(robot, transmission=np.eye(6) + 0.2 * np.tri(6, k=-1))
    q, still = np.array([0.1, -0.4, 0.5, 0.3, 0.6, -0.2]), np.zeros(6)
    J = armature_matrix(armature_of(robot), robot.transmission)

    def energy(q: np.ndarray, qd: np.ndarray) -> float:
        rigid = robot.kinetic_energy(q, qd) + robot.potential_energy(q)
        return float(np.squeeze(rigid)) + 0.5 * qd @ J @ qd

    drifts, moved = [], 0.0
    for h in (4e-3, 2e-3, 1e-3):
        _, state = released(robot, q, 0.4, fixed(h))
        drifts.append(abs(energy(state.p, state.v) - energy(q, still)))
        moved = energy(state.p, state.v) - energy(state.p, still)
    assert moved > 10.0  # joules went from gravity to motion ...
    assert drifts[2] < 1e-5 * moved  # ... and arrived
    assert drifts[0] / drifts[2] > 4.0**2.5


def test_a_joint_at_rest_stays() -> None:
    """Friction that turns within a millirad/s holds a loaded joint without chatter: it only creeps."""
    robot = load_robot("scara")  # 20 N of gravity on the slide would need more than its 8 N of friction
    still = make_trajectory(robot.joint_names, [0.0, 1.0], np.tile(swing(robot).q[0], (2, 1)))
    truth = run(robot, still, Setup(control=Control(kind="servo"), rate_hz=200.0)).truth
    assert np.abs(truth.qd).max() < 1e-6
    assert np.abs(truth.q - still.q[0]).max() < 1e-6


# --- controllers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["feedforward", "computed-torque"])
@pytest.mark.parametrize("name", ["puma560", "panda"])
def test_a_controller_that_knows_the_robot_follows_exactly(name: str, kind: str) -> None:
    robot = load_robot(name)
    trajectory = swing(robot, 0.5)
    truth = run(robot, trajectory, Setup(control=Control(kind=kind))).truth
    assert np.abs(truth.q - trajectory.q).max() < 1e-6


def test_a_wrong_nominal_model_makes_errors_that_bandwidth_reduces() -> None:
    robot = load_robot("puma560")
    links = tuple(replace(link, parameters=1.3 * link.parameters) for link in robot.links)
    wrong = replace(robot, links=links)
    trajectory = swing(robot, 0.3, 0.1)

    def error(kind: str, bandwidth: float) -> float:
        control = Control(kind=kind, bandwidth_hz=bandwidth, nominal=wrong)
        return float(np.abs(run(robot, trajectory, Setup(control=control)).truth.q - trajectory.q).max())

    for kind in ("servo", "computed-torque"):
        assert 1e-4 < error(kind, 20.0) < 0.5 * error(kind, 5.0)


def test_efforts_end_at_the_limits() -> None:
    robot = load_robot("puma560")
    joints = tuple(replace(j, limits=replace(j.limits, effort=0.5 * j.limits.effort)) for j in robot.joints)
    robot = replace(robot, joints=joints)
    limits = np.array([joint.limits.effort for joint in joints])
    trajectory = swing(robot, 0.5, amplitude=0.6)
    free = run(robot, trajectory, Setup())
    assert any("its limit is" in remark for remark in free.remarks)
    bound = run(robot, trajectory, Setup(control=Control(saturate=True)))
    assert np.all(np.abs(bound.truth.effort) <= limits)
    assert np.any(np.abs(bound.truth.effort) == limits)
    np.testing.assert_allclose(bound.truth.effort, inverse(robot, bound.truth), rtol=0, atol=1e-10)


def test_an_unstable_loop_is_an_error() -> None:
    robot = load_robot("planar2")
    control = Control(kind="computed-torque", bandwidth_hz=400.0, rate_hz=100.0)
    with pytest.raises(DivergedError, match="unstable"):
        run(robot, swing(robot, 5.0, amplitude=0.5, rate=10.0), Setup(control=control))


# --- elastic gears ------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["joint", "motor"])
def test_elastic_gears_carry_the_efforts_of_the_links(side: str) -> None:
    """Efforts of the motors are what moves motors, gears and links, with friction on its side."""
    robot = with_drives(load_robot("stanford"), 3, side=side)
    setup = Setup(gear_stiffness=np.full(6, 5e3), precision=Precision(1e-5))
    found = run(robot, swing(robot, 0.2), setup)
    truth = found.truth
    rubbing = truth.theta_rate if side == "motor" else truth.qd
    efforts = (
        truth.theta_acceleration @ armature_matrix(armature_of(robot), robot.transmission)
        + friction_of(robot, FRICTION_WIDTH).efforts(rubbing)
        + robot.inverse_dynamics(truth.q, truth.qd, truth.qdd)
    )
    np.testing.assert_allclose(found.log.effort, efforts, rtol=0, atol=1e-11 * np.abs(efforts).max())
    np.testing.assert_array_equal(found.log.position, truth.theta)
    assert np.abs(truth.theta - truth.q).max() > 1e-4


def test_stiff_gears_approach_rigid_ones_as_one_over_stiffness() -> None:
    robot = with_drives(load_robot("planar2"), 4, coupled=False)
    trajectory = swing(robot, 0.5, 0.1)
    rigid = run(robot, trajectory, Setup()).truth
    stiffness = np.array([1e4, 3e4, 1e5])
    errors = []
    for k in stiffness:
        truth = run(robot, trajectory, Setup(gear_stiffness=[k, k])).truth
        errors.append(np.abs(truth.theta - truth.q).max())
    slopes = np.diff(np.log(errors)) / np.diff(np.log(stiffness))
    np.testing.assert_allclose(slopes, -1.0, atol=0.1)
    assert np.abs(truth.q - rigid.q).max() < 2.0 * errors[-1]


def test_energy_is_conserved_in_springs_too() -> None:
    """Without the gears' own damping, which is a share of critical that can be taken out."""
    robot = load_robot("planar2")
    robot = replace(robot, joints=tuple(replace(joint, armature=0.5) for joint in robot.joints))
    q, still = np.array([0.3, -0.8]), np.zeros(2)
    plant = Plant(robot, friction_of(robot, FRICTION_WIDTH), np.array([500.0, 200.0]))
    plant._gear_damping[:] = 0.0
    loop = ClosedLoop(plant, Loose(), np.full(2, np.inf), sampled=False)

    def energy(p: np.ndarray, v: np.ndarray) -> float:
        links = float(np.squeeze(robot.kinetic_energy(p[2:], v[2:]) + robot.potential_energy(p[2:])))
        return links + 0.25 * v[:2] @ v[:2] + 0.5 * np.array([500.0, 200.0]) @ (p[:2] - p[2:]) ** 2

    p, v = plant.at_rest(q, still, still)
    state = advance(loop, State(0.0, p, v), 0.5, Precision(1e-9))
    assert np.abs(state.v).max() > 0.5
    assert energy(state.p, state.v) == pytest.approx(energy(p, v), abs=1e-5)


# --- what is refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gk3", "puma260"])
def test_sets_that_no_body_has_are_refused(name: str) -> None:
    robot = load_robot(name)
    with pytest.raises(RobotError, match=r"no body can have.*physical") as caught:
        run(robot, swing(robot))
    impossible = {"gk3": (1, 2), "puma260": (3, 5)}[name]
    for k, link in enumerate(robot.links):
        assert (f"'{link.name}'" in str(caught.value)) == (k in impossible)


def without_parameters(robot: Robot) -> Robot:
    return replace(robot, links=(Link(name="bare"), *robot.links[1:]))


def without_inertia(robot: Robot) -> Robot:
    return replace(robot, links=(*robot.links[:-1], Link(name="empty", parameters=np.zeros(10))))


@pytest.mark.parametrize(
    ("change", "setup", "message"),
    [
        (without_parameters, Setup(), "'bare' has no inertial parameters"),
        (without_inertia, Setup(), "without moving any inertia"),
        (lambda robot: robot, Setup(gear_stiffness=[1e4, 1e4]), "Ia is zero"),
        (lambda robot: robot, Setup(gear_stiffness=[1e4]), "2 positive numbers"),
        (lambda robot: robot, Setup(control=Control(nominal=load_robot("scara"))), "nominal"),
        (lambda robot: robot, Setup(rate_hz=0.5), "gives no log"),
    ],
)
def test_what_cannot_be_simulated(change: Callable[[Robot], Robot], setup: Setup, message: str) -> None:
    robot = load_robot("planar2")
    with pytest.raises((ArgumentError, RobotError), match=message):
        run(change(robot), swing(robot), setup)


def test_a_trajectory_of_another_robot() -> None:
    with pytest.raises(ArgumentError, match="the trajectory is of the joints"):
        run(load_robot("planar2"), swing(load_robot("scara")))


@pytest.mark.parametrize("options", [{"kind": "pid"}, {"bandwidth_hz": 0.0}, {"rate_hz": float("nan")}])
def test_controllers_that_cannot_be(options: dict) -> None:
    with pytest.raises(ArgumentError):
        Control(**options)
