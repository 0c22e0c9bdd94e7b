"""A joint of an MJCF body: its place, its limits, and what its drive adds."""

from __future__ import annotations

from collections.abc import Iterator

from dynid.errors import quote
from dynid.formats.mjcf_syntax import Placed, Settings, keyword, motion, unit_vector
from dynid.formats.records import JointRecord
from dynid.formats.xml_source import XmlElement
from dynid.robot import INFINITY, NAN, Limits
from dynid.spatial import Frame, frozen

JOINT_TYPES = ("hinge", "slide", "ball", "free")


def joint_type(joint: XmlElement) -> str:
    return "free" if joint.tag == "freejoint" else keyword(joint, "type", JOINT_TYPES, "hinge")


def can_move(joint: XmlElement) -> bool:
    """Whether the joint is of a type that a `Robot` can have as a moving one."""
    return joint_type(joint) in ("hinge", "slide")


def reference(joint: XmlElement, settings: Settings) -> float:
    """The coordinate (rad or m) at which the bodies stand as the file draws them."""
    return joint.number("ref", "", 0.0) * _unit(joint, settings)


def joint_record(
    placed: Placed, pose: Frame, settings: Settings, *, name: str, parent: str, child: str
) -> JointRecord:
    """A joint of a body that has the given pose in its parent before the joint moves."""
    joint = placed.element
    if not can_move(joint):  # the reader has checked that it is locked
        return JointRecord(
            name=name, kind="fixed", parent=parent, child=child, before=pose, where=joint.where
        )
    slides = joint_type(joint) == "slide"
    limits = _limits(joint, settings)
    axis = placed.frame.rotation @ unit_vector(joint, "axis", joint.numbers("axis", 3, default=(0, 0, 1)))
    anchor = Frame(translation=placed.frame.apply(joint.numbers("pos", 3, "metres", (0, 0, 0))))
    return JointRecord(
        name=name,
        kind="prismatic" if slides else "continuous" if limits.lower == -INFINITY else "revolute",
        parent=parent,
        child=child,
        before=pose @ anchor @ motion(slides, axis, -reference(joint, settings)),
        axis=frozen(axis),
        after=anchor.inverse(),
        limits=limits,
        armature=joint.number("armature", "SI units", NAN),
        viscous=_viscous(joint),
        coulomb=joint.number("frictionloss", "SI units", NAN),
        where=joint.where,
    )


def _unit(joint: XmlElement, settings: Settings) -> float:
    """One unit of the joint's coordinate in rad or m."""
    return 1.0 if joint_type(joint) == "slide" else settings.angle


def _limits(joint: XmlElement, settings: Settings) -> Limits:
    position = _range(joint, "range", "limited", settings)
    unit = _unit(joint, settings)
    lower, upper = (-INFINITY, INFINITY) if position is None else (position[0] * unit, position[1] * unit)
    effort = _range(joint, "actuatorfrcrange", "actuatorfrclimited", settings)
    if effort is None or not effort[0] < 0.0 < effort[1]:
        return Limits(lower, upper)
    return Limits(lower, upper, effort=min(-effort[0], effort[1]))  # what the drive can do either way


def _range(joint: XmlElement, name: str, switch: str, settings: Settings) -> tuple[float, float] | None:
    """A range that applies; "auto" means that it applies if it is given ("0 0" is MuJoCo's for not given)."""
    low, high = joint.numbers(name, 2, default=(0, 0)).tolist()
    limited = keyword(joint, switch, ("auto", "true", "false"), "auto")
    given = (low, high) != (0.0, 0.0)
    if limited == "false" or (limited == "auto" and not given):
        return None
    if limited == "auto" and not settings.autolimits:
        raise joint.error(f'with <compiler autolimits="false"/>, {switch} must be true or false', name)
    if not low < high:
        raise joint.error("the first bound must be less than the second", name)
    return low, high


def _viscous(joint: XmlElement) -> float:
    """The linear damping; `springdamper` leaves it to MuJoCo, so that the file does not say it."""
    known = "damping" in joint.attributes and "springdamper" not in joint.attributes
    return float(joint.numbers("damping", range(1, 4), "SI units")[0]) if known else NAN


def drive_notes(joint: XmlElement, name: str) -> Iterator[str]:
    """What the drive of a joint has and the rigid-body model has not."""
    for attribute in ("stiffness", "springdamper"):
        if attribute in joint.attributes and joint.numbers(attribute, range(1, 4)).any():
            yield f"{joint.where}: {attribute} of joint {quote(name)} is left out"
    if "damping" in joint.attributes and joint.numbers("damping", range(1, 4))[1:].any():
        yield f"{joint.where}: the nonlinear damping of joint {quote(name)} is left out"
