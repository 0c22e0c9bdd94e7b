"""The robot as experiments use it: how each joint can move, where others may stand, and what that tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dynid.base.composite import Chain, chain_of
from dynid.base.composite_sets import Axes, axes_of
from dynid.base.geometry import squared_up
from dynid.errors import ArgumentError
from dynid.excite.limits import Bounds
from dynid.fit.solve import condition
from dynid.fit.unknowns import Unknowns
from dynid.plan.motions import Kind, Move, Reach, move
from dynid.spatial import Array
from dynid.trajectory import Trajectory, make_trajectory

POSTURES = 60  # tried for each experiment
ENOUGH = 40  # of the best choices, whose efforts are computed until one keeps its limits
PLACES = 7  # tried for a joint that stands at several positions
INSTANTS = 24  # of a motion at which postures are compared
GOLDEN = 0.5 * (5.0**0.5 - 1.0)
STANDING = 0.9  # share of a joint's range in which it may stand
WIDEST = np.pi  # rad or m to either side, of joints with a wider range
HOLDING = 0.8  # share of the effort limits that weight may take at a posture
SCALES = (1.0, 0.8, 0.65, 0.5, 0.35, 0.25, 0.15)  # of a motion whose efforts are too large


@dataclass(frozen=True, eq=False)
class Bench:
    """What experiments have in common."""

    unknowns: Unknowns
    bounds: Bounds
    kind: Kind = "smooth"
    rate_hz: float = 100.0
    seed: int = 0

    @property
    def dof(self) -> int:
        return self.unknowns.robot.dof

    @cached_property
    def chain(self) -> Chain:
        """The robot in units in which its longest offset and gravity are one."""
        chain = chain_of(squared_up(self.unknowns.robot)[0])
        longest = max(float(np.abs(pose.translation).max()) for pose in chain.poses)
        return chain.scaled(longest or 1.0, float(np.linalg.norm(chain.gravity)) or 1.0)

    @cached_property
    def axes(self) -> Axes:
        return axes_of(self.chain)

    @cached_property
    def moves(self) -> tuple[Move, ...]:
        """The motion of each joint."""
        return tuple(self._move(j, 1.0) for j in range(self.dof))

    def _move(self, joint: int, scale: float) -> Move:
        b = self.bounds
        limits = (b.lower[joint], b.upper[joint], b.velocity[joint], b.acceleration[joint])
        return move(self.kind, Reach(*map(float, limits)), self.rate_hz, scale)

    @cached_property
    def postures(self) -> Array:
        """Where joints may stand: the middle of their ranges, then at random, (POSTURES, n)."""
        half = STANDING * np.minimum(self.bounds.half, WIDEST)
        shares = np.random.default_rng(self.seed).uniform(-1.0, 1.0, (20 * POSTURES, len(half)))
        shares[0] = 0.0
        tried = self.bounds.middle + shares * half
        kept = tried[self._can_hold(tried)][:POSTURES]
        if not len(kept):
            raise ArgumentError(
                f"{self.unknowns.robot.name}: at no posture do the effort limits suffice to hold the weight"
            )
        return kept

    def _can_hold(self, q: Array) -> NDArray[np.bool_]:
        """At which postures (K, n) the efforts suffice by far, as far as the robot's masses are known."""
        robot = self.unknowns.robot
        if not np.isfinite(robot.parameters).all():
            return np.ones(len(q), dtype=np.bool_)
        holding = np.abs(robot.gravity_torque(q)) <= HOLDING * self.bounds.effort
        return np.asarray(holding.all(axis=1), dtype=np.bool_)

    def places(self, joint: int) -> Array:
        """Positions at which a joint may stand, (PLACES,)."""
        half = STANDING * min(float(self.bounds.half[joint]), WIDEST)
        return float(self.bounds.middle[joint]) + half * np.linspace(-1.0, 1.0, PLACES)

    def started(self, moving: int, posture: Array) -> Array:
        """The posture (n,) with the joint that moves where it starts; others must be within their limits."""
        names = self.unknowns.robot.joint_names
        beyond = (posture < self.bounds.lower) | (posture > self.bounds.upper)
        beyond[moving] = False
        if beyond.any():
            j = int(np.argmax(beyond))
            raise ArgumentError(
                f"a configuration in which {names[moving]} moves has {names[j]} at {posture[j]:g}, "
                f"beyond its limits {self.bounds.lower[j]:g} to {self.bounds.upper[j]:g}"
            )
        q = posture.copy()
        q[moving] = self.moves[moving].q[0]
        return q

    def trajectory(self, moving: int, posture: Array) -> Trajectory:
        """The whole motion of one joint with the others at a posture (n,); gentler if efforts ask for it."""
        found = self._within_efforts(moving, posture)
        if found is None:
            robot = self.unknowns.robot
            raise ArgumentError(
                f"{robot.name}: {robot.joint_names[moving]} cannot move within the effort limits "
                f"while the others stand at {np.array2string(posture, precision=3)}"
            )
        return found

    def _possible(self, moving: int, postures: Sequence[Array]) -> bool:
        return all(self._within_efforts(moving, posture) is not None for posture in postures)

    def _within_efforts(self, moving: int, posture: Array) -> Trajectory | None:
        """The motion at the largest scale whose efforts suffice, as far as the robot's masses are known."""
        robot = self.unknowns.robot
        known = np.isfinite(robot.parameters).all()
        for scale in SCALES:
            one = self.moves[moving] if scale == 1.0 else self._move(moving, scale)
            q, qd, qdd = _filled(one, moving, posture[None], slice(None))
            if not known or np.all(np.abs(robot.inverse_dynamics(q, qd, qdd)) <= self.bounds.effort):
                return make_trajectory(robot.joint_names, one.times, q, qd, qdd)
        return None

    # -- equations -----------------------------------------------------------------------------------

    def rows(self, moving: int, reads: int, posture: Array) -> Array:
        """Effort of joint `reads` per unit of each unknown at some instants of a motion, (INSTANTS, p)."""
        return self._many_rows(moving, reads, posture[None])[0]

    def all_rows(self, moving: int, reads: int, posture: Array) -> Array:
        """The same at all rows of the trajectory, (N, p)."""
        found = self.trajectory(moving, posture)
        rows = self.unknowns.efforts(found.q, found.qd, found.qdd)[:, reads]
        rows[:, self.unknowns.at_rest([moving])] = 0.0
        return rows

    def _many_rows(self, moving: int, reads: int, postures: Array) -> Array:
        one = self.moves[moving]
        shares = np.sort(np.arange(1, INSTANTS + 1) * GOLDEN % 1.0)  # in step with no wave of the motion
        chosen = (shares * len(one.times)).astype(np.intp)
        rows = self.unknowns.efforts(*_filled(one, moving, postures, chosen))[:, reads]
        rows[:, self.unknowns.at_rest([moving])] = 0.0
        return rows.reshape(len(postures), INSTANTS, -1)

    def best(
        self, moving: int, reads: int, wanted: NDArray[np.intp], turned: int | None, positions: int
    ) -> tuple[list[Array], float]:
        """The postures at which the unknowns `wanted` are told best, and the condition of their equations.

        One posture for each position of the joint `turned`; the others stand alike in all of them. A constant
        offset of the effort read counts as unknown in the choice, too, but not in the condition.
        """
        offset = [k for k, drive in enumerate(self.unknowns.drives) if drive == ("Fo", reads)]
        columns = np.union1d(wanted, np.array(offset, dtype=np.intp)) if reads != moving else wanted
        tried = self.postures
        if turned is None or turned == moving:
            triangles = _triangles(self._many_rows(moving, reads, tried)[..., columns])
            groups: list[tuple[int, ...]] = [(0,)]
            grid = tried[:, None]
        else:
            places = self.places(turned)
            grid = np.repeat(tried[:, None], len(places), axis=1)
            grid[:, :, turned] = places
            rows = self._many_rows(moving, reads, grid.reshape(-1, grid.shape[-1]))[..., columns]
            triangles = _triangles(rows)
            groups = list(combinations(range(len(places)), positions))
        triangles = triangles.reshape(len(tried), -1, *triangles.shape[-2:])
        stacked = np.stack(
            [np.concatenate([triangles[:, k] for k in group], axis=1) for group in groups], axis=1
        )
        s = np.linalg.svd(stacked, compute_uv=False)
        with np.errstate(divide="ignore", invalid="ignore"):
            conditions = np.where(s[..., -1] > 1e-12 * s[..., 0], s[..., 0] / s[..., -1], np.inf)
        order: list[int] = np.argsort(conditions, axis=None).tolist()

        def postures_of(choice: int) -> list[Array]:
            at, group = divmod(choice, len(groups))
            return [self.started(moving, grid[at, k]) for k in groups[group]]

        possible = (q for q in map(postures_of, order[:ENOUGH]) if self._possible(moving, q))
        postures = next(possible, postures_of(order[0]))
        full = np.concatenate([self.all_rows(moving, reads, q)[:, wanted] for q in postures])
        return postures, condition(full)


def _filled(
    one: Move, moving: int, postures: Array, chosen: slice | NDArray[np.intp]
) -> tuple[Array, Array, Array]:
    """q, qd, qdd (K N, n) of a motion at postures (K, n)."""
    N = len(one.times[chosen])
    q = np.repeat(postures, N, axis=0)
    q[:, moving] = np.tile(one.q[chosen], len(postures))
    qd, qdd = np.zeros_like(q), np.zeros_like(q)
    qd[:, moving], qdd[:, moving] = (np.tile(values[chosen], len(postures)) for values in (one.qd, one.qdd))
    return q, qd, qdd


def _triangles(rows: Array) -> Array:
    """Triangular factors of blocks of rows (K, m, k), or the rows where they are fewer than columns."""
    return np.asarray(np.linalg.qr(rows, mode="r"), dtype=np.float64)
