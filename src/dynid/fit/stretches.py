"""What equations without accelerations share: panels at qdd = 0, and stretches that are differentiated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dynid.fit.system import TILE, Indices, System
from dynid.log.samples import Samples
from dynid.signals.derivatives import central
from dynid.spatial import Array

MARGIN = 3  # samples on either side that a derivative of order 6 reaches for


@dataclass(frozen=True, eq=False)
class Stretch:
    """Rows of equations that follow on each other, and the samples they are made from."""

    rows: Indices  # of all rows of the samples
    outer: slice  # samples of what is differentiated
    step: float  # s

    @property
    def inner(self) -> slice:
        """Samples of what passes the filter."""
        return slice(self.outer.start + MARGIN, self.outer.stop - MARGIN)

    def derivative(self, values: Array) -> Array:
        """Of values (outer, k) at the samples (inner, k)."""
        return central(values, self.step)[0][MARGIN:-MARGIN]


def stretches(samples: Samples) -> Iterator[Stretch]:
    """All rows but those whose filter or derivative would reach beyond a segment."""
    parallel = samples.parallel
    reach, row = parallel.half + MARGIN, 0
    at_once = max(4 * TILE, 8 * reach) // parallel.factor
    for first, last in samples.segments:
        middles = np.arange(first, last)[parallel.middles(last - first)]
        whole = (middles - reach >= first) & (middles + reach < last)
        rows, middles = row + np.flatnonzero(whole), middles[whole]
        row += len(whole)
        for k in range(0, len(rows), at_once):
            block = middles[k : k + at_once]
            outer = slice(int(block[0]) - reach, int(block[-1]) + reach + 1)
            yield Stretch(rows[k : k + at_once], outer, 1.0 / samples.rate_hz)


def motor_unknowns(system: System) -> dict[int, int]:
    """The unknowns that are inertias of motors, and whose."""
    return {k: int(name[2:]) - 1 for k, name in enumerate(system.base.kept) if name[:2] == "Ia"}


def still_panels(system: System, samples: Samples, where: slice) -> Array:
    """All panels at m samples with qdd = 0, one below the other, (rows, m); Fl's load is without it, too."""
    tile = system.tile()
    found = np.empty((len(tile), where.stop - where.start))
    for a in range(where.start, where.stop, TILE):
        part = slice(a, min(a + TILE, where.stop))
        q, qd, tau = samples.q[part], samples.qd[part], samples.tau[part]
        extra = {name: samples.extra[name][part] for name in system.terms.extra}
        into = slice(part.start - where.start, part.stop - where.start)
        sliding = None if samples.sliding is None else samples.sliding[part]
        found[:, into] = system.fill(tile, q, qd, np.zeros_like(q), tau, extra, sliding)
    return found
