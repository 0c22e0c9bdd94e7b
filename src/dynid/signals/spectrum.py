"""How fast a motion is: the frequency below which nearly all of its velocity's power lies."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from dynid.spatial import Array

_signal: Any = import_module("scipy.signal")  # it has no types

POWER_SHARE = 0.99
_PIECE_S = 5.0  # length of the pieces whose spectra are averaged
_MOVES = 1e-2  # rad or m; less is not a motion
_FLOOR = 1e-6  # of the strongest line; what is weaker is noise, however much differentiation would make of it


def motion_bandwidth(position: Array, rate_hz: float) -> float:
    """Hz, for positions (N, n): the largest over the joints that move; 0 if none does.

    The spectrum of velocity is w^2 times that of position, whose noise must go first: what is not well above
    the upper half of the band, where only the encoder is heard, and what is weak beside the motion itself.
    """
    moving = np.ptp(position, axis=0) > _MOVES
    if not moving.any() or len(position) < 16:
        return 0.0
    piece = min(len(position), int(_PIECE_S * rate_hz))
    f, power = _signal.welch(position[:, moving], rate_hz, nperseg=piece, detrend="linear", axis=0)
    floor = np.median(power[f > 0.25 * rate_hz], axis=0)
    signal = (power > 10.0 * floor) & (power > _FLOOR * power.max(axis=0))
    velocity = (f**2)[:, None] * np.where(signal, power, 0.0)
    share = np.cumsum(velocity, axis=0) / np.maximum(velocity.sum(axis=0), np.finfo(float).tiny)
    return float(f[np.argmax(share >= POWER_SHARE, axis=0)].max())
