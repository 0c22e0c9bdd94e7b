"""The doctor's look at names and zeros: columns of two joints exchanged, positions counted from elsewhere.

Every suspicion is a hypothesis under which the efforts leave far less variance; the clearest one counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dynid.log.effort_model import drive_columns, effort_model
from dynid.log.efforts import Efforts, basis, prediction, unexplained, unexplained_shares
from dynid.log.findings import Finding
from dynid.log.samples import Samples
from dynid.robot import Robot
from dynid.spatial import Array

BETTER = 2.0  # times less residual variance on each of two joints, before their names are doubted
SWAP_SHARE = 0.5  # of the variance, to be explained crosswise
POOR = 0.02  # of the variance unexplained: positions are worth doubting
FAR_BETTER = 100.0  # times less residual variance, all joints multiplied
TINY = 1e-4  # unexplained share that counts as none
EXCERPT_S = 20.0  # of the log, for trying other positions


@dataclass(frozen=True)
class Suspicion:
    """What is doubted of which joints; `gain` times less residual variance without it, joints multiplied."""

    gain: float
    joints: tuple[int, ...]
    finding: Finding


# --- efforts --------------------------------------------------------------------------------------


def swapped_efforts(efforts: Efforts) -> list[Suspicion]:
    """Pairs whose efforts fit each other's columns far better than their own, the clearest first."""
    left = np.maximum(unexplained(efforts), TINY)
    found: list[Suspicion] = []
    for i, j in combinations(efforts.joints, 2):
        gain = float(left[i, i] * left[j, j] / (left[i, j] * left[j, i]))
        if max(left[i, j], left[j, i]) < SWAP_SHARE and gain > BETTER**2:
            found.append(Suspicion(gain, (i, j), _effort_finding(efforts, left, i, j)))
    pairs: list[Suspicion] = []
    for swap in sorted(found, key=lambda swap: -swap.gain):
        if all(set(swap.joints).isdisjoint(pair.joints) for pair in pairs):
            pairs.append(swap)
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


# --- positions ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Places:
    """Other positions: those of joint `order[j]`, and `shift` (rad) more, for joint j."""

    order: NDArray[np.intp]
    shift: Array
    joints: tuple[int, ...]
    with_efforts: bool = False

    def suspicion(self, names: tuple[str, ...], gain: float) -> Suspicion:
        of = ", ".join(names[j] for j in self.joints)
        what = "all their columns exchanged" if self.with_efforts else "their positions exchanged"
        if len(self.joints) == 1:
            what = f"{np.degrees(self.shift[self.joints[0]]):+.0f} deg on the position"
        evidence = f"with {what} the efforts leave {gain:.2g} times less variance, joints multiplied"
        if len(self.joints) == 1:
            advice = "check the joint's zero and sign"
            return Suspicion(gain, self.joints, Finding("position_limit", "warning", evidence, advice, of))
        advice = "check the joints' names (--map)"
        return Suspicion(gain, self.joints, Finding("swapped_joints", "error", evidence, advice, of))


def place_finding(samples: Samples, efforts: Efforts, robot: Robot) -> Suspicion | None:
    """Positions exchanged, or off by quarters of a turn, such that the efforts fit far better; None if none.

    Positions of the wrong joint spoil the equations of many joints. So this is tried where some fit poorly.
    """
    part = excerpt(samples, EXCERPT_S)
    judged = list(efforts.joints)
    here = _Places(np.arange(robot.dof), np.zeros(robot.dof), ())
    left = _misfit(part, efforts, robot, here)[0][judged]
    if np.count_nonzero(left > POOR) < min(2, len(judged)):
        return None
    by_sign = float(np.prod(left / _misfit(part, efforts, robot, here, either_sign=True)[0][judged]))
    best: Suspicion | None = None
    for places in _elsewhere(efforts, robot):
        alone, together = _misfit(part, efforts, robot, places)
        tried = [(alone, places)]
        if len(places.joints) > 1:
            tried.insert(0, (together, replace(places, with_efforts=True)))
        for shares, how in tried:
            gain = float(np.prod(left / shares[judged]))
            if gain > max(FAR_BETTER, by_sign, best.gain if best else 0.0):
                best = how.suspicion(efforts.names, gain)
    return best


def _elsewhere(efforts: Efforts, robot: Robot) -> Iterator[_Places]:
    """Two joints exchanged; and, where the robot's parameters can tell, one off by quarters of a turn."""
    n = robot.dof
    for i, j in combinations(efforts.joints, 2):
        order = np.arange(n)
        order[[i, j]] = order[[j, i]]
        yield _Places(order, np.zeros(n), (i, j))
    if efforts.predicted is None:
        return
    for joint, number in enumerate(robot.free):
        if not robot.joints[number].prismatic:
            for quarters in (1, 2, 3):
                yield _Places(np.arange(n), 0.5 * np.pi * quarters * (np.arange(n) == joint), (joint,))


def _misfit(
    samples: Samples, efforts: Efforts, robot: Robot, places: _Places, either_sign: bool = False
) -> tuple[Array, Array]:
    """Unexplained shares (n,) with the joints in other places, without and with their efforts.

    Efforts are explained by what the robot's own parameters predict, times a positive factor unless
    `either_sign`, and the joint's drive; by all columns of the joint where parameters are not known.
    """
    order = places.order
    motion = {name: getattr(samples, name)[:, order] for name in ("q", "qd", "qdd")}
    moved = replace(samples, **motion, weights=samples.weights[:, order])
    moved = replace(moved, q=moved.q + places.shift)
    tau = samples.filtered(samples.tau)
    if efforts.predicted is None:
        model = effort_model(moved, robot, efforts.model.base)
        columns = [model.columns(joint) for joint in range(robot.dof)]
    else:
        drive = samples.filtered(drive_columns(moved.qd, moved.qdd))
        predicted = prediction(moved, robot)
        columns = [np.column_stack([drive[:, j], predicted[:, j]]) for j in range(robot.dof)]
    one_sign = efforts.predicted is not None and not either_sign
    alone, together = np.ones(robot.dof), np.ones(robot.dof)
    for joint in range(robot.dof):
        rows = moved.weights[:, joint] > 0
        if np.count_nonzero(rows) > columns[joint].shape[1]:
            both = tau[rows][:, [joint, order[joint]]]
            shares = (_shares_of_one_sign if one_sign else unexplained_shares)(columns[joint][rows], both)
            alone[joint], together[joint] = np.maximum(shares, TINY)
    return alone, together


def _shares_of_one_sign(columns: Array, tau: Array) -> Array:
    """As `unexplained_shares`, the last of the columns having no use for negative coefficients."""
    Q = basis(columns[:, :-1])
    last = columns[:, -1] - Q @ (Q.T @ columns[:, -1])
    shares = unexplained_shares(columns[:, :-1], tau)
    return np.where(last @ tau > 0.0, unexplained_shares(columns, tau), shares)


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
