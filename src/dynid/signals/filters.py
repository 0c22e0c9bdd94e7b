"""Filters without delay: Butterworth run forwards and backwards, and symmetric filters that also thin out.

Both halve the amplitude at their cut-off frequency.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from dynid.errors import ArgumentError
from dynid.spatial import Array

_signal: Any = import_module("scipy.signal")  # it has no types

ORDER = 4
VALIDATION_CUTOFF_HZ = 5.0
VALIDATION_TRIM_S = 0.3
_HALF_PERIODS = (
    1.5  # of the cut-off, on each side of a symmetric filter: the stop band begins at 1.55 cut-offs
)
_MANY = 32  # columns: products of matrices are then faster than sums along each column


def butterworth(values: Array, rate_hz: float, cutoff_hz: float, order: int = ORDER) -> Array:
    """Zero-phase Butterworth low-pass of values (N, ...): forwards and backwards, ends continued oddly.

    The ends are prolonged by two periods of the cut-off, by when the filter has forgotten how it started, or
    by all there is.
    """
    check_cutoff(cutoff_hz, rate_hz)
    sections = _signal.butter(order, cutoff_hz, fs=rate_hz, output="sos")
    padding = min(len(values) - 1, int(np.ceil(2.0 * rate_hz / cutoff_hz)))
    if padding < 1:
        return values
    return np.asarray(_signal.sosfiltfilt(sections, values, axis=0, padlen=padding), dtype=np.float64)


def validation_filter(values: Array, rate_hz: float) -> Array:
    """The one filter through which predictions and measurements are compared, whatever the fit used.

    Zero-phase Butterworth of order 4 at 5 Hz; 0.3 s are cut from both ends, see `validation_span`.
    """
    first, last = validation_span(len(values), rate_hz)
    return butterworth(values, rate_hz, VALIDATION_CUTOFF_HZ)[first:last]


def validation_span(count: int, rate_hz: float) -> tuple[int, int]:
    """The samples that `validation_filter` keeps of `count`: the first, and one past the last."""
    trim = round(VALIDATION_TRIM_S * rate_hz)
    if count <= 2 * trim:
        raise ArgumentError(
            f"{count / rate_hz:.2f} s of samples are too short to validate on: "
            f"{VALIDATION_TRIM_S:g} s are cut from both ends"
        )
    return trim, count - trim


def check_cutoff(cutoff_hz: float, rate_hz: float) -> None:
    """Refuse what is not a frequency below half the sampling rate."""
    if not 0.0 < cutoff_hz < 0.5 * rate_hz:
        raise ArgumentError(
            f"a cut-off of {cutoff_hz:g} Hz does not suit samples at {rate_hz:g} Hz: "
            f"it must lie between 0 and {0.5 * rate_hz:g} Hz"
        )


@dataclass(frozen=True)
class Decimator:
    """A symmetric low-pass filter that keeps every `factor`-th sample: the parallel decimation filter.

    It is linear, so passing the efforts and every column of the regressor through it leaves the equation
    between them as it was. Outputs whose filter would reach beyond the ends do not exist: `half` samples
    are lost on each side.
    """

    rate_hz: float  # of the input
    cutoff_hz: float
    factor: int = 1

    def __post_init__(self) -> None:
        check_cutoff(self.cutoff_hz, self.rate_hz)

    @property
    def half(self) -> int:
        """Samples on each side of the one in the middle."""
        return int(np.ceil(_HALF_PERIODS * self.rate_hz / self.cutoff_hz))

    @cached_property
    def taps(self) -> Array:
        """The filter's coefficients, (2 half + 1,), which add up to one."""
        taps = _signal.firwin(2 * self.half + 1, self.cutoff_hz, fs=self.rate_hz, window="hamming")
        return np.asarray(taps, dtype=np.float64)

    def middles(self, count: int) -> slice:
        """The input samples, of `count`, at which there is an output."""
        return slice(self.half, max(count - self.half, 0), self.factor)

    def apply(self, values: Array) -> Array:
        """Values (N, ...) without gaps, filtered and thinned out to (len(middles), ...)."""
        outputs = len(range(len(values))[self.middles(len(values))])
        if not outputs:
            return values[:0]
        columns = values.reshape(len(values), -1)
        many = columns.shape[1] >= _MANY
        filtered = self._by_products(columns, outputs) if many else self._by_sums(columns, outputs)
        return filtered.reshape(outputs, *values.shape[1:])

    def _by_sums(self, columns: Array, outputs: int) -> Array:
        late = -2 * self.half % self.factor  # zeros in front, so that the first full output is not skipped
        taps = np.concatenate([np.zeros(late), self.taps])
        filtered = _signal.upfirdn(taps, columns, up=1, down=self.factor, axis=0)
        skip = (2 * self.half + late) // self.factor
        return np.asarray(filtered[skip : skip + outputs], dtype=np.float64)

    def _by_products(self, columns: Array, outputs: int) -> Array:
        """The same; of many columns it is four to twelve times as fast."""
        by_columns = columns.strides[0] < columns.strides[1]
        shape = (outputs, columns.shape[1])
        filtered = np.empty(shape[::-1]).T if by_columns else np.empty(shape)
        for a in range(0, outputs, len(self._block)):
            b = min(a + len(self._block), outputs)
            rows = columns[a * self.factor : (b - 1) * self.factor + len(self.taps)]
            block = self._block[: b - a, : len(rows)]
            if by_columns:
                np.matmul(rows.T, block.T, out=filtered.T[:, a:b])
            else:
                np.matmul(block, rows, out=filtered[a:b])
        return filtered

    @cached_property
    def _block(self) -> Array:
        """The filter as a matrix that makes some outputs at once, (outputs, inputs); half of it is zeros."""
        outputs = max(len(self.taps) // self.factor, 16)
        block = np.zeros((outputs, (outputs - 1) * self.factor + len(self.taps)))
        for k, row in enumerate(block):
            row[k * self.factor : k * self.factor + len(self.taps)] = self.taps
        return block


def thinning(rate_hz: float, lowest_hz: float) -> int:
    """The largest whole factor that leaves samples at `lowest_hz` or more."""
    return max(int(np.floor(rate_hz / lowest_hz * (1.0 + 1e-9))), 1)
