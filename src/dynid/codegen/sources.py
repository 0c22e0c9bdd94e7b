"""What code is generated from: a robot with parameters, or what an identification has found."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dynid.codegen.runtime import FIXED, Runtime
from dynid.codegen.variables import read_variables
from dynid.errors import ArgumentError, quote, quote_path
from dynid.formats.dyn import is_dyn
from dynid.formats.load import load_robot
from dynid.model import DynamicModel, model_of
from dynid.robots import BUILT_IN


@dataclass(frozen=True, eq=False)
class Source:
    """A model and where it comes from."""

    model: DynamicModel
    origin: str
    variables: Runtime = FIXED  # what a file calls variable, not constant
    notes: tuple[str, ...] = ()


def read_source(
    source: str | os.PathLike[str],
    *,
    gravity: Sequence[float] | None = None,
    joints: Sequence[str] | None = None,
) -> Source:
    """The model of an estimate (a path that ends in .json) or of a robot with parameters.

    `gravity` and `joints` are those of `load_robot`.
    """
    path = Path(source)
    if path.suffix.lower() == ".json":
        if gravity is not None or joints is not None:
            raise ArgumentError("gravity and joints are those of the robot that the estimate was made for")
        return _read_estimate(path)
    robot = load_robot(source, gravity=gravity, joints=joints)
    if robot.dof == 0:
        raise ArgumentError(f"{quote(robot.name, 40)} has no joint that moves: there is nothing to compute")
    model = checked(model_of(robot))
    if str(source) in BUILT_IN:
        return Source(model, f"the built-in robot {source}")
    variables = read_variables(path) if joints is None and is_dyn(path) else FIXED
    return Source(model, _fingerprint(path), variables)


def _read_estimate(path: Path) -> Source:
    import dynid  # which loads the modules of estimation only when they are asked for

    estimate = dynid.load_estimate(path)
    if estimate.status == "failed":
        raise ArgumentError(
            f"{quote_path(path)}: the identification failed, so there is no model: "
            f"{' '.join(estimate.advice)}"
        )
    notes: tuple[str, ...] = ()
    if estimate.status != "trusted":
        notes = (f"the estimate is {estimate.status}: {' '.join(estimate.advice)}",)
    return Source(checked(estimate.model), f"the estimate {_fingerprint(path)}", notes=notes)


def _fingerprint(path: Path) -> str:
    """Name of the file and what tells its content: its path is nobody's business."""
    return f"{path.name}, SHA-256 {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"


def checked(model: DynamicModel) -> DynamicModel:
    """The model if all its numbers are finite."""
    names = model.robot.parameter_names
    wrong = [name for name, value in zip(names, model.parameters, strict=True) if not np.isfinite(value)]
    drives = {"Ia": model.armature, **model.friction.constants}
    for letter, values in drives.items():
        wrong += [f"{letter}{k + 1}" for k, value in enumerate(values) if not np.isfinite(value)]
    if wrong:
        more = f" and {len(wrong) - 10} more" if len(wrong) > 10 else ""
        raise ArgumentError(
            f"{quote(model.robot.name, 40)}: not a finite number: {', '.join(wrong[:10])}{more}; code needs "
            "values for all parameters"
        )
    return model
