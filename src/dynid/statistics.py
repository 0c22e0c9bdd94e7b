"""What values are worth: deviations that know the noise is coloured, intervals, correlation.

Least squares with rows X, weights included, errs by (X'X)^-1 X' e for noise e. If the noise of a joint has
the autocorrelation Omega, the covariance is

    (X'X)^-1 (sum over joints of X_j' Omega_j X_j) (X'X)^-1

and not (X'X)^-1, which is far too small once rows have passed a filter. Omega_j comes from the residuals, as
a spectrum, so that X' Omega X is a sum over frequencies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
NEGLIGIBLE_LEVERAGE = 2e-4  # unknowns per row; if there are no more, the fit leaves the noise as it is
MOST_TAKEN = 0.9  # of the noise at any frequency


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

    def scaled(self, factor: float) -> Uncertainty:
        """With deviations so many times as large."""
        return replace(
            self, covariance=frozen(factor**2 * self.covariance), white=frozen(factor**2 * self.white)
        )

    def widened(self, more: Array) -> Uncertainty:
        """With a further covariance (p, p), of something else than noise."""
        return replace(self, covariance=frozen(self.covariance + more))


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


def noise_of(logs: Sequence[Runs], solution: Solution) -> Noise:
    """Autocovariances of the noise, from what a solution leaves of one log or several."""
    sums = _Sums(len(logs[0].columns), _most_lags(logs))
    root = _leverage_root(solution, sum(one.rows for one in logs))
    for one in logs:
        for panels in one.read():
            for joint, (panel, columns) in enumerate(zip(panels, one.columns, strict=True)):
                e = panel[-1] - solution.values[columns] @ panel[:-1]
                Q = None if root is None else root[columns].T @ panel[:-1] / solution.sigma[joint]
                sums.add(joint, e, np.asarray(panel.any(axis=0), dtype=np.bool_), Q)
    found = [sums.autocovariance(joint) for joint in range(len(logs[0].columns))]
    return Noise(tuple(map(frozen, found)), frozen([_independent(covariance) for covariance in found]))


def _most_lags(logs: Sequence[Runs]) -> int:
    return min(MOST_LAGS, max(max(one.rows for one in logs) // 4, 1))


def _leverage_root(solution: Solution, rows: int) -> Array | None:
    """C (p, p) with W C' the orthonormal columns of the fit; None where these are few beside the rows."""
    p = len(solution.values)
    if p < NEGLIGIBLE_LEVERAGE * rows:
        return None
    inverse = np.where(np.isfinite(solution.inverse), solution.inverse, 0.0)
    values, V = np.linalg.eigh(inverse)
    return V * np.sqrt(np.maximum(values, 0.0))


class _Sums:
    """Products of rows with later rows, by lag, joint by joint."""

    def __init__(self, joints: int, lags: int) -> None:
        self._products = np.zeros((joints, lags))
        self._pairs = np.zeros((joints, lags))
        self._leverage = np.zeros((joints, lags))
        self._rows = np.zeros(joints)

    def add(self, joint: int, e: Array, used: NDArray[np.bool_], Q: Array | None) -> None:
        """A run of residuals (m,), those of the rows that count, and the fit's columns Q (k, m)."""
        self._rows[joint] += used.sum()
        self._products[joint] += self._correlated(np.where(used, e, 0.0)[None])
        self._pairs[joint] += self._correlated(used[None].astype(np.float64))
        if Q is not None:
            self._leverage[joint] += self._correlated(Q)

    def _correlated(self, x: Array) -> Array:
        """Sum over rows of x (k, m) and over instants t of x(t) x(t + lag), (lags,)."""
        lags = self._products.shape[1]
        length = _fft.next_fast_len(x.shape[1] + lags, real=True)
        spectrum = np.sum(np.abs(_fft.rfft(x, length, axis=1)) ** 2, axis=0)
        return _fft.irfft(spectrum, length)[:lags]

    def autocovariance(self, joint: int) -> Array:
        """Over lags as long as there is correlation, tapered towards the last.

        A fit takes some of the noise away with its columns, most where these have their spectrum: of a
        residual's spectrum 1 - h is left, h being the spectrum of the columns, and is divided by.
        """
        pairs = np.maximum(np.rint(self._pairs[joint]), 1.0)
        gamma = self._products[joint] / pairs
        if self._rows[joint] < 4 or gamma[0] <= 0.0:
            return np.maximum(gamma[:1], 0.0)
        memory = min(_memory(gamma / gamma[0], int(self._rows[joint])), len(gamma))
        lags = np.arange(min(2 * memory, len(gamma)))
        window = np.minimum(1.0, 2.0 * (1.0 - lags / len(lags)))
        noise = _spectrum(gamma[: len(lags)] * window)
        taken = _spectrum(self._leverage[joint][: len(lags)] / pairs[: len(lags)] * window)
        spectrum = np.maximum(noise, 0.0) / (1.0 - np.clip(taken, 0.0, MOST_TAKEN))
        return np.asarray(_fft.irfft(spectrum, 4 * len(lags)), dtype=np.float64)[: 2 * len(lags)]


def _spectrum(autocovariance: Array) -> Array:
    """Of an even sequence whose half (lags,) is given, at 2 lags + 1 frequencies."""
    lags = len(autocovariance)
    both = np.zeros(4 * lags)
    both[:lags] = autocovariance
    both[4 * lags - lags + 1 :] = autocovariance[:0:-1]
    return np.asarray(_fft.rfft(both).real, dtype=np.float64)


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
