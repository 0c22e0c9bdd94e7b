"""What sensors and their recording do to a motion: nothing, unless asked for.

A run has to know beforehand when it is looked at: `sampling` says at which instants positions and efforts are
taken, `recorded` what becomes of the values found there. Each fault draws from random numbers of its own, so
that switching one on or off leaves the others as they were.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args

import numpy as np

from dynid.errors import ArgumentError, choices
from dynid.friction import motor_rates
from dynid.log.log import Stamps
from dynid.robot import Robot
from dynid.spatial import Array

VelocitySource = Literal["true", "encoder"]


@dataclass(frozen=True, kw_only=True)
class Sensors:
    """The faults of a recording; the default is a perfect one."""

    encoder_bits: int | None = None  # positions in steps of 2 pi / 2^bits of the motor (for slides: m)
    velocity: VelocitySource = "true"  # "encoder": difference of successive positions over that of the stamps
    torque_noise: float = 0.0  # white and normal, as a fraction of each joint's RMS effort
    torque_step: float = 0.0  # resolution of the current times the motor's constant: Nm (N) of motor effort
    delay: float = 0.0  # s, by which efforts lag behind positions; negative: positions lag
    clock_jitter: float = 0.0  # s, RMS by which samples are taken off their instants; stamps tell when
    dropped: float = 0.0  # share of samples that are lost, each by itself

    def __post_init__(self) -> None:
        if self.velocity not in get_args(VelocitySource):
            raise ArgumentError(f"velocity {choices(self.velocity, get_args(VelocitySource))}")
        bits = self.encoder_bits
        if bits is not None and not 1 <= bits <= 52:
            raise ArgumentError(f"encoder bits must be 1 to 52, not {bits}")
        for name in ("torque_noise", "torque_step", "clock_jitter", "dropped"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) >= 0.0):
                raise ArgumentError(f"{name} must be a number >= 0, not {getattr(self, name):g}")
        if not np.isfinite(self.delay):
            raise ArgumentError("delay must be a finite number of seconds")
        if not self.dropped < 1.0:
            raise ArgumentError(f"dropped must be a share below 1, not {self.dropped:g}")

    @property
    def faults(self) -> dict[str, str]:
        """What is switched on, for provenance."""
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {name: str(value) for name, (value, default) in values.items() if value != default}


@dataclass(frozen=True, eq=False)
class Sampling:
    """Instants of a recording of N samples, (N,) each, in ns."""

    position_at: Stamps  # also the stamps
    effort_at: Stamps


@dataclass(frozen=True, eq=False)
class Recording:
    """What the sensors deliver, lost samples left out; arrays are (N, n)."""

    stamp_ns: Stamps
    position: Array
    velocity: Array
    effort: Array
    lost: int


def sampling(sensors: Sensors, nominal: Stamps, seed: int) -> Sampling:
    """When samples are taken that are due at the `nominal` instants, (N,): all within their span.

    Jitter is cut at 0.49 of the shortest period, so that samples stay in order.
    """
    period = int(np.min(np.diff(nominal)))
    wander = _random(seed, "clock_jitter").normal(0.0, sensors.clock_jitter * 1e9, len(nominal))
    wander = np.round(np.clip(wander, -0.49 * period, 0.49 * period)).astype(np.int64)
    stamps = np.clip(nominal + wander, nominal[0], nominal[-1])
    return Sampling(stamps, np.clip(stamps - round(sensors.delay * 1e9), nominal[0], nominal[-1]))


def recorded(
    sensors: Sensors, robot: Robot, stamps: Stamps, theta: Array, rate: Array, effort: Array, seed: int
) -> Recording:
    """What becomes of positions and rates of the motors and of their efforts, (N, n) on the joints."""
    position = _encoded(sensors, robot, theta)
    if sensors.velocity == "encoder":
        rate = np.diff(position, axis=0) / (np.diff(stamps) * 1e-9)[:, None]
        rate = np.concatenate([rate[:1], rate])  # nothing to differentiate at the first sample
    effort = _measured(sensors, robot, effort, seed)
    kept = _random(seed, "dropped").random(len(stamps)) >= sensors.dropped
    lost = int(np.count_nonzero(~kept))
    return Recording(stamps[kept], position[kept], rate[kept], effort[kept], lost)


def _encoded(sensors: Sensors, robot: Robot, theta: Array) -> Array:
    """Positions as encoders on the motors count them, (N, n), in the coordinates of the joints."""
    if sensors.encoder_bits is None:
        return theta
    step = 2.0 * np.pi / 2.0**sensors.encoder_bits
    of_motors = np.round(theta @ motor_rates(robot.transmission, robot.dof).T / step) * step
    return of_motors if robot.transmission is None else of_motors @ robot.transmission.T


def _measured(sensors: Sensors, robot: Robot, effort: Array, seed: int) -> Array:
    """Efforts as the motors' currents tell them, (N, n), on the joints: noise first, then steps."""
    if sensors.torque_noise:
        rms = np.sqrt(np.mean(effort**2, axis=0))
        noise = _random(seed, "torque_noise").normal(size=effort.shape)
        effort = effort + sensors.torque_noise * rms * noise
    if sensors.torque_step:
        of_motors = effort if robot.transmission is None else effort @ robot.transmission
        steps = np.round(of_motors / sensors.torque_step) * sensors.torque_step
        effort = steps @ motor_rates(robot.transmission, robot.dof)
    return effort


def _random(seed: int, fault: str) -> np.random.Generator:
    """Random numbers of one fault, the same whatever the other faults are."""
    names = [field.name for field in fields(Sensors)]
    return np.random.default_rng([seed, names.index(fault)])
