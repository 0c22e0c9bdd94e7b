"""How fine and how noisy each column of a log is: its range, the steps it comes in, and its white noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.log.clean import usable
from dynid.log.log import Log
from dynid.spatial import Array

_LEAST_ROWS = 8
_NORMAL = 0.6745  # median of |x| of a standard normal x
_THIRD = 20.0  # variance of the third difference of white noise: 1 + 9 + 9 + 1


@dataclass(frozen=True)
class ChannelLevel:
    """One column over a whole log, in SI units."""

    joint: str
    quantity: str  # position, velocity or effort
    low: float
    high: float
    step: float  # between neighbouring values; of fine recordings, what chance leaves between them
    noise: float  # standard deviation of what is new in every sample


def channel_levels(log: Log) -> tuple[ChannelLevel, ...]:
    """Of every column with finite values, joint by joint."""
    every = {"position": log.position, "velocity": log.velocity, "effort": log.effort}
    found: list[ChannelLevel] = []
    for joint, name in enumerate(log.joint_names):
        for quantity, values in every.items():
            if values is None:
                continue
            column = values[usable(values[:, joint]), joint]
            if len(column) >= _LEAST_ROWS:
                low, high = float(column.min()), float(column.max())
                found.append(
                    ChannelLevel(name, quantity, low, high, resolution(column)[0], white_noise(column))
                )
    return tuple(found)


def resolution(values: Array) -> tuple[float, int]:
    """The step between neighbouring values (N,), rarely smaller, and the number of different values."""
    different = np.unique(values)
    steps = np.diff(different)
    steps = steps[steps > 1e-12 * np.abs(values).max()]  # the same number, converted in two ways
    return (float(np.percentile(steps, 10)) if len(steps) else 0.0), len(steps) + 1


def white_noise(values: Array) -> float:
    """Standard deviation of the white noise in values (N,) of a smooth signal, jumps and outliers apart.

    From third differences, of which a motion well below the sampling rate leaves next to nothing; a
    quantised signal without other noise has that of rounding.
    """
    third = np.diff(values, 3)
    noise = float(np.median(np.abs(third))) / _NORMAL / np.sqrt(_THIRD)
    return noise if noise > 0.0 else min(float(np.std(third)) / np.sqrt(_THIRD), resolution(values)[0])
