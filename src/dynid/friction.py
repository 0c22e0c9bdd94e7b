"""What a drive adds to the efforts of the rigid bodies: friction and the inertia of its motor.

Friction acts on the joint or, where the robot says so, on the motor. With qd = T qd_motor, efforts that act
on the motors reach the joints through T^-T, so with v = qd and R = 1 on the joint side, v = R qd and
R = T^-1 on the motor side,

    friction = R' (Fv v + Fc sign(v) + Fo)        sign(0) = 0
    motors   = T^-T diag(Ia) T^-1 qdd

A `width` above zero puts tanh(v / width) in the place of sign(v). Arrays of one sample are (n,), of N samples
(N, n).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import ArgumentError, RobotError
from dynid.robot import Joint, Robot, Side
from dynid.spatial import Array, frozen


@dataclass(frozen=True, eq=False, kw_only=True)
class Friction:
    """Viscous, Coulomb and offset constants of n drives, (n,) each, and where they act."""

    viscous: Array
    coulomb: Array
    offset: Array
    side: Side = "joint"
    transmission: Array | None = None  # (n, n), qd_joint = transmission @ qd_motor; None is the identity
    width: float = 0.0  # rad/s or m/s on the side where friction acts; 0 is the sign itself

    @cached_property
    def rates(self) -> Array:
        """R with v = R qd the velocities that rub, (n, n)."""
        return motor_rates(self.transmission if self.side == "motor" else None, len(self.viscous))

    @property
    def names(self) -> tuple[str, ...]:
        """The constants' names in the order of `columns`, (3n,)."""
        return tuple(f"{letter}{k + 1}" for letter in ("Fv", "Fc", "Fo") for k in range(len(self.viscous)))

    def efforts(self, qd: ArrayLike) -> Array:
        """Efforts on the joints that overcome friction, (n,) or (N, n)."""
        v = np.asarray(qd, dtype=np.float64) @ self.rates.T
        return (self.viscous * v + self.coulomb * direction(v, self.width) + self.offset) @ self.rates

    def columns(self, qd: ArrayLike) -> Array:
        """Efforts per unit of each constant, (n, 3n) or (N, n, 3n): columns @ constants = efforts."""
        v = np.asarray(qd, dtype=np.float64) @ self.rates.T
        terms = (v, direction(v, self.width), np.ones_like(v))
        return np.concatenate([_on_joints(term, self.rates) for term in terms], axis=-1)

    def chord(self, qd: ArrayLike) -> Array:
        """D(qd) with efforts = D qd + efforts at rest, (n, n) or (N, n, n); Coulomb needs a width here."""
        v = np.abs(np.asarray(qd, dtype=np.float64) @ self.rates.T)
        v = np.maximum(v, 1e-6 * self.width)  # below, tanh(v / width) / v has reached 1 / width
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = self.viscous + np.where(v > 0.0, self.coulomb * direction(v, self.width) / v, 0.0)
        return _on_joints(slope, self.rates) @ self.rates


def direction(v: ArrayLike, width: float = 0.0) -> Array:
    """The sign of v, any shape, 0 at 0; tanh(v / width) if the width is not zero."""
    v = np.asarray(v, dtype=np.float64)
    return np.tanh(v / width) if width > 0.0 else np.sign(v)


def friction_of(robot: Robot, width: float = 0.0) -> Friction:
    """The friction a robot's file gives; where it gives none, there is none."""
    return Friction(
        viscous=_constants(robot, lambda joint: joint.viscous),
        coulomb=_constants(robot, lambda joint: joint.coulomb),
        offset=_constants(robot, lambda joint: joint.offset),
        side=robot.friction_side,
        transmission=robot.transmission,
        width=width,
    )


def armature_of(robot: Robot) -> Array:
    """Motor inertias Ia, (n,); zero where the file gives none."""
    return _constants(robot, lambda joint: joint.armature)


def armature_matrix(armature: ArrayLike, transmission: Array | None = None) -> Array:
    """T^-T diag(Ia) T^-1: what motors add to the inertia matrix of the joints, (n, n)."""
    Ia = np.asarray(armature, dtype=np.float64)
    R = motor_rates(transmission, len(Ia))
    return R.T @ (Ia[:, None] * R)


def armature_columns(qdd: ArrayLike, transmission: Array | None = None) -> Array:
    """Efforts on the joints per unit of Ia1, Ia2, ..., (n, n) or (N, n, n)."""
    acceleration = np.asarray(qdd, dtype=np.float64)
    R = motor_rates(transmission, acceleration.shape[-1])
    return _on_joints(acceleration @ R.T, R)


def motor_rates(transmission: Array | None, count: int) -> Array:
    """T^-1, (count, count): motor speeds per joint speed."""
    if transmission is None:
        return frozen(np.eye(count))
    if transmission.shape != (count, count):
        raise ArgumentError(f"the transmission has shape {transmission.shape}; needed is {(count, count)}")
    try:
        return frozen(np.linalg.inv(transmission))
    except np.linalg.LinAlgError:
        raise RobotError("the transmission matrix is singular; it must be invertible") from None


def _on_joints(term: Array, rates: Array) -> Array:
    """Entry [..., j, k]: what drive k's `term`, (..., n), does to joint j."""
    return term[..., None, :] * rates.T


def _constants(robot: Robot, of: Callable[[Joint], float]) -> Array:
    """A constant of every free joint, (n,), with zero for what the file does not give."""
    return frozen(np.nan_to_num([of(robot.joints[k]) for k in robot.free], nan=0.0))
