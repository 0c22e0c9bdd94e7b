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
from dynid.fit.judge import ILL, INSIGNIFICANT, OVERFITTED, POOR, listed
from dynid.log.check import Report as Health
from dynid.log.log import Log
from dynid.report.data import (
    Bodies,
    Compared,
    Estimator,
    Mark,
    Motion,
    Operations,
    Parameter,
    Reason,
    ReportData,
    Role,
    Verdict,
)
from dynid.report.essential import essential_of
from dynid.report.text import number, parameter_unit, shown
from dynid.signals.derivatives import central
from dynid.spatial import Array
from dynid.statistics import correlation
from dynid.validation import Score, scores

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


# --- the verdict --------------------------------------------------------------------------------


def verdict(estimate: Estimate, compared: Sequence[Compared], health: Health | None) -> Verdict:
    """The estimate's own verdict, and what speaks for and against it."""
    unseen = [one for one in compared if one.role == "validation"]
    return Verdict(
        status=estimate.status,
        advice=estimate.advice,
        reasons=(
            _validated(unseen),
            *_held_out(estimate),
            *_determined(estimate),
            _physical(estimate),
            *([] if health is None else [_healthy(health)]),
        ),
        figures=tuple(_first(estimate, unseen)),
    )


def _validated(unseen: Sequence[Compared]) -> Reason:
    if not unseen:
        return Reason(
            mark="open", text="No validation log was given: record another motion and pass it along."
        )
    worst = max(_percents(unseen), key=lambda entry: entry[0], default=(float("nan"), ""))
    good = all(score.percent_moving <= POOR for one in unseen for score in one.scores.values())
    return Reason(
        mark="good" if good else "bad",
        text=f"On {_logs(len(unseen))} that the fit has not seen, efforts are predicted with an error of "
        f"{number(_median(unseen), 3)} % (median joint); worst is {worst[1]} with {number(worst[0], 3)} %.",
    )


def _percents(compared: Sequence[Compared]) -> list[tuple[float, str]]:
    found = [(score.percent, joint) for one in compared for joint, score in one.scores.items()]
    return [(percent, shown(joint)) for percent, joint in found if np.isfinite(percent)]


def _median(compared: Sequence[Compared]) -> float:
    percents = [percent for percent, _ in _percents(compared)]
    return float(np.median(percents)) if percents else float("nan")


def _logs(count: int) -> str:
    return "a log" if count == 1 else f"{count} logs"


def _held_out(estimate: Estimate) -> Iterator[Reason]:
    """Parts of the training logs that were left out in turn."""
    pairs = [
        (held, estimate.train[joint].percent_moving)
        for joint, held in estimate.held_out.items()
        if joint in estimate.train and np.isfinite(held)
    ]
    if pairs:
        held, inside = np.median(pairs, axis=0)
        yield Reason(
            mark="good" if held <= max(OVERFITTED * inside, 20.0) else "caution",
            text=f"Held-out parts of the training logs are predicted with {number(float(held), 3)} %, "
            f"the logs themselves with {number(float(inside), 3)} % (median joint, while moving).",
        )


def _determined(estimate: Estimate) -> Iterator[Reason]:
    total = len(estimate.names)
    lost = [name for name, std in zip(estimate.names, estimate.std, strict=True) if not np.isfinite(std)]
    if lost:
        yield Reason(mark="bad", text=f"{len(lost)} of {total} values are not determined: {listed(lost)}.")
    else:
        beyond = int(np.count_nonzero(np.abs(estimate.values) >= INSIGNIFICANT * estimate.std))
        yield Reason(
            mark="good",
            text=f"All {total} values are determined; {beyond} differ from zero beyond doubt.",
        )
    well = estimate.scaled_condition <= ILL
    yield Reason(
        mark="good" if well else "caution",
        text=f"With columns of one length the condition is {number(estimate.scaled_condition, 3)}: "
        + ("the motion tells the parameters apart." if well else "small errors grow by as much."),
    )


def _physical(estimate: Estimate) -> Reason:
    if estimate.physical is None:
        text = "Nobody asked for a set of parameters that bodies can have (--physical)."
        return Reason(mark="open", text=text)
    if estimate.physical:
        return Reason(mark="good", text="Bodies with these masses and inertias can exist.")
    return Reason(mark="bad", text="No bodies have these masses and inertias.")


def _healthy(health: Health) -> Reason:
    counts = dict.fromkeys(("error", "warning", "hint"), 0)
    for finding in health.findings:
        counts[finding.severity] += 1
    said = (
        ", ".join(f"{n} {level}{'s' if n != 1 else ''}" for level, n in counts.items() if n) or "no findings"
    )
    marks: dict[str, Mark] = {"good": "good", "usable": "caution", "bad": "bad"}
    return Reason(mark=marks[health.verdict], text=f"The log doctor calls the logs {health.verdict}: {said}.")


def _first(estimate: Estimate, unseen: Sequence[Compared]) -> Iterator[tuple[str, str]]:
    if unseen:
        percents = _percents(unseen)
        yield "validation error, median joint", f"{number(_median(unseen), 3)} %"
        yield "validation error, worst joint", f"{number(max(percents)[0], 3)} %" if percents else "–"
    elif estimate.train:
        yield "training error, median joint", f"{number(_middle(estimate.train), 3)} %"
    yield "values", str(len(estimate.names))
    yield "condition (columns of one length)", number(estimate.scaled_condition, 3)
    yield "samples", str(estimate.samples)
    yield "physical", {True: "yes", False: "no", None: "not asked for"}[estimate.physical]


def _middle(train: Mapping[str, Score]) -> float:
    return float(np.median([score.percent for score in train.values()]))


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
