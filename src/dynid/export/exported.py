"""What all formats share: the result, the numbers' spelling, and the comparison before anything is kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import pi

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import DynidError, RobotError, quote
from dynid.friction import armature_of, friction_of, motor_rates
from dynid.model import DynamicModel
from dynid.robot import Robot
from dynid.spatial import Array, is_physical

TOLERANCE = 1e-9  # of torques read back, beside the largest torque of each joint, or 1 Nm
SAMPLES = 64
USUAL_GRAVITY = (0.0, 0.0, -9.81)  # what readers of formats without gravity take for it
SPEED, ACCELERATION = 2.0, 5.0  # of the samples, rad/s and rad/s^2, or m

# Constants of drives a little below zero are rounding of a fit whose bound they reach.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Exported:
    """The text of a file, and what a user may want to know of it."""

    text: str
    notes: tuple[str, ...] = ()


def numbers(values: ArrayLike) -> str:
    """Numbers separated by blanks, each with the fewest digits that give the same float."""
    return " ".join(repr(float(value)) for value in np.ravel(np.asarray(values, dtype=np.float64)))


def refuse_impossible(model: DynamicModel) -> None:
    """Raise unless some bodies and drives have the model's numbers."""
    robot = model.robot
    bad = [
        quote(link.name)
        for link, ten in zip(robot.links, model.parameters.reshape(-1, 10), strict=True)
        if not is_physical(ten)
    ]
    drives = {
        "motor inertia": model.armature,
        "viscous friction": model.friction.viscous,
        "Coulomb friction": model.friction.coulomb,
    }
    bad += [
        f"{what} of {quote(name)}"
        for what, constants in drives.items()
        for name, value in zip(robot.joint_names, constants.tolist(), strict=True)
        if value < -ROUNDING
    ]
    if bad:
        raise RobotError(
            f"{robot.name}: no bodies and drives have these numbers ({', '.join(bad[:8])}"
            f"{', ...' if len(bad) > 8 else ''}): --physical exports the nearest that exist, "
            "--allow-impossible these all the same"
        )


# --- drives -----------------------------------------------------------------------------------------


def drive_constants(model: DynamicModel) -> dict[str, Array]:
    """Ia, Fv, Fc and Fo, (n,) each, where they act; what cannot be negative has rounding taken off."""
    every = {"Ia": model.armature, **{key: model.friction.constants[key] for key in ("Fv", "Fc", "Fo")}}
    return {
        key: value if key == "Fo" else np.where(np.abs(value) <= ROUNDING, np.maximum(value, 0.0), value)
        for key, value in every.items()
    }


def on_joints(model: DynamicModel) -> dict[str, Array]:
    """Ia, Fv, Fc and Fo as single joints feel them, (n,) each; what acts on coupled motors is left out."""
    motors, rubbing = motor_rates(model.robot.transmission, model.robot.dof), model.friction.rates
    found: dict[str, Array] = {}
    for key, value in drive_constants(model).items():
        rates = motors if key == "Ia" else rubbing
        rate = np.diag(rates)
        if np.array_equal(rates, np.diag(rate)):
            found[key] = value * {"Fc": np.abs(rate), "Fo": rate}.get(key, rate**2)
    return found


def without_place(model: DynamicModel, what: str, kept: Collection[str]) -> list[str]:
    """A note on constants that are not zero and not among those `kept`, by letter, in a format."""
    every = {"Ia": model.armature, **model.friction.constants}
    lost = [key for key, value in every.items() if value.any() and key not in kept]
    if not lost:
        return []
    coupled = " (they act on coupled motors)" if set(lost) & {"Fv", "Fc"} else ""
    return [f"{what} has no place for {', '.join(lost)}{coupled}: the format yaml holds these beside it"]


def without_gravity(model: DynamicModel, what: str) -> list[str]:
    """A note on gravity that is not the usual one, in a format without a place for it."""
    if np.array_equal(model.robot.gravity, USUAL_GRAVITY):
        return []
    return [f"{what} has no place for gravity, which is {numbers(model.robot.gravity)} m/s^2 here"]


# --- read back before anything is kept --------------------------------------------------------------


def read_back(model: DynamicModel, read: Callable[[], Robot], what: str, drives: Mapping[str, Array]) -> None:
    """Raise unless the robot that `read` makes of an exported text has the model's joints and torques.

    `drives` are constants by letter, (n,) each, that it must have as well.
    """
    try:
        found = read()
    except DynidError as problem:
        raise RobotError(f"the {what} cannot be read back and is not kept: {problem}") from problem
    robot = model.robot
    if set(found.joint_names) != set(robot.joint_names):
        raise RobotError(
            f"the {what} is not kept: read back, it has the joints {', '.join(map(quote, found.joint_names))}"
        )
    theirs = [robot.joint_names.index(name) for name in found.joint_names]  # files have an order of their own
    motion = motions(robot)
    expected = robot.inverse_dynamics(*motion, model.parameters)[:, theirs]
    error = np.abs(found.inverse_dynamics(*(array[:, theirs] for array in motion)) - expected)
    worst = float((error / np.maximum(np.abs(expected).max(axis=0), 1.0)).max())
    if not worst <= TOLERANCE:
        raise RobotError(
            f"the {what} is not kept: read back, its torques differ by {worst:.2g} of the largest"
        )
    there = {"Ia": armature_of(found), **friction_of(found).constants}
    for key, values in drives.items():
        if not np.allclose(there[key], values[theirs], rtol=1e-12, atol=1e-15):
            raise RobotError(f"the {what} is not kept: read back, its {key} differ")


def motions(robot: Robot) -> tuple[Array, Array, Array]:
    """q within the limits, qd and qdd at random but always the same, (SAMPLES, n) each."""
    rng = np.random.default_rng(1)
    limits = [robot.joints[j].limits for j in robot.free]
    lower = np.array([max(limit.lower, -pi) for limit in limits])
    upper = np.array(
        [max(min(limit.upper, pi), low) for limit, low in zip(limits, lower.tolist(), strict=True)]
    )
    shape = (SAMPLES, robot.dof)
    return (
        rng.uniform(lower, upper, shape),
        rng.uniform(-SPEED, SPEED, shape),
        rng.uniform(-ACCELERATION, ACCELERATION, shape),
    )


def quoted(text: str) -> str:
    """A text in double quotes, as both TOML and YAML read it."""
    return '"' + "".join(_escaped(letter) for letter in text) + '"'


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    if letter.isprintable():
        return letter
    return f"\\u{ord(letter):04x}" if ord(letter) < 0x10000 else f"\\U{ord(letter):08x}"
