"""MJCF robot descriptions (MuJoCo's XML): what matters to the dynamics of rigid bodies.

The frame of a link is that of the body. A joint coordinate q is MuJoCo's qpos, so the pose that the file
draws is reached at q = `ref`. Of several joints in one body, all but the last carry massless links.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from dynid.errors import choices, quote
from dynid.formats.assembly import JointRecord, LinkRecord, assemble
from dynid.formats.mjcf_equality import active_constraints, check_the_rest, coupled
from dynid.formats.mjcf_inertia import body_parameters
from dynid.formats.mjcf_joint import can_move, drive_notes, joint_record, joint_type, reference
from dynid.formats.mjcf_syntax import (
    MAIN,
    Classes,
    Names,
    Placed,
    Settings,
    keyword,
    names_in,
    read_classes,
    read_pose,
    read_settings,
    refuse_includes,
    section,
    slips,
)
from dynid.formats.xml_source import XmlElement, parse_xml, read_xml
from dynid.robot import NAN, Robot
from dynid.spatial import Array, Frame, frozen

GRAVITY = (0.0, 0.0, -9.81)
WORLD = "world"

READ = ("compiler", "option", "default", "worldbody", "equality")
NOTED = ("tendon", "deformable", "actuator")  # they act on the bodies, but are no part of them
IGNORED = ("size", "statistic", "visual", "extension", "custom", "asset", "contact", "sensor", "keyframe")
IN_BODY = ("body", "frame", "joint", "freejoint", "inertial", "geom")
WITHOUT_INERTIA = ("site", "camera", "light", "plugin")
GENERATED = ("replicate", "attach", "composite", "flexcomp")  # MuJoCo makes bodies of these while compiling


def read_mjcf(
    path: Path, *, gravity: Sequence[float] | None = None, joints: Sequence[str] | None = None
) -> Robot:
    """The robot of an MJCF file; `gravity` is (3,), `joints` names those that keep moving."""
    return _robot(read_xml(path), gravity, joints)


def parse_mjcf(
    text: str, source: str, *, gravity: Sequence[float] | None = None, joints: Sequence[str] | None = None
) -> Robot:
    """The robot of an MJCF text; `source` names it in messages."""
    return _robot(parse_xml(text, source), gravity, joints)


@dataclass(frozen=True)
class _Model:
    """What is known of the whole file, and the records found so far."""

    settings: Settings
    classes: Classes
    body_names: Names
    joint_names: Names
    lock_odd_joints: bool  # ball and free joints: to be locked like all that `joints=` does not name
    links: list[LinkRecord] = field(default_factory=list[LinkRecord])
    joints: list[JointRecord] = field(default_factory=list[JointRecord])
    references: dict[str, float] = field(default_factory=dict[str, float])  # joint: `ref` in rad or m
    sites: dict[str, str] = field(default_factory=dict[str, str])  # site: body
    notes: list[str] = field(default_factory=list[str])


def _robot(root: XmlElement, gravity: Sequence[float] | None, keep: Sequence[str] | None) -> Robot:
    if root.tag != "mujoco":
        raise root.error("an MJCF file starts with <mujoco>")
    refuse_includes(root)
    for child in root:
        if child.tag not in (*READ, *NOTED, *IGNORED):
            raise child.error(f"the section {choices(child.tag, (*READ, *NOTED, *IGNORED))}")
    if not root.all("worldbody"):
        raise root.error("the element <worldbody> is missing")
    model = _Model(
        settings=read_settings(root),
        classes=read_classes(root),
        body_names=names_in(root, "body", ("body",)),
        joint_names=names_in(root, "joint", ("joint", "freejoint")),
        lock_odd_joints=keep is not None,
    )
    _read_world(section(root, "worldbody"), model)
    constraints = active_constraints(root, model.classes)
    joints = coupled(model.joints, constraints, model.references)
    model.notes.extend(check_the_rest(joints, constraints, model.sites, keep))
    links = _scaled(model.links, model.settings.total_mass, root)
    unknown = {link.name for link in links if link.parameters is not None and np.isnan(link.parameters).any()}
    robot = assemble(
        name=root.text("model", "") or Path(root.source).stem or "mjcf",
        links=[replace(link, parameters=np.zeros(10)) if link.name in unknown else link for link in links],
        joints=joints,
        gravity=_gravity(root) if gravity is None else gravity,
        keep=keep,
        notes=[*slips(root), *model.notes, *_left_out(root)],
        source=root.source,
    )
    return _without_unknown(robot, unknown)


def _without_unknown(robot: Robot, unknown: set[str]) -> Robot:
    """The robot with NaN for the parameters of every link that contains one of the `unknown` bodies."""
    nan = frozen(np.full(10, NAN))
    links = [
        link if unknown.isdisjoint((link.name, *link.lumped)) else replace(link, parameters=nan)
        for link in robot.links
    ]
    return replace(robot, links=tuple(links))


def _gravity(root: XmlElement) -> Array:
    """Gravity of the file; <flag gravity="disable"/> switches it off."""
    option = section(root, "option")
    disabled = any(
        keyword(child, "gravity", ("enable", "disable"), "enable") == "disable"
        for child in option.all("flag")
    )
    return np.zeros(3) if disabled else option.numbers("gravity", 3, "m/s^2", GRAVITY)


def _scaled(links: Sequence[LinkRecord], total: float | None, root: XmlElement) -> list[LinkRecord]:
    """The links with all masses scaled so that they add up to `total`, if one is given."""
    if total is None:
        return list(links)
    mass = sum(float(link.parameters[9]) for link in links if link.parameters is not None)
    if not mass > 0.0:  # also where a mass is unknown
        raise section(root, "compiler").error(
            f"the masses add up to {mass:g} kg, which cannot be scaled; every body needs a known mass",
            "settotalmass",
        )
    return [
        link if link.parameters is None else replace(link, parameters=total / mass * link.parameters)
        for link in links
    ]


# --- bodies -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Content:
    """What a body holds, with the elements of <frame>s in their place in the file."""

    name: str
    joints: list[Placed] = field(default_factory=list[Placed])
    inertials: list[Placed] = field(default_factory=list[Placed])
    geoms: list[Placed] = field(default_factory=list[Placed])
    bodies: list[tuple[Placed, str]] = field(default_factory=list[tuple[Placed, str]])  # with default class


def _content(body: XmlElement, name: str, childclass: str, model: _Model) -> _Content:
    content = _Content(name)
    _collect(body, Frame(), childclass, model, content)
    return content


def _collect(element: XmlElement, frame: Frame, childclass: str, model: _Model, into: _Content) -> None:
    for child in element:
        match child.tag:
            case "frame":
                inner = frame @ read_pose(child, model.settings)
                _collect(child, inner, child.text("childclass", childclass), model, into)
            case "body":
                into.bodies.append((Placed(child, frame), child.text("childclass", childclass)))
            case "joint":
                into.joints.append(Placed(model.classes.complete(child, childclass), frame))
            case "freejoint":
                into.joints.append(Placed(child, frame))
            case "geom":
                into.geoms.append(Placed(model.classes.complete(child, childclass), frame))
            case "inertial":
                into.inertials.append(Placed(child, frame))
            case "site":
                model.sites[child.text("name", "")] = into.name
            case tag if tag in GENERATED:
                raise child.error("is not read; expand it first (MuJoCo's mj_saveLastXML does)")
            case tag if tag not in WITHOUT_INERTIA:
                raise child.error(f"the element {choices(tag, (*IN_BODY, *WITHOUT_INERTIA))}")
            case _:
                pass


def _read_world(world: XmlElement, model: _Model) -> None:
    content = _content(world, WORLD, MAIN, model)
    if misplaced := [*content.joints, *content.inertials]:
        raise misplaced[0].element.error("must be inside a <body>; the world does not move")
    model.links.append(LinkRecord(name=WORLD, where=world.where))
    for body, childclass in content.bodies:
        _read_body(body, childclass, WORLD, model)


def _read_body(placed: Placed, childclass: str, parent: str, model: _Model) -> None:
    """Add the links and joints of a body and of all bodies below it."""
    element = placed.element
    name = model.body_names.of(element)
    content = _content(element, name, childclass, model)
    if len(content.inertials) > 1:
        raise content.inertials[1].element.error("is there already; one is valid")
    if element.number("gravcomp", "", 0.0) != 0.0:
        model.notes.append(f"{element.where}: gravity compensation of body {quote(name)} is left out")
    for joint in _chain(placed, name, parent, content.joints, model):
        if joint.child != name:
            model.links.append(
                LinkRecord(name=joint.child, parameters=frozen(np.zeros(10)), where=joint.where)
            )
        model.joints.append(joint)
    inertial = content.inertials[0] if content.inertials else None
    parameters = body_parameters(inertial, content.geoms, model.settings)
    if parameters is not None and np.isnan(parameters).any():
        model.notes.append(
            f"{element.where}: the inertia of body {quote(name)} follows from a mesh or a shell, which is "
            "not read; its parameters are unknown unless an <inertial> gives them"
        )
    model.links.append(LinkRecord(name=name, parameters=parameters, where=element.where))
    for body, inner_class in content.bodies:
        _read_body(body, inner_class, name, model)


def _chain(
    body: Placed, name: str, parent: str, joints: Sequence[Placed], model: _Model
) -> Iterator[JointRecord]:
    """The joints of a body, one after the other; a fixed one where it has none."""
    pose = body.frame @ read_pose(body.element, model.settings)
    where = body.element.where
    if not joints:
        fixed = model.joint_names.unique(f"{name}_fixed")
        yield JointRecord(name=fixed, kind="fixed", parent=parent, child=name, before=pose, where=where)
    for number, joint in enumerate(joints, start=1):
        child = name if number == len(joints) else model.body_names.unique(f"{name}({number})")
        joint_name = _register(joint.element, model)
        yield joint_record(joint, pose, model.settings, name=joint_name, parent=parent, child=child)
        parent, pose = child, Frame()


def _register(joint: XmlElement, model: _Model) -> str:
    """The joint's name, after noting what the record of the joint cannot hold."""
    name = model.joint_names.of(joint)
    if can_move(joint):
        model.references[name] = reference(joint, model.settings)
        model.notes.extend(drive_notes(joint, name))
    elif model.lock_odd_joints:
        model.notes.append(f"{joint.where}: joint {quote(name)}, {joint_type(joint)}, is locked")
    else:
        stands = "; dynid models robots on a fixed base" if joint_type(joint) == "free" else ""
        raise joint.error(
            f"{joint_type(joint)} joints cannot move here{stands}. Valid: hinge, slide, or no joint for a "
            "fixed body; choosing the joints to keep locks all others"
        )
    return name


# --- notes ----------------------------------------------------------------------------------------


def _left_out(root: XmlElement) -> Iterator[str]:
    """What other sections of the file add to the dynamics in MuJoCo, and not here."""
    option = section(root, "option")
    for attribute in ("density", "viscosity", "wind"):
        if attribute in option.attributes and option.numbers(attribute, range(1, 4)).any():
            yield f"{option.where}: <option {attribute}>: forces of the medium are left out"
    for tag in ("tendon", "deformable"):
        for part in root.all(tag):
            if part.children:
                yield f"{part.where}: <{tag}>: its forces are left out"
    for actuator in section(root, "actuator"):
        if "joint" in actuator.attributes and actuator.numbers("gear", range(1, 7), default=[1])[0] != 1.0:
            yield (
                f"{actuator.where}: gear {actuator.text('gear')} of joint {quote(actuator.text('joint'))} is "
                "left out: efforts, armature and friction are on the joint side"
            )
