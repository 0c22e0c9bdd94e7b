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
from functools import cached_property
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
LEAST_MOTION = 1e-9  # rad or m; no encoder resolves as much, so a joint that moves less does not move
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
    sliding: Array | None = None  # (N, n) of each drive, where friction has a memory: `System.remembering`

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


@dataclass(frozen=True)
class Band:
    """The clocks and filters of one cut-off for logs of one period."""

    period: float  # s, of the log's clock
    cutoff_hz: float

    @cached_property
    def factor(self) -> int:
        """How many instants of the log's clock make one sample."""
        return thinning(1.0 / self.period, max(FINE_RATE * self.cutoff_hz, LOWEST_FINE_HZ))

    @property
    def rate_hz(self) -> float:
        """Of the samples."""
        return 1.0 / self.period / self.factor

    @cached_property
    def thinner(self) -> Decimator | None:
        rate = 1.0 / self.period
        return Decimator(rate, 0.4 * rate / self.factor, self.factor) if self.factor > 1 else None

    @cached_property
    def parallel(self) -> Decimator:
        return Decimator(
            self.rate_hz, self.cutoff_hz, thinning(self.rate_hz, ROWS_PER_PERIOD * self.cutoff_hz)
        )

    @property
    def trim(self) -> int:
        """Samples cut off at both ends of a segment."""
        return int(np.ceil(TRIM_PERIODS * self.rate_hz / self.cutoff_hz))

    @property
    def shortest(self) -> int:
        """Instants of the log's clock that a segment must have."""
        needed = 2 * (self.trim + self.parallel.half) + 1
        return self.factor * needed + (2 * self.thinner.half if self.thinner else 0)

    @property
    def position_cutoff_hz(self) -> float:
        """Twice the cut-off, or what the rate allows."""
        return min(POSITION_BAND * self.cutoff_hz, 0.45 * self.rate_hz)

    def samples(self, instants: int) -> int:
        """The number of samples that so many instants in a row make."""
        return len(range(instants)[self.thinner.middles(instants)]) if self.thinner else instants


@dataclass(frozen=True, eq=False, kw_only=True)
class Conditioning:
    """What is done to a clean log beside the choice of the band."""

    derivative: Derivative = "central"
    velocity: VelocitySource = "position"
    standstill_speed: float = STANDSTILL_SPEED
    exclude: Sequence[tuple[float, float]] = ()
    effort_limit: Array | None = None  # (n,)


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
    how = Conditioning(
        derivative=derivative,
        velocity=velocity,
        standstill_speed=standstill_speed,
        exclude=exclude,
        effort_limit=effort_limit,
    )
    if velocity == "measured" and log.velocity is None:
        raise ArgumentError(
            f"{log.provenance.source}: the log has no velocities: velocity must be 'position'"
        )
    band = Band(log.period, cutoff_hz)
    pieces: list[Even] = []
    lost = 0.0
    for first, last in clocks.split(log.time, longest_hole(band), log.breaks):
        clock = clocks.uniform(log.time[first:last], log.period)
        if len(clock) < band.shortest:
            lost += log.time[last - 1] - log.time[first]
        else:
            pieces.append(even(log, slice(first, last), clock, band, how)[band.trim : -band.trim])
    if not pieces:
        raise ArgumentError(too_short(log.provenance.source, cutoff_hz))
    left_out = (left_out_note(lost),) if lost else ()
    return assembled(log, pieces, band, how, (*log.notes, *left_out))


def longest_hole(band: Band) -> float:
    """Seconds without a row over which filters still run on."""
    return max(HOLE_PERIODS / band.cutoff_hz, clocks.GAP_PERIODS * band.period)


def left_out_note(lost: float) -> str:
    return f"left out {lost:.3g} s in pieces too short to filter"


def assembled(
    log: CleanLog, pieces: Sequence[Even], band: Band, how: Conditioning, notes: tuple[str, ...]
) -> Samples:
    """Samples made of pieces of a log that do not follow on each other, each a segment."""
    ends = np.cumsum([len(piece.time) for piece in pieces]).tolist()
    segments = tuple(zip([0, *ends[:-1]], ends, strict=True))
    time, qd = np.concatenate([p.time for p in pieces]), np.concatenate([p.qd for p in pieces])
    weights = _weights(log, time, qd, middles(segments, band.parallel), band.parallel, how)
    return Samples(
        joint_names=log.joint_names,
        rate_hz=band.rate_hz,
        time=log.start + time,
        q=np.concatenate([p.q for p in pieces]),
        qd=qd,
        qdd=np.concatenate([p.qdd for p in pieces]),
        tau=np.concatenate([p.tau for p in pieces]),
        extra={name: np.concatenate([p.extra[name] for p in pieces]) for name in log.extra},
        segments=segments,
        parallel=band.parallel,
        weights=weights,
        choices=MappingProxyType(
            {
                "cutoff_hz": f"{band.cutoff_hz:g}",
                "position_cutoff_hz": f"{band.position_cutoff_hz:g}",
                "derivative": how.derivative,
                "velocity": how.velocity,
                "standstill_speed": f"{how.standstill_speed:g}",
            }
        ),
        provenance=log.provenance,
        notes=notes,
    )


@dataclass(frozen=True, eq=False)
class Even:
    """A stretch of a log on a uniform clock, filtered and differentiated."""

    time: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    extra: Mapping[str, Array]

    def __getitem__(self, inner: slice) -> Even:
        extra = {name: values[inner] for name, values in self.extra.items()}
        q, qd, qdd = self.q[inner], self.qd[inner], self.qdd[inner]
        return Even(self.time[inner], q, qd, qdd, self.tau[inner], extra)


def even(log: CleanLog, rows: slice, clock: Array, band: Band, how: Conditioning) -> Even:
    """The signals of rows of a log at the instants of a clock, thinned out; its ends are yet to be cut."""
    thinner, fine = band.thinner, band.rate_hz

    def thinned(values: Array) -> Array:
        resampled = clocks.resample(log.time[rows], values[rows], clock)
        return thinner.apply(resampled) if thinner else resampled

    position = thinned(log.position)
    q = butterworth(position, fine, band.position_cutoff_hz)
    if how.velocity == "measured" and log.velocity is not None:
        qd = butterworth(thinned(log.velocity), fine, band.position_cutoff_hz)
        qdd = central(qd, 1.0 / fine)[0]
    else:
        source = position if how.derivative in SMOOTHING else q
        qd, qdd = differentiate(source, 1.0 / fine, how.derivative, band.position_cutoff_hz)
    time = clock[thinner.middles(len(clock))] if thinner else clock
    extra = {name: thinned(values) for name, values in log.extra.items()}
    return Even(time, q, qd, qdd, thinned(log.effort), extra)


def _weights(
    log: CleanLog,
    time: Array,
    qd: Array,
    rows: NDArray[np.intp],
    parallel: Decimator,
    how: Conditioning,
) -> Array:
    """(M, n): 0 for joints at rest, without effort or saturated, in gaps and in intervals to leave out."""
    instants = time[rows]
    reach = parallel.half / parallel.rate_hz
    out = inside(
        instants, [(first - log.start - reach, last - log.start + reach) for first, last in how.exclude]
    )
    out |= clocks.inside_gaps(instants, log.clock, log.period)
    bad = near_standstill(qd, how.standstill_speed, parallel.half // 3)[rows] | out[:, None] | ~log.measured
    if how.effort_limit is not None:
        flags = saturated(log.effort, how.effort_limit)
        for joint in np.flatnonzero(flags.any(axis=0)):
            bad[:, joint] |= _near(instants, log.time[flags[:, joint]], reach)
    return np.where(bad, 0.0, 1.0)


def _near(instants: Array, events: Array, reach: float) -> clocks.Flags:
    """Which instants have an event within `reach`."""
    return np.searchsorted(events, instants + reach, "right") > np.searchsorted(
        events, instants - reach, "left"
    )


def too_short(source: str, cutoff_hz: float) -> str:
    needed = 2.0 * (TRIM_PERIODS + 1.5) / cutoff_hz
    return (
        f"{source}: no piece without a gap is long enough for a cut-off of {cutoff_hz:g} Hz; "
        f"about {needed:.2g} s are needed"
    )
