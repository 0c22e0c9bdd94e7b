"""Whether a fit can be trusted, and what to do if not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dynid.fit.choose import ILL
from dynid.fit.solve import Solution
from dynid.fit.system import System
from dynid.log.samples import Samples
from dynid.signals.masks import STANDSTILL_SPEED
from dynid.spatial import Array
from dynid.statistics import Uncertainty
from dynid.validation import Score

Status = Literal["trusted", "weak", "failed"]

LISTED = 8  # names in one sentence
POOR = 50.0  # percent of a joint's effort that is not explained while it moves
HOPELESS = 0.0  # of r2: worse than a constant
OVERFITTED, FLOOR = 2.0, 5.0  # held-out against in-sample error, and per cent that never count as overfitted
FEW = 3.0  # independent rows per unknown
IMPOSSIBLE = 3.0  # standard deviations below zero of what cannot be negative
NOTICEABLE = 0.05  # of a joint's effort; less is what friction that nobody models looks like
INSIGNIFICANT = 2.0  # standard deviations
NEVER_NEGATIVE = ("Ia", "Fv", "Fc")


@dataclass(frozen=True)
class Judgement:
    """The verdict on a fit: weak or failed for the reasons in `advice`."""

    status: Status
    advice: tuple[str, ...]


def judge(
    system: System,
    logs: Sequence[Samples],
    solution: Solution,
    uncertainty: Uncertainty,
    train: Mapping[str, Score],
    held_out: Array | None,
) -> Judgement:
    """Of a fit, its scores on the training logs, and its errors on held-out parts of them, (n,)."""
    reasons = [
        *_silent(system, logs),
        *_undetermined(system, solution),
        *_unexplained(train),
        *_overfitted(system, train, held_out),
        *_too_few(system, uncertainty),
        *_impossible(system, logs, solution.values, uncertainty.std),
    ]
    if solution.scaled_condition > ILL and np.isfinite(solution.scaled_condition):
        reasons.append(
            f"condition {solution.scaled_condition:.2g} with columns of one length: small errors grow by as "
            "much; 'dynid excite' finds a motion that excites all parameters"
        )
    hopeless = bool(train) and np.median([s.r2 for s in train.values()]) < HOPELESS
    status: Status = "failed" if hopeless else "weak" if reasons else "trusted"
    return Judgement(status, (*reasons, *_remarks(system, solution.values, uncertainty.std)))


def listed(names: Sequence[str]) -> str:
    """Some names, and how many more there are."""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def _silent(system: System, logs: Sequence[Samples]) -> list[str]:
    """Joints that never move, and efforts that never change."""
    names = system.robot.joint_names
    moved = np.max([np.abs(one.qd).max(axis=0) for one in logs], axis=0) >= STANDSTILL_SPEED
    felt = np.any([np.ptp(one.tau, axis=0) > 0.0 for one in logs], axis=0)
    still = [name for name, flag in zip(names, moved.tolist(), strict=True) if not flag]
    dead = [name for name, flag in zip(names, felt.tolist(), strict=True) if not flag]
    reasons: list[str] = []
    if still:
        reasons.append(
            f"never moving in these logs: {listed(still)}; what only they can tell stays unknown: "
            "move them, or lock them with --joints (joints=)"
        )
    if dead:
        reasons.append(f"the effort of {listed(dead)} does not change at all: a dead channel teaches nothing")
    return reasons


def _undetermined(system: System, solution: Solution) -> list[str]:
    names = [system.names[k] for k in np.flatnonzero(solution.undetermined)]
    if not names:
        return []
    return [
        f"not determined by these logs: {listed(names)}; move all joints together, or add logs that move "
        "what stood still ('dynid excite' finds such a motion)"
    ]


def _unexplained(train: Mapping[str, Score]) -> list[str]:
    poor = [name for name, score in train.items() if score.percent_moving > POOR]
    if not poor:
        return []
    return [
        f"the model explains less than half of the effort of {listed(poor)} on its own training logs: "
        "check what effort means (torque, current, sign, gear) with 'dynid check'"
    ]


def _overfitted(system: System, train: Mapping[str, Score], held_out: Array | None) -> list[str]:
    if held_out is None:
        return [
            "the logs are too short to hold out a part: nothing says how well another motion is predicted"
        ]
    worse = [
        f"{name} ({train[name].percent:.0f} % in sample, {100.0 * error:.0f} % held out)"
        for name, error in zip(system.robot.joint_names, held_out.tolist(), strict=True)
        if name in train and 100.0 * error > max(OVERFITTED * train[name].percent, FLOOR) and 100 * error > 20
    ]
    if not worse:
        return []
    return [
        f"parts of the logs that were held out are predicted far worse: {listed(worse)}; record a longer log"
    ]


def _too_few(system: System, uncertainty: Uncertainty) -> list[str]:
    needed = FEW * len(system.names)
    if uncertainty.freedom + len(system.names) >= needed:
        return []
    return [
        f"only about {uncertainty.freedom + len(system.names):.0f} independent equations for "
        f"{len(system.names)} unknowns: record a longer log (or one with a wider band)"
    ]


def _impossible(system: System, logs: Sequence[Samples], values: Array, std: Array) -> list[str]:
    """Constants of drives that are negative beyond doubt and matter beside the efforts."""
    size = _sizes(logs)
    names = [
        name
        for name, kept, value, deviation in zip(
            system.base.names, system.base.kept, values.tolist(), std.tolist(), strict=False
        )
        if kept[:2] in NEVER_NEGATIVE
        and value < -IMPOSSIBLE * deviation
        and -value * size[kept[:2]][int(kept[2:]) - 1] > NOTICEABLE
    ]
    if not names:
        return []
    return [
        f"negative beyond doubt, which no drive is: {listed(names)}; look for a wrong sign or delay of "
        "efforts with 'dynid check', or choose another friction model"
    ]


def _sizes(logs: Sequence[Samples]) -> dict[str, Array]:
    """RMS of what one unit of a drive's constant does, as a share of its joint's effort, (n,), by letter."""
    efforts = np.sum([np.sum(one.tau**2, axis=0) for one in logs], axis=0)
    squares = {
        "Ia": np.sum([np.sum(one.qdd**2, axis=0) for one in logs], axis=0),
        "Fv": np.sum([np.sum(one.qd**2, axis=0) for one in logs], axis=0),
        "Fc": sum(len(one.time) for one in logs),
    }
    return {key: np.sqrt(found / np.where(efforts > 0.0, efforts, np.inf)) for key, found in squares.items()}


def _remarks(system: System, values: Array, std: Array) -> list[str]:
    doubtful = [
        name
        for name, value, deviation in zip(system.names, values.tolist(), std.tolist(), strict=True)
        if abs(value) < INSIGNIFICANT * deviation < np.inf
    ]
    if not doubtful:
        return []
    share = f"{len(doubtful)} of {len(system.names)}"
    return [f"{share} values do not differ from zero beyond doubt: {listed(doubtful)}"]
