"""What values are worth: deviations that know the noise is coloured, intervals, correlation.

Least squares with rows X, weights included, errs by (X'X)^-1 X' e for noise e. If the noise of a joint has
the autocorrelation Omega, the covariance is

    (X'X)^-1 (sum over joints of X_j' Omega_j X_j) (X'X)^-1

and not (X'X)^-1, which is far too small once rows have passed a filter. Omega_j comes from the residuals, as
a spectrum, so that X' Omega X is a sum over frequencies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.fit.runs import Runs
from dynid.fit.solve import Solution
from dynid.spatial import Array, frozen

_fft: Any = import_module("scipy.fft")  # it has no types
_special: Any = import_module("scipy.special")

LEAST_LAGS, MOST_LAGS = 8, 400  # rows
QUIET_LAGS = 6  # in a row without correlation end the memory of the noise


@dataclass(frozen=True, eq=False)
class Noise:
    """Autocovariances of each joint's residual, and how many independent rows that makes."""

    autocovariance: tuple[Array, ...]  # per joint, (lags,), tapered
    independent: Array  # (n,) share of the rows that count as independent


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Covariances of p values."""

    covariance: Array  # (p, p), of coloured noise
    white: Array  # (p, p), as if every row had noise of its own: the papers' formula
    freedom: float  # degrees of freedom of the residual

    @property
    def std(self) -> Array:
        return deviations(self.covariance)


def deviations(covariance: Array) -> Array:
    """Standard deviations (p,)."""
    return np.sqrt(np.maximum(np.diag(covariance), 0.0))


def correlation(covariance: Array) -> Array:
    """Correlation coefficients (p, p); 0 beside values that are not determined."""
    std = deviations(covariance)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = covariance / np.outer(std, std)
    found[~np.isfinite(found)] = 0.0
    np.fill_diagonal(found, 1.0)
    return found


def interval_factor(freedom: float, level: float = 0.95) -> float:
    """Half the width of a confidence interval in standard deviations (Student's t)."""
    return float(_special.stdtrit(max(freedom, 1.0), 0.5 + 0.5 * level))


# --- the noise -----------------------------------------------------------------------------------------


def noise_of(series: Sequence[tuple[Array, Array]], freedom_share: Array) -> Noise:
    """Autocovariances from residuals (M, n) and weights (M, n) of one log or several.

    `freedom_share` (n,): of each joint's independent rows that are left after the fit has taken its unknowns.
    """
    count = series[0][0].shape[1]
    found: list[Array] = []
    share: list[float] = []
    for joint in range(count):
        covariance = _autocovariance([(e[:, joint], w[:, joint] > 0.0) for e, w in series])
        share.append(_independent(covariance))
        found.append(covariance)
    independent = np.array(share)
    scaled = [c / max(1.0 - taken / s, 0.1) for c, taken, s in zip(found, freedom_share, share, strict=True)]
    return Noise(tuple(frozen(c) for c in scaled), frozen(independent))


def _autocovariance(parts: Sequence[tuple[Array, NDArray[np.bool_]]]) -> Array:
    """Of rows that count, over lags as long as there is correlation, tapered towards the last."""
    rows = sum(int(used.sum()) for _, used in parts)
    most = min(MOST_LAGS, max(max(len(e) for e, _ in parts) // 4, 1))
    products, pairs = np.zeros(most), np.zeros(most)
    for e, used in parts:
        length = _fft.next_fast_len(len(e) + most)
        for sums, values in ((products, np.where(used, e, 0.0)), (pairs, used.astype(float))):
            spectrum = np.abs(_fft.rfft(values, length)) ** 2
            together = _fft.irfft(spectrum, length)[:most]
            sums[: len(together)] += together
    gamma = products / np.maximum(np.rint(pairs), 1.0)
    if rows < 4 or gamma[0] <= 0.0:
        return np.maximum(gamma[:1], 0.0)
    memory = min(_memory(gamma / gamma[0], rows), most)
    lags = np.arange(min(2 * memory, most))
    return gamma[: len(lags)] * np.minimum(1.0, 2.0 * (1.0 - lags / len(lags)))


def _memory(rho: Array, rows: int) -> int:
    """The lag after which correlations do not differ from none."""
    quiet = np.abs(rho) < 2.0 / np.sqrt(rows)
    run = 0
    for lag, is_quiet in enumerate(quiet.tolist()):
        run = run + 1 if is_quiet else 0
        if run == QUIET_LAGS:
            return max(lag - QUIET_LAGS + 1, LEAST_LAGS)
    return len(rho)


def _independent(covariance: Array) -> float:
    """Share of rows that count as independent for a variance: g0^2 / sum of g_l^2 over lags of both signs."""
    squares = float(2.0 * np.sum(covariance**2) - covariance[0] ** 2)
    return float(covariance[0] ** 2 / squares) if squares > 0.0 else 1.0


# --- the covariance --------------------------------------------------------------------------------------


def uncertainty(solution: Solution, logs: Sequence[Runs], noise: Noise, rows: float) -> Uncertainty:
    """Covariances of a solution from the equations it was made of, which had so many rows in all."""
    p = len(solution.values)
    meat = np.zeros((p, p))
    for runs in logs:
        meat += _coloured(runs, noise, solution.sigma, p)
    meat += solution.factor.T @ solution.factor - solution.data[:p, :p].T @ solution.data[:p, :p]  # the prior
    inverse = np.where(np.isfinite(solution.inverse), solution.inverse, 0.0)
    covariance = inverse @ meat @ inverse
    unit = np.array([c[0] for c in noise.autocovariance]) / solution.sigma**2
    white = inverse * float(np.mean(unit))
    for matrix in (covariance, white):
        matrix[solution.undetermined, solution.undetermined] = np.inf
    freedom = float(rows * np.mean(noise.independent) - p)
    return Uncertainty(frozen(0.5 * (covariance + covariance.T)), frozen(white), max(freedom, 1.0))


def _coloured(runs: Runs, noise: Noise, sigma: Array, p: int) -> Array:
    """Sum over joints of X' Omega X / sigma^4, (p, p), with Omega the covariance of the noise."""
    meat = np.zeros((p, p))
    for panels in runs.read():
        parts = zip(panels, runs.columns, noise.autocovariance, sigma.tolist(), strict=True)
        for panel, columns, autocovariance, s in parts:
            product = spectral_product(panel[:-1], autocovariance)
            meat[np.ix_(columns, columns)] += product * (runs.factor / s**4)
    return meat


def spectral_product(X: Array, autocovariance: Array) -> Array:
    """X Omega X' for rows X (k, m) and noise of this autocovariance."""
    length = _fft.next_fast_len(X.shape[1] + len(autocovariance), real=True)
    two_sided = np.zeros(length)
    two_sided[: len(autocovariance)] = autocovariance
    two_sided[length - len(autocovariance) + 1 :] = autocovariance[:0:-1]
    spectrum = np.maximum(_fft.rfft(two_sided).real, 0.0)
    weight = np.full(len(spectrum), 2.0)  # of both signs of the frequency
    weight[0] = 1.0
    if length % 2 == 0:
        weight[-1] = 1.0
    transformed = _fft.rfft(X, length, axis=1) * np.sqrt(spectrum * weight / length)
    return transformed.real @ transformed.real.T + transformed.imag @ transformed.imag.T
