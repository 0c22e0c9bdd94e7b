"""Fewer points that look the same: for figures of long logs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dynid.spatial import Array

Rows = NDArray[np.intp]

GAP_PERIODS = 1.5


def thinned(curves: Sequence[Array], most: int) -> Rows:
    """Rows to draw of curves (N,) each: of every stretch the extremes of each curve, and both ends.

    About `most` rows, never twice as many; all of them if there are no more.
    """
    count = len(curves[0])
    if count <= most:
        return np.arange(count)
    stretch = -(-2 * len(curves) * count // most)
    whole = count - count % stretch
    starts = np.arange(0, whole, stretch)
    rows = [np.array([0, count - 1])]
    for curve in curves:
        blocks = np.nan_to_num(curve[:whole]).reshape(-1, stretch)
        rows += [starts + blocks.argmin(axis=1), starts + blocks.argmax(axis=1)]
        if whole < count:
            rest = np.nan_to_num(curve[whole:])
            rows.append(whole + np.array([rest.argmin(), rest.argmax()]))
    return np.unique(np.concatenate(rows))


def pieces(time: Array) -> list[slice]:
    """The stretches of instants (N,) on one clock between which there are gaps."""
    if len(time) < 3:
        return [slice(0, len(time))]
    steps = np.diff(time)
    after = np.flatnonzero(steps > GAP_PERIODS * np.median(steps)) + 1
    edges = [0, *after.tolist(), len(time)]
    return [slice(a, b) for a, b in pairwise(edges)]


def line(time: Array, curves: Sequence[Array], most: int) -> tuple[Array, list[Array]]:
    """Times and values to draw of curves (N,) each, NaN where a line must break."""
    kept = thinned(curves, most)
    starts = [piece.start for piece in pieces(time)[1:]]
    breaks = np.unique(np.searchsorted(kept, starts))
    return (
        np.insert(time[kept], breaks, np.nan),
        [np.insert(curve[kept], breaks, np.nan) for curve in curves],
    )
