"""`dynid gains`: Nm/A of every drive, as a person likes to read them and as `--gain` takes them."""

from __future__ import annotations

import argparse
import math

import numpy as np
from rich.console import Console
from rich.table import Table

from dynid.commands.output import print_json, remark
from dynid.commands.payload import fit_options, two_runs
from dynid.errors import ArgumentError
from dynid.formats.load import load_robot
from dynid.gains import Gains, gains
from dynid.robot import Robot


def run(options: argparse.Namespace) -> int:
    robot = load_robot(options.robot, gravity=options.gravity, joints=options.joints)
    _as_currents(options, robot)
    without, loaded = two_runs(options, robot)
    quiet = options.quiet or options.json
    found = gains(
        robot,
        without,
        loaded,
        options.mass,
        com=options.com,
        link=options.link,
        report=lambda text: remark(f"{text} ...", quiet),
        **fit_options(options),
    )
    if options.json:
        print_json(found.as_dict())
    else:
        _print(found, robot)
    return 0 if found.status == "trusted" else 1


def _as_currents(options: argparse.Namespace, robot: Robot) -> None:
    """Efforts are currents here, whose gains are not known or, with --gain, known roughly."""
    if options.effort == "motor_torque":
        raise ArgumentError("--effort motor_torque: gains are found from currents: leave --effort away")
    options.effort = "current"
    if options.gain is None:
        options.gain = np.ones(robot.dof).tolist()


def _print(found: Gains, robot: Robot) -> None:
    table = Table("joint", "gain", "95 % interval", "std", "", box=None, pad_edge=False, header_style="")
    rows = zip(
        found.joint_names, found.values.tolist(), found.interval.tolist(), found.std.tolist(), strict=True
    )
    for (name, gain, (low, high), std), verdict, j in zip(rows, found.verdicts, robot.free, strict=True):
        unit = "N/A" if robot.joints[j].prismatic else "Nm/A"
        known = math.isfinite(low)
        table.add_row(
            ascii(name)[1:-1],
            f"{gain:.4g} {unit}" if known else "-",
            f"{low:.4g} .. {high:.4g}" if known else "-",
            f"{100.0 * std / abs(gain):.2g} %" if known else "-",
            verdict,
        )
    console = Console(highlight=False, markup=False)
    console.print(table)
    print(f"{_load(found)}: {found.status}")
    for advice in found.advice:
        print(f"- {advice}")
    if found.status == "trusted":
        print(f"--effort current --gain {','.join(f'{gain:.6g}' for gain in found.values.tolist())}")


def _load(found: Gains) -> str:
    """The load's centre of mass, where it is known or the gains are."""
    load = f"load of {found.mass:g} kg on {found.link!a}"
    if "undetermined" in found.verdicts and found.com_std.any():
        return load
    com, std = (", ".join(f"{1e3 * x:.1f}" for x in values) for values in (found.com, found.com_std))
    return f"{load}, centre of mass at {com} mm" + (f" (std {std})" if found.com_std.any() else "")
