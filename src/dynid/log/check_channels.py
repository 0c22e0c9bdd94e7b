"""The doctor's look at single channels: finite, alive, not clipped, fine enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.log.channel_levels import resolution
from dynid.log.clean import usable
from dynid.log.findings import Finding, Severity
from dynid.log.log import Log
from dynid.spatial import Array

MOVES = 0.02  # rad or m; a joint with a smaller range does not move
FROZEN_S, FROZEN_END_S, FROZEN_ROWS = 0.1, 0.5, 20  # at the ends of a log values may be made up
BRAKING_S = 0.02  # no joint stops in less from a speed worth the name
FEW_LEVELS, VERY_FEW_LEVELS = 200, 50
COARSE_STEP, VERY_COARSE_STEP = 1e-3, 5e-3  # rad or m, of positions
CLIPPED_SHARE, CLIPPED_ROWS = 0.005, 8


@dataclass(frozen=True, eq=False)
class Channel:
    """One column of the log: what of which joint, (N,)."""

    what: str  # position, velocity or effort
    joint: str
    values: Array
    position: Array  # of the same joint
    velocity: Array | None  # likewise, if measured
    rate_hz: float
    moving: bool  # whether that joint does, by its position or its velocity

    @property
    def constant(self) -> bool:
        return bool(np.ptp(self.values) <= 1e-9 * np.abs(self.values).max(initial=0.0))


def channel_findings(log: Log, rate_hz: float, *quantities: str) -> list[Finding]:
    """Of every column of the named quantities (position, velocity, effort) that is finite."""
    return [
        finding
        for channel in _channels(log, rate_hz)
        if channel.what in quantities
        for finding in (_constant(channel) or [*_frozen(channel), *_clipped(channel), *_coarse(channel)])
    ]


def _channels(log: Log, rate_hz: float) -> Iterator[Channel]:
    """The columns, at the rows where all of that joint's are usable."""
    for joint, name in enumerate(log.joint_names):
        position = log.position[:, joint]
        moving = _moves(position) or (log.velocity is not None and _travels(log, joint, rate_hz))
        for what, values in _columns(log):
            column = values[:, joint]
            rows = usable(column) & usable(position)
            velocity = None if log.velocity is None else log.velocity[rows, joint]
            if np.count_nonzero(rows) > FROZEN_ROWS:
                yield Channel(what, name, column[rows], position[rows], velocity, rate_hz, moving)


def _moves(position: Array) -> bool:
    """Whether a joint's positions (N,) say that it moves."""
    finite = position[usable(position)]
    return bool(np.ptp(finite) > MOVES) if finite.size else False


def _travels(log: Log, joint: int, rate_hz: float) -> bool:
    """Whether a joint's measured velocity says that it moves: mean speed above noise, times the duration."""
    if log.velocity is None:
        return False
    velocity = log.velocity[:, joint]
    velocity = velocity[usable(velocity)]
    path = np.cumsum(velocity - np.mean(velocity[:1])) / rate_hz
    return bool(path.size and np.ptp(path) > 10.0 * MOVES)


def _columns(log: Log) -> list[tuple[str, Array]]:
    every = [("position", log.position), ("velocity", log.velocity), ("effort", log.effort)]
    return [(what, values) for what, values in every if values is not None]


def not_finite(log: Log) -> list[Finding]:
    """Values that are NaN, infinite or absurd."""
    found: list[Finding] = []
    advice = "look at the driver that wrote them; rows with such values are left out"
    if log.left_out:
        share = log.left_out / (log.left_out + len(log))
        evidence = f"{log.left_out} rows have no finite time or position"
        found.append(Finding("not_finite", "error" if share > 0.2 else "warning", evidence, advice))
    if log.effort is None:
        evidence = "there are no efforts, or none that are finite"
        found.append(Finding("not_finite", "warning", evidence, "nothing can be identified from this log"))
    for what, values in _columns(log):
        bad = np.count_nonzero(~usable(values), axis=0)
        for joint in np.flatnonzero(bad):
            share = bad[joint] / len(log)
            needed = what != "velocity"
            found.append(
                Finding(
                    "not_finite",
                    "error" if needed and share > 0.2 else "warning",
                    f"{bad[joint]} of {len(log)} values of {what} are not finite or beyond 1e9",
                    advice,
                    log.joint_names[joint],
                )
            )
    return found


def _constant(channel: Channel) -> list[Finding]:
    """A column that never changes although the joint moves."""
    if not channel.constant or not channel.moving:
        return []
    value = f"{channel.what} is {channel.values[0]:.6g} in every row while the joint moves"
    if channel.what == "effort":
        advice = "the driver does not report this joint's effort; without it its parameters cannot be found"
        return [Finding("effort_constant", "error", value, advice, channel.joint)]
    advice = f"the driver does not report it; leave the {channel.what} out of the log"
    severity: Severity = "error" if channel.what == "position" else "warning"
    return [Finding("frozen_channel", severity, value, advice, channel.joint)]


def _runs(values: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First rows and lengths of the runs of identical values."""
    starts = np.append(0, np.flatnonzero(values[1:] != values[:-1]) + 1).astype(np.intp)
    return starts, np.diff(np.append(starts, len(values)))


def _frozen(channel: Channel) -> list[Finding]:
    """A long run of one value amid motion, of which the other columns or the way it begins and ends tell."""
    starts, lengths = _runs(channel.values)
    longest = int(np.argmax(lengths))
    run = slice(int(starts[longest]), int(starts[longest] + lengths[longest]))
    count = run.stop - run.start
    at_end = run.start == 0 or run.stop == len(channel.values)
    if count < max(FROZEN_ROWS, (FROZEN_END_S if at_end else FROZEN_S) * channel.rate_hz):
        return []
    ordinary = np.percentile(lengths, 99) if len(lengths) > 20 else count
    if channel.what == "position":
        stuck = _turns(channel, run) or (_says_nothing(channel.velocity, run) and _stops_dead(channel, run))
    else:
        stuck = count > 10 * ordinary and _moves_on(channel, run)
    if not stuck:
        return []
    return [
        Finding(
            "frozen_channel",
            "warning",
            f"{channel.what} stays at {channel.values[run.start]:.6g} for {count / channel.rate_hz:.3g} s "
            f"({count} rows from row {run.start} on) amid motion",
            "leave this interval out, or look for a lost connection",
            channel.joint,
        )
    ]


def _turns(channel: Channel, run: slice) -> bool:
    """Whether the measured velocity goes on while the position is one value."""
    if channel.velocity is None or _says_nothing(channel.velocity, run):
        return False
    travel = np.ptp(np.cumsum(channel.velocity[run])) / channel.rate_hz
    return bool(travel > max(MOVES, 3.0 * resolution(channel.values)[0]))


def _says_nothing(velocity: Array | None, run: slice) -> bool:
    """Whether the velocity is not measured, or is one value just as the position is."""
    return velocity is None or not usable(velocity[run]).all() or not np.ptp(velocity[run]) > 0.0


def _stops_dead(channel: Channel, run: slice) -> bool:
    """Whether positions come to a run of one value, or go on from it, as no joint brakes or starts."""
    steps = np.abs(np.diff(channel.values))
    usual = float(np.sqrt(np.mean(steps**2)))
    rows = max(3, int(BRAKING_S * channel.rate_hz))
    before, after = steps[max(run.start - rows, 0) : run.start], steps[run.stop : run.stop + rows]
    if run.start > 0 and run.stop < len(channel.values):
        return bool(steps[run.stop - 1] > 5.0 * max(usual, steps[run.start - 1]))
    beside = before if run.start > 0 else after
    return bool(len(beside) >= 3 and np.median(beside) > 0.3 * usual)


def _moves_on(channel: Channel, run: slice) -> bool:
    """Whether the joint goes on moving while its velocity or effort is one value within its range."""
    value = channel.values[run.start]
    travel = np.ptp(channel.position[run])
    if travel <= MOVES or value in (channel.values.min(), channel.values.max()):
        return False
    if channel.what == "effort":
        return True
    steps = np.diff(channel.position[run]) * channel.rate_hz
    runs_so_fast = np.abs(steps.mean() - value) + steps.std() < 0.1 * abs(value)
    return not runs_so_fast


def _clipped(channel: Channel) -> list[Finding]:
    """Many rows at exactly the largest or smallest value, far more than just inside, amid motion."""
    if channel.what == "position" or not channel.moving:
        return []
    speed = np.abs(np.gradient(channel.position)) * channel.rate_hz
    moving = channel.values[speed >= 0.05 * speed.max()]
    found: list[Finding] = []
    for end, name in ((moving.max(), "largest"), (moving.min(), "smallest")):
        at = np.count_nonzero(moving == end)
        width = 0.01 * np.ptp(moving)
        near = np.count_nonzero(np.abs(moving - end) < width)  # a smooth peak or a coarse step fills this
        if at < max(CLIPPED_ROWS, CLIPPED_SHARE * len(moving)) or at < 0.4 * near or not _kinked(moving, end):
            continue
        if channel.what == "velocity" and np.median(speed[channel.values == end]) < 1.02 * abs(end):
            continue  # the joint does run at this speed
        found.append(
            Finding(
                "saturated_channel",
                "warning",
                f"{at} rows have exactly the {name} {channel.what}, {end:.6g}: clipped",
                "move less violently or raise the limit; such rows get no weight where the limit is known",
                channel.joint,
            )
        )
    return found


def _kinked(values: Array, end: float) -> bool:
    """Whether the plateaus at `end` are entered at a slope that a smooth peak of their length cannot have.

    The last step before a peak's flat top of L samples is at most about 2 / L of a quantum more than one
    quantum; into a clipped plateau it is what the signal did before.
    """
    starts, lengths = _runs(values)
    plateaus = starts[(values[starts] == end) & (lengths >= 3) & (starts > 0)]
    if not len(plateaus):
        return False
    entering = np.abs(values[plateaus] - values[plateaus - 1])
    steps = np.abs(np.diff(values))
    quantum = steps[steps > 0].min()
    return bool(np.median(entering) > 2.5 * quantum)


def _coarse(channel: Channel) -> list[Finding]:
    """Few distinct values over the range of a joint that moves, or steps of the position that are coarse."""
    if not channel.moving:
        return []
    step, levels = resolution(channel.values)
    few = levels < min(FEW_LEVELS, len(channel.values) // 5)
    coarse = channel.what == "position" and step > COARSE_STEP and levels < len(channel.values) // 2
    if not few and not coarse:
        return []
    very = (few and levels < VERY_FEW_LEVELS) or (coarse and step > VERY_COARSE_STEP)
    return [
        Finding(
            "quantised_channel",
            "warning" if very and channel.what != "velocity" else "hint",
            f"{channel.what} takes {levels} different values, in steps of about {step:.3g}",
            "record with more digits or a finer encoder, or move further",
            channel.joint,
        )
    ]
