"""What the numbers of a log mean, and how they become positions of joints and efforts on joints.

Everything here is linear and constant: channels times a matrix. With T the robot's transmission,
qd_joint = T qd_motor, so q_joint = T q_motor and, the power being the same, tau_joint = T^-T tau_motor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import ArgumentError, choices
from dynid.robot import Robot
from dynid.spatial import Array

EffortMeaning = Literal["torque", "motor_torque", "current"]
PositionSide = Literal["joint", "motor"]


@dataclass(frozen=True, eq=False)
class Meaning:
    """The maps (n, n) from the log's channels to the joints; None leaves a quantity as recorded."""

    motion_map: Array | None
    effort_map: Array | None
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()

    def motion(self, recorded: Array) -> Array:
        """Positions or velocities of the joints, (N, n), in rad, m and s."""
        return _mapped(recorded, self.motion_map)

    def effort(self, recorded: Array) -> Array:
        """Efforts on the joints, (N, n), in Nm and N."""
        return _mapped(recorded, self.effort_map)


def meaning_of(
    robot: Robot,
    *,
    effort: EffortMeaning = "torque",
    gain: Sequence[float] | None = None,
    positions: PositionSide = "joint",
    degrees: bool = False,
    sign: Sequence[float] | None = None,
) -> Meaning:
    """The meaning that a user's options give to a log; options that contradict each other are errors.

    `sign` and `gain` have one entry per joint of the robot, in its order: +1 or -1, and Nm/A (N/A) at the
    joint, gear included. `degrees` says that angles are in degrees and velocities in degrees per second.
    """
    if effort not in get_args(EffortMeaning):
        raise ArgumentError(f"effort: {choices(effort, get_args(EffortMeaning))}")
    if positions not in get_args(PositionSide):
        raise ArgumentError(f"positions: {choices(positions, get_args(PositionSide))}")
    if effort == "current" and gain is None:
        raise ArgumentError(
            "effort='current' needs a gain, Nm/A at the joint, for each of "
            f"{', '.join(robot.joint_names)} (gain=, --gain)"
        )
    if effort != "current" and gain is not None:
        raise ArgumentError(f"a gain goes with effort='current' (--effort current), not with {effort!r}")
    signs, gains = _signs(robot, sign), _gains(robot, gain)
    scale = (np.ones(robot.dof) if signs is None else signs) * (1.0 if gains is None else gains)
    T = robot.transmission
    through_motors = np.linalg.inv(T).T if T is not None and effort == "motor_torque" else np.eye(robot.dof)
    to_joints = T if T is not None and positions == "motor" else np.eye(robot.dof)
    if degrees:
        to_joints = to_joints * _radians(robot, of_motors=T is not None and positions == "motor")
    options = {"effort": effort, "positions": positions, "angles": "degrees" if degrees else "radians"}
    if gains is not None:
        options["gain"] = _written(gains)
    if signs is not None:
        options["sign"] = _written(signs)
    return Meaning(
        motion_map=_unless_identity(to_joints),
        effort_map=_unless_identity(through_motors * scale),
        options=MappingProxyType(options),
        notes=_no_transmission(robot, effort, positions),
    )


def _radians(robot: Robot, *, of_motors: bool) -> Array:
    """Factor per channel, (n,): all motors turn, but a prismatic joint is not measured in degrees."""
    degree = np.pi / 180.0
    return np.array([1.0 if robot.joints[j].prismatic and not of_motors else degree for j in robot.free])


def _no_transmission(robot: Robot, effort: str, positions: str) -> tuple[str, ...]:
    if robot.transmission is not None or (effort != "motor_torque" and positions != "motor"):
        return ()
    return (f"{robot.name} has no transmission: channels of motors are taken as those of the joints",)


def _signs(robot: Robot, sign: ArrayLike | None) -> Array | None:
    signs = _per_joint(robot, "sign", sign)
    if signs is not None and not np.isin(signs, (-1.0, 1.0)).all():
        raise ArgumentError(f"sign: one of +1 and -1 per joint, not {_written(signs)}")
    return signs


def _gains(robot: Robot, gain: ArrayLike | None) -> Array | None:
    gains = _per_joint(robot, "gain", gain)
    if gains is not None and not (np.isfinite(gains) & (gains != 0.0)).all():
        raise ArgumentError(f"gain: finite and not zero for every joint, not {_written(gains)}")
    return gains


def _per_joint(robot: Robot, name: str, values: ArrayLike | None) -> Array | None:
    if values is None:
        return None
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{name}: not a list of numbers ({error})") from error
    if array.shape != (robot.dof,):
        raise ArgumentError(
            f"{name}: {array.size} values for {robot.dof} joints; one per joint, in the order "
            f"{', '.join(robot.joint_names)}"
        )
    return array


def _written(values: Array) -> str:
    return ",".join(np.format_float_positional(value, trim="-") for value in values)


def _unless_identity(matrix: Array) -> Array | None:
    return None if np.array_equal(matrix, np.eye(len(matrix))) else matrix


def _mapped(recorded: Array, matrix: Array | None) -> Array:
    """recorded @ matrix.T without its zeros, so that a missing value spoils only the joints it acts on."""
    if matrix is None:
        return recorded
    out = np.zeros_like(recorded)
    for i, j in zip(*np.nonzero(matrix), strict=True):
        out[:, i] += matrix[i, j] * recorded[:, j]
    return out
