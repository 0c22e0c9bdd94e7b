"""Bounds as a user names them: the word `collision`, or a TOML file.

total_mass = [10.0, 14.0]        # kg, of all moving links together

[link.forearm]                   # by the names of the robot's links; every entry is optional
mass = [1.0, 3.0]                # kg
com = [[-0.05, -0.05, 0.0], [0.05, 0.05, 0.3]]   # opposite corners of a box, m, in the link's frame
box = [[-0.1, -0.1, -0.1], [0.1, 0.1, 0.4]]      # the same of one that holds all of the mass
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from dynid.errors import ArgumentError, quote_path
from dynid.estimate import RobotSource
from dynid.fit.judge import listed
from dynid.formats.json_record import JsonRecord
from dynid.formats.xml_source import read_bounded
from dynid.physical.bounds import Bounds, Box, LinkBounds
from dynid.physical.collision import collision_bounds
from dynid.physical.feasible import refuse_contradictions
from dynid.robot import Robot
from dynid.spatial import Array

COLLISION = "collision"
LINK_KEYS = ("mass", "com", "box")


def bounds_called(name: str, robot: Robot, source: RobotSource | None) -> tuple[Bounds, str]:
    """The bounds and, in words, where they come from; `source` is the robot's own file, if it was a URDF."""
    if name == COLLISION:
        return _of_collision(robot, source)
    found = read_bounds(name)
    refuse_contradictions(robot, found)  # and links that the robot does not have
    return found, f"{name}: {len(found.links)} of {len(robot.links)} links"


def _of_collision(robot: Robot, source: RobotSource | None) -> tuple[Bounds, str]:
    if source is None:
        raise ArgumentError(
            f"bounds 'collision': {robot.name} was not read from a URDF, so there is no collision geometry: "
            "give a TOML file of bounds"
        )
    found, without = collision_bounds(robot, source.text, "the robot's URDF")
    if not found.links:
        raise ArgumentError(
            "bounds 'collision': the robot's URDF has no box, sphere, cylinder or capsule as collision "
            "geometry (meshes do not count): give a TOML file of bounds"
        )
    lacking = f", none of {listed(without)}" if without else ""
    return found, f"collision geometry of {len(found.links)} links{lacking}"


def read_bounds(path: str | Path) -> Bounds:
    """The bounds of a TOML file."""
    try:
        parsed = tomllib.loads(read_bounded(Path(path)).decode("utf-8"))
    except (ValueError, RecursionError) as problem:
        raise ArgumentError(f"{quote_path(path)}: not valid TOML: {problem}") from problem
    file = JsonRecord.of(parsed, quote_path(path))
    file.refuse_unknown(("total_mass", "link"))
    links = file.record("link") if "link" in file.entries else JsonRecord({}, file.where)
    total = tuple(file.numbers("total_mass", (2,)).tolist()) if "total_mass" in file.entries else None
    named = {name: _link(links.record(name)) for name in links.entries}
    return Bounds(links=named) if total is None else Bounds(links=named, total_mass=(total[0], total[1]))


def _link(table: JsonRecord) -> LinkBounds:
    table.refuse_unknown(LINK_KEYS)
    corners: dict[str, tuple[Array, Array]] = {}
    for key in ("com", "box"):
        if key in table.entries:
            low, high = table.numbers(key, (2, 3))
            corners[key] = (low, high)
    shapes = [Box(*corners["box"])] if "box" in corners else []
    if "mass" not in table.entries:
        return LinkBounds(com=corners.get("com"), shapes=shapes)
    low, high = table.numbers("mass", (2,)).tolist()
    return LinkBounds(mass=(low, high), com=corners.get("com"), shapes=shapes)
