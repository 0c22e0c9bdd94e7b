"""What other formats have no place for, by the joints' names: a YAML file beside the robot's description."""

from __future__ import annotations

import re

import numpy as np

from dynid.errors import RobotError
from dynid.export.exported import Exported, drive_constants, quoted
from dynid.friction import FURTHER, STRIBECK_SPEED
from dynid.model import DynamicModel
from dynid.spatial import Array

WORDS = {
    "Ia": "armature",
    "Fv": "viscous",
    "Fc": "coulomb",
    "Fo": "offset",
    "Fa": "viscous_asymmetry",
    "Fs": "stribeck",
    "Fr": "root",
    "Fl": "load_dependent",
}
_LINE = re.compile(r"    (\w+): (\S+)")


def write_yaml(model: DynamicModel) -> Exported:
    """Motor inertia and friction of every joint."""
    robot = model.robot
    constants = {"Ia": model.armature, **model.friction.constants, **drive_constants(model)}
    head = [
        f"# Motor inertia (kg m^2 or kg) and friction (SI units) of the joints of {_comment(robot.name)}:",
        "#   efforts = armature * acceleration + viscous * v + coulomb * sign(v) + offset",
        *(f"#     + {WORDS[key]}: {FURTHER[key]}" for key in model.friction.further),
        f"friction_side: {model.friction.side}",
    ]
    if robot.transmission is not None:
        head += ["transmission:  # rows: joint velocities = transmission * motor velocities"]
        head += [f"  - [{', '.join(map(number, row))}]" for row in robot.transmission.tolist()]
    head += _shapes(model)
    lines = ["joints:"]
    for k, name in enumerate(robot.joint_names):
        lines.append(f"  {quoted(name)}:")
        lines += [f"    {WORDS[key]}: {number(value[k])}" for key, value in constants.items()]
    _check(lines, constants, robot.dof)
    return Exported("\n".join([*head, *lines, ""]))


def _shapes(model: DynamicModel) -> list[str]:
    """Widths of signs and the speed of Stribeck's term, where they matter."""
    friction, n = model.friction, model.robot.dof
    lines: list[str] = []
    if np.any(friction.width):
        lines.append(f"sign_width: {_all(friction.width, n)}  # sign(v) is tanh(v / width)")
    if "Fs" in friction.further:
        speed = friction.stribeck_speed if np.any(friction.stribeck_speed) else STRIBECK_SPEED
        lines.append(f"stribeck_speed: {_all(speed, n)}")
    return lines


def _all(values: float | Array, count: int) -> str:
    return f"[{', '.join(map(number, np.broadcast_to(values, count).tolist()))}]"


def number(value: float) -> str:
    """A number that YAML 1.1 takes for one as well: with a point before the exponent."""
    text = repr(float(value) + 0.0)
    mantissa, sign, exponent = text.partition("e")
    return text if not sign or "." in mantissa else f"{mantissa}.0e{exponent}"


def _comment(text: str) -> str:
    return quoted(text)[1:-1]


def _check(lines: list[str], constants: dict[str, Array], dof: int) -> None:
    """Read the constants back."""
    found = [float(match[2]) for line in lines if (match := _LINE.fullmatch(line))]
    if not np.array_equal(np.reshape(found, (dof, len(constants))), np.transpose(list(constants.values()))):
        raise RobotError("the YAML file is not kept: read back, its constants differ")
