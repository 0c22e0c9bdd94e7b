"""What is known of bodies beforehand: masses, centres of mass, and shapes that contain them.

Mass at points r has integral (r, 1) Q (r, 1)' dm = trace(Q P) with P the pseudo-inertia. So whatever is not
negative everywhere inside a shape gives a linear constraint on a body that the shape contains:

    ellipsoid   1 - (r - c)' W (r - c) >= 0             (with P >= 0, also sufficient: [Wensing2018])
    box         (x - lower) (upper - x) >= 0            for each of three axes

Both imply that the centre of mass lies inside.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import ArgumentError, choices, quote
from dynid.robot import Robot
from dynid.spatial import Array, Frame, pseudo_inertia

_PSEUDO = pseudo_inertia(np.eye(10))


@dataclass(frozen=True, eq=False)
class Box:
    """A box with the axes of `frame`, between the corners `lower` and `upper` (3,) in it, metres."""

    lower: ArrayLike
    upper: ArrayLike
    frame: Frame = field(default_factory=Frame)  # in the link

    @property
    def forms(self) -> Array:
        """Q of all constraints, (3, 4, 4)."""
        lower, upper = np.asarray(self.lower, np.float64), np.asarray(self.upper, np.float64)
        if lower.shape != (3,) or upper.shape != (3,) or not (lower < upper).all():
            raise ArgumentError(f"a box needs corners with lower < upper, not {lower} and {upper}")
        Q = np.zeros((3, 4, 4))
        for k in range(3):
            above, below = np.eye(4)[k], -np.eye(4)[k]
            above[3], below[3] = -lower[k], upper[k]
            Q[k] = 0.5 * (np.outer(above, below) + np.outer(below, above))
        return _placed(Q, self.frame)


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """An ellipsoid around the origin of `frame` with half axes (3,) along its axes, metres."""

    half_axes: ArrayLike
    frame: Frame = field(default_factory=Frame)  # in the link

    @property
    def forms(self) -> Array:
        """Q of the constraint, (1, 4, 4)."""
        half = np.asarray(self.half_axes, np.float64)
        if half.shape != (3,) or not (half > 0.0).all():
            raise ArgumentError(f"an ellipsoid needs three positive half axes, not {half}")
        return _placed(np.diag([*(-1.0 / half**2), 1.0])[None], self.frame)


def _placed(Q: Array, frame: Frame) -> Array:
    """Forms in the frame of a shape as forms in the link."""
    inverse = frame.inverse()
    H = np.eye(4)
    H[:3, :3], H[:3, 3] = inverse.rotation, inverse.translation
    return H.T @ Q @ H


@dataclass(frozen=True, eq=False, kw_only=True)
class LinkBounds:
    """What is known of one link; shapes contain all of its mass."""

    mass: tuple[float, float] = (0.0, math.inf)  # kg
    com: tuple[ArrayLike, ArrayLike] | None = None  # corners (3,) of a box, in the link frame
    shapes: Sequence[Box | Ellipsoid] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Bounds:
    """What is known of a robot: some of its links by name, and its moving mass in all."""

    links: Mapping[str, LinkBounds] = field(default_factory=dict[str, LinkBounds])
    total_mass: tuple[float, float] = (0.0, math.inf)


def bound_rows(robot: Robot, bounds: Bounds | None) -> tuple[Array, Array]:
    """G (k, 10 L) and h (k,) with G @ parameters >= h."""
    width = 10 * len(robot.links)
    rows: list[Array] = []
    least: list[float] = []

    def add(row: Array, value: float) -> None:
        rows.append(row)
        least.append(value)

    if bounds is not None:
        masses = np.zeros(width)
        masses[9::10] = 1.0
        for sign, value in _mass_bounds("the total mass", bounds.total_mass):
            add(sign * masses, sign * value)
        names = [link.name for link in robot.links]
        for name, known in bounds.links.items():
            if name not in names:
                raise ArgumentError(f"bounds: link {choices(name, names)}")
            block = slice(10 * names.index(name), 10 * names.index(name) + 10)
            for sign, value in _mass_bounds(f"the mass of link {quote(name)}", known.mass):
                row = np.zeros(width)
                row[block.stop - 1] = sign
                add(row, sign * value)
            for Q in _forms(name, known):
                row = np.zeros(width)
                row[block] = np.einsum("ab,kba->k", Q, _PSEUDO)
                add(row, 0.0)
    return np.array(rows).reshape(len(rows), width), np.array(least)


def _mass_bounds(what: str, bounds: tuple[float, float]) -> list[tuple[float, float]]:
    """(sign, value) of the constraints sign mass >= sign value that say something."""
    lower, upper = bounds
    if not (0.0 <= lower <= upper and upper > 0.0):
        raise ArgumentError(f"{what}: bounds {lower:g} and {upper:g} kg; valid is 0 <= lower <= upper")
    found = [(1.0, lower)] if lower > 0.0 else []
    return [*found, (-1.0, upper)] if math.isfinite(upper) else found


def _forms(name: str, known: LinkBounds) -> list[Array]:
    forms = [Q for shape in known.shapes for Q in shape.forms]
    if known.com is None:
        return forms
    lower, upper = (np.asarray(corner, np.float64) for corner in known.com)
    if lower.shape != (3,) or upper.shape != (3,) or not (lower <= upper).all():
        raise ArgumentError(
            f"link {quote(name)}: the box of its centre of mass needs corners with lower <= upper, "
            f"not {lower} and {upper}"
        )
    for sign, corner in ((1.0, lower), (-1.0, upper)):
        for k in range(3):
            Q = np.zeros((4, 4))
            Q[k, 3] = Q[3, k] = 0.5 * sign
            Q[3, 3] = -sign * corner[k]
            forms.append(Q)
    return forms
