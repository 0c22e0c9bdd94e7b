"""What a back end reads and where it writes, the same for all of them."""

from __future__ import annotations

from dataclasses import dataclass


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


@dataclass(frozen=True)
class Signature:
    """What a program reads: arrays with one row per sample, and one array common to all samples."""

    arrays: tuple[tuple[str, int], ...]  # (stem, width): program inputs stem1 .. stem<width>
    common: tuple[str, int] | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        every = (*self.arrays, self.common) if self.common else self.arrays
        return tuple(f"{stem}{k + 1}" for stem, width in every for k in range(width))
