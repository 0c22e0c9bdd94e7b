"""Efforts that lag behind positions: how late they are, whether that is a fact, and without it.

If the log's efforts are late by d, tau(t - d) is, to first order, tau - d tau'. So d is one more unknown,
whose column is minus the derivative of what a first fit predicts. It is one of each joint: a delay of the
recording is common to all of them, but friction that lags after a reversal looks like one, and of another
size on every joint. So the common delay is the median of the joints', each as heavy as it is certain, and it
only counts as one if most of them agree with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np

from dynid.fit.reduction import reduce, total
from dynid.fit.runs import torque_runs
from dynid.fit.solve import weighted
from dynid.fit.system import System
from dynid.log.samples import Samples
from dynid.spatial import Array, frozen
from dynid.statistics import noise_of, uncertainty

_interpolate: Any = import_module("scipy.interpolate")  # it has no types

COLUMN = " delay of joint "  # begins with a blank, as no column of a log does
SIGNIFICANT = 4.0  # standard deviations
SHORTEST = 0.1  # of the log's period
LONGEST_S = 0.1  # what is longer is no delay but another fault
ROUNDS = 4
ALIKE, ALIKE_SHARE = 3.0, 0.2  # a joint agrees within so many deviations, or this share of the delay
MOST = 2.0 / 3.0  # of all weight must agree


@dataclass(frozen=True, eq=False)
class Delay:
    """By how much efforts are later than positions."""

    seconds: float
    std: float
    agreeing: float  # share of the joints' weight
    of_joints: Array  # (n,) s
    significant: bool

    def __str__(self) -> str:
        if not np.isfinite(self.std):
            return "not known, as no joint's delay can be told; left as it is"
        low, high = 1e3 * self.of_joints.min(), 1e3 * self.of_joints.max()
        found = f"{1e3 * self.seconds:.3g} +- {1e3 * self.std:.2g} ms"
        if self.significant:
            return f"{found}, compensated"
        if self.agreeing < MOST:
            return (
                f"{found}, but joints differ ({low:.3g} .. {high:.3g} ms), as with friction that lags: "
                "no common delay, left as it is"
            )
        return f"{found}, not significant, left as it is"


def estimate_delay(system: System, logs: Sequence[Samples], period: float) -> Delay:
    """The delay common to all joints of all logs, whose samples are `period` (s) apart."""
    shifted, seconds = list(logs), 0.0
    larger = system.extended(tuple(f"{COLUMN}{k + 1}" for k in range(system.robot.dof)))
    of_joints = std = np.full(system.robot.dof, np.nan)
    for _ in range(ROUNDS):
        steps, std = _steps(system, larger, shifted)
        known = np.isfinite(std) & (std > 0.0)
        of_joints = seconds + steps
        if not known.any():
            return Delay(0.0, np.inf, 0.0, of_joints, False)
        step = _weighted_median(steps[known], std[known] ** -2)
        seconds += step
        if not abs(seconds) <= LONGEST_S:
            return Delay(0.0, np.inf, 0.0, of_joints, False)
        shifted = [advanced(samples, seconds) for samples in logs]
        if abs(step) < 0.05 * float(std[known].min()):
            break
    return _judged(seconds, of_joints, std, period)


def _judged(seconds: float, of_joints: Array, std: Array, period: float) -> Delay:
    known = np.isfinite(std) & (std > 0.0)
    weight = std[known] ** -2
    off = np.abs(of_joints[known] - seconds)
    agrees = off <= np.maximum(ALIKE * std[known], ALIKE_SHARE * abs(seconds))
    agreeing = float(weight[agrees].sum() / weight.sum())
    spread = 1.4826 * _weighted_median(off, weight)
    deviation = float(np.sqrt(1.0 / weight.sum() + spread**2 / known.sum()))
    significant = (
        abs(seconds) > SIGNIFICANT * deviation and abs(seconds) > SHORTEST * period and agreeing >= MOST
    )
    return Delay(seconds, deviation, agreeing, frozen(of_joints[known]), bool(significant))


def advanced(samples: Samples, seconds: float) -> Samples:
    """The samples with efforts taken `seconds` later in the log: a delay taken out."""
    tau = np.empty_like(samples.tau)
    for first, last in samples.segments:
        t = samples.time[first:last]
        at = np.clip(t + seconds, t[0], t[-1])
        tau[first:last] = _interpolate.make_interp_spline(t, samples.tau[first:last], k=3)(at)
    return replace(samples, tau=tau)


def _steps(system: System, larger: System, logs: Sequence[Samples]) -> tuple[Array, Array]:
    """What is left of each joint's delay, and its standard deviation, (n,) each."""
    n = system.robot.dof
    solution = weighted(total([reduce(system, samples) for samples in logs]))
    model = system.model(solution.values)
    names = larger.terms.extra[-n:]
    with_rate: list[Samples] = []
    for samples in logs:
        predicted = model.efforts(samples.q, samples.qd, samples.qdd, samples.sliding)
        rate = np.concatenate(
            [-np.gradient(predicted[a:b], 1.0 / samples.rate_hz, axis=0) for a, b in samples.segments]
        )
        of_joint = {name: np.where(np.arange(n) == k, rate, 0.0) for k, name in enumerate(names)}
        with_rate.append(replace(samples, extra=MappingProxyType({**samples.extra, **of_joint})))
    reduction = total([reduce(larger, samples) for samples in with_rate])
    found = weighted(reduction)
    runs = [torque_runs(larger, samples) for samples in with_rate]
    noise = noise_of(runs, found)
    std = uncertainty(found, runs, noise, float(reduction.rows.sum())).std
    return found.values[-n:], std[-n:]


def _weighted_median(values: Array, weights: Array) -> float:
    order = np.argsort(values)
    below = np.cumsum(weights[order]) - 0.5 * weights[order]
    half = np.array([0.5 * weights.sum()])
    return float(np.asarray(np.interp(half, below, values[order]), dtype=np.float64)[0])
