"""`dynid payload`: a load's mass, centre of mass and inertia, as a person likes to read them."""

from __future__ import annotations

import argparse
import math
from typing import Any

from rich.console import Console
from rich.table import Table

from dynid.commands.logs import read_with
from dynid.commands.output import print_json, remark
from dynid.formats.load import load_robot
from dynid.log.log import Log
from dynid.payload import Payload, payload
from dynid.robot import Robot
from dynid.statistics import interval_factor

ROWS = ("mass, kg", "x, m", "y, m", "z, m", "Ixx, kg m^2", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")


def run(options: argparse.Namespace) -> int:
    robot = load_robot(options.robot, gravity=options.gravity, joints=options.joints)
    without, loaded = two_runs(options, robot)
    quiet = options.quiet or options.json
    found = payload(
        robot,
        without,
        loaded,
        link=options.link,
        method=options.method,
        report=lambda text: remark(f"{text} ...", quiet),
        **fit_options(options),
    )
    if options.json:
        print_json(found.as_dict())
    else:
        _print(found)
    return 0 if found.status == "trusted" else 1


def two_runs(options: argparse.Namespace, robot: Robot) -> tuple[list[Log], list[Log]]:
    """Logs of both runs, read as the options say."""
    return (
        [read_with(options, path, robot) for path in options.logs_without],
        [read_with(options, path, robot) for path in options.logs_with],
    )


def fit_options(options: argparse.Namespace) -> dict[str, Any]:
    """Options of `identify` that these commands have."""
    return {"cutoff_hz": options.cutoff_hz, "friction": options.friction}


def _print(found: Payload) -> None:
    factor = interval_factor(found.freedom)
    table = Table("load", "value", "+/- (95 %)", box=None, pad_edge=False, header_style="")
    values = [found.mass, *found.com.tolist(), *found.inertia.tolist()]
    for name, value, std in zip(ROWS, values, found.std.tolist(), strict=True):
        known = math.isfinite(std)
        table.add_row(name, f"{value:.4g}", f"{factor * std:.2g}" if known else "not determined")
    console = Console(highlight=False)
    console.print(table)
    print(f"in the frame of {found.link!a}, moments about the centre of mass: {found.status}")
    for advice in found.advice:
        print(f"- {advice}")
