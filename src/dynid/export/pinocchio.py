"""A few lines of Python that put the model into Pinocchio: its inertias, motor inertias and friction."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from dynid.conventions import from_pinocchio, to_joint_frames, to_pinocchio
from dynid.errors import RobotError
from dynid.export.exported import Exported, on_joints, without_place
from dynid.model import DynamicModel

DRIVES = ("Ia", "Fv", "Fc")

_TEXT = """\
import numpy as np
import pinocchio as pin

# joint: [m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz], motor inertia, viscous and Coulomb friction
joints = {{
{rows}}}
model = pin.buildModelFromUrdf({urdf!a})
locked = [k for k in range(1, model.njoints) if model.names[k] not in joints]
model = pin.buildReducedModel(model, locked, pin.neutral(model))
model.gravity.linear = np.array({gravity!r})
for name, (inertia, armature, viscous, coulomb) in joints.items():
    k = model.getJointId(name)
    v = model.joints[k].idx_v
    model.inertias[k] = pin.Inertia.FromDynamicParameters(np.array(inertia))
    model.armature[v], model.damping[v], model.friction[v] = armature, viscous, coulomb
"""


def write_pinocchio(model: DynamicModel, urdf: str) -> Exported:
    """Python text that loads the URDF called `urdf` and gives each joint of it the model's numbers."""
    robot = model.robot
    bodies = to_pinocchio(to_joint_frames(robot, model.parameters.reshape(-1, 10))).reshape(-1, 10).tolist()
    constants = {key: value for key, value in on_joints(model).items() if key in DRIVES}
    joints: dict[str, tuple[Any, ...]] = {}
    for number, (joint, body) in enumerate(zip(robot.joints, bodies, strict=True)):
        drive = (0.0, 0.0, 0.0)
        if joint.mimic is None:
            k = robot.free.index(number)
            drive = tuple(float(constants[key][k]) if key in constants else 0.0 for key in DRIVES)
        joints[joint.name] = (body, *drive)
    rows = "".join(f"    {name!a}: {numbers!r},\n" for name, numbers in joints.items())
    text = _TEXT.format(rows=rows, urdf=urdf, gravity=robot.gravity.tolist())
    _check(text, model)
    return Exported(text, tuple(without_place(model, "Pinocchio", constants)))


def _check(text: str, model: DynamicModel) -> None:
    """Read the dictionary back as Python does: its bodies must be the model's."""
    tree = ast.parse(text)
    table = next(node.value for node in tree.body if isinstance(node, ast.Assign))
    found: dict[str, Any] = ast.literal_eval(table)
    bodies = from_pinocchio(np.array([numbers[0] for numbers in found.values()]))
    expected = to_joint_frames(model.robot, model.parameters.reshape(-1, 10)).reshape(-1, 10)
    if list(found) != [joint.name for joint in model.robot.joints] or not np.array_equal(
        bodies.reshape(-1, 10), expected
    ):
        raise RobotError("the Pinocchio snippet is not kept: read back, its inertias differ")
