"""An arm like a UR5e with and without a load at its flange, and logs of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid.formats.dh_toml import parse_dh_toml
from dynid.log.log import Log, Provenance
from dynid.model import model_of
from dynid.plant import Setup, run
from dynid.plant.sensors import Sensors, recorded, sampling
from dynid.robot import Robot
from dynid.spatial import frozen, parameters_from_com
from dynid.trajectory import Trajectory, make_trajectory

MASS = 2.805  # kg
COM = np.array([0.012, -0.008, 0.06])  # m, in the last link's frame
INERTIA = np.diag([0.006, 0.007, 0.004])  # kg m^2, about the centre of mass

# Encoders of 17 bits on the motors' side of a gear, efforts with 2 % noise in steps, a clock that wanders.
REALISTIC = Sensors(encoder_bits=17, torque_noise=0.02, torque_step=0.05, clock_jitter=2e-4)

_LINKS = (  # alpha, a, d, mass, com, Ia, Fv, Fc: standard frames, geometry and masses of a UR5e
    (90.0, 0.0, 0.1625, 3.761, (0.0, -0.02561, 0.00193), 0.35, 8.0, 6.0),
    (0.0, -0.425, 0.0, 8.058, (0.2125, 0.0, 0.11336), 0.35, 9.0, 7.0),
    (0.0, -0.3922, 0.0, 2.846, (0.15, 0.0, 0.0265), 0.25, 5.0, 4.0),
    (90.0, 0.0, 0.1333, 1.37, (0.0, -0.0018, 0.01634), 0.05, 1.6, 1.5),
    (-90.0, 0.0, 0.0997, 1.3, (0.0, 0.0018, 0.01634), 0.05, 1.4, 1.4),
    (0.0, 0.0, 0.0996, 0.365, (0.0, 0.0, -0.001159), 0.05, 1.5, 1.3),
)


def ur_like() -> Robot:
    lines = ['name = "ur-like"', 'convention = "standard"', "gravity = [0.0, 0.0, -9.81]"]
    for k, (alpha, a, d, mass, com, Ia, Fv, Fc) in enumerate(_LINKS):
        size = 0.12 if k in (1, 2) else 0.05
        moments = [0.4 * mass * size**2] * 3
        lines += [
            "[[joint]]",
            f'name = "j{k + 1}"\ntype = "revolute"\nalpha = "{alpha} deg"\na = {a}\ntheta = 0.0\nd = {d}',
            f"link = {{ mass = {mass}, com = {list(com)}, inertia = {[*moments, 0.0, 0.0, 0.0]} }}",
            f"Ia = {Ia}\nFv = {Fv}\nFc = {Fc}\nFo = 0.1",
        ]
    return parse_dh_toml("\n".join(lines), "ur-like.toml")


def loaded(robot: Robot, mass: float = MASS) -> Robot:
    """The robot with the load on its last link."""
    last = robot.links[-1]
    load = mass / MASS * parameters_from_com(MASS, COM, INERTIA)
    return replace(robot, links=(*robot.links[:-1], replace(last, parameters=frozen(last.parameters + load))))


def fourier(robot: Robot, seed: int, duration: float = 20.0, rate: float = 100.0) -> Trajectory:
    """Five harmonics on every joint, from rest to rest."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(duration * rate) + 1) / rate
    ramp = np.minimum(1.0, np.minimum(t, duration - t) / 1.5)
    ramp = ramp**3 * (10.0 - 15.0 * ramp + 6.0 * ramp**2)
    omega = 2.0 * np.pi * np.arange(1, 6) / 10.0
    amplitude = rng.normal(size=(robot.dof, 5, 2)) * (0.5 / np.arange(1, 6))[:, None] ** 0.7
    waves = np.stack([np.sin(omega * t[:, None]), np.cos(omega * t[:, None])], axis=2)
    q = ramp[:, None] * np.einsum("tkc,jkc->tj", waves, amplitude)
    return make_trajectory(robot.joint_names, t, q + np.array([0.0, -1.2, 0.9, -0.7, 0.8, 0.0])[: robot.dof])


def logs(
    robot: Robot, seed: int, mass: float = MASS, sensors: Sensors = REALISTIC, duration: float = 20.0
) -> tuple[Log, Log]:
    """Of one motion without and with the load, by MuJoCo."""
    motion = fourier(robot, seed, duration)
    setup = Setup(sensors=sensors)
    return (
        run(robot, motion, setup, seed=2 * seed).log,
        run(loaded(robot, mass), motion, setup, seed=2 * seed + 1).log,
    )


def quick_logs(robot: Robot, seed: int, mass: float = MASS, sensors: Sensors = REALISTIC) -> tuple[Log, Log]:
    """The same by dynid's own equations, in a hundredth of the time: the motion is followed exactly."""
    motion = fourier(robot, seed)
    return _recorded(robot, motion, sensors, 2 * seed), _recorded(
        loaded(robot, mass), motion, sensors, 2 * seed + 1
    )


def _recorded(robot: Robot, motion: Trajectory, sensors: Sensors, seed: int) -> Log:
    nominal = np.round(motion.times * 1e9).astype(np.int64)
    instants = sampling(sensors, nominal, seed)
    q, qd, _ = states(motion, instants.position_at)
    efforts = model_of(robot, width=1e-3).efforts(*states(motion, instants.effort_at))
    found = recorded(sensors, robot, instants.position_at, q, qd, efforts, seed)
    return Log(
        joint_names=robot.joint_names,
        stamp_ns=found.stamp_ns,
        epoch_ns=0,
        position=found.position,
        velocity=found.velocity,
        effort=found.effort,
        provenance=Provenance("quick", "", {"effort": "torque"}),
    )


def states(motion: Trajectory, stamps: np.ndarray) -> np.ndarray:
    """Positions, velocities and accelerations at instants in ns, (3, N, n)."""
    return np.stack([motion.at(stamp * 1e-9) for stamp in stamps.tolist()], axis=1)
