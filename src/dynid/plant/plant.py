"""The robot with its drives: rigid bodies, motor inertia, friction, and gears that may be elastic.

The equations of motion are H(p) p'' + h(p, p') = (efforts of the motors, 0). Motors are counted in the
coordinates of the joints, theta = T theta_motor, with inertia J = T^-T diag(Ia) T^-1:

    rigid gears      p = q             H = M + J         h = c + friction
    elastic gears    p = (theta, q)    H = diag(J, M)    h = (s, c - s), friction added to the motors' part
                                                         or to the joints', whichever the robot says

where M and c are MuJoCo's and s = k (theta - q) + d (theta' - q') is the effort through the gears. Either
way the motors are the first n coordinates and the joints the last n.
"""

from __future__ import annotations

import numpy as np

from dynid.errors import ArgumentError, RobotError, quote
from dynid.friction import Friction, armature_matrix, armature_of
from dynid.plant.model import Bodies
from dynid.robot import Robot
from dynid.spatial import Array, frozen

GEAR_DAMPING = 0.02  # of critical, of each motor alone on its spring


class Plant:
    """A robot of n joints and its drives; gears are elastic if their stiffness, (n,), is given."""

    def __init__(self, robot: Robot, friction: Friction, gear_stiffness: Array | None = None) -> None:
        self.dof = robot.dof
        self.bodies = Bodies(robot)
        self.friction = friction
        self.motors = armature_matrix(armature_of(robot), robot.transmission)
        self.elastic = gear_stiffness is not None
        size = 2 * self.dof if self.elastic else self.dof
        self.stiffness: Array = np.zeros((size, size))  # K with h changing by K dp, about
        self._gear_damping: Array = np.zeros((size, size))
        if gear_stiffness is not None:
            stiffness = _checked(robot, gear_stiffness, self.motors)
            damping = 2.0 * GEAR_DAMPING * np.sqrt(stiffness * np.diag(self.motors))
            pull = np.array([[1.0, -1.0], [-1.0, 1.0]])
            self.stiffness[:] = np.kron(pull, np.diag(stiffness))
            self._gear_damping[:] = np.kron(pull, np.diag(damping))
        rubbing = self.dof if self.elastic and friction.side == "joint" else 0
        self._rubbing = slice(rubbing, rubbing + self.dof)

    def motor_part(self, x: Array) -> Array:
        """What belongs to the motors in an array over all coordinates."""
        return x[: self.dof]

    def joint_part(self, x: Array) -> Array:
        """What belongs to the joints in an array over all coordinates."""
        return x[-self.dof :]

    def inertia_and_bias(self, p: Array, v: Array) -> tuple[Array, Array]:
        """H(p) and h(p, v), over all coordinates."""
        M, c = self.bodies.inertia_and_bias(self.joint_part(p), self.joint_part(v))
        H = np.zeros_like(self.stiffness)
        H[: self.dof, : self.dof] = self.motors
        H[-self.dof :, -self.dof :] += M
        h = self.stiffness @ p + self._gear_damping @ v
        h[-self.dof :] += c
        h[self._rubbing] += self.friction.efforts(v[self._rubbing])
        return H, h

    def damping(self, v: Array) -> Array:
        """D with h(p, v) changing by about D dv: gears, and friction."""
        D = self._gear_damping.copy()
        D[self._rubbing, self._rubbing] += self.friction.damping(v[self._rubbing])
        return D

    def at_rest(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array]:
        """Coordinates and their rates for joints at q that move on with qd and qdd, gears loaded for that."""
        if not self.elastic:
            return q.copy(), qd.copy()
        M, c = self.bodies.inertia_and_bias(q, qd)
        stiffness = np.diag(self.stiffness)[: self.dof]
        return np.concatenate([q + (M @ qdd + c) / stiffness, q]), np.concatenate([qd, qd])


def _checked(robot: Robot, stiffness: Array, motors: Array) -> Array:
    if stiffness.shape != (robot.dof,) or not np.all(np.isfinite(stiffness) & (stiffness > 0.0)):
        raise ArgumentError(
            f"gear stiffness: {robot.name} needs {robot.dof} positive numbers (Nm/rad or N/m), one per joint"
        )
    light = [name for name, Ia in zip(robot.joint_names, np.diag(motors), strict=True) if not Ia > 0.0]
    if light:
        raise RobotError(
            f"{robot.name}: elastic gears need motors with an inertia, but Ia is zero or missing for "
            f"{', '.join(quote(name, 40) for name in light)}: give it, or keep rigid gears"
        )
    return frozen(stiffness)
