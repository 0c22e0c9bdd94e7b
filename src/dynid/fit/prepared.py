"""Choices before a fit: samples, unknowns and prior, each with the reason why it is as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dynid.errors import ArgumentError, quote
from dynid.fit.choose import Choice, choose_further, choose_presliding, choose_weight, choose_width
from dynid.fit.delay import Delay, advanced, estimate_delay
from dynid.fit.options import FRICTION_WORDS, Options
from dynid.fit.solve import Prior
from dynid.fit.system import System, Terms, system_of
from dynid.log.clean import clean
from dynid.log.cutoff import choose_cutoff
from dynid.log.log import Log
from dynid.log.prepare import prepare
from dynid.log.samples import Samples
from dynid.robot import Robot
from dynid.spatial import Array, frozen

Report = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Prepared:
    """Samples, unknowns and prior as chosen, and why."""

    options: Options
    system: System
    samples: Sequence[Samples]
    prior: Prior | None
    shape: Choice | None  # of friction, if it was not given
    choices: Mapping[str, Any]
    remarks: tuple[str, ...]


def prepare_problem(robot: Robot, logs: Sequence[Log], options: Options, say: Report) -> Prepared:
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
    system, shape = _stepped(system_of(robot, terms), samples, options, notes, say)
    delay = _delay(system, [system.remembering(one) for one in samples], options, notes, say)
    if delay.significant:
        samples = [advanced(one, delay.seconds) for one in samples]
        system, shape = _stepped(system, samples, options, notes, say)  # which a delay had blurred
    system, shape = _remembering(system, shape, samples, options, notes, say)
    samples = [system.remembering(one) for one in samples]
    if options.purpose == "prediction" and options.friction == "auto":
        say("trying further friction terms")
        system, tried = choose_further(system, samples)
        notes["friction_tried"] = list(tried)
    notes["friction"] = _words(system.terms.friction)
    notes["friction_side"] = robot.friction_side
    prior = _prior(system, samples, options, notes, say)
    remarks = tuple(note for one in samples for note in _of_source(one, len(samples) > 1))
    return Prepared(options, system, samples, prior, shape, notes, remarks)


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


def _stepped(
    system: System, samples: Sequence[Samples], options: Options, notes: dict[str, Any], say: Report
) -> tuple[System, Choice | None]:
    """The system with the width of Coulomb friction's step, given or chosen, and the choice."""
    choice: Choice | None = None
    if options.width is not None:
        notes["width_choice"] = "given"
    elif "Fc" in system.terms.friction:
        say("choosing the width of Coulomb friction")
        choice = choose_width(system, samples)
        notes["width_choice"] = str(choice)
        system = system.shaped(replace(system.terms, width=choice.value))
    notes["width"] = system.terms.width
    return system, choice


def _remembering(
    system: System,
    width: Choice | None,
    samples: Sequence[Samples],
    options: Options,
    notes: dict[str, Any],
    say: Report,
) -> tuple[System, Choice | None]:
    """The system with the distance of presliding, given or chosen, and the choice that shaped friction.

    It stands in for the step if it pays; efforts that are late turn late, too, so delays go first.
    """
    if options.presliding is not None:
        notes["presliding_choice"] = "given"
    elif width is not None:
        say("choosing the distance of presliding")
        choice = choose_presliding(system, samples)
        notes["presliding_choice"] = str(choice)
        if choice.value:
            width, system = choice, system.shaped(replace(system.terms, presliding=choice.value))
    notes["presliding"] = system.terms.presliding
    return system, width


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
