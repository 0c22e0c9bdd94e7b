"""What a file says about links and joints, and the checks every record must pass by itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

import numpy as np

from dynid.errors import RobotError, choices, quote
from dynid.robot import NAN, JointKind, Limits
from dynid.spatial import Array, Frame, frozen


@dataclass(frozen=True, eq=False, kw_only=True)
class LinkRecord:
    """A link of a file; `parameters` are about and in the link's own frame, None where not given."""

    name: str
    parameters: Array | None = None
    where: str = ""  # place in the file, such as "line 12", for messages


@dataclass(frozen=True, eq=False, kw_only=True)
class JointRecord:
    """A joint of a file; the geometry is that of `dynid.robot`."""

    name: str
    kind: JointKind | Literal["fixed"]
    parent: str
    child: str
    before: Frame = field(default_factory=Frame)
    axis: Array = field(default_factory=lambda: frozen((0, 0, 1)))
    after: Frame = field(default_factory=Frame)
    limits: Limits = field(default_factory=Limits)
    mimic: tuple[str, float, float] | None = None  # joint, multiplier, offset
    armature: float = NAN
    viscous: float = NAN
    coulomb: float = NAN
    offset: float = NAN
    where: str = ""


@dataclass(frozen=True, eq=False)
class Description:
    """All records of a file by name, in file order, each sound by itself."""

    links: Mapping[str, LinkRecord]
    joints: Mapping[str, JointRecord]
    source: str

    @classmethod
    def checked(cls, links: Sequence[LinkRecord], joints: Sequence[JointRecord], source: str) -> Description:
        self = cls(_by_name(links, source), _by_name(joints, source), source)
        for link in links:
            self._check_link(link)
        for joint in joints:
            self._check_joint(joint)
        return self

    @property
    def free(self) -> tuple[str, ...]:
        """Names of the joints with a coordinate of their own, in file order."""
        joints = self.joints.values()
        return tuple(joint.name for joint in joints if joint.kind != "fixed" and joint.mimic is None)

    def error(self, problem: str, record: LinkRecord | JointRecord | None = None) -> RobotError:
        """An error that names the file and, if given, the record and its place."""
        return _error(self.source, problem, record)

    def oddities(self) -> list[str]:
        """Notes on what is possible but hardly meant."""
        notes = [
            f"warning: link {quote(link.name)} has the negative mass {link.parameters[9]:g} kg"
            for link in self.links.values()
            if link.parameters is not None and link.parameters[9] < 0.0
        ]
        notes += [
            f"warning: the position limits of joint {quote(joint.name)} leave it no motion"
            for joint in self.joints.values()
            if joint.kind != "fixed" and joint.limits.lower == joint.limits.upper
        ]
        return notes

    def _check_link(self, link: LinkRecord) -> None:
        if link.parameters is not None and not np.isfinite(link.parameters).all():
            raise self.error("the inertial parameters must be finite numbers", link)

    def _check_joint(self, joint: JointRecord) -> None:
        for end, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in self.links:
                raise self.error(f"{end} link {choices(link, self.links)}", joint)
        frames = (joint.before, joint.after)
        geometry = [joint.axis, *(part for frame in frames for part in (frame.rotation, frame.translation))]
        if not all(np.isfinite(part).all() for part in geometry):
            raise self.error("axis and placement must be finite numbers", joint)
        if joint.kind == "fixed":
            if joint.mimic is not None:
                raise self.error("a fixed joint cannot mimic another one", joint)
            return
        if not joint.axis.any():
            raise self.error("the axis is zero; a direction such as 0 0 1 is valid", joint)
        if any(math.isinf(term) for term in (joint.armature, joint.viscous, joint.coulomb, joint.offset)):
            raise self.error("armature and friction must be finite numbers", joint)
        self._check_limits(joint)

    def _check_limits(self, joint: JointRecord) -> None:
        limits = joint.limits
        if not limits.lower <= limits.upper:  # also where one is NaN
            raise self.error(
                f"the position limits [{limits.lower:g}, {limits.upper:g}] are reversed or not numbers; "
                "the lower one comes first",
                joint,
            )
        bounds = {"velocity": limits.velocity, "acceleration": limits.acceleration, "effort": limits.effort}
        for what, bound in bounds.items():
            if not bound >= 0.0:
                raise self.error(f"the {what} limit {bound:g} must not be negative", joint)


Record = TypeVar("Record", LinkRecord, JointRecord)


def _by_name(records: Sequence[Record], source: str) -> dict[str, Record]:
    named: dict[str, Record] = {}
    for record in records:
        if (first := named.setdefault(record.name, record)) is not record:
            place = f" ({first.where})" if first.where else ""
            raise _error(source, f"the name is taken by an earlier one{place}; names must differ", record)
    return named


def _error(source: str, problem: str, record: LinkRecord | JointRecord | None) -> RobotError:
    parts = [source]
    if record is not None:
        what = "joint" if isinstance(record, JointRecord) else "link"
        parts += [record.where, f"{what} {quote(record.name)}"]
    return RobotError(f"{', '.join(part for part in parts if part) or 'robot'}: {problem}")
