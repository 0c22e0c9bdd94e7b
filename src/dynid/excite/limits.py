"""The limits a motion has to keep, as arrays over the robot's free joints.

They come from the robot's file. Where it gives none, positions must be given: nobody can guess them. A joint
that turns without end gets one turn; velocities and accelerations have cautious defaults, and every default
is said in a note.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dynid.errors import ArgumentError, quote
from dynid.robot import Limits, Robot
from dynid.spatial import Array, frozen

T = TypeVar("T")

# Where a file has no velocity: of manual operation, 0.25 m/s (ISO 10218-1), and what moves a hand some 0.5 m
# from the axis twice as fast. Where it has no acceleration: full speed after a quarter of a second.
SLIDE_SPEED, TURN_SPEED = 0.25, 1.0
RISE_TIME = 0.25


@dataclass(frozen=True, eq=False, kw_only=True)
class Bounds:
    """Bounds of n joints, (n,) each; jerk and effort are infinite where they are not bounded."""

    names: tuple[str, ...]
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    jerk: Array
    effort: Array
    notes: tuple[str, ...] = ()  # what was assumed

    @property
    def middle(self) -> Array:
        return 0.5 * (self.lower + self.upper)

    @property
    def half(self) -> Array:
        return 0.5 * (self.upper - self.lower)

    @property
    def rates(self) -> tuple[Array, Array, Array]:
        """Largest velocity, acceleration and jerk."""
        return self.velocity, self.acceleration, self.jerk

    def shrunken(self, margin: float) -> Bounds:
        """The bounds with this share of each range given away."""
        share = 1.0 - margin
        return replace(
            self,
            lower=self.middle - share * self.half,
            upper=self.middle + share * self.half,
            velocity=share * self.velocity,
            acceleration=share * self.acceleration,
            jerk=share * self.jerk,
            effort=share * self.effort,
        )


def bounds_of(
    robot: Robot,
    *,
    position: Sequence[tuple[float, float]] | None = None,
    velocity: Sequence[float] | None = None,
    acceleration: Sequence[float] | None = None,
    jerk: Sequence[float] | None = None,
    effort: Sequence[float] | None = None,
) -> Bounds:
    """The robot's bounds; what is given here, one for all joints or one each, replaces the file's.

    Joints that follow another one have limits, too, which narrow those of the joint they follow.
    """
    joints = [robot.joints[j] for j in robot.free]
    limits = [joint.limits for joint in joints]
    notes: list[str] = []
    lower, upper = _positions(robot, _one_each(robot, "position", position), notes)
    lower, upper = _within_followers(robot, lower, upper)
    _check_room(robot, lower, upper)
    slides = np.array([joint.prismatic for joint in joints])
    cautious = np.where(slides, SLIDE_SPEED, TURN_SPEED)
    v = _rates(robot, "velocity", velocity, limits, lambda limit: limit.velocity)
    v = _slower(robot, v, lambda limit: limit.velocity)
    v = _assumed(robot, "velocity", v, cautious, notes)
    a = _rates(robot, "acceleration", acceleration, limits, lambda limit: limit.acceleration)
    a = _slower(robot, a, lambda limit: limit.acceleration)
    a = _assumed(robot, "acceleration", a, v / RISE_TIME, notes)
    return Bounds(
        names=robot.joint_names,
        lower=frozen(lower),
        upper=frozen(upper),
        velocity=frozen(v),
        acceleration=frozen(a),
        jerk=frozen(_rates(robot, "jerk", jerk, limits, lambda limit: np.inf)),
        effort=frozen(_efforts(robot, effort, limits, notes)),
        notes=tuple(notes),
    )


def _positions(
    robot: Robot, given: Sequence[tuple[float, float]] | None, notes: list[str]
) -> tuple[Array, Array]:
    """Lower and upper positions, (n,) each, or an error that names every joint without."""
    joints = [robot.joints[j] for j in robot.free]
    pairs = given or [(joint.limits.lower, joint.limits.upper) for joint in joints]
    lower, upper = (np.array(ends, dtype=np.float64) for ends in zip(*pairs, strict=True))
    endless = np.array([joint.kind == "continuous" for joint in joints])
    endless &= ~(np.isfinite(lower) & np.isfinite(upper))
    if endless.any():
        notes.append(f"{_listed(robot, endless)} turns without end: positions within +-pi")
        lower, upper = np.where(endless, -np.pi, lower), np.where(endless, np.pi, upper)
    missing = ~(np.isfinite(lower) & np.isfinite(upper))
    if missing.any():
        raise ArgumentError(
            f"{robot.name}: no position limits for {_listed(robot, missing)}; write them to the robot's file "
            "(TOML: limits = { position = [-1.5, 1.5], velocity = 1.0 }; URDF: <limit lower= upper=>) "
            "or give --position-limits LOWER:UPPER, for all joints or one each"
        )
    return lower, upper


def _within_followers(robot: Robot, lower: Array, upper: Array) -> tuple[Array, Array]:
    """The positions at which joints that follow keep their own limits, too, (n,) each."""
    lower, upper = lower.copy(), upper.copy()
    for joint in robot.joints:
        mimic = joint.mimic
        if mimic is not None and mimic.multiplier != 0.0:
            k = robot.free.index(mimic.joint)
            ends = [
                (end - mimic.offset) / mimic.multiplier for end in (joint.limits.lower, joint.limits.upper)
            ]
            lower[k], upper[k] = max(lower[k], min(ends)), min(upper[k], max(ends))
    return lower, upper


def _slower(robot: Robot, found: Array, of: Callable[[Limits], float]) -> Array:
    """Bounds at which joints that follow keep their own, too, (n,)."""
    found = found.copy()
    for joint in robot.joints:
        mimic = joint.mimic
        if mimic is not None and mimic.multiplier != 0.0 and of(joint.limits) > 0.0:
            k = robot.free.index(mimic.joint)
            found[k] = min(found[k], of(joint.limits) / abs(mimic.multiplier))
    return found


def _check_room(robot: Robot, lower: Array, upper: Array) -> None:
    stuck = ~(lower < upper)
    if stuck.any():
        raise ArgumentError(
            f"{robot.name}: {_listed(robot, stuck)} cannot move: the lower position limit is not below "
            "the upper one. --joints leaves joints out"
        )


def _rates(
    robot: Robot,
    what: str,
    given: Sequence[float] | None,
    limits: Sequence[Limits],
    of: Callable[[Limits], float],
) -> Array:
    """Bounds of one kind, (n,), that must be positive."""
    found = np.array(_one_each(robot, what, given) or [of(limit) for limit in limits], dtype=np.float64)
    bad = ~(found > 0.0)
    if bad.any():
        raise ArgumentError(
            f"{robot.name}: the {what} limit of {_listed(robot, bad)} must be positive; "
            f"--{what}-limits replaces those of the robot's file"
        )
    return found


def _efforts(
    robot: Robot, given: Sequence[float] | None, limits: Sequence[Limits], notes: list[str]
) -> Array:
    """Effort bounds, (n,); some exporters write 0 for what they do not know."""
    unknown = np.array([not limit.effort > 0.0 for limit in limits])
    if given is None and unknown.any():
        notes.append(f"the effort limit of {_listed(robot, unknown)} is 0 in the file, taken for unknown")
    return _rates(
        robot, "effort", given, limits, lambda limit: limit.effort if limit.effort > 0.0 else np.inf
    )


def _one_each(robot: Robot, what: str, given: Sequence[T] | None) -> list[T] | None:
    """One value per joint, the only one for all of them."""
    if given is None:
        return None
    if len(given) not in (1, robot.dof):
        raise ArgumentError(
            f"{len(given)} {what} limits are given; {robot.name} needs 1, or {robot.dof}, one per joint"
        )
    return list(given) * (robot.dof if len(given) == 1 else 1)


def _assumed(robot: Robot, what: str, found: Array, default: Array, notes: list[str]) -> Array:
    """The bounds with a default where there is none, and a note about it."""
    missing = ~np.isfinite(found)
    if missing.any():
        values = ", ".join(f"{value:g}" for value in np.unique(default[missing]))
        notes.append(
            f"no {what} limit for {_listed(robot, missing)}: {values} assumed; --{what}-limits says otherwise"
        )
    return np.where(missing, default, found)


def _listed(robot: Robot, which: NDArray[np.bool_]) -> str:
    names = [quote(name, 40) for name, chosen in zip(robot.joint_names, which, strict=True) if chosen]
    return ", ".join(names)
