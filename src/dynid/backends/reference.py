"""Programs run by NumPy over tiles of samples: slower than `kernel`, needing nothing but NumPy.

It takes over where llvmlite cannot be imported, and it is the oracle for the compiled kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dynid.backends.layout import Rows, Signature, Tile
from dynid.program import Program
from dynid.spatial import Array

CHUNK = 512  # samples at a time: the live values of a large program stay in the cache


@dataclass(frozen=True)
class ReferenceKernel:
    """The interface of `kernel.Kernel`, interpreted."""

    program: Program
    signature: Signature
    layout: Rows | Tile

    def bind(self, arrays: Sequence[Array], common: Array | None, out: Array) -> Callable[[int, int], None]:
        """A function of (first, last) for these samples of these arrays."""
        return lambda first, last: self._run(arrays, common, out, first, last)

    def run_all(self, arrays: Sequence[Array], common: Array | None, out: Array, count: int) -> None:
        """All samples."""
        for first in range(0, count, CHUNK):
            self._run(arrays, common, out, first, min(first + CHUNK, count))

    def _run(self, arrays: Sequence[Array], common: Array | None, out: Array, first: int, last: int) -> None:
        values: dict[str, Array | float] = {}
        for (stem, width), array in zip(self.signature.arrays, arrays, strict=True):
            values |= {f"{stem}{k + 1}": array[first:last, k] for k in range(width)}
        if self.signature.common and common is not None:
            stem, width = self.signature.common
            values |= {f"{stem}{k + 1}": float(common[k]) for k in range(width)}
        with np.errstate(
            invalid="ignore", over="ignore"
        ):  # NaN and infinity are data here: they stay in their sample
            results = self.program.replay(values, np.sin, np.cos)
            poison = sum(array[first:last].sum(axis=1) * 0.0 for array in arrays)
        for k, result in enumerate(results):
            if isinstance(self.layout, Tile):
                out[k, : last - first] = result
            else:
                out[first:last, self.layout.offsets[k]] = result + poison


def interpret(program: Program, signature: Signature, layout: Rows | Tile) -> ReferenceKernel:
    return ReferenceKernel(program, signature, layout)
