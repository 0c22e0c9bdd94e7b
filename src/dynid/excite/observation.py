"""The matrix W that a motion gives to the fit, and what a change of W means for the motion.

W has one column per base parameter: W = Y(q, qd, qdd) restricted to the columns that carry them, since the
matrix of base parameters is the identity there. Its rows are, for a motion of N samples,

    torque    the joints' equations, n per sample
    gravity   the same at rest, qd = qdd = 0
    energy    differences of total energy between one sample and the next, N - 1 rows: Eq. (9) of [GK1992]

Every criterion is a function f of W, so its slope by the motion needs only sum(G * dW) with G = df/dW,
which the adjoint of the recorded equations gives at the price of a few evaluations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid import equations
from dynid.base import BaseParameters, base_parameters
from dynid.errors import ArgumentError, choices
from dynid.excite.recorded import Motion, Recorded
from dynid.friction import armature_columns, friction_of, motor_rates
from dynid.mechanism import mechanism
from dynid.program import Expr, Scalar
from dynid.robot import Robot
from dynid.spatial import Array

QUANTITIES = {"torque": ("q", "qd", "qdd"), "gravity": ("q",), "energy": ("q", "qd")}
COULOMB_WIDTH = 0.02  # of the largest speed; sign(v) is tanh(v / width) while slopes are needed


@dataclass(frozen=True, eq=False)
class Observation:
    """What is observed of a robot, and through which weights."""

    robot: Robot
    model: str
    base: BaseParameters
    weights: Array | None = None  # (n,), each joint's equation is multiplied by its own; None: all by 1

    @property
    def width(self) -> int:
        """How many of q, qd, qdd matter."""
        return len(QUANTITIES[self.model])

    @property
    def rows_per_sample(self) -> int:
        return 1 if self.model == "energy" else self.robot.dof

    @cached_property
    def _rigid(self) -> tuple[int, ...]:
        """Columns of the robot's regressor that carry base parameters."""
        columns = (self.base.columns.index(name) for name in self.base.kept)
        return tuple(column for column in columns if column < 10 * len(self.robot.links))

    @cached_property
    def _drives(self) -> tuple[str, ...]:
        """Names of motor inertias and friction constants among the base parameters; they come last."""
        return tuple(name for name in self.base.kept if name[:2] in ("Ia", "Fv", "Fc", "Fo"))

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        """Where the columns (rigid, drives) stand among the base parameters."""
        made = [self.base.columns[column] for column in self._rigid] + list(self._drives)
        return np.array([made.index(name) for name in self.base.kept], dtype=np.intp)

    @cached_property
    def _recorded(self) -> Recorded:
        """The rigid entries of one sample, row by row."""
        mech = mechanism(self.robot)

        def entries(*motion: list[Scalar]) -> list[Scalar]:
            if self.model == "energy":
                kinetic = equations.kinetic_energy_columns(mech, *motion)
                potential = equations.potential_energy_columns(mech, motion[0])
                rows = [[t + u for t, u in zip(kinetic, potential, strict=True)]]
            else:
                still = [[0.0] * self.robot.dof] * (3 - self.width)
                rows = equations.regressor(mech, *motion, *still)
            return [row[column] for row in rows for column in self._rigid]

        return Recorded(self.robot.dof, self.width, entries)

    def prepare(self) -> None:
        """Compile now what the methods below need."""
        self._recorded.prepare()
        _ = self._order

    @cached_property
    def matters(self) -> NDArray[np.bool_]:
        """Whether joint j's q, qd, qdd change W at all, (width, n)."""
        live = set(self._recorded.program.live)
        found = np.array([[x.node in live for x in group] for group in self._recorded.inputs])
        if self._drives:
            found[1:] = True
        return found

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """Whether an entry of W can be anything but zero, (rows per sample, base parameters)."""
        rigid = np.array([isinstance(entry, Expr) or entry != 0.0 for entry in self._recorded.outputs])
        one = np.ones((1, self.robot.dof))
        drives = self._drive_columns([one] * 3)[0] != 0.0
        return np.hstack([rigid.reshape(self.rows_per_sample, -1), drives])[:, self._order]

    # -- W and its adjoint ---------------------------------------------------------------------------

    def matrix(self, motion: Motion, width: float = 0.0) -> Array:
        """W of a motion, (rows, base parameters); Coulomb friction with tanh(v / width) if width > 0."""
        count, rows = len(motion[0]), self.rows_per_sample
        columns = self._recorded.values(motion).reshape(count, rows, -1)
        if self._drives:
            columns = np.concatenate([columns, self._drive_columns(motion, width)], axis=2)[:, :, self._order]
        if self.model == "energy":
            return np.diff(columns[:, 0], axis=0)
        if self.weights is not None:
            columns = self.weights[:, None] * columns
        return columns.reshape(count * rows, -1)

    def pull_back(self, motion: Motion, slope: Array, width: float = 0.0) -> list[Array]:
        """d sum(slope * W) by q, qd, qdd, as many as the model needs, (N, n) each; slope as W."""
        count, rows = len(motion[0]), self.rows_per_sample
        G = self._by_sample(slope, count, rows)[:, :, np.argsort(self._order)]
        rigid = G[:, :, : len(self._rigid)].reshape(count, -1)
        slopes = self._recorded.pull_back(motion, rigid)
        if self._drives:
            self._add_drive_slopes(motion, G[:, :, len(self._rigid) :], width, slopes)
        return slopes

    def _by_sample(self, slope: Array, count: int, rows: int) -> Array:
        """Slopes by the rows of single samples, before differences and weights, (N, rows, parameters)."""
        if self.model == "energy":
            nothing = np.zeros((1, slope.shape[1]))
            return (np.vstack([nothing, slope]) - np.vstack([slope, nothing]))[:, None]
        by_sample = slope.reshape(count, rows, -1)
        return by_sample if self.weights is None else self.weights[:, None] * by_sample

    # -- drives ----------------------------------------------------------------------------------------

    def _chosen(self) -> list[tuple[str, int]]:
        return [(name[:2], int(name[2:]) - 1) for name in self._drives]

    def _drive_columns(self, motion: Motion, width: float = 0.0) -> Array:
        """Columns of the drives' constants, (N, rows per sample, drives)."""
        if not self._drives:
            return np.empty((len(motion[0]), self.rows_per_sample, 0))
        if self.model == "energy":
            speed = motion[1] @ motor_rates(self.robot.transmission, self.robot.dof).T
            return np.stack([0.5 * speed[:, None, k] ** 2 for _, k in self._chosen()], axis=2)
        friction = friction_of(self.robot, width)
        blocks = {letter: friction.columns(motion[1], [letter]) for letter in ("Fv", "Fc", "Fo")}
        blocks["Ia"] = armature_columns(motion[2], self.robot.transmission)
        return np.stack([blocks[letter][:, :, k] for letter, k in self._chosen()], axis=2)

    def _add_drive_slopes(self, motion: Motion, G: Array, width: float, slopes: list[Array]) -> None:
        """Add what the drives' columns contribute to the slopes by qd and qdd."""
        motors = motor_rates(self.robot.transmission, self.robot.dof)
        if self.model == "energy":
            speed = motion[1] @ motors.T
            for at, (_, k) in enumerate(self._chosen()):
                slopes[1] += (G[:, 0, at] * speed[:, k])[:, None] * motors[k]
            return
        rubbing = friction_of(self.robot, width).rates
        v = motion[1] @ rubbing.T
        for at, (letter, k) in enumerate(self._chosen()):
            rates = motors if letter == "Ia" else rubbing
            power = G[:, :, at] @ rates[k]
            if letter == "Fc" and width > 0.0:
                power = power / (width * np.cosh(np.clip(v[:, k] / width, -300.0, 300.0)) ** 2)
            elif letter in ("Fc", "Fo"):
                continue
            slopes[2 if letter == "Ia" else 1] += power[:, None] * rates[k]


def observe(
    robot: Robot,
    model: str = "torque",
    *,
    armature: bool = False,
    friction: bool = False,
    offset: bool = False,
    weights: Array | None = None,
) -> Observation:
    """What a fit of `model` would see of this robot; with drives' constants where they are asked for."""
    if model not in QUANTITIES:
        raise ArgumentError(f"model {choices(model, QUANTITIES)}")
    if model != "torque" and (friction or offset):
        raise ArgumentError(
            f"the model {model!r} has no columns of friction or offsets: friction's work depends on the "
            "whole path, and at rest it is not determined. --model torque (model='torque') has them"
        )
    if model == "gravity" and armature:
        raise ArgumentError("at rest nothing is seen of motor inertia: --model torque or energy")
    base = base_parameters(robot, model, armature=armature, friction=friction, offset=offset)
    if base.count == 0:
        raise ArgumentError(f"{robot.name}: the model {model!r} has no parameter that could be excited")
    if weights is not None and (weights.shape != (robot.dof,) or not (weights > 0.0).all()):
        raise ArgumentError(f"weights must be {robot.dof} positive numbers, one per joint")
    return Observation(robot, model, base, weights)
