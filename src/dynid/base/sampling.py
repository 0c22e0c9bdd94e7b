"""Regressors at random states, in units in which all robots look alike.

The unit of length is the longest offset, of time the one that makes gravity one (or a second without
gravity), so that gravity, velocity and acceleration weigh the same whatever units a file uses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.base.columns import Columns, units
from dynid.base.drives import motor_rates
from dynid.base.geometry import Geometry, floating_geometry
from dynid.robot import Robot
from dynid.spatial import Array

SPEED = 2.0  # largest velocity and acceleration in these units


@dataclass(frozen=True, eq=False)
class States:
    """Random states of the robot in SI units, each (N, dof)."""

    q: Array
    qd: Array
    qdd: Array


def sampled_rows(robot: Robot, model: str, columns: Columns, seed: int = 0) -> Array:
    """Rows (samples * efforts, columns) that a model gives at random states, in the units above."""
    geometry = floating_geometry(robot)
    count = max(20, 4 * len(columns) // (1 if model == "energy" else robot.dof))
    rng = np.random.default_rng(seed)
    states = random_states(robot, geometry, count, rng)
    if model == "energy":
        rows = energy_rows(robot, columns, states, rng)
        efforts = np.full(len(rows), float(geometry.acceleration) * float(geometry.length))
    else:
        rows = torque_rows(robot, model, columns, states)
        per_joint = [effort_unit(robot, geometry, joint) for joint in robot.free]
        efforts = np.tile(per_joint, count)
    scale = np.array([float(unit) for unit in units(robot, geometry, columns)])
    return rows / scale / efforts[:, None]


def effort_unit(robot: Robot, geometry: Geometry, joint: int) -> float:
    """The unit of a joint's effort for a unit mass (kg)."""
    power = 1 if robot.joints[joint].prismatic else 0
    return float(geometry.acceleration) * float(geometry.length) ** (1 - power)


def random_states(robot: Robot, geometry: Geometry, count: int, rng: np.random.Generator) -> States:
    """States over a full turn of every rotation and a unit of length of every slide."""
    length = float(geometry.length)
    rate = np.sqrt(float(geometry.acceleration) / length)
    prismatic = np.array([robot.joints[j].prismatic for j in robot.free])
    size = np.where(prismatic, length, 1.0)
    shape = (count, robot.dof)
    q = rng.uniform(-1, 1, shape) * np.where(prismatic, length, np.pi)
    qd = rng.uniform(-SPEED, SPEED, shape) * size * rate
    qdd = rng.uniform(-SPEED, SPEED, shape) * size * rate**2
    return States(q, qd, qdd)


def torque_rows(robot: Robot, model: str, columns: Columns, states: States) -> Array:
    """Efforts per unit of each column's parameter, (N * dof, columns)."""
    q, qd, qdd = states.q, states.qd, states.qdd
    still = np.zeros_like(qd)
    if model == "torque":
        links = robot.regressor(q, qd, qdd)
    else:
        links = robot.regressor(q, still, still)
        if model == "inertia":
            links = robot.regressor(q, qd, qdd) - links
    rates = motor_rates(robot, exact=False)
    side = rates if robot.friction_side == "motor" else np.eye(robot.dof)
    moving = np.zeros_like if model == "gravity" else np.array
    blocks = {
        "Ia": moving(per_drive(rates, qdd @ rates.T)),
        "Fv": moving(per_drive(side, qd @ side.T)),
        "Fc": moving(per_drive(side, np.sign(qd @ side.T))),
        "Fo": per_drive(side, np.ones_like(q)),
    }
    rows = np.concatenate([links, *(blocks[letter] for letter in columns.letters)], axis=2)
    return rows.reshape(-1, len(columns))


def per_drive(rates: Array, motions: Array) -> Array:
    """Efforts (N, dof, dof) of T^-T diag(x) applied to motions (N, dof) of the drives, per entry of x."""
    return rates.T[None] * motions[:, None, :]


def energy_rows(robot: Robot, columns: Columns, states: States, rng: np.random.Generator) -> Array:
    """Energies less that of the first state at rest, (N, columns); friction as the work it takes."""
    q, qd = states.q, states.qd
    rest = robot.energy_regressor(q[:1], np.zeros_like(qd[:1]))
    rates = motor_rates(robot, exact=False)
    side = rates if robot.friction_side == "motor" else np.eye(robot.dof)
    sizes = np.abs(qd @ side.T).mean(axis=0)
    blocks = {
        "Ia": 0.5 * (qd @ rates.T) ** 2,
        "Fv": rng.uniform(0.5, 1, q.shape) * sizes**2,  # the work depends on the way there: on nothing else
        "Fc": rng.uniform(0.5, 1, q.shape) * sizes,
        "Fo": (q - q[:1]) @ side.T,
    }
    links = robot.energy_regressor(q, qd) - rest
    return np.concatenate([links, *(blocks[letter] for letter in columns.letters)], axis=1)
