"""What a drive adds to the efforts of the rigid bodies: friction and the inertia of its motor.

Friction acts on the joint or, where the robot says so, on the motor. With qd = T qd_motor, efforts that act
on the motors reach the joints through T^-T, so with R = 1 on the joint side and R = T^-1 on the motor side,

    v = R qd      friction = R' (Fv v + Fc s(v) + Fo + ...)      motors = T^-T diag(Ia) T^-1 qdd

where s(v) is the sign of v, 0 at 0, or tanh(v / width) where a width is given; of samples that come in the
order of time it may be the sense of sliding of `presliding` instead. Besides viscous (Fv), Coulomb (Fc) and
offset (Fo) there are `FURTHER` terms. Arrays of one sample are (n,), of N samples (N, n).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import ArgumentError, RobotError, choices
from dynid.presliding import sliding_sense
from dynid.robot import Joint, Robot, Side
from dynid.spatial import Array, frozen

SIMPLE = ("Fv", "Fc", "Fo")
FURTHER = {
    "Fa": "viscous, one way more than the other: |v|",
    "Fs": "Stribeck, Coulomb friction that rises towards rest: s(v) exp(-(v / stribeck_speed)^2)",
    "Fr": "root, friction that grows ever more slowly: s(v) sqrt|v|",
    "Fl": "load-dependent: s(v) |rigid effort on the drive|",
}
STRIBECK_SPEED = 0.1  # rad/s or m/s, where nobody has found a better one
NEAR_REST = 3.0  # widths of Coulomb friction: what is slower has not left its step


@dataclass(frozen=True, eq=False, kw_only=True)
class Friction:
    """Constants of n drives, (n,) each, the shape of the terms that have one, and where they act."""

    viscous: Array
    coulomb: Array
    offset: Array
    further: Mapping[str, Array] = field(default_factory=lambda: MappingProxyType({}))  # by `FURTHER` letters
    side: Side = "joint"
    transmission: Array | None = None  # (n, n), qd_joint = transmission @ qd_motor; None is the identity
    width: float | Array = 0.0  # rad/s or m/s on the side where friction acts, of all or (n,); 0: the sign
    stribeck_speed: float | Array = STRIBECK_SPEED
    presliding: float | Array = 0.0  # rad or m over which it turns after a reversal; 0: it has no memory

    def __post_init__(self) -> None:
        for letter in self.further:
            if letter not in FURTHER:
                raise ArgumentError(f"friction term {choices(letter, FURTHER)}")

    @property
    def dof(self) -> int:
        return len(self.viscous)

    @cached_property
    def rates(self) -> Array:
        """R with v = R qd the velocities that rub, (n, n)."""
        return motor_rates(self.transmission if self.side == "motor" else None, self.dof)

    @property
    def constants(self) -> dict[str, Array]:
        """All constants by their letters, (n,) each."""
        return {"Fv": self.viscous, "Fc": self.coulomb, "Fo": self.offset, **self.further}

    @cached_property
    def _present(self) -> tuple[tuple[str, Array], ...]:
        """Constants that some drive has."""
        return tuple((letter, constant) for letter, constant in self.constants.items() if constant.any())

    @property
    def names(self) -> tuple[str, ...]:
        """The constants' names in the order of `columns`, (terms n,)."""
        return tuple(f"{letter}{k + 1}" for letter in self.constants for k in range(self.dof))

    def efforts(
        self, qd: ArrayLike, load: ArrayLike | None = None, sliding: ArrayLike | None = None
    ) -> Array:
        """Efforts on the joints that overcome friction, (n,) or (N, n).

        `load` as for `columns`; `sliding`, in place of s(v), as `sliding` finds it.
        """
        return self._drag(np.asarray(qd, dtype=np.float64) @ self.rates.T, load, sliding) @ self.rates

    def sliding(self, q: ArrayLike, qd: ArrayLike) -> Array | None:
        """The sense in which each drive slides, (N, n) in -1 .. 1, of samples (N, n) in the order of time.

        None where friction has no memory.
        """
        if not np.any(self.presliding):
            return None
        way, v = (np.asarray(x, dtype=np.float64) @ self.rates.T for x in (q, qd))
        reach = np.broadcast_to(np.asarray(self.presliding, dtype=np.float64), (self.dof,))
        return sliding_sense(way, direction(v[0], self.width), reach)

    def _drag(self, v: Array, load: ArrayLike | None = None, sliding: ArrayLike | None = None) -> Array:
        """The same on the drives, which move at v."""
        total = np.zeros_like(v)
        s = direction(v, self.width) if sliding is None else np.asarray(sliding, dtype=np.float64)
        for letter, constant in self._present:
            total += constant * self._term(letter, v, s, load)
        return total

    def columns(
        self, qd: ArrayLike, letters: Sequence[str] | None = None, load: ArrayLike | None = None
    ) -> Array:
        """Efforts per unit of each constant, (n, terms n) or (N, n, terms n): columns @ constants = efforts.

        `letters` chooses terms, by default those of `constants`; `load` are the rigid bodies' efforts, of
        which Fl takes its share.
        """
        v = np.asarray(qd, dtype=np.float64) @ self.rates.T
        s = direction(v, self.width)
        terms = (self._term(letter, v, s, load) for letter in letters or self.constants)
        return np.concatenate([_on_joints(term, self.rates) for term in terms], axis=-1)

    def damping(self, qd: ArrayLike) -> Array:
        """D(qd) by which an integrator takes the efforts to change, D dqd; (n, n) or (N, n, n).

        It is the slope of drives that slide. Of those near rest it is the chord from rest to where they are,
        which is steeper: so a drive that friction stops does stop, and is not thrown across. Coulomb friction
        needs a width here; load-dependent friction is left out.
        """
        v = np.asarray(qd, dtype=np.float64) @ self.rates.T
        slides = np.abs(v) > NEAR_REST * np.asarray(self.width)
        nearby = np.asarray(self.width) / 8.0
        behind = np.where(slides, v - nearby, 0.0)
        moving = np.where(np.abs(v) > 1e-5 * nearby, v, 1e-5 * nearby)
        ahead = np.where(slides, v + nearby, moving)
        unloaded = replace(self, further={k: x for k, x in self.further.items() if k != "Fl"})
        drag = unloaded._drag(ahead) - unloaded._drag(behind)
        return _on_joints(drag / (ahead - behind), self.rates) @ self.rates

    def _term(self, letter: str, v: Array, s: Array, load: ArrayLike | None) -> Array:
        """What one unit of a constant does to its drive at velocity v."""
        on_drive = None
        if letter == "Fl":
            if load is None:
                raise ArgumentError("load-dependent friction (Fl) needs the rigid bodies' efforts: load=")
            on_drive = np.asarray(load, dtype=np.float64) @ np.linalg.inv(self.rates)
        return term(letter, v, s, self.stribeck_speed, on_drive)


def term(
    letter: str,
    v: Array,
    s: Array,
    stribeck_speed: float | Array = STRIBECK_SPEED,
    load: Array | None = None,
) -> Array:
    """What one unit of a friction constant does to its drive at velocity v under the effort `load`, as v.

    s is the `direction` of v, or the sense of sliding.
    """
    match letter:
        case "Fv":
            return v
        case "Fc":
            return s
        case "Fo":
            return np.ones_like(v)
        case "Fa":
            return np.abs(v)
        case "Fs":
            return s * np.exp(-((v / stribeck_speed) ** 2))
        case "Fr":
            return s * np.sqrt(np.abs(v))
        case "Fl" if load is not None:
            return s * np.abs(load)
        case _:
            raise ArgumentError(f"friction term {choices(letter, (*SIMPLE, *FURTHER))}")


def direction(v: ArrayLike, width: float | Array = 0.0) -> Array:
    """The sign of v, any shape, 0 at 0; tanh(v / width) where the width is not zero."""
    v = np.asarray(v, dtype=np.float64)
    if np.ndim(width) == 0:
        return np.tanh(v / width) if width > 0.0 else np.sign(v)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.asarray(width) > 0.0, np.tanh(v / width), np.sign(v))


def friction_of(robot: Robot, width: float | Array = 0.0) -> Friction:
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
