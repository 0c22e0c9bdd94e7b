"""Measured efforts beside what a rigid robot with friction can explain: what checks of efforts look at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.log.effort_model import EffortModel
from dynid.log.samples import Samples
from dynid.robot import Robot
from dynid.signals.clock import Flags
from dynid.spatial import Array

LEAST_ROWS, ROWS_PER_COLUMN = 60, 4


@dataclass(frozen=True, eq=False)
class Efforts:
    """Efforts, the model's columns, and the efforts that the robot's own parameters predict."""

    model: EffortModel
    predicted: Array | None  # (M, n), without friction; None if the robot's parameters are not known
    joints: tuple[int, ...]  # that move and have an effort that changes
    names: tuple[str, ...]
    rotors_known: Flags  # (n,) whether the prediction has the motors' inertia

    def rows(self, joint: int) -> NDArray[np.intp]:
        """The rows in which the joint's equation counts."""
        return np.flatnonzero(self.model.weights[:, joint] > 0)


def efforts_of(samples: Samples, model: EffortModel, robot: Robot) -> Efforts:
    """What the checks of efforts look at."""
    predicted = prediction(samples, robot) if np.isfinite(robot.parameters).all() else None
    rotors = np.array([robot.joints[j].armature for j in robot.free])
    judged = tuple(
        j
        for j in range(robot.dof)
        if np.count_nonzero(model.weights[:, j]) > LEAST_ROWS + ROWS_PER_COLUMN * model.columns(j).shape[1]
        and np.ptp(model.tau[:, j]) > 0.0
    )
    return Efforts(model, predicted, judged, robot.joint_names, np.isfinite(rotors))


def prediction(samples: Samples, robot: Robot) -> Array:
    """Efforts (M, n) by the robot's own parameters and motor inertias, where it has these; no friction."""
    rotors = np.nan_to_num(np.array([robot.joints[j].armature for j in robot.free]))
    rigid = robot.inverse_dynamics(samples.q, samples.qd, samples.qdd)
    return samples.filtered(rigid + rotors * samples.qdd)


def unexplained(efforts: Efforts) -> Array:
    """Share of the variance of effort i that the columns of joint k leave, (n, n); NaN where not judged."""
    n = len(efforts.names)
    left = np.full((n, n), np.nan)
    for k in efforts.joints:
        rows = efforts.rows(k)
        left[:, k] = unexplained_shares(efforts.model.columns(k)[rows], efforts.model.tau[rows])
    return left


def unexplained_shares(columns: Array, tau: Array) -> Array:
    """Share of the variance of each effort (M, k) that columns (M, c) leave, (k,)."""
    varying = tau - tau.mean(axis=0)
    total = np.maximum((varying**2).sum(axis=0), np.finfo(float).tiny)
    return 1.0 - ((basis(columns).T @ varying) ** 2).sum(axis=0) / total


def basis(columns: Array) -> Array:
    """An orthonormal basis of the span of columns (M, k), scaled, nearly dependent ones dropped."""
    size = np.linalg.norm(columns, axis=0)
    U, s, _ = np.linalg.svd(columns[:, size > 0] / size[size > 0], full_matrices=False)
    return np.asarray(U[:, s > 1e-6 * s[0]], dtype=np.float64)
