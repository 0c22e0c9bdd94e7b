"""Friction that remembers its way: what stands in for the sign of a drive's velocity after a reversal.

Contacts first strain and only then slide, so friction turns over some distance and keeps its value at rest.
In Dahl's model ([Dahl1968]) it is z times what it is while sliding, -1 <= z <= 1, and with x the way

    dz/dx = (1 - z sgn(dx)) / reach        so that  z = s + (z0 - s) exp(-|x - x0| / reach)

from a reversal at x0 on, s being the sign of dx since then. Speed has no part in it: z follows from the
positions alone, as long as they come in the order of time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.spatial import Array


def sliding_sense(way: Array, start: Array, reach: Array) -> Array:
    """z of n drives, (N, n), at their positions `way` (N, n) in the order of time, from `start` (n,) on."""
    columns = zip(way.T, start.tolist(), reach.tolist(), strict=True)
    return np.stack([_of_drive(x, z0, one) for x, z0, one in columns], axis=1)


def _of_drive(x: Array, z0: float, reach: float) -> Array:
    """z (N,) of one drive."""
    turns, senses = _reversals(x)
    ways = np.abs(np.diff(x[np.append(turns, len(x) - 1)]))
    at_turns = np.empty(len(turns))
    for k, (s, kept) in enumerate(zip(senses.tolist(), np.exp(-ways / reach).tolist(), strict=True)):
        at_turns[k] = z0
        z0 = s + (z0 - s) * kept
    last = np.searchsorted(turns, np.arange(len(x)), side="right") - 1  # reversal before each sample
    s = senses[last]
    return s + (at_turns[last] - s) * np.exp(-np.abs(x - x[turns[last]]) / reach)


def _reversals(x: Array) -> tuple[NDArray[np.intp], Array]:
    """The samples at which a new sense of motion begins, the first included, and these senses, -1 or 1."""
    steps = np.sign(np.diff(x))
    moving = np.flatnonzero(steps)
    if not len(moving):
        return np.zeros(1, dtype=np.intp), np.ones(1)
    new = np.append(0, np.flatnonzero(np.diff(steps[moving])) + 1)
    turns = moving[new]
    turns[0] = 0
    return turns, steps[moving[new]]
