"""Samples to leave out, as flags (N, n) or (N,): at rest, saturated, or asked for by the user."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from dynid.signals.clock import Flags
from dynid.spatial import Array

_ndimage: Any = import_module("scipy.ndimage")  # it has no types

STANDSTILL_SPEED = 0.01  # rad/s or m/s; slower joints stick, and their friction is any value up to Coulomb's
SATURATED_SHARE, EXCEEDED = 0.995, 1.1  # of the limit


def near_standstill(qd: Array, speed: float = STANDSTILL_SPEED, around: int = 0) -> Flags:
    """Joints (N, n) slower than `speed` throughout `around` samples on either side: not a mere reversal."""
    fastest = _ndimage.maximum_filter1d(np.abs(qd), 2 * around + 1, axis=0, mode="nearest")
    return fastest < speed


def saturated(tau: Array, limit: Array) -> Flags:
    """Efforts (N, n) at their limits (n,); infinite or unknown limits are never reached.

    Nor is a limit that efforts plainly exceed: whatever it means, it does not cut them off.
    """
    size = np.abs(tau)
    with np.errstate(invalid="ignore"):
        cuts = np.isfinite(limit) & (limit > 0) & (size.max(axis=0, initial=0.0) <= EXCEEDED * limit)
    return size >= SATURATED_SHARE * np.where(cuts, limit, np.inf)


def inside(time: Array, intervals: Sequence[tuple[float, float]]) -> Flags:
    """Instants (N,) within one of the closed intervals (s)."""
    flags = np.zeros(len(time), dtype=bool)
    for first, last in intervals:
        flags |= (time >= first) & (time <= last)
    return flags


def widened(flags: Flags, around: int) -> Flags:
    """Flags (N, ...) raised wherever one is raised within `around` samples."""
    return np.asarray(_ndimage.maximum_filter1d(flags.astype(np.uint8), 2 * around + 1, axis=0), dtype=bool)
