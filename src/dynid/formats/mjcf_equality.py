"""MJCF's <equality>: linear couplings of joints become mimic joints, closed loops are refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dynid.errors import choices, quote
from dynid.formats.mjcf_syntax import MAIN, Classes, flag, motion, section
from dynid.formats.records import JointRecord
from dynid.formats.xml_source import XmlElement
from dynid.robot import Limits

KINDS = ("connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain")


def active_constraints(root: XmlElement, classes: Classes) -> list[XmlElement]:
    """The constraints that hold, completed from their default classes."""
    constraints: list[XmlElement] = []
    for element in section(root, "equality"):
        if element.tag not in KINDS:
            raise element.error(f"the constraint {choices(element.tag, KINDS)}")
        complete = classes.complete(element, MAIN, "equality")
        if flag(complete, "active", True):
            constraints.append(complete)
    return constraints


def coupled(
    joints: Sequence[JointRecord], constraints: Sequence[XmlElement], references: Mapping[str, float]
) -> list[JointRecord]:
    """The joints with the linear couplings among the constraints.

    `references` has MuJoCo's `ref` (rad or m) of each joint that can move.
    """
    records = {joint.name: joint for joint in joints}
    followers: dict[str, JointRecord] = {}
    for element in constraints:
        if element.tag == "joint" and not _is_nonlinear(element):
            name = _joint_name(element, "joint1", references)
            if name in followers:
                raise element.error("this joint follows another constraint already", "joint1")
            followers[name] = _follower(records[name], element, references)
    return [followers.get(joint.name, joint) for joint in joints]


def check_the_rest(
    joints: Sequence[JointRecord],
    constraints: Sequence[XmlElement],
    sites: Mapping[str, str],
    keep: Sequence[str] | None,
) -> Iterator[str]:
    """Refuse what no tree can do among the joints that move; notes on constraints between locked ones.

    `sites` has the body of each site; `keep` names the joints that move, None stands for all.
    """
    tree = _Tree({joint.name: joint for joint in joints}, None if keep is None else frozenset(keep))
    for element in constraints:
        match element.tag:
            case "connect" | "weld":
                moving = tree.moving_between(*_ends(element, tree, sites))
                problem = "closes a kinematic loop; closed kinematic loops are not supported"
            case "joint" if _is_nonlinear(element):
                ends = (_joint_name(element, end, tree.joints) for end in ("joint1", "joint2"))
                moving = [name for name in ends if tree.moves(name)]
                problem = "only linear couplings are supported, such as polycoef='0 1 0 0 0'"
            case "joint":
                continue
            case _:
                moving = [name for name in tree.joints if tree.moves(name)] if keep is None else []
                problem = "this kind of constraint is not supported; joint couplings are"
        if moving:
            listed = ", ".join(quote(name) for name in moving)
            raise element.error(
                f"{problem}; make it inactive, or keep only other joints moving than {listed}"
            )
        yield f"{element.where}: the constraint <{element.tag}> is left out, no joint to keep depends on it"


# --- couplings of joints ------------------------------------------------------------------------


def _polynomial(element: XmlElement) -> list[float]:
    """The five coefficients of y - y0 = a0 + a1 (x - x0) + ...; those not given are MuJoCo's 0 1 0 0 0."""
    given = element.numbers("polycoef", range(1, 6), default=(0, 1, 0, 0, 0)).tolist()
    return [*given, *[0.0, 1.0, 0.0, 0.0, 0.0][len(given) :]]


def _is_nonlinear(element: XmlElement) -> bool:
    return "joint2" in element.attributes and any(_polynomial(element)[2:])


def _joint_name(element: XmlElement, end: str, known: Mapping[str, object]) -> str:
    name = element.text(end)
    if name not in known:
        raise element.error(f"the joint {choices(name, known)}", end)
    return name


def _follower(joint: JointRecord, element: XmlElement, references: Mapping[str, float]) -> JointRecord:
    """The joint that moves with `joint2`, or stands still where there is none."""
    a0, a1, *_ = _polynomial(element)
    offset = references[joint.name] + a0
    if "joint2" not in element.attributes:
        still = joint.before @ motion(joint.kind == "prismatic", joint.axis, offset)
        return replace(joint, kind="fixed", before=still, limits=Limits())
    master = _joint_name(element, "joint2", references)
    return replace(joint, mimic=(master, a1, offset - a1 * references[master]))


# --- loops --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Tree:
    """Which joints move, and which of them lie between two links."""

    joints: Mapping[str, JointRecord]
    keep: frozenset[str] | None

    def moves(self, name: str) -> bool:
        if self.joints[name].kind == "fixed":
            return False
        passed = {name}
        while (mimic := self.joints[name].mimic) is not None and mimic[0] not in passed:
            name = mimic[0]
            passed.add(name)
        return self.keep is None or name in self.keep

    def moving_between(self, one: str, other: str) -> list[str]:
        """Names of the moving joints on the way from one link to the other."""
        here, there = self._to_base(one), self._to_base(other)
        return [name for name in (*here, *there) if (name in here) != (name in there) and self.moves(name)]

    def _to_base(self, link: str) -> list[str]:
        above = {joint.child: joint for joint in self.joints.values()}
        path: list[str] = []
        while link in above:
            path.append(above[link].name)
            link = above[link].parent
        return path


def _ends(element: XmlElement, tree: _Tree, sites: Mapping[str, str]) -> tuple[str, str]:
    """The two bodies that a connect or weld ties together; the world where the second is not named."""
    if "site1" in element.attributes:
        names = [element.text(end) for end in ("site1", "site2")]
        for name in names:
            if name not in sites:
                raise element.error(f"the site {choices(name, sites)}")
        return sites[names[0]], sites[names[1]]
    bodies = {link for joint in tree.joints.values() for link in (joint.parent, joint.child)}
    first, second = element.text("body1"), element.text("body2", "world")
    for name in (first, second):
        if name not in bodies:
            raise element.error(f"the body {choices(name, sorted(bodies))}")
    return first, second
