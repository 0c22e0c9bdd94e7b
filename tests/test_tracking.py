"""Open-loop tracking: errors that mechanics foretells, and the script about section 7.2 of the 1992 paper."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dynid import ArgumentError, load_robot
from dynid.model import DynamicModel, model_of
from dynid.robot import Joint, Link, Robot
from dynid.spatial import frozen, parameters_from_com
from dynid.tracking import PEAK_OF_QUINTIC, move_to, track, track_floating

SCRIPT = Path(__file__).parents[1] / "papers" / "izaguirre_1992_tracking.py"
INERTIA = 0.5


def wheel(
    *, inertia: float = INERTIA, mass: float = 1.0, offset: float = 0.0, **drive: float
) -> DynamicModel:
    """One body that turns about a level axis, its centre of mass `offset` beside it."""
    body = parameters_from_com(mass, (offset, 0.0, 0.0), np.diag([inertia, inertia, inertia]))
    none = {"armature": 0.0, "viscous": 0.0, "coulomb": 0.0, "offset": 0.0}
    joint = Joint(name="w", kind="revolute", parent=-1, axis=frozen((0, -1, 0)), **(none | drive))
    return model_of(Robot(name="wheel", joints=(joint,), links=(Link(name="w", parameters=body),)))


def quarter_turn(speed: float = 1.0):
    return move_to(("w",), [0.0], [np.pi / 2], speed)


def test_a_move_starts_and_ends_at_rest_and_reaches_the_speed_once():
    move = move_to(("a", "b"), [0.1, -0.2], [0.4, -1.2], 0.8)
    assert move.times[-1] == pytest.approx(PEAK_OF_QUINTIC * 1.0 / 0.8)
    np.testing.assert_allclose(move.q[[0, -1]], [[0.1, -0.2], [0.4, -1.2]], atol=1e-15)
    np.testing.assert_allclose(move.qd[[0, -1]], 0.0, atol=1e-12)
    np.testing.assert_allclose(move.qdd[[0, -1]], 0.0, atol=1e-12)
    np.testing.assert_allclose(np.abs(move.qd).max(axis=0), [0.24, 0.8], rtol=1e-12)
    # velocities and accelerations are those of the positions
    h = move.times[1] - move.times[0]
    np.testing.assert_allclose(np.gradient(move.q, h, axis=0)[1:-1], move.qd[1:-1], atol=2e-4)
    np.testing.assert_allclose(np.gradient(move.qd, h, axis=0)[1:-1], move.qdd[1:-1], atol=2e-3)


@pytest.mark.parametrize(("end", "speed"), [([0.0], 1.0), ([1.0], 0.0), ([1.0], np.inf), ([np.nan], 1.0)])
def test_a_move_needs_a_way_and_a_speed(end, speed):
    with pytest.raises(ArgumentError, match="needs a way"):
        move_to(("w",), [0.0], end, speed)


@pytest.mark.parametrize("name", ["planar2", "puma560"])
def test_the_true_model_follows_but_for_the_integrator(name):
    robot = load_robot(name)
    start = np.linspace(-0.5, 0.5, robot.dof)
    move = move_to(robot.joint_names, start, start + 0.7, 2.0)
    bare = replace(model_of(robot), friction=wheel().friction)  # friction without constants of its own
    zero = np.zeros(robot.dof)
    friction = replace(bare.friction, viscous=zero, coulomb=zero, offset=zero)
    model = replace(model_of(robot), friction=friction)
    run = track(model.as_robot(), model, move)
    # unstable in open loop: local errors of 1e-6 grow with the poles of the arm, a few 1/s, for half a second
    assert run.largest.max() < 1e-4
    np.testing.assert_allclose(run.wanted[-1], start + 0.7, atol=1e-12)


@pytest.mark.parametrize("excess", [0.1, -0.2])
def test_too_much_inertia_in_the_model_is_too_much_motion(excess):
    """I qdd = (1 + e) I qdd_d, so the way is 1 + e times the desired one."""
    robot = wheel().as_robot()
    run = track(robot, wheel(inertia=(1.0 + excess) * INERTIA), quarter_turn())
    np.testing.assert_allclose(run.error[:, 0], excess * run.wanted[:, 0], atol=1e-5)
    assert run.percent[0] == pytest.approx(100.0 * abs(excess), rel=1e-4)


def test_slow_motion_lets_a_wrong_torque_act_for_longer():
    """A wheel with a torque missing strays by t^2 / 2 times torque over inertia."""
    robot = wheel(offset=0.0).as_robot()
    lost = 0.01
    for speed in (1.0, 2.0):
        model = wheel()
        push = replace(model, friction=replace(model.friction, offset=frozen([lost])))
        run = track(robot, push, quarter_turn(speed))
        np.testing.assert_allclose(run.error[:, 0], 0.5 * lost / INERTIA * run.times**2, rtol=1e-3, atol=1e-5)


def test_gravity_compensation_follows_the_robot():
    """With g(q) it makes no difference where the robot is: an error of inertia stays what it was."""
    weight = {"mass": 2.0, "offset": 0.1}
    robot = wheel(**weight).as_robot()
    model = wheel(inertia=1.2 * INERTIA, **weight)
    excess = 0.2 * INERTIA / float(robot.mass_matrix([0.0]).squeeze())
    compensated = track(robot, model, quarter_turn(), gravity_compensation=True)
    np.testing.assert_allclose(compensated.error[:, 0], excess * compensated.wanted[:, 0], atol=2e-5)
    plain = track(robot, model, quarter_turn())
    assert plain.largest[0] > 2.0 * compensated.largest[0] or plain.largest[0] < 0.5 * compensated.largest[0]


def test_an_arm_floats_with_its_own_weight_carried_and_falls_without():
    robot = load_robot("planar2", gravity=(0.0, -9.81, 0.0))
    model = model_of(robot)
    slippery = replace(
        model,
        friction=replace(model.friction, **dict.fromkeys(("viscous", "coulomb", "offset"), np.zeros(2))),
    )
    start = [0.3, -0.4]
    floating = track_floating(slippery.as_robot(), slippery, start)
    assert floating.largest.max() < 1e-9
    assert np.isnan(floating.percent).all()  # it was not to go anywhere
    nothing = replace(slippery, parameters=np.zeros_like(slippery.parameters))
    assert track_floating(slippery.as_robot(), nothing, start, 0.3).largest.max() > 0.2


def test_a_clock_delays_the_efforts():
    """Held efforts come half a tick late in the mean, and so does the motion."""
    robot = wheel().as_robot()
    run = track(robot, wheel(), quarter_turn(), control_hz=50.0)
    assert run.error[:, 0].min() == pytest.approx(-1.0 * 0.5 / 50.0, rel=0.05)


@pytest.mark.parametrize(("stiffness", "same"), [(1e6, True), (500.0, False)])
def test_stiff_gears_are_rigid_and_soft_ones_are_not(stiffness, same):
    heavy = wheel(mass=5.0, offset=0.2, armature=0.2)
    robot = heavy.as_robot()
    rigid = track(robot, heavy, quarter_turn(2.0))
    elastic = track(robot, heavy, quarter_turn(2.0), gear_stiffness=[stiffness])
    assert (np.abs(elastic.actual - rigid.actual).max() < 1e-3) == same


def test_other_joints_are_refused():
    robot = load_robot("planar2")
    with pytest.raises(ArgumentError, match="the trajectory has the joints"):
        track(robot, model_of(robot), quarter_turn())
    with pytest.raises(ArgumentError, match="the model has the joints"):
        track(robot, wheel(), quarter_turn())


@pytest.mark.slow
def test_the_script_agrees_with_the_paper(capsys):
    spec = importlib.util.spec_from_file_location(SCRIPT.stem, SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.main() == 0
    shown = capsys.readouterr().out
    assert "NO" not in shown
    assert shown.count(": yes") == 5
