"""SDFormat, Gazebo's format: a model whose links stand relative to the links that carry them."""

from __future__ import annotations

from math import isfinite
from xml.etree.ElementTree import Element, SubElement, fromstring, indent, tostring

from dynid.export.exported import Exported, numbers, read_back, without_gravity, without_place
from dynid.export.urdf import DYNAMICS, MOMENTS, angles, on_urdf_joints
from dynid.formats.assembly import JointRecord, LinkRecord, assemble
from dynid.model import DynamicModel
from dynid.robot import NAN, Limits, Robot
from dynid.spatial import (
    Array,
    Frame,
    frozen,
    parameters_from_com,
    parameters_to_com,
    rotation_rpy,
    six,
    tensor,
)

VERSION = "1.11"  # the first with <mimic>
WORLD = "world"

LIMITS = ("lower", "upper", "velocity", "effort")


def write_sdf(model: DynamicModel) -> Exported:
    """The model as a new SDF file; gravity is the world's and has no place in it."""
    robot = model.robot
    root = Element("sdf", version=VERSION)
    body = SubElement(root, "model", name=robot.name)
    for number, joint in enumerate(robot.joints):
        link = SubElement(body, "link", name=robot.links[number].name)
        carrier = robot.links[joint.parent].name if joint.parent >= 0 else None
        pose = _add(link, "pose", _pose(joint.before @ joint.after))
        if carrier is not None:
            pose.set("relative_to", carrier)
        _inertial(link, model.parameters[10 * number : 10 * number + 10].tolist())
    constants = on_urdf_joints(model)
    for number, joint in enumerate(robot.joints):
        axis = _joint(body, robot, number)
        dynamics = SubElement(axis, "dynamics")
        if joint.mimic is None:
            for key, value in constants.items():
                _add(dynamics, DYNAMICS[key], numbers(value[robot.free.index(number)]))
    indent(root)
    text = tostring(root, encoding="unicode") + "\n"
    read_back(model, lambda: _read(text, robot.gravity.tolist()), "SDF", constants)
    return Exported(text, (*without_place(model, "SDF", constants), *without_gravity(model, "SDF")))


def _joint(model: Element, robot: Robot, number: int) -> Element:
    """A joint as far as its <axis>, which is returned."""
    joint = robot.joints[number]
    endless = joint.kind == "continuous" or not isfinite(joint.limits.lower + joint.limits.upper)
    kind = "prismatic" if joint.prismatic else "continuous" if endless else "revolute"
    element = SubElement(model, "joint", name=joint.name, type=kind)
    _add(element, "pose", _pose(joint.after.inverse()))
    _add(element, "parent", robot.links[joint.parent].name if joint.parent >= 0 else WORLD)
    _add(element, "child", robot.links[number].name)
    axis = SubElement(element, "axis")
    _add(axis, "xyz", numbers(joint.axis))
    limit = SubElement(axis, "limit")
    for key in LIMITS:
        if isfinite(value := getattr(joint.limits, key)):
            _add(limit, key, numbers(value))
    if joint.mimic is not None:
        mimic = SubElement(axis, "mimic", joint=robot.joints[joint.mimic.joint].name)
        _add(mimic, "multiplier", numbers(joint.mimic.multiplier))
        _add(mimic, "offset", numbers(joint.mimic.offset))
        _add(mimic, "reference", "0")
    return axis


def _inertial(link: Element, parameters: list[float]) -> None:
    mass, com, inertia = parameters_to_com(parameters)
    inertial = SubElement(link, "inertial")
    _add(inertial, "pose", f"{numbers(com)} 0 0 0")
    _add(inertial, "mass", numbers(mass))
    moments = SubElement(inertial, "inertia")
    for key, value in zip(MOMENTS, six(inertia).tolist(), strict=True):
        _add(moments, key, numbers(value))


def _pose(frame: Frame) -> str:
    return f"{numbers(frame.translation)} {numbers(angles(frame.rotation))}"


def _add(parent: Element, tag: str, text: str) -> Element:
    element = SubElement(parent, tag)
    element.text = text
    return element


# --- reading back what this module writes, and no other file --------------------------------------------


def _read(text: str, gravity: list[float]) -> Robot:
    model = fromstring(text)[0]
    links = {link.get("name", ""): link for link in model.findall("link")}
    joints = [_joint_record(element, links) for element in model.findall("joint")]
    records = [LinkRecord(name=name, parameters=_parameters(link)) for name, link in links.items()]
    return assemble(
        name=model.get("name", ""),
        links=[LinkRecord(name=WORLD), *records],
        joints=joints,
        gravity=gravity,
        source="exported SDF",
    )


def _joint_record(element: Element, links: dict[str, Element]) -> JointRecord:
    """The pose of a link is before @ after, that of its joint in it the inverse of after."""
    child = _text(element, "child")
    after = _frame(_text(element, "pose")).inverse()
    kind = element.get("type", "")
    axis = element.find("axis")
    assert axis is not None
    mimic = axis.find("mimic")
    return JointRecord(
        name=element.get("name", ""),
        kind="prismatic" if kind == "prismatic" else "continuous" if kind == "continuous" else "revolute",
        parent=_text(element, "parent"),
        child=child,
        before=_frame(_text(links[child], "pose")) @ after.inverse(),
        axis=frozen(_numbers(_text(axis, "xyz"))),
        after=after,
        limits=Limits(**{key: float(found) for key in LIMITS if (found := axis.findtext(f"limit/{key}"))}),
        mimic=None
        if mimic is None
        else (mimic.get("joint", ""), float(_text(mimic, "multiplier")), float(_text(mimic, "offset"))),
        viscous=float(axis.findtext("dynamics/damping") or NAN),
        coulomb=float(axis.findtext("dynamics/friction") or NAN),
    )


def _parameters(link: Element) -> Array:
    inertial = link.find("inertial")
    assert inertial is not None
    com = _frame(_text(inertial, "pose")).translation
    moments = [float(_text(inertial, f"inertia/{key}")) for key in MOMENTS]
    return parameters_from_com(float(_text(inertial, "mass")), com, tensor(moments))


def _frame(pose: str) -> Frame:
    x, y, z, roll, pitch, yaw = _numbers(pose)
    return Frame(rotation_rpy(roll, pitch, yaw), (x, y, z))


def _text(element: Element, path: str) -> str:
    text = element.findtext(path)
    assert text is not None
    return text


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.split()]
