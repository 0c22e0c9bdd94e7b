"""Velocities and accelerations from sampled positions: every function takes q (N, n) and the step (s)
and returns qd and qdd, (N, n). The ends are one-sided or extrapolated; whoever calls trims them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal, get_args

import numpy as np

from dynid.errors import ArgumentError, choices
from dynid.spatial import Array

_interpolate: Any = import_module("scipy.interpolate")  # scipy has no types
_ndimage: Any = import_module("scipy.ndimage")
_signal: Any = import_module("scipy.signal")

Derivative = Literal["central", "savitzky-golay", "spline", "izaguirre1992"]
DERIVATIVES: tuple[Derivative, ...] = get_args(Derivative)
SMOOTHING = ("savitzky-golay", "spline")  # these filter by themselves

# Central differences by their order of accuracy: weights of q[i + k] - q[i - k], and of q[i + k] + q[i - k].
_FIRST = {2: (1 / 2,), 4: (2 / 3, -1 / 12), 6: (3 / 4, -3 / 20, 1 / 60)}
_SECOND = {2: (1.0,), 4: (4 / 3, -1 / 12), 6: (3 / 2, -3 / 20, 1 / 90)}


def differentiate(q: Array, step: float, method: Derivative, cutoff_hz: float) -> tuple[Array, Array]:
    """Velocities and accelerations by the named method; smoothing ones halve amplitudes at the cut-off."""
    if method == "central":
        return central(q, step)
    if method == "izaguirre1992":
        return izaguirre_differences(q, step)
    if method == "savitzky-golay":
        return savitzky_golay(q, step, cutoff_hz)
    if method == "spline":
        return smoothing_spline(q, step, cutoff_hz)
    raise ArgumentError(f"derivative {choices(method, DERIVATIVES)}")


def central(q: Array, step: float, accuracy: int = 6) -> tuple[Array, Array]:
    """Central differences with errors of order step^accuracy (2, 4 or 6)."""
    if accuracy not in _FIRST:
        raise ArgumentError(f"accuracy {choices(accuracy, map(str, _FIRST))}")
    first, second = np.array(_FIRST[accuracy]), np.array(_SECOND[accuracy])
    odd = np.concatenate([-first[::-1], [0.0], first]) / step
    even = np.concatenate([second[::-1], [-2.0 * second.sum()], second]) / step**2
    qd = _ndimage.correlate1d(q, odd, axis=0, mode="nearest")
    return qd, _ndimage.correlate1d(q, even, axis=0, mode="nearest")


def izaguirre_differences(q: Array, step: float) -> tuple[Array, Array]:
    """v_i = (q_{i+1} - q_{i-1}) / (2 tau), a_i = (v_{i+1} - v_{i-1}) / (2 tau): Section 6 of [Izaguirre1992].

    The acceleration so spans five samples and is sin(w tau)^2 / tau^2 of the position instead of w^2: the
    authors use that as a filter. They drop 15 samples at both ends.
    """
    v = np.gradient(q, step, axis=0)
    return v, np.gradient(v, step, axis=0)


def savitzky_golay(q: Array, step: float, cutoff_hz: float, degree: int = 4) -> tuple[Array, Array]:
    """Local polynomials by least squares, over the longest window that passes half of the cut-off."""
    window = _window(step, cutoff_hz, degree)
    if window > len(q):
        raise ArgumentError(
            f"{len(q)} samples are too few for a window of {window}: raise the cut-off above {cutoff_hz:g} Hz"
        )
    qd = _signal.savgol_filter(q, window, degree, deriv=1, delta=step, axis=0)
    return qd, _signal.savgol_filter(q, window, degree, deriv=2, delta=step, axis=0)


def _window(step: float, cutoff_hz: float, degree: int) -> int:
    """Odd length of the window that still passes half the amplitude at the cut-off."""
    angle = 2.0 * np.pi * cutoff_hz * step
    window = degree + 1 + degree % 2
    while True:
        half = window // 2 + 1
        taps = _signal.savgol_coeffs(2 * half + 1, degree, use="dot")
        gain = float(taps @ np.cos(angle * np.arange(-half, half + 1)))
        if gain < 0.5:
            return window
        window += 2


def smoothing_spline(q: Array, step: float, cutoff_hz: float) -> tuple[Array, Array]:
    """Cubic smoothing spline: minimises sum (q - s)^2 + lambda integral s''^2.

    Far from the ends it passes 1 / (1 + lambda step w^4) of a sine: a half at the cut-off.
    """
    if len(q) < 5:
        raise ArgumentError(f"{len(q)} samples are too few for a smoothing spline: at least 5 are needed")
    t = step * np.arange(len(q))
    spline = _interpolate.make_smoothing_spline(t, q, lam=1.0 / (step * (2.0 * np.pi * cutoff_hz) ** 4))
    return np.asarray(spline(t, 1), dtype=np.float64), np.asarray(spline(t, 2), dtype=np.float64)
