"""The doctor's look at names: columns of two joints exchanged, only their efforts or everything of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dynid.log.effort_model import drive_columns, effort_model
from dynid.log.efforts import Efforts, prediction, unexplained, unexplained_shares
from dynid.log.findings import Finding
from dynid.log.samples import Samples
from dynid.robot import Robot
from dynid.spatial import Array

BETTER = 2.0  # times less residual variance on each of two joints, before their names are doubted
SWAP_SHARE = 0.5  # of the variance, to be explained crosswise
POOR = 0.02  # of the variance unexplained: positions are worth doubting
FAR_BETTER = 100.0  # times less residual variance, all joints multiplied
TINY = 1e-4  # unexplained share that counts as none
EXCERPT_S = 20.0  # of the log, for trying exchanged positions


def name_findings(samples: Samples, efforts: Efforts, robot: Robot) -> tuple[list[Finding], set[int]]:
    """Suspicions, and the joints they are about."""
    left = np.maximum(unexplained(efforts), 1e-6)
    pairs = _swapped_efforts(efforts, left)
    found = [_effort_finding(efforts, left, i, j) for i, j in pairs]
    if not pairs:
        guess = _swapped_positions(samples, efforts, robot)
        if guess is not None:
            i, j, finding = guess
            pairs, found = [(i, j)], [finding]
    return found, {joint for pair in pairs for joint in pair}


def _swapped_efforts(efforts: Efforts, left: Array) -> list[tuple[int, int]]:
    """Pairs whose efforts fit each other's columns far better than their own, the clearest first."""
    gains: list[tuple[float, int, int]] = []
    for i, j in combinations(efforts.joints, 2):
        own, other = left[i, i] * left[j, j], left[i, j] * left[j, i]
        if max(left[i, j], left[j, i]) < SWAP_SHARE and own > BETTER**2 * other:
            gains.append((own / other, i, j))
    pairs: list[tuple[int, int]] = []
    for _, i, j in sorted(gains, reverse=True):
        if all(i not in pair and j not in pair for pair in pairs):
            pairs.append((i, j))
    return pairs


def _effort_finding(efforts: Efforts, left: Array, i: int, j: int) -> Finding:
    names = efforts.names
    evidence = (
        f"the efforts of {names[i]} and {names[j]} fit each other's equations: unexplained variance "
        f"{100 * left[i, j]:.2g} % and {100 * left[j, i]:.2g} % crosswise, "
        f"{100 * left[i, i]:.2g} % and {100 * left[j, j]:.2g} % as they are"
    )
    advice = "exchange the two columns (--map), or check the driver's order of joints"
    return Finding("swapped_joints", "error", evidence, advice, f"{names[i]}, {names[j]}")


def _swapped_positions(samples: Samples, efforts: Efforts, robot: Robot) -> tuple[int, int, Finding] | None:
    """The pair whose exchanged positions, with or without their efforts, fit far better; None without one.

    Positions of the wrong joint spoil the equations of many joints. So this is tried where some fit poorly.
    """
    part = excerpt(samples, EXCERPT_S)
    left = _misfit(part, efforts, robot, np.arange(robot.dof))[0][list(efforts.joints)]
    if np.count_nonzero(left > POOR) < 2:
        return None
    best: tuple[float, int, int, bool] | None = None
    for i, j in combinations(efforts.joints, 2):
        order = np.arange(robot.dof)
        order[[i, j]] = order[[j, i]]
        alone, together = _misfit(part, efforts, robot, order)
        for shares, with_efforts in ((together, True), (alone, False)):
            gain = float(np.log(left / shares[list(efforts.joints)]).sum())
            if best is None or gain > best[0]:
                best = (gain, i, j, with_efforts)
    if best is None or best[0] < np.log(FAR_BETTER):
        return None
    gain, i, j, with_efforts = best
    names = f"{efforts.names[i]}, {efforts.names[j]}"
    what = "all their columns" if with_efforts else "their positions"
    evidence = (
        f"with {what} exchanged the efforts leave {np.exp(gain):.2g} times less variance, joints multiplied"
    )
    return i, j, Finding("swapped_joints", "error", evidence, "check the joints' names (--map)", names)


def _misfit(samples: Samples, efforts: Efforts, robot: Robot, order: NDArray[np.intp]) -> tuple[Array, Array]:
    """Unexplained shares (n,) with the motion in another order of joints, without and with the efforts."""
    motion = {name: getattr(samples, name)[:, order] for name in ("q", "qd", "qdd")}
    moved = replace(samples, **motion, weights=samples.weights[:, order])
    tau = samples.filtered(samples.tau)
    if efforts.predicted is None:
        model = effort_model(moved, robot, efforts.model.base)
        columns = [model.columns(joint) for joint in range(robot.dof)]
    else:
        drive = samples.filtered(drive_columns(moved.qd, moved.qdd))
        predicted = prediction(moved, robot)
        columns = [np.column_stack([drive[:, j], predicted[:, j]]) for j in range(robot.dof)]
    alone, together = np.ones(robot.dof), np.ones(robot.dof)
    for joint in range(robot.dof):
        rows = moved.weights[:, joint] > 0
        if np.count_nonzero(rows) > columns[joint].shape[1]:
            both = unexplained_shares(columns[joint][rows], tau[rows][:, [joint, order[joint]]])
            alone[joint], together[joint] = np.maximum(both, TINY)
    return alone, together


def excerpt(samples: Samples, seconds: float) -> Samples:
    """The first `seconds` of the longest segment."""
    first, last = max(samples.segments, key=lambda ends: ends[1] - ends[0])
    last = min(last, first + int(seconds * samples.rate_hz))
    rows = samples.rows
    arrays = {name: getattr(samples, name)[first:last] for name in ("time", "q", "qd", "qdd", "tau")}
    return replace(
        samples,
        **arrays,
        extra={name: values[first:last] for name, values in samples.extra.items()},
        segments=((0, last - first),),
        weights=samples.weights[(rows >= first) & (rows < last - samples.parallel.half)],
    )
