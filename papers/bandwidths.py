"""How fast positions, velocities and accelerations vary: why a controller may compute coefficients slowly.

The bandwidth of a signal is here the frequency below which `SHARE` of its power lies, less its mean.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from dynid.spatial import Array

SHARE = 0.95
RATE_HZ = 100.0
MOVES = 40
PAUSE = 0.2  # s
QUANTITIES = ("position", "velocity", "acceleration")


def bandwidth(values: Array, rate_hz: float) -> float:
    """Hz; `values` are (N,) or, with the power of all joints together, (N, n)."""
    signal = np.reshape(values, (len(values), -1))
    signal = (signal - signal.mean(axis=0)) * np.hanning(len(signal))[:, None]
    power = (np.abs(np.fft.rfft(signal, axis=0)) ** 2).sum(axis=1)
    reached = np.searchsorted(np.cumsum(power), SHARE * power.sum())
    return float(np.fft.rfftfreq(len(signal), 1.0 / rate_hz)[reached])


def simulated(speed: float = 1.5, acceleration: float = 8.0, seed: int = 0) -> tuple[Array, ...]:
    """Positions, velocities and accelerations, (N, 6) each, of moves with trapezoidal velocities."""
    rng = np.random.default_rng(seed)
    pieces = [_accelerations(rng.uniform(-1.0, 1.0, 6), speed, acceleration) for _ in range(MOVES)]
    qdd = np.concatenate(pieces)
    qd = np.cumsum(qdd, axis=0) / RATE_HZ
    return np.cumsum(qd, axis=0) / RATE_HZ, qd, qdd


def _accelerations(way: Array, speed: float, acceleration: float) -> Array:
    """Of one move: all joints start and stop together, the one with the longest way at its limits."""
    longest = float(np.abs(way).max())
    rise = max(1, round(RATE_HZ * min(speed / acceleration, np.sqrt(longest / acceleration))))
    cruise = max(0, round(RATE_HZ * longest / speed) - rise)
    shape = np.concatenate(
        [np.ones(rise), np.zeros(cruise), -np.ones(rise), np.zeros(round(RATE_HZ * PAUSE))]
    )
    reached = np.cumsum(np.cumsum(shape))[-1] / RATE_HZ**2
    return np.outer(shape, way / reached)


def recorded() -> dict[str, tuple[float, tuple[Array, ...]]]:
    """Rate and motion of the recordings in the folder DYNID_DATA: those that are there."""
    folder = Path(os.environ.get("DYNID_DATA", "../shared/data"))
    found: dict[str, tuple[float, tuple[Array, ...]]] = {}
    ur10e = folder / "ur10e" / "ur-20_02_10-30sec_12harm.csv"
    if ur10e.exists():
        table = np.loadtxt(ur10e, delimiter=",")[635:3510]
        found["UR10e, Fourier series"] = RATE_HZ, evenly(table[:, 0], table[:, 1:7])
    panda = folder / "panda"
    if (panda / "exciting_traj_time.txt").exists():
        times = np.loadtxt(panda / "exciting_traj_time.txt")
        q = np.loadtxt(panda / "exciting_traj_positions.txt").reshape(len(times), -1)
        found["Panda, excitation"] = RATE_HZ, evenly(times, q)
    return found


def evenly(times: Array, q: Array) -> tuple[Array, ...]:
    """Positions at `RATE_HZ`, and the paper's central differences of them over 28 ms, twice."""
    at = np.arange(times[0], times[-1], 1.0 / RATE_HZ)
    first = np.concatenate([[True], np.diff(times) > 0])
    position = np.stack([np.interp(at, times[first], column[first]) for column in q.T], axis=1)
    step = round(0.028 * RATE_HZ)
    velocity = (position[2 * step :] - position[: -2 * step]) * RATE_HZ / (2 * step)
    acceleration = (velocity[2 * step :] - velocity[: -2 * step]) * RATE_HZ / (2 * step)
    return position, velocity, acceleration
