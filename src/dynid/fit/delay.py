"""Efforts that lag behind positions: how late they are, whether that is significant, and without it.

If the log's efforts are late by d, tau(t - d) is, to first order, tau - d tau'. So d is one more unknown
whose column is minus the derivative of what a first fit predicts; its standard deviation says whether it is
real.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np

from dynid.fit.reduction import reduce, total
from dynid.fit.runs import torque_runs
from dynid.fit.solve import weighted
from dynid.fit.system import System, system_of
from dynid.log.samples import Samples
from dynid.spatial import Array
from dynid.statistics import noise_of, uncertainty

_interpolate: Any = import_module("scipy.interpolate")  # it has no types

COLUMN = "delay"
SIGNIFICANT = 4.0  # standard deviations
SHORTEST = 0.1  # of the log's period
LONGEST_S = 0.1  # what is longer is no delay but another fault
ROUNDS = 3


@dataclass(frozen=True)
class Delay:
    """By how much efforts are later than positions."""

    seconds: float
    std: float
    significant: bool

    def __str__(self) -> str:
        what = "compensated" if self.significant else "not significant, left as it is"
        return f"{1e3 * self.seconds:.3g} +- {1e3 * self.std:.2g} ms, {what}"


NO_DELAY = Delay(0.0, float("nan"), False)


def estimate_delay(system: System, logs: Sequence[Samples], period: float) -> Delay:
    """The delay common to all joints of all logs, whose samples are `period` (s) apart."""
    seconds, std = 0.0, float("nan")
    shifted = list(logs)
    for _ in range(ROUNDS):
        step, std = _step(system, shifted)
        seconds += step
        if not abs(seconds) <= LONGEST_S:  # or NaN
            return NO_DELAY
        shifted = [advanced(samples, seconds) for samples in logs]
        if abs(step) < 0.1 * std:
            break
    significant = abs(seconds) > SIGNIFICANT * std and abs(seconds) > SHORTEST * period
    return Delay(seconds, std, bool(significant))


def advanced(samples: Samples, seconds: float) -> Samples:
    """The samples with efforts taken `seconds` later in the log: a delay taken out."""
    tau = np.empty_like(samples.tau)
    for first, last in samples.segments:
        t = samples.time[first:last]
        at = np.clip(t + seconds, t[0], t[-1])
        tau[first:last] = _interpolate.make_interp_spline(t, samples.tau[first:last], k=3)(at)
    return replace(samples, tau=tau)


def _step(system: System, logs: Sequence[Samples]) -> tuple[float, float]:
    """What is left of the delay, and its standard deviation."""
    solution = weighted(total([reduce(system, samples) for samples in logs]))
    model = system.model(solution.values)
    larger = system_of(system.robot, replace(system.terms, extra=(*system.terms.extra, COLUMN)))
    with_rate: list[Samples] = []
    for samples in logs:
        predicted = model.efforts(samples.q, samples.qd, samples.qdd)
        rate = np.concatenate(
            [-np.gradient(predicted[a:b], 1.0 / samples.rate_hz, axis=0) for a, b in samples.segments]
        )
        extra: Mapping[str, Array] = MappingProxyType({**samples.extra, COLUMN: rate})
        with_rate.append(replace(samples, extra=extra))
    reduction = total([reduce(larger, samples) for samples in with_rate])
    found = weighted(reduction)
    runs = [torque_runs(larger, samples) for samples in with_rate]
    noise = noise_of([one.residuals(found.values) for one in runs], np.zeros(system.robot.dof))
    std = uncertainty(found, runs, noise, float(reduction.rows.sum())).std
    return float(found.values[-1]), float(std[-1])
