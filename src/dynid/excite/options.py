"""What a user may ask of an exciting trajectory; the names are the command's options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from dynid.errors import ArgumentError, choices
from dynid.excite.criteria import CRITERIA
from dynid.robot import Robot
from dynid.spatial import Array

BasisName = Literal["fourier", "spline", "points"]
BASES: tuple[BasisName, ...] = get_args(BasisName)
STARTS = {"fourier": 12, "spline": 12, "points": 60}
LEAST_POINTS = 30
MOST_ROWS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Options:
    """All options; None is a default that depends on others or on the robot."""

    basis: BasisName = "fourier"
    model: str | None = None  # None: energy for points, torque otherwise
    criterion: str = "condition"
    harmonics: int = 5  # of the Fourier basis
    pieces: int = 15  # of the splines
    period: float = 10.0  # s
    periodic: bool = False  # splines that can be repeated
    points: int | None = None  # rows of W from points; None: twice the number of parameters, 30 at least
    seed: int = 0
    starts: int | None = None
    seconds: float | None = None  # no start is begun later; None: all are
    rate_hz: float = 100.0
    scale: float | Literal["max"] = 1.0  # of the speed
    armature: bool = False
    friction: bool = False
    offset: bool = False
    noise: Sequence[float] | None = None  # standard deviation of each joint's effort
    scaling_weight: float = 0.01  # lambda_2 of the combined criterion; lambda_1 is 1
    start: Sequence[float] | None = None  # pose at the beginning
    end: Sequence[float] | None = None  # and at the end
    position_limits: Sequence[tuple[float, float]] | None = None
    velocity_limits: Sequence[float] | None = None
    acceleration_limits: Sequence[float] | None = None
    jerk_limits: Sequence[float] | None = None
    effort_limits: Sequence[float] | None = None
    floor: float | None = None  # m
    box: Sequence[float] | None = None  # x from, to, y from, to, z from, to, m
    self_collision: bool = False
    link_radius: float = 0.05  # m
    tool: Sequence[float] | None = None  # a point of the last link to which it reaches, m

    def __post_init__(self) -> None:
        if self.basis not in BASES:
            raise ArgumentError(f"basis {choices(self.basis, BASES)}")
        if self.criterion not in CRITERIA:
            raise ArgumentError(f"criterion {choices(self.criterion, CRITERIA)}")
        for name, least in (("seed", 0), ("starts", 1), ("points", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ArgumentError(f"{name} must be {least} or more, not {value}")
        for name in ("period", "rate_hz", "seconds", "scale"):
            value = getattr(self, name)
            if not (value is None or value == "max" or (np.isfinite(value) and value > 0.0)):
                raise ArgumentError(f"{name} must be a positive number, not {value}")
        if not 1.0 <= self.period * self.rate_hz <= MOST_ROWS:
            raise ArgumentError(
                f"{self.period:g} s at {self.rate_hz:g} rows per second: period times rate_hz must be "
                f"between 1 and {MOST_ROWS}"
            )
        if self.end is not None and self.start is None:
            raise ArgumentError("an end pose needs a start pose, too")

    @property
    def chosen_model(self) -> str:
        return self.model or ("energy" if self.basis == "points" else "torque")

    @property
    def chosen_starts(self) -> int:
        return self.starts or STARTS[self.basis]

    def rows(self, robot: Robot, count: int) -> int:
        """The number r of rows that points give, enough for `count` parameters."""
        r = self.points or max(LEAST_POINTS, 2 * count)
        equations = r if self.chosen_model == "energy" else robot.dof * (r + 1)
        if equations < count:
            raise ArgumentError(
                f"{r} points cannot determine {count} parameters of {robot.name}: give at least {count}, "
                f"better {2 * count} (points=, --points)"
            )
        return r

    def pose(self, which: str, robot: Robot) -> Array | None:
        """The start or end pose, (n,)."""
        given = getattr(self, which)
        if given is None:
            return None
        pose = np.array(given, dtype=np.float64)
        if pose.shape != (robot.dof,) or not np.isfinite(pose).all():
            raise ArgumentError(
                f"the {which} pose of {robot.name} needs {robot.dof} finite numbers, one per joint "
                f"({', '.join(robot.joint_names)})"
            )
        return pose
