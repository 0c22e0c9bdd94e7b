"""What a report shows of an estimate and of the logs it rests on."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from typing import TYPE_CHECKING, cast

import numpy as np

from dynid import __version__
from dynid.errors import DynidError
from dynid.estimate import Estimate
from dynid.fit.judge import listed
from dynid.log.check import Report as Health
from dynid.log.log import Log
from dynid.report.data import (
    Bodies,
    Compared,
    Estimator,
    Motion,
    Operations,
    Parameter,
    ReportData,
    Role,
)
from dynid.report.essential import essential_of
from dynid.report.text import number, parameter_unit, shown
from dynid.report.verdict import verdict
from dynid.signals.derivatives import central
from dynid.spatial import Array
from dynid.statistics import correlation
from dynid.validation import scores

if TYPE_CHECKING:
    from dynid.codegen.functions import Generated
    from dynid.tracking import Tracking

PACKAGES = ("numpy", "scipy", "llvmlite", "clarabel")


def report_data(
    estimate: Estimate,
    train_logs: Sequence[Log],
    validation_logs: Sequence[Log] = (),
    health: Health | None = None,
    *,
    operations: Sequence[Operations] | None = None,
    others: Mapping[str, Estimate] | None = None,
    tracking: Mapping[str, Tracking] | None = None,
    command: str | None = None,
    title: str | None = None,
) -> ReportData:
    """Everything the report of an estimate shows; logs that were not seen by the fit come first.

    `operations` are counted, without a search for cheaper programs, unless they are given. `others` are what
    several estimators make of the same logs, by method; `tracking` is how models drive the robot, by model.
    """
    robot = estimate.robot
    compared = (
        *(_compared(estimate, log, "validation") for log in validation_logs),
        *(_compared(estimate, log, "training") for log in train_logs),
    )
    return ReportData(
        title=title or f"{shown(robot.name)}: identified dynamics",
        robot=robot,
        verdict=verdict(estimate, compared, health),
        compared=compared,
        parameters=parameters(estimate),
        correlation=correlation(estimate.covariance),
        motions=tuple(_motion(log) for log in train_logs),
        excitation=tuple(_excitation(estimate, health)),
        estimators=tuple(_estimators(estimate, others or {})),
        tracking=tracking or {},
        essential=essential_of(estimate),
        bodies=_bodies(estimate, train_logs),
        health=health,
        operations=count(estimate) if operations is None else tuple(operations),
        choices=tuple((name, _said(value)) for name, value in estimate.choices.items()),
        provenance=tuple(_provenance(estimate, command)),
    )


def _compared(estimate: Estimate, log: Log, role: Role) -> Compared:
    comparison = estimate.compare(log)
    return Compared(log=log.provenance.source, role=role, comparison=comparison, scores=scores([comparison]))


# --- values -------------------------------------------------------------------------------------


def parameters(estimate: Estimate) -> tuple[Parameter, ...]:
    """All unknowns with units, formulas and, where the robot's file is complete, its values."""
    ends = estimate.interval()
    known = reference(estimate)
    return tuple(
        Parameter(
            name=name,
            value=float(estimate.values[k]),
            std=float(estimate.std[k]),
            half_width=float(0.5 * (ends[k, 1] - ends[k, 0])),
            unit=parameter_unit(name, estimate.robot),
            formula=estimate.expressions[k],
            reference=known.get(name),
        )
        for k, name in enumerate(estimate.names)
    )


def reference(estimate: Estimate) -> dict[str, float]:
    """Base values of the robot's own file, by name; those that rest on what it does not say are left out."""
    robot, base = estimate.robot, estimate.base
    drives = {"Ia": "armature", "Fv": "viscous", "Fc": "coulomb", "Fo": "offset"}
    said = dict(zip(robot.parameter_names, robot.parameters.tolist(), strict=True))
    for k, j in enumerate(robot.free):
        said |= {f"{letter}{k + 1}": getattr(robot.joints[j], field) for letter, field in drives.items()}
    columns = np.array([said.get(name, np.nan) for name in base.columns])
    found: dict[str, float] = {}
    for name, row in zip(base.names, base.matrix, strict=True):
        used = row != 0.0
        value = float(row[used] @ columns[used])
        if np.isfinite(value):
            found[name] = value
    return found


def _estimators(estimate: Estimate, others: Mapping[str, Estimate]) -> Iterator[Estimator]:
    for method, other in others.items():
        unseen = next(iter(other.validation.values()), None)
        yield Estimator(
            method=method,
            status=other.status,
            scores=other.train if unseen is None else unseen,
            chosen=other is estimate,
        )


def _bodies(estimate: Estimate, logs: Sequence[Log]) -> Bodies | None:
    if estimate.parameters is None:
        return None
    middle = _middle_posture(logs[0]) if logs else None
    return Bodies(parameters=estimate.parameters, origins=estimate.origins, posture=middle)


def _middle_posture(log: Log) -> Array | None:
    """The posture of the log that is nearest to the middle of its motion."""
    usable = log.position[np.isfinite(log.position).all(axis=1)]
    if not len(usable):
        return None
    middle = 0.5 * (usable.min(axis=0) + usable.max(axis=0))
    return usable[np.argmin(np.sum((usable - middle) ** 2, axis=1))]


def count(estimate: Estimate) -> tuple[Operations, ...]:
    """Operations of the code of an estimate's model as it is first written; none if it cannot be."""
    from dynid.codegen.functions import generate

    try:
        return operations_of(generate(estimate.model, effort=0))
    except DynidError:
        return ()


def operations_of(generated: Generated) -> tuple[Operations, ...]:
    """Of all functions of generated code."""
    return tuple(
        Operations(
            function=function.name,
            mul=function.operations.mul,
            add=function.operations.add,
            neg=function.operations.neg,
            sincos=function.operations.sincos,
        )
        for function in generated.functions
    )


# --- motion and origin --------------------------------------------------------------------------


def _motion(log: Log) -> Motion:
    velocity = log.velocity
    if velocity is None:
        step = float(np.median(np.diff(log.time))) if len(log) > 1 else 1.0
        velocity = (
            central(log.position, step)[0] if len(log) > 4 and step > 0.0 else np.zeros_like(log.position)
        )
    return Motion(
        log=log.provenance.source, time=log.time, position=log.position, velocity=velocity, effort=log.effort
    )


def _excitation(estimate: Estimate, health: Health | None) -> Iterator[tuple[str, str]]:
    yield "condition of the weighted equations", number(estimate.condition)
    yield "the same with columns of one length", number(estimate.scaled_condition)
    if health is None or health.excitation is None:
        return
    excitation = health.excitation
    yield "condition of the base regressor, unscaled", number(excitation.condition)
    total = len(excitation.determined) + len(excitation.weak) + len(excitation.undetermined)
    yield "base parameters determined", f"{len(excitation.determined)} of {total}"
    if excitation.weak:
        yield "weakly", listed(excitation.weak)
    if excitation.undetermined:
        yield "not at all", listed(excitation.undetermined)
    yield "standstill", f"{number(100 * excitation.standstill_share, 3)} % of the time"


def _provenance(estimate: Estimate, command: str | None) -> Iterator[tuple[str, str]]:
    if command:
        yield "command", command
    yield "dynid", __version__
    yield "python", f"{platform.python_version()} ({sys.platform}, {platform.machine()})"
    for package in PACKAGES:
        yield package, metadata.version(package)
    yield "robot", estimate.robot.source or estimate.robot.name
    if estimate.source is not None:
        yield "robot, sha256", estimate.source.sha256
    for log in estimate.logs:
        yield "log", log.source
        yield "log, sha256", log.sha256
        if log.options:
            yield "log, read as", ", ".join(f"{key} = {value}" for key, value in log.options.items())
    yield "samples", str(estimate.samples)
    yield "seconds", number(estimate.seconds, 3)


def _said(value: object) -> str:
    """A choice as a person would write it."""
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value).items()
        return "; ".join(f"{key.replace('_', ' ')}: {_said(entry)}" for key, entry in entries)
    if isinstance(value, list | tuple):
        return "; ".join(_said(entry) for entry in cast("Sequence[object]", value)) or "none"
    return number(value) if isinstance(value, float) else str(value)
