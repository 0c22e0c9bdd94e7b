"""By how much one signal comes later than another."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dynid.spatial import Array


def correlation_peak(x: Array, y: Array, longest: int) -> tuple[float, float]:
    """(lag in samples, correlation there) at which y(t) is most like x(t - lag) or its negative.

    Signals (N,) on a uniform clock; lags up to `longest` samples either way, interpolated by a parabola.
    """
    lags = np.arange(-longest, longest + 1)
    middle = slice(longest, len(x) - longest)
    reference = x[middle] - x[middle].mean()
    size = np.linalg.norm(reference)
    values = np.zeros(len(lags))
    for k, lag in enumerate(lags):
        shifted = y[longest + lag : len(y) - longest + lag]
        shifted = shifted - shifted.mean()
        scale = size * np.linalg.norm(shifted)
        values[k] = reference @ shifted / scale if scale > 0 else 0.0
    best = int(np.argmax(np.abs(values)))
    return float(lags[best] + vertex(np.abs(values), best)), float(values[best])


def vertex(values: Array, at: int) -> float:
    """Offset, within half a sample, of the extremum of the parabola through three values around `at`."""
    if not 0 < at < len(values) - 1:
        return 0.0
    before, here, after = values[at - 1 : at + 2]
    bend = before - 2.0 * here + after
    return float(np.clip(0.5 * (before - after) / bend, -0.5, 0.5)) if bend != 0 else 0.0


def later_than(lags: Mapping[int, float], least: float) -> dict[int | None, float]:
    """The lags (s) of joints beyond `least`; under None their median, if most have one and they agree."""
    beyond: dict[int | None, float] = {joint: lag for joint, lag in lags.items() if abs(lag) > least}
    values = np.array(list(beyond.values()))
    most = len(values) > 1 and len(values) > 0.7 * len(lags)
    if most and np.ptp(values) < max(least, 0.3 * np.abs(values).max()):
        return {None: float(np.median(values))}
    return beyond


def delay_text(lag: float) -> str:
    """'5 ms later' or '5 ms earlier'."""
    return f"{1e3 * abs(lag):.3g} ms {'later' if lag > 0 else 'earlier'}"
