"""Total least squares: errors in the columns as well as in the efforts.

Ordinary least squares takes W for exact. Here the columns have errors of known sizes, in units of the error
of the efforts, and if need be known covariances C, since the noise of one acceleration is in many columns. A
column or a combination without error (an offset) stays exact. The values minimise |[dW C^-1/2, dy]|, subject
to (W + dW) beta = y + dy: after exact columns have been eliminated, they are the right singular vector of the
smallest singular value of what is left of [W C^-1/2, y] ([GolubVanLoan2013], Section 6.3).

The errors must be alike in all rows and have no memory, which those of filtered velocities and accelerations
have: so the values are consistent, but their covariance is that of white noise. `instrumental` needs neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import ArgumentError
from dynid.fit.instrumental import smoothed
from dynid.fit.panels import PanelWriter, chunks_of
from dynid.fit.reduction import Reduction, triangle
from dynid.fit.solve import Solution, solve, solve_triangle, weighted
from dynid.fit.system import System
from dynid.log.samples import Samples
from dynid.spatial import Array, frozen

AMBIGUOUS = 1e-8  # relative gap between the two smallest singular values
NEGLIGIBLE = 1e-12  # of the largest variance of a direction, columns of one length: that one is exact
LEAST_EFFORT_NOISE = 0.05  # of a residual's variance: what is left to the efforts at least
ROUNDS = 3  # of values and of the efforts' deviations, which need each other


@dataclass(frozen=True, eq=False)
class TotalSolution:
    """Values of p unknowns with errors in the columns."""

    values: Array  # (p,)
    covariance: Array  # (p, p), for many rows of white noise
    sigma: float  # deviation of the efforts' errors, and so of the columns' per unit of their sizes


@dataclass(frozen=True, eq=False)
class ColumnErrors:
    """Errors of one row, as far as they can be told from the motion's noise."""

    sigma: Array  # (n,) deviations of the efforts, joint by joint
    covariance: Array  # (p, p) of the columns, mean over all rows, each divided by its joint's sigma

    @property
    def sizes(self) -> Array:
        """Deviations of the columns, (p,)."""
        return np.sqrt(np.diag(self.covariance))


def fit_total(
    system: System, logs: Sequence[Samples], reduction: Reduction
) -> tuple[Solution, TotalSolution]:
    """Total least squares of all logs, whose reduction is given, with errors as `column_errors` finds them.

    The first solution has the values and deviations of the second, and is otherwise the weighted fit's.
    """
    values = weighted(reduction).values
    rows = float(reduction.rows.sum())
    errors, found = column_errors(system, logs, reduction, values), None
    for _ in range(ROUNDS):
        found = total_least_squares(reduction.joined(errors.sigma), rows, errors.covariance)
        errors = column_errors(system, logs, reduction, found.values)
    assert found is not None
    return replace(solve(reduction, errors.sigma), values=found.values), found


def column_errors(
    system: System, logs: Sequence[Samples], reduction: Reduction, values: ArrayLike
) -> ColumnErrors:
    """From what smoothing takes out of the measured motion; what values (p,) leave beyond is the efforts'.

    The columns of the measured motion less those of the smoothed one are their errors, but for what lies in
    the band of the motion, where accelerations are least disturbed.
    """
    beta, n = np.asarray(values, dtype=np.float64), system.robot.dof
    products = [np.zeros((len(columns), len(columns))) for columns in system.columns]
    for samples in logs:
        measured, ideal = PanelWriter(system, samples), PanelWriter(system, smoothed(samples))
        for chunk in chunks_of(samples):
            pairs = zip(measured.fill(chunk), ideal.fill(chunk), strict=True)
            for joint, (W, Z) in enumerate(pairs):
                E = W[:-1] - Z[:-1]
                products[joint] += E @ E.T
    from_columns = np.array([beta[c] @ P @ beta[c] for c, P in zip(system.columns, products, strict=True)])
    squares = reduction.residuals(beta)
    left = np.maximum(squares - from_columns, LEAST_EFFORT_NOISE * squares)
    sigma = np.sqrt(left / np.maximum(reduction.rows, 1.0))
    sigma = np.where(sigma > 0.0, sigma, 1.0)
    covariance = np.zeros((len(beta), len(beta)))
    for joint in range(n):
        c = system.columns[joint]
        covariance[np.ix_(c, c)] += products[joint] / sigma[joint] ** 2
    return ColumnErrors(frozen(sigma), frozen(covariance / max(float(reduction.rows.sum()), 1.0)))


def total_least_squares(data: Array, rows: float, errors: ArrayLike) -> TotalSolution:
    """From a triangle [R r; 0 rho] (p + 1, p + 1) of so many rows.

    errors: of the columns in units of those of the efforts, sizes (p,) or covariances (p, p).
    """
    p = data.shape[1] - 1
    C = _covariances(np.asarray(errors, dtype=np.float64), p)
    if solve_triangle(data, rows, np.ones(1)).undetermined.any():
        raise ArgumentError("the columns depend on each other: total least squares has no single answer")
    # Columns of one length, so that it means something how small the error of a combination is.
    lengths = np.linalg.norm(data[:, :p], axis=0)
    variances, V = np.linalg.eigh(C / np.outer(lengths, lengths))
    erring = variances > NEGLIGIBLE * max(float(variances[-1]), np.finfo(float).tiny)
    turn = V / np.where(erring, np.sqrt(np.maximum(variances, 0.0)), 1.0)  # erring columns with unit errors
    turn = (turn / lengths[:, None])[:, np.argsort(erring, kind="stable")]  # exact ones first
    k = p - int(np.count_nonzero(erring))
    R = triangle(np.column_stack([data[:, :p] @ turn, data[:, p]]))
    _, s, Vt = np.linalg.svd(R[k:, k:])
    if (len(s) > 1 and s[-2] - s[-1] <= AMBIGUOUS * s[-2]) or abs(Vt[-1, -1]) < AMBIGUOUS:
        raise ArgumentError("the errors of the columns hide what determines the values")
    x = np.empty(p)
    x[k:] = -Vt[-1, :-1] / Vt[-1, -1]
    if k:
        x[:k] = np.linalg.solve(R[:k, :k], R[:k, p] - R[:k, k:p] @ x[k:])
    values = turn @ x
    sigma = float(s[-1] / np.sqrt(max(rows - p, 1.0)))
    return TotalSolution(frozen(values), frozen(_covariance(data, values, C, rows, sigma)), sigma)


def _covariances(errors: Array, p: int) -> Array:
    """The covariances of the columns' errors, (p, p), or of sizes (p,) of independent ones."""
    if errors.shape not in ((p,), (p, p)) or not np.isfinite(errors).all():
        raise ArgumentError(
            f"errors of the columns must be {p} sizes or {(p, p)} covariances, finite numbers"
        )
    if errors.ndim == 1:
        if (errors < 0.0).any():
            raise ArgumentError("sizes of errors must not be negative")
        return np.diag(errors**2)
    if not np.allclose(errors, errors.T, rtol=1e-9, atol=0.0) or (np.diag(errors) < 0.0).any():
        raise ArgumentError("covariances of errors must be symmetric and positive semidefinite")
    return 0.5 * (errors + errors.T)


def _covariance(data: Array, values: Array, C: Array, rows: float, sigma: float) -> Array:
    """Of many rows with normal errors ([Fuller1987], Section 2.3), from W'W less that of the errors."""
    W = data[:, :-1]
    noise = rows * sigma**2 * C
    inverse = np.linalg.inv(W.T @ W - noise)
    whole = sigma**2 * (1.0 + float(values @ C @ values))
    crossed = C @ values
    B = whole * (W.T @ W) - rows * sigma**4 * np.outer(crossed, crossed)
    return inverse @ B @ inverse
