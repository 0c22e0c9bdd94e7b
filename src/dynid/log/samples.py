"""Samples: what a fit needs of a log, on a uniform clock, filtered, differentiated and weighted.

From the clean log to the samples:

    resample on a uniform clock -> thin out to some 20 times the cut-off
    positions: Butterworth at twice the cut-off, differentiate          -> q, qd, qdd
    efforts: as they are                                                -> tau
    both sides of  tau = Y(q, qd, qdd) beta:  one filter at the cut-off -> `Samples.filtered`

The last step is the parallel decimation filter. It acts on tau and on every column of the regressor
alike, friction included, so it changes neither the equation nor the parameters; noise of the accelerations
beyond the cut-off, which the positions' filter had to let through, goes with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dynid.errors import ArgumentError
from dynid.log.clean import CleanLog
from dynid.log.log import Provenance
from dynid.signals import clock as clocks
from dynid.signals.derivatives import SMOOTHING, Derivative, central, differentiate
from dynid.signals.filters import Decimator, butterworth, thinning
from dynid.signals.masks import STANDSTILL_SPEED, inside, near_standstill, saturated
from dynid.spatial import Array

VelocitySource = Literal["position", "measured"]

FINE_RATE = 20.0  # samples per period of the cut-off while products and signs of signals are formed
LOWEST_FINE_HZ = 100.0  # so that the fixed validation filter, at 5 Hz, can be applied to any samples
POSITION_BAND = 2.0  # positions are filtered this many times above the cut-off
ROWS_PER_PERIOD = 4.0  # of the cut-off, after the parallel filter
HOLE_PERIODS = 0.25  # of the cut-off; over a longer hole no filter runs on
TRIM_PERIODS = 0.5  # of the cut-off, at both ends of a segment: where the positions' filter starts


@dataclass(frozen=True, eq=False, kw_only=True)
class Samples:
    """N samples of n joints, ready for the regressor, and the filter for both sides of the equation.

    Arrays are (N, n), segment after segment. `filtered` turns N samples into M rows of equations, whose
    weights are (M, n): 0 leaves a joint's equation out.
    """

    joint_names: tuple[str, ...]
    rate_hz: float
    time: Array  # (N,) s, as the log counts it
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    extra: Mapping[str, Array]
    segments: tuple[clocks.Interval, ...]  # of the N samples
    parallel: Decimator
    weights: Array  # (M, n)
    choices: Mapping[str, str]
    provenance: Provenance
    notes: tuple[str, ...]

    @property
    def cutoff_hz(self) -> float:
        return self.parallel.cutoff_hz

    @property
    def rows(self) -> NDArray[np.intp]:
        """The sample in the middle of each row, (M,)."""
        return middles(self.segments, self.parallel)

    def filtered(self, values: Array) -> Array:
        """Values (N, ...) of either side of the equation through the parallel filter, (M, ...)."""
        return np.concatenate([self.parallel.apply(values[first:last]) for first, last in self.segments])


def middles(segments: Sequence[clocks.Interval], parallel: Decimator) -> NDArray[np.intp]:
    """The samples at which the parallel filter has an output."""
    return np.concatenate(
        [np.arange(first, last)[parallel.middles(last - first)] for first, last in segments]
    )


def condition(
    log: CleanLog,
    cutoff_hz: float,
    *,
    derivative: Derivative = "central",
    velocity: VelocitySource = "position",
    standstill_speed: float = STANDSTILL_SPEED,
    exclude: Sequence[tuple[float, float]] = (),
    effort_limit: Array | None = None,
) -> Samples:
    """Samples of a clean log in the band below `cutoff_hz`."""
    if velocity == "measured" and log.velocity is None:
        raise ArgumentError(
            f"{log.provenance.source}: the log has no velocities: velocity must be 'position'"
        )
    holes = max(HOLE_PERIODS / cutoff_hz, clocks.GAP_PERIODS * log.period)
    pieces: list[_Piece] = []
    lost = 0.0
    for first, last in clocks.split(log.time, holes, log.breaks):
        piece = _piece(log, slice(first, last), cutoff_hz, derivative, velocity)
        lost += 0.0 if piece else log.time[last - 1] - log.time[first]
        pieces += [piece] if piece else []
    if not pieces:
        raise ArgumentError(_too_short(log, cutoff_hz))
    rate = pieces[0].rate_hz
    parallel = Decimator(rate, cutoff_hz, thinning(rate, ROWS_PER_PERIOD * cutoff_hz))
    ends = np.cumsum([len(piece.time) for piece in pieces]).tolist()
    segments = tuple(zip([0, *ends[:-1]], ends, strict=True))
    time, qd = np.concatenate([p.time for p in pieces]), np.concatenate([p.qd for p in pieces])
    rows = middles(segments, parallel)
    weights = _weights(log, time, qd, rows, parallel, standstill_speed, exclude, effort_limit)
    left_out = (f"left out {lost:.3g} s in pieces too short to filter",) if lost else ()
    return Samples(
        joint_names=log.joint_names,
        rate_hz=rate,
        time=log.start + time,
        q=np.concatenate([p.q for p in pieces]),
        qd=qd,
        qdd=np.concatenate([p.qdd for p in pieces]),
        tau=np.concatenate([p.tau for p in pieces]),
        extra={name: np.concatenate([p.extra[name] for p in pieces]) for name in log.extra},
        segments=segments,
        parallel=parallel,
        weights=weights,
        choices=MappingProxyType(
            {
                "cutoff_hz": f"{cutoff_hz:g}",
                "position_cutoff_hz": f"{_position_cutoff(cutoff_hz, rate):g}",
                "derivative": derivative,
                "velocity": velocity,
                "standstill_speed": f"{standstill_speed:g}",
            }
        ),
        provenance=log.provenance,
        notes=(*log.notes, *left_out),
    )


@dataclass(frozen=True, eq=False)
class _Piece:
    """One segment, on a uniform clock."""

    rate_hz: float
    time: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    extra: Mapping[str, Array]


def _piece(
    log: CleanLog, rows: slice, cutoff_hz: float, derivative: Derivative, velocity: VelocitySource
) -> _Piece | None:
    """One segment of the log, or None if it is too short for the filters."""
    rate = 1.0 / log.period
    factor = thinning(rate, max(FINE_RATE * cutoff_hz, LOWEST_FINE_HZ))
    thinner = Decimator(rate, 0.4 * rate / factor, factor) if factor > 1 else None
    fine = rate / factor
    clock = clocks.uniform(log.time[rows], log.period)
    trim = int(np.ceil(TRIM_PERIODS * fine / cutoff_hz))
    needed = 2 * (trim + Decimator(fine, cutoff_hz).half) + 1
    if len(clock) < factor * needed + (2 * thinner.half if thinner else 0):
        return None

    def even(values: Array) -> Array:
        resampled = clocks.resample(log.time[rows], values[rows], clock)
        return thinner.apply(resampled) if thinner else resampled

    position = even(log.position)
    band = _position_cutoff(cutoff_hz, fine)
    q = butterworth(position, fine, band)
    if velocity == "measured" and log.velocity is not None:
        qd = butterworth(even(log.velocity), fine, band)
        qdd = central(qd, 1.0 / fine)[0]
    else:
        source = position if derivative in SMOOTHING else q
        qd, qdd = differentiate(source, 1.0 / fine, derivative, band)
    inner = slice(trim, len(q) - trim)
    time = clock[thinner.middles(len(clock))] if thinner else clock
    return _Piece(
        fine,
        time[inner],
        q[inner],
        qd[inner],
        qdd[inner],
        even(log.effort)[inner],
        {name: even(values)[inner] for name, values in log.extra.items()},
    )


def _position_cutoff(cutoff_hz: float, rate_hz: float) -> float:
    """Twice the cut-off, or what the rate allows."""
    return min(POSITION_BAND * cutoff_hz, 0.45 * rate_hz)


def _weights(
    log: CleanLog,
    time: Array,
    qd: Array,
    rows: NDArray[np.intp],
    parallel: Decimator,
    standstill_speed: float,
    exclude: Sequence[tuple[float, float]],
    effort_limit: Array | None,
) -> Array:
    """(M, n): 0 for joints at rest, without effort or saturated, in gaps and in intervals to leave out."""
    instants = time[rows]
    reach = parallel.half / parallel.rate_hz
    out = inside(instants, [(first - log.start - reach, last - log.start + reach) for first, last in exclude])
    out |= clocks.inside_gaps(instants, log.clock, log.period)
    bad = near_standstill(qd, standstill_speed, parallel.half // 3)[rows] | out[:, None] | ~log.measured
    if effort_limit is not None:
        flags = saturated(log.effort, effort_limit)
        for joint in np.flatnonzero(flags.any(axis=0)):
            bad[:, joint] |= _near(instants, log.time[flags[:, joint]], reach)
    return np.where(bad, 0.0, 1.0)


def _near(instants: Array, events: Array, reach: float) -> clocks.Flags:
    """Which instants have an event within `reach`."""
    return np.searchsorted(events, instants + reach, "right") > np.searchsorted(
        events, instants - reach, "left"
    )


def _too_short(log: CleanLog, cutoff_hz: float) -> str:
    needed = 2.0 * (TRIM_PERIODS + 1.5) / cutoff_hz
    return (
        f"{log.provenance.source}: no piece without a gap is long enough for a cut-off of {cutoff_hz:g} Hz; "
        f"about {needed:.2g} s are needed"
    )
