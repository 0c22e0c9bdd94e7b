"""The steps of the demonstration, each through the function that the command of the same name calls."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dynid.base import base_parameters
from dynid.codegen.functions import Generated, generate
from dynid.codegen.listing import Listing
from dynid.codegen.package import files_of, write
from dynid.demo.files import CODE, ESTIMATE, FORMATS, LOG, MOTION, PREFIX, REPORT
from dynid.demo.result import Demo
from dynid.demo.setting import CONTROL_HZ, NOISE, RATE_HZ, fast_move, nominal_arm, setup, true_arm
from dynid.estimate import Estimate
from dynid.excite.optimise import Excitation, exciting_trajectory
from dynid.export.write import export, save
from dynid.fit.identify import identify
from dynid.log.check import Report as Health
from dynid.log.check import check
from dynid.log.log import Log
from dynid.log.read import read_log
from dynid.log.write import write_log
from dynid.model import DynamicModel, model_of
from dynid.plant.simulation import FRICTION_WIDTH, Run, run
from dynid.report.from_estimate import operations_of, report_data
from dynid.report.page import write_report
from dynid.robot import Robot
from dynid.spatial import Array
from dynid.tracking import Tracking, track
from dynid.trajectory import Trajectory, write_trajectory
from dynid.validation import compare, scores

Report = Callable[[str], None]

MOTIONS = ((20.0, 8), (20.0, 8), (10.0, 5))  # period in s and harmonics: two for training, one for validation
STARTS = 3
CUTOFF_HZ = 12.0  # far above the 0.5 Hz of the motions, so that reversals of friction stay short
# Samples beside a reversal of Coulomb friction are outliers of any filter: they should weigh less.
CHOSEN = "irls"
OTHERS = ("ols", "wls", "iv", "energy")
SEARCH = 30_000  # steps of programs that the search for cheap code may simplify: seconds


def run_demo(directory: Path, *, seed: int = 0, force: bool = False, say: Report = lambda _: None) -> Demo:
    """Run all steps; files go to a directory that is there."""
    return _Chain(directory, seed, force, say).run()


@dataclass(frozen=True, eq=False)
class _Chain:
    """One demonstration under way."""

    directory: Path
    seed: int
    force: bool
    say: Report

    def run(self) -> Demo:
        started = time.perf_counter()
        arm = true_arm()
        nominal = nominal_arm(arm, self.seed)
        base = base_parameters(nominal, armature=True, friction=True, offset=True)
        self.say(f"1/8 {arm.name}: {base.count} of {len(base.columns)} parameters can be told apart")
        motions = self._motions(nominal)
        training, unseen, simulated = self._logs(arm, nominal, [one.trajectory for one in motions])
        health = check(nominal, training)
        self.say(f"4/8 health check: the logs are {health.verdict}")
        estimators = self._estimators(nominal, training, unseen)
        estimate = estimators[CHOSEN]
        generated = self._exports(estimate)
        tracking = self._tracking(arm, {"identified": estimate, "nominal": nominal, "true": arm})
        demo = Demo(
            arm=arm,
            seed=self.seed,
            base_count=base.count,
            excitations=tuple(motions),
            verdict=health.verdict,
            estimators=estimators,
            chosen=CHOSEN,
            noise=_noise(simulated),
            error=_error(estimate, simulated),
            floor=_floor(arm, unseen),
            operations=generated,
            tracking=tracking,
            seconds=time.perf_counter() - started,
        )
        self._report(demo, training, unseen, health)
        return demo

    def _motions(self, nominal: Robot) -> list[Excitation]:
        """Exciting trajectories within the limits, as files, the last for validation."""
        found: list[Excitation] = []
        for k, (period, harmonics) in enumerate(MOTIONS):
            one = exciting_trajectory(
                nominal,
                period=period,
                harmonics=harmonics,
                seed=self.seed + k,
                starts=STARTS,
                rate_hz=RATE_HZ,
                armature=True,
                friction=True,
                offset=True,
            )
            write_trajectory(one.trajectory, self.directory / MOTION.format(k + 1), force=self.force)
            found.append(one)
        conditions = ", ".join(f"{one.condition:.3g}" for one in found)
        self.say(f"2/8 exciting trajectories within all limits: condition numbers {conditions}")
        return found

    def _logs(self, arm: Robot, nominal: Robot, motions: list[Trajectory]) -> tuple[list[Log], Log, Run]:
        """The arm's logs along the motions, written and read again; of the last what is behind it, too."""
        logs: list[Log] = []
        runs: list[Run] = []
        for k, motion in enumerate(motions):
            self.say(f"3/8 simulating motion {k + 1} of {len(motions)} ({motion.times[-1]:.0f} s) ...")
            runs.append(run(arm, motion, setup(nominal), seed=self.seed + k))
            path = self.directory / LOG.format(k + 1)
            write_log(runs[-1].log, path, force=self.force)
            logs.append(read_log(path, nominal))
        return logs[:-1], logs[-1], runs[-1]

    def _estimators(self, nominal: Robot, training: list[Log], unseen: Log) -> dict[str, Estimate]:
        """Several estimators on the same logs; the others take over what the first has chosen from them."""
        self.say(f"5/8 identifying by {CHOSEN}, then {', '.join(OTHERS)} ...")
        first = identify(
            nominal, training, validate=unseen, method=CHOSEN, cutoff_hz=CUTOFF_HZ, physical=True
        )
        given = {name: first.choices[name] for name in ("cutoff_hz", "width", "presliding")}
        return {CHOSEN: first} | {
            method: identify(
                nominal, training, validate=unseen, method=method, delay=first.choices["delay_s"], **given
            )
            for method in OTHERS
        }

    def _exports(self, estimate: Estimate) -> Generated:
        """The estimate as files for other programs, and as C."""
        estimate.save(self.directory / ESTIMATE, force=self.force)
        for name, format in FORMATS.items():
            save(export(estimate, format), self.directory / name, force=self.force)
        generated = generate(estimate.model, effort=SEARCH)
        files = files_of(Listing(generated, PREFIX, ESTIMATE), ["c"])
        write(self.directory / CODE, files, force=self.force)
        total = generated.function("inverse_dynamics").operations
        self.say(
            f"6/8 exported as {', '.join(FORMATS)} and as C: inverse dynamics in {total.mul} multiplications "
            f"and {total.add} additions"
        )
        return generated

    def _tracking(self, arm: Robot, models: dict[str, Estimate | Robot]) -> dict[str, Tracking]:
        """The arm driven open-loop through a fast move of all joints, each model telling it what to do."""
        self.say("7/8 driving all joints at once by each model alone ...")
        move = fast_move(arm)
        return {
            name: track(arm, _with_sign(model), move, control_hz=CONTROL_HZ) for name, model in models.items()
        }

    def _report(self, demo: Demo, training: list[Log], unseen: Log, health: Health) -> None:
        self.say("8/8 writing the report ...")
        data = report_data(
            demo.estimate,
            training,
            [unseen],
            health,
            operations=operations_of(demo.operations),
            others=demo.estimators,
            tracking=demo.tracking,
            command=f"dynid demo --seed {self.seed}",
        )
        write_report(self.directory / REPORT, data, force=self.force)


def _with_sign(model: Estimate | Robot) -> DynamicModel:
    """A model whose Coulomb friction has the sign of the velocity, as in code for controllers."""
    found = model.model if isinstance(model, Estimate) else model_of(model)
    return replace(found, friction=replace(found.friction, width=0.0, presliding=0.0))


def _noise(simulated: Run) -> Array:
    """Standard deviation of the torque noise in a log, (n,)."""
    return NOISE * np.sqrt(np.mean(simulated.truth.effort**2, axis=0))


def _error(estimate: Estimate, simulated: Run) -> Array:
    """RMS of measured less identified torques along the motion as it really was, (n,).

    Friction turns where it turns in the simulation: what happens there is not in the logs.
    """
    log, motion = simulated.log, simulated.truth.at(simulated.log.stamp_ns)
    friction = replace(estimate.friction, width=FRICTION_WIDTH, presliding=0.0)
    torques = replace(estimate.model, friction=friction).efforts(motion.q, motion.qd, motion.qdd)
    assert log.effort is not None
    return np.sqrt(np.mean((log.effort - torques) ** 2, axis=0))


def _floor(arm: Robot, log: Log) -> Array:
    """What the true model leaves of a log: noise, and what the filter makes of reversing friction."""
    true = model_of(arm, FRICTION_WIDTH)
    comparison = compare(arm, log, lambda samples: true.efforts(samples.q, samples.qd, samples.qdd))
    return np.array([score.rmse for score in scores([comparison]).values()])
