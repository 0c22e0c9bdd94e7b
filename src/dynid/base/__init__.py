"""Base parameters of a robot, by four methods that must agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dynid.base.columns import Columns
from dynid.base.geometry import squared_up
from dynid.base.reasons import no_effect_reasons
from dynid.base.result import BaseParameters
from dynid.errors import ArgumentError, RobotError, choices
from dynid.robot import Robot

__all__ = ["METHODS", "MODELS", "BaseParameters", "base_parameters"]

MODELS = ("torque", "inertia", "gravity", "energy")
METHODS = ("exact", "gautier-khalil", "lin", "numeric")


def base_parameters(
    robot: Robot,
    model: str = "torque",
    method: str = "exact",
    armature: bool = False,
    friction: bool = False,
    offset: bool = False,
    *,
    order: Sequence[str] | str | None = None,
) -> BaseParameters:
    """The fewest combinations of parameters that determine a model of the robot.

    model: "torque" (inverse dynamics), "inertia" (without gravity), "gravity" (at rest) or "energy".
    method: "exact" (structure, any tree), "gautier-khalil" and "lin" (closed forms, serial robots), or
    "numeric" (sampled; `order` then lists columns by preference, or is "paper" or "qr").
    armature, friction, offset: also motor inertias Ia, friction Fv and Fc, and offsets Fo.
    """
    if model not in MODELS:
        raise ArgumentError(f"model {choices(model, MODELS)}")
    if method not in METHODS:
        raise ArgumentError(f"method {choices(method, METHODS)}")
    if order is not None and method != "numeric":
        raise ArgumentError(f"an order of columns is for the method 'numeric', not for {method!r}")
    check_geometry(robot)
    columns = Columns(len(robot.links), robot.dof, armature, friction, offset)
    square, notes = squared_up(robot)
    found = by_method(square, model, method, columns, order)
    reasons = no_effect_reasons(square, model, found.no_effect)
    return replace(found, reasons=reasons, notes=(*notes, *found.notes))


def by_method(
    robot: Robot, model: str, method: str, columns: Columns, order: Sequence[str] | str | None
) -> BaseParameters:
    """Call the method; each is imported when it is asked for."""
    if method == "exact":
        from dynid.base.exact import exact

        return exact(robot, model, columns)
    if method == "gautier-khalil":
        from dynid.base.gautier_khalil import gautier_khalil

        return gautier_khalil(robot, model, columns)
    if method == "lin":
        from dynid.base.lin import lin

        return lin(robot, model, columns)
    from dynid.base.numeric import numeric

    return numeric(robot, model, columns, order)


def check_geometry(robot: Robot) -> None:
    """Refuse robots without joints and geometry that is not finite."""
    if robot.dof == 0:
        raise RobotError(f"{robot.name}: no joint moves, so there is nothing to identify")
    for joint in robot.joints:
        frames = (joint.before, joint.after)
        numbers = [joint.axis, *(f.rotation for f in frames), *(f.translation for f in frames)]
        if not all(np.isfinite(values).all() for values in numbers):
            raise RobotError(f"{robot.name}: the geometry of joint {joint.name!r} is not finite")
    if not np.isfinite(robot.gravity).all():
        raise RobotError(f"{robot.name}: gravity is not finite")
