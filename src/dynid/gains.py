"""Drive gains in Nm/A from logs of currents without a load and with one of known mass.

Currents alone tell the arm's parameters up to one factor, and the ratios of the gains of joints that share
parameters. The known mass sets the factor: the load adds B_L phi to the base values, with phi the ten
parameters of a body on the last link of which the mass, and perhaps the centre of mass, is known. Friction
may change from one run to the other. `fit.drive_gains` has the equations.

The fit is in 1 / gain, where noise enters linearly. Intervals are those of 1 / gain turned over, so where
these contain zero the data cannot tell the gain, and its interval has no end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import ArgumentError
from dynid.estimate import Estimate
from dynid.fit.delay import advanced
from dynid.fit.drive_gains import Found, Run, covariance, find_gains
from dynid.fit.identify import checked_options, identify
from dynid.fit.judge import listed
from dynid.fit.reduction import reduce, total
from dynid.fit.system import System, Terms, system_of
from dynid.log.log import Log
from dynid.log.prepare import prepare
from dynid.log.read import read_log
from dynid.log.samples import Samples
from dynid.payload import Report, Source, link_number, settings_of
from dynid.robot import Robot
from dynid.spatial import Array, frozen
from dynid.statistics import deviations, interval_factor

Verdict = Literal["determined", "rough", "undetermined"]
Status = Literal["trusted", "weak"]

FIRST_CUTOFF_HZ = 5.0  # of the first look, before there are torques to choose a band with
ROUGH = 0.1  # of a gain: half a 95 % interval beyond which nobody should build on it


@dataclass(frozen=True, eq=False, kw_only=True)
class Gains:
    """Gains of n joints in Nm/A (N/A where they slide), gear included."""

    joint_names: tuple[str, ...]
    values: Array  # (n,), NaN where the data tell nothing
    std: Array  # (n,), infinite there
    interval: Array  # (n, 2), 95 %
    verdicts: tuple[Verdict, ...]
    mass: float  # kg, of the load, as given
    com: Array  # (3,) m, of the load in the frame of the link that carries it: given, or found along
    com_std: Array  # (3,)
    link: str
    status: Status
    advice: tuple[str, ...]
    choices: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """What `dynid gains --json` prints."""
        rows = zip(
            self.joint_names,
            self.values.tolist(),
            self.std.tolist(),
            self.interval.tolist(),
            self.verdicts,
            strict=True,
        )
        return {
            "gains": {
                name: {
                    "gain": gain,
                    "std": std,
                    "relative_std_percent": 100.0 * std / abs(gain),
                    "interval": interval,
                    "verdict": verdict,
                }
                for name, gain, std, interval, verdict in rows
            },
            "gain": self.values,
            "mass": self.mass,
            "com": self.com,
            "com_std": self.com_std,
            "link": self.link,
            "status": self.status,
            "advice": self.advice,
            "choices": self.choices,
        }


def gains(
    robot: Robot,
    without: Source | Sequence[Source],
    with_load: Source | Sequence[Source],
    mass: float,
    *,
    com: ArrayLike | None = None,
    link: str | None = None,
    report: Report | None = None,
    **options: Any,
) -> Gains:
    """The gains of a robot's drives from logs of currents without a load and with one of `mass` (kg).

    Paths are read as currents; a `Log` that was read with gains counts as torques by these, and what is found
    includes them. `link` carries the load, by default the last; `com` (3,) is its centre of mass in that
    link's frame, if it is known. Options are those of `identify` (cutoff_hz=, friction=, ...).
    """
    known, free = _known_load(mass, com)
    number = link_number(robot, link)
    say = report or _silently
    logs = [_read(robot, without, "without"), _read(robot, with_load, "with")]
    nominal = _nominal(robot, [log for run in logs for log in run])

    say("a first look at the gains")
    first = checked_options(options)
    system = system_of(robot, Terms(friction=first.letters, armature=first.armature))
    cutoff_hz = first.cutoff_hz or FIRST_CUTOFF_HZ
    samples = [[_samples(robot, log, cutoff_hz, 0.0) for log in run] for run in logs]
    rough = find_gains(_problem(system, samples, number, known, free))

    fits = _fits(robot, logs, _ratios(rough.g), options, say)
    said = settings_of(fits[0])
    system = fits[0].system
    samples = [[_samples(robot, log, said["cutoff_hz"], said["delay"]) for log in run] for run in logs]
    problem = _problem(system, samples, number, known, free)
    say("fitting the gains")
    found = find_gains(problem)
    spread = covariance(system, problem, found, samples)
    return _judged(robot, fits, found, spread, nominal, (float(mass), known, free), number)


def _silently(_: str) -> None:
    """No report."""


def _known_load(mass: float, com: ArrayLike | None) -> tuple[Array, Array]:
    """What is known of the load's ten parameters, (10,), and unit vectors of what is not, (10, k)."""
    if not (math.isfinite(mass) and mass > 0.0):
        raise ArgumentError(f"the load's mass must be a positive number of kg, not {mass:g}")
    known = np.zeros(10)
    known[9] = mass
    if com is None:
        return known, np.eye(10)[:, :9]
    centre = np.asarray(com, dtype=np.float64)
    if centre.shape != (3,) or not np.isfinite(centre).all():
        raise ArgumentError(f"the load's centre of mass must be three finite numbers of m, not {com}")
    known[6:9] = mass * centre
    return known, np.eye(10)[:, :6]


# --- the runs ----------------------------------------------------------------------------------------


def _read(robot: Robot, logs: Source | Sequence[Source], which: str) -> list[Log]:
    given = (
        [logs] if isinstance(logs, Log) or not isinstance(logs, Sequence) or isinstance(logs, str) else logs
    )
    if not given:
        raise ArgumentError(f"a log {which} the load is needed")
    ones = np.ones(robot.dof).tolist()
    return [
        log if isinstance(log, Log) else read_log(log, robot, effort="current", gain=ones) for log in given
    ]


def _nominal(robot: Robot, logs: Sequence[Log]) -> Array:
    """The gains that the logs were read with, (n,)."""
    said = {log.provenance.options.get("gain", "") for log in logs}
    if len(said) > 1:
        raise ArgumentError("all logs must be read with the same gains")
    text = said.pop()
    return np.array([float(part) for part in text.split(",")]) if text else np.ones(robot.dof)


def _samples(robot: Robot, log: Log, cutoff_hz: float, delay_s: float) -> Samples:
    samples = prepare(log, robot, cutoff_hz=cutoff_hz)
    return advanced(samples, delay_s) if delay_s else samples


def _problem(
    system: System, samples: Sequence[Sequence[Samples]], number: int, known: Array, free: Array
) -> list[Run]:
    """The runs without and with the load: rigid values in common, friction of each, then the load."""
    base, p = system.base, len(system.names)
    rigid = np.array([k for k, name in enumerate(base.kept) if not name.startswith("F")])
    own = np.setdiff1d(np.arange(p), rigid)
    added = base.matrix[rigid, 10 * number : 10 * number + 10]
    problem: list[Run] = []
    for k, logs in enumerate(samples):
        constant, V = np.zeros(p), np.zeros((p, len(rigid) + 2 * len(own) + free.shape[1]))
        V[rigid, np.arange(len(rigid))] = 1.0
        V[own, len(rigid) + k * len(own) + np.arange(len(own))] = 1.0
        if k == 1:
            constant[rigid] = added @ known
            V[rigid, V.shape[1] - free.shape[1] :] = added @ free
        problem.append(Run(total([reduce(system, one) for one in logs]), constant, V))
    return problem


def _ratios(g: Array) -> Array:
    """Gains beside the usual one: enough to choose by, and finite even where the load was not felt."""
    sizes = np.abs(g)
    usual = float(np.median(sizes))
    return np.where(sizes > 1e-3 * usual, usual / np.where(g == 0.0, 1.0, g), 1.0)


def _fits(
    robot: Robot, logs: Sequence[Sequence[Log]], gain: Array, options: Mapping[str, Any], say: Report
) -> list[Estimate]:
    """Both runs identified with rough gains: what was chosen for the first holds for the second."""
    fits: list[Estimate] = []
    for which, run in zip(("without", "with"), logs, strict=True):
        torques = [
            log if log.effort is None else replace(log, effort=frozen(log.effort * gain)) for log in run
        ]
        fixed = settings_of(fits[0]) if fits else {}

        def say_which(text: str, which: str = which) -> None:
            say(f"{which} the load: {text}")

        fits.append(identify(robot, torques, report=say_which, **{"prior": "none", **options, **fixed}))
    return fits


# --- what they are worth -----------------------------------------------------------------------------


def _judged(
    robot: Robot,
    fits: Sequence[Estimate],
    found: Found,
    spread: Array,
    nominal: Array,
    load: tuple[float, Array, Array],
    number: int,
) -> Gains:
    n = robot.dof
    mass, known, free = load
    factor = interval_factor(min(fit.freedom for fit in fits))
    deviation = deviations(spread)
    ends = np.array([_turned_over(*pair, factor) for pair in zip(found.g, deviation[:n], strict=True)])
    told = np.isfinite(ends).all(axis=1)
    values = np.where(told, nominal / np.where(told, found.g, 1.0), np.nan)
    interval = np.sort(nominal[:, None] * ends, axis=1)
    verdicts: list[Verdict] = [_verdict(*pair) for pair in zip(values.tolist(), interval, strict=True)]
    k = free.shape[1]
    phi = known + free @ found.u[len(found.u) - k :]
    centre_std = np.zeros(3) if k == 6 else deviations(spread)[-3:] / mass
    reasons = [*_of_fits(fits), *_doubts(robot, values, verdicts)]
    return Gains(
        joint_names=robot.joint_names,
        values=frozen(values),
        std=frozen(np.where(told, np.abs(values) * deviation[:n] / np.abs(found.g), np.inf)),
        interval=frozen(interval),
        verdicts=tuple(verdicts),
        mass=mass,
        com=frozen(phi[6:9] / mass),
        com_std=frozen(centre_std),
        link=robot.links[number].name,
        status="weak" if reasons else "trusted",
        advice=tuple(reasons),
        choices=settings_of(fits[0]),
    )


def _turned_over(g: float, deviation: float, factor: float) -> tuple[float, float]:
    """The interval of 1 / g, without ends where that of g contains zero."""
    low, high = g - factor * deviation, g + factor * deviation
    if not (math.isfinite(deviation) and low * high > 0.0):
        return -math.inf, math.inf
    return 1.0 / high, 1.0 / low


def _verdict(value: float, interval: Array) -> Verdict:
    half = 0.5 * float(interval[1] - interval[0])
    if not math.isfinite(half):
        return "undetermined"
    return "determined" if half <= ROUGH * abs(value) else "rough"


def _of_fits(fits: Sequence[Estimate]) -> list[str]:
    """What is wrong with the runs themselves."""
    return [
        f"the fit of the run {which} the load failed: {' '.join(fit.advice[:1])}"
        for which, fit in zip(("without", "with"), fits, strict=True)
        if fit.status == "failed"
    ]


def _doubts(robot: Robot, values: Array, verdicts: Sequence[Verdict]) -> list[str]:
    """Why the gains should not be built on."""
    names = robot.joint_names
    by_verdict = {
        verdict: [name for name, own in zip(names, verdicts, strict=True) if own == verdict]
        for verdict in ("determined", "rough", "undetermined")
    }
    if not by_verdict["determined"] and not by_verdict["rough"]:
        return [
            "the currents do not tell the load from none: check that it was on in the logs of --with only, "
            "take a heavier one, or move the joints before the last against gravity"
        ]
    reasons: list[str] = []
    if (values < 0.0).all():
        reasons.append(
            "all gains come out negative: the logs without and with the load may be swapped, or the currents "
            "count backwards (--sign)"
        )
    if by_verdict["undetermined"]:
        reasons.append(
            f"these logs do not tell the gain of {listed(by_verdict['undetermined'])}: too little of "
            "the load is in its current: mount it away from that joint's axis, and move all joints together"
        )
    if by_verdict["rough"]:
        reasons.append(
            f"known to more than {100.0 * ROUGH:.0f} % only: {listed(by_verdict['rough'])}; a heavier "
            "load, its centre of mass (--com) or longer logs with larger motions make it better"
        )
    return reasons
