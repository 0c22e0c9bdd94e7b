"""The logs that an identification is given: recordings or paths, short or too long to be loaded."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from dynid.errors import ArgumentError, quote
from dynid.log.log import Log, Provenance
from dynid.log.long import LongLogs, read_logs
from dynid.log.read import read_log
from dynid.robot import Robot

Source = Log | LongLogs | str | os.PathLike[str]
Given = Sequence[Log] | LongLogs


def read_given(
    robot: Robot, logs: Source | Sequence[Source], reading: Mapping[str, Any], *, in_parts: bool = False
) -> Given:
    """What is given, with paths read; in parts if it is too long to be loaded, or if asked for."""
    given = several(logs)
    if len(given) == 1 and isinstance(given[0], LongLogs):
        return given[0]
    paths = [one for one in given if isinstance(one, str | os.PathLike)]
    if paths and len(paths) == len(given):
        return read_logs(robot, paths, reading, in_parts=in_parts)
    if in_parts:
        raise ArgumentError("state= and dask= are for logs that are given by their paths")
    found = [one if isinstance(one, Log | LongLogs) else read_log(one, robot, **reading) for one in given]
    return [log for one in found for log in ([one] if isinstance(one, Log) else one.excerpt)]


def several(logs: Source | Sequence[Source]) -> list[Source]:
    """One or several as several."""
    return [logs] if isinstance(logs, Log | LongLogs | str | os.PathLike) else list(logs)


def loaded(logs: Given) -> Sequence[Log]:
    """What of them is in memory."""
    return logs.excerpt if isinstance(logs, LongLogs) else logs


def provenance(logs: Given) -> tuple[Provenance, ...]:
    """Of every file."""
    return tuple(log.provenance for log in (logs.logs if isinstance(logs, LongLogs) else logs))


def check_together(logs: Sequence[Log]) -> None:
    """Refuse logs that cannot be fitted together."""
    if not logs:
        raise ArgumentError("at least one log is needed")
    first = logs[0]
    for log in logs[1:]:
        source, other = log.provenance.source, first.provenance.source
        if log.joint_names != first.joint_names:
            raise ArgumentError(
                f"{source} and {other} are of different robots: joints {', '.join(log.joint_names)} "
                f"and {', '.join(first.joint_names)}"
            )
        meanings = [one.provenance.options.get("effort", "torque") for one in (first, log)]
        if meanings[0] != meanings[1]:
            raise ArgumentError(
                f"efforts of {other} are {meanings[0]}, of {source} {meanings[1]}: logs that are fitted "
                "together must mean the same"
            )
        if set(log.extra) != set(first.extra):
            raise ArgumentError(
                f"{other} has the extra columns {_names(first)}, {source} {_names(log)}: logs that are "
                "fitted together must have the same"
            )


def _names(log: Log) -> str:
    return ", ".join(map(quote, sorted(log.extra))) or "(none)"
