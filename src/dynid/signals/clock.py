"""When samples were taken: the nominal period, steps that are gaps, and a uniform clock instead.

A *gap* is a step of more than 1.5 nominal periods. Nothing is made up inside a gap.
"""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.errors import ArgumentError
from dynid.spatial import Array

_interpolate: Any = import_module("scipy.interpolate")  # it has no types

GAP_PERIODS = 1.5
REGULAR = 1e-3  # periods; stamps this close to a uniform clock are taken for one

Flags = NDArray[np.bool_]
Interval = tuple[int, int]  # first sample, and one past the last


def seconds(stamp_ns: NDArray[np.int64]) -> Array:
    """Seconds (N,) since the first stamp, each the float nearest to it.

    So a step of 1.5 nominal periods to the digit is judged as by anybody who reads the file as floats.
    """
    return (stamp_ns - stamp_ns[0]) / 1e9


def nominal_period(time: Array) -> float:
    """The median of the steps forward of the stamps `time` (N,), in their unit."""
    steps = np.diff(time)
    forward = steps[steps > 0]
    if not forward.size:
        raise ArgumentError(
            "the stamps never advance: at least two samples with increasing stamps are needed"
        )
    return float(np.median(forward))


def in_order(time: Array | NDArray[np.int64]) -> Flags:
    """Which samples (N,) are later than every sample before them."""
    latest = np.maximum.accumulate(time)
    return np.concatenate([np.ones(min(len(time), 1), dtype=bool), time[1:] > latest[:-1]])


def gaps(time: Array, period: float) -> NDArray[np.intp]:
    """Numbers of the samples that are followed by a gap."""
    return np.flatnonzero(np.diff(time) > GAP_PERIODS * period)


def repeated(position: Array) -> Flags:
    """Which samples (N,) have all positions identical to those of the sample before."""
    same = (position[1:] == position[:-1]).all(axis=1)
    return np.concatenate([np.zeros(min(len(position), 1), dtype=bool), same])


def plain_step(position: Array) -> Array:
    """(n,) the step beyond which a joint plainly moves: two of its encoder, a tenth of its usual one.

    Of positions (N, n) of which none repeats the one before.
    """
    steps = np.abs(np.diff(position, axis=0))
    quantum = np.min(np.where(steps > 0, steps, np.inf), axis=0, initial=np.inf)
    usual = np.sqrt(np.einsum("ij,ij->j", steps, steps) / max(len(steps), 1))
    return np.maximum(2.5 * quantum, 0.1 * usual)


def stale(position: Array) -> Flags:
    """Which of the repeated samples (N,) are copies of an old state, and not a robot at rest.

    A repeated sample is a copy if a joint was plainly moving just before and just after: by more than two
    steps of its encoder, and by a tenth or more of its usual step.
    """
    same = repeated(position)
    fresh = np.flatnonzero(~same)
    if len(fresh) < 3 or len(fresh) == len(position):
        return np.zeros(len(position), dtype=bool)
    moving = np.abs(np.diff(position[fresh], axis=0)) > plain_step(position[fresh])
    through = np.zeros(len(fresh), dtype=bool)  # moving into this sample and out of it
    through[1:-1] = (moving[:-1] & moving[1:]).any(axis=1)
    return same & through[np.searchsorted(fresh, np.arange(len(position)), side="right") - 1]


def split(time: Array, longest_step: float, breaks: NDArray[np.intp] | None = None) -> tuple[Interval, ...]:
    """Intervals of samples without a step longer than `longest_step`; each of `breaks` begins one, too."""
    cuts = np.flatnonzero(np.diff(time) > longest_step) + 1
    cuts = cuts if breaks is None else np.union1d(cuts, breaks)
    edges = [0, *cuts.tolist(), len(time)]
    return tuple((first, last) for first, last in pairwise(edges) if last > first)


def uniform(time: Array, period: float) -> Array:
    """The uniform clock from the first stamp on, not beyond the last."""
    return time[0] + period * np.arange(int(np.floor((time[-1] - time[0]) / period + REGULAR)) + 1)


def resample(time: Array, values: Array, clock: Array) -> Array:
    """Values (N, ...) at increasing stamps `time`, on the instants `clock` (M,) within them.

    Cubic spline: what lies below a quarter of the sampling rate passes with an error of order (w h)^4 / 384.
    Thinning out to a lower rate is for `filters.Decimator`, which removes first what would fold back.
    """
    if len(time) == len(clock) and np.abs(time - clock).max() <= REGULAR * nominal_period(time):
        return values
    if len(time) < 4:
        raise ArgumentError(f"{len(time)} samples cannot be resampled: at least 4 are needed")
    return np.asarray(_interpolate.make_interp_spline(time, values, k=3)(clock), dtype=np.float64)


def inside_gaps(clock: Array, time: Array, period: float) -> Flags:
    """Which instants of `clock` lie strictly inside a gap of the stamps `time`."""
    before = np.searchsorted(time, clock, side="right") - 1
    before = np.clip(before, 0, len(time) - 2)
    long = np.diff(time)[before] > GAP_PERIODS * period
    away = REGULAR * period
    return long & (clock > time[before] + away) & (clock < time[before + 1] - away)
