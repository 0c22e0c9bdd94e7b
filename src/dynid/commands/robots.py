"""`dynid robots`: the built-in robots, or one robot in full."""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dynid.commands.output import print_json, remark
from dynid.formats.load import load_robot
from dynid.robot import Joint, Link, Robot
from dynid.robots import BUILT_IN
from dynid.spatial import is_physical, parameters_to_com


def run(options: argparse.Namespace) -> int:
    if options.robot is None:
        _list_built_ins(options.json)
    else:
        robot = load_robot(options.robot, gravity=options.gravity, joints=options.joints)
        _show(robot, options.json)
        for note in robot.notes:
            remark(f"note: {note}", options.quiet or options.json)
    return 0


def _list_built_ins(as_json: bool) -> None:
    if as_json:
        print_json({"robots": [{"name": name, "description": text} for name, text in BUILT_IN.items()]})
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("name")
    table.add_column("robot")
    for name, text in BUILT_IN.items():
        table.add_row(name, text)
    Console().print(table)


def _show(robot: Robot, as_json: bool) -> None:
    if as_json:
        print_json(_record(robot))
        return
    console = Console()
    gravity = ", ".join(f"{g:g}" for g in robot.gravity)
    console.print(
        Text(f"{robot.name}: {robot.dof} joints, {len(robot.links)} moving links, gravity ({gravity})")
    )
    table = Table(box=None, pad_edge=False)
    for heading in ("", "joint", "kind", "on"):
        table.add_column(heading, no_wrap=True)
    for heading in ("from", "to", "velocity", "effort", "mass"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("link")
    for number, (joint, link) in enumerate(zip(robot.joints, robot.links, strict=True)):
        limits = joint.limits
        cells = [
            str(number + 1),
            joint.name,
            joint.kind if joint.mimic is None else f"moves with {joint.mimic.joint + 1}",
            str(joint.parent + 1) if joint.parent >= 0 else "base",
            *(_number(value) for value in (limits.lower, limits.upper, limits.velocity, limits.effort)),
            _number(link.parameters[9]),
            ", ".join([link.name, *link.lumped]),
        ]
        table.add_row(*(Text(cell) for cell in cells))
    console.print(table)
    impossible = [link.name for link in robot.links if _physical(link) is False]
    if impossible:
        console.print(Text(f"no body has the parameters of {', '.join(impossible)}"))


def _physical(link: Link) -> bool | None:
    """Whether some body has these parameters; None where the file gives none."""
    return is_physical(link.parameters) if np.isfinite(link.parameters).all() else None


def _number(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "-"


def _record(robot: Robot) -> dict[str, Any]:
    links: list[dict[str, Any]] = []
    for link in robot.links:
        mass, com, inertia = parameters_to_com(link.parameters)
        links.append(
            {
                "name": link.name,
                "lumped": list(link.lumped),
                "mass": mass,
                "com": com,
                "inertia": inertia,
                "physical": _physical(link),
            }
        )
    return {
        "name": robot.name,
        "dof": robot.dof,
        "gravity": robot.gravity,
        "joints": [_joint_record(joint) for joint in robot.joints],
        "links": links,
        "parameter_names": list(robot.parameter_names),
        "parameters": robot.parameters,
        "notes": list(robot.notes),
    }


def _joint_record(joint: Joint) -> dict[str, Any]:
    limits = joint.limits
    return {
        "name": joint.name,
        "kind": joint.kind,
        "parent": joint.parent + 1,
        "mimic": None if joint.mimic is None else vars(joint.mimic),
        "position": [limits.lower, limits.upper],
        "velocity": limits.velocity,
        "acceleration": limits.acceleration,
        "effort": limits.effort,
        "Ia": joint.armature,
        "Fv": joint.viscous,
        "Fc": joint.coulomb,
        "Fo": joint.offset,
    }
