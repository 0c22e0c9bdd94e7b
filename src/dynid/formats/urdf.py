"""URDF robot descriptions. The frame of a link is that of the joint that carries it.

What the format leaves optional takes its default; what it requires and the dynamics need is required
here, too. Elements of other tools are ignored, as the format has it, but inside a link or a joint they may
be slips of the pen, so the robot's notes mention them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from dynid.errors import choices, quote
from dynid.formats.assembly import JointRecord, LinkRecord, assemble
from dynid.formats.xml_source import XmlElement, parse_xml, read_xml
from dynid.robot import INFINITY, NAN, JointKind, Limits, Robot
from dynid.spatial import Array, Frame, frozen, parameter_transform, parameters_from_com, rotation_rpy, tensor

GRAVITY = (0.0, 0.0, -9.81)

JOINT_KINDS: dict[str, JointKind | Literal["fixed"]] = {
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "fixed": "fixed",
}

# What may stand inside an element that this reader uses: its children and its attributes.
VOCABULARY = {
    "link": ("inertial visual collision", "name type"),
    "inertial": ("origin mass inertia", ""),
    "mass": ("", "value"),
    "inertia": ("", "ixx ixy ixz iyy iyz izz"),
    "joint": (
        "origin parent child axis calibration dynamics limit mimic safety_controller",
        "name type",
    ),
    "origin": ("", "xyz rpy"),
    "parent": ("", "link"),
    "child": ("", "link"),
    "axis": ("", "xyz"),
    "limit": ("", "lower upper velocity effort"),
    "dynamics": ("", "damping friction"),
    "mimic": ("", "joint multiplier offset"),
}

# A missing product of inertia is zero, as other readers have it; a missing moment can only be a mistake.
INERTIA_ENTRIES = (("ixx", None), ("ixy", 0.0), ("ixz", 0.0), ("iyy", None), ("iyz", 0.0), ("izz", None))


def read_urdf(
    path: Path, *, gravity: Sequence[float] | None = None, joints: Sequence[str] | None = None
) -> Robot:
    """The robot of a URDF file; `gravity` is (3,), `joints` names those that keep moving."""
    return _robot(read_xml(path), gravity, joints)


def parse_urdf(
    text: str, source: str, *, gravity: Sequence[float] | None = None, joints: Sequence[str] | None = None
) -> Robot:
    """The robot of a URDF text; `source` names it in messages."""
    return _robot(parse_xml(text, source), gravity, joints)


def _robot(root: XmlElement, gravity: Sequence[float] | None, keep: Sequence[str] | None) -> Robot:
    if root.tag != "robot":
        raise root.error("a URDF file starts with <robot name=...>")
    for child in root:
        if child.tag.startswith("xacro:"):
            raise child.error("this is xacro, not yet URDF; name the file .xacro to have it expanded")
    links, joints = urdf_records(root)
    return assemble(
        name=root.text("name"),
        links=links,
        joints=joints,
        gravity=GRAVITY if gravity is None else gravity,
        keep=keep,
        notes=[
            *(note for tag in ("link", "joint") for element in root.all(tag) for note in _slips(element)),
            *(_transmission_note(element) for element in root.all("transmission")),
        ],
        source=root.source,
    )


def urdf_records(root: XmlElement) -> tuple[list[LinkRecord], list[JointRecord]]:
    """All links and joints of a URDF file, in file order."""
    links = [_link(element) for element in root.all("link")]
    return links, [_joint(element) for element in root.all("joint")]


def urdf_origin(element: XmlElement) -> Frame:
    """The frame of an optional <origin>."""
    origin = element.only("origin")
    if origin is None:
        return Frame()
    roll, pitch, yaw = origin.numbers("rpy", 3, "radians", np.zeros(3))
    return Frame(rotation_rpy(roll, pitch, yaw), origin.numbers("xyz", 3, "metres", np.zeros(3)))


# --- links --------------------------------------------------------------------------------------


def _link(element: XmlElement) -> LinkRecord:
    inertial = element.only("inertial")
    parameters = None if inertial is None else _parameters(inertial)
    return LinkRecord(name=element.text("name"), parameters=parameters, where=element.where)


def _parameters(inertial: XmlElement) -> Array:
    """Standard parameters about and in the link frame; the file gives them in a frame at the COM."""
    mass = _required(inertial, "mass").number("value", "kg")
    inertia = _required(inertial, "inertia")
    moments = [inertia.number(key, "kg m^2", default) for key, default in INERTIA_ENTRIES]
    about_com = parameters_from_com(mass, np.zeros(3), tensor(moments))
    return frozen(parameter_transform(urdf_origin(inertial)) @ about_com)


# --- joints -------------------------------------------------------------------------------------


def _joint(element: XmlElement) -> JointRecord:
    name, kind = element.text("name"), element.text("type")
    if kind not in JOINT_KINDS:
        raise element.error(f"joint type {choices(kind, JOINT_KINDS)}", "name")
    axis, dynamics = element.only("axis"), element.only("dynamics")
    return JointRecord(
        name=name,
        kind=JOINT_KINDS[kind],
        parent=_required(element, "parent").text("link"),
        child=_required(element, "child").text("link"),
        before=urdf_origin(element),
        axis=frozen((1, 0, 0)) if axis is None else axis.numbers("xyz", 3),
        limits=_limits(element, kind),
        mimic=_mimic(element),
        viscous=NAN if dynamics is None else dynamics.number("damping", "SI units", 0.0),
        coulomb=NAN if dynamics is None else dynamics.number("friction", "SI units", 0.0),
        where=element.where,
    )


def _limits(joint: XmlElement, kind: str) -> Limits:
    """Limits where the file gives them; where it gives none, the dynamics can do without."""
    limit = joint.only("limit")
    if limit is None:
        return Limits()
    bounded = kind != "continuous"
    unit = "metres" if kind == "prismatic" else "radians"
    return Limits(
        lower=limit.number("lower", unit, 0.0) if bounded else -INFINITY,
        upper=limit.number("upper", unit, 0.0) if bounded else INFINITY,
        velocity=limit.number("velocity", f"{unit} per second", INFINITY),
        effort=limit.number("effort", "N" if kind == "prismatic" else "Nm", INFINITY),
    )


def _mimic(joint: XmlElement) -> tuple[str, float, float] | None:
    mimic = joint.only("mimic")
    if mimic is None:
        return None
    return mimic.text("joint"), mimic.number("multiplier", "", 1.0), mimic.number("offset", "SI units", 0.0)


def _required(element: XmlElement, tag: str) -> XmlElement:
    child = element.only(tag)
    if child is None:
        raise element.error(f"the element <{tag}> is missing", "name")
    return child


# --- notes --------------------------------------------------------------------------------------


def _slips(element: XmlElement) -> Iterator[str]:
    """Notes on what this reader does not know inside the elements it uses."""
    children, attributes = (words.split() for words in VOCABULARY[element.tag])
    for name in element.attributes:
        if name not in attributes:
            yield f"{element.where}: <{element.tag}>: ignored attribute {choices(name, attributes)}"
    for child in element:
        if child.tag not in children:
            yield f"{child.where}: <{element.tag}>: ignored element {choices(child.tag, children)}"
        elif child.tag in VOCABULARY:
            yield from _slips(child)


def _transmission_note(element: XmlElement) -> str:
    joints = ", ".join(quote(joint.attributes.get("name", "?")) for joint in element.all("joint"))
    return (
        f"{element.where}: <transmission> of joint {joints or '(none)'} is not used: "
        "efforts, motor inertia and friction are on the joint side"
    )
