"""The prior's weight by cross-validation, from the triangles of some folds of the data.

For every weight, each fold is predicted by the least squares of all others with the prior's term. Among the
weights whose loss is within one standard error of the least, the largest is taken: where data cannot tell,
the prior may speak. The cones are left out here: they would hide what the weight does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynid.base import BaseParameters
from dynid.errors import ArgumentError
from dynid.physical.problem import Problem, checked_data, problem_of
from dynid.robot import Robot
from dynid.spatial import Array, frozen

# Nobody's drawings are right to better than a tenth, so no body's deviation by a tenth of itself ever counts
# as more than one standard deviation: what the data say well, they say alone.
WEIGHTS = tuple((10.0 ** np.arange(-4.0, 2.5, 0.5)).tolist())


@dataclass(frozen=True, eq=False)
class WeightChoice:
    """The weight, and the loss of each of those tried: squared residuals per fold."""

    weight: float
    weights: tuple[float, ...]
    losses: Array  # (weights, folds)

    def __str__(self) -> str:
        mean = self.losses.mean(axis=1)
        at = self.weights.index(self.weight)
        rise = 100.0 * (mean[at] / mean.min() - 1.0) if mean.min() > 0.0 else 0.0
        return f"{self.weight:.3g}, whose held-out loss is {rise:.2g} % above the least"


def choose_prior_weight(
    robot: Robot,
    base: BaseParameters,
    names: Sequence[str],
    folds: Sequence[tuple[ArrayLike, ArrayLike]],
    prior: ArrayLike | None = None,
    weights: Sequence[float] = WEIGHTS,
) -> WeightChoice:
    """The weight of a prior (10 L,) for folds of data, each a triangle R (m, p), r (m,) of unit noise.

    Folds are best whole logs or long stretches of one: neighbouring samples know each other.
    """
    if len(folds) < 2:
        raise ArgumentError(f"cross-validation needs two folds or more, not {len(folds)}")
    data = [checked_data(base, names, R, r) for R, r in folds]
    losses = np.empty((len(weights), len(data)))
    for k, (R, r) in enumerate(data):
        others = [fold for j, fold in enumerate(data) if j != k]
        rows = np.concatenate([fold[0] for fold in others])
        right = np.concatenate([fold[1] for fold in others])
        problem = problem_of(robot, base, names, rows, right, prior, 1.0, None)
        for i, weight in enumerate(weights):
            losses[i, k] = np.sum((R @ _ridge_values(problem, weight) - r) ** 2)
    return WeightChoice(_largest_good(weights, losses), tuple(weights), frozen(losses))


def _ridge_values(problem: Problem, weight: float) -> Array:
    """Values (p,) of the minimum without cones."""
    width = 10 * len(problem.links)
    rows = np.sqrt(weight) * np.eye(width, len(problem.columns))
    A = np.concatenate([problem.data, rows, problem.ridge])
    b = np.concatenate([problem.r, np.sqrt(weight) * problem.prior.centre, problem.ridge_target])
    x = np.asarray(np.linalg.lstsq(A, b, rcond=None)[0], dtype=np.float64)
    return problem.to_values @ problem.standard(x)


def _largest_good(weights: Sequence[float], losses: Array) -> float:
    """The largest weight within one standard error of the best; folds are compared with themselves."""
    best = int(np.argmin(losses.mean(axis=1)))
    rises = losses - losses[best]
    error = rises.std(axis=1, ddof=1) / np.sqrt(losses.shape[1])
    good = rises.mean(axis=1) <= error
    return max(weight for weight, is_good in zip(weights, good.tolist(), strict=True) if is_good)
