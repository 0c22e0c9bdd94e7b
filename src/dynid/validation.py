"""How well a model predicts a log: measured and predicted efforts through one fixed filter.

The filter never changes with the fit: zero-phase Butterworth of order 4 at 5 Hz, 0.3 s cut from both ends of
every piece without a gap. So figures of different fits, logs and robots can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dynid.errors import ArgumentError
from dynid.log.clean import CleanLog, clean
from dynid.log.log import Log
from dynid.log.samples import Samples, condition
from dynid.robot import Robot
from dynid.signals.clock import Flags
from dynid.signals.filters import (
    VALIDATION_CUTOFF_HZ,
    VALIDATION_TRIM_S,
    butterworth,
    validation_span,
)
from dynid.spatial import Array

MOVING_SPEED = 0.03  # rad/s or m/s
HIGHEST_SHARE = 0.2  # of a log's rate, for logs too slow for 5 Hz

Predict = Callable[[Samples], Array]


@dataclass(frozen=True)
class Score:
    """Errors of the prediction of one joint's efforts; percentages are of the RMS of the measured effort."""

    rmse: float  # Nm or N
    percent: float
    percent_raw: float  # against the effort as measured, without the filter
    percent_moving: float  # only where the joint moves faster than 0.03 rad/s or m/s
    r2: float

    def __getitem__(self, name: str) -> float:
        """A figure by its name, as in the JSON."""
        figures: dict[str, float] = vars(self)
        if name not in figures:
            raise KeyError(f"{name!r}; valid: {', '.join(figures)}")
        return figures[name]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Measured and predicted efforts of one log; arrays are (M, n)."""

    joint_names: tuple[str, ...]
    time: Array  # (M,) s, as the log counts it
    measured: Array  # filtered
    predicted: Array  # filtered
    moving: Flags
    raw_time: Array  # (K,) of the log's own rows within the same pieces
    raw: Array  # (K, n) efforts as measured
    raw_predicted: Array  # (K, n) the filtered prediction at these instants
    known: Flags  # (n,) joints that have an effort


def compare(robot: Robot, log: Log | CleanLog, predict: Predict) -> Comparison:
    """Measured and predicted efforts of a log; `predict` gives efforts (N, n) for samples."""
    rows = clean(log, robot) if isinstance(log, Log) else log
    if not rows.measured.any():
        raise ArgumentError(f"{rows.provenance.source}: the log has no efforts to compare with")
    samples = condition(rows, min(VALIDATION_CUTOFF_HZ, HIGHEST_SHARE / rows.period), standstill_speed=0.0)
    predicted = predict(samples)
    parts: list[tuple[Array, ...]] = []
    for first, last in samples.segments:
        if last - first <= 2 * round(VALIDATION_TRIM_S * samples.rate_hz) + 1:
            continue
        a, b = validation_span(last - first, samples.rate_hz)
        piece = slice(first, last)
        both = (_filtered(x[piece], samples.rate_hz)[a:b] for x in (samples.tau, predicted))
        parts.append(
            (
                samples.time[piece][a:b],
                *both,
                samples.qd[piece][a:b],
                *_raw(rows, samples, piece, (a, b), predicted),
            )
        )
    if not parts:
        raise ArgumentError(
            f"{rows.provenance.source}: no piece without a gap is longer than {2 * VALIDATION_TRIM_S:g} s"
        )
    time, measured, filtered, qd, raw_time, raw, raw_predicted = (
        np.concatenate(part) for part in zip(*parts, strict=True)
    )
    moving = np.abs(qd) > MOVING_SPEED
    return Comparison(
        rows.joint_names, time, measured, filtered, moving, raw_time, raw, raw_predicted, rows.measured
    )


def _filtered(values: Array, rate_hz: float) -> Array:
    return butterworth(values, rate_hz, min(VALIDATION_CUTOFF_HZ, HIGHEST_SHARE * rate_hz))


def _raw(
    rows: CleanLog, samples: Samples, piece: slice, span: tuple[int, int], predicted: Array
) -> tuple[Array, Array, Array]:
    """The log's own rows within a piece: instants, efforts, and the filtered prediction there."""
    time = samples.time[piece][span[0] : span[1]]
    filtered = _filtered(predicted[piece], samples.rate_hz)[span[0] : span[1]]
    instants = rows.start + rows.time
    inside = (instants >= time[0]) & (instants <= time[-1])
    there = np.empty((int(inside.sum()), filtered.shape[1]))
    for joint, column in enumerate(filtered.T):
        there[:, joint] = np.interp(instants[inside], time, column)
    return instants[inside], rows.effort[inside], there


def scores(comparisons: Sequence[Comparison]) -> Mapping[str, Score]:
    """Scores by joint, of one log or several together; joints without efforts are left out."""
    first = comparisons[0]
    known = np.logical_and.reduce([c.known for c in comparisons])
    found: dict[str, Score] = {}
    for j, name in enumerate(first.joint_names):
        if not known[j]:
            continue
        measured, predicted, moving, raw, raw_predicted = (
            np.concatenate([getattr(c, field)[:, j] for c in comparisons])
            for field in ("measured", "predicted", "moving", "raw", "raw_predicted")
        )
        found[name] = Score(
            rmse=_rms(measured - predicted),
            percent=_percent(measured, predicted),
            percent_raw=_percent(raw, raw_predicted),
            percent_moving=_percent(measured[moving], predicted[moving]),
            r2=_explained(measured, predicted),
        )
    return found


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else float("nan")


def _percent(measured: Array, predicted: Array) -> float:
    size = _rms(measured)
    return 100.0 * _rms(measured - predicted) / size if size > 0.0 else float("nan")


def _explained(measured: Array, predicted: Array) -> float:
    varying = float(np.sum((measured - measured.mean()) ** 2))
    return 1.0 - float(np.sum((measured - predicted) ** 2)) / varying if varying > 0.0 else float("nan")
