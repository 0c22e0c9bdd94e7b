"""The geometry on which structure is decided: right angles squared up, exact where it is rational.

Files write 1.5708 for a right angle and 0.8660254 for a sine. A rotation within `RIGHT_ANGLE` of one
with right angles is taken to be that one, and the result says so. If all rotations, axes and lengths
are then rational, integers and fractions describe the robot and no decision needs a tolerance;
otherwise floats do, in units in which the longest offset and gravity are one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, log10

import numpy as np

from dynid.base.rational import Number, Numbers, common_unit, exact_array
from dynid.robot import Joint, Robot
from dynid.spatial import SNAP, Array, Frame, frozen

RIGHT_ANGLE = 1e-5  # rad
LENGTH_DIGITS = 12  # offsets are decimals with this many digits beside the longest one
LARGEST_DENOMINATOR = 1000  # of the entries of a rational rotation


@dataclass(frozen=True, eq=False)
class Step:
    """From the link that carries a joint to the link the joint carries, at q = 0."""

    parent: int
    prismatic: bool
    pose: Numbers  # (4, 4): the link's frame in its parent's
    axis: Numbers  # (6,): angular and linear velocity of the link per unit of q, in its own frame


@dataclass(frozen=True, eq=False)
class Geometry:
    """A robot's steps in units of `length` (m), its gravity in units of `acceleration` (m/s^2)."""

    steps: tuple[Step, ...]
    gravity: Numbers  # (3,)
    length: Number | float
    acceleration: Number | float
    exact: bool


def squared_up(robot: Robot) -> tuple[Robot, tuple[str, ...]]:
    """The robot with nearly right angles made right, and a note if that changed anything."""
    joints = [
        replace(
            joint,
            before=square_up(joint.before),
            axis=square_up_axis(joint.axis),
            after=square_up(joint.after),
        )
        for joint in robot.joints
    ]
    changed = [new.name for new, old in zip(joints, robot.joints, strict=True) if differs(new, old)]
    if not changed:
        return robot, ()
    note = f"angles within {RIGHT_ANGLE:g} rad of right ones are taken as right: joints {', '.join(changed)}"
    return replace(robot, joints=tuple(joints)), (note,)


def geometry_of(robot: Robot) -> Geometry:
    """The robot's geometry in fractions if it is rational, in floats otherwise."""
    longest = longest_offset(robot)
    found = [exact_joint(joint, longest) for joint in robot.joints]
    exact = [poses for poses in found if poses is not None]
    return exact_geometry(robot, exact) if len(exact) == len(found) else floating_geometry(robot)


def longest_offset(robot: Robot) -> float:
    """The largest coordinate of any offset between frames, m."""
    offsets = [frame.translation for joint in robot.joints for frame in (joint.before, joint.after)]
    return float(np.max(np.abs(offsets), initial=0.0))


def exact_geometry(robot: Robot, joints: list[tuple[Numbers, Numbers, Numbers]]) -> Geometry:
    """Geometry in integers and fractions: lengths and gravity are whole numbers of their units."""
    steps = [step(j, *found) for j, found in zip(robot.joints, joints, strict=True)]
    offsets: list[Number] = [x for s in steps for x in s.pose[:3, 3]]
    offsets += [x for s in steps if not s.prismatic for x in s.axis[3:]]
    length = common_unit(offsets)
    gravity = exact_array([Fraction(repr(float(x))) for x in robot.gravity])
    acceleration = common_unit(gravity)
    scaled = exact_array(gravity / acceleration)
    return Geometry(tuple(in_units(s, length) for s in steps), scaled, length, acceleration, exact=True)


def floating_geometry(robot: Robot) -> Geometry:
    """Geometry in floats, with the longest offset and gravity as units."""
    length = longest_offset(robot) or 1.0
    acceleration = float(np.linalg.norm(robot.gravity)) or 1.0
    steps = [
        in_units(step(joint, homogeneous(joint.before), joint.axis, homogeneous(joint.after)), length)
        for joint in robot.joints
    ]
    return Geometry(tuple(steps), robot.gravity / acceleration, length, acceleration, exact=False)


def step(joint: Joint, before: Numbers, axis: Numbers, after: Numbers) -> Step:
    """The step of a joint from the two constant poses around its motion; the same for all arithmetic."""
    turn, shift = after[:3, :3].T, after[:3, 3]
    zero = axis * 0
    if joint.prismatic:
        twist = np.concatenate([zero, turn @ axis])
    else:
        twist = np.concatenate([turn @ axis, turn @ np.cross(axis, shift)])
    return Step(joint.parent, joint.prismatic, before @ after, twist)


def in_units(s: Step, length: Number | float) -> Step:
    """The step with its lengths counted in the unit `length`."""
    pose, axis = s.pose.copy(), s.axis.copy()
    pose[:3, 3] = pose[:3, 3] / length
    if not s.prismatic:
        axis[3:] = axis[3:] / length
    if pose.dtype == object:
        pose, axis = exact_array(pose), exact_array(axis)
    return Step(s.parent, s.prismatic, pose, axis)


# --- right angles -----------------------------------------------------------------------------------


def square_up(frame: Frame) -> Frame:
    """The frame with a nearly right-angled rotation made exactly so.

    This covers right angles and any one oblique angle among them. A rotation that cannot be completed
    to an orthogonal matrix once its small entries are cleared is oblique throughout and stays. With the
    rotation, an offset loses the small components that the same angle has given it.
    """
    R = np.array(frame.rotation)
    R[np.abs(R) < RIGHT_ANGLE] = 0.0
    lonely = (np.count_nonzero(R, axis=1, keepdims=True) == 1) | (
        np.count_nonzero(R, axis=0, keepdims=True) == 1
    )
    R[lonely] = np.sign(R[lonely])
    if np.array_equal(R, frame.rotation):
        return frame
    square = R / np.linalg.norm(R, axis=0)
    if np.abs(square.T @ square - np.eye(3)).max() > SNAP:
        return frame
    shift = frame.translation
    if np.abs(square - frame.rotation).max() > SNAP:
        shift = np.where(np.abs(shift) < RIGHT_ANGLE * np.linalg.norm(shift), 0.0, shift)
    return Frame(square, shift)


def square_up_axis(axis: Array) -> Array:
    """The unit vector along `axis`, in a coordinate plane or along a coordinate axis if it nearly is."""
    unit = np.where(np.abs(axis) < RIGHT_ANGLE, 0.0, axis)
    return axis if np.array_equal(unit, axis) else frozen(unit / np.linalg.norm(unit))


def differs(new: Joint, old: Joint) -> bool:
    """Whether squaring up changed more than rounding."""
    pairs = ((new.before.rotation, old.before.rotation), (new.after.rotation, old.after.rotation))
    return any(np.abs(a - b).max() > SNAP for a, b in (*pairs, (new.axis, old.axis)))


# --- from floats to fractions -----------------------------------------------------------------------


def exact_joint(joint: Joint, longest: float) -> tuple[Numbers, Numbers, Numbers] | None:
    """The joint's poses (4, 4) and axis (3,) in fractions, or None if they are not rational."""
    direction = [simple_fraction(x) for x in joint.axis]
    before, after = (exact_pose(frame, longest) for frame in (joint.before, joint.after))
    if before is None or after is None or any(x is None for x in direction):
        return None
    axis = exact_array(direction)
    return (before, axis, after) if axis @ axis == 1 else None


def exact_pose(frame: Frame, longest: float) -> Numbers | None:
    """The frame as a (4, 4) matrix of fractions, or None if its rotation is not rational."""
    entries = [[simple_fraction(x) for x in row] for row in frame.rotation]
    if any(x is None for row in entries for x in row):
        return None
    rotation = exact_array(entries)
    if np.any(rotation @ rotation.T != np.eye(3, dtype=int)):
        return None
    pose = exact_array(np.eye(4, dtype=int).tolist())
    pose[:3, :3] = rotation
    pose[:3, 3] = decimals(frame.translation, longest)
    return pose


def simple_fraction(value: float) -> Fraction | None:
    """The fraction with a small denominator that `value` is, up to rounding, if there is one."""
    near = Fraction(float(value)).limit_denominator(LARGEST_DENOMINATOR)
    return near if abs(float(near) - value) < 1e-14 else None


def decimals(values: Iterable[float], longest: float) -> Numbers:
    """The decimals that were written in the file: rounding of a reader's sums is far below them."""
    places = LENGTH_DIGITS - 1 - floor(log10(longest)) if longest > 0.0 else 0
    return exact_array([round(Fraction(repr(float(x))), places) for x in values])


def homogeneous(frame: Frame) -> Array:
    """The frame as a (4, 4) matrix."""
    pose = np.eye(4)
    pose[:3, :3] = frame.rotation
    pose[:3, 3] = frame.translation
    return pose
