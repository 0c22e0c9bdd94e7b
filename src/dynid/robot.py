"""The robot as immutable data: a tree of moving links, each carried by one joint.

Link j is carried by joint j. The pose of its frame in the frame of the link that carries the joint is

    before @ motion(axis, q) @ after

with `before` and `after` constant and the motion a rotation about, or a slide along, the unit vector
`axis` through the origin of the joint's frame. URDF, MJCF and modified Denavit-Hartenberg frames have
no `after`; standard (distal) ones do.

A mimic joint has a link and inertial parameters of its own but no coordinate: it moves with another
joint. So `dof` counts the joints that are free, `len(robot.joints)` the links that move.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import RobotError, choices
from dynid.spatial import PARAMETER_LETTERS, Array, Frame, frozen

if TYPE_CHECKING:
    from dynid.dynamics import Dynamics

JointKind = Literal["revolute", "continuous", "prismatic"]
Side = Literal["joint", "motor"]

NAN = float("nan")
INFINITY = float("inf")


@dataclass(frozen=True)
class Limits:
    """Bounds of a joint in rad or m, s and N or Nm; infinite where the file gives none."""

    lower: float = -INFINITY
    upper: float = INFINITY
    velocity: float = INFINITY
    acceleration: float = INFINITY
    effort: float = INFINITY


@dataclass(frozen=True)
class Mimic:
    """q = multiplier * q_of(joint) + offset, with `joint` the number of a free joint."""

    joint: int
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Joint:
    """A joint, the place where it sits, and what its drive adds; NaN where the file says nothing."""

    name: str
    kind: JointKind
    parent: int  # number of the link that carries the joint; -1 is the base
    before: Frame = field(default_factory=Frame)
    axis: Array = field(default_factory=lambda: frozen((0, 0, 1)))
    after: Frame = field(default_factory=Frame)
    limits: Limits = field(default_factory=Limits)
    mimic: Mimic | None = None
    armature: float = NAN  # Ia
    viscous: float = NAN  # Fv
    coulomb: float = NAN  # Fc
    offset: float = NAN  # Fo

    @property
    def prismatic(self) -> bool:
        return self.kind == "prismatic"


@dataclass(frozen=True, eq=False, kw_only=True)
class Link:
    """A moving link: its parameters about and in its own frame, fixed links and locked joints included."""

    name: str
    parameters: Array = field(default_factory=lambda: frozen(np.full(10, NAN)))
    lumped: tuple[str, ...] = ()  # names of the links of the file that were lumped into this one


@dataclass(frozen=True, eq=False, kw_only=True)
class Robot:
    """A tree-structured robot; joint j carries link j, and parents come before their children."""

    name: str
    joints: tuple[Joint, ...]
    links: tuple[Link, ...]
    gravity: Array = field(default_factory=lambda: frozen((0, 0, -9.81)))
    transmission: Array | None = None  # qd_joint = transmission @ qd_motor; None is the identity
    friction_side: Side = "joint"
    notes: tuple[str, ...] = ()  # what the reader did that a user may want to know
    source: str = ""  # path or built-in name, for messages only

    def __post_init__(self) -> None:
        if len(self.joints) != len(self.links):
            raise RobotError(f"{len(self.joints)} joints but {len(self.links)} links")
        for number, joint in enumerate(self.joints):
            if not -1 <= joint.parent < number:
                raise RobotError(f"joint {joint.name!r} comes before the link that carries it")

    def _repr_html_(self) -> str:
        from dynid.notebook import robot_html

        return robot_html(self)

    # -- names and parameters --------------------------------------------------------------------

    @property
    def free(self) -> tuple[int, ...]:
        """Numbers of the joints that have a coordinate, in order."""
        return tuple(j for j, joint in enumerate(self.joints) if joint.mimic is None)

    @property
    def dof(self) -> int:
        return len(self.free)

    @property
    def joint_names(self) -> tuple[str, ...]:
        return tuple(self.joints[j].name for j in self.free)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return tuple(f"{letter}{j + 1}" for j in range(len(self.links)) for letter in PARAMETER_LETTERS)

    @property
    def parameters(self) -> Array:
        """Standard parameters of all moving links, (10 * links,)."""
        if not self.links:
            return frozen(())
        return frozen(np.concatenate([link.parameters for link in self.links]))

    def joint_number(self, name: str) -> int:
        """Number of the joint called `name` among all joints."""
        for number, joint in enumerate(self.joints):
            if joint.name == name:
                return number
        raise RobotError(f"{self.name}: joint {choices(name, (joint.name for joint in self.joints))}")

    # -- the array interface: shapes in `dynid.dynamics` -------------------------------------------

    @property
    def _dynamics(self) -> Dynamics:
        from dynid.dynamics import dynamics_of  # the back ends load only when something is computed

        return dynamics_of(self)

    def inverse_dynamics(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, parameters: ArrayLike | None = None
    ) -> Array:
        """Joint efforts of the rigid bodies, (N, n): M(q) qdd + velocity torque + gravity torque."""
        return self._dynamics.inverse_dynamics(q, qd, qdd, parameters)

    def mass_matrix(self, q: ArrayLike, parameters: ArrayLike | None = None) -> Array:
        """Inertia matrix of the rigid bodies, (N, n, n)."""
        return self._dynamics.mass_matrix(q, parameters)

    def gravity_torque(self, q: ArrayLike, parameters: ArrayLike | None = None) -> Array:
        """Efforts that hold the robot still, (N, n)."""
        return self._dynamics.gravity_torque(q, parameters)

    def velocity_torque(self, q: ArrayLike, qd: ArrayLike, parameters: ArrayLike | None = None) -> Array:
        """Coriolis and centrifugal efforts, (N, n)."""
        return self._dynamics.velocity_torque(q, qd, parameters)

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike, parameters: ArrayLike | None = None) -> Array:
        """Kinetic energy, (N,)."""
        return self._dynamics.kinetic_energy(q, qd, parameters)

    def potential_energy(self, q: ArrayLike, parameters: ArrayLike | None = None) -> Array:
        """Potential energy, (N,), zero with all masses at the origin of the base."""
        return self._dynamics.potential_energy(q, parameters)

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Y with Y @ parameters = inverse dynamics, (N, n, 10 * links)."""
        return self._dynamics.regressor(q, qd, qdd)

    def energy_regressor(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """h with h @ parameters = kinetic + potential energy, (N, 10 * links)."""
        return self._dynamics.energy_regressor(q, qd)
