"""The efforts a motion will need, as far as a prior model knows them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dynid import equations
from dynid.excite.intervals import Interval
from dynid.excite.recorded import Recorded
from dynid.friction import armature_matrix
from dynid.mechanism import body_parameters, mechanism
from dynid.model import DynamicModel, model_of
from dynid.program import Scalar
from dynid.robot import Robot
from dynid.spatial import Array


@dataclass(frozen=True, eq=False)
class Effort:
    """A prior model, whose rigid bodies and motors are recorded and whose friction is bounded."""

    model: DynamicModel

    @cached_property
    def recorded(self) -> Recorded:
        """Efforts of rigid bodies and motors."""
        model = self.model
        mech = mechanism(model.robot)
        body = (body_parameters(mech) @ model.parameters).tolist()
        motors = armature_matrix(model.armature, model.robot.transmission).tolist()

        def trace(q: list[Scalar], qd: list[Scalar], qdd: list[Scalar]) -> list[Scalar]:
            efforts = equations.inverse_dynamics(mech, q, qd, qdd, body)
            for j, row in enumerate(motors):
                for share, acceleration in zip(row, qdd, strict=True):
                    efforts[j] = efforts[j] + share * acceleration
            return efforts

        return Recorded(model.robot.dof, 3, trace)

    def friction(self, speeds: Array) -> Array:
        """What friction can add to the size of each joint's effort up to these speeds, (N, n)."""
        R = np.abs(self.model.friction.rates)
        rubbing = speeds @ R.T
        total = np.zeros_like(rubbing)
        for letter, constant in self.model.friction.constants.items():
            growth = {"Fv": rubbing, "Fa": rubbing, "Fr": np.sqrt(rubbing)}.get(letter, np.ones_like(rubbing))
            total += np.abs(constant) * growth
        return total @ R

    def enclosed(self, rigid: Interval, velocity: Interval) -> Interval:
        """Bounds of the whole effort from those of `recorded` and of the velocity, (M, n)."""
        friction = self.friction(velocity.size)
        return Interval(rigid.lower - friction, rigid.upper + friction)


def prior_effort(robot: Robot, limits: Array) -> tuple[Effort | None, tuple[str, ...]]:
    """The efforts by the robot's own parameters if they and limits (n,) are known; else None, and why."""
    if not np.isfinite(limits).any():
        return None, ()
    if np.isnan(robot.parameters).any():
        return None, ("effort limits are not looked at: the robot's file has no inertial parameters",)
    return Effort(model_of(robot)), ()
