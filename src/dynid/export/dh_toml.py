"""Denavit-Hartenberg tables in TOML. Robots in other frames are turned into modified ones, if serial."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, isfinite

import numpy as np
from numpy.typing import ArrayLike

from dynid.base.modified_dh import in_modified_frames, modified_dh
from dynid.errors import RobotError
from dynid.export.exported import Exported, drive_constants, quoted, read_back, without_place
from dynid.formats.dh_toml import parse_dh_toml
from dynid.model import DynamicModel
from dynid.robot import Joint
from dynid.spatial import PARAMETER_LETTERS, Frame, rotation_x, rotation_z

EXACT = 1e-12  # of what a row of the table says of its frame, beside the frame itself


@dataclass(frozen=True)
class _Row:
    alpha: float
    a: float
    theta: float
    d: float

    @property
    def twist(self) -> Frame:
        return Frame(rotation_x(self.alpha), (self.a, 0.0, 0.0))

    @property
    def turn(self) -> Frame:
        return Frame(rotation_z(self.theta), (0.0, 0.0, self.d))


def write_dh_toml(model: DynamicModel) -> Exported:
    """The model as a new DH file."""
    robot = model.robot
    convention, rows = "standard", [_standard_row(joint) for joint in robot.joints]
    if None in rows:
        convention, rows = "modified", [_modified_row(joint) for joint in robot.joints]
    notes: list[str] = []
    if None in rows:
        own = model.as_robot()
        robot = in_modified_frames(own, modified_dh(own))  # which says why, where it cannot
        rows = [_modified_row(joint) for joint in robot.joints]
        model = DynamicModel(
            robot=robot,
            parameters=robot.parameters,
            armature=model.armature,
            friction=model.friction,
            physical=model.physical,
        )
        notes.append("link frames are those of the table, no longer those of the robot's file")
    table = [_joint(model, number, row) for number, row in enumerate(rows) if row is not None]
    if len(table) < len(rows) or any(joint.mimic for joint in robot.joints):
        raise RobotError(
            f"{robot.name}: mimic joints and frames off the joints' axes have no place in a DH table"
        )
    text = "\n".join([*_head(model, convention), *(line for lines in table for line in lines)])
    constants = drive_constants(model)
    read_back(model, lambda: parse_dh_toml(text, "exported TOML"), "TOML", constants)
    return Exported(text, (*notes, *without_place(model, "TOML", constants)))


def _head(model: DynamicModel, convention: str) -> list[str]:
    robot = model.robot
    lines = [
        f"name = {quoted(robot.name)}",
        f'convention = "{convention}"',
        f"gravity = {_list(robot.gravity)}",
    ]
    if robot.transmission is not None:
        lines.append(f"transmission = [{', '.join(_list(row) for row in robot.transmission)}]")
    if model.friction.side == "motor":
        lines.append('friction_side = "motor"')
    return lines


def _joint(model: DynamicModel, number: int, row: _Row) -> list[str]:
    robot = model.robot
    joint = robot.joints[number]
    lines = [
        "",
        "[[joint]]",
        f"name = {quoted(joint.name)}",
        f'type = "{"prismatic" if joint.prismatic else "revolute"}"',
    ]
    if joint.parent != number - 1:
        lines.append(f"parent = {joint.parent + 1}")
    lines += [f"{key} = {_number(getattr(row, key))}" for key in ("alpha", "a", "theta", "d")]
    lines += _limits(joint)
    ten = model.parameters[10 * number : 10 * number + 10].tolist()
    entries = (f"{letter} = {_number(value)}" for letter, value in zip(PARAMETER_LETTERS, ten, strict=True))
    lines.append(f"standard = {{ {', '.join(entries)} }}")
    if joint.mimic is None:
        k = robot.free.index(number)
        lines += [f"{key} = {_number(value[k])}" for key, value in drive_constants(model).items()]
    return lines


def _limits(joint: Joint) -> list[str]:
    limits = joint.limits
    entries: list[str] = []
    if isfinite(limits.lower) and isfinite(limits.upper) and limits.lower < limits.upper:
        entries.append(f"position = {_list([limits.lower, limits.upper])}")
    for key in ("velocity", "acceleration", "effort"):
        if isfinite(value := getattr(limits, key)) and value > 0.0:
            entries.append(f"{key} = {_number(value)}")
    return [f"limits = {{ {', '.join(entries)} }}"] if entries else []


# --- rows -------------------------------------------------------------------------------------------


def _modified_row(joint: Joint) -> _Row | None:
    """The row of a joint whose place has the form Rx Tx Rz Tz, None for any other."""
    R, p = joint.before.rotation, joint.before.translation
    row = _Row(atan2(-R[1, 2], R[2, 2]), float(p[0]), atan2(-R[0, 1], R[0, 0]), float(p @ R[:, 2]))
    fits = _equal(row.twist @ row.turn, joint.before) and _equal(joint.after, Frame())
    return row if fits and _along_z(joint) else None


def _standard_row(joint: Joint) -> _Row | None:
    """The row of a joint that moves at its carrier's z and whose link lies beyond Rz Tz Tx Rx."""
    R, p = joint.after.rotation, joint.after.translation
    row = _Row(atan2(R[2, 1], R[2, 2]), float(p @ R[:, 0]), atan2(R[1, 0], R[0, 0]), float(p[2]))
    fits = _equal(row.turn @ row.twist, joint.after) and _equal(joint.before, Frame())
    return row if fits and _along_z(joint) else None


def _along_z(joint: Joint) -> bool:
    return bool(np.array_equal(joint.axis, (0.0, 0.0, 1.0)))


def _equal(a: Frame, b: Frame) -> bool:
    same = np.abs(a.rotation - b.rotation).max() <= EXACT
    return bool(same and np.abs(a.translation - b.translation).max() <= EXACT)


# --- numbers ----------------------------------------------------------------------------------------


def _number(value: float) -> str:
    return repr(float(value) + 0.0)  # without the sign of -0.0


def _list(values: ArrayLike) -> str:
    return f"[{', '.join(_number(value) for value in np.ravel(values).tolist())}]"
