"""A robot with numbers: all that computes its joints' efforts, drives included.

    efforts = rigid bodies(q, qd, qdd) + motors(qdd) + friction(qd)

The rigid bodies' parameters may be any with the right base values: `physical` says whether they are those of
possible bodies, or a mere completion of base parameters in which most entries are zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import ArgumentError
from dynid.friction import Friction, armature_matrix, armature_of, friction_of
from dynid.robot import Robot
from dynid.spatial import Array, frozen, is_physical


@dataclass(frozen=True, eq=False, kw_only=True)
class DynamicModel:
    """A robot of n joints and the numbers of its bodies and drives."""

    robot: Robot
    parameters: Array  # (10 links,), in the order of robot.parameter_names
    armature: Array  # (n,), of the motors
    friction: Friction
    physical: bool = False

    def efforts(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, sliding: ArrayLike | None = None) -> Array:
        """Efforts that the motion needs, (n,) or (N, n); `sliding` as `Friction.efforts` takes it."""
        rigid = self.robot.inverse_dynamics(q, qd, qdd, self.parameters)
        motors = np.asarray(qdd, dtype=np.float64) @ armature_matrix(self.armature, self.robot.transmission)
        return rigid + motors + self.friction.efforts(qd, load=rigid, sliding=sliding)

    def as_robot(self) -> Robot:
        """The robot with these numbers in the place of its own; further friction terms have no place."""
        joints = list(self.robot.joints)
        for k, j in enumerate(self.robot.free):
            joints[j] = replace(
                joints[j],
                armature=float(self.armature[k]),
                viscous=float(self.friction.viscous[k]),
                coulomb=float(self.friction.coulomb[k]),
                offset=float(self.friction.offset[k]),
            )
        links = tuple(
            replace(link, parameters=frozen(ten))
            for link, ten in zip(self.robot.links, self.parameters.reshape(-1, 10), strict=True)
        )
        return replace(
            self.robot, joints=tuple(joints), links=links, friction_side=self.friction.side, source=""
        )


def model_of(robot: Robot, width: float = 0.0) -> DynamicModel:
    """What a robot's own file says; `width` as for `Friction`."""
    if np.isnan(robot.parameters).any():
        unknown = [link.name for link in robot.links if np.isnan(link.parameters).any()]
        raise ArgumentError(
            f"{robot.name} has no inertial parameters for {', '.join(map(repr, unknown))}: "
            "complete the robot's file, or identify it from a log"
        )
    return DynamicModel(
        robot=robot,
        parameters=robot.parameters,
        armature=armature_of(robot),
        friction=friction_of(robot, width),
        physical=all(is_physical(link.parameters) for link in robot.links),
    )
