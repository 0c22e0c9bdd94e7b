"""From the links and joints of a file to a `Robot`: one tree, fixed links lumped, joints numbered.

Readers collect `LinkRecord` and `JointRecord` and call `assemble`; what is common to all formats
(tree checks, order, lumping, locked joints, mimic joints) is done here, once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import choices, quote
from dynid.formats.records import Description, JointRecord, LinkRecord
from dynid.robot import NAN, Joint, Link, Mimic, Robot, Side
from dynid.spatial import SNAP, Array, Frame, frozen, parameter_transform, rotation_about

__all__ = ["JointRecord", "LinkRecord", "Seat", "assemble", "link_seats"]


def assemble(
    *,
    name: str,
    links: Sequence[LinkRecord],
    joints: Sequence[JointRecord],
    gravity: ArrayLike,
    transmission: ArrayLike | None = None,
    friction_side: Side = "joint",
    keep: Iterable[str] | None = None,
    notes: Sequence[str] = (),
    source: str = "",
) -> Robot:
    """The robot of the given links and joints, joints depth-first and children in file order.

    `transmission` is (dof, dof) over the joints that are neither fixed nor mimic, in the order of `joints`.
    `keep` names the joints that keep moving: all others are locked at zero, mimic joints follow theirs.
    """
    description = Description.checked(links, joints, source)
    order = _depth_first(description)
    drives = _drives(description)
    kept = _kept(description, drives, keep)
    moving = [joint for joint in order if joint.kind != "fixed" and drives[joint.name].master in kept]
    numbers = {joint.name: number for number, joint in enumerate(moving)}
    seats = _seats(order, drives, numbers)
    moving_links, link_notes = _lump(description, moving, seats)
    locked = [joint.name for joint in order if joint.kind != "fixed" and joint.name not in numbers]
    lock_notes = [f"locked: {_listed(locked)}"] if locked else []
    return Robot(
        name=name,
        joints=tuple(_joint(joint, seats[joint.parent], drives, numbers) for joint in moving),
        links=moving_links,
        gravity=_gravity(description, gravity),
        transmission=None if transmission is None else _transmission(description, transmission, numbers),
        friction_side=friction_side,
        notes=(*notes, *description.oddities(), *lock_notes, *link_notes),
        source=source,
    )


def link_seats(
    links: Sequence[LinkRecord], joints: Sequence[JointRecord], robot: Robot, source: str
) -> Mapping[str, Seat]:
    """Where each link of a file went in the robot that was assembled from it, by name."""
    description = Description.checked(links, joints, source)
    numbers = {joint.name: number for number, joint in enumerate(robot.joints)}
    if missing := [name for name in numbers if name not in description.joints]:
        raise description.error(f"robot {quote(robot.name)} has joints this file lacks: {_listed(missing)}")
    return _seats(_depth_first(description), _drives(description), numbers)


def _gravity(description: Description, gravity: ArrayLike) -> Array:
    vector = np.asarray(gravity, dtype=np.float64)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise description.error("gravity must be 3 finite numbers in m/s^2, such as 0 0 -9.81")
    return frozen(vector)


# --- the tree -----------------------------------------------------------------------------------


def _depth_first(description: Description) -> list[JointRecord]:
    """All joints, each after the joint that carries its parent link, children in file order."""
    joints = description.joints.values()
    below: dict[str, list[JointRecord]] = {link: [] for link in description.links}
    for joint in joints:
        below[joint.parent].append(joint)
    order: list[JointRecord] = []
    waiting = [joint for root in _roots(description) for joint in reversed(below[root])]
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting += reversed(below[joint.child])
    if len(order) < len(joints):
        reached = {joint.name for joint in order}
        cycle = [joint.name for joint in joints if joint.name not in reached]
        raise description.error(
            f"the joints {_listed(cycle)} form a cycle or hang on one, so that no base carries them; "
            "closed kinematic loops are not supported, a tree is valid"
        )
    return order


def _roots(description: Description) -> list[str]:
    """The link without a parent; none if all links are in cycles."""
    above: dict[str, JointRecord] = {}
    for joint in description.joints.values():
        if (other := above.setdefault(joint.child, joint)) is not joint:
            raise description.error(
                f"its child link {quote(joint.child)} is already that of joint {quote(other.name)}; closed "
                "kinematic loops are not supported, a tree is valid (mimic joints or a transmission can "
                "couple joints of different branches)",
                joint,
            )
    roots = [link for link in description.links if link not in above]
    if len(roots) > 1:
        raise description.error(
            f"{len(roots)} links have no parent: {_listed(roots)}; exactly one, the base, is valid"
        )
    return roots


@dataclass(frozen=True)
class _Drive:
    """How a joint moves: q = multiplier * q_of(master) + offset; a free joint is its own master."""

    master: str
    multiplier: float = 1.0
    offset: float = 0.0


def _drives(description: Description) -> dict[str, _Drive]:
    """What moves each joint, by name; chains of mimic joints are followed to the joint at their end."""
    joints = description.joints
    drives = {name: _Drive(name) for name, joint in joints.items() if joint.mimic is None}
    for name in joints:
        chain: dict[str, tuple[str, float, float]] = {}  # the mimic joints passed, in order
        while name not in drives:
            mimic = _checked_mimic(description, joints[name])
            if name in chain:
                raise description.error("mimic: it moves with itself", joints[name])
            chain[name] = mimic
            name = mimic[0]
        for follower, (leader, ratio, shift) in reversed(chain.items()):
            lead = drives[leader]
            drives[follower] = _Drive(lead.master, ratio * lead.multiplier, ratio * lead.offset + shift)
    return drives


def _checked_mimic(description: Description, joint: JointRecord) -> tuple[str, float, float]:
    assert joint.mimic is not None
    leader, ratio, shift = joint.mimic
    if not (math.isfinite(ratio) and math.isfinite(shift)):
        raise description.error("multiplier and offset of a mimic joint must be finite numbers", joint)
    if leader not in description.joints:
        raise description.error(f"mimic: joint {choices(leader, description.free)}", joint)
    if description.joints[leader].kind == "fixed":
        raise description.error(f"mimic: {quote(leader)} is fixed, a joint that moves is needed", joint)
    return leader, ratio, shift


def _kept(
    description: Description, drives: Mapping[str, _Drive], keep: Iterable[str] | None
) -> frozenset[str]:
    """Names of the free joints that move."""
    wanted = description.free if keep is None else tuple(keep)
    free = frozenset(description.free)
    for name in wanted:
        if name in free:
            continue
        why = ""
        if name in drives:
            master = drives[name].master
            why = "is fixed; " if master == name else f"is a mimic joint and moves with {quote(master)}; "
        raise description.error(f"joints to keep: {why}{choices(name, description.free)}")
    repeated = [name for name, times in Counter(wanted).items() if times > 1]
    if repeated:
        raise description.error(f"joints to keep: {_listed(repeated)} named more than once")
    if not wanted:
        raise description.error("no joint moves; at least one is needed that is neither fixed nor mimic")
    return frozenset(wanted)


# --- fixed and locked joints --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Seat:
    """Where a link of the file went: into which moving link (-1: the base), and with which pose there."""

    carrier: int
    pose: Frame


def _seats(
    order: Sequence[JointRecord], drives: Mapping[str, _Drive], numbers: Mapping[str, int]
) -> dict[str, Seat]:
    """The seat of every link; moving links sit in themselves, `numbers` counts the joints that move."""
    root = order[0].parent
    seats = {root: Seat(-1, Frame())}
    for joint in order:
        if joint.name in numbers:
            seats[joint.child] = Seat(numbers[joint.name], Frame())
        else:
            seat = seats[joint.parent]
            still = _motion(joint, drives[joint.name].offset)
            seats[joint.child] = Seat(seat.carrier, seat.pose @ joint.before @ still @ joint.after)
    return seats


def _motion(joint: JointRecord, q: float) -> Frame:
    """The motion of a joint by q, in the joint's frame."""
    if joint.kind == "fixed":
        return Frame()
    axis = _unit(joint.axis)
    return Frame(None, q * axis) if joint.kind == "prismatic" else Frame(rotation_about(axis, q))


def _unit(axis: Array) -> Array:
    """A vector made one long, coordinate axes exactly so."""
    u = axis / np.abs(axis).max()  # first, so that no square under- or overflows
    u[np.abs(u) < SNAP] = 0.0
    return frozen(u / np.linalg.norm(u))


def _joint(
    record: JointRecord, seat: Seat, drives: Mapping[str, _Drive], numbers: Mapping[str, int]
) -> Joint:
    """A moving joint, placed in the moving link that carries it."""
    assert record.kind != "fixed"
    drive = drives[record.name]
    mimic = None if record.mimic is None else Mimic(numbers[drive.master], drive.multiplier, drive.offset)
    return Joint(
        name=record.name,
        kind=record.kind,
        parent=seat.carrier,
        before=seat.pose @ record.before,
        axis=_unit(record.axis),
        after=record.after,
        limits=record.limits,
        mimic=mimic,
        armature=record.armature,
        viscous=record.viscous,
        coulomb=record.coulomb,
        offset=record.offset,
    )


def _lump(
    description: Description, moving: Sequence[JointRecord], seats: Mapping[str, Seat]
) -> tuple[tuple[Link, ...], list[str]]:
    """The moving links with all that is fixed to them, and notes on what the file leaves open."""
    aboard: dict[int, list[LinkRecord]] = {number: [] for number in range(-1, len(moving))}
    for name, seat in seats.items():
        aboard[seat.carrier].append(description.links[name])
    root, *others = aboard.pop(-1)
    still = [link.name for link in (root, *others) if link is not root or link.parameters is not None]
    notes = [f"fixed to the base, inertia without effect: {_listed(still)}"] if still else []
    links: list[Link] = []
    for joint, members in zip(moving, aboard.values(), strict=True):
        parameters = np.zeros(10)
        missing = [link.name for link in members if link.parameters is None]
        for link in members:
            if link.parameters is not None:
                parameters += parameter_transform(seats[link.name].pose) @ link.parameters
        if len(missing) == len(members):
            parameters[:] = NAN
            notes.append(f"link {quote(joint.child)} has no inertial parameters")
        elif missing:
            notes.append(f"link {quote(joint.child)}: without inertia, taken as massless: {_listed(missing)}")
        lumped = tuple(link.name for link in members if link.name != joint.child)
        links.append(Link(name=joint.child, parameters=frozen(parameters), lumped=lumped))
    return tuple(links), notes


# --- the transmission ---------------------------------------------------------------------------


def _transmission(description: Description, transmission: ArrayLike, numbers: Mapping[str, int]) -> Array:
    """The transmission of the free joints that move, (dof, dof), from file order to the robot's."""
    free = description.free
    n = len(free)
    T = np.asarray(transmission, dtype=np.float64)
    if T.shape != (n, n) or not np.isfinite(T).all():
        raise description.error(f"the transmission must be {n} x {n} finite numbers: one row per free joint")
    if np.linalg.matrix_rank(T) < n:
        raise description.error(
            "the transmission is singular; motor and joint rates must determine each other"
        )
    kept = sorted((k for k in range(n) if free[k] in numbers), key=lambda k: numbers[free[k]])
    locked = [k for k in range(n) if free[k] not in numbers]
    if T[np.ix_(kept, locked)].any() or T[np.ix_(locked, kept)].any():
        raise description.error(
            "the transmission couples joints to keep with joints to lock; keep or lock coupled ones together"
        )
    return frozen(T[np.ix_(kept, kept)])


def _listed(names: Sequence[str], limit: int = 20) -> str:
    """Names for one line of a message."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(quote(name, 40) for name in names[:limit]) + more
