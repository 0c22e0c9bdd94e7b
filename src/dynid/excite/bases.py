"""Families of smooth motions that are linear in their coefficients, with exact derivatives.

    q_j(t) = sum over k of b_k(t) c_kj        0 <= t <= period

b_1 is the constant 1, so c_1 is a pose; all others start and end at rest, with neither velocity nor
acceleration, because they span the null space of these conditions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from dynid.errors import ArgumentError
from dynid.spatial import Array

DEGREE = 5  # of splines: velocities and accelerations are smooth, and jerk is continuous


@dataclass(frozen=True, eq=False)
class Basis:
    """The functions b_k of one joint; `at` gives them and three derivatives at times, (4, N, K)."""

    period: float
    size: int
    samples: int  # over which the products of these functions are resolved
    at: Callable[[Array], Array]


def fourier(period: float, harmonics: int) -> Basis:
    """Sines and cosines of 1 .. `harmonics` times the frequency 1 / period; the motion can be repeated."""
    _check_period(period)
    if harmonics < 2:
        raise ArgumentError(
            f"{harmonics} harmonics leave nothing that starts and ends at rest: 2 or more are needed"
        )
    if harmonics > 100:
        raise ArgumentError(f"{harmonics} harmonics are too many: at most 100")

    def waves(times: Array) -> Array:
        k = 2.0 * np.pi / period * np.arange(1, harmonics + 1)
        s, c = np.sin(np.multiply.outer(times, k)), np.cos(np.multiply.outer(times, k))
        rows = ((s, -c), (k * c, k * s), (-k * k * s, k * k * c), (-(k**3) * c, -(k**3) * s))
        return np.stack([np.hstack([a / k, b / k]) for a, b in rows])

    at_rest = waves(np.zeros(1))[1:3, 0]
    return _with_constant(period, waves, at_rest, 16 * harmonics)


def spline(period: float, pieces: int, *, closed: bool = False, periodic: bool = False) -> Basis:
    """Quintic B-splines with `pieces` intervals of one length.

    Closed ones end where they started; periodic ones can be repeated, smooth up to the jerk and its rate.
    """
    _check_period(period)
    least = 6 if periodic else 4 if closed else 3
    if not least <= pieces <= 200:
        raise ArgumentError(f"a spline needs {least} to 200 pieces, not {pieces}")
    interpolate: Any = import_module("scipy.interpolate")  # it has no types
    inner = np.linspace(0.0, period, pieces + 1)
    knots = np.concatenate([np.zeros(DEGREE), inner, np.full(DEGREE, period)])
    every = interpolate.BSpline(knots, np.eye(pieces + DEGREE), DEGREE)

    def bumps(times: Array) -> Array:
        return np.stack([every.derivative(m)(times) if m else every(times) for m in range(4)])

    # The splines sum to one, so without the first of them the constant is no longer among them.
    def all_but_one(times: Array) -> Array:
        return bumps(times)[:, :, 1:]

    ends = all_but_one(np.array([0.0, period]))
    conditions = ends[1:3].reshape(4, -1)
    if closed or periodic:
        conditions = np.vstack([conditions, ends[0, 1] - ends[0, 0]])
    if periodic:
        jumps = [every.derivative(m)(period) - every.derivative(m)(0.0) for m in (3, 4)]
        conditions = np.vstack([conditions, *(jump[1:] for jump in jumps)])
    return _with_constant(period, all_but_one, conditions, 10 * pieces)


def _with_constant(
    period: float, functions: Callable[[Array], Array], conditions: Array, samples: int
) -> Basis:
    """The constant, and the combinations of other functions that meet conditions @ c = 0, of size one."""
    lengths = np.linalg.norm(conditions, axis=1, keepdims=True)
    _, singular, V = np.linalg.svd(conditions / lengths)
    free = V[np.count_nonzero(singular > 1e-10) :].T
    samples = max(samples, 80)
    size = np.sqrt(np.mean((functions((np.arange(samples) + 0.5) * period / samples)[0] @ free) ** 2, axis=0))
    free = free / size

    def at(times: Array) -> Array:
        constant = np.zeros((4, len(times), 1))
        constant[0] = 1.0
        return np.concatenate([constant, functions(times) @ free], axis=2)

    return Basis(period, 1 + free.shape[1], samples, at)


def _check_period(period: float) -> None:
    if not (np.isfinite(period) and period > 0.0):
        raise ArgumentError(f"the period must be a positive number of seconds, not {period:g}")
