"""Motions that are linear in their coefficients, optimised within limits.

Limits act as a penalty at the samples of the search, ever sharper from round to round, on bounds that are a
little narrower than the real ones. The result is then drawn towards a motion that is known to be safe, joint
by joint, until the certificate says that it is safe, too: a matter of per mille, and none of the limits is
left to luck.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid.excite.bases import Basis
from dynid.excite.certificate import Certificate, certify, own_excess
from dynid.excite.criteria import Criterion
from dynid.excite.effort import Effort
from dynid.excite.limits import Bounds
from dynid.excite.observation import COULOMB_WIDTH, Observation
from dynid.excite.search import Candidate, Watch, minimise
from dynid.excite.space import Space
from dynid.spatial import Array
from dynid.trajectory import Trajectory, make_trajectory

ROUNDS = ((1.0, 150), (30.0, 150), (1000.0, 250))  # sharpness of the penalty, iterations
REFINEMENT = ((4.0, 200), (8.0, 200), (20.0, 300))  # power of the criterion, iterations
MARGIN = 0.01  # of the limits; about what the search's samples and penalty let through
RESERVE = 1e-3  # of the limits, for controllers that interpolate between rows in another way
CLEARANCE = 0.02  # of the space's size
SHARES = (1.0, 0.995, 0.99, 0.98, 0.96, 0.93, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)
HALVINGS = 16  # of the share of one joint's motion that keeps its own limits


@dataclass(frozen=True, eq=False)
class Smooth:
    """A search for coefficients (K, n) of a basis, the best for a criterion within limits."""

    observation: Observation
    criterion: Criterion
    basis: Basis
    bounds: Bounds
    rate_hz: float
    effort: Effort | None = None
    space: Space | None = None
    start: Array | None = None  # pose (n,) at the start; None: any
    end: Array | None = None  # pose at the end, where the start is given and the basis is closed

    @property
    def dof(self) -> int:
        return len(self.bounds.names)

    @property
    def size(self) -> int:
        """Number of functions of time, without the constant if the pose at the start is given."""
        return self.basis.size - (self.start is not None)

    @property
    def samples(self) -> int:
        """Of the motion while it is sought."""
        return self.basis.samples

    def functions(self, times: Array) -> Array:
        """Functions of time and their derivatives, (4, N, size)."""
        b = self.basis.at(times)
        if self.start is None:
            return b
        b = b[:, :, 1:]
        b[0] -= self.basis.at(np.zeros(1))[0, :, 1:]
        return b

    def carrier(self, times: Array) -> Array:
        """The motion that coefficients of zero give, (4, N, n): rest, or from start to end by a quintic."""
        found = np.zeros((4, len(times), self.dof))
        found[0] = self.bounds.middle if self.start is None else self.start
        if self.start is not None and self.end is not None:
            u = times[:, None] / self.basis.period
            shape = np.polynomial.Polynomial([0.0, 0.0, 0.0, 10.0, -15.0, 6.0])
            for order in range(4):
                value = shape.deriv(order)(u) if order else shape(u)
                found[order] += value * (self.end - self.start) / self.basis.period**order
        return found

    @cached_property
    def _times(self) -> Array:
        return (np.arange(self.samples) + 0.5) * self.basis.period / self.samples

    @cached_property
    def _grid(self) -> Array:
        return self.functions(self._times)

    @cached_property
    def _carried(self) -> Array:
        return self.carrier(self._times)

    @cached_property
    def _inside(self) -> Bounds:
        return self.bounds.shrunken(MARGIN)

    @cached_property
    def _effort_left(self) -> Array:
        """What friction leaves of the effort limits at full speed, (n,)."""
        rubbing = self.effort.friction(self.bounds.velocity[None])[0] if self.effort else 0.0
        return np.maximum(self._inside.effort - rubbing, 0.05 * self._inside.effort)

    @property
    def width(self) -> float:
        """Of Coulomb friction's smoothed sign."""
        return COULOMB_WIDTH * float(self.bounds.velocity.min())

    def prepare(self) -> None:
        """Compile what several threads will need."""
        self.observation.prepare()
        for function in (self.effort and self.effort.recorded, self.space and self.space.clearances):
            if function:
                function.prepare()
        _ = self._grid, self._carried, self._inside, self._effort_left

    # -- the search ----------------------------------------------------------------------------------

    def first(self, rng: np.random.Generator) -> Array:
        """Random coefficients that just keep the joints' limits, (size * n,)."""
        x = rng.normal(size=(self.size, self.dof)) / self.size
        if self.start is None:
            x[0] *= 0.3 * self.size
        arrays = [b @ (x * self.bounds.half) for b in self._grid]
        limits = (self.bounds.half, *self.bounds.rates)
        used = np.max(
            [np.abs(y).max(axis=0) / limit for y, limit in zip(arrays, limits, strict=True)], axis=0
        )
        return np.asarray(x / used * rng.uniform(0.7, 1.0), dtype=np.float64).ravel()

    def solve(self, x: Array, watch: Watch) -> Array:
        """Better coefficients from random ones."""
        for sharpness, iterations in ROUNDS:
            criterion = self.criterion if sharpness == ROUNDS[-1][0] else self.criterion.easier
            x, _ = minimise(lambda y, s=sharpness, c=criterion: self.objective(y, s, c), x, watch, iterations)
        return x

    def refine(self, x: Array, watch: Watch) -> Array:
        """Still better ones, for a criterion closer to the one that is meant."""
        for power, iterations in REFINEMENT:
            sharper = replace(self.criterion, power=power)
            x, _ = minimise(lambda y, c=sharper: self.objective(y, ROUNDS[-1][0], c), x, watch, iterations)
        return x

    def value(self, x: Array) -> float:
        """Criterion and penalty, both as sharp as they get."""
        return self.objective(x, ROUNDS[-1][0], replace(self.criterion, power=REFINEMENT[-1][0]))[0]

    def objective(
        self, x: Array, sharpness: float, criterion: Criterion | None = None
    ) -> tuple[float, Array]:
        """Criterion and penalty at coefficients in units of each joint's half range, and the slope."""
        motion = self.motion(x)
        f, G = (criterion or self.criterion)(self.observation.matrix(motion, self.width))
        slopes = [np.zeros_like(motion[0]) for _ in self._grid]
        for slope, part in zip(slopes, self.observation.pull_back(motion, G, self.width), strict=False):
            slope += part
        f += self.penalty(motion, slopes, sharpness)
        total = sum(b.T @ slope for b, slope in zip(self._grid, slopes, strict=True)) * self.bounds.half
        return f, np.asarray(total).ravel()

    def motion(self, x: Array) -> list[Array]:
        """q, qd, qdd and jerk at the samples of the search, (samples, n) each."""
        coefficients = x.reshape(self.size, self.dof) * self.bounds.half
        return [b @ coefficients + c for b, c in zip(self._grid, self._carried, strict=True)]

    def penalty(self, motion: list[Array], slopes: list[Array], sharpness: float) -> float:
        """`sharpness` times the mean squares of what exceeds a limit, by its size; slopes are added."""
        inside, weight = self._inside, sharpness / len(motion[0])
        total = 0.0
        limits = (inside.half, *inside.rates)
        for y, slope, limit, centre in zip(
            motion, slopes, limits, (inside.middle, 0.0, 0.0, 0.0), strict=True
        ):
            share = (y - centre) / limit
            total += _pushed_back(share - np.clip(share, -1.0, 1.0), weight, limit, slope)
        if self.effort is not None:
            share = self.effort.recorded.values(motion) / self._effort_left
            weights = np.zeros_like(share)
            beyond = share - np.clip(share, -1.0, 1.0)
            total += _pushed_back(beyond, weight, self._effort_left, weights)
            for slope, part in zip(slopes, self.effort.recorded.pull_back(motion, weights), strict=False):
                slope += part
        if self.space is not None:
            share = self.space.clearances.values(motion) / self.space.sizes - CLEARANCE
            weights = np.zeros_like(share)
            total += _pushed_back(np.minimum(share, 0.0), weight, self.space.sizes, weights)
            slopes[0] += self.space.clearances.pull_back(motion, weights)[0]
        return total

    # -- the result ----------------------------------------------------------------------------------

    def result(self, x: Array) -> Candidate:
        """Rows of a motion that is safe, as near to the one found as can be."""
        rows = int(np.ceil(self.basis.period * self.rate_hz - 1e-9)) + 1
        times = np.linspace(0.0, self.basis.period, rows)
        rest, coefficients = self.carrier(times), x.reshape(self.size, self.dof) * self.bounds.half
        if self.start is None:  # the first coefficients are no motion, but the pose about which it goes on
            rest[0] = np.clip(rest[0] + coefficients[0], self._inside.lower, self._inside.upper)
            coefficients[0] = 0.0
        moving = self.functions(times) @ coefficients

        def drawn(share: Array | float) -> Trajectory:
            q, qd, qdd = (rest[k] + moving[k] * share for k in range(3))
            return make_trajectory(self.bounds.names, times, q, qd, qdd)

        share = self._own_share(drawn)
        found, certificate = drawn(0.0), Certificate()
        for part in SHARES:
            found = drawn(part * share)
            certificate = certify(found, self.bounds, self.effort, self.space)
            if certificate.safe:
                break
        return Candidate(found, certificate, [found.q, found.qd, found.qdd])

    def _own_share(self, drawn: Callable[[Array | float], Trajectory]) -> Array:
        """How much of each joint's motion keeps that joint's own limits with some reserve, (n,).

        Where the reserve is used up at rest already, as by a start pose at a limit, no more of it is used.
        """
        bounds = self.bounds.shrunken(RESERVE)

        def excess(share: Array) -> Array:
            return np.max(list(own_excess(drawn(share), bounds).values()), axis=0)

        allowed = np.maximum(excess(np.zeros(self.dof)), 0.0)

        def good(share: Array) -> NDArray[np.bool_]:
            return excess(share) <= allowed

        low, high = np.zeros(self.dof), np.ones(self.dof)
        kept = good(high)
        low[kept] = 1.0
        for _ in range(0 if kept.all() else HALVINGS):
            middle = 0.5 * (low + high)
            kept = good(middle)
            low, high = np.where(kept, middle, low), np.where(kept, high, middle)
        return low


def _pushed_back(beyond: Array, weight: float, limit: Array, slope: Array) -> float:
    """weight * sum of squares of `beyond`, and its slope by what was divided by `limit`, added to `slope`."""
    slope += 2.0 * weight * beyond / limit
    return weight * float((beyond * beyond).sum())
