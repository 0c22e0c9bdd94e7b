"""The doctor's look at the clock: rate, jitter, gaps, stamps that stand still or go back, repeated rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.errors import ArgumentError
from dynid.log.findings import Finding, Severity
from dynid.log.log import Log
from dynid.signals.clock import gaps, nominal_period, repeated, seconds, stale

JITTER_HINT, JITTER_WARNING = 0.02, 0.05  # of the nominal period
LOST_WARNING, LOST_ERROR = 0.01, 0.2  # of the duration, or of the rows
LONG_GAP_S = 0.1
BACKWARDS_ERROR = 0.01  # of the steps


@dataclass(frozen=True)
class Clock:
    """The sample clock of one log; times in seconds."""

    samples: int
    duration_s: float
    rate_hz: float  # of the nominal period, the median step
    jitter_s: float  # RMS deviation of the steps from their mean, gaps apart
    gaps: int
    longest_gap_s: float
    lost_s: float  # by gaps
    backwards: int
    duplicates: int
    repeated_rows: int
    stale_rows: int  # repeated while the robot moved


def clock_of(log: Log) -> Clock:
    """Measures of the clock; raises an ArgumentError if it never advances."""
    steps = np.diff(log.stamp_ns)
    if not (steps > 0).any():
        raise ArgumentError(
            f"{log.provenance.source}: the stamps of its {len(log)} rows never advance; "
            "at least two rows with increasing stamps are needed"
        )
    time = np.unique(seconds(log.stamp_ns))
    period = nominal_period(time)
    after = gaps(time, period)
    forward = np.diff(time)
    regular = np.delete(forward, after)
    return Clock(
        samples=len(log),
        duration_s=float(time[-1] - time[0]),
        rate_hz=1.0 / period,
        jitter_s=float(regular.std()) if regular.size else 0.0,
        gaps=len(after),
        longest_gap_s=float(forward[after].max(initial=0.0)),
        lost_s=float((forward[after] - period).sum()),
        backwards=int(np.count_nonzero(steps < 0)),
        duplicates=int(np.count_nonzero(steps == 0)),
        repeated_rows=int(np.count_nonzero(repeated(log.position))),
        stale_rows=int(np.count_nonzero(stale(log.position))),
    )


def clock_findings(clock: Clock) -> list[Finding]:
    """What is wrong with the clock."""
    return [*_order(clock), *_gaps(clock), *_jitter(clock), *_repeats(clock)]


def _order(clock: Clock) -> list[Finding]:
    found: list[Finding] = []
    if clock.backwards:
        many = clock.backwards > BACKWARDS_ERROR * clock.samples
        found.append(
            Finding(
                "clock_backwards",
                "error" if many else "warning",
                f"{clock.backwards} of {clock.samples - 1} steps of the clock go backwards",
                "sort the rows by the time they were measured, or use the stamp of the message header; "
                "rows out of order are left out",
            )
        )
    if clock.duplicates:
        found.append(
            Finding(
                "clock_duplicate",
                _by_share(clock.duplicates / clock.samples, "warning"),
                f"{clock.duplicates} rows have the stamp of the row before",
                "log with a finer clock, or log each message once; only the first row of each stamp is used",
            )
        )
    return found


def _gaps(clock: Clock) -> list[Finding]:
    if not clock.gaps:
        return []
    short = clock.longest_gap_s < LONG_GAP_S and clock.lost_s < LOST_WARNING * clock.duration_s
    return [
        Finding(
            "clock_gap",
            _by_share(clock.lost_s / clock.duration_s, "hint" if short else "warning"),
            f"{clock.gaps} gaps (steps of more than 1.5 nominal periods of {1e3 / clock.rate_hz:.4g} ms), "
            f"the longest {1e3 * clock.longest_gap_s:.4g} ms; "
            f"{clock.lost_s:.3g} s of {clock.duration_s:.4g} s are missing",
            "look for dropped messages; nothing is made up inside gaps",
        )
    ]


def _jitter(clock: Clock) -> list[Finding]:
    share = clock.jitter_s * clock.rate_hz
    if share < JITTER_HINT:
        return []
    return [
        Finding(
            "clock_jitter",
            "warning" if share >= JITTER_WARNING else "hint",
            f"steps of the clock scatter by {1e3 * clock.jitter_s:.3g} ms RMS, "
            f"{100 * share:.3g} % of the nominal period of {1e3 / clock.rate_hz:.4g} ms",
            "never count rows instead of time; the stamps are used, samples are interpolated between them",
        )
    ]


def _repeats(clock: Clock) -> list[Finding]:
    share = clock.stale_rows / clock.samples
    if clock.stale_rows < 3 or share < 1e-3:
        return []
    return [
        Finding(
            "repeated_rows",
            _by_share(share, "warning"),
            f"{clock.repeated_rows} rows repeat all positions of the row before, "
            f"{clock.stale_rows} of them while the robot moved",
            "log at the rate of the robot's controller; the copies are left out",
        )
    ]


def _by_share(share: float, otherwise: Severity) -> Severity:
    return "error" if share > LOST_ERROR else otherwise
