"""Logs as a command's options describe them."""

from __future__ import annotations

import argparse

from dynid.commands.output import remark
from dynid.errors import ArgumentError, quote
from dynid.log.log import Log
from dynid.log.read import read_log
from dynid.robot import Robot


def read_with(options: argparse.Namespace, path: str, robot: Robot) -> Log:
    """One log, read as the options of `cli.logs.log_options` say; what was left out is said on stderr."""
    log = read_log(
        path,
        robot,
        effort=options.effort,
        gain=options.gain,
        positions=options.positions,
        degrees=options.degrees,
        sign=options.sign,
        columns=options.columns,
        joints=_joints(options),
        topic=options.topic,
    )
    for note in log.notes:
        remark(f"note: {path}: {note}", options.quiet or options.json)
    return log


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
