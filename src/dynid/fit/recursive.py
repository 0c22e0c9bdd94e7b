"""Least squares a sample at a time: the square-root information filter of [Bierman1977].

What is known is a triangle [R z; 0 rho]: R beta = z + noise of unit variance. New rows are stacked below it
and reflected into it again, which loses no digits however small the steps; the values are the same as those
of a batch. With a forgetting factor below 1 rows lose weight as further samples come, so that slow changes
can be followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import ArgumentError
from dynid.fit.panels import all_panels
from dynid.fit.reduction import triangle
from dynid.fit.solve import Solution, solve_triangle
from dynid.fit.system import System
from dynid.log.samples import Samples
from dynid.spatial import Array, frozen


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What some rows say about p unknowns."""

    factor: Array  # (p + 1, p + 1) triangle [R z; 0 rho]
    rows: float  # sum of their weights, the forgotten ones discounted
    forgetting: float = 1.0  # by which the weight of all rows is multiplied when a sample comes

    def updated(self, W: ArrayLike, y: ArrayLike, sigma: ArrayLike = 1.0) -> Knowledge:
        """With the m rows W beta = y of one sample, (m, p) and (m,), and the deviations of y."""
        added = np.column_stack([np.atleast_2d(W), np.atleast_1d(y)]).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            added /= np.broadcast_to(np.asarray(sigma, dtype=np.float64), (len(added),))[:, None]
        if added.shape[1] != len(self.factor):
            raise ArgumentError(
                f"W has {added.shape[1] - 1} columns; needed is one per unknown, {len(self.factor) - 1}"
            )
        if not np.isfinite(added).all():
            raise ArgumentError("W, y and sigma must be finite numbers, and sigma not zero")
        kept = np.sqrt(self.forgetting) * self.factor
        stacked = frozen(triangle(np.concatenate([kept, added])))
        return replace(self, factor=stacked, rows=self.forgetting * self.rows + len(added))

    @property
    def solution(self) -> Solution:
        """The values so far; what no row has decided yet is marked there."""
        return solve_triangle(self.factor, self.rows, np.ones(1))

    @property
    def values(self) -> Array:
        """(p,)"""
        return self.solution.values

    @property
    def covariance(self) -> Array:
        """(p, p), if sigma were the deviations of white noise."""
        return self.solution.inverse

    @property
    def residual(self) -> float:
        """Sum of squares that the values leave, in units of sigma."""
        return float(self.factor[-1, -1] ** 2)


def nothing_known(unknowns: int, *, forgetting: float = 1.0) -> Knowledge:
    """Before the first row."""
    return Knowledge(frozen(np.zeros((unknowns + 1, unknowns + 1))), 0.0, checked(forgetting))


def prior_knowledge(values: ArrayLike, covariance: ArrayLike, *, forgetting: float = 1.0) -> Knowledge:
    """Values (p,) known beforehand, with their covariance (p, p)."""
    beta, C = frozen(values), frozen(covariance)
    if C.shape != (len(beta), len(beta)):
        raise ArgumentError(f"the covariance has shape {C.shape}; needed is {(len(beta), len(beta))}")
    try:
        root = np.asarray(np.linalg.inv(np.linalg.cholesky(C)), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise ArgumentError("the covariance must be symmetric and positive definite") from None
    factor = triangle(np.column_stack([root, root @ beta]))
    known = np.zeros((len(beta) + 1, len(beta) + 1))
    known[: len(factor)] = factor
    return Knowledge(frozen(known), 0.0, checked(forgetting))


def follow(
    system: System,
    samples: Samples,
    sigma: ArrayLike | None = None,
    *,
    start: Knowledge | None = None,
) -> Iterator[tuple[float, Knowledge]]:
    """After each row of the samples, its time (s) and what is known by then; sigma (n,) of the efforts."""
    n, p = system.robot.dof, len(system.names)
    deviations = np.broadcast_to(np.asarray(1.0 if sigma is None else sigma, dtype=np.float64), (n,))
    known = nothing_known(p) if start is None else start
    for rows, panels in all_panels(system, samples):
        used = samples.weights[rows] > 0.0
        for k, time in enumerate(samples.time[samples.rows[rows]].tolist()):
            joints = np.flatnonzero(used[k])
            W, y = np.zeros((len(joints), p)), np.zeros(len(joints))
            for row, joint in enumerate(joints):
                W[row, system.columns[joint]] = panels[joint][:-1, k]
                y[row] = panels[joint][-1, k]
            known = known.updated(W, y, deviations[joints])
            yield time, known


def checked(forgetting: float) -> float:
    """A forgetting factor that can be used."""
    if not 0.0 < forgetting <= 1.0:
        raise ArgumentError(f"the forgetting factor must be above 0 and at most 1, not {forgetting:g}")
    return forgetting
