"""What makes a motion good for identification: functions of W, each with its slope df/dW.

All but S see W only through the eigenvalues of A = W' W + P, with P the information of logs that are there
already. For f(eigenvalues) the slope is 2 W V diag(f') V'. Largest and smallest eigenvalue have kinks where
two of them meet, and at an optimum they do; so the optimiser is given sums of powers instead, which are
smooth and bound them:

    log cond = log(l_max / l_min) / 2 <= (log sum l^p + log sum l^-p) / (2 p)

With p = 2 that is half the logarithm of the Frobenius condition of W' W, Eq. (21) of [GK1992].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.errors import ArgumentError, choices
from dynid.spatial import Array

CRITERIA = ("condition", "d-optimal", "e-optimal", "combined")
SCALING_ZERO = 1e-12  # of the largest entry of W
_SMALLEST = 1e-15  # of the largest eigenvalue; what is below is rounding


@dataclass(frozen=True, eq=False)
class Known:
    """What recorded logs say already: the integral of Y' Y over their time, (b, b).

    W' W of a motion that takes `duration`, of which W holds some samples, is brought to the same scale.
    """

    information: Array
    duration: float
    rows_per_sample: int

    def share(self, W: Array) -> float:
        """Seconds per sample of W."""
        return self.duration * self.rows_per_sample / len(W)

    @property
    def root(self) -> Array:
        """R with R' R = information, (b, b)."""
        values, V = np.linalg.eigh(self.information)
        return np.sqrt(np.maximum(values, 0.0))[:, None] * V.T


@dataclass(frozen=True, eq=False)
class Criterion:
    """A criterion to be minimised, what is known before, and the share of S in the combined one."""

    kind: str = "condition"
    power: float = 2.0  # p above; larger is sharper and harder to optimise
    known: Known | None = None
    condition_weight: float = 1.0  # lambda_1 of Eq. (18) of [GK1992]
    scaling_weight: float = 0.01  # lambda_2
    possible: NDArray[np.bool_] | None = None  # entries of W that need not be zero, rows of one sample

    def __post_init__(self) -> None:
        if self.kind not in CRITERIA:
            raise ArgumentError(f"criterion {choices(self.kind, CRITERIA)}")
        if not (self.condition_weight >= 0.0 and self.scaling_weight >= 0.0):
            raise ArgumentError("the weights of condition and scaling must not be negative")
        if self.condition_weight == self.scaling_weight == 0.0:
            raise ArgumentError("one of the weights of condition and scaling must be positive")

    def __call__(self, W: Array) -> tuple[float, Array]:
        """f and df/dW for W (rows, b)."""
        if self.kind != "combined":
            return self._spectral(W, self.kind)
        c, dc = self._spectral(W, "condition")
        s, ds = self._scaling(W)
        largest = max(c, s)
        first = self.condition_weight * np.exp(c - largest)
        second = self.scaling_weight * np.exp(s - largest)
        total = first + second
        return float(largest + np.log(total)), (first * dc + second * ds) / total

    @property
    def easier(self) -> Criterion:
        """What to begin with: S has poles wherever an entry of W is zero, and leads astray from afar."""
        return replace(self, kind="condition") if self.kind == "combined" else self

    def measure(self, W: Array) -> float:
        """The criterion itself, without smoothing, on the scale of __call__."""
        if self.kind in ("condition", "combined"):
            condition = condition_number(W, self.known)
            if self.kind == "condition":
                return float(np.log(condition))
            return float(np.log(self.condition_weight * condition + self.scaling_weight * scaling_measure(W)))
        singular = _singular_values(W, self.known)
        with np.errstate(divide="ignore"):
            return float(-np.log(singular).mean() if self.kind == "d-optimal" else -np.log(singular[-1]))

    def _spectral(self, W: Array, kind: str) -> tuple[float, Array]:
        """log cond, -log det^(1/2b) or -log smallest singular value, smoothed, and the slope by W."""
        share = 1.0 if self.known is None else self.known.share(W)
        before = 0.0 if self.known is None else self.known.information
        values, V = np.linalg.eigh(share * (W.T @ W) + before)
        values = np.maximum(values, _SMALLEST * max(values[-1], np.finfo(float).tiny))
        if kind == "d-optimal":
            f, slope = -0.5 * np.log(values).mean(), -0.5 / (len(values) * values)
        else:
            f, slope = self._powers(values, -1)
            if kind == "condition":
                above, more = self._powers(values, 1)
                f, slope = f + above, slope + more
        return float(f), (2.0 * share * W) @ ((V * slope) @ V.T)

    def _powers(self, values: Array, sign: int) -> tuple[float, Array]:
        """log(sum l^(sign p)) / (2 p) and its slope."""
        p = sign * self.power
        logs = p * np.log(values)
        top = logs.max()
        terms = np.exp(logs - top)
        total = terms.sum()
        return float((top + np.log(total)) / (2.0 * self.power)), terms / total * sign / (2.0 * values)

    def _scaling(self, W: Array) -> tuple[float, Array]:
        """log S = log(max |W_ij| / min |W_ij|), Eq. (19) of [GK1992], smoothed the same way."""
        p = 4.0 * self.power
        sizes = np.maximum(np.abs(W), SCALING_ZERO * np.abs(W).max())
        logs = np.log(sizes)
        counted = self._counted(W)
        f, slope = 0.0, np.zeros_like(W)
        for sign in (1.0, -1.0):
            powers = np.where(counted, sign * p * logs, -np.inf)
            top = powers.max()
            terms = np.exp(powers - top)
            f += (top + np.log(terms.sum())) / p
            slope += sign * terms / terms.sum()
        return float(f), np.where(counted, np.sign(W) * slope / sizes, 0.0)

    def _counted(self, W: Array) -> NDArray[np.bool_]:
        if self.possible is None:
            return np.ones(W.shape, dtype=bool)
        return np.tile(self.possible, (len(W) // len(self.possible), 1))


# --- the measures themselves --------------------------------------------------------------------------


def condition_number(W: Array, known: Known | None = None) -> float:
    """The 2-norm condition number, Eq. (16) of [GK1992], of W together with what is known before."""
    singular = _singular_values(W, known)
    rounding = len(singular) * np.finfo(float).eps * singular[0]
    return float(singular[0] / singular[-1]) if singular[-1] > rounding else float("inf")


def _singular_values(W: Array, known: Known | None) -> Array:
    """Of W, by way of its triangular factor; b of them, zero where W has too few rows."""
    rows = W if known is None else np.vstack([np.sqrt(known.share(W)) * W, known.root])
    singular = np.linalg.svd(np.linalg.qr(rows, mode="r"), compute_uv=False)
    return np.concatenate([singular, np.zeros(W.shape[1] - len(singular))])


def qr_condition(W: Array) -> float:
    """An estimate of the same from a QR decomposition with column pivoting: |R_11| / |R_bb|."""
    linalg: Any = import_module("scipy.linalg")  # it has no types
    diagonal = np.abs(np.diag(linalg.qr(W, mode="r", pivoting=True)[0]))
    return float(diagonal[0] / diagonal[-1]) if diagonal[-1] else float("inf")


def frobenius_condition(W: Array) -> float:
    """|W' W|_F |(W' W)^-1|_F, Eqs. (21), (22) of [GK1992], from the singular values."""
    squares = np.linalg.svd(W, compute_uv=False) ** 2
    if squares[-1] == 0.0:
        return float("inf")
    return float(np.linalg.norm(squares) * np.linalg.norm(1.0 / squares))


def scaling_measure(W: Array) -> float:
    """S = max |W_ij| / min |W_ij| over entries that are not zero, Eq. (19) of [GK1992].

    What is below 1e-12 of the largest entry is zero, up to rounding.
    """
    sizes = np.abs(W)
    sizes = sizes[sizes > SCALING_ZERO * sizes.max(initial=0.0)]
    return float(sizes.max() / sizes.min()) if sizes.size else float("inf")
