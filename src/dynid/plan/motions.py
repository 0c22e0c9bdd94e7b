"""Motions of one joint, from rest to rest, all others locked.

The smooth motion goes out and comes back the same way, so that whatever depends on the direction of motion,
friction above all, is met both ways. Its velocity is a sum of sines under a window that vanishes at both ends
together with the acceleration, and it has nothing above `HIGHEST_HZ`. The step is that of Eqs. (64) to (66).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import ArgumentError, choices
from dynid.spatial import Array, frozen

Kind = Literal["smooth", "step"]
KINDS: tuple[Kind, ...] = get_args(Kind)

DURATION = 21.0  # s, of the smooth motion; folds of its log are long enough for any cut-off from 3 Hz
HIGHEST_HZ = 0.8  # of the smooth motion
SLOW_TURNS = 2  # of the slow part of the smooth motion
MOST_SWING = np.pi  # rad or m to either side
SHARE = 0.95  # of the reach that is used
SETTLED = 20.0  # time constants after which the step is at rest: 21 exp(-20) = 4e-8 of it is left
FINE = 4096  # samples over which the largest velocity and acceleration are looked for


@dataclass(frozen=True, eq=False)
class Move:
    """N samples of one joint; all arrays are (N,)."""

    times: Array
    q: Array
    qd: Array
    qdd: Array


@dataclass(frozen=True)
class Reach:
    """What one joint may do, in rad or m and s."""

    lower: float
    upper: float
    velocity: float
    acceleration: float

    @property
    def middle(self) -> float:
        return 0.5 * (self.lower + self.upper)


def critically_damped(t: ArrayLike, start: float, step: float, sigma: float) -> tuple[Array, Array, Array]:
    """q, qd and qdd of a critically damped step at times t (N,), (N,) each: Eqs. (64) to (66).

    `sigma` (1/s) is the inverse of the damping time constant. The acceleration jumps at t = 0.
    """
    t = np.asarray(t, dtype=np.float64)
    decay = np.exp(-sigma * t)
    q = start + step * (1.0 - (1.0 + sigma * t) * decay)
    return q, step * sigma**2 * t * decay, step * (1.0 - sigma * t) * sigma**2 * decay


@lru_cache(maxsize=512)  # the same few are asked for at every posture
def move(kind: Kind, reach: Reach, rate_hz: float, scale: float = 1.0) -> Move:
    """A ready motion of one joint within its reach, sampled at a rate; a `scale` below 1 makes it gentler."""
    if kind not in KINDS:
        raise ArgumentError(f"motion {choices(kind, KINDS)}")
    if not (np.isfinite(rate_hz) and rate_hz >= 20.0 * HIGHEST_HZ):
        raise ArgumentError(f"the rate must be at least {20.0 * HIGHEST_HZ:g} Hz, not {rate_hz:g}")
    if not 0.0 < scale <= 1.0:
        raise ArgumentError(f"the scale must be between 0 and 1, not {scale:g}")
    return _smooth(reach, rate_hz, scale) if kind == "smooth" else _step(reach, rate_hz, scale)


# --- out and back ---------------------------------------------------------------------------------------


def _smooth(reach: Reach, rate_hz: float, scale: float) -> Move:
    """Slow wide turns and quick ones on top, as far as position, velocity and acceleration allow."""
    swing = min(0.5 * SHARE * (reach.upper - reach.lower), MOST_SWING)
    slow = _windowed(SLOW_TURNS)
    turns = int(HIGHEST_HZ * DURATION) - 1
    limits = np.array([swing, SHARE * reach.velocity, SHARE * reach.acceleration])
    best, gain = slow, 0.0
    for quick in range(SLOW_TURNS + 1, turns + 1):  # the quicker, the more inertia is felt
        wave = slow + _windowed(quick)
        size = float(np.min(limits / _sizes(wave)))
        felt = size * _sizes(wave)[2] * min(size * _sizes(wave)[0] / swing, 0.5)
        if felt > gain:
            best, gain = wave, felt
    size = scale * float(np.min(limits / _sizes(best)))
    times = np.arange(round(DURATION * rate_hz) + 1) / rate_hz
    q, qd, qdd = size * _wave(best, times)
    return Move(frozen(times), frozen(q - 0.5 * (q.max() + q.min()) + reach.middle), frozen(qd), frozen(qdd))


def _windowed(turns: int) -> Array:
    """Sine coefficients of (1 - cos w t)/2 sin(turns w t) at the frequencies 0, w, 2 w, ..."""
    c = np.zeros(int(HIGHEST_HZ * DURATION) + 1)
    c[turns] = 0.5
    c[turns - 1] = c[turns + 1] = -0.25
    return c


def _wave(c: Array, times: Array) -> Array:
    """Position, velocity and acceleration, (3, N), of the velocity sum c_k sin(k w t)."""
    k = np.arange(1, len(c))
    kw = 2.0 * np.pi * k / DURATION
    angle = np.outer(times, kw)
    return np.stack(
        [(1.0 - np.cos(angle)) @ (c[1:] / kw), np.sin(angle) @ c[1:], np.cos(angle) @ (c[1:] * kw)]
    )


def _sizes(c: Array) -> Array:
    """Half the way, and the largest velocity and acceleration of a wave, (3,)."""
    q, qd, qdd = _wave(c, np.linspace(0.0, DURATION, FINE))
    return np.array([0.5 * (q.max() - q.min()), np.abs(qd).max(), np.abs(qdd).max()])


# --- the paper's step -----------------------------------------------------------------------------------


def _step(reach: Reach, rate_hz: float, scale: float) -> Move:
    """A critically damped step out and one back, as quick as velocity and acceleration allow.

    The largest velocity is step sigma / e, at t = 1 / sigma, the largest acceleration step sigma^2, at t = 0.
    """
    step = scale * min(SHARE * (reach.upper - reach.lower), MOST_SWING)
    sigma = min(SHARE * reach.velocity * np.e / step, np.sqrt(SHARE * reach.acceleration / step))
    sigma = min(scale * float(sigma), 0.1 * rate_hz)
    count = int(np.ceil(SETTLED / sigma * rate_hz)) + 1
    times = np.arange(2 * count) / rate_hz
    start = reach.middle - 0.5 * step
    out = critically_damped(times[:count], start, step, sigma)
    back = critically_damped(times[:count], start + step, -step, sigma)
    q, qd, qdd = (np.concatenate(parts) for parts in zip(out, back, strict=True))
    return Move(frozen(times), frozen(q), frozen(qd), frozen(qdd))
