"""No limit is violated between samples: trajectories sampled a thousand times as finely, by other means.

SciPy's BPoly, which takes the rows' derivatives, is the motion between rows; Pinocchio says the efforts.
"""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from scipy.interpolate import BPoly

from dynid import load_robot
from dynid.excite.bases import fourier, spline
from dynid.excite.certificate import certify
from dynid.excite.criteria import Criterion
from dynid.excite.effort import Effort, prior_effort
from dynid.excite.intervals import Interval, Moving, cos, sin
from dynid.excite.limits import Bounds, bounds_of
from dynid.excite.observation import observe
from dynid.excite.points import Points
from dynid.excite.scale import at_factor, fastest
from dynid.excite.smooth import Smooth
from dynid.excite.space import space_of
from dynid.model import model_of
from dynid.robot import Limits
from dynid.trajectory import make_trajectory
from helpers_robots import PinocchioTwin, random_robot

OVERSAMPLED = 1000
ROUNDING = 1e-9  # of a range: the third derivative of rows 0.1 s apart, 60 eps |q| / h^3, is 1e-11 of it


def sampled(trajectory, finer=OVERSAMPLED):
    """Position, velocity, acceleration and jerk, (4, M, n), between rows by SciPy's polynomials."""
    rows = np.stack([trajectory.q, trajectory.qd, trajectory.qdd], axis=1)
    motion = BPoly.from_derivatives(trajectory.times, rows)
    u = (np.arange(finer) + 0.5) / finer
    times = (trajectory.times[:-1, None] + u * np.diff(trajectory.times)[:, None]).ravel()
    return np.stack([motion.derivative(order)(times) if order else motion(times) for order in range(4)])


def random_bounds(rng, n):
    middle, half = rng.normal(size=n), 10.0 ** rng.uniform(-1.5, 0.5, n)
    rates = 10.0 ** rng.uniform(-0.3, 1.0, (3, n))
    jerk = 10.0 * rates[2] if rng.random() < 0.5 else np.full(n, np.inf)
    return Bounds(
        names=tuple(f"joint {k}" for k in range(n)),
        lower=middle - half,
        upper=middle + half,
        velocity=rates[0],
        acceleration=rates[1],
        jerk=jerk,
        effort=np.full(n, np.inf),
    )


def excess(motion, bounds):
    """Largest excess over each kind of limit by its range."""
    q, qd, qdd, jerk = motion
    span = bounds.upper - bounds.lower
    found = [np.max((q - bounds.upper) / span), np.max((bounds.lower - q) / span)]
    for x, limit in ((qd, bounds.velocity), (qdd, bounds.acceleration), (jerk, bounds.jerk)):
        if np.isfinite(limit).all():
            found.append(np.max((np.abs(x) - limit) / (2.0 * limit)))
    return max(found)


@pytest.mark.parametrize("seed", range(200))
def test_no_limit_is_violated_between_rows(seed):
    rng = np.random.default_rng(seed)
    bounds = random_bounds(rng, int(rng.integers(1, 4)))
    rate, period = 10.0, float(rng.uniform(1.0, 4.0))
    kind = ("fourier", "spline", "points")[seed % 3]
    observation = observe(load_robot("planar2"), "energy")  # not looked at here
    if kind == "points":
        search = Points(observation, Criterion(), bounds, 4, rate)
    else:
        basis = fourier(period, 3) if kind == "fourier" else spline(period, 6)
        start = rng.uniform(bounds.lower, bounds.upper) if rng.random() < 0.5 else None
        search = Smooth(observation, Criterion(), basis, bounds, rate, start=start)
    x = search.first(rng) if kind == "points" else 3.0 * search.first(rng)  # 3: far beyond the limits
    found = search.result(x)
    assert found.certificate.safe
    assert excess(sampled(found.trajectory), bounds) <= ROUNDING
    assert np.abs(found.trajectory.qd).max() > 0.0
    if kind == "points":  # all points are rows, to the last digit
        rows = np.hstack([found.trajectory.q, found.trajectory.qd]).tolist()
        assert all(row in rows for row in np.hstack(found.motion).tolist())


@pytest.mark.parametrize("seed", range(40))
def test_a_violation_however_small_is_never_called_safe(seed):
    rng = np.random.default_rng(seed)
    n = 2
    times = np.concatenate([[0.0], np.cumsum(rng.uniform(0.05, 0.3, 8))])
    rows = rng.normal(size=(3, 9, n)) * np.array([1.0, 3.0, 20.0])[:, None, None]
    trajectory = make_trajectory(("a", "b"), times, *rows)
    motion = sampled(trajectory, 400)
    most = np.abs(motion).max(axis=1)
    wide = dict(zip(("velocity", "acceleration", "jerk"), 2.0 * most[1:], strict=True))
    low, high = motion[0].min(axis=0), motion[0].max(axis=0)
    open_bounds = Bounds(
        names=("a", "b"), lower=low - 1.0, upper=high + 1.0, effort=np.full(n, np.inf), **wide
    )
    assert certify(trajectory, open_bounds).safe
    joint = int(rng.integers(n))
    one = np.eye(n)[joint]
    for name, limit in (
        ("upper", high - 1e-6 * one + (1.0 - one)),
        ("lower", low + 1e-6 * one - (1.0 - one)),
        ("velocity", 2.0 * most[1] - (1.0 + 1e-6) * most[1] * one),
        ("acceleration", 2.0 * most[2] - (1.0 + 1e-6) * most[2] * one),
        ("jerk", 2.0 * most[3] - (1.0 + 1e-6) * most[3] * one),
    ):
        certificate = certify(trajectory, replace(open_bounds, **{name: limit}))
        assert not certificate.safe, name
        assert trajectory.joint_names[joint] in certificate.worst(trajectory.joint_names)
        # and it does not exaggerate: the excess is the true one and the width of the bounds over a part
        assert certificate.largest < 0.02, name


@pytest.mark.parametrize("seed", range(6))
def test_efforts_are_bounded_between_rows_tightly(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 3, mimic=0.0, prismatic=0.3)
    twin = PinocchioTwin(robot)
    bounds = random_bounds(rng, robot.dof)
    observation = observe(load_robot("planar2"), "gravity")  # not looked at here
    search = Smooth(observation, Criterion(), fourier(2.0, 3), bounds, 50.0)
    trajectory = search.result(search.first(rng)).trajectory
    q, qd, qdd, _ = sampled(trajectory, 20)
    efforts = np.array([twin.at(*sample).inverse_dynamics for sample in zip(q, qd, qdd, strict=True)])
    most = np.abs(efforts).max(axis=0)
    for share, safe in ((0.999, False), (1.005, True)):
        found = certify(trajectory, replace(bounds, effort=share * most), Effort(model_of(robot)))
        assert (found.excess["effort"] <= 0.0).all() == safe
    assert (found.excess["effort"] > -0.01).all()


def test_friction_counts_where_the_robot_has_it():
    robot = load_robot("puma560")
    effort, notes = prior_effort(robot, np.full(6, 100.0))
    assert notes == ()
    speeds = np.full((1, 6), 2.0)
    model = model_of(robot)
    expected = np.abs(model.friction.efforts(speeds) - model.friction.offset)
    assert (effort.friction(speeds) >= expected - 1e-12).all()
    assert effort.friction(speeds).max() > 0.0


def test_intervals_hold_all_values():
    rng = np.random.default_rng(1)
    low = rng.normal(size=(2, 500)) * 4.0
    high = low + rng.uniform(0.0, 5.0, (2, 500))
    x, y = (Interval(low[k], high[k]) for k in range(2))
    inside = [rng.uniform(low, high) for _ in range(200)]
    for f, g in (
        (lambda a, b: a + b, np.add),
        (lambda a, b: a * b, np.multiply),
        (lambda a, b: a.sin(), lambda a, b: np.sin(a)),
        (lambda a, b: a.cos(), lambda a, b: np.cos(a)),
    ):
        found = f(x, y)
        values = np.array([g(*sample) for sample in inside])
        assert (found.lower <= values.min(axis=0)).all()
        assert (found.upper >= values.max(axis=0)).all()
    # and no more than that where a function of one interval is concerned
    grid = np.linspace(low[0], high[0], 2001)
    assert np.allclose(x.cos().upper, np.cos(grid).max(axis=0), atol=1e-5)
    assert np.allclose(x.sin().lower, np.sin(grid).min(axis=0), atol=1e-5)


def test_rates_of_moving_scalars_are_bounds_of_their_slopes():
    one = np.ones(1)
    x = Moving(Interval(0.2 * one, 0.4 * one), Interval(-1.0 * one, 2.0 * one))
    y = sin(x) * cos(x) + 3.0 * (x * x) - x
    slopes = [
        v * (np.cos(2 * a) + 6 * a - 1) for a in np.linspace(0.2, 0.4, 50) for v in np.linspace(-1, 2, 50)
    ]
    assert y.rate.lower <= min(slopes)
    assert y.rate.upper >= max(slopes)
    values = [np.sin(a) * np.cos(a) + 3 * a * a - a for a in np.linspace(0.2, 0.4, 50)]
    assert y.value.lower <= min(values)
    assert y.value.upper >= max(values)


# --- space -----------------------------------------------------------------------------------------------


def test_a_floor_is_kept_and_its_certificate_notices():
    robot = load_robot("panda")
    space = space_of(robot, floor=0.1, radius=0.05)
    upright = np.array([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0])
    search = Smooth(
        observe(load_robot("planar2")), Criterion(), fourier(4.0, 3), bounds_of(robot), 20.0, start=upright
    )
    x = 1.5 * search.first(np.random.default_rng(1))
    free = search.result(x).trajectory
    assert not certify(free, bounds_of(robot), space=space).safe
    assert space.clearances.values([sampled(free, 50)[0]]).min() < 0.0
    found = replace(search, space=space).result(x)
    assert found.certificate.safe
    heights = space.clearances.values([sampled(found.trajectory, 50)[0]])
    assert 0.0 <= heights.min() < 0.1
    assert space.touching(upright) == ()
    lying = space.touching(np.array([0.0, 1.7, 0.0, -0.1, 0.0, 1.5, 0.0]))
    assert lying
    assert "z = 0.1 m" in lying[0]


def test_spheres_are_where_pinocchio_puts_the_links():
    robot = load_robot("panda")
    space = space_of(robot, box=(-9.0, 9.0, -9.0, 9.0, -9.0, 9.0), radius=0.05, tool=(0.0, 0.0, 0.1))
    model = PinocchioTwin(robot).model
    poses = np.random.default_rng(0).uniform(-2.0, 2.0, (2, robot.dof))

    def centres(q):
        data = model.createData()
        pin.forwardKinematics(model, data, q)
        return [data.oMi[sphere.body + 1].act(np.array(sphere.centre)) for sphere in space.spheres], data

    (at, data), (elsewhere, _) = map(centres, poses)
    walls = iter(space.clearances.values([poses[:1]])[0])
    for sphere, here, there in zip(space.spheres, at, elsewhere, strict=True):
        for x in here[np.abs(here - there) > 1e-9]:  # no wall is asked about what does not move
            assert np.isclose(next(walls), x + 9.0 - sphere.radius, atol=1e-12)
            assert np.isclose(next(walls), 9.0 - sphere.radius - x, atol=1e-12)
    assert next(walls, None) is None
    tip = data.oMi[7].act(np.array([0.0, 0.0, 0.1]))
    assert np.linalg.norm(tip - at[-1]) <= space.spheres[-1].radius  # the last sphere holds the tool


def test_links_that_meet_are_noticed():
    robot = load_robot("panda")
    space = space_of(robot, self_collision=True, radius=0.06)
    assert space is not None
    assert space.touching(np.array([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0])) == ()
    folded = space.touching(np.array([0.0, 1.0, 0.0, -3.05, 0.0, 0.0, 0.0]))
    assert any("panda" in label or "link" in label for label in folded)


# --- speed ------------------------------------------------------------------------------------------------


def test_another_speed_is_the_same_path_and_the_fastest_is_the_fastest():
    robot = load_robot("planar2")
    rng = np.random.default_rng(3)
    bounds = random_bounds(rng, 2)
    search = Smooth(observe(robot), Criterion(), fourier(2.0, 3), bounds, 20.0)
    whole = search.result(0.3 * search.first(rng)).trajectory
    slow = at_factor(whole, 0.4, 3)
    assert np.isclose(slow.times[-1], whole.times[-1] / 0.4)
    assert np.diff(slow.times).max() <= np.diff(whole.times).max()
    for order, x in enumerate(sampled(slow, 20)):
        same = sampled(whole, 60)[order] * 0.4**order
        assert np.allclose(x, same, rtol=0.0, atol=1e-7 * np.abs(same).max()), order
    top = fastest(whole, bounds, None, None)
    assert certify(at_factor(whole, top), bounds).safe
    assert not certify(at_factor(whole, 1.001 * top), bounds).safe


def test_efforts_decide_the_speed_where_they_are_limited():
    robot = load_robot("planar2")
    joints = tuple(replace(joint, limits=Limits(-3.0, 3.0, 100.0, 1000.0, 60.0)) for joint in robot.joints)
    robot = replace(robot, joints=joints)
    effort, _ = prior_effort(robot, np.full(2, 60.0))
    bounds = replace(
        random_bounds(np.random.default_rng(0), 2),
        lower=np.full(2, -3.0),
        upper=np.full(2, 3.0),
        velocity=np.full(2, 100.0),
        acceleration=np.full(2, 1000.0),
        jerk=np.full(2, np.inf),
        effort=np.full(2, 60.0),
    )
    search = Smooth(observe(robot), Criterion(), fourier(2.0, 3), bounds, 50.0)
    whole = search.result(0.02 * search.first(np.random.default_rng(3))).trajectory
    top = fastest(whole, bounds, effort, None)
    found = certify(at_factor(whole, top), bounds, effort)
    assert found.safe
    assert found.excess["effort"].max() > -0.02
    assert max(found.excess[key].max() for key in ("velocity", "acceleration")) < -0.1
