"""The space around a robot: a box, a floor, and its own other links, which no link may touch.

A link is a row of spheres from its joint to the joints it carries, which together cover a capsule of the
given radius. Every clearance is then a polynomial in sines and cosines, and can be differentiated and
bounded like everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import ceil, hypot

import numpy as np

from dynid.errors import ArgumentError, quote
from dynid.excite.recorded import Recorded
from dynid.mechanism import Mechanism, mechanism
from dynid.program import Expr, Scalar, cos, sin
from dynid.robot import Robot
from dynid.spatial import Array
from dynid.vectors import Vector, add, rotate, turn, vector

MOST_SPHERES = 6  # of one link
ALWAYS = 0.9  # pairs that overlap in this share of random poses are neighbours


@dataclass(frozen=True)
class Sphere:
    """A sphere fixed to a link, about a point in the frame of its body."""

    body: int  # -1 is the base
    centre: tuple[float, float, float]
    radius: float


@dataclass(frozen=True, eq=False)
class Space:
    """A robot among what it must not touch; bounds that are not there are infinite."""

    robot: Robot
    spheres: tuple[Sphere, ...]
    lower: tuple[float, float, float] = (-np.inf, -np.inf, -np.inf)
    upper: tuple[float, float, float] = (np.inf, np.inf, np.inf)
    pairs: tuple[tuple[int, int], ...] = ()  # spheres that must not meet

    @cached_property
    def _traced(self) -> tuple[Recorded, Array, tuple[str, ...]]:
        sizes: list[float] = []
        labels: list[str] = []

        def trace(q: list[Scalar]) -> list[Scalar]:
            mech = mechanism(self.robot)
            at = [position(mech, q, sphere.body, sphere.centre) for sphere in self.spheres]
            outputs: list[Scalar] = []
            for sphere, point in zip(self.spheres, at, strict=True):
                for letter, x, low, high in zip("xyz", point, self.lower, self.upper, strict=True):
                    if not isinstance(x, Expr):
                        continue  # what does not move is none of the motion's affair
                    size = high - low if np.isfinite(high - low) else 1.0
                    clearances = (x - (low + sphere.radius), (high - sphere.radius) - x)
                    for clearance, bound in zip(clearances, (low, high), strict=True):
                        if np.isfinite(bound):
                            outputs.append(clearance)
                            sizes.append(size)
                            labels.append(f"{self._name(sphere)} and {letter} = {bound:g} m")
            for i, j in self.pairs:
                reach = self.spheres[i].radius + self.spheres[j].radius
                apart = [a - b for a, b in zip(at[i], at[j], strict=True)]
                outputs.append(sum((x * x for x in apart), start=-reach * reach))
                sizes.append(reach * reach)
                labels.append(f"{self._name(self.spheres[i])} and {self._name(self.spheres[j])}")
            return outputs

        recorded = Recorded(self.robot.dof, 1, trace)
        _ = recorded.outputs
        return recorded, np.array(sizes), tuple(labels)

    def _name(self, sphere: Sphere) -> str:
        return "the base" if sphere.body < 0 else quote(self.robot.links[sphere.body].name, 40)

    @property
    def clearances(self) -> Recorded:
        """Distances to the walls in m, and differences of squared distances in m^2; negative is contact."""
        return self._traced[0]

    @property
    def sizes(self) -> Array:
        """By which each clearance is divided to be a share, (m,)."""
        return self._traced[1]

    def touching(self, q: Array) -> tuple[str, ...]:
        """What touches in a pose (n,), in words."""
        clearances = self.clearances.values([q[None]])[0]
        labels = self._traced[2]
        return tuple(dict.fromkeys(labels[k] for k in np.flatnonzero(clearances < 0.0)))


def position(mech: Mechanism, q: Sequence[Scalar], body: int, point: tuple[float, float, float]) -> Vector:
    """A point of a body, seen from the base."""
    x: Vector = point
    while body >= 0:
        of = mech.bodies[body]
        moved = of.multiplier * q[of.coordinate] + of.offset
        x = add(x, (0.0, 0.0, moved)) if of.prismatic else turn(cos(moved), sin(moved), x)
        x = add(rotate(of.placement.rotation, x), vector(of.placement.translation))
        body = of.parent
    return x


def space_of(
    robot: Robot,
    *,
    radius: float = 0.05,
    tool: Sequence[float] | None = None,
    floor: float | None = None,
    box: Sequence[float] | None = None,
    self_collision: bool = False,
) -> Space | None:
    """What must not be touched, or None if nothing is asked for.

    radius: of the links, m. tool: a point of the last link's frame to which it reaches. floor: z of it, m.
    box: x, y, z from and to, six numbers.
    """
    if floor is None and box is None and not self_collision:
        return None
    if not (np.isfinite(radius) and radius > 0.0):
        raise ArgumentError(f"the links' radius must be a positive number of metres, not {radius:g}")
    lower, upper = np.full(3, -np.inf), np.full(3, np.inf)
    if box is not None:
        corners = np.array(box, dtype=np.float64)
        if corners.shape != (6,) or not (corners[::2] < corners[1::2]).all():
            raise ArgumentError("a box needs six numbers X0,X1,Y0,Y1,Z0,Z1 with X0 < X1 and so on")
        lower, upper = corners[::2].copy(), corners[1::2].copy()
    if floor is not None:
        lower[2] = max(lower[2], floor)
    spheres = tuple(spheres_of(robot, radius, tool))
    pairs = separate(robot, spheres) if self_collision else ()
    low, high = (tuple(float(x) for x in ends) for ends in (lower, upper))
    return Space(robot, spheres, (low[0], low[1], low[2]), (high[0], high[1], high[2]), pairs)


def spheres_of(robot: Robot, radius: float, tool: Sequence[float] | None = None) -> list[Sphere]:
    """Rows of spheres along all links, the base's first."""
    mech = mechanism(robot)
    found: list[Sphere] = []
    for body in range(-1, len(mech.bodies)):
        ends = [of.placement.translation for of in mech.bodies if of.parent == body]
        if body >= 0 and not ends:
            ends = [_tip(robot, mech, body, tool)]
        for end in ends:
            length = float(np.linalg.norm(end))
            count = min(max(1, ceil(length / (2.0 * radius))), MOST_SPHERES)
            for k in range(count):
                x, y, z = ((k + 0.5) / count * end).tolist()
                found.append(Sphere(body, (x, y, z), hypot(radius, 0.5 * length / count)))
    return found


def _tip(robot: Robot, mech: Mechanism, body: int, tool: Sequence[float] | None) -> Array:
    """Where a last link ends: at the tool, or as far beyond its centre of mass as that is from its joint."""
    link = mech.bodies[body].link
    if tool is not None:
        return link.apply(tool)
    ten = robot.links[body].parameters
    known = np.isfinite(ten).all() and ten[9] > 0.0
    return 2.0 * link.apply(ten[6:9] / ten[9]) if known else np.zeros(3)


def separate(robot: Robot, spheres: Sequence[Sphere], poses: int = 200) -> tuple[tuple[int, int], ...]:
    """Pairs of spheres of links that are not neighbours and are apart in some of many random poses."""
    mech = mechanism(robot)
    pairs = [
        (i, j)
        for i, j in combinations(range(len(spheres)), 2)
        if spheres[i].body != spheres[j].body and _parent(mech, spheres[j].body) != spheres[i].body
    ]
    everywhere = Space(robot, tuple(spheres), pairs=tuple(pairs))
    if not pairs:
        return ()
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (poses, robot.dof))
    touching = (everywhere.clearances.values([q]) < 0.0).mean(axis=0)
    return tuple(pair for pair, share in zip(pairs, touching, strict=True) if share < ALWAYS)


def _parent(mech: Mechanism, body: int) -> int:
    return mech.bodies[body].parent if body >= 0 else -2
