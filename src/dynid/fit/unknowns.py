"""The unknowns of Algorithm 2: Lin's constants of composite bodies and the constants of the drives.

Each belongs to a joint: the one that carries the body, or that the drive moves. In the equation of joint j
stand only unknowns of joint j and of joints behind it, so they can be found one joint after the other, from
the tip to the base.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid.base import BaseParameters, base_parameters
from dynid.friction import SIMPLE, armature_columns, friction_of, motor_rates
from dynid.robot import Robot
from dynid.spatial import Array, frozen

DRIVES = ("Ia", *SIMPLE)
MOVING_ONLY = ("Ia", "Fv", "Fc")  # constants of a drive that act only while it moves


@dataclass(frozen=True, eq=False)
class Unknowns:
    """p unknowns of a serial robot; `base` are their values as combinations of standard parameters."""

    robot: Robot
    base: BaseParameters

    @property
    def count(self) -> int:
        return self.base.count

    @cached_property
    def names(self) -> tuple[str, ...]:
        """U6_33, k6x, m3^, kappa1_2 ..., then Ia1, Fv1 ...: an element keeps its name when others join it."""
        return tuple(name.removesuffix("R") for name in self.base.names)

    @cached_property
    def drives(self) -> tuple[tuple[str, int] | None, ...]:
        """Letter and number (from 0) of unknowns that belong to a drive alone, (p,)."""
        width = 10 * len(self.robot.links)
        found: list[tuple[str, int] | None] = []
        for row in self.base.matrix:
            name = self.base.columns[int(np.argmax(row != 0.0))]
            found.append(None if row[:width].any() else (name[:2], int(name[2:]) - 1))
        return tuple(found)

    @cached_property
    def joints(self) -> NDArray[np.intp]:
        """The joint of each unknown, (p,): of a drive the last one that it moves."""
        found: list[int] = []
        for row, drive in zip(self.base.matrix, self.drives, strict=True):
            if drive is None:
                found.append(int(np.argmax(row != 0.0)) // 10)
            else:
                found.append(int(np.flatnonzero(self.rates(drive[0])[drive[1]]).max()))
        return np.array(found, dtype=np.intp)

    def of_joint(self, joint: int, pattern: str = "") -> NDArray[np.intp]:
        """Numbers of a joint's unknowns whose names match a pattern."""
        own: list[int] = np.flatnonzero(self.joints == joint).tolist()
        return np.array([k for k in own if re.match(pattern, self.names[k])], dtype=np.intp)

    def named(self, unknowns: NDArray[np.intp]) -> tuple[str, ...]:
        """Names of unknowns by their numbers."""
        numbers: list[int] = unknowns.tolist()
        return tuple(self.names[k] for k in numbers)

    def rates(self, letter: str) -> Array:
        """Speeds of the drives per joint speed for one letter, (n, n)."""
        motors = letter == "Ia" or self.robot.friction_side == "motor"
        return motor_rates(self.robot.transmission if motors else None, self.robot.dof)

    def at_rest(self, moving: Iterable[int]) -> NDArray[np.intp]:
        """Unknowns that do not act while only the joints `moving` move: friction and motors of the others."""
        joints = list(moving)
        still: list[int] = []
        for k, drive in enumerate(self.drives):
            if drive and drive[0] in MOVING_ONLY and not self.rates(drive[0])[drive[1], joints].any():
                still.append(k)
        return np.array(still, dtype=np.intp)

    @cached_property
    def standard(self) -> Array:
        """Some standard parameters per unit of each unknown, (columns, p): inverts `base.matrix`."""
        return frozen(np.linalg.pinv(self.base.matrix))

    def efforts(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, width: float = 0.0) -> Array:
        """Efforts of all joints per unit of each unknown, (N, n, p); Coulomb friction is tanh(qd / width)."""
        robot, letters = self.robot, {name[:2] for name in self.base.columns[10 * len(self.robot.links) :]}
        columns = [robot.regressor(q, qd, qdd)]
        if "Ia" in letters:
            columns.append(armature_columns(qdd, robot.transmission))
        friction = [letter for letter in SIMPLE if letter in letters]
        if friction:
            columns.append(friction_of(robot, width).columns(qd, friction))
        return np.concatenate(columns, axis=-1) @ self.standard


def unknowns_of(robot: Robot, letters: Sequence[str] = DRIVES) -> Unknowns:
    """The unknowns of a serial robot, with these constants of its drives; others raise a RobotError."""
    friction = {"Fv", "Fc"} & set(letters)
    base = base_parameters(
        robot, method="lin", armature="Ia" in letters, friction=bool(friction), offset="Fo" in letters
    )
    return Unknowns(robot, base.without({"Fv", "Fc"} - friction))
