"""The cut-off frequency, chosen from the data: candidates from the spectrum, the best by cross-validation.

Nothing is random: the same log gives the same choice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from dynid.base import BaseParameters, base_parameters
from dynid.log.clean import CleanLog
from dynid.log.effort_model import EffortModel, effort_model, factor, pooled_fit
from dynid.log.log import LogError
from dynid.log.samples import TRIM_PERIODS, Samples, condition
from dynid.robot import Robot
from dynid.signals import clock as clocks
from dynid.signals.filters import VALIDATION_CUTOFF_HZ, Decimator
from dynid.signals.spectrum import motion_bandwidth
from dynid.spatial import Array

FOLDS = 5
MULTIPLES = (3.0, 5.0, 8.0, 13.0, 20.0)  # of the motion's bandwidth
LOWEST_HZ, HIGHEST_HZ = 1.0, 40.0
LEAST_SHARE = 0.1  # of the rows in which a joint must move to be compared
NEARLY_BEST = 1.02  # times the smallest error; the lowest such cut-off lets the least noise through
LONGEST_S = 120.0  # of the log on which candidates are compared
SLOWEST_S = 0.2  # between rows


@dataclass(frozen=True, eq=False)
class CutoffChoice:
    """The cut-off and why: held-out error of each candidate, relative to the efforts (NaN: not compared)."""

    cutoff_hz: float
    bandwidth_hz: float
    candidates: Array
    errors: Array

    def __str__(self) -> str:
        tried = ", ".join(
            f"{f:.3g} Hz: {100 * e:.2f} %" for f, e in zip(self.candidates, self.errors, strict=True)
        )
        return f"{self.cutoff_hz:.3g} Hz (motion up to {self.bandwidth_hz:.2g} Hz; held-out error {tried})"


def spectral_cutoff(log: CleanLog) -> tuple[float, float]:
    """A cut-off from the spectrum alone, eight times the motion's bandwidth, and that bandwidth (Hz)."""
    bandwidth = _bandwidth(log)
    return within_band(8.0 * bandwidth or VALIDATION_CUTOFF_HZ, log), bandwidth


def choose_cutoff(log: CleanLog, robot: Robot) -> CutoffChoice:
    """The lowest candidate whose fit predicts held-out blocks best, or nearly so, below 5 Hz.

    Base parameters and each joint's friction are fitted on four of five contiguous blocks. The squared errors
    on the fifth, relative to the efforts, are averaged over blocks and joints.
    """
    if log.period > SLOWEST_S:
        raise LogError(
            f"{log.provenance.source}: {log.period:.3g} s from row to row, which is too slow for any motion: "
            "is time in ms or ns? It must be in seconds (time), or in ns (stamp_ns)"
        )
    bandwidth = _bandwidth(log)
    wanted = {round(within_band(m * bandwidth, log), 3) for m in MULTIPLES} if bandwidth else {_spectral(log)}
    longest = log.time[-1] - log.time[0]
    candidates = [f for f in sorted(wanted) if longest * f > 10.0 * (TRIM_PERIODS + 1.5)] or [max(wanted)]
    errors = np.full(len(candidates), np.nan)
    if len(candidates) > 1 and log.measured.any():
        margin = 2.0 * (TRIM_PERIODS + 1.5) / candidates[0]
        end = min(log.time[-1], log.time[0] + LONGEST_S)
        span = (log.start + log.time[0] + margin, log.start + end - margin)
        base = base_parameters(robot)
        head = until(log, log.time[0] + LONGEST_S)
        errors = np.array([held_out_error(condition(head, f), robot, base, span) for f in candidates])
    compared = np.isfinite(errors)
    good = errors <= NEARLY_BEST * np.nanmin(errors) if compared.any() else compared
    best = candidates[int(np.argmax(good))] if compared.any() else _spectral(log)
    return CutoffChoice(best, bandwidth, np.array(candidates), errors)


def held_out_error(samples: Samples, robot: Robot, base: BaseParameters, span: tuple[float, float]) -> float:
    """RMS over blocks and joints of the relative error on blocks that were left out, in 5 Hz."""
    fit = effort_model(samples, robot, base)
    judged = effort_model(in_validation_band(samples), robot, base)
    share = np.minimum(fit.weights.mean(axis=0), judged.weights.mean(axis=0))
    moving = [j for j in range(robot.dof) if share[j] > LEAST_SHARE]
    size = {j: float(np.sqrt(np.mean(judged.tau[judged.weights[:, j] > 0, j] ** 2))) for j in moving}
    joints = [j for j in moving if size[j] > 0.0]
    if not joints:
        return np.nan
    edges = np.linspace(*span, FOLDS + 1)
    guard = (1.5 + TRIM_PERIODS) / samples.cutoff_hz  # what the filters smear over the edges of a block
    factors = [[_block(fit, j, a + guard, b - guard) for j in joints] for a, b in pairwise(edges)]
    terms: list[float] = []
    for held, (first, last) in enumerate(pairwise(edges)):
        kept = [
            np.concatenate(parts)
            for parts in zip(*(f for k, f in enumerate(factors) if k != held), strict=True)
        ]
        beta, drive = pooled_fit(kept, np.array([size[j] for j in joints]))
        for j, d in zip(joints, drive, strict=True):
            block = (judged.weights[:, j] > 0) & (judged.time >= first) & (judged.time <= last)
            if block.any():
                error = judged.tau[block, j] - judged.columns(j)[block] @ np.concatenate([beta, d])
                terms.append(float(error @ error) / len(error) / size[j] ** 2)
    return float(np.sqrt(np.mean(terms))) if terms else np.nan


def _block(model: EffortModel, joint: int, first: float, last: float) -> Array:
    """The triangular factor of one joint's rows between two instants."""
    rows = (model.weights[:, joint] > 0) & (model.time >= first) & (model.time <= last)
    return factor(model.columns(joint)[rows], model.tau[rows, joint])


def in_validation_band(samples: Samples) -> Samples:
    """The same samples with the band of the fixed validation filter; weights as at the nearest row."""
    cutoff = min(VALIDATION_CUTOFF_HZ, 0.25 * samples.rate_hz)
    parallel = Decimator(samples.rate_hz, cutoff, samples.parallel.factor)
    segments = [(a, b) for a, b in samples.segments if b - a > 2 * parallel.half]
    banded = replace(samples, parallel=parallel, segments=tuple(segments))
    rows = samples.rows
    following = np.clip(np.searchsorted(rows, banded.rows), 0, len(rows) - 1)
    return replace(banded, weights=samples.weights[following])


def _bandwidth(log: CleanLog) -> float:
    """The motion's bandwidth in the longest piece without a long hole."""
    pieces = clocks.split(log.time, 10.0 * log.period, log.breaks)
    first, last = max(pieces, key=lambda piece: piece[1] - piece[0])
    if last - first < 16:
        return 0.0
    clock = clocks.uniform(log.time[first:last], log.period)
    return motion_bandwidth(
        clocks.resample(log.time[first:last], log.position[first:last], clock), 1 / log.period
    )


def _spectral(log: CleanLog) -> float:
    return spectral_cutoff(log)[0]


def within_band(cutoff_hz: float, log: CleanLog) -> float:
    """A cut-off within what the log's rate and plain sense allow."""
    return float(np.clip(cutoff_hz, LOWEST_HZ, min(HIGHEST_HZ, 0.125 / log.period)))


def until(log: CleanLog, end: float) -> CleanLog:
    """The rows up to an instant."""
    count = int(np.searchsorted(log.time, end, side="right"))
    if count == len(log.time):
        return log
    return replace(
        log,
        time=log.time[:count],
        breaks=log.breaks[log.breaks < count],
        position=log.position[:count],
        velocity=None if log.velocity is None else log.velocity[:count],
        effort=log.effort[:count],
        extra={name: values[:count] for name, values in log.extra.items()},
    )
