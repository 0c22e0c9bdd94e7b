"""From a robot and its logs to an estimate: all choices, the fit, and what it is worth.

    logs -> samples, with one cut-off -> friction's width -> delay -> presliding
         -> further terms, if asked for -> prior's weight                          (`prepared`)
         -> the fit -> uncertainty, scores, verdict -> a physical set, if asked for

Every choice is made inside the training logs, says why in `Estimate.choices`, and can be set instead.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from dynid.blas import single_thread
from dynid.errors import ArgumentError, choices
from dynid.estimate import Estimate, RobotSource
from dynid.fit.choose import folds_of, held_out
from dynid.fit.given import Source, check_together, loaded, provenance, read_given, several
from dynid.fit.judge import judge, misread
from dynid.fit.long import Work, check_method, whole_problem
from dynid.fit.methods import METHODS, Answer, Problem, fit
from dynid.fit.one_joint_logs import one_joint
from dynid.fit.options import Options
from dynid.fit.prepared import Prepared, Report, prepare_problem
from dynid.fit.reduction import total
from dynid.fit.solve import weighted
from dynid.fit.spread import widened
from dynid.formats.urdf_text import urdf_text
from dynid.log.log import Log
from dynid.log.long import LongLogs
from dynid.physical.bounds import Bounds
from dynid.robot import Robot
from dynid.spatial import Array, frozen
from dynid.validation import Score

READING = ("effort", "gain", "positions", "degrees", "sign", "columns", "joints", "topic")


@single_thread()
def identify(
    robot: Robot,
    logs: Source | Sequence[Source],
    *,
    validate: Source | Sequence[Source] = (),
    plan: str | os.PathLike[str] | None = None,
    state: str | os.PathLike[str] | None = None,
    dask: str | None = None,
    report: Report | None = None,
    **options: Any,
) -> Estimate:
    """The dynamic model of a robot from one log or several.

    Logs are `Log`s or paths; options that `read_log` knows (effort=, gain=, ...) say how to read paths. All
    others are those of `Options`, by default chosen from the training logs. `validate` are logs to score the
    result on, which have no part in it. `plan` is the plan.json of which the logs are the experiments, for
    method="one-joint". `report` is told what is being done.

    Logs too long to be loaded are read in parts; choices and scores are then of an excerpt. `state` is a file
    that keeps how far their sums have got, from which a run that was killed goes on; `dask` the address of a
    cluster that is to do the sums.
    """
    started = time.perf_counter()
    say = report or _silently
    reading = {name: options.pop(name) for name in READING if name in options}
    chosen = checked_options(options)
    work = Work(state=state, dask=dask)
    given = read_given(robot, logs, reading, in_parts=work != Work())
    if isinstance(given, LongLogs):
        check_method(chosen.method)
    training = loaded(given)
    unseen = [read_given(robot, one, reading) for one in several(validate)]
    check_together(training)
    differences: list[str] = []
    if plan is not None:
        training, differences = _as_planned(plan, robot, training, chosen)
    if chosen.friction_side is not None:
        robot = replace(robot, friction_side=chosen.friction_side)
    bounds = _bounds(robot, chosen)
    prepared = prepare_problem(robot, training, chosen, say)
    say(f"fitting {len(prepared.system.names)} unknowns ({chosen.method})")
    prepared, problem = _posed(prepared, given, work, say)
    answer = fit(problem, chosen.method)
    if prepared.shape is not None and chosen.method != "one-joint":  # which has equations of its own
        answer = widened(answer, prepared.shape, prepared.prior, prepared.system.names)
    estimate = _estimate(prepared, problem, answer, training)
    if chosen.physical:
        say("looking for bodies that can exist")
        estimate = _physical(estimate, prepared, answer, training, bounds)
    if unseen:
        say("validating")
    return replace(
        estimate,
        advice=(*estimate.advice, *differences),
        validation=MappingProxyType(
            {provenance(one)[0].source: estimate.validate(loaded(one)) for one in unseen}
        ),
        logs=provenance(given),
        seconds=time.perf_counter() - started,
    )


def _posed(
    prepared: Prepared, given: LongLogs | Sequence[Log], work: Work, say: Report
) -> tuple[Prepared, Problem]:
    """The problem of all samples: those that the choices were made on, or all parts of long logs."""
    problem = Problem(prepared.system, prepared.samples, prepared.prior)
    if not isinstance(given, LongLogs):
        return prepared, problem
    problem, more, remarks = whole_problem(given, problem, prepared.options, prepared.choices, work, say)
    return replace(prepared, choices={**prepared.choices, **more}, remarks=remarks), problem


def _silently(_: str) -> None:
    """No report."""


def checked_options(options: Mapping[str, Any]) -> Options:
    """Options by their names, of which none is unknown."""
    valid = Options.__dataclass_fields__
    for name in options:
        if name not in valid:
            raise ArgumentError(f"option {choices(name, (*valid, *READING))}")
    found = Options(**options)
    if found.method not in METHODS:
        raise ArgumentError(f"method {choices(found.method, METHODS)}")
    return found


# --- the logs ------------------------------------------------------------------------------------------


def _as_planned(
    plan: str | os.PathLike[str], robot: Robot, logs: Sequence[Log], options: Options
) -> tuple[list[Log], list[str]]:
    """The logs in the order of a plan, and what is not as planned."""
    from dynid.plan.match import match
    from dynid.plan.plan_file import read_plan

    if options.method != "one-joint":
        raise ArgumentError(f"a plan is for the method 'one-joint', not for {options.method!r}")
    return match(read_plan(plan, robot), robot, logs)


# --- the estimate --------------------------------------------------------------------------------------


def _estimate(prepared: Prepared, problem: Problem, answer: Answer, training: Sequence[Log]) -> Estimate:
    system, solution, uncertainty = prepared.system, answer.solution, answer.uncertainty
    p = len(system.names)
    unit = _unit(answer)
    first = Estimate(
        system=system,
        values=solution.values,
        covariance=uncertainty.covariance,
        white_std=frozen(np.sqrt(np.diag(uncertainty.white))),
        information=frozen(unit * solution.data[:p]),
        residual=float((unit * solution.data[p, p]) ** 2),
        freedom=uncertainty.freedom,
        condition=solution.condition,
        scaled_condition=solution.scaled_condition,
        samples=round(sum(len(one.time) for one in prepared.samples) / problem.share),
        status="trusted",
        advice=(),
        choices=MappingProxyType({**prepared.choices, **answer.remarks}),
        train=MappingProxyType({}),
        held_out=MappingProxyType({}),
        source=source_of(system.robot),
    )
    train: Mapping[str, Score] = first.validate(training)
    if prepared.options.method == "one-joint":
        left_out = one_joint(system, prepared.samples).held_out()
    else:
        left_out = held_out(system, prepared.samples, prepared.prior)
    doubts, hints = ([], []) if prepared.options.method == "one-joint" else misread(system.robot, training)
    verdict = judge(system, prepared.samples, solution, uncertainty, train, left_out, doubts)
    errors = np.full(system.robot.dof, np.nan) if left_out is None else 100.0 * left_out
    return replace(
        first,
        train=train,
        held_out=MappingProxyType(dict(zip(system.robot.joint_names, errors.tolist(), strict=True))),
        status=verdict.status,
        advice=(*verdict.advice, *hints, *prepared.remarks),
    )


def _unit(answer: Answer) -> float:
    """By which rows are to be multiplied so that they count as independent: neighbours say much the same."""
    return float(np.sqrt(np.mean(answer.noise.independent)))


def _bounds(robot: Robot, options: Options) -> Bounds | None:
    """Bounds of the bodies, if there are any; read before anything is fitted, as they may not be right."""
    if options.bounds is None:
        return None
    from dynid.physical.bounds_file import bounds_called

    return bounds_called(options.bounds, robot, source_of(robot))[0]


def _physical(
    estimate: Estimate,
    prepared: Prepared,
    answer: Answer,
    training: Sequence[Log],
    bounds: Bounds | None,
) -> Estimate:
    """The estimate as a set of bodies that can exist; the prior's weight by the folds of the logs."""
    from dynid.physical.estimate import make_physical

    folds = folds_of(prepared.system, prepared.samples)
    parts: list[Array] = []
    if folds is not None:  # equations of torques, whatever those of the method are
        sigma = weighted(total(folds.fitted)).sigma
        parts = [_unit(answer) * fold.joined(sigma) for fold in folds.fitted]
    options = prepared.options
    kind = options.prior if options.prior in ("none", "cad") else "auto"
    found = make_physical(estimate, prior=kind, folds=parts, metric=options.metric, bounds=bounds)
    return replace(found, train=found.validate(training)) if found.physical else found


def source_of(robot: Robot) -> RobotSource | None:
    """The text of the robot's URDF, which an export can patch; None for other formats."""
    found = urdf_text(robot)
    return None if found is None else RobotSource("urdf", *found)
