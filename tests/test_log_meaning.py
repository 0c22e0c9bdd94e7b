"""What the numbers of a log mean: sides, signs, gains and angles, against power and hand arithmetic."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dynid.errors import ArgumentError
from dynid.log.log import Log
from dynid.log.meaning import meaning_of
from dynid.log.read import read_log, stream_log
from dynid.robot import Robot
from helpers_logs import Recording, recording, robot_of, write_npz

T = np.array([[0.5, 0.0, 0.0], [0.0, -0.01, 0.0], [0.0, 0.02, 0.25]])  # joint 3 is moved by two motors
COUPLED = robot_of("a", "b", "c", transmission=T)
PLAIN = robot_of("a", "b", "c")


@pytest.fixture
def what() -> Recording:
    return recording("a", "b", "c")


def read(what: Recording, tmp_path: Path, robot: Robot, **options: Any) -> Log:
    return read_log(write_npz(what, tmp_path), robot, **options)


def test_motors_and_joints_have_the_same_power(what: Recording, tmp_path: Path) -> None:
    log = read(what, tmp_path, COUPLED, effort="motor_torque", positions="motor")
    assert log.velocity is not None
    assert log.effort is not None
    of_motors = what.effort * what.velocity
    scale = np.abs(of_motors).sum(axis=1)
    power = (log.effort * log.velocity).sum(axis=1)
    assert (np.abs(power - of_motors.sum(axis=1)) <= 1e-11 * scale).all()


def test_motor_side_equations(what: Recording, tmp_path: Path) -> None:
    """q_joint = T q_motor and tau_joint = T^-T tau_motor, one sample at a time."""
    log = read(what, tmp_path, COUPLED, effort="motor_torque", positions="motor")
    assert log.velocity is not None
    assert log.effort is not None
    for k in range(len(what)):
        np.testing.assert_allclose(log.position[k], T @ what.position[k], rtol=1e-13, atol=1e-16)
        np.testing.assert_allclose(log.velocity[k], T @ what.velocity[k], rtol=1e-13, atol=1e-16)
        # Joint 3 acts on motors 2 and 3, so the torque of motor 2 is shared; worked out by hand.
        m1, m2, m3 = what.effort[k]
        by_hand = [m1 / 0.5, (m2 - 0.02 * m3 / 0.25) / -0.01, m3 / 0.25]
        np.testing.assert_allclose(log.effort[k], by_hand, rtol=1e-9)


def test_sides_are_chosen_apart(what: Recording, tmp_path: Path) -> None:
    log = read(what, tmp_path, COUPLED, positions="motor")
    assert log.effort is not None
    assert log.effort.tobytes() == what.effort.tobytes()
    log = read(what, tmp_path, COUPLED, effort="motor_torque")
    assert log.position.tobytes() == what.position.tobytes()


def test_without_transmission_motors_are_joints_and_it_is_said(what: Recording, tmp_path: Path) -> None:
    log = read(what, tmp_path, PLAIN, effort="motor_torque", positions="motor")
    assert log.effort is not None
    assert log.effort.tobytes() == what.effort.tobytes()
    assert log.position.tobytes() == what.position.tobytes()
    assert log.notes == ("arm has no transmission: channels of motors are taken as those of the joints",)


def test_currents(what: Recording, tmp_path: Path) -> None:
    """The gain is at the joint, gear included: the transmission has no part in it."""
    gain = [10.0, -3.0, 0.125]
    log = read(what, tmp_path, COUPLED, effort="current", gain=gain)
    assert log.effort is not None
    assert log.effort.tobytes() == (what.effort * gain).tobytes()


def test_gains_and_signs_follow_the_robot_not_the_log(what: Recording, tmp_path: Path) -> None:
    shuffled = what.shuffled([2, 0, 1])
    log = read(shuffled, tmp_path, PLAIN, effort="current", gain=[1, 2, 4], sign=[1, -1, 1])
    assert log.effort is not None
    assert log.effort.tobytes() == (what.effort * [1, -2, 4]).tobytes()


def test_signs_are_of_the_recorded_effort(what: Recording, tmp_path: Path) -> None:
    """A motor whose torque counts the wrong way is turned before it goes through the transmission."""
    sign = np.array([1.0, -1.0, 1.0])
    right = read(replace(what, effort=what.effort * sign), tmp_path, COUPLED, effort="motor_torque")
    turned = read(what, tmp_path, COUPLED, effort="motor_torque", sign=sign)
    assert turned.effort is not None
    assert right.effort is not None
    np.testing.assert_allclose(turned.effort, right.effort, rtol=1e-13)


def test_degrees_are_of_joints_that_turn(what: Recording, tmp_path: Path) -> None:
    robot = robot_of("a", "b", "c", kinds=["revolute", "prismatic", "continuous"])
    log = read(what, tmp_path, robot, degrees=True)
    assert log.velocity is not None
    assert log.effort is not None
    for read_in, written in ((log.position, what.position), (log.velocity, what.velocity)):
        np.testing.assert_allclose(read_in[:, [0, 2]], np.radians(written[:, [0, 2]]), rtol=1e-15)
        assert read_in[:, 1].tolist() == written[:, 1].tolist()
    assert log.effort.tobytes() == what.effort.tobytes()


def test_degrees_of_motors(what: Recording, tmp_path: Path) -> None:
    """Every motor turns, also the one that moves a prismatic joint."""
    robot = robot_of("a", "b", "c", kinds=["revolute", "prismatic", "revolute"], transmission=T)
    log = read(what, tmp_path, robot, degrees=True, positions="motor")
    np.testing.assert_allclose(log.position, np.radians(what.position) @ T.T, rtol=1e-12, atol=1e-16)


def test_nothing_is_converted_unless_asked(what: Recording, tmp_path: Path) -> None:
    log = read(what, tmp_path, COUPLED)
    assert log.position.tobytes() == what.position.tobytes()
    assert log.provenance.options["angles"] == "radians"


def test_a_missing_effort_spoils_only_the_joints_it_acts_on(what: Recording, tmp_path: Path) -> None:
    effort = what.effort.copy()
    effort[4, 0] = effort[6, 2] = np.nan
    log = read(replace(what, effort=effort), tmp_path, COUPLED, effort="motor_torque")
    assert log.effort is not None
    assert np.argwhere(np.isnan(log.effort)).tolist() == [[4, 0], [6, 1], [6, 2]]


def test_a_stream_means_the_same(what: Recording, tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "effort": "motor_torque",
        "positions": "motor",
        "sign": [-1, 1, 1],
        "degrees": True,
    }
    whole = read(what, tmp_path, COUPLED, **options)
    parts = list(stream_log(tmp_path / "log.npz", COUPLED, chunk=9, **options))
    assert whole.effort is not None
    assert np.concatenate([part.position for part in parts]).tobytes() == whole.position.tobytes()
    efforts = [part.effort for part in parts if part.effort is not None]
    assert np.concatenate(efforts).tobytes() == whole.effort.tobytes()
    assert {tuple(part.provenance.options.items()) for part in parts} == {
        tuple(whole.provenance.options.items())
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"effort": "torques"}, "effort: 'torques' is unknown. Did you mean 'torque'"),
        ({"positions": "gear"}, "positions: 'gear' is unknown"),
        ({"effort": "current"}, "effort='current' needs a gain"),
        ({"gain": [1, 2, 3]}, "a gain goes with effort='current'"),
        ({"effort": "current", "gain": [1, 2]}, "gain: 2 values for 3 joints; .* a, b, c"),
        ({"effort": "current", "gain": 5.0}, "gain: 1 values for 3 joints"),
        ({"effort": "current", "gain": [1, 0, 2]}, "gain: finite and not zero"),
        ({"effort": "current", "gain": [1, np.nan, 2]}, "gain: finite and not zero"),
        ({"effort": "current", "gain": ["x", 1, 2]}, "gain: not a list of numbers"),
        ({"sign": [1, -1]}, "sign: 2 values for 3 joints"),
        ({"sign": [1, -1, 2]}, r"sign: one of \+1 and -1 per joint, not 1,-1,2"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        meaning_of(PLAIN, **options)
