"""Sequences of points of the robot of [GK1992], with what the paper makes of them: W, Y, and their noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from gk1992_tables import X
from scipy.optimize import OptimizeResult, minimize

from dynid import base_parameters, load_robot
from dynid.excite.criteria import Criterion
from dynid.excite.limits import bounds_of
from dynid.excite.observation import observe
from dynid.excite.points import Points as Search
from dynid.fit.perturbation import condition_number

SEEDS = {15: (7, 11, 8), 30: (9, 12, 7, 4)}  # starts from which the search gets as far as the paper's
NEAR = 1.2  # times the paper's condition: near enough
ITERATIONS = 2500
RATE_HZ = 100.0  # of trajectories through the points, to whose rows their limits are rounded
CANDIDATES = 300  # random sequences of which the one with the paper's condition is taken

ROBOT = load_robot("gk3")
BASE = base_parameters(ROBOT, model="energy")
KEPT = [BASE.columns.index(name) for name in BASE.kept]
LOWER, UPPER, FASTEST = (
    np.array([getattr(joint.limits, name) for joint in ROBOT.joints])
    for name in ("lower", "upper", "velocity")
)
TRUE = np.array(X)


@dataclass(frozen=True)
class Points:
    """r + 1 points, each the end of one interval and the beginning of the next."""

    q: np.ndarray  # (r + 1, 3)
    qd: np.ndarray

    @cached_property
    def W(self) -> np.ndarray:
        """(r, 15), Eq. (9)."""
        return np.diff(energies(self.q, self.qd), axis=0)

    @cached_property
    def Y(self) -> np.ndarray:
        return self.W @ TRUE

    @cached_property
    def condition(self) -> float:
        return condition_number(self.W)

    def deviations(self, k: float) -> np.ndarray:
        """Predicted deviations of the estimates, (15,), from V and the singular values of W."""
        _, s, Vt = np.linalg.svd(self.W, full_matrices=False)
        return self.effort_deviation(k) * np.sqrt(np.sum((Vt.T / s) ** 2, axis=1))

    def effort_deviation(self, k: float) -> float:
        return 0.25 * k * float(np.abs(self.Y).max())

    def effort_noise(self, k: float, rng: np.random.Generator) -> np.ndarray:
        """dY, normal: k/4 of the largest Y."""
        return self.effort_deviation(k) * rng.normal(size=len(self.Y))

    def column_noise(self, k: float, rng: np.random.Generator) -> np.ndarray:
        """dW, from normal noise of the points: k/4 of the ranges of positions and of the largest speeds."""
        q = self.q + 0.25 * k * (UPPER - LOWER) * rng.normal(size=self.q.shape)
        qd = self.qd + 0.25 * k * FASTEST * rng.normal(size=self.qd.shape)
        return np.diff(energies(q, qd), axis=0) - self.W


def energies(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """h of Eq. (4) at points (..., 3): (..., 15)."""
    h = ROBOT.energy_regressor(q.reshape(-1, 3), qd.reshape(-1, 3))[:, KEPT]
    return h.reshape(*q.shape[:-1], len(KEPT))


def random_points(r: int, seed: int) -> Points:
    rng = np.random.default_rng(seed)
    shape = (r + 1, ROBOT.dof)
    return Points(rng.uniform(LOWER, UPPER, shape), rng.uniform(-FASTEST, FASTEST, shape))


def random_with_condition(r: int, wanted: float) -> Points:
    """Of many random sequences that whose condition is nearest to the paper's."""
    candidates = [random_points(r, seed) for seed in range(CANDIDATES)]
    return min(candidates, key=lambda points: abs(np.log(points.condition / wanted)))


def optimised(r: int, wanted: float) -> Points:
    """The first of several searches that comes near the wanted condition, else the best."""
    found: list[Points] = []
    for seed in SEEDS[r]:
        found.append(searched(r, wanted, seed))
        if found[-1].condition < NEAR * wanted:
            break
    return min(found, key=lambda points: points.condition)


def searched(r: int, wanted: float, seed: int) -> Points:
    """Section 4: the measure (21) made small in the variables of section 4.2, until Cond(W) is as wanted."""
    search = Search(observe(ROBOT, "energy"), Criterion(), bounds_of(ROBOT), r + 1, RATE_HZ)
    best = search.first(np.random.default_rng(seed))

    def enough(intermediate_result: OptimizeResult) -> None:
        nonlocal best
        best = intermediate_result.x
        if Points(*search.points(best)).condition < wanted:
            raise StopIteration

    options = {"maxiter": ITERATIONS, "maxcor": 30, "ftol": 1e-10}
    minimize(search.objective, best, jac=True, method="L-BFGS-B", callback=enough, options=options)
    return Points(*search.points(best))
