"""Logs whose truth is known: Fourier motions, rigid efforts with friction, noise, and injected faults."""

from dataclasses import dataclass, replace

import numpy as np

from dynid.log.log import Log, Provenance

NOISE = 0.01  # of each effort's RMS


@dataclass(frozen=True, eq=False)
class Truth:
    """A motion without noise, at instants (N,); arrays (N, n)."""

    time: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    friction: np.ndarray  # (n, 3): viscous, Coulomb, offset


def fourier(robot, time, seed, harmonics=5, period=10.0):
    """q, qd, qdd of a smooth motion well within the limits."""
    rng = np.random.default_rng(seed)
    limits = [robot.joints[j].limits for j in robot.free]
    low = np.array([max(limit.lower, -3.0) for limit in limits])
    high = np.array([min(limit.upper, 3.0) for limit in limits])
    middle, half = 0.5 * (low + high), 0.4 * (high - low)
    w = 2.0 * np.pi / period * np.arange(1, harmonics + 1)
    a, b = rng.normal(size=(2, harmonics, robot.dof))
    angle = w * time[:, None]
    dense = w * np.linspace(0.0, period, 200)[:, None]
    scale = half / np.abs(np.sin(dense) @ a + np.cos(dense) @ b).max(axis=0)
    a, b = a * scale, b * scale
    q = np.sin(angle) @ a + np.cos(angle) @ b + middle
    qd = (w * np.cos(angle)) @ a - (w * np.sin(angle)) @ b
    qdd = -(w**2 * np.sin(angle)) @ a - (w**2 * np.cos(angle)) @ b
    return q, qd, qdd


def truth(robot, time, seed=0, harmonics=5, period=10.0, coulomb_speed=0.05):
    """The motion and its efforts: the robot's own parameters and motors, and a tenth of them as friction."""
    q, qd, qdd = fourier(robot, time, seed, harmonics, period)
    rotors = np.nan_to_num([robot.joints[j].armature for j in robot.free])
    rigid = robot.inverse_dynamics(q, qd, qdd) + rotors * qdd
    size = np.sqrt(np.mean(rigid**2, axis=0))
    speed = np.sqrt(np.mean(qd**2, axis=0))
    friction = np.stack([0.1 * size / speed, 0.1 * size, 0.02 * size], axis=1)
    tau = rigid + friction[:, 0] * qd + friction[:, 1] * np.tanh(qd / coulomb_speed) + friction[:, 2]
    return Truth(time, q, qd, qdd, tau, friction)


def log_of(robot, true, seed=0, noise=NOISE, resolution=2e-5, velocity_noise=2e-3):
    """A healthy log of a motion: encoder steps, white noise on velocities and efforts."""
    rng = np.random.default_rng(seed)
    size = np.sqrt(np.mean(true.tau**2, axis=0))
    position = np.round(true.q / resolution) * resolution if resolution else true.q
    return Log(
        joint_names=robot.joint_names,
        stamp_ns=np.round(true.time * 1e9).astype(np.int64),
        epoch_ns=0,
        position=position,
        velocity=true.qd + velocity_noise * rng.normal(size=true.q.shape),
        effort=true.tau + noise * size * rng.normal(size=true.q.shape),
        provenance=Provenance("made.csv", "0" * 64),
    )


def healthy(robot, seed=0, seconds=20.0, rate_hz=250.0, **options):
    """A healthy log, in one call."""
    return log_of(robot, truth(robot, np.arange(0.0, seconds, 1.0 / rate_hz), seed), seed, **options)


def with_column(log, what, joint, change):
    """The log with one column of `position`, `velocity` or `effort` changed by a function of it."""
    values = getattr(log, what).copy()
    values[:, joint] = change(values[:, joint])
    return replace(log, **{what: values})


def with_rows(log, rows):
    """The log with these rows, in this order."""
    return replace(
        log,
        stamp_ns=log.stamp_ns[rows],
        position=log.position[rows],
        velocity=None if log.velocity is None else log.velocity[rows],
        effort=None if log.effort is None else log.effort[rows],
    )


def with_stamps(log, stamp_ns):
    """The log with other stamps."""
    return replace(log, stamp_ns=stamp_ns)
