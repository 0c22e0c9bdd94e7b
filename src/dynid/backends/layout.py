"""What a back end reads and where it writes, the same for all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.spatial import Array

CACHE_LINE = 64  # bytes


@dataclass(frozen=True)
class Rows:
    """Output k of sample s goes to out[s, offsets[k]]; the row stride is the caller's."""

    offsets: tuple[int, ...]


@dataclass(frozen=True)
class Tile:
    """Output k of sample s goes to out[k, s - first]: one contiguous run per column, ready for BLAS.

    `samples` is the row length of the tile in memory. It should not be a power of two, or all columns
    compete for the same few lines of the cache.
    """

    samples: int

    def empty(self, columns: int) -> Array:
        """Memory for a tile, (columns, samples), that begins where a line of the cache does.

        If the row length is a multiple of eight all columns do, and no vector is stored across two lines:
        which halves the time of a regressor.
        """
        size = columns * self.samples
        memory = np.empty(size + CACHE_LINE // 8)
        skipped = -memory.ctypes.data % CACHE_LINE // 8
        return memory[skipped : skipped + size].reshape(columns, self.samples)


@dataclass(frozen=True)
class Signature:
    """What a program reads: arrays with one row per sample, and one array common to all samples."""

    arrays: tuple[tuple[str, int], ...]  # (stem, width): program inputs stem1 .. stem<width>
    common: tuple[str, int] | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        every = (*self.arrays, self.common) if self.common else self.arrays
        return tuple(f"{stem}{k + 1}" for stem, width in every for k in range(width))
