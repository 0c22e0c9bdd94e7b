"""The columns of a rigid robot with simple friction, filtered like the efforts, and least squares of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynid.base.result import BaseParameters
from dynid.dynamics import dynamics_of
from dynid.log.samples import Samples
from dynid.robot import Robot
from dynid.spatial import Array

COULOMB_SPEED = 0.05  # rad/s or m/s; the step of Coulomb friction is drawn out to tanh(qd / this)
DRIVE_COLUMNS = 4
RIDGE = 1e-3  # of the length of a column; holds what the motion does not tell near zero


@dataclass(frozen=True, eq=False)
class EffortModel:
    """M rows of tau_j = rigid_j beta + drive_j d_j per joint, all through the samples' parallel filter."""

    base: BaseParameters
    rigid: Array  # (M, n, count)
    drive: Array  # (M, n, 4): motor inertia, viscous, Coulomb, offset of the joint's own drive
    tau: Array  # (M, n)
    weights: Array  # (M, n)
    time: Array  # (M,)

    def columns(self, joint: int) -> Array:
        """Everything that acts on one joint, (M, count + 4): the rigid columns, then those of its drive."""
        return np.concatenate([self.rigid[:, joint], self.drive[:, joint]], axis=1)


def effort_model(samples: Samples, robot: Robot, base: BaseParameters) -> EffortModel:
    """The model's columns at the rows of the samples; `base` must be of the method "exact"."""
    rigid = samples.filtered(_base_regressor(samples, robot, base))
    return EffortModel(
        base,
        rigid,
        samples.filtered(drive_columns(samples.qd, samples.qdd)),
        samples.filtered(samples.tau),
        samples.weights,
        samples.time[samples.rows],
    )


def drive_columns(qd: Array, qdd: Array) -> Array:
    """Motor inertia, viscous, Coulomb and offset columns of every joint, (N, n, 4)."""
    return np.stack([qdd, qd, np.tanh(qd / COULOMB_SPEED), np.ones_like(qd)], axis=-1)


def _base_regressor(samples: Samples, robot: Robot, base: BaseParameters) -> Array:
    """(N, n, count), from the kernel's tiles: only the columns that carry base parameters are kept."""
    number = {robot.parameter_names.index(name): k for k, name in enumerate(base.kept)}
    regressor = np.zeros((len(samples.q), robot.dof, base.count))
    for tile in dynamics_of(robot).regressor_tiles(samples.q, samples.qd, samples.qdd):
        for values, row, column in zip(tile.values, tile.rows, tile.columns, strict=True):
            if column in number:
                regressor[tile.first : tile.last, row, number[column]] = values
    return regressor


def factor(columns: Array, tau: Array) -> Array:
    """The triangular factor of [columns, tau]: all that least squares needs of these rows."""
    return triangle(np.column_stack([columns, tau]))


def triangle(joined: Array) -> Array:
    """R of a QR decomposition of a matrix (M, k)."""
    R: Any = np.linalg.qr(joined, mode="r")
    return np.asarray(R, dtype=np.float64)


def pooled_fit(factors: Sequence[Array], sigma: Array) -> tuple[Array, Array]:
    """Base parameters (count,) shared by all joints and drive parameters (n, 4), from one factor per joint.

    `sigma` (n,) are the standard deviations by which the joints' equations are weighted. Where columns depend
    on each other, as a motor's inertia and its link's may, the scaled solution is the smallest.
    """
    n, count = len(factors), factors[0].shape[1] - 1 - DRIVE_COLUMNS
    solution = least_squares(stacked(factors, sigma))
    return solution[:count], solution[count:].reshape(n, DRIVE_COLUMNS)


def stacked(factors: Sequence[Array], sigma: Array) -> Array:
    """Rows [rigid, all drives, tau] (R, count + 4 n + 1) of one factor per joint, divided by `sigma` (n,)."""
    n, count = len(factors), factors[0].shape[1] - 1 - DRIVE_COLUMNS
    blocks: list[Array] = []
    for joint, R in enumerate(factors):
        block = np.zeros((len(R), count + n * DRIVE_COLUMNS + 1))
        block[:, :count] = R[:, :count]
        block[:, count + joint * DRIVE_COLUMNS :][:, :DRIVE_COLUMNS] = R[:, count:-1]
        block[:, -1] = R[:, -1]
        blocks.append(block / sigma[joint])
    return np.concatenate(blocks)


def least_squares(joined: Array) -> Array:
    """Coefficients (k,) for rows [columns, right side] (M, k + 1), with a ridge on columns of length one."""
    scale = np.linalg.norm(joined[:, :-1], axis=0)
    scale[scale == 0.0] = 1.0
    columns = np.concatenate([joined[:, :-1] / scale, RIDGE * np.eye(len(scale))])
    right = np.concatenate([joined[:, -1], np.zeros(len(scale))])
    return np.asarray(np.linalg.lstsq(columns, right, rcond=None)[0] / scale, dtype=np.float64)
