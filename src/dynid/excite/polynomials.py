"""Bounds of polynomials of degree 5 and their derivatives over the parts of an interval.

In Bernstein's form a polynomial lies between its smallest and its largest coefficient; over a part of the
interval it has such a form, too, and the shorter the part, the tighter the bounds.
"""

from __future__ import annotations

from functools import cache
from math import comb, prod

import numpy as np

from dynid.spatial import Array

DEGREE = 5


def derived(powers: Array, order: int) -> Array:
    """Coefficients of 1, u, .. of a derivative by u, (..., 6 - order, n) from (..., 6, n)."""
    size = powers.shape[-2]
    factors = np.array([prod(range(k - order + 1, k + 1)) for k in range(order, size)], dtype=np.float64)
    return np.asarray(powers[..., order:, :] * factors[:, None], dtype=np.float64)


def bounds(powers: Array, parts: int) -> tuple[Array, Array]:
    """Lower and upper bounds over equal parts of 0 <= u <= 1, (..., parts, n) from (..., d + 1, n)."""
    points = np.einsum("pab,...bj->...paj", to_bernstein(powers.shape[-2] - 1, parts), powers)
    return points.min(axis=-2), points.max(axis=-2)


@cache
def to_bernstein(degree: int, parts: int) -> Array:
    """From coefficients of powers of u to Bernstein's on every part, (parts, degree + 1, degree + 1)."""
    numbers = range(degree + 1)
    convert = np.array([[comb(i, j) / comb(degree, j) for j in numbers] for i in numbers])
    h = 1.0 / parts
    shifts = [
        [[comb(k, j) * (p * h) ** (k - j) * h**j if k >= j else 0.0 for k in numbers] for j in numbers]
        for p in range(parts)
    ]
    return convert @ np.array(shifts)


def middles(powers: Array, parts: int) -> Array:
    """Values in the middle of every part, (..., parts, n) from (..., d + 1, n)."""
    u = (np.arange(parts) + 0.5) / parts
    return at(powers, u)


def at(powers: Array, u: Array) -> Array:
    """Values at u (M,), (..., M, n) from (..., d + 1, n)."""
    return np.asarray(u[:, None] ** np.arange(powers.shape[-2]) @ powers, dtype=np.float64)
