"""MuJoCo's format: inertia as `fullinertia`, drives as `armature`, `damping` and `frictionloss`.

The frame of a body is that of the link. Drives whose motors are coupled act on tendons, one per motor, of
length R q: the inverse of the transmission.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from dynid.conventions import to_mjcf
from dynid.errors import quote
from dynid.export.exported import Exported, drive_constants, numbers, on_joints, read_back, without_place
from dynid.formats.mjcf import parse_mjcf
from dynid.friction import motor_rates
from dynid.model import DynamicModel
from dynid.robot import Joint
from dynid.spatial import Array, is_physical

# MuJoCo refuses moving bodies below 1e-15 kg or kg m^2; what is less gets this much, which no torque shows.
SMALLEST = 1e-13
DRIVES = {"Ia": "armature", "Fv": "damping", "Fc": "frictionloss"}  # attributes of joints and tendons


def write_mjcf(model: DynamicModel) -> Exported:
    """The model as a new MJCF file."""
    robot = model.robot
    root = Element("mujoco", model=robot.name)
    SubElement(root, "compiler", angle="radian", autolimits="true")
    SubElement(root, "option", gravity=numbers(robot.gravity))
    carriers = {-1: SubElement(root, "worldbody")}
    constants = {key: value for key, value in on_joints(model).items() if key in DRIVES}
    raised: list[str] = []
    impossible: list[str] = []
    for number, (joint, link) in enumerate(zip(robot.joints, robot.links, strict=True)):
        pose = joint.before @ joint.after
        body = SubElement(
            carriers[joint.parent],
            "body",
            name=link.name,
            pos=numbers(pose.translation),
            xyaxes=numbers(pose.rotation.T[:2]),
        )
        carriers[number] = body
        ten = model.parameters[10 * number : 10 * number + 10]
        inertial, is_raised = _inertial(ten)
        SubElement(body, "inertial", inertial)
        raised += [link.name] if is_raised else []
        impossible += [] if is_physical(ten) else [link.name]
        drive = _drive(constants, robot.free.index(number)) if joint.mimic is None else {}
        SubElement(body, "joint", {**_joint(joint), **drive})
    _couple(root, model)
    on_motors = {
        key: value for key, value in drive_constants(model).items() if key in DRIVES.keys() - constants
    }
    _tendons(root, model, on_motors)
    indent(root)
    text = tostring(root, encoding="unicode") + "\n"
    read_back(model, lambda: parse_mjcf(text, "exported MJCF"), "MJCF", constants)
    notes = without_place(model, "MJCF", DRIVES)
    if raised:
        notes.append(f"raised to {SMALLEST:g} kg m^2, which MuJoCo needs: {', '.join(map(quote, raised))}")
    if impossible:
        notes.append(
            f"MuJoCo will not load this file: no bodies are like {', '.join(map(quote, impossible))} "
            "(--physical exports ones that can exist)"
        )
    return Exported(text, tuple(notes))


def _inertial(parameters: Array) -> tuple[dict[str, str], bool]:
    """Attributes of <inertial>, and whether mass or moments had to be raised; less than nothing stays so."""
    mass, com, moments = to_mjcf(parameters)
    xx, yy, zz, xy, xz, yz = moments
    least = float(np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])[0])
    is_thin, is_light = abs(least) < SMALLEST, abs(mass) < SMALLEST
    raised = moments + 2.0 * SMALLEST * is_thin * np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    attributes = {
        "mass": numbers(SMALLEST if is_light else mass),
        "pos": numbers(com),
        "fullinertia": numbers(raised),
    }
    return attributes, is_thin or is_light


def _joint(joint: Joint) -> dict[str, str]:
    seat = joint.after.inverse()
    limits = joint.limits
    attributes = {
        "name": joint.name,
        "type": "slide" if joint.prismatic else "hinge",
        "pos": numbers(seat.translation),
        "axis": numbers(seat.rotation @ joint.axis),
    }
    if isfinite(limits.lower) and isfinite(limits.upper) and limits.lower < limits.upper:
        attributes["range"] = numbers([limits.lower, limits.upper])
    if isfinite(limits.effort) and limits.effort > 0.0:
        attributes["actuatorfrcrange"] = numbers([-limits.effort, limits.effort])
    return attributes


# --- drives and couplings ----------------------------------------------------------------------------


def _drive(constants: Mapping[str, Array], k: int) -> dict[str, str]:
    return {DRIVES[key]: numbers(value[k]) for key, value in constants.items()}


def _tendons(root: Element, model: DynamicModel, constants: Mapping[str, Array]) -> None:
    """One tendon per motor for what acts on coupled motors; it moves as the motor does."""
    if not constants:
        return
    rates = motor_rates(model.robot.transmission, model.robot.dof)
    section = SubElement(root, "tendon")
    for k in range(model.robot.dof):
        tendon = SubElement(section, "fixed", {"name": f"motor {k + 1}", **_drive(constants, k)})
        for name, rate in zip(model.robot.joint_names, rates[k].tolist(), strict=True):
            if rate:
                SubElement(tendon, "joint", joint=name, coef=numbers(rate))


def _couple(root: Element, model: DynamicModel) -> None:
    """Mimic joints as equality constraints."""
    joints = model.robot.joints
    mimics = [joint for joint in joints if joint.mimic is not None]
    section = SubElement(root, "equality") if mimics else root
    for joint in mimics:
        assert joint.mimic is not None
        line = numbers([joint.mimic.offset, joint.mimic.multiplier, 0, 0, 0])
        SubElement(section, "joint", joint1=joint.name, joint2=joints[joint.mimic.joint].name, polycoef=line)
