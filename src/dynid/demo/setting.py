"""What the demonstration assumes: the true arm, what is believed of it, and what its sensors do.

All of it is fixed but for the seed. The arm is the PUMA 560 as built in, with motor inertia and friction.
What is believed beforehand, the nominal model, is off by 20 %: each link's ten parameters and each constant
of a drive are 1.2 or 0.8 times the true ones, as the seed says. Scaled as a whole, links stay possible.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid.formats.load import load_robot
from dynid.model import model_of
from dynid.plant.control import Control
from dynid.plant.integrate import Precision
from dynid.plant.sensors import Sensors
from dynid.plant.simulation import Setup
from dynid.robot import Robot
from dynid.spatial import Array
from dynid.tracking import move_to
from dynid.trajectory import Trajectory

ARM = "puma560"
OFF = 0.2  # of the nominal model
RATE_HZ = 200.0  # of logs
NOISE = 0.01  # of torques, as a fraction of each joint's RMS
SENSORS = Sensors(encoder_bits=16, velocity="encoder", torque_noise=NOISE, clock_jitter=1e-3, dropped=0.005)
PRECISION = Precision(tolerance=1e-4)  # of the simulated motion: far finer than its encoders

START = np.radians([-45.0, -120.0, -45.0, 0.0, 0.0, 0.0])
WAY = np.radians([90.0, 90.0, 90.0, 45.0, 45.0, 90.0])
CONTROL_HZ = 1.0 / 0.028  # the sampling period of the experiments in section 6 of [Izaguirre1992]


def true_arm() -> Robot:
    return load_robot(ARM)


def nominal_arm(arm: Robot, seed: int) -> Robot:
    """The arm as it is believed to be."""
    rng = np.random.default_rng(seed)
    true = model_of(arm)

    def off(count: int) -> Array:
        return 1.0 + OFF * rng.choice([-1.0, 1.0], count)

    links = true.parameters.reshape(-1, 10) * off(len(arm.links))[:, None]
    constants = ("viscous", "coulomb", "offset")
    friction = replace(
        true.friction, **{name: getattr(true.friction, name) * off(arm.dof) for name in constants}
    )
    armature = true.armature * off(arm.dof)
    return replace(true, parameters=links.ravel(), armature=armature, friction=friction).as_robot()


def setup(nominal: Robot) -> Setup:
    """The simulated experiment: a servo that knows only the nominal arm, and realistic sensors."""
    return Setup(control=Control(nominal=nominal), sensors=SENSORS, precision=PRECISION)


def fast_move(arm: Robot) -> Trajectory:
    """All joints at once from rest to rest, the one with the lowest limit at its full speed."""
    limits = [arm.joints[j].limits.velocity for j in arm.free]
    longest = float(np.abs(WAY).max())
    speed = min(limit * longest / abs(way) for limit, way in zip(limits, WAY.tolist(), strict=True))
    return move_to(arm.joint_names, START, START + WAY, speed)
