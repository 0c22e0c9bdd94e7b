"""Controllers: how the efforts of the motors follow from the desired motion and from what the motors do.

They see positions and rates of the motors, where encoders sit, in the coordinates of the joints. What they
know of the robot is a nominal model with rigid gears, perhaps that of another robot with the same joints.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol, get_args

import numpy as np

from dynid.errors import ArgumentError, choices
from dynid.plant.plant import Plant
from dynid.robot import Robot
from dynid.spatial import Array
from dynid.trajectory import Trajectory

Kind = Literal["servo", "feedforward", "computed-torque"]


@dataclass(frozen=True, kw_only=True)
class Control:
    """A choice of controller.

    A `servo` treats each joint by itself, as a spring and a damper to the desired motion, and adds the
    constant effort that holds the start (an integrator that has settled). With `feedforward` it adds the
    nominal model's efforts along the desired motion instead. `computed-torque` is the nominal model's inverse
    dynamics with friction at the desired velocity, so that errors decay as those of a mass on a spring.
    """

    kind: Kind = "feedforward"
    bandwidth_hz: float = 10.0  # of the error: of each joint alone (servo), of all (computed-torque)
    damping_ratio: float = 1.0
    rate_hz: float | None = None  # efforts are held between the ticks of this clock; None: a continuous law
    saturate: bool = False  # efforts end at the limits of the joints
    nominal: Robot | None = None  # None: the robot itself, known perfectly

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ArgumentError(f"controller {choices(self.kind, get_args(Kind))}")
        given = {"bandwidth_hz": self.bandwidth_hz, "damping_ratio": self.damping_ratio}
        for name, value in {**given, "rate_hz": self.rate_hz}.items():
            if value is not None and not (np.isfinite(value) and value > 0.0):
                raise ArgumentError(f"{name} of a controller must be a positive number, not {value:g}")


class Law(Protocol):
    """A controller at work; efforts, positions and rates are (n,)."""

    def effort(self, t: float, theta: Array, theta_rate: Array) -> Array: ...


def make_law(control: Control, nominal: Plant, trajectory: Trajectory) -> Law:
    """The controller for one run."""
    law = ComputedTorque if control.kind == "computed-torque" else Servo
    return law(control, nominal, trajectory)


class Servo:
    """A spring and a damper per joint.

    The mass on the spring is 1 / (H^-1)_jj, what joint j moves at the start while the others are free. That
    keeps the fastest of the n coupled modes below sqrt(n) times the bandwidth, since their squares sum to
    the trace of H^-1 K; with H_jj itself the wrist of a light arm would shake.
    """

    def __init__(self, control: Control, nominal: Plant, trajectory: Trajectory) -> None:
        self._model = nominal if control.kind == "feedforward" else None
        self._trajectory = trajectory
        start, still = trajectory.q[0], np.zeros(nominal.dof)
        self._hold = _inverse_dynamics(nominal, start, still, still, still)
        inertia = 1.0 / np.diag(np.linalg.inv(nominal.inertia_and_bias(start, still)[0]))
        omega = 2.0 * np.pi * control.bandwidth_hz
        self._stiffness = inertia * omega**2
        self._damping = inertia * (2.0 * control.damping_ratio * omega)
        self._known = lru_cache(maxsize=8)(self._foreseen)  # a step ends where the next one starts

    def _foreseen(self, t: float) -> Array:
        """What the model asks for at the desired motion, or what held the start."""
        if self._model is None:
            return self._hold
        q, qd, qdd = self._trajectory.at(t)
        return _inverse_dynamics(self._model, q, qd, qdd, qd)

    def effort(self, t: float, theta: Array, theta_rate: Array) -> Array:
        q, qd, _ = self._trajectory.at(t)
        return self._known(t) + self._stiffness * (q - theta) + self._damping * (qd - theta_rate)


class ComputedTorque:
    """Inverse dynamics of the nominal model for the desired acceleration and what corrects the error."""

    def __init__(self, control: Control, nominal: Plant, trajectory: Trajectory) -> None:
        self._model, self._trajectory = nominal, trajectory
        self._omega = 2.0 * np.pi * control.bandwidth_hz
        self._ratio = control.damping_ratio

    def effort(self, t: float, theta: Array, theta_rate: Array) -> Array:
        q, qd, qdd = self._trajectory.at(t)
        omega = self._omega
        wanted = qdd + omega**2 * (q - theta) + 2.0 * self._ratio * omega * (qd - theta_rate)
        return _inverse_dynamics(self._model, theta, theta_rate, wanted, qd)


def _inverse_dynamics(model: Plant, q: Array, qd: Array, qdd: Array, rubbing: Array) -> Array:
    """Efforts of a model with rigid gears, (n,), with friction as at the velocity `rubbing`."""
    M, c = model.bodies.inertia_and_bias(q, qd)
    return (M + model.motors) @ qdd + c + model.friction.efforts(rubbing)
