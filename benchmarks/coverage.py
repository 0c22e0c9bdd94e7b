"""Whether 95 % intervals contain the truth in 95 % of cases: simulated identifications, each with new noise.

A log is an exact motion and the efforts it needs, with white noise of encoders on the positions and coloured
noise on the efforts: a first-order process that remembers 20 samples, 2 % of each joint's RMS effort. It goes
through `dynid.identify` with all defaults, which chooses cut-off, width of Coulomb friction, delay and prior
anew each time. The width of the true friction lies between the candidates.

Run it with:  python -m benchmarks.coverage [runs] [case ...]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.signal import lfilter

from benchmarks.measure import Row
from dynid import Log, Robot, identify, load_robot
from dynid.estimate import Estimate
from dynid.fit.system import SLIDE_SHARE
from dynid.log.log import Provenance
from dynid.model import DynamicModel, model_of
from dynid.statistics import interval_factor
from dynid.trajectory import Trajectory, make_trajectory

RUNS = 200
RATE_HZ, SECONDS = 200.0, 20.0
BASE_HZ, HARMONICS = 0.2, 6
EFFORT_NOISE, MEMORY = 0.02, 0.95  # of the RMS effort; correlation from one sample to the next
ENCODER_NOISE = 2e-5  # rad or m
WIDTH = 0.03  # rad/s, of the true friction's step
WRONG = 0.2  # relative error of a file's values where these are wrong


@dataclass(frozen=True)
class Case:
    """An arm, and what `identify` is told of it."""

    model: DynamicModel
    robot: Robot
    seconds: float = SECONDS


@dataclass(frozen=True, eq=False)
class Coverage:
    """Which intervals of p values contained the truth, (runs, p): ours and the white-noise formula's."""

    names: tuple[str, ...]
    inside: np.ndarray
    white: np.ndarray

    @property
    def pooled(self) -> float:
        return float(self.inside.mean())

    @property
    def least(self) -> float:
        return float(self.inside.mean(axis=0).min())

    @property
    def least_name(self) -> str:
        return self.names[int(self.inside.mean(axis=0).argmin())]

    def summary(self) -> str:
        return (
            f"{100 * self.pooled:.1f} % of {self.inside.size} intervals contain the truth, "
            f"of {self.least_name} {100 * self.least:.1f} %; "
            f"by the white-noise formula {100 * self.white.mean():.1f} %"
        )


# --- the arms -------------------------------------------------------------------------------------------


def three_joints() -> Case:
    """The arm of [GK1992] with drives, as its file says."""
    model = with_drives(load_robot("gk3"))
    return Case(model, model.as_robot())


def wrong_file() -> Case:
    """The same, but its file, to which a prior may draw, is wrong in all values."""
    model = with_drives(load_robot("gk3"))
    rng = np.random.default_rng(7)
    wrong = model.parameters * (1.0 + WRONG * rng.normal(size=len(model.parameters)))
    return Case(model, replace(model, parameters=wrong).as_robot())


def short_logs() -> Case:
    """The same as the first, with half as long a log."""
    return replace(three_joints(), seconds=0.5 * SECONDS)


def with_a_slide() -> Case:
    """The built-in SCARA, whose third joint slides."""
    robot = load_robot("scara")
    return Case(with_width(model_of(robot)), robot)


def seven_joints() -> Case:
    model = with_drives(load_robot("panda"))
    return Case(model, model.as_robot())


CASES: dict[str, Callable[[], Case]] = {
    "three joints": three_joints,
    "wrong file": wrong_file,
    "short logs": short_logs,
    "slide": with_a_slide,
    "seven joints": seven_joints,
}


def with_drives(robot: Robot) -> DynamicModel:
    """Motor inertias and friction of an ordinary size."""
    rng, n = np.random.default_rng(3), robot.dof
    model = with_width(model_of(robot))
    friction = replace(
        model.friction,
        viscous=rng.uniform(0.1, 0.6, n),
        coulomb=rng.uniform(0.2, 0.8, n),
        offset=rng.uniform(-0.3, 0.3, n),
    )
    return replace(model, armature=rng.uniform(0.02, 0.1, n), friction=friction)


def with_width(model: DynamicModel) -> DynamicModel:
    """The model with smooth Coulomb friction; joints that slide are slower, here as in a fit."""
    robot = model.robot
    slides = np.array([robot.joints[j].prismatic for j in robot.free])
    width = WIDTH * np.where(slides, SLIDE_SHARE, 1.0)
    return replace(model, friction=replace(model.friction, width=width))


# --- the runs -------------------------------------------------------------------------------------------


def study(case: Case, runs: int, **options: object) -> Coverage:
    """Identifications of a case; options are for `identify`, the defaults if there are none."""
    path = motion(case.robot, case.seconds)
    exact = case.model.efforts(path.q, path.qd, path.qdd)
    inside: list[np.ndarray] = []
    white: list[np.ndarray] = []
    names: tuple[str, ...] = ()
    for seed in range(runs):
        estimate = identify(case.robot, noisy_log(path, exact, seed), **options)
        names, errors = estimate.names, np.abs(estimate.values - truth(case.model, estimate))
        factor = interval_factor(estimate.freedom)
        inside.append(errors <= factor * estimate.std)
        white.append(errors <= factor * estimate.white_std)
    return Coverage(names, np.array(inside), np.array(white))


def motion(robot: Robot, seconds: float) -> Trajectory:
    """A sum of sines about the middle of each joint's range, with its exact derivatives."""
    rng, n = np.random.default_rng(1), robot.dof
    t = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    limits = [robot.joints[j].limits for j in robot.free]
    q, qd, qdd = np.zeros((3, len(t), n))
    q += [0.5 * (limit.lower + limit.upper) for limit in limits]
    reach = 0.3 * np.array([min(limit.upper - limit.lower, 2.0) for limit in limits])
    for k in range(1, HARMONICS + 1):
        w, a = 2.0 * np.pi * k * BASE_HZ, reach / k * rng.normal(size=n)
        phase = w * t[:, None] + rng.uniform(0.0, 2.0 * np.pi, n)
        q += a * np.sin(phase)
        qd += w * a * np.cos(phase)
        qdd -= w * w * a * np.sin(phase)
    return make_trajectory(robot.joint_names, t, q, qd, qdd)


def noisy_log(path: Trajectory, exact: np.ndarray, seed: int) -> Log:
    """The log of a motion with the noise of one run."""
    rng, settling = np.random.default_rng(seed), round(20.0 / (1.0 - MEMORY))
    white = rng.normal(size=(len(exact) + settling, exact.shape[1]))
    noise = lfilter([np.sqrt(1.0 - MEMORY**2)], [1.0, -MEMORY], white, axis=0)[settling:]
    return Log(
        joint_names=path.joint_names,
        stamp_ns=np.round(path.times * 1e9).astype(np.int64),
        epoch_ns=0,
        position=path.q + ENCODER_NOISE * rng.normal(size=path.q.shape),
        velocity=None,
        effort=exact + EFFORT_NOISE * np.sqrt(np.mean(exact**2, axis=0)) * noise,
        provenance=Provenance(f"run {seed}", ""),
    )


def truth(model: DynamicModel, estimate: Estimate) -> np.ndarray:
    """The unknowns of an estimate as they are, (p,)."""
    known = dict(zip(model.robot.parameter_names, model.parameters, strict=True))
    for letter, values in (("Ia", model.armature), *model.friction.constants.items()):
        known |= {f"{letter}{k + 1}": value for k, value in enumerate(values)}
    base = estimate.system.base
    return base.values([known[column] for column in base.columns])


def rows() -> list[Row]:
    found: list[Row] = []
    for name in ("three joints", "wrong file"):
        coverage = study(CASES[name](), RUNS)
        met = 0.92 <= coverage.pooled <= 0.97 and coverage.least >= 0.85
        figure = f"{100 * coverage.pooled:.1f} %, least {100 * coverage.least:.1f} %"
        plain = f"white-noise formula {100 * coverage.white.mean():.1f} %"
        what = f"95 % intervals with the truth in them, {name}, {RUNS} runs ({plain})"
        found.append(Row(what, figure, "92 - 97 %, least 85 %", met))
    return found


def main(arguments: list[str]) -> int:
    runs = int(arguments[0]) if arguments else RUNS
    for name in arguments[1:] or CASES:
        print(f"{name}: {study(CASES[name](), runs).summary()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
