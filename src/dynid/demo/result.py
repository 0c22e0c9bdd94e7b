"""What the demonstration found, what it claims of that, and both as a table.

The floor of a prediction is what noise leaves of the true model on the same log: noise of the torques, and
what encoders, jitter and lost samples make of the motion, above all where friction turns with it. Along the
motion as it really was, which only a simulation knows, there is the noise of the torques alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dynid.codegen.functions import Generated
from dynid.estimate import Estimate
from dynid.excite.optimise import Excitation
from dynid.log.findings import Verdict
from dynid.robot import Robot
from dynid.spatial import Array
from dynid.tracking import Tracking

FLOOR = 1.3  # times the true model's error that a prediction may be off
NEAR_TRUE = 1.2  # times the true model's tracking error that the identified one's may be
OF_NOMINAL = 1.0 / 3.0  # and of the nominal one's


@dataclass(frozen=True, eq=False, kw_only=True)
class Demo:
    """All results; arrays are (n,), one entry per joint."""

    arm: Robot
    seed: int
    base_count: int
    excitations: tuple[Excitation, ...]  # for training, then for validation
    verdict: Verdict  # of the logs' health
    estimators: Mapping[str, Estimate]  # by method
    chosen: str  # the method that everything else rests on
    noise: Array  # standard deviation of the validation log's torque noise
    error: Array  # RMS of its torques less the identified ones along the motion as it really was
    floor: Array  # RMS error of the true model on that log
    operations: Generated
    tracking: Mapping[str, Tracking]  # in the fast simultaneous motion, by model
    seconds: float

    @property
    def estimate(self) -> Estimate:
        return self.estimators[self.chosen]

    @property
    def rmse(self) -> Array:
        """Of the identified model on the validation log."""
        (scores,) = self.estimate.validation.values()
        return np.array([score.rmse for score in scores.values()])

    @property
    def worst(self) -> dict[str, float]:
        """Each model's largest tracking error of any joint, in per cent of its way."""
        return {name: float(run.percent.max()) for name, run in self.tracking.items()}

    @property
    def claims(self) -> dict[str, bool]:
        """What a good identification achieves here, and whether this one did."""
        worst = self.worst
        return {
            f"validation torque within {FLOOR:g} times the noise floor on every joint": bool(
                (self.rmse <= FLOOR * self.floor).all() and (self.error <= FLOOR * self.noise).all()
            ),
            f"tracking error at most {NEAR_TRUE:g} times the true model's": worst["identified"]
            <= NEAR_TRUE * worst["true"],
            "tracking error at most a third of the nominal model's": worst["identified"]
            <= OF_NOMINAL * worst["nominal"],
        }


def record(demo: Demo) -> dict[str, Any]:
    """What `dynid demo --json` prints, but for its files."""
    names = demo.arm.joint_names
    columns = (demo.rmse, demo.floor, demo.noise, demo.error / demo.noise)
    rows = zip(names, *(column.tolist() for column in columns), strict=True)
    return {
        "robot": demo.arm.name,
        "seed": demo.seed,
        "base_parameters": demo.base_count,
        "excitation": [{"condition": one.condition, "duration": one.duration} for one in demo.excitations],
        "check": demo.verdict,
        "estimators": {
            method: {
                "status": estimate.status,
                "validation": {
                    joint: asdict(score)
                    for scores in estimate.validation.values()
                    for joint, score in scores.items()
                },
                "seconds": estimate.seconds,
            }
            for method, estimate in demo.estimators.items()
        },
        "chosen": demo.chosen,
        "status": demo.estimate.status,
        "physical": demo.estimate.physical,
        "validation": {
            joint: {
                "rmse": rmse,
                "floor": floor,
                "ratio": rmse / floor,
                "torque_noise": noise,
                "torque_error_over_noise": over,
            }
            for joint, rmse, floor, noise, over in rows
        },
        "tracking": {
            name: {
                "worst_percent": demo.worst[name],
                "percent": dict(zip(names, run.percent.tolist(), strict=True)),
            }
            for name, run in demo.tracking.items()
        },
        "operations": {f.name: asdict(f.operations) for f in demo.operations.functions},
        "claims": demo.claims,
        "seconds": demo.seconds,
    }


def table(demo: Demo) -> str:
    """Joint by joint: predictions of the validation log, and the fast motion under three models."""
    head = f"{'':8}{'torque error':>13}{'floor':>9}{'ratio':>7}    " + "".join(
        f"{name:>12}" for name in demo.tracking
    )
    lines = [
        f"{'':8}{'unseen motion, Nm':>29}    {'fast motion, largest error in % of the way':>36}",
        head,
    ]
    for k, joint in enumerate(demo.arm.joint_names):
        errors = "".join(f"{run.percent[k]:12.2f}" for run in demo.tracking.values())
        ratio = demo.rmse[k] / demo.floor[k]
        lines.append(f"{joint:8}{demo.rmse[k]:13.4f}{demo.floor[k]:9.4f}{ratio:7.2f}    {errors}")
    lines.append("")
    lines += [f"{'yes' if held else 'NO':>4}  {claim}" for claim, held in demo.claims.items()]
    return "\n".join(lines)
