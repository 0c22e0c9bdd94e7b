"""A URDF of its own for robots that were not read from one. Link frames are those of the joints."""

from __future__ import annotations

from math import atan2, hypot, isfinite
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from dynid.conventions import to_joint_frames
from dynid.export.exported import Exported, numbers, on_joints, read_back, without_gravity, without_place
from dynid.formats.urdf import parse_urdf
from dynid.model import DynamicModel
from dynid.robot import Joint, Robot
from dynid.spatial import Array, Frame, parameters_to_com, rotation_z, six

UNKNOWN = 1e9  # rad, m, s, N or Nm: what the format requires and nobody gave
DYNAMICS = {"Fv": "damping", "Fc": "friction"}  # attributes of <dynamics>
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def write_urdf(model: DynamicModel) -> Exported:
    """The model as a new URDF file."""
    robot = model.robot
    root = Element("robot", name=robot.name)
    base = base_name(robot)
    SubElement(root, "link", name=base)
    bodies = to_joint_frames(robot, model.parameters.reshape(-1, 10)).reshape(-1, 10)
    for link, ten in zip(robot.links, bodies, strict=True):
        _inertial(SubElement(root, "link", name=link.name), ten)
    constants = on_urdf_joints(model)
    for number, joint in enumerate(robot.joints):
        element = SubElement(root, "joint", name=joint.name, type=_kind(joint))
        carrier = robot.joints[joint.parent].after if joint.parent >= 0 else Frame()
        SubElement(element, "origin", _pose(carrier @ joint.before))
        SubElement(element, "parent", link=robot.links[joint.parent].name if joint.parent >= 0 else base)
        SubElement(element, "child", link=robot.links[number].name)
        SubElement(element, "axis", xyz=numbers(joint.axis))
        _limit(element, joint)
        if joint.mimic is None:
            k = robot.free.index(number)
            if drive := {DYNAMICS[key]: numbers(value[k]) for key, value in constants.items()}:
                SubElement(element, "dynamics", drive)
        else:
            mimic = joint.mimic
            SubElement(
                element,
                "mimic",
                joint=robot.joints[mimic.joint].name,
                multiplier=numbers(mimic.multiplier),
                offset=numbers(mimic.offset),
            )
    indent(root)
    text = tostring(root, encoding="unicode", xml_declaration=False) + "\n"
    gravity = robot.gravity.tolist()
    read_back(model, lambda: parse_urdf(text, "exported URDF", gravity=gravity), "URDF", constants)
    return Exported(text, (*without_place(model, "URDF", constants), *without_gravity(model, "URDF")))


def on_urdf_joints(model: DynamicModel) -> dict[str, Array]:
    """Constants of drives that the format has a place for, by letter, (n,) each."""
    return {key: value for key, value in on_joints(model).items() if key in DYNAMICS}


def base_name(robot: Robot) -> str:
    """A name for the base that no link has."""
    name = "base"
    while any(link.name == name for link in robot.links):
        name += "_"
    return name


def angles(rotation: Array) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a rotation, about the fixed axes x, y and z in this order.

    Where pitch is a right angle, roll and yaw turn about one axis; what yaw leaves is then roll's.
    """
    R = rotation
    yaw = atan2(R[1, 0], R[0, 0]) if hypot(R[0, 0], R[1, 0]) > 1e-9 else 0.0
    rest = rotation_z(-yaw) @ R
    return atan2(-rest[1, 2], rest[1, 1]), atan2(-rest[2, 0], rest[0, 0]), yaw


def _pose(frame: Frame) -> dict[str, str]:
    return {"xyz": numbers(frame.translation), "rpy": numbers(angles(frame.rotation))}


def _inertial(link: Element, parameters: Array) -> None:
    mass, com, inertia = parameters_to_com(parameters)
    inertial = SubElement(link, "inertial")
    SubElement(inertial, "origin", xyz=numbers(com), rpy="0 0 0")
    SubElement(inertial, "mass", value=numbers(mass))
    entries = zip(MOMENTS, six(inertia).tolist(), strict=True)
    SubElement(inertial, "inertia", {key: numbers(value) for key, value in entries})


def _kind(joint: Joint) -> str:
    """A revolute joint without limits is continuous in this format."""
    limits = joint.limits
    endless = not (isfinite(limits.lower) and isfinite(limits.upper))
    return "continuous" if joint.kind == "revolute" and endless else joint.kind


def _limit(element: Element, joint: Joint) -> None:
    """The limits; where the format requires one that nobody gave, a number far beyond any."""
    limits = joint.limits
    bounds = {"lower": limits.lower, "upper": limits.upper} if _kind(joint) != "continuous" else {}
    bounds |= {"velocity": limits.velocity, "effort": limits.effort}
    known = {key: float(np.clip(value, -UNKNOWN, UNKNOWN)) for key, value in bounds.items()}
    SubElement(element, "limit", {key: numbers(value) for key, value in known.items()})
