"""Parameters that stay arguments of the generated code: a payload, or the variables of a robot's file.

Whatever they are, the parameters of the model are `given + columns @ late`, with `late` the argument.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from dynid.errors import ArgumentError
from dynid.model import DynamicModel
from dynid.robot import Robot
from dynid.spatial import PARAMETER_LETTERS, Array, frozen


@dataclass(frozen=True, eq=False)
class Runtime:
    """One more argument `stem` of `len(names)` numbers, on which bodies and motors depend linearly."""

    stem: str = ""
    names: tuple[str, ...] = ()
    defaults: Array = field(default_factory=lambda: frozen(()))  # (k,), what the numbers are in the model
    slopes: Array = field(default_factory=lambda: frozen(np.zeros((0, 0))))  # (10 links + n, k)
    purpose: str = ""

    @property
    def inputs(self) -> tuple[tuple[str, int], ...]:
        return ((self.stem, len(self.names)),) if self.names else ()

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of the functions that take the argument."""
        return ("inverse_dynamics", "inertia_gravity", "velocity_torque") if self.names else ()

    def columns(self, model: DynamicModel, armature: bool) -> Array:
        """The model's parameters, (p,) or (p, 1 + k): known numbers, then the share of each argument."""
        known = np.concatenate([model.parameters, model.armature])
        rows = len(known) if armature else len(model.parameters)
        if not self.names:
            return known[:rows]
        known = known - self.slopes @ self.defaults
        rounding = 1e-15 * (np.abs(self.slopes) @ np.abs(self.defaults))
        known = np.where(np.abs(known) <= rounding, 0.0, known)
        return np.column_stack([known, self.slopes])[:rows]

    def model_with(self, model: DynamicModel, late: Array) -> DynamicModel:
        """The model when the argument has the values `late`."""
        if not self.names:
            return model
        change = self.slopes @ (late - self.defaults)
        bodies = len(model.parameters)
        return replace(
            model,
            parameters=frozen(model.parameters + change[:bodies]),
            armature=frozen(model.armature + change[bodies:]),
        )

    def trials(self) -> list[Array]:
        """Values to try: those of the model, and others."""
        if not self.names:
            return [self.defaults]
        rng = np.random.default_rng(0)
        return [self.defaults, self.defaults + rng.uniform(0.1, 1.0, len(self.names))]

    @cached_property
    def is_payload(self) -> bool:
        return self.stem == "load"


FIXED = Runtime()


def payload(robot: Robot) -> Runtime:
    """A load that the last link carries, about and in that link's frame, in addition to what it has."""
    slopes = np.zeros((10 * len(robot.links) + robot.dof, 10))
    slopes[10 * (len(robot.links) - 1) : 10 * len(robot.links)] = np.eye(10)
    purpose = (
        "parameters of a load fixed to the last link, about and in that link's frame: "
        f"{' '.join(PARAMETER_LETTERS)} (zeros: no load)"
    )
    return Runtime("load", PARAMETER_LETTERS, frozen(np.zeros(10)), frozen(slopes), purpose)


def both(first: Runtime, second: Runtime) -> Runtime:
    """The one that has arguments; both at once are not on offer."""
    if first.names and second.names:
        raise ArgumentError("payload and variables cannot both stay arguments; choose one of them")
    return first if first.names else second
