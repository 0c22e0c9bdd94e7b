"""The parameters a model may depend on, and which of them had better stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.base.geometry import Geometry
from dynid.base.rational import Number
from dynid.base.structure import Arithmetic, Motion
from dynid.robot import Robot
from dynid.spatial import PARAMETER_LETTERS

LENGTH_POWERS = (2, 2, 2, 2, 2, 2, 1, 1, 1, 0)  # of the ten parameters' units

# Of a link that turns about its own z axis, YY, MZ and M can be moved to the link before ([GK1990]);
# the same for the x and y axes. A slide hands on the whole inertia tensor.
_REGROUPED_ABOUT = (("ZZ", "MX", "M"), ("XX", "MY", "M"), ("YY", "MZ", "M"))
_TENSOR = PARAMETER_LETTERS[:6]
_FIRST_MOMENTS = PARAMETER_LETTERS[6:9]


@dataclass(frozen=True)
class Columns:
    """Ten columns per link, then motor inertia, viscous, Coulomb and offset per free joint if asked for."""

    links: int
    dof: int
    armature: bool = False
    friction: bool = False
    offset: bool = False

    @property
    def letters(self) -> tuple[str, ...]:
        """The kinds of drive columns, in order."""
        friction = ("Fv", "Fc") if self.friction else ()
        return (*(("Ia",) if self.armature else ()), *friction, *(("Fo",) if self.offset else ()))

    @property
    def names(self) -> tuple[str, ...]:
        links = (f"{letter}{j + 1}" for j in range(self.links) for letter in PARAMETER_LETTERS)
        drives = (f"{letter}{j + 1}" for letter in self.letters for j in range(self.dof))
        return (*links, *drives)

    def __len__(self) -> int:
        return 10 * self.links + len(self.letters) * self.dof

    def of_drive(self, letter: str) -> range | None:
        """The columns of one kind of drive parameter, one per free joint, if there are any."""
        if letter not in self.letters:
            return None
        first = 10 * self.links + self.letters.index(letter) * self.dof
        return range(first, first + self.dof)


def units(robot: Robot, geometry: Geometry, columns: Columns) -> list[Number | float]:
    """By which each column's parameter in SI is multiplied to have it in the geometry's units."""
    length, acceleration = geometry.length, geometry.acceleration
    powers = [0 if robot.joints[j].prismatic else 1 for j in robot.free]
    by_drive = {
        "Ia": [1 / length ** (2 * power) for power in powers],
        "Fv": [1 for _ in powers],
        "Fc": [1 for _ in powers],
        "Fo": [1 / (acceleration * length**power) for power in powers],
    }
    links = [1 / length**power for power in LENGTH_POWERS] * columns.links
    return links + [scale for letter in columns.letters for scale in by_drive[letter]]


def turning(motion: Motion, arithmetic: Arithmetic) -> np.ndarray:
    """The directions about which a link can turn, in its own frame, as independent rows (k, 3)."""
    angular = [velocity[None, :3] for velocity in motion.still.values()]
    rows = np.concatenate([motion.swept[:, :3], *angular])
    return np.asarray(arithmetic.span(rows), dtype=np.float64)


def preference(
    geometry: Geometry, moves: Sequence[Motion], columns: Columns, arithmetic: Arithmetic
) -> list[int]:
    """All columns, those that had better stay first: the choice of [GK1990] where its rules decide.

    Links are taken from the last to the first, so that parameters stay distal; what can move on to
    the link before comes after everything else. `moves` are those of the joints alone.
    """
    first: list[int] = []
    last: list[int] = []
    for link in reversed(range(columns.links)):
        movable = regroupable(geometry, moves, link, arithmetic)
        for k, letter in enumerate(PARAMETER_LETTERS):
            (last if letter in movable else first).append(10 * link + k)
    return [*first, *range(10 * columns.links, len(columns)), *last]


def regroupable(
    geometry: Geometry, moves: Sequence[Motion], link: int, arithmetic: Arithmetic
) -> tuple[str, ...]:
    """The parameters of a link that are regrouped with the link before, rather than kept."""
    step = geometry.steps[link]
    if not step.prismatic:
        return _REGROUPED_ABOUT[int(np.argmax(np.abs(step.axis[:3].astype(float))))]
    axis = step.axis[3:].astype(float)
    directions = turning(moves[link], arithmetic)
    turns_about_slide = len(directions) == 1 and not np.any(
        np.abs(np.cross(directions[0], axis)) > 1e-9 * np.linalg.norm(directions[0])
    )
    return (*_TENSOR, *_FIRST_MOMENTS) if turns_about_slide else _TENSOR
