"""A robot as a JSON object: every field of `Robot`, and floats as they are.

What JSON does not have is null: no limit (infinite), no mimic, or a number that nobody gave (NaN).
"""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from dynid.errors import RobotError
from dynid.formats.dh_toml import MAX_JOINTS
from dynid.formats.json_record import JsonRecord
from dynid.robot import INFINITY, NAN, Joint, JointKind, Limits, Link, Mimic, Robot, Side
from dynid.spatial import Array, Frame

UNIT = 1e-6  # how far a direction or a rotation may be from having length 1

KINDS: tuple[JointKind, ...] = ("revolute", "continuous", "prismatic")
SIDES: tuple[Side, ...] = ("joint", "motor")
UNLIMITED = {
    "lower": -INFINITY,
    "upper": INFINITY,
    "velocity": INFINITY,
    "acceleration": INFINITY,
    "effort": INFINITY,
}
DRIVE_KEYS = ("armature", "viscous", "coulomb", "offset")
ROBOT_KEYS = ("name", "joints", "links", "gravity", "transmission", "friction_side", "notes", "source")
JOINT_KEYS = ("name", "kind", "parent", "before", "axis", "after", "limits", "mimic", *DRIVE_KEYS)
LINK_KEYS = ("name", "parameters", "lumped")
FRAME_KEYS = ("rotation", "translation")
MIMIC_KEYS = ("joint", "multiplier", "offset")


# --- from a robot to its record ------------------------------------------------------------------


def robot_record(robot: Robot) -> dict[str, Any]:
    """The robot in plain JSON types; `robot_from_record` makes the same robot of it, bit for bit."""
    return {
        "name": robot.name,
        "gravity": robot.gravity.tolist(),
        "transmission": None if robot.transmission is None else robot.transmission.tolist(),
        "friction_side": robot.friction_side,
        "joints": [_joint_record(joint) for joint in robot.joints],
        "links": [
            {"name": link.name, "parameters": _plain(link.parameters.tolist()), "lumped": list(link.lumped)}
            for link in robot.links
        ],
        "notes": list(robot.notes),
        "source": robot.source,
    }


def _joint_record(joint: Joint) -> dict[str, Any]:
    mimic = joint.mimic
    return {
        "name": joint.name,
        "kind": joint.kind,
        "parent": joint.parent,
        "before": _frame_record(joint.before),
        "axis": joint.axis.tolist(),
        "after": _frame_record(joint.after),
        "limits": {key: _plain(float(getattr(joint.limits, key))) for key in UNLIMITED},
        "mimic": None if mimic is None else {key: getattr(mimic, key) for key in MIMIC_KEYS},
        **{key: _plain(float(getattr(joint, key))) for key in DRIVE_KEYS},
    }


def _frame_record(frame: Frame) -> dict[str, Any]:
    return {"rotation": frame.rotation.tolist(), "translation": frame.translation.tolist()}


def _plain(value: Any) -> Any:
    """A number or a list of numbers, with null for what JSON does not have."""
    if isinstance(value, list):
        return [_plain(entry) for entry in cast("list[Any]", value)]
    return value if math.isfinite(value) else None


# --- from a record to the robot ------------------------------------------------------------------


def robot_from_record(record: object, where: str = "robot") -> Robot:
    """The robot of a parsed JSON object; `where` names the place in messages."""
    file = JsonRecord.of(record, where)
    file.refuse_unknown(ROBOT_KEYS)
    entries = file.records("joints")
    if not 1 <= len(entries) <= MAX_JOINTS:
        raise RobotError(f"{where}: {len(entries)} joints; 1 to {MAX_JOINTS} are valid")
    joints = tuple(_joint(entry, number, len(entries)) for number, entry in enumerate(entries))
    _check_mimics(joints, where)
    links = tuple(_link(entry) for entry in file.records("links"))
    _check_names(where, "joint", [joint.name for joint in joints])
    _check_names(where, "link", [link.name for link in links])
    if len(links) != len(joints):
        raise RobotError(f"{where}: {len(joints)} joints but {len(links)} links; each joint carries one link")
    return Robot(
        name=file.text("name"),
        joints=joints,
        links=links,
        gravity=file.numbers("gravity", (3,)),
        transmission=_transmission(file, sum(joint.mimic is None for joint in joints)),
        friction_side=file.choice("friction_side", SIDES),
        notes=file.texts("notes"),
        source=file.text("source"),
    )


def _joint(entry: JsonRecord, number: int, count: int) -> Joint:
    entry.refuse_unknown(JOINT_KEYS)
    axis = entry.numbers("axis", (3,))
    if not abs(np.linalg.norm(axis) - 1.0) <= UNIT:
        raise entry.error("axis", "must be a direction of length 1")
    drive = {key: entry.number(key, NAN) for key in DRIVE_KEYS}
    return Joint(
        name=entry.text("name"),
        kind=entry.choice("kind", KINDS),
        parent=entry.integer("parent", range(-1, number)),  # parents come before their children
        before=_frame(entry.record("before")),
        axis=axis,
        after=_frame(entry.record("after")),
        limits=_limits(entry.record("limits")),
        mimic=None if entry.value("mimic") is None else _mimic(entry.record("mimic"), count),
        **drive,
    )


def _frame(entry: JsonRecord) -> Frame:
    entry.refuse_unknown(FRAME_KEYS)
    R = entry.numbers("rotation", (3, 3))
    with np.errstate(over="ignore", invalid="ignore"):
        proper = bool(np.abs(R @ R.T - np.eye(3)).max() <= UNIT and np.linalg.det(R) > 0.0)
    if not proper:
        raise entry.error("rotation", "must be a rotation matrix")
    return Frame(R, entry.numbers("translation", (3,)))


def _limits(entry: JsonRecord) -> Limits:
    entry.refuse_unknown(tuple(UNLIMITED))
    values = {key: entry.number(key, unlimited) for key, unlimited in UNLIMITED.items()}
    if not values["lower"] <= values["upper"]:
        raise entry.error("lower", "must not be above the upper limit")
    for key in ("velocity", "acceleration", "effort"):
        if values[key] < 0.0:
            raise entry.error(key, "must not be negative")
    return Limits(**values)


def _mimic(entry: JsonRecord, count: int) -> Mimic:
    entry.refuse_unknown(MIMIC_KEYS)
    return Mimic(entry.integer("joint", range(count)), entry.number("multiplier"), entry.number("offset"))


def _check_mimics(joints: tuple[Joint, ...], where: str) -> None:
    for number, joint in enumerate(joints, start=1):
        if joint.mimic is not None and joints[joint.mimic.joint].mimic is not None:
            raise RobotError(
                f"{where}, joints number {number}: it mimics joint number {joint.mimic.joint + 1}, "
                "which has no coordinate of its own; a free joint is needed"
            )


def _link(entry: JsonRecord) -> Link:
    entry.refuse_unknown(LINK_KEYS)
    return Link(
        name=entry.text("name"),
        parameters=entry.numbers("parameters", (10,), null=NAN),
        lumped=entry.texts("lumped"),
    )


def _check_names(where: str, what: str, names: list[str]) -> None:
    for number, name in enumerate(names, start=1):
        if not name.strip() or name in names[: number - 1]:
            problem = "has no name" if not name.strip() else "has the name of an earlier one"
            raise RobotError(f"{where}, {what}s number {number}: the {what} {problem}; names must differ")


def _transmission(file: JsonRecord, dof: int) -> Array | None:
    if file.value("transmission") is None:
        return None
    T = file.numbers("transmission", (dof, dof))
    if np.linalg.matrix_rank(T) < dof:
        raise file.error("transmission", "is singular; motor and joint rates must determine each other")
    return T
