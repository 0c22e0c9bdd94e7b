"""A log without the rows that say nothing: not finite, out of order, copied from the row before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.errors import ArgumentError, choices
from dynid.log.log import Log, Provenance
from dynid.robot import Robot
from dynid.signals.clock import Flags, in_order, nominal_period, seconds, stale
from dynid.spatial import Array

LARGEST = 1e9  # in SI units; beyond this a number is garbage
NOT_FINITE = "rows with values that are not finite"
NOT_IN_ORDER = "rows whose stamps do not advance"
COPIED = "rows that repeat an earlier state"


@dataclass(frozen=True, eq=False, kw_only=True)
class CleanLog:
    """The rows of a log that can be used; arrays are (N, n), stamps increase."""

    joint_names: tuple[str, ...]
    start: float  # s, what the log calls the first stamp; the following two count from there
    clock: Array  # (R,) s, the stamps in order, copied rows included: what gaps are judged by
    time: Array  # (N,) s
    breaks: NDArray[np.intp]  # rows that do not follow from the row before, as the clock was set back
    period: float  # s, nominal, of the log's clock
    position: Array
    velocity: Array | None
    effort: Array  # zero where `measured` says there is none
    measured: Flags  # (n,) joints with an effort
    extra: Mapping[str, Array]
    provenance: Provenance
    notes: tuple[str, ...]


def usable(values: Array) -> Flags:
    """Which numbers are finite and not absurd."""
    return np.abs(values) < LARGEST  # false for NaN


@dataclass(frozen=True, eq=False)
class Present:
    """Which joints have usable numbers anywhere in a log, (n,); an effort that never changes is none."""

    velocity: Flags
    effort: Flags


def present_in(log: Log) -> Present:
    def somewhere(values: Array | None) -> Flags:
        if values is None:
            return np.zeros(len(log.joint_names), dtype=np.bool_)
        return np.asarray(usable(values).any(axis=0), dtype=np.bool_)

    return Present(somewhere(log.velocity), somewhere(log.effort) & _changing(log.effort))


def _changing(values: Array | None) -> Flags:
    """Columns (N, n) with two different usable numbers or more, (n,)."""
    if values is None or not len(values):
        return np.zeros(1, dtype=np.bool_)
    known = usable(values)
    lowest, highest = (np.where(known, values, end).T for end in (np.inf, -np.inf))
    return np.asarray(lowest.min(axis=1) < highest.max(axis=1), dtype=np.bool_)


def finite_rows(log: Log, present: Present) -> tuple[Array, Array | None, NDArray[np.intp]]:
    """Efforts, zero where there are none, velocities if all joints have them, and rows without garbage."""
    effort = np.zeros(log.position.shape)
    if log.effort is not None:
        effort[:, present.effort] = log.effort[:, present.effort]
    velocity = log.velocity if present.velocity.all() else None
    channels = [log.position, effort, *([] if velocity is None else [velocity]), *log.extra.values()]
    finite = np.logical_and.reduce([usable(channel).all(axis=1) for channel in channels])
    return effort, velocity, np.flatnonzero(finite)


def clean(log: Log, robot: Robot) -> CleanLog:
    """The usable rows of a log; `notes` counts what was left out. Raises if nothing can be done with it."""
    match_joints(log, robot)
    present = present_in(log)
    effort, velocity, kept = finite_rows(log, present)
    if len(kept) < 2:
        raise ArgumentError(
            f"{log.provenance.source}: {len(kept)} of {len(log)} rows have finite values in every channel; "
            "at least 2 are needed"
        )
    ordered = in_order(log.stamp_ns[kept])
    since = seconds(log.stamp_ns)
    clock = since[kept[ordered]]
    period = nominal_period(clock)
    copied = stale(log.position[kept[ordered]])
    rows = kept[ordered][~copied]
    counts = {
        NOT_FINITE: len(log) - len(kept),
        NOT_IN_ORDER: int(np.count_nonzero(~ordered)),
        COPIED: int(np.count_nonzero(copied)),
    }
    notes = [f"left out {count} {what}" for what, count in counts.items() if count]
    dead = [log.joint_names[joint] for joint in np.flatnonzero(~present.effort)]
    notes += [f"no effort that changes on {name}" for name in dead]
    return CleanLog(
        joint_names=log.joint_names,
        start=float(log.time[0]),
        clock=clock,
        time=since[rows],
        breaks=np.searchsorted(rows, _set_back(kept, ordered)),
        period=period,
        position=log.position[rows],
        velocity=None if velocity is None else velocity[rows],
        effort=effort[rows],
        measured=present.effort,
        extra={name: values[rows] for name, values in log.extra.items()},
        provenance=log.provenance,
        notes=(*log.notes, *notes),
    )


def _set_back(kept: NDArray[np.intp], ordered: Flags) -> NDArray[np.intp]:
    """Rows in order that come after two or more which are not; a single one was merely late."""
    late = ~ordered
    return kept[1:][ordered[1:] & late[:-1] & np.concatenate([[False], late[:-2]])]


def match_joints(log: Log, robot: Robot) -> None:
    """Refuse a log that was not read for this robot."""
    if log.joint_names == robot.joint_names:
        return
    strange = [name for name in log.joint_names if name not in robot.joint_names]
    problem = (
        f"joint {choices(strange[0], robot.joint_names)}" if strange else "joints in another order or missing"
    )
    raise ArgumentError(
        f"{log.provenance.source}: the log was not read for {robot.name}: {problem} "
        f"Read it with read_log(path, robot)."
    )
