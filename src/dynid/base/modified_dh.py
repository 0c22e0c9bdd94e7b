"""Serial robots in modified (Khalil) Denavit-Hartenberg frames, in which the closed forms are written.

Frame j sits on the axis of joint j, z along it, and moves with link j. From frame j - 1 it is reached by

    Rx(alpha) Tx(d) Rz(theta + q) Tz(r)         (a slide adds q to r instead)

so x of frame j - 1 is the common perpendicular of axes j - 1 and j. The robot's own link frame is kept
where it is such a frame. Otherwise it is turned about and shifted along its axis as little as needed:

* oblique or perpendicular axes leave two directions along their common perpendicular, parallel axes two
  from one to the other: x takes the one nearer to where it was, so d may be negative;
* the origin is the foot of the common perpendicular, which is the intersection where there is one; for
  parallel axes the origin stays, for coaxial ones all of the frame does.

A link frame whose z is not the joint's axis is replaced by one on the joint, and the base is treated
like a link with an axis along its z.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import atan2, cos, floor, hypot, log10, pi, sin

import numpy as np

from dynid.base.geometry import LENGTH_DIGITS, longest_offset
from dynid.errors import RobotError
from dynid.robot import Joint, Robot
from dynid.spatial import (
    SNAP,
    Array,
    Frame,
    frozen,
    parameter_transform,
    rotation_from_z,
    rotation_x,
    rotation_z,
)

Z_AXIS = frozen((0, 0, 1))


@dataclass(frozen=True)
class Row:
    """One row of the table: the place of frame j in frame j - 1; angles in rad, lengths in m."""

    prismatic: bool
    alpha: float
    d: float
    theta: float  # of a revolute joint at q = 0
    r: float  # of a slide at q = 0

    @property
    def sigma(self) -> int:
        return int(self.prismatic)

    @property
    def alpha_cos_sin(self) -> tuple[float, float]:
        return cos_sin(self.alpha)

    @property
    def theta_cos_sin(self) -> tuple[float, float]:
        return cos_sin(self.theta)

    def frame(self, q: float = 0.0) -> Frame:
        """Frame j seen from frame j - 1 when the joint is at q."""
        turn, slide = (0.0, q) if self.prismatic else (q, 0.0)
        return Frame(rotation_x(self.alpha), (self.d, 0, 0)) @ along_z(self.theta + turn, self.r + slide)


@dataclass(frozen=True, eq=False)
class ModifiedDH:
    """The table, and where the robot's own frames are in the frames of the table."""

    rows: tuple[Row, ...]
    links: tuple[Frame, ...]  # link frame j of the robot, seen from frame j of the table: constant
    base: Frame  # the robot's base, seen from frame 0
    gravity: Array  # acceleration of gravity in frame 0, (3,)

    @property
    def own_frames(self) -> bool:
        """Whether every frame of the table is the robot's link frame."""
        return all(link.is_identity for link in self.links)

    @cached_property
    def parameter_matrix(self) -> Array:
        """Matrix from the robot's parameters to those in the frames of the table, (10 links, 10 links)."""
        size = 10 * len(self.links)
        matrix = np.zeros((size, size))
        for j, link in enumerate(self.links):
            block = slice(10 * j, 10 * j + 10)
            matrix[block, block] = parameter_transform(link)
        return matrix

    @cached_property
    def poses(self) -> tuple[Frame, ...]:
        """The frames 1, 2, ... of the table seen from frame 0 at q = 0."""
        pose = Frame()
        found: list[Frame] = []
        for row in self.rows:
            pose = pose @ row.frame()
            found.append(pose)
        return tuple(found)


def modified_dh(robot: Robot) -> ModifiedDH:
    """The modified Denavit-Hartenberg table of a serial robot."""
    check_serial(robot)
    longest = longest_offset(robot)
    links = [Frame()]  # the carrier of each joint and its own frame, seen from the frame of the table
    poses = [Frame()]  # of each frame in the one before, at q = 0
    for joint in robot.joints:
        on_joint = frame_on_joint(joint)
        pose = links[-1] @ joint.before @ on_joint
        aim = toward(pose, longest)
        if not aim.is_identity:
            links[-1] = aim.inverse() @ links[-1]
            poses[-1] = poses[-1] @ aim
            pose = aim.inverse() @ pose
        poses.append(pose)
        links.append(Frame() if on_joint is joint.after else on_joint.inverse() @ joint.after)
    rows = [
        table_row(pose, joint.prismatic, longest) for pose, joint in zip(poses[1:], robot.joints, strict=True)
    ]
    return ModifiedDH(tuple(rows), tuple(links[1:]), links[0], frozen(links[0].rotation @ robot.gravity))


def in_modified_frames(robot: Robot, dh: ModifiedDH) -> Robot:
    """The same robot, its links' frames and parameters those of the table."""
    joints = [
        replace(joint, before=row.frame(), axis=Z_AXIS, after=Frame())
        for joint, row in zip(robot.joints, dh.rows, strict=True)
    ]
    links = [
        replace(link, parameters=frozen(parameter_transform(frame) @ link.parameters))
        for link, frame in zip(robot.links, dh.links, strict=True)
    ]
    return replace(robot, joints=tuple(joints), links=tuple(links), gravity=dh.gravity)


def check_serial(robot: Robot) -> None:
    """Refuse branches and mimic joints, for which there is no table."""
    for number, joint in enumerate(robot.joints):
        if joint.mimic is not None:
            raise RobotError(
                f"{robot.name}: joint {joint.name!r} mimics another joint; modified Denavit-Hartenberg "
                "frames need a serial robot whose joints all move freely"
            )
        if joint.parent != number - 1:
            raise RobotError(
                f"{robot.name}: joint {joint.name!r} starts a branch; modified Denavit-Hartenberg frames "
                "need a serial robot, each joint carried by the link before"
            )


# --- frames -----------------------------------------------------------------------------------------


def frame_on_joint(joint: Joint) -> Frame:
    """A frame of the link, seen from the joint's frame at q = 0: z along the axis, the origin on it."""
    along = joint.after.rotation.T @ joint.axis
    off_axis = np.cross(joint.axis, joint.after.translation)
    if np.array_equal(along, Z_AXIS) and (joint.prismatic or not off_axis.any()):
        return joint.after
    return Frame(rotation_from_z(joint.axis))


def toward(pose: Frame, longest: float) -> Frame:
    """How a frame must turn about and shift along its z so that x is perpendicular to the next axis too.

    The next axis is z of the frame at `pose`.
    """
    z, p = pose.rotation[:, 2], pose.translation
    across = hypot(z[0], z[1])
    if across > SNAP:
        turn = atan2(z[0], -z[1])
        shift = (p[2] - z[2] * (p @ z)) / across**2
    else:
        apart = hypot(p[0], p[1]) > 10**-LENGTH_DIGITS * longest
        turn = atan2(p[1], p[0]) if apart else 0.0
        shift = 0.0
    return along_z(cleared(half_turn_less(turn), 1.0), cleared(shift, longest))


def half_turn_less(angle: float) -> float:
    """The angle plus or minus half a turn, if that makes it smaller."""
    if angle > pi / 2 + SNAP:
        return angle - pi
    return angle + pi if angle < -pi / 2 + SNAP else angle


def along_z(angle: float, distance: float) -> Frame:
    """A turn about z and a shift along it."""
    return Frame(rotation_z(angle), (0, 0, distance))


def table_row(pose: Frame, prismatic: bool, longest: float) -> Row:
    """The row of a pose that has the form Rx Tx Rz Tz."""
    R, p = pose.rotation, pose.translation
    places = LENGTH_DIGITS - 1 - floor(log10(longest)) if longest > 0.0 else 0
    return Row(
        prismatic=prismatic,
        alpha=atan2(0.0 - R[1, 2], R[2, 2]),  # never -0.0, of which atan2 would make -0 or -pi
        d=round(float(p[0]), places),
        theta=atan2(0.0 - R[0, 1], R[0, 0]),
        r=round(float(p @ R[:, 2]), places),
    )


# --- numbers ----------------------------------------------------------------------------------------


def cleared(value: float, scale: float) -> float:
    """Zero if the value is rounding beside `scale`."""
    return 0.0 if abs(value) <= 10**-LENGTH_DIGITS * scale else float(value)


def cos_sin(angle: float) -> tuple[float, float]:
    """Cosine and sine, exact at right angles."""
    quarters = angle / (pi / 2)
    whole = round(quarters)
    if abs(quarters - whole) < SNAP:
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[whole % 4]
    return cos(angle), sin(angle)
