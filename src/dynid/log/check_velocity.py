"""The doctor's look at measured velocities against differentiated positions: unit, sign, delay, names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.log.findings import Finding
from dynid.log.lags import correlation_peak, delay_text, later_than
from dynid.log.samples import POSITION_BAND, Samples
from dynid.signals.filters import butterworth
from dynid.spatial import Array

MEASURED = "velocity"  # name of the measured velocity among the samples' extra channels
LONGEST_LAG_S = 0.25
LEAST_DELAY_PERIODS, LEAST_DELAY_S = 1.5, 0.004
ALIKE, UNLIKE = 0.9, 0.7  # correlations
UNIT_TOLERANCE = 0.15
SLOW = 0.02  # rad/s or m/s RMS; slower joints say nothing

_UNITS = (
    (180.0 / np.pi, "degrees per second"),
    (np.pi / 180.0, "positions in degrees and velocities in rad/s"),
    (30.0 / np.pi, "revolutions per minute"),
    (0.5 / np.pi, "revolutions per second"),
    (1e3, "mm/s or mrad/s"),
    (1e-3, "seconds taken for milliseconds"),
)


@dataclass(frozen=True, eq=False)
class _Pair:
    """Velocity from positions and as measured, on a uniform clock, through the same filter, (N, n)."""

    derived: Array
    measured: Array
    rate_hz: float

    def lag(self, i: int, j: int) -> tuple[float, float]:
        """Lag (s) and correlation of the measured velocity i against the derived velocity j."""
        longest = min(int(LONGEST_LAG_S * self.rate_hz), len(self.derived) // 4)
        lag, correlation = correlation_peak(self.derived[:, j], self.measured[:, i], longest)
        return lag / self.rate_hz, correlation


def velocity_findings(samples: Samples, period: float, spoiled: frozenset[str]) -> list[Finding]:
    """Of the joints that are not spoiled by a frozen or clipped channel.

    `samples` carry the measured velocity as the extra channel `MEASURED`; period (s) is the log's.
    """
    pair = _pair(samples)
    derived, measured = np.std(pair.derived, axis=0), np.std(pair.measured, axis=0)
    moving = [
        j
        for j, name in enumerate(samples.joint_names)
        if derived[j] > SLOW and measured[j] > 0.0 and name not in spoiled
    ]
    swapped = _swapped(pair, moving)
    found = [_swap_finding(samples.joint_names, i, j, pair) for i, j in swapped]
    gone = {j for both in swapped for j in both}
    rest = [j for j in moving if j not in gone]
    for joint in rest:
        found += _joint_findings(pair, joint, samples.joint_names[joint])
    return [*found, *_delays(pair, rest, samples.joint_names, period)]


def _pair(samples: Samples) -> _Pair:
    """Both velocities over the longest segment."""
    first, last = max(samples.segments, key=lambda ends: ends[1] - ends[0])
    cutoff = min(POSITION_BAND * samples.cutoff_hz, 0.45 * samples.rate_hz)
    measured = butterworth(samples.extra[MEASURED][first:last], samples.rate_hz, cutoff)
    return _Pair(samples.qd[first:last], measured, samples.rate_hz)


def _joint_findings(pair: _Pair, joint: int, name: str) -> list[Finding]:
    lag, correlation = pair.lag(joint, joint)
    if abs(correlation) < UNLIKE:
        evidence = f"velocity and differentiated position correlate by {correlation:.2f} at best"
        return [Finding("velocity_unit", "warning", evidence, "do not use the measured velocity", name)]
    found: list[Finding] = []
    if correlation < 0:
        evidence = f"velocity and differentiated position correlate by {correlation:.3f}"
        advice = "turn the sign of the velocity, or leave it out"
        found.append(Finding("velocity_sign", "error", evidence, advice, name))
    ratio = abs(_slope(pair, joint, lag))
    if abs(correlation) > ALIKE and abs(ratio - 1.0) > UNIT_TOLERANCE:
        near = [text for factor, text in _UNITS if abs(ratio / factor - 1.0) < UNIT_TOLERANCE]
        guess = f": {near[0]}?" if near else ""
        evidence = f"velocity is {ratio:.4g} times the differentiated position{guess}"
        advice = "convert the velocity, or leave it out; positions are differentiated by default"
        found.append(Finding("velocity_unit", "error", evidence, advice, name))
    return found


def _delays(pair: _Pair, joints: list[int], names: tuple[str, ...], period: float) -> list[Finding]:
    """Velocities that come later or earlier than they should."""
    lags: dict[int, float] = {}
    for joint in joints:
        lag, correlation = pair.lag(joint, joint)
        if abs(correlation) > ALIKE:
            lags[joint] = lag
    late = later_than(lags, max(LEAST_DELAY_PERIODS * period, LEAST_DELAY_S))
    return [
        Finding(
            "delay",
            "warning",
            f"velocity comes {delay_text(lag)} than the differentiated position",
            "do not mix the two; differentiate the position instead of using the measured velocity",
            None if joint is None else names[joint],
        )
        for joint, lag in late.items()
    ]


def _slope(pair: _Pair, joint: int, lag: float) -> float:
    """Measured over derived velocity, the lag taken out to the nearest sample."""
    shift = round(lag * pair.rate_hz)
    x, y = pair.derived[:, joint], pair.measured[:, joint]
    x, y = (x[: len(x) - shift], y[shift:]) if shift >= 0 else (x[-shift:], y[:shift])
    return float(x @ y / (x @ x))


def _swapped(pair: _Pair, moving: list[int]) -> list[tuple[int, int]]:
    """Pairs of joints whose velocities each follow the other's position and not their own."""
    if len(moving) < 2:
        return []
    poor = [j for j in moving if abs(pair.lag(j, j)[1]) < ALIKE]
    return [
        (i, j)
        for a, i in enumerate(poor)
        for j in poor[a + 1 :]
        if min(abs(pair.lag(i, j)[1]), abs(pair.lag(j, i)[1])) > ALIKE
    ]


def _swap_finding(names: tuple[str, ...], i: int, j: int, pair: _Pair) -> Finding:
    evidence = (
        f"the velocity of {names[i]} follows the position of {names[j]} "
        f"(correlation {pair.lag(i, j)[1]:.2f}) and the other way round ({pair.lag(j, i)[1]:.2f})"
    )
    return Finding("swapped_joints", "error", evidence, "exchange the two columns", f"{names[i]}, {names[j]}")
