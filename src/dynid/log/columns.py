"""Which column of a log belongs to which joint of the robot.

A log has `time` (s) or `stamp_ns`, and per joint `<joint>.position`, `.velocity`, `.effort` and
`.extra.<name>`. Joints are matched by name, in any order; the robot's order is the one that counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dynid.errors import ArgumentError, choices, quote
from dynid.log.log import LogError
from dynid.log.table import Note

TIME = "time"
STAMP = "stamp_ns"

# Greedy: joint names may hold dots, names of extra columns may not hold ".extra.".
_COLUMN = re.compile(r"(?P<joint>.+)\.(?P<quantity>position|velocity|effort|extra\.(?P<extra>.+))")

Channels = tuple[str | None, ...]  # per joint of the robot, the column that holds it


@dataclass(frozen=True, eq=False, kw_only=True)
class Layout:
    """The columns a robot needs from a log; `None` stands for a channel, or a quantity, that is absent."""

    clock: str
    position: tuple[str, ...]
    velocity: Channels | None
    effort: Channels | None
    extra: Mapping[str, Channels]
    notes: tuple[Note, ...] = ()

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """All columns in use, each once."""
        groups = (self.position, self.velocity or (), self.effort or (), *self.extra.values())
        return (self.clock, *(name for group in groups for name in group if name is not None))


def match(
    names: Sequence[str], robot_joints: Sequence[str], joints: Mapping[str, str] | None, source: str
) -> Layout:
    """The layout of the columns `names`; `joints` maps names of the log to names of the robot."""
    _no_duplicates(names, source)
    clock = next((name for name in (STAMP, TIME) if name in names), None)
    if clock is None:
        raise LogError(f"{source}: no column {TIME!r} (in s) or {STAMP!r}; the columns are {_listed(names)}")
    channels: dict[str, dict[str, str]] = {}  # quantity -> joint of the log -> column
    for name in names:
        if found := _COLUMN.fullmatch(name):
            channels.setdefault(found["quantity"], {})[found["joint"]] = name
    log_joints = tuple(dict.fromkeys(joint for of in channels.values() for joint in of))
    log_name = _log_names(log_joints, robot_joints, joints, source)

    def of_robot(quantity: str) -> Channels | None:
        found = tuple(channels.get(quantity, {}).get(log_name[joint]) for joint in robot_joints)
        return found if any(found) else None

    positions = channels.get("position", {})
    _none_missing(positions, log_joints, robot_joints, log_name, source)
    extra = {q.removeprefix("extra."): of_robot(q) for q in channels if q.startswith("extra.")}
    layout = Layout(
        clock=clock,
        position=tuple(positions[log_name[joint]] for joint in robot_joints),
        velocity=of_robot("velocity"),
        effort=of_robot("effort"),
        extra={name: found for name, found in extra.items() if found is not None},
    )
    unused = [joint for joint in log_joints if joint not in log_name.values()]
    return _noted(layout, names, unused, robot_joints)


def log_names(robot_joints: Sequence[str], joints: Mapping[str, str] | None) -> dict[str, str]:
    """What the log calls each joint of the robot, given the mapping of log names to robot names."""
    reverse: dict[str, str] = {}
    for log_joint, joint in (joints or {}).items():
        if joint not in robot_joints:
            raise ArgumentError(f"joints: robot joint {choices(joint, robot_joints)}")
        if joint in reverse:
            raise ArgumentError(
                f"joints: {reverse[joint]!r} and {log_joint!r} are both mapped to {joint!r}; "
                "map one joint of the log to each joint of the robot"
            )
        reverse[joint] = log_joint
    return {joint: reverse.get(joint, joint) for joint in robot_joints}


def _log_names(
    log_joints: Sequence[str], robot_joints: Sequence[str], joints: Mapping[str, str] | None, source: str
) -> dict[str, str]:
    for log_joint in joints or {}:
        if log_joint not in log_joints:
            raise LogError(f"{source}: the mapped joint {choices(log_joint, log_joints)}")
    names = log_names(robot_joints, joints)
    for log_joint, joint in (joints or {}).items():
        if joint != log_joint and joint in log_joints and joint not in (joints or {}):
            raise LogError(
                f"{source}: {log_joint!r} is mapped to {joint!r}, but the log has a joint {joint!r} too; "
                "map that one as well"
            )
    shared = [name for name, count in Counter(names.values()).items() if count > 1]
    if shared:
        raise LogError(f"{source}: joint {shared[0]!r} of the log is used for two joints of the robot")
    return names


def _no_duplicates(names: Sequence[str], source: str) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1 and name]
    if twice:
        places = [number for number, name in enumerate(names, 1) if name == twice[0]]
        raise LogError(
            f"{source}: column {quote(twice[0])} occurs {len(places)} times "
            f"(columns {', '.join(map(str, places))}); every column needs a name of its own"
        )


def _none_missing(
    positions: Mapping[str, str],
    log_joints: Sequence[str],
    robot_joints: Sequence[str],
    log_name: Mapping[str, str],
    source: str,
) -> None:
    missing = [log_name[joint] for joint in robot_joints if log_name[joint] not in positions]
    if missing:
        raise LogError(
            f"{source}: no position of {_listed(missing)}. Joints of the log: {_listed(log_joints)}; "
            f"joints of the robot: {_listed(robot_joints)}. Other names can be mapped (joints=, --map "
            "log=robot), and joints of the robot that did not move can be locked (load_robot(..., joints=))"
        )


def _noted(
    layout: Layout, names: Sequence[str], unused_joints: Sequence[str], robot_joints: Sequence[str]
) -> Layout:
    """The layout with notes on what it leaves out and what it lacks."""
    texts: list[str] = []
    if unused_joints:
        texts.append(f"joints of the log that the robot has not: {_listed(unused_joints)}")
    of_unused = tuple(f"{joint}." for joint in unused_joints)
    others = [n for n in names if n and n not in layout.columns and not n.startswith(of_unused)]
    if others:
        texts.append(f"columns not used: {_listed(others)}")
    for quantity, channels in (("velocity", layout.velocity), ("effort", layout.effort)):
        if channels is None:
            texts.append(f"the log has no {quantity}")
        elif absent := [joint for joint, name in zip(robot_joints, channels, strict=True) if name is None]:
            texts.append(f"no {quantity} of {_listed(absent)}")
    return replace(layout, notes=tuple(Note(text) for text in texts))


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(quote(name, 60) for name in names[:40])
    return f"{shown} and {len(names) - 40} more" if len(names) > 40 else shown or "(none)"
