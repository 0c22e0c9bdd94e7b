"""Open-loop tracking: how far a robot strays when a model alone tells its motors what to do.

The motors get the model's efforts along the desired motion, and nothing that depends on where the robot is:
so section 7 of [Izaguirre1992] judges an identified model. What is left is a double integrator, in which the
model's errors add up, the longer the motion lasts the more. With gravity compensation the model's gravity
torque g is that of the actual positions instead, the only feedback:

    effort = efforts(q_d, qd_d, qdd_d) - g(q_d) + g(q)

The robot is the plant of `dynid.plant`, whose rigid bodies are MuJoCo's; the model uses dynid's equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import ArgumentError
from dynid.friction import friction_of
from dynid.model import DynamicModel
from dynid.plant.control import Control
from dynid.plant.plant import Plant
from dynid.plant.simulation import FRICTION_WIDTH, ClosedLoop, Setup, move
from dynid.robot import Robot
from dynid.spatial import Array, frozen
from dynid.trajectory import Trajectory, make_trajectory

PEAK_OF_QUINTIC = 15.0 / 8.0  # of the mean speed, from rest to rest
ROWS = 200  # of a move
RATE_HZ = 100.0  # of what is recorded; a controller with the same clock costs least


@dataclass(frozen=True, eq=False, kw_only=True)
class Tracking:
    """A desired motion of n joints and what became of it, at N instants."""

    joint_names: tuple[str, ...]
    times: Array  # (N,) s
    wanted: Array  # (N, n) rad or m
    actual: Array  # (N, n)

    @property
    def error(self) -> Array:
        """Actual less desired positions, (N, n)."""
        return self.actual - self.wanted

    @property
    def largest(self) -> Array:
        """Each joint's largest error, (n,)."""
        return np.abs(self.error).max(axis=0)

    @property
    def percent(self) -> Array:
        """Each joint's largest error in per cent of its desired way, (n,); NaN where it should rest."""
        way: Array = np.ptp(self.wanted, axis=0)
        unknown: Array = np.full_like(way, np.nan)
        return np.divide(100.0 * self.largest, way, out=unknown, where=way > 0.0)


def track(
    robot: Robot,
    model: DynamicModel,
    trajectory: Trajectory,
    *,
    gravity_compensation: bool = False,
    control_hz: float | None = None,
    gear_stiffness: ArrayLike | None = None,
) -> Tracking:
    """The robot under the efforts of the model, which may be that of another robot with the same joints.

    control_hz: efforts are held between the ticks of this clock; None: a continuous law.
    gear_stiffness: (n,) Nm/rad or N/m of elastic gears, of which the model knows nothing; None: rigid ones.
    """
    for other, what in ((model.robot.joint_names, "model"), (trajectory.joint_names, "trajectory")):
        if other != robot.joint_names:
            raise ArgumentError(f"the {what} has the joints {other}, {robot.name} has {robot.joint_names}")
    stiffness = None if gear_stiffness is None else frozen(gear_stiffness)
    plant = Plant(robot, friction_of(robot, FRICTION_WIDTH), stiffness)
    law = _OpenLoop(model, trajectory, gravity_compensation)
    unlimited = np.full(robot.dof, np.inf)
    loop = ClosedLoop(plant, law, unlimited, sampled=control_hz is not None)
    first, last = float(trajectory.times[0]), float(trajectory.times[-1])
    times = np.linspace(first, last, max(2, round((last - first) * RATE_HZ) + 1))
    stamps = np.round(times * 1e9).astype(np.int64)
    truth = move(loop, trajectory, stamps, Setup(control=Control(rate_hz=control_hz)))
    return Tracking(
        joint_names=robot.joint_names,
        times=frozen(times),
        wanted=frozen([trajectory.at(t)[0] for t in times.tolist()]),
        actual=frozen(truth.q),
    )


def track_floating(
    robot: Robot,
    model: DynamicModel,
    start: ArrayLike,
    duration: float = 1.0,
    *,
    control_hz: float | None = None,
) -> Tracking:
    """The robot let go at rest in `start`, (n,), while the model carries its weight: it should stay there."""
    q = np.tile(np.asarray(start, dtype=np.float64), (2, 1))
    still = np.zeros_like(q)
    trajectory = make_trajectory(robot.joint_names, (0.0, duration), q, still, still)
    return track(robot, model, trajectory, gravity_compensation=True, control_hz=control_hz)


class _OpenLoop:
    """The model's efforts along the desired motion; only its gravity torque may see where the robot is."""

    def __init__(self, model: DynamicModel, trajectory: Trajectory, gravity_compensation: bool) -> None:
        self._model, self._trajectory, self._compensate = model, trajectory, gravity_compensation

    def effort(self, t: float, theta: Array, theta_rate: Array) -> Array:
        q, qd, qdd = self._trajectory.at(t)
        effort = self._model.efforts(q, qd, qdd)
        if self._compensate:
            robot, parameters = self._model.robot, self._model.parameters
            effort += robot.gravity_torque(theta, parameters) - robot.gravity_torque(q, parameters)
        return effort


def move_to(joint_names: Sequence[str], start: ArrayLike, end: ArrayLike, peak_speed: float) -> Trajectory:
    """From rest at `start` to rest at `end`, (n,) each, by quintics of the same duration for all joints.

    peak_speed: of the joint with the longest way, rad/s or m/s.
    """
    q0 = frozen(start)
    way = frozen(end) - q0
    longest = float(np.abs(way).max(initial=0.0))
    if not (np.isfinite(peak_speed) and peak_speed > 0.0 and np.isfinite(longest) and longest > 0.0):
        raise ArgumentError(f"a move needs a way and a positive speed, not {longest:g} and {peak_speed:g}")
    duration = PEAK_OF_QUINTIC * longest / peak_speed
    u = np.linspace(0.0, 1.0, ROWS + 1)[:, None]
    return make_trajectory(
        joint_names,
        duration * u[:, 0],
        q0 + way * (u**3 * (10.0 - 15.0 * u + 6.0 * u**2)),
        way / duration * (30.0 * u**2 * (1.0 - u) ** 2),
        way / duration**2 * (60.0 * u * (1.0 - u) * (1.0 - 2.0 * u)),
    )
