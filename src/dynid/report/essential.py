"""How few parameters would do: backward elimination on the triangle of an estimate's equations."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from dynid.estimate import Estimate
from dynid.fit.essential import LEVEL
from dynid.fit.reduction import triangle
from dynid.fit.system import Indices
from dynid.report.data import Essential
from dynid.spatial import Array

_linalg: Any = import_module("scipy.linalg")  # it has no types
_special: Any = import_module("scipy.special")

MOST = 200  # parameters; each that goes costs one factorisation


def essential_of(estimate: Estimate) -> Essential | None:
    """Parameters in the order in which they are missed least; those the F test misses are essential.

    What the data do not determine goes first. None if there are too many parameters.
    """
    if len(estimate.names) > MOST:
        return None
    kept: Indices = np.flatnonzero(np.isfinite(estimate.std))
    if not len(kept) or not estimate.residual > 0.0:
        return None
    limit = float(_special.fdtri(1.0, max(estimate.freedom, 1.0), 1.0 - LEVEL))
    total = float(np.sum(estimate.information[:, -1] ** 2)) + estimate.residual
    factor = triangle(estimate.information[:, np.append(kept, len(estimate.names))])
    cost = estimate.residual + float(factor[-1, -1] ** 2)
    variance = cost / max(estimate.freedom, 1.0)
    dropped = [name for k, name in enumerate(estimate.names) if k not in kept]
    essential = [name for k, name in enumerate(estimate.names) if k in kept]
    errors, decided = [_percent(cost, total)], False
    while len(kept) > 1:
        missed = increases(factor)
        least = int(np.argmin(missed))
        decided = decided or missed[least] > limit * variance
        if not decided:
            dropped.append(estimate.names[int(kept[least])])
            essential.remove(dropped[-1])
        cost += float(missed[least])
        kept = np.delete(kept, least)
        factor = triangle(np.delete(factor, least, axis=1))
        errors.append(_percent(cost, total))
    return Essential(kept=tuple(essential), dropped=tuple(dropped), errors=tuple(errors))


def increases(factor: Array) -> Array:
    """By how much the sum of squares of a triangle [R r; 0 rho] grows without each unknown, (p,)."""
    inverse = _linalg.solve_triangular(factor[:-1, :-1], np.eye(len(factor) - 1))
    return np.asarray((inverse @ factor[:-1, -1]) ** 2 / np.sum(inverse**2, axis=1), dtype=np.float64)


def _percent(cost: float, total: float) -> float:
    return 100.0 * float(np.sqrt(cost / total))
