"""Values from a reduction: ordinary and weighted least squares, with prior values where these are wanted.

Columns are scaled to one length before any rank is judged. A direction that the data do not determine keeps
its prior value, zero where there is none, and everything involved in it is named: nothing is inverted that
has no inverse.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.errors import ArgumentError
from dynid.fit.reduction import Reduction, triangle
from dynid.spatial import Array, frozen

_linalg: Any = import_module("scipy.linalg")  # it has no types

DEPENDENT = 1e-10  # of a column's length: what is left of it beside the others, if it depends on them
INVOLVED = 1e-6  # of a direction; a parameter with a smaller share of it is determined
ROUNDS = 50  # of weighting
SETTLED = 1e-6  # relative change of all sigmas
LEAST_WEIGHT = 1e-3
REFINEMENTS = 3  # each adds the digits by which 1 / condition is above rounding


@dataclass(frozen=True, eq=False)
class Prior:
    """Values (p,) the fit is drawn to, and how strongly.

    NaN is drawn to zero, by `LEAST_WEIGHT` at most: enough to keep what data leave open from becoming absurd.
    A weight of 1 counts as much as all the data if these were spread evenly over the unknowns: each unknown's
    own column has length `weight` times that of its data.
    """

    values: Array
    weight: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.weight) and self.weight >= 0.0):
            raise ArgumentError(f"the prior's weight must be 0 or more, not {self.weight:g}")


@dataclass(frozen=True, eq=False)
class Solution:
    """Values of p unknowns and what they rest on."""

    values: Array  # (p,)
    sigma: Array  # (n,) by which each joint's rows were divided
    factor: Array  # (p, p) triangle R of the weighted rows, the prior's included
    data: Array  # (p + 1, p + 1) triangle [R r; 0 rho] of the weighted rows of the data alone
    undetermined: NDArray[np.bool_]  # (p,) involved in a direction that neither data nor prior decide

    @cached_property
    def condition(self) -> float:
        """Of the weighted columns of the data, 2-norm."""
        return condition(self.data[:-1, :-1])

    @cached_property
    def scaled_condition(self) -> float:
        """With columns of one length."""
        return condition(self.data[:-1, :-1] / _lengths(self.data[:-1, :-1]))

    @property
    def scaled_sizes(self) -> Array:
        """Singular values of the data's columns, all of one length, the largest first; 0 for columns of 0."""
        columns = self.data[:-1, :-1] / _lengths(self.data[:-1, :-1])
        return np.asarray(np.linalg.svd(columns, compute_uv=False), dtype=np.float64)

    @cached_property
    def inverse(self) -> Array:
        """(R' R)^-1, (p, p), infinite on the diagonal where nothing is determined."""
        p, lengths = len(self.values), _lengths(self.factor)
        _, U, order, rank = _pivoted(self.factor / lengths)
        basis = order[:rank]  # any will do: what is determined has the same variance in all of them
        root = _linalg.solve_triangular(U[:rank, :rank], np.eye(rank)) / lengths[basis, None]
        found = np.zeros((p, p))
        found[np.ix_(basis, basis)] = root @ root.T
        found[self.undetermined], found[:, self.undetermined] = 0.0, 0.0
        found[self.undetermined, self.undetermined] = np.inf
        return found


def ordinary(reduction: Reduction, prior: Prior | None = None) -> Solution:
    """Ordinary least squares: all joints' equations count alike. Sigma is the common residual's."""
    n = len(reduction.triangles)
    solution = solve(reduction, np.ones(n), prior)
    rows = float(reduction.rows.sum())
    squares = float(reduction.residuals(solution.values).sum())
    common = np.sqrt(squares / max(rows - len(reduction.names), 1.0)) or 1.0
    return solve(reduction, np.full(n, common), prior)


def weighted(reduction: Reduction, prior: Prior | None = None) -> Solution:
    """Weighted least squares: each joint's equations are divided by its residual's deviation, iterated."""
    sigma = _floored(reduction, np.sqrt(reduction.efforts / np.maximum(reduction.rows, 1.0)))
    solution = solve(reduction, sigma, prior)
    for _ in range(ROUNDS):
        last = sigma
        share = hat_traces(reduction, solution)
        left = np.maximum(reduction.rows - share, 0.1 * np.maximum(reduction.rows, 1.0))
        sigma = _floored(reduction, np.sqrt(reduction.residuals(solution.values) / left))
        solution = solve(reduction, sigma, prior)
        if np.all(np.abs(sigma - last) <= SETTLED * last):
            break
    return solution


def _floored(reduction: Reduction, sigma: Array) -> Array:
    """Deviations that can be divided by: without noise, rounding of the efforts."""
    size = np.sqrt(reduction.efforts / np.maximum(reduction.rows, 1.0))
    return np.maximum(sigma, np.where(size > 0.0, 1e-12 * size, 1.0))


def hat_traces(reduction: Reduction, solution: Solution) -> Array:
    """How many unknowns each joint's rows pay for, (n,): the traces of their parts of the hat matrix."""
    inverse = np.where(np.isfinite(solution.inverse), solution.inverse, 0.0)
    pairs = zip(reduction.columns, reduction.triangles, solution.sigma, strict=True)
    return np.array([np.sum((R[:, :-1] @ inverse[np.ix_(c, c)]) * R[:, :-1]) / s**2 for c, R, s in pairs])


def solve(reduction: Reduction, sigma: Array, prior: Prior | None = None) -> Solution:
    """Least squares of all joints' rows, each divided by its joint's sigma (n,), and of the prior's."""
    return solve_triangle(reduction.joined(sigma), float(reduction.rows.sum()), sigma, prior)


def solve_triangle(data: Array, rows: float, sigma: Array, prior: Prior | None = None) -> Solution:
    """Least squares of a triangle [R r; 0 rho] that stands for so many rows, and of a prior."""
    p = data.shape[1] - 1
    target = np.zeros(p) if prior is None else np.nan_to_num(prior.values, nan=0.0)
    joined = data
    if prior is not None and prior.weight > 0.0:
        least = min(prior.weight, LEAST_WEIGHT)
        weights = np.where(np.isfinite(prior.values), prior.weight, least)
        pull = np.diag(weights * np.linalg.norm(data[:, :p], axis=0))
        joined = triangle(np.concatenate([data, np.column_stack([pull, pull @ target])]))
    factor, right = joined[:p, :p], joined[:p, p]
    values, undetermined = _solved(factor, right, target)
    return Solution(
        values=frozen(values),
        sigma=frozen(sigma),
        factor=frozen(factor),
        data=frozen(data),
        undetermined=undetermined,
    )


def _solved(R: Array, r: Array, target: Array) -> tuple[Array, NDArray[np.bool_]]:
    """The values next to `target` of all that fit equally well, and which of them that leaves open."""
    lengths = _lengths(R)
    Q, U, order, rank = _pivoted(R / lengths)
    if rank == len(lengths) > 0:  # nothing left open: straight from R, which costs no further digit
        return np.asarray(_linalg.solve_triangular(R, r), dtype=np.float64), np.zeros(rank, dtype=np.bool_)
    x = lengths * target
    right = Q.T @ (r - R @ target)
    step = np.zeros(len(x))
    undetermined = np.zeros(len(x), dtype=np.bool_)
    if rank:
        step[order[:rank]] = _linalg.solve_triangular(U[:rank, :rank], right[:rank])
    if rank < len(x):
        null = np.zeros((len(x), len(x) - rank))
        null[order[rank:]] = -np.eye(len(x) - rank)
        if rank:
            null[order[:rank]] = _linalg.solve_triangular(U[:rank, :rank], U[:rank, rank:])
        null = np.linalg.qr(null)[0]
        step -= null @ (null.T @ step)
        undetermined = np.asarray(np.abs(null).max(axis=1) > INVOLVED)
    return (x + step) / lengths, undetermined


def _pivoted(columns: Array) -> tuple[Array, Array, NDArray[np.intp], int]:
    """Q, U, the order of the columns (k, k) in it, and how many of them are independent of each other."""
    Q, U, order = _linalg.qr(columns, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(U))
    rank = int(np.count_nonzero(sizes > DEPENDENT * sizes[0])) if sizes.size and sizes[0] > 0.0 else 0
    return Q, U, order, rank


def condition(columns: Array) -> float:
    """2-norm condition number; infinite where a column depends on the others."""
    s = np.linalg.svd(columns, compute_uv=False)
    return float(s[0] / s[-1]) if s.size and s[-1] > 1e-14 * s[0] else float("inf")


def _lengths(columns: Array) -> Array:
    lengths = np.linalg.norm(columns, axis=0)
    return np.where(lengths > 0.0, lengths, 1.0)


def least_squares(X: Array, y: Array) -> Array:
    """Coefficients (k,) of columns X (m, k) for y (m,), to the last digits that y deserves.

    As every fit here is solved; with the rows at hand, residuals in extended precision (where the processor
    has it) correct coefficients and residual together, [Bjorck1996], Section 2.9.
    """
    first = solve_triangle(triangle(np.column_stack([X, y])), float(len(y)), np.ones(1))
    if first.undetermined.any():
        return np.asarray(first.values)
    units = 2.0 ** np.round(np.log2(_lengths(X)))  # scaling that rounds nothing
    Q, R = np.linalg.qr(X / units)
    A, b = (X / units).astype(np.longdouble), y.astype(np.longdouble)
    x = (first.values * units).astype(np.longdouble)
    r = b - A @ x
    for _ in range(REFINEMENTS):
        f, g = (b - r - A @ x).astype(np.float64), (-(A.T @ r)).astype(np.float64)
        h, d = _linalg.solve_triangular(R, g, trans="T"), Q.T @ f
        x += _linalg.solve_triangular(R, d - h)
        r += f + Q @ (h - d)
    return np.asarray(x.astype(np.float64) / units)
