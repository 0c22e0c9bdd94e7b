"""Equations that follow on each other in time: what residuals are taken from and correlations are taken over.

A run is a list of panels, one per equation of an instant: per joint for the torque and momentum models, one
alone for the energy and power models. A panel (columns + 1, rows) has the columns that can act on it and the
efforts below them, times the root of each row's weight; rows that do not count are zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid.fit.energy import energy_rows, interval_steps, power_rows
from dynid.fit.momentum import MomentumModel
from dynid.fit.panels import Chunk, PanelWriter, chunks_of
from dynid.fit.stretches import stretches
from dynid.fit.system import Indices, System
from dynid.log.samples import Samples
from dynid.spatial import Array

LONGEST = 4096  # rows that are correlated with each other at the most
MOST_ROWS = 60_000  # of a log from which the noise is taken; more say nothing new about it

Panels = Sequence[Array]


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of one log."""

    columns: tuple[Indices, ...]  # per panel, its unknowns
    rows: int  # of the log
    read: Callable[[], Iterator[Panels]]
    factor: float = 1.0  # how many times as many rows the log has

    def standing_for(self, share: float) -> Runs:
        """The runs of a log of which this one is a part."""
        return replace(self, rows=round(self.rows / share), factor=self.factor / share)


def torque_runs(system: System, samples: Samples, weights: Array | None = None) -> Runs:
    """Of the torque model; `weights` (M, n) replace those of the samples."""
    chunks, factor = _chosen(samples)

    def read() -> Iterator[Panels]:
        writer = PanelWriter(system, samples, weights)
        for run in chunks:
            parts = [[np.array(panel) for panel in writer.fill(chunk)] for chunk in run]
            yield [np.concatenate(joint, axis=1) for joint in zip(*parts, strict=True)]

    return Runs(system.columns, len(samples.weights), read, factor)


def momentum_runs(system: System, samples: Samples) -> Runs:
    """Of the momentum model."""
    model = MomentumModel(system)

    def read() -> Iterator[Panels]:
        for stretch in stretches(samples):
            roots = np.sqrt(samples.weights[stretch.rows]).T
            yield [panel * root for panel, root in zip(model.panels(samples, stretch), roots, strict=True)]

    return Runs(system.columns, len(samples.weights), read)


def energy_runs(system: System, samples: Samples, interval_s: float | None = None) -> Runs:
    """Of the energy model."""
    count = len(samples.time) // interval_steps(samples, interval_s)
    return _of_rows(system, count, lambda: energy_rows(system, samples, interval_s=interval_s))


def power_runs(system: System, samples: Samples) -> Runs:
    """Of the power model."""
    return _of_rows(system, len(samples.weights), lambda: power_rows(system, samples))


def _of_rows(system: System, count: int, rows: Callable[[], Iterator[tuple[Array, Array]]]) -> Runs:
    """Of a model with one equation for all joints, from blocks of rows [W y]."""

    def read() -> Iterator[Panels]:
        blocks = [block for _, block in rows()]
        yield [np.concatenate(blocks).T]

    return Runs((np.arange(len(system.names)),), count, read)


# --- which rows of long logs ---------------------------------------------------------------------------


def _chosen(samples: Samples) -> tuple[list[list[Chunk]], float]:
    """Chunks that follow on each other, in runs; of very long logs only some, and one in how many."""
    runs: list[list[Chunk]] = []
    for chunk in chunks_of(samples):
        follows = runs and _adjoin(runs[-1][-1], chunk, samples)
        if follows and chunk.rows.stop - runs[-1][0].rows.start <= LONGEST:
            runs[-1].append(chunk)
        else:
            runs.append([chunk])
    rows = len(samples.weights)
    if rows <= MOST_ROWS:
        return runs, 1.0
    chosen = np.unique(np.linspace(0, len(runs) - 1, max(MOST_ROWS * len(runs) // rows, 1)).astype(int))
    kept = [runs[int(k)] for k in chosen]
    counted = sum(run[-1].rows.stop - run[0].rows.start for run in kept)
    return kept, rows / counted


def _adjoin(before: Chunk, after: Chunk, samples: Samples) -> bool:
    """Whether one chunk follows on another within one segment."""
    overlap = 2 * samples.parallel.half + 1 - samples.parallel.factor
    return after.samples.start == before.samples.stop - overlap
