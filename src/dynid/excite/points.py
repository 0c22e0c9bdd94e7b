"""Optimised points (q, qd), section 4 of [GK1992].

Bounds disappear in the variables of section 4.2, q = q_I + (q_F - q_I) sin^2 x and qd = qd_M sin y. One thing
is added: who passes a point at speed must have come from somewhere and must be able to stop. So the range of
positions is narrower at both ends by the way that takes, which the limits decide, and every point can be
reached and left within them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dynid.errors import ArgumentError
from dynid.excite.certificate import certify
from dynid.excite.criteria import Criterion
from dynid.excite.effort import Effort
from dynid.excite.limits import Bounds
from dynid.excite.observation import Observation
from dynid.excite.quintics import braking, join
from dynid.excite.search import Candidate, Watch, minimise
from dynid.excite.space import Space
from dynid.spatial import Array
from dynid.trajectory import Trajectory, make_trajectory

MOST_WAY = 0.8  # of half a joint's range, that stopping may take; where it is fastest the rest is left
SPARED = 1e-3  # of every limit, for controllers that interpolate between rows in another way
TOLERANCE = 1e-9  # of the criterion's logarithm
SHORT = ((2.0, 200),)  # power of the criterion, iterations
REFINEMENT = ((2.0, 1000), (6.0, 1000), (20.0, 2000), (80.0, 2000))
SHARES = (
    1.0,
    0.9,
    0.8,
    0.65,
    0.5,
    0.3,
    0.15,
)  # of the points' distances from the start pose and of the speed
POSES = 500  # that are tried where the robot cannot rest in the usual one
BENDS = 40  # halvings in search of the largest speed


@dataclass(frozen=True, eq=False)
class Points:
    """A search for r + 1 points of n joints, whose differences of energy (or static torques) make W."""

    observation: Observation
    criterion: Criterion
    limits: Bounds
    count: int  # r + 1
    rate_hz: float
    effort: Effort | None = None
    space: Space | None = None
    start: Array | None = None  # pose (n,) before the first point; None: zero, or the middle of the range
    end: Array | None = None  # after the last point; None: as at the start

    def __post_init__(self) -> None:
        if self.observation.model == "torque":
            raise ArgumentError(
                "points have no accelerations, on which torques depend: --model energy or gravity "
                "(model='energy'), or a basis over time, fourier or spline"
            )

    @cached_property
    def bounds(self) -> Bounds:
        """The limits, a little narrower."""
        return self.limits.shrunken(SPARED)

    @property
    def dof(self) -> int:
        return len(self.limits.names)

    def way(self, speed: Array) -> tuple[Array, Array]:
        """What stopping in a whole number of rows takes at most, (..., n), and its slope by the speed."""
        time, slope = braking(speed, self.bounds)
        time = time + 1.0 / self.rate_hz
        return 0.5 * speed * time, 0.5 * (time + speed * slope)

    @cached_property
    def fastest(self) -> Array:
        """Velocities (n,) from which a joint can stop within the range that may be spent on it."""
        if self.observation.model == "gravity":
            return np.zeros(self.dof)
        low, high = np.zeros(self.dof), self.bounds.velocity
        possible = self.way(high)[0] <= MOST_WAY * self.bounds.half
        for _ in range(0 if possible.all() else BENDS):
            middle = 0.5 * (low + high)
            stops = self.way(middle)[0] <= MOST_WAY * self.bounds.half
            low, high = np.where(stops, middle, low), np.where(stops, high, middle)
        return np.where(possible, self.bounds.velocity, low)

    @cached_property
    def free(self) -> Array:
        """Which of q, qd change W at all, (2, n); the others keep their random sequence."""
        matters = self.observation.matters
        return np.vstack([matters, np.zeros((2 - len(matters), self.dof), dtype=bool)])[:2]

    def prepare(self) -> None:
        """Compile what several threads will need."""
        self.observation.prepare()
        _ = self.bounds, self.fastest, self.free

    # -- the search ----------------------------------------------------------------------------------

    def first(self, rng: np.random.Generator) -> Array:
        """Angles x, y of uniformly random points, (2, r + 1, n) in one row."""
        share = rng.uniform(size=(2, self.count, self.dof))
        return np.stack([np.arcsin(np.sqrt(share[0])), np.arcsin(2.0 * share[1] - 1.0)]).ravel()

    def points(self, variables: Array) -> tuple[Array, Array]:
        """q and qd of the points, (r + 1, n) each."""
        x, y = variables.reshape(2, self.count, self.dof)
        qd = self.fastest * np.sin(y)
        way, _ = self.way(np.abs(qd))
        return self.bounds.lower + way + 2.0 * (self.bounds.half - way) * np.sin(x) ** 2, qd

    def objective(self, variables: Array, criterion: Criterion | None = None) -> tuple[float, Array]:
        """The criterion and its slope by the variables."""
        x, y = variables.reshape(2, self.count, self.dof)
        q, qd = self.points(variables)
        f, G = (criterion or self.criterion)(self.observation.matrix([q, qd]))
        slopes = self.observation.pull_back([q, qd], G)
        by_q, by_qd = slopes[0], slopes[1] if len(slopes) > 1 else np.zeros_like(q)
        way, by_speed = self.way(np.abs(qd))
        by_x = by_q * 2.0 * (self.bounds.half - way) * np.sin(2.0 * x)
        by_y = (by_qd + by_q * np.cos(2.0 * x) * by_speed * np.sign(qd)) * self.fastest * np.cos(y)
        return f, (np.stack([by_x, by_y]) * self.free[:, None]).ravel()

    def value(self, x: Array) -> float:
        """The criterion itself."""
        return self.criterion.measure(self.observation.matrix(self.points(x)))

    def solve(self, x: Array, watch: Watch) -> Array:
        """Better points from random ones."""
        x = self._sharpened(x, watch, SHORT, self.criterion.easier)
        return (
            x if self.criterion.easier is self.criterion else self._sharpened(x, watch, SHORT, self.criterion)
        )

    def refine(self, x: Array, watch: Watch) -> Array:
        """Still better ones, for a criterion closer to the one that is meant."""
        return self._sharpened(x, watch, REFINEMENT, self.criterion)

    def _sharpened(
        self, x: Array, watch: Watch, rounds: tuple[tuple[float, int], ...], criterion: Criterion
    ) -> Array:
        for power, iterations in rounds:
            sharper = replace(criterion, power=power)
            x, _ = minimise(lambda y, c=sharper: self.objective(y, c), x, watch, iterations, TOLERANCE)
        return x

    # -- the result ----------------------------------------------------------------------------------

    def result(self, x: Array) -> Candidate:
        """The shortest motion through the points; if it is not safe, through points drawn closer together.

        Between two points within their limits a motion keeps its joints' own limits, not those of efforts
        and of the space around; smaller and slower motions about a safe pose do.
        """
        q, qd = self.points(x)
        rest = self._rest()
        found = None
        for share in SHARES:
            motion = [rest + share * (q - rest), share * qd]
            trajectory = self._joined(motion[0], motion[1], rest, share)
            certificate = certify(trajectory, self.limits, self.effort, self.space)
            found = Candidate(trajectory, certificate, motion)
            if certificate.safe:
                break
        assert found is not None
        return found

    def _joined(self, q: Array, qd: Array, rest: Array, share: float) -> Trajectory:
        """From rest through the points to rest, with this share of the largest speed."""
        still = np.zeros((1, self.dof))
        end = rest if self.end is None else self.end
        bounds = replace(
            self.bounds,
            velocity=share * self.bounds.velocity,
            acceleration=share**2 * self.bounds.acceleration,
            jerk=share**3 * self.bounds.jerk,
        )
        passed = np.vstack([rest, q, end]), np.vstack([still, qd, still])
        times, q, qd, qdd = join(*passed, bounds, 1.0 / self.rate_hz)
        return make_trajectory(self.limits.names, times, q, qd, qdd)

    def _rest(self) -> Array:
        """The pose at the beginning, (n,): zero or the middle, or else one where the robot can rest."""
        if self.start is not None:
            return self.start
        inside = (self.limits.lower <= 0.0) & (self.limits.upper >= 0.0)
        usual = np.where(inside, 0.0, self.limits.middle)
        others = np.random.default_rng(0).uniform(self.bounds.lower, self.bounds.upper, (POSES, self.dof))
        poses = np.vstack([usual, others])
        excess = np.full(len(poses), -1.0)
        if self.effort is not None:
            still = np.zeros_like(poses)
            held = np.abs(self.effort.recorded.values([poses, still, still])) + self.effort.friction(still)
            excess = np.maximum(excess, (held / self.bounds.effort - 1.0).max(axis=1))
        if self.space is not None and len(self.space.sizes):
            clear = self.space.clearances.values([poses]) / self.space.sizes
            excess = np.maximum(excess, -clear.min(axis=1))
        return usual if excess[0] <= 0.0 else poses[int(np.argmin(excess))]
