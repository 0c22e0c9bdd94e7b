"""Sequences of points of the robot of [GK1992], with what the paper makes of them: W, Y, and their noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from gk1992_tables import X
from scipy.optimize import minimize

from dynid import base_parameters, load_robot
from dynid.fit.perturbation import condition_number

SEEDS = {15: 1, 30: 13}  # starts from which the search gets as far as the paper's
ITERATIONS = 1500
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
    """Section 4: the measure (21) made small in the variables of section 4.2, until Cond(W) is as wanted."""

    def points(x: np.ndarray) -> Points:
        x = x.reshape(*x.shape[:-1], r + 1, 5)  # q1 has no effect
        turned = LOWER[1:] + (UPPER - LOWER)[1:] * np.sin(x[..., :2]) ** 2
        q = np.concatenate([np.zeros((*turned.shape[:-1], 1)), turned], axis=-1)
        return Points(q, FASTEST * np.sin(x[..., 2:]))

    def measure(x: np.ndarray) -> np.ndarray:
        some = points(x)
        W = np.diff(energies(some.q, some.qd), axis=-2)
        eigenvalues = np.linalg.eigvalsh(np.swapaxes(W, -1, -2) @ W)
        return 0.5 * np.log(np.sum(eigenvalues**2, axis=-1) * np.sum(eigenvalues**-2.0, axis=-1))

    def with_slope(x: np.ndarray) -> tuple[float, np.ndarray]:
        steps = 1e-5 * np.eye(len(x))
        found = measure(np.concatenate([x[None], x + steps, x - steps]))
        return float(found[0]), (found[1 : len(x) + 1] - found[len(x) + 1 :]) / 2e-5

    def enough(intermediate_result: object) -> None:
        nonlocal best
        best = intermediate_result.x
        if points(best).condition < wanted:
            raise StopIteration

    best = np.random.default_rng(SEEDS[r]).normal(size=5 * (r + 1))
    options = {"maxiter": ITERATIONS, "maxcor": 30, "ftol": 1e-10}
    minimize(with_slope, best, jac=True, method="L-BFGS-B", callback=enough, options=options)
    return points(best)
