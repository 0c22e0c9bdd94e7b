"""How far errors of the data can move a least squares solution: condition numbers and bounds of [GK1992].

With the condition number Cond_p(W) = |W|_p |W^+|_p in the 1-, 2- or infinity-norm, Eq. (14), section 3 says

    |dX| / |X|       <=  Cond(W) |dY| / |Y|     if only Y errs, Eq. (12)
    |dX| / |X + dX|  <=  Cond(W) |dW| / |W|     if only W errs, Eq. (13)

for as many equations as unknowns. With more equations Eq. (12) holds with |W X| in the place of |Y|, the same
where the model fits, and Eq. (13) up to a term that grows with the residual. Bounds say little unless the
errors of all columns are alike: columns should be scaled first, as Example 2 of the appendix shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import ArgumentError, choices
from dynid.fit.solve import least_squares
from dynid.spatial import Array

Norm = Literal["1", "2", "inf"]
ORDERS: dict[Norm, float] = {"1": 1, "2": 2, "inf": float("inf")}


@dataclass(frozen=True)
class Perturbation:
    """The effect of errors in Y or in W, in one norm."""

    norm: Norm
    condition: float  # of W
    data_error: float  # |dY| / |Y|, or |dW| / |W|
    error: float  # |dX| / |X|, or |dX| / |X + dX| where W errs
    bound: float  # condition times data_error

    @property
    def ratio(self) -> float:
        """Bound by error: how many times smaller the error is than it might be."""
        return self.bound / self.error if self.error > 0.0 else float("inf")


def condition_number(W: ArrayLike, norm: Norm = "2") -> float:
    """Cond_p(W) of a matrix (m, n), Eq. (14); infinite if its columns depend on each other."""
    if norm not in ORDERS:
        raise ArgumentError(f"norm {choices(norm, ORDERS)}")
    columns = np.asarray(W, dtype=np.float64)
    s = np.linalg.svd(columns, compute_uv=False)
    if len(columns) < columns.shape[1] or s[-1] <= max(columns.shape) * np.finfo(float).eps * s[0]:
        return float("inf")
    if norm == "2":
        return float(s[0] / s[-1])  # Eq. (16)
    order = ORDERS[norm]
    return float(np.linalg.norm(columns, order) * np.linalg.norm(np.linalg.pinv(columns), order))


def scaling(W: ArrayLike) -> float:
    """S, the largest entry of W by its smallest, in absolute values: Eq. (19); infinite if one is zero."""
    sizes = np.abs(np.asarray(W, dtype=np.float64))
    smallest = float(sizes.min())
    return float(sizes.max()) / smallest if smallest > 0.0 else float("inf")


def effort_error(W: ArrayLike, Y: ArrayLike, dY: ArrayLike, norm: Norm = "2") -> Perturbation:
    """Of errors dY (m,) in Y (m,), Eq. (12)."""
    columns, y, dy = (np.asarray(x, dtype=np.float64) for x in (W, Y, dY))
    X, moved = least_squares(columns, y), least_squares(columns, y + dy)
    return _compared(columns, norm, _share(dy, y, norm), _share(moved - X, X, norm))


def column_error(W: ArrayLike, Y: ArrayLike, dW: ArrayLike, norm: Norm = "2") -> Perturbation:
    """Of errors dW (m, n) in W (m, n), Eq. (13)."""
    columns, y, dw = (np.asarray(x, dtype=np.float64) for x in (W, Y, dW))
    X, moved = least_squares(columns, y), least_squares(columns + dw, y)
    return _compared(columns, norm, _share(dw, columns, norm), _share(moved - X, moved, norm))


def _compared(W: Array, norm: Norm, data_error: float, error: float) -> Perturbation:
    condition = condition_number(W, norm)
    return Perturbation(norm, condition, data_error, error, condition * data_error)


def _share(part: Array, whole: Array, norm: Norm) -> float:
    return float(np.linalg.norm(part, ORDERS[norm]) / np.linalg.norm(whole, ORDERS[norm]))
