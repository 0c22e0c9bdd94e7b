"""A robot in the frames the equations like best: every joint moves about or along its own z axis.

The frame of body j sits on joint j, its z axis along the joint's axis, and moves with link j. Where the
robot's own link frame is another one (an oblique URDF axis, distal Denavit-Hartenberg frames), the link
frame is carried along as a constant `Frame` in the body, and parameters are converted by one constant
matrix. Nothing is lost: sliding the choice of frames changes the formulas, never the torques.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.robot import Robot
from dynid.spatial import (
    Array,
    Frame,
    parameter_transform,
    pseudo_inertia,
    rotation_from_z,
)

# Parameters of a body as the equations use them: mass, first moment, second moments J = integral r r' dm.
BODY_LETTERS = ("m", "hx", "hy", "hz", "Jxx", "Jxy", "Jyy", "Jxz", "Jyz", "Jzz")
_J_INDEX = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))


@dataclass(frozen=True, eq=False)
class Body:
    """One moving body. In its parent's frame its joint sits at `placement`, before the joint moves."""

    parent: int  # -1 is the base
    prismatic: bool
    placement: Frame
    link: Frame  # the robot's link frame, seen from the body's frame
    coordinate: int  # number of the free joint it moves with
    multiplier: float  # joint variable = multiplier * q[coordinate] + offset
    offset: float


@dataclass(frozen=True, eq=False)
class Mechanism:
    """All bodies, parents first, and the acceleration of gravity in the frame of the base."""

    bodies: tuple[Body, ...]
    gravity: tuple[float, float, float]
    dof: int

    def path(self, j: int) -> list[int]:
        """Bodies from j to the base, j first."""
        found: list[int] = []
        while j >= 0:
            found.append(j)
            j = self.bodies[j].parent
        return found


def mechanism(robot: Robot) -> Mechanism:
    """The bodies of a robot."""
    free = robot.free
    bodies: list[Body] = []
    link_in_body: list[Frame] = []
    for number, joint in enumerate(robot.joints):
        axes = Frame(rotation_from_z(joint.axis))
        carrier = link_in_body[joint.parent] if joint.parent >= 0 else Frame()
        link_in_body.append(axes.inverse() @ joint.after)
        mimic = joint.mimic
        bodies.append(
            Body(
                parent=joint.parent,
                prismatic=joint.prismatic,
                placement=carrier @ joint.before @ axes,
                link=link_in_body[number],
                coordinate=free.index(mimic.joint if mimic else number),
                multiplier=mimic.multiplier if mimic else 1.0,
                offset=mimic.offset if mimic else 0.0,
            )
        )
    x, y, z = (float(g) for g in robot.gravity)
    return Mechanism(tuple(bodies), (x, y, z), robot.dof)


def body_parameters(mech: Mechanism) -> Array:
    """Matrix from a robot's standard parameters to those of `BODY_LETTERS`, (10 bodies, 10 bodies)."""
    standard_to_body = np.zeros((10, 10))
    for k in range(10):
        S = pseudo_inertia(np.eye(10)[k])
        standard_to_body[:, k] = [S[3, 3], *S[:3, 3], *(S[i, j] for i, j in _J_INDEX)]
    size = 10 * len(mech.bodies)
    matrix = np.zeros((size, size))
    for j, body in enumerate(mech.bodies):
        block = slice(10 * j, 10 * j + 10)
        matrix[block, block] = standard_to_body @ parameter_transform(body.link)
    return matrix
