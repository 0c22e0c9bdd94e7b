"""Panels of samples, through the samples' parallel filter, a chunk at a time and never all at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dynid.fit.system import TILE, Indices, System
from dynid.log.samples import Samples
from dynid.spatial import Array

LONGEST = 2048  # samples that pass the filter at once, if the filter is not longer than that


@dataclass(frozen=True, eq=False)
class Chunk:
    """Rows of equations that follow on each other: `rows` of all, made from `samples` of all."""

    block: int  # which of the intervals between edges
    rows: slice
    samples: slice


def chunks_of(samples: Samples, edges: Sequence[float] = ()) -> list[Chunk]:
    """All rows of the samples in chunks, none of which has rows on both sides of an edge (s)."""
    half, factor = samples.parallel.half, samples.parallel.factor
    largest = (max(LONGEST, 8 * half) - 2 * half - 1) // factor if half else TILE
    blocks = np.searchsorted(np.asarray(edges), samples.time[samples.rows], side="right")
    found: list[Chunk] = []
    row = 0
    for first, last in samples.segments:
        outputs = len(range(*samples.parallel.middles(last - first).indices(last - first)))
        of_block = blocks[row : row + outputs]
        cuts = {0, outputs, *(np.flatnonzero(np.diff(of_block)) + 1).tolist()}
        for begin, end in zip(sorted(cuts)[:-1], sorted(cuts)[1:], strict=True):
            for a in range(begin, end, largest):
                b = min(a + largest, end)
                reach = slice(first + a * factor, first + (b - 1) * factor + 2 * half + 1)
                found.append(Chunk(int(of_block[a]), slice(row + a, row + b), reach))
        row += outputs
    return found


class PanelWriter:
    """Fills the panels of one chunk after the other; its memory is used again each time."""

    def __init__(self, system: System, samples: Samples, weights: Array | None = None) -> None:
        self._system, self._samples = system, samples
        self._weights = samples.weights if weights is None else weights
        self._weighted = bool((self._weights != 1.0).any())
        self._tile = system.tile()
        self._wide = np.empty((system.panels[-1].stop, 0))

    def fill(self, chunk: Chunk) -> list[Array]:
        """Per joint, (columns + 1, m): the columns that act on it and its efforts, times the root weight."""
        tile = self._filtered(chunk)
        panels = [tile[panel] for panel in self._system.panels]
        if not self._weighted:
            return panels
        roots = np.sqrt(self._weights[chunk.rows]).T
        return [
            panel if (root == 1.0).all() else panel * root for panel, root in zip(panels, roots, strict=True)
        ]

    def _filtered(self, chunk: Chunk) -> Array:
        parallel, reach = self._samples.parallel, chunk.samples
        if parallel.half == 0:
            return self._raw(reach)
        length = reach.stop - reach.start
        if self._wide.shape[1] < length:
            self._wide = np.empty((len(self._wide), length))
        for a in range(0, length, TILE):
            b = min(a + TILE, length)
            self._wide[:, a:b] = self._raw(slice(reach.start + a, reach.start + b))
        return parallel.apply(self._wide[:, :length].T).T

    def _raw(self, where: slice) -> Array:
        s = self._samples
        extra = {name: s.extra[name][where] for name in self._system.terms.extra}
        sliding = None if s.sliding is None else s.sliding[where]
        return self._system.fill(
            self._tile, s.q[where], s.qd[where], s.qdd[where], s.tau[where], extra, sliding
        )


def all_panels(system: System, samples: Samples) -> Iterator[tuple[Indices, list[Array]]]:
    """Row numbers of every chunk and its panels, which are overwritten by the next."""
    writer = PanelWriter(system, samples)
    for chunk in chunks_of(samples):
        yield np.arange(chunk.rows.start, chunk.rows.stop), writer.fill(chunk)
