"""From a robot and its logs to an estimate: all choices, the fit, and what it is worth.

    logs -> samples, with one cut-off -> friction's width -> delay -> further terms, if asked for
         -> prior's weight -> the fit -> uncertainty, scores, verdict -> a physical set, if asked for

Every choice is made inside the training logs, says why in `Estimate.choices`, and can be set instead.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from dynid.errors import ArgumentError, choices, quote
from dynid.estimate import Estimate, RobotSource
from dynid.fit.choose import (
    Choice,
    choose_further,
    choose_presliding,
    choose_weight,
    choose_width,
    folds_of,
    held_out,
)
from dynid.fit.delay import Delay, advanced, estimate_delay
from dynid.fit.given import Source, check_together, loaded, provenance, read_given, several
from dynid.fit.judge import judge, misread
from dynid.fit.long import Work, check_method, whole_problem
from dynid.fit.methods import METHODS, Answer, Problem, fit
from dynid.fit.one_joint_logs import one_joint
from dynid.fit.options import FRICTION_WORDS, Options
from dynid.fit.reduction import total
from dynid.fit.solve import Prior, weighted
from dynid.fit.spread import widened
from dynid.fit.system import System, Terms, system_of
from dynid.formats.urdf_text import urdf_text
from dynid.log.clean import clean
from dynid.log.cutoff import choose_cutoff
from dynid.log.log import Log
from dynid.log.long import LongLogs
from dynid.log.prepare import prepare
from dynid.log.samples import Samples
from dynid.physical.bounds import Bounds
from dynid.robot import Robot
from dynid.spatial import Array, frozen
from dynid.validation import Score

Report = Callable[[str], None]
READING = ("effort", "gain", "positions", "degrees", "sign", "columns", "joints", "topic")


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
    prepared = _prepare(robot, training, chosen, say)
    say(f"fitting {len(prepared.system.names)} unknowns ({chosen.method})")
    problem = Problem(prepared.system, prepared.samples, prepared.prior)
    if isinstance(given, LongLogs):
        problem, more, remarks = whole_problem(given, problem, chosen, prepared.choices, work, say)
        prepared = replace(prepared, choices={**prepared.choices, **more}, remarks=remarks)
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


# --- choices -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Prepared:
    """Samples, unknowns and prior as chosen, and why."""

    options: Options
    system: System
    samples: Sequence[Samples]
    prior: Prior | None
    shape: Choice | None  # of friction, if it was not given
    choices: Mapping[str, Any]
    remarks: tuple[str, ...]


def _prepare(robot: Robot, logs: Sequence[Log], options: Options, say: Report) -> _Prepared:
    notes: dict[str, Any] = {"method": options.method, "purpose": options.purpose}
    samples = _samples(robot, logs, options, notes, say)
    _check_motion(robot, samples)
    terms = Terms(
        armature=options.armature,
        friction=options.letters,
        extra=tuple(sorted(logs[0].extra)),
        load_parameters=_load_parameters(robot, options),
        **({} if options.width is None else {"width": options.width}),
        presliding=options.presliding or 0.0,
    )
    system, shape = _shaped(system_of(robot, terms), samples, options, notes, say)
    samples = [system.remembering(one) for one in samples]
    delay = _delay(system, samples, options, notes, say)
    if delay.significant:
        samples = [advanced(one, delay.seconds) for one in samples]
    if options.purpose == "prediction" and options.friction == "auto":
        say("trying further friction terms")
        system, tried = choose_further(system, samples)
        notes["friction_tried"] = list(tried)
    notes["friction"] = _words(system.terms.friction)
    notes["friction_side"] = robot.friction_side
    prior = _prior(system, samples, options, notes, say)
    remarks = tuple(note for one in samples for note in _of_source(one, len(samples) > 1))
    return _Prepared(options, system, samples, prior, shape, notes, remarks)


def _samples(
    robot: Robot, logs: Sequence[Log], options: Options, notes: dict[str, Any], say: Report
) -> list[Samples]:
    """Samples of all logs in one band: that of the longest log, unless one is given."""
    cutoff_hz = options.cutoff_hz
    notes["cutoff"] = "given"
    if cutoff_hz is None:
        say("choosing the cut-off")
        choice = choose_cutoff(clean(max(logs, key=len), robot), robot)
        cutoff_hz, notes["cutoff"] = choice.cutoff_hz, str(choice)
    notes["cutoff_hz"] = cutoff_hz
    notes["derivative"], notes["velocity"] = options.derivative, options.velocity
    notes["standstill_speed"] = options.standstill_speed
    return [
        prepare(
            log,
            robot,
            cutoff_hz=cutoff_hz,
            derivative=options.derivative,
            velocity=options.velocity,
            standstill_speed=options.standstill_speed,
            exclude=options.exclude,
        )
        for log in logs
    ]


def _check_motion(robot: Robot, samples: Sequence[Samples]) -> None:
    """Refuse logs in which nothing moves, or that are shorter than the unknowns."""
    rows = sum((one.weights > 0.0).sum(axis=0) for one in samples)
    if not np.any(rows):
        raise ArgumentError(
            f"{_sources(samples)}: no joint moves while its effort is known, so there is nothing to fit: "
            "record a motion of all joints ('dynid excite' finds one)"
        )


def _sources(samples: Sequence[Samples]) -> str:
    return ", ".join(one.provenance.source for one in samples)


def _shaped(
    system: System, samples: Sequence[Samples], options: Options, notes: dict[str, Any], say: Report
) -> tuple[System, Choice | None]:
    """The system with the shape of Coulomb friction, given or chosen, and the choice that decided.

    First the width of its step; then the distance of presliding, which stands in for the step if it pays.
    """
    shape: Choice | None = None
    if options.width is not None:
        notes["width_choice"] = "given"
    elif "Fc" in system.terms.friction:
        say("choosing the width of Coulomb friction")
        shape = choose_width(system, samples)
        notes["width_choice"] = str(shape)
        system = system.shaped(replace(system.terms, width=shape.value))
    if options.presliding is not None:
        notes["presliding_choice"] = "given"
    elif shape is not None:
        say("choosing the distance of presliding")
        choice = choose_presliding(system, samples)
        notes["presliding_choice"] = str(choice)
        if choice.value:
            shape, system = choice, system.shaped(replace(system.terms, presliding=choice.value))
    notes["width"], notes["presliding"] = system.terms.width, system.terms.presliding
    return system, shape


def _delay(
    system: System, samples: Sequence[Samples], options: Options, notes: dict[str, Any], say: Report
) -> Delay:
    if options.delay is not None:
        notes["delay_s"], notes["delay"] = options.delay, "given"
        return Delay(options.delay, 0.0, 1.0, np.full(system.robot.dof, options.delay), options.delay != 0.0)
    say("looking for a delay between positions and efforts")
    delay = estimate_delay(system, samples, 1.0 / samples[0].rate_hz)
    notes["delay_s"], notes["delay"] = delay.seconds if delay.significant else 0.0, str(delay)
    return delay


def _prior(
    system: System, samples: Sequence[Samples], options: Options, notes: dict[str, Any], say: Report
) -> Prior | None:
    """What the values are drawn to, and how strongly, as far as held-out data want it."""
    known = _known_values(system)
    kind = options.prior
    if kind == "auto" and options.method == "one-joint":
        kind = "none"  # each joint's own equation, as the plan has it, or nothing
    if kind == "auto":
        kind = "ridge" if known is None else "cad"
    if kind == "cad" and known is None:
        missing = [link.name for link in system.robot.links if np.isnan(link.parameters).any()]
        raise ArgumentError(
            f"the prior 'cad' needs the inertias of the robot's file, which {system.robot.name} lacks for "
            f"{', '.join(map(quote, missing[:8]))}: complete the file, or choose 'ridge', which draws "
            "all values to zero, or 'none', which leaves them to the data"
        )
    notes["prior"], notes["prior_weight"] = kind, 0.0
    if kind == "none":
        return None
    target = known if kind == "cad" and known is not None else frozen(np.zeros(len(system.names)))
    weight = options.prior_weight
    notes["prior_choice"] = "given"
    if weight is None:
        say("choosing the prior's weight")
        choice = choose_weight(system, samples, target)
        weight, notes["prior_choice"] = choice.value, str(choice)
    notes["prior_weight"] = weight
    return Prior(target, weight)


def _known_values(system: System) -> Array | None:
    """The unknowns by the robot's file, (p,): NaN for those with constants that it does not give.

    Nor are those of friction taken from it: they change with load, wear and temperature.
    """
    robot = system.robot
    if not np.isfinite(robot.parameters).all():
        return None
    joints = [robot.joints[j] for j in robot.free]
    drives = [
        joints[int(name[2:]) - 1].armature if name.startswith("Ia") else np.nan
        for name in system.base.columns[len(robot.parameters) :]
    ]
    given = np.concatenate([robot.parameters, drives])
    values = system.base.values(np.nan_to_num(given, nan=0.0))
    values[(system.base.matrix[:, np.isnan(given)] != 0.0).any(axis=1)] = np.nan
    return frozen(np.concatenate([values, np.full(len(system.names) - len(values), np.nan)]))


def _load_parameters(robot: Robot, options: Options) -> Array | None:
    if "Fl" not in options.letters:
        return None
    if not np.isfinite(robot.parameters).all():
        raise ArgumentError(
            f"load-dependent friction needs the load: {robot.name} has no inertial parameters to compute it"
        )
    return robot.parameters


def _words(letters: Sequence[str]) -> str:
    return ",".join(word for word, letter in FRICTION_WORDS.items() if letter in letters) or "none"


def _of_source(samples: Samples, several: bool) -> list[str]:
    return [f"{samples.provenance.source}: {note}" if several else note for note in samples.notes]


# --- the estimate --------------------------------------------------------------------------------------


def _estimate(prepared: _Prepared, problem: Problem, answer: Answer, training: Sequence[Log]) -> Estimate:
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
    doubts = [] if prepared.options.method == "one-joint" else misread(system.robot, training)
    verdict = judge(system, prepared.samples, solution, uncertainty, train, left_out, doubts)
    errors = np.full(system.robot.dof, np.nan) if left_out is None else 100.0 * left_out
    return replace(
        first,
        train=train,
        held_out=MappingProxyType(dict(zip(system.robot.joint_names, errors.tolist(), strict=True))),
        status=verdict.status,
        advice=(*verdict.advice, *prepared.remarks),
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
    prepared: _Prepared,
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
