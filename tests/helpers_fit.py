"""Motions known exactly, and logs and samples of arms that make them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dynid import load_robot
from dynid.fit.arrays import samples_from_arrays
from dynid.fit.system import System, Terms, system_of
from dynid.friction import Friction
from dynid.log.log import Log, Provenance
from dynid.log.samples import Samples
from dynid.model import DynamicModel, model_of
from dynid.robot import Robot
from dynid.trajectory import Trajectory, make_trajectory

WIDTH = 0.05  # rad/s, of Coulomb friction's step


@dataclass(frozen=True)
class Arm:
    """A robot whose numbers are all known: what a fit should find."""

    model: DynamicModel
    system: System
    truth: np.ndarray  # (p,)

    @property
    def robot(self) -> Robot:
        return self.model.robot


def arm(name: str | Robot = "planar2", *, seed: int = 0, **terms: object) -> Arm:
    """A robot with motor inertias and friction of its own; terms as for `Terms`."""
    robot = load_robot(name) if isinstance(name, str) else name
    rng = np.random.default_rng(seed)
    n = robot.dof
    rigid = model_of(robot)
    friction = Friction(
        viscous=rng.uniform(0.1, 0.6, n),
        coulomb=rng.uniform(0.2, 0.8, n),
        offset=rng.uniform(-0.3, 0.3, n),
        side=robot.friction_side,
        transmission=robot.transmission,
        width=WIDTH,
    )
    model = replace(rigid, armature=rng.uniform(0.02, 0.1, n), friction=friction)
    system = system_of(robot, Terms(width=WIDTH, **terms))
    friction = replace(friction, width=system.widths)
    model = replace(model, friction=friction)
    known = dict(zip(robot.parameter_names, model.parameters, strict=True))
    for letter, values in (("Ia", model.armature), *friction.constants.items()):
        known |= {f"{letter}{k + 1}": value for k, value in enumerate(values)}
    truth = system.base.matrix @ [known[column] for column in system.base.columns]
    return Arm(model, system, truth)


def waves(
    robot: Robot,
    *,
    seconds: float = 10.0,
    rate_hz: float = 200.0,
    seed: int = 1,
    size: float = 0.4,
    base_hz: float = 0.2,
    harmonics: int = 6,
) -> Trajectory:
    """A sum of sines with its exact derivatives."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds * rate_hz)) / rate_hz
    q, qd, qdd = np.zeros((3, len(t), robot.dof))
    for k in range(1, harmonics + 1):
        w, a = 2.0 * np.pi * k * base_hz, size / k * rng.normal(size=robot.dof)
        phase = w * t[:, None] + rng.uniform(0.0, 2.0 * np.pi, robot.dof)
        q += a * np.sin(phase)
        qd += w * a * np.cos(phase)
        qdd -= w * w * a * np.sin(phase)
    return make_trajectory(robot.joint_names, t, q, qd, qdd)


def log_of(
    arm: Arm, motion: Trajectory, *, position_noise: float = 0.0, effort_noise: float = 0.0, seed: int = 0
) -> Log:
    """The log of a motion; noise is white, that of efforts relative to their RMS."""
    rng = np.random.default_rng(seed)
    tau = arm.model.efforts(motion.q, motion.qd, motion.qdd)
    size = effort_noise * np.sqrt(np.mean(tau**2, axis=0))
    return Log(
        joint_names=motion.joint_names,
        stamp_ns=np.round(motion.times * 1e9).astype(np.int64),
        epoch_ns=0,
        position=motion.q + position_noise * rng.normal(size=motion.q.shape),
        velocity=None,
        effort=tau + size * rng.normal(size=tau.shape),
        provenance=Provenance("made for a test", ""),
    )


def samples_of(
    arm: Arm, motion: Trajectory, *, effort_noise: float = 0.0, seed: int = 0, **more: object
) -> Samples:
    """Exact samples of a motion, no filter; noise (n,) or one number, in Nm."""
    tau = arm.model.efforts(motion.q, motion.qd, motion.qdd)
    tau = tau + effort_noise * np.random.default_rng(seed).normal(size=tau.shape)
    rate_hz = 1.0 / float(motion.times[1] - motion.times[0])
    return samples_from_arrays(arm.robot, motion.q, motion.qd, motion.qdd, tau, rate_hz=rate_hz, **more)


def stacked(arm: Arm, samples: Samples) -> tuple[np.ndarray, np.ndarray]:
    """All rows and efforts of samples that pass no filter, written with NumPy alone, (N n, p) and (N n,)."""
    robot, q, qd, qdd = arm.robot, samples.q, samples.qd, samples.qdd
    eye = np.eye(robot.dof)
    drives = [qdd, qd, np.tanh(qd / arm.system.widths), np.ones_like(qd)]
    full = [robot.regressor(q, qd, qdd), *(values[:, :, None] * eye for values in drives)]
    names = [
        *robot.parameter_names,
        *(f"{s}{k + 1}" for s in ("Ia", "Fv", "Fc", "Fo") for k in range(robot.dof)),
    ]
    Y = np.concatenate(full, axis=2)
    kept = [names.index(name) for name in arm.system.base.kept]
    return Y[:, :, kept].reshape(-1, len(kept)), samples.tau.ravel()
