"""Whether a fit can be trusted, and what to do if not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dynid.fit.choose import ILL
from dynid.fit.plausible import implausible
from dynid.fit.solve import Solution
from dynid.fit.system import System
from dynid.log.check import check
from dynid.log.findings import Finding, Kind, Severity
from dynid.log.log import Log
from dynid.log.samples import Samples
from dynid.robot import Robot
from dynid.signals.masks import STANDSTILL_SPEED
from dynid.spatial import Array
from dynid.statistics import Uncertainty
from dynid.validation import Score

Status = Literal["trusted", "weak", "failed"]

MEANINGS: tuple[Kind, ...] = ("degrees", "effort_sign", "swapped_joints")  # of findings of the log doctor
LISTED = 8  # names in one sentence
POOR = 50.0  # percent of a joint's effort that is not explained while it moves
HOPELESS = 0.0  # of r2, the median of joints that move: worse than a constant
OVERFITTED, FLOOR = 2.0, 5.0  # held-out against in-sample error, and per cent that never count as overfitted
FEW = 3.0  # independent rows per unknown
INSIGNIFICANT = 2.0  # standard deviations


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
    suspicions: Sequence[str] = (),
) -> Judgement:
    """Of a fit, its scores on the training logs, and its errors on held-out parts of them, (n,).

    `suspicions` are the first ones of `misread`.
    """
    reasons = [
        *suspicions,
        *_silent(system, logs),
        *_undetermined(system, solution),
        *_unexplained(train),
        *_overfitted(system, train, held_out),
        *_too_few(system, uncertainty),
        *implausible(system, logs, solution.values, uncertainty.covariance),
    ]
    if solution.scaled_condition > ILL and np.isfinite(solution.scaled_condition):
        reasons.append(
            f"condition {solution.scaled_condition:.2g} with columns of one length: small errors grow by as "
            "much; 'dynid excite' finds a motion that excites all parameters"
        )
    explained = [score.r2 for score in train.values() if np.isfinite(score.percent_moving)]
    hopeless = bool(explained) and np.median(explained) < HOPELESS
    status: Status = "failed" if hopeless else "weak" if reasons else "trusted"
    return Judgement(status, (*reasons, *_remarks(system, solution.values, uncertainty.std)))


def misread(robot: Robot, logs: Sequence[Log]) -> tuple[list[str], list[str]]:
    """What the log doctor takes for another meaning of the numbers: beyond doubt, and perhaps."""
    found = check(robot, logs).findings
    return _said(found, "error", MEANINGS), _said(found, "warning", ("effort_scale",))


def _said(found: Sequence[Finding], severity: Severity, kinds: Sequence[Kind]) -> list[str]:
    """One text for each kind of finding, with the evidence of its first joint."""
    texts: list[str] = []
    for kind in kinds:
        alike = [one for one in found if (one.kind, one.severity) == (kind, severity)]
        if alike:
            joints = listed(list(dict.fromkeys(one.joint or "all joints" for one in alike)))
            texts.append(f"{kind} ({joints}): {alike[0].evidence}; {alike[0].advice}")
    return texts


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
    used = np.any([(one.weights > 0.0).any(axis=0) for one in logs], axis=0)
    lost = [name for name in names if not used[names.index(name)] and name not in (*still, *dead)]
    if lost:
        reasons.append(
            f"no row of {listed(lost)} counts: the effort is at its limit wherever the joint moves, or all "
            "rows were excluded"
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
