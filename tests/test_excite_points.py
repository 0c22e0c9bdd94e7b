"""Optimised points and the quintics that join them, against SciPy, finite differences and the paper."""

import numpy as np
import pytest
from scipy.interpolate import BPoly

from dynid import exciting_trajectory, load_robot
from dynid.errors import ArgumentError
from dynid.excite.criteria import Criterion
from dynid.excite.limits import Bounds, bounds_of
from dynid.excite.observation import observe
from dynid.excite.points import Points
from dynid.excite.quintics import braking, fits, join, quintic


def one_joint(**limits):
    given = {"lower": -1.0, "upper": 1.0, "velocity": 1.0, "acceleration": 1.0, "jerk": np.inf, **limits}
    return Bounds(
        names=("a",), effort=np.array([np.inf]), **{key: np.array([value]) for key, value in given.items()}
    )


def test_quintics_are_those_of_the_paper():
    # Eq. (27): positions and velocities at both ends, no acceleration
    powers = quintic(*(np.array([x]) for x in (0.3, -0.4, 1.1, 0.8)), np.array([1.7]))[0, :, 0]
    expected = BPoly.from_derivatives([0.0, 1.7], [[0.3, -0.4, 0.0], [1.1, 0.8, 0.0]])
    t = np.linspace(0.0, 1.7, 30)
    assert np.allclose(np.polynomial.polynomial.polyval(t / 1.7, powers), expected(t), atol=1e-13)


def test_the_largest_acceleration_is_no_decreasing_function_of_time():
    # from 0 to 1 with velocity 1 at both ends: 0 after 1 s, more before, more again after 2 s, then less
    a, b, v = np.array([0.0]), np.array([1.0]), np.array([1.0])
    times = np.array([0.9, 1.0, 2.0, 8.0])
    most = []
    for time in times:
        motion = BPoly.from_derivatives([0.0, time], [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0]]).derivative(2)
        most.append(np.abs(motion(np.linspace(0.0, time, 2000))).max())
    assert np.allclose(most, [0.71, 0.0, 1.44, 0.63], atol=0.01)
    wide = one_joint(lower=-100.0, upper=100.0, velocity=100.0, acceleration=0.7)
    assert fits(a, v, b, v, times, wide)[:, 0].tolist() == [False, True, False, True]


@pytest.mark.parametrize("jerk", [np.inf, 3.0, 30.0])
def test_braking_takes_the_time_that_limits_ask_for(jerk):
    bounds = one_joint(jerk=jerk)
    speed = np.array([0.7])
    time, slope = braking(speed, bounds)
    u = np.linspace(0.0, 1.0, 2001)
    acceleration = 0.7 * (6.0 * u - 6.0 * u**2) / time
    jerks = 0.7 * (6.0 - 12.0 * u) / time**2
    shares = np.abs(acceleration).max() / 1.0, np.abs(jerks).max() / jerk
    assert np.isclose(max(shares), 1.0, atol=1e-6)
    h = 1e-6
    differences = (braking(speed + h, bounds)[0] - braking(speed - h, bounds)[0]) / (2 * h)
    assert np.allclose(slope, differences, rtol=1e-8)


def test_a_joint_stops_on_its_way_where_no_quintic_can_do():
    # from 0.6 outwards to 0.6 inwards, near the end of the range: it must come to rest and return
    bounds = one_joint(lower=-0.8, upper=0.8)
    q, qd = np.array([[0.6], [0.6]]), np.array([[0.5], [-0.5]])
    assert not fits(q[0], qd[0], q[1], qd[1], np.linspace(0.01, 30.0, 3000), bounds).any()
    times, *arrays = join(q, qd, bounds, 0.01)
    motion = BPoly.from_derivatives(times, np.stack(arrays, axis=1))(np.linspace(0.0, times[-1], 5000))
    assert motion.max() < 0.8 + 1e-12
    assert arrays[1].min() == -0.5
    assert arrays[1].max() == 0.5


@pytest.mark.parametrize("options", [{}, {"jerk": [20.0]}])
def test_slopes_by_the_angles_are_those_of_the_values(options):
    robot = load_robot("gk3")
    criterion = Criterion("d-optimal")  # of all the one with the fewest digits lost
    points = Points(observe(robot, "energy"), criterion, bounds_of(robot, **options), 61, 20.0)
    x = points.first(np.random.default_rng(0))
    _, slope = points.objective(x)
    picked = np.random.default_rng(1).choice(len(x), 25, replace=False)
    for k in picked:
        step = np.zeros_like(x)
        step[k] = 1e-5
        expected = (points.objective(x + step)[0] - points.objective(x - step)[0]) / 2e-5
        joint, kind = k % 3, k // (61 * 3)
        if kind == 0 and joint == 0:
            assert slope[k] == 0.0  # the position of joint 1 has no effect
        assert np.isclose(slope[k], expected, rtol=1e-4, atol=1e-6)


def test_gk3_meets_the_papers_condition_numbers():
    robot = load_robot("gk3")
    base = observe(robot, "energy").base
    for r, starts, most in ((30, 16, 12.5),):  # the others are in papers/gk1992_excitation.py
        found = exciting_trajectory(robot, basis="points", points=r, starts=starts)
        q, qd = found.points
        assert q.shape == (r + 1, 3)
        W = np.diff(robot.energy_regressor(q, qd), axis=0) @ np.linalg.pinv(base.matrix)
        assert np.isclose(np.linalg.cond(W), found.condition, rtol=1e-9)
        assert found.condition <= most, r
        assert found.certificate.safe
        rows = np.hstack([found.trajectory.q, found.trajectory.qd])
        where = [int(np.flatnonzero((rows == point).all(axis=1))[0]) for point in np.hstack([q, qd])]
        assert where == sorted(where)
        # it starts and ends at rest, in the pose of zeros
        assert not found.trajectory.q[[0, -1]].any()
        assert not found.trajectory.qd[[0, -1]].any()


def test_the_scaling_measure_can_be_controlled():
    robot = load_robot("gk3")
    free = exciting_trajectory(robot, basis="points", points=20, starts=2)
    held = exciting_trajectory(robot, basis="points", points=20, starts=2, criterion="combined")
    assert free.scaling > 1e6
    assert held.scaling < 2000.0  # 303 with all starts and r = 20: papers/gk1992_excitation.py
    assert held.condition < 2.0 * free.condition


def test_joints_without_effect_keep_their_random_sequence():
    robot = load_robot("gk3")
    points = Points(observe(robot, "energy"), Criterion(), bounds_of(robot), 31, 100.0)
    found = exciting_trajectory(robot, basis="points", starts=1)
    q, qd = points.points(points.first(np.random.default_rng([0, 0])))
    # where the joint is depends on its speed a little, since it must be able to stop; the share does not
    assert np.corrcoef(q[:, 0], found.points[0][:, 0])[0, 1] > 0.95
    assert np.abs(qd[:, 0] - found.points[1][:, 0]).max() > 0.1


def test_points_that_cannot_do_are_named():
    for robot, options, said in (
        ("panda", {"points": 30}, "30 points cannot determine 43"),
        ("gk3", {"points": 14}, "at least 15, better 30"),
        ("gk3", {"model": "torque"}, "no accelerations"),
    ):
        with pytest.raises(ArgumentError, match=said):
            exciting_trajectory(load_robot(robot), basis="points", **options)


def test_static_poses_for_gravity_alone():
    robot = load_robot("gk3")
    found = exciting_trajectory(robot, basis="points", model="gravity", points=4, starts=3)
    q, qd = found.points
    assert not qd.any()
    W = robot.regressor(q, 0 * q, 0 * q).reshape(-1, 30)
    expected = W @ np.linalg.pinv(found.setting.observation.base.matrix)
    assert np.isclose(found.condition, np.linalg.cond(expected))
    assert found.certificate.safe


def test_the_motion_begins_where_the_robot_can_rest():
    robot = load_robot("gk3")
    efforts = [100.0, 40.0, 12.0]  # less than holding the arm straight takes
    zero = np.zeros((1, 3))
    assert (np.abs(robot.inverse_dynamics(zero, zero, zero)) > efforts).any()
    found = exciting_trajectory(robot, basis="points", points=15, starts=1, effort_limits=efforts)
    assert found.certificate.safe
    assert np.abs(found.trajectory.q[0]).max() > 0.1
    efforts_there = robot.inverse_dynamics(found.trajectory.q, found.trajectory.qd, found.trajectory.qdd)
    assert (np.abs(efforts_there) <= efforts).all()
