"""How motor inertia, friction and offsets enter the joint efforts.

With qd = T qd_motor, a motor's inertia acts on its own side: T^-T diag(Ia) T^-1 qdd. Friction acts on the
joint or, if the robot says so, on the motor: T^-T (Fv qd_motor + Fc sign(qd_motor) + Fo).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from dynid.base.columns import Columns
from dynid.base.geometry import Geometry
from dynid.base.rational import Numbers, exact_array, inverse
from dynid.base.structure import GRAVITY
from dynid.errors import RobotError
from dynid.robot import Robot


def constant_terms(
    robot: Robot, geometry: Geometry, model: str, columns: Columns
) -> dict[tuple[int, int], Numbers]:
    """What drives add to the constants that joints see: rows (columns,) by (label, joint).

    Label and joint stand for an entry of the inertia matrix, or of the gravity torque with the label
    GRAVITY. As the rows of links count everything twice, so do these; in the geometry's units.
    """
    motor = motor_rates(robot, geometry.exact)
    lengths = [geometry.length ** (0 if robot.joints[j].prismatic else 1) for j in robot.free]
    dtype = motor.dtype
    terms: dict[tuple[int, int], Numbers] = {}

    def add(label: int, joint: int, columns_of: range, entries: Numbers) -> None:
        if np.any(entries):
            row = np.zeros(len(columns), dtype=dtype)
            row[columns_of] = 2 * entries
            terms[label, joint] = row

    size = np.array(lengths, dtype=dtype)
    armature = columns.of_drive("Ia") if model != "gravity" else None
    if armature is not None:
        for joint, other in _pairs(robot.dof):
            entries = motor[:, joint] * motor[:, other] * size * size / (size[joint] * size[other])
            add(other, joint, armature, entries)
    offsets = columns.of_drive("Fo")
    if offsets is not None:
        shares = (
            motor if robot.friction_side == "motor" else np.array(np.eye(robot.dof, dtype=int), dtype=dtype)
        )
        for joint in range(robot.dof):
            add(GRAVITY, joint, offsets, shares[:, joint] * size / size[joint])
    return terms


def _pairs(count: int) -> Iterator[tuple[int, int]]:
    return ((joint, other) for joint in range(count) for other in range(joint + 1))


def friction_columns(model: str, columns: Columns) -> list[int]:
    """Columns of friction that depends on velocity: always told apart, except at rest."""
    found = [columns.of_drive(letter) for letter in ("Fv", "Fc")] if model != "gravity" else []
    return [column for block in found if block is not None for column in block]


def motor_rates(robot: Robot, exact: bool) -> Numbers:
    """T^-1, (dof, dof): motor speeds per joint speed, in fractions if `exact`."""
    if robot.transmission is None:
        identity = np.eye(robot.dof, dtype=int)
        return identity.astype(object) if exact else identity.astype(np.float64)
    try:
        if not exact:
            return np.linalg.inv(robot.transmission)
        return inverse(exact_array([[Fraction(repr(float(x))) for x in row] for row in robot.transmission]))
    except (ZeroDivisionError, np.linalg.LinAlgError) as error:
        raise RobotError(
            f"{robot.name}: the transmission matrix is singular; it must be invertible"
        ) from error
