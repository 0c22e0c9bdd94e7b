"""Iteratively reweighted least squares: rows that fit badly count less ([Huber1981]).

With u a residual over its joint's spread, a row's weight is

    Huber     1 for |u| <= c, else c / |u|           outliers pull as if they were at c
    Tukey     (1 - (u / c)^2)^2 for |u| <= c, else 0  far outliers do not pull at all

The spread is the median of |residual| / 0.6745, the standard deviation of normal noise whatever the outliers
do. The constants c keep 95 % efficiency with normal noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from dynid.errors import ArgumentError, choices
from dynid.fit.panels import PanelWriter, chunks_of
from dynid.fit.reduction import Method, reduce, total
from dynid.fit.solve import Prior, Solution, solve
from dynid.fit.system import System
from dynid.log.samples import Samples
from dynid.spatial import Array, frozen

Loss = Literal["huber", "tukey"]
TUNING: dict[Loss, float] = {"huber": 1.345, "tukey": 4.685}
NORMAL_MEDIAN = 0.6744897501960817  # of |u| of a standard normal u
ROUNDS = 50
SETTLED = 1e-8  # relative change of what the values make of the rows


@dataclass(frozen=True, eq=False)
class RobustSolution:
    """A solution with the weights that led to it, (M, n) for each log, those of the samples included."""

    solution: Solution
    weights: tuple[Array, ...]
    rounds: int


def robust(
    system: System,
    logs: Samples | Sequence[Samples],
    loss: Loss = "huber",
    *,
    prior: Prior | None = None,
    method: Method = "gram",
    threads: int = 2,
) -> RobustSolution:
    """Values that outliers do not spoil, each joint weighted by its spread in all logs together."""
    if loss not in get_args(Loss):
        raise ArgumentError(f"loss {choices(loss, get_args(Loss))}")
    logs = (logs,) if isinstance(logs, Samples) else tuple(logs)
    given = np.concatenate([samples.weights for samples in logs])
    parts = np.cumsum([len(samples.weights) for samples in logs])[:-1]
    weights, sigma = given, np.ones(system.robot.dof)
    last: Array | None = None
    rounds = 0
    while True:
        pairs = zip(logs, np.split(weights, parts), strict=True)
        reductions = [reduce(system, s, method=method, weights=w, threads=threads) for s, w in pairs]
        solution = solve(total(reductions), sigma, prior)
        rounds += 1
        if rounds == ROUNDS or (last is not None and settled(solution, last)):
            return RobustSolution(solution, tuple(map(frozen, np.split(weights, parts))), rounds)
        residuals = np.concatenate([row_residuals(system, samples, solution.values) for samples in logs])
        sigma = spreads(residuals, given)
        weights = given * loss_weights(residuals / sigma, loss)
        last = solution.values


def loss_weights(u: Array, loss: Loss) -> Array:
    """Weights of residuals u in units of their spread, any shape."""
    c = TUNING[loss]
    size = np.abs(u)
    if loss == "huber":
        return np.where(size <= c, 1.0, c / np.maximum(size, c))
    return np.where(size <= c, (1.0 - np.minimum(size / c, 1.0) ** 2) ** 2, 0.0)


def loss_slopes(weights: Array, loss: Loss) -> Array:
    """d(w u)/du, by how much rows of these weights still pull, any shape; of rows left out 0."""
    if loss == "huber":
        return np.where(weights >= 1.0, 1.0, 0.0)
    root = np.sqrt(weights)  # 1 - (u / c)^2
    return root * (5.0 * root - 4.0)


def overconfidence(weights: Sequence[Array], loss: Loss) -> float:
    """Deviations by those that least squares with these weights believes in, [Huber1981], Section 7.6.

    Least squares takes weights for given; here they fall where a residual grows.
    """
    every = np.concatenate([w.ravel() for w in weights])
    pull = float(loss_slopes(every, loss).sum())
    return float(every.sum()) / pull if pull > 0.0 else 1.0


def spreads(residuals: Array, weights: Array) -> Array:
    """Robust deviations (n,) of residuals (M, n), rows of weight 0 left out."""
    found = np.ones(residuals.shape[1])
    for joint, (r, w) in enumerate(zip(residuals.T, weights.T, strict=True)):
        used = np.abs(r[w > 0.0])
        if used.size:
            size = float(np.median(used)) / NORMAL_MEDIAN
            found[joint] = size or float(used.max()) or 1.0
    return found


def row_residuals(system: System, samples: Samples, values: Array) -> Array:
    """What values (p,) leave of every row's effort, (M, n), through the samples' filter and not weighted."""
    writer = PanelWriter(system, samples, np.ones_like(samples.weights))
    found = np.empty_like(samples.weights)
    for chunk in chunks_of(samples):
        for joint, panel in enumerate(writer.fill(chunk)):
            found[chunk.rows, joint] = panel[-1] - values[system.columns[joint]] @ panel[:-1]
    return found


def settled(solution: Solution, last: Array) -> bool:
    """Whether the values have stopped moving, judged by what they do to the rows."""
    moved = np.linalg.norm(solution.factor @ (solution.values - last))
    return bool(moved <= SETTLED * np.linalg.norm(solution.factor @ solution.values))
