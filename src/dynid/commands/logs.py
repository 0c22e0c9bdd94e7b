"""Logs as a command's options describe them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from dynid.commands.output import remark
from dynid.errors import ArgumentError, quote
from dynid.fit.given import Given
from dynid.log.log import Log
from dynid.log.long import LongLogs, read_logs
from dynid.log.read import read_log
from dynid.robot import Robot


def read_with(options: argparse.Namespace, path: str, robot: Robot) -> Log:
    """One log, read as the options of `cli.logs.log_options` say; what was left out is said on stderr."""
    log = read_log(path, robot, **_reading(options))
    _say_notes(options, path, log)
    return log


def read_together(
    options: argparse.Namespace, paths: Sequence[str], robot: Robot, *, in_parts: bool = False
) -> Given:
    """Logs, read as the options say; in parts if they are too long to be loaded, or if asked for."""
    found = read_logs(robot, paths, _reading(options), in_parts=in_parts)
    if isinstance(found, LongLogs):
        if not found.complete:
            text = f"note: too long to be loaded; what follows looks at {found} unless it says otherwise"
            remark(text, options.quiet or options.json)
    else:
        for path, log in zip(paths, found, strict=True):
            _say_notes(options, path, log)
    return found


def _say_notes(options: argparse.Namespace, path: str, log: Log) -> None:
    for note in log.notes:
        remark(f"note: {path}: {note}", options.quiet or options.json)


def _reading(options: argparse.Namespace) -> dict[str, Any]:
    """Options of `read_log`."""
    plain = ("effort", "gain", "positions", "degrees", "sign", "columns", "topic")
    return {**{name: getattr(options, name) for name in plain}, "joints": _joints(options)}


def _joints(options: argparse.Namespace) -> dict[str, str] | None:
    """Names of the log to names of the robot, from every --map."""
    joints: dict[str, str] = {}
    for of_log, of_robot in (pair for pairs in options.map for pair in pairs):
        if joints.get(of_log, of_robot) != of_robot:
            raise ArgumentError(
                f"--map: joint {quote(of_log)} of the log is mapped to two joints, "
                f"{quote(joints[of_log])} and {quote(of_robot)}"
            )
        joints[of_log] = of_robot
    return joints or None
