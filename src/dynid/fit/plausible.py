"""What no robot can be: of inertia below zero, or with friction that gives power instead of taking it.

Both are linear in the unknowns: c beta, with c a mean over the motion of the logs. So their deviations follow
from the covariance, and only what is below zero beyond doubt, and matters beside the efforts, is held against
a fit. Single constants may well come out slightly negative, as when they share a direction with others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.fit.system import TILE, System
from dynid.log.samples import Samples
from dynid.signals.clock import Flags
from dynid.spatial import Array

BEYOND_DOUBT = 3.0  # standard deviations
MATTERS = (
    0.05  # of a joint's effort, or of the power that goes through it; less is what friction nobody models
)


@dataclass(frozen=True, eq=False)
class Motion:
    """Samples (m, n) from all over the logs, at most as many as a tile has."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array
    extra: dict[str, Array]


def implausible(system: System, logs: Sequence[Samples], values: Array, covariance: Array) -> list[str]:
    """What speaks against values (p,) with this covariance, in words."""
    motion = _motion(logs)
    speed, acceleration, effort = (
        np.sqrt(np.mean(x**2, axis=0)) for x in (motion.qd, motion.qdd, motion.tau)
    )
    heavy = _below(mean_inertias(system, motion), values, covariance, acceleration, effort)
    rubbing = _below(friction_powers(system, motion), values, covariance, np.ones_like(speed), speed * effort)
    reasons: list[str] = []
    if heavy.any():
        reasons.append(
            f"inertia below zero beyond doubt at {_named(system, heavy)}: look for a wrong sign, scale or "
            "delay of efforts, or swapped joints, with 'dynid check'"
        )
    if rubbing.any():
        reasons.append(
            f"friction that gives power, which none does, at {_named(system, rubbing)}: look for a wrong "
            "sign or delay of efforts with 'dynid check', or choose another friction model"
        )
    return reasons


def _named(system: System, joints: Flags) -> str:
    return ", ".join(
        name for name, flag in zip(system.robot.joint_names, joints.tolist(), strict=True) if flag
    )


def _motion(logs: Sequence[Samples]) -> Motion:
    count = sum(len(one.time) for one in logs)
    rows = np.unique(np.linspace(0, count - 1, min(TILE, count)).astype(np.intp))

    def chosen(values: Sequence[Array]) -> Array:
        return np.concatenate(values)[rows]

    q, qd, qdd, tau = (chosen([getattr(one, name) for one in logs]) for name in ("q", "qd", "qdd", "tau"))
    return Motion(
        q, qd, qdd, tau, {name: chosen([one.extra[name] for one in logs]) for name in logs[0].extra}
    )


def mean_inertias(system: System, motion: Motion) -> Array:
    """Rows (n, p): times beta, the effort of joint j per unit of its own acceleration, all others at rest."""
    n, rest = system.robot.dof, np.zeros_like(motion.q)
    of_rest = _mean_rows(system, motion, rest, rest)
    rows = np.zeros_like(of_rest)
    for joint in range(n):
        unit = rest.copy()
        unit[:, joint] = 1.0
        rows[joint] = (_mean_rows(system, motion, rest, unit) - of_rest)[joint]
    return rows


def friction_powers(system: System, motion: Motion) -> Array:
    """Rows (n, p): times beta, the mean power that friction takes from drive k."""
    n, p = system.robot.dof, len(system.names)
    powers = np.zeros((n, p))
    tile = system.fill(system.tile(), motion.q, motion.qd, motion.qdd, motion.tau, motion.extra)
    of_unknown = {unknown: drive for unknown, letter, drive in system.drives if letter != "Ia"}
    for joint, (panel, columns) in enumerate(zip(system.panels, system.columns, strict=True)):
        for row, unknown in zip(tile[panel][:-1], columns.tolist(), strict=True):
            if unknown in of_unknown:
                powers[of_unknown[unknown], unknown] += np.mean(row * motion.qd[:, joint])
    return powers


def _mean_rows(system: System, motion: Motion, qd: Array, qdd: Array) -> Array:
    """Each joint's columns, (n, p), averaged over the positions of a motion."""
    rows = np.zeros((system.robot.dof, len(system.names)))
    tile = system.fill(system.tile(), motion.q, qd, qdd, motion.tau, motion.extra)
    for joint, (panel, columns) in enumerate(zip(system.panels, system.columns, strict=True)):
        rows[joint, columns] = tile[panel][:-1].mean(axis=1)
    return rows


def _below(rows: Array, values: Array, covariance: Array, scale: Array, size: Array) -> Flags:
    """Which of rows @ values are below zero beyond doubt and, times `scale`, matter beside `size`, (n,)."""
    unknown = ~np.isfinite(np.diag(covariance))
    known = ~(np.abs(rows[:, unknown]) > 0.0).any(axis=1)
    finite = np.where(unknown[:, None] | unknown, 0.0, covariance)
    found = rows @ np.where(unknown, 0.0, values)
    deviation = np.sqrt(np.maximum(np.einsum("jp,pq,jq->j", rows, finite, rows), 0.0))
    return known & (found < -BEYOND_DOUBT * deviation) & (-found * scale > MATTERS * size)
