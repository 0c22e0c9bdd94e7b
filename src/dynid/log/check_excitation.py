"""The doctor's look at the motion: how well it determines the base parameters, and how much of it is rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.log.effort_model import DRIVE_COLUMNS, EffortModel, factor, stacked, triangle
from dynid.log.findings import Finding, Severity
from dynid.log.samples import Samples
from dynid.signals.clock import Flags
from dynid.spatial import Array

MOVING_SPEED = 0.03  # rad/s or m/s
STILL_HINT, STILL_WARNING, STILL_ERROR = 0.3, 0.6, 0.97
STILL_COLUMN = 1e-9  # of the longest column; shorter ones are what rounding leaves of a joint at rest
CONFOUNDED = 0.01  # sine of the angle between a column and the span of the others
WEAK_STD = 0.5  # of the parameter's own value
POOR_CONDITION = 1000.0  # of the base regressor with columns scaled to one length
LISTED = 12
_CORRELATED = 2.0  # variances grow by this: rows come at twice the rate at which filtered noise is new


@dataclass(frozen=True, eq=False)
class Information:
    """What one log tells about the base parameters; those of several logs can be put together."""

    names: tuple[str, ...]  # of the base parameters
    factors: tuple[Array, ...]  # per joint, the triangular factor of [rigid, drive, tau] over all rows
    rows: int
    measured: bool  # whether there are efforts
    still: Array  # (N,) 1 where no joint moves faster than `MOVING_SPEED`


@dataclass(frozen=True)
class Excitation:
    """How well a motion determines the base parameters."""

    condition: float  # of the base regressor, 2-norm, unscaled; infinite if a parameter has no effect
    scaled_condition: float  # with columns of length one
    determined: tuple[str, ...]
    weak: tuple[str, ...]  # told apart, but with a standard deviation above half of the value found
    undetermined: tuple[str, ...]  # without effect, or hidden behind others
    standstill_share: float


def information(samples: Samples, model: EffortModel, measured: bool) -> Information:
    """Of the samples of one log."""
    joints = range(model.tau.shape[1])
    factors = tuple(factor(model.columns(j), model.tau[:, j]) for j in joints)
    still = (np.abs(samples.qd) < MOVING_SPEED).all(axis=1)
    return Information(
        model.base.names, factors, len(model.tau), measured, np.asarray(still, dtype=np.float64)
    )


def excitation_of(parts: Sequence[Information]) -> Excitation:
    """Of one log or several together."""
    names = parts[0].names
    factors = [np.concatenate(joint) for joint in zip(*(part.factors for part in parts), strict=True)]
    rigid = np.concatenate([R[:, : len(names)] for R in factors])
    size = np.linalg.norm(rigid, axis=0)
    seen = size > STILL_COLUMN * size.max(initial=0.0)
    hidden = np.ones(len(names), dtype=bool)
    hidden[seen] = _sines(rigid[:, seen] / size[seen]) < CONFOUNDED
    weak = np.zeros(len(names), dtype=bool)
    if all(part.measured for part in parts):
        value, std = _estimates(factors, len(names), sum(part.rows for part in parts))
        weak = ~hidden & ~(std <= WEAK_STD * np.abs(value))

    def chosen(flags: Flags) -> tuple[str, ...]:
        return tuple(name for name, flag in zip(names, flags, strict=True) if flag)

    return Excitation(
        condition=_condition(rigid),
        scaled_condition=_condition(rigid[:, seen] / size[seen]) if seen.all() else float("inf"),
        determined=chosen(~hidden & ~weak),
        weak=chosen(weak),
        undetermined=chosen(hidden),
        standstill_share=float(np.mean(np.concatenate([part.still for part in parts]))),
    )


def _condition(columns: Array) -> float:
    s = np.linalg.svd(columns, compute_uv=False)
    return float(s[0] / s[-1]) if s[-1] > 1e-12 * s[0] else float("inf")


def _sines(columns: Array) -> Array:
    """Of each column's angle with the span of the others; columns (M, k) of length one.

    The k-th diagonal entry of (C' C)^-1 is one over the squared sine of column k.
    """
    _, s, Vt = np.linalg.svd(columns, full_matrices=False)
    floor = np.maximum(s, 1e-12 * s[0])
    return 1.0 / np.sqrt(((Vt / floor[:, None]) ** 2).sum(axis=0))


def _estimates(factors: Sequence[Array], count: int, rows: int) -> tuple[Array, Array]:
    """Base parameters and their standard deviations, by weighted least squares with the joints' friction."""
    compact = [triangle(R) for R in factors]
    noise = np.array([max(abs(R[-1, -1]), 1e-6 * float(np.linalg.norm(R[:, -1]))) for R in compact])
    noise[noise == 0.0] = 1.0
    joined = stacked(factors, noise / np.sqrt(rows))
    joined = np.delete(joined, np.s_[count:-1:DRIVE_COLUMNS], axis=1)  # a motor's inertia hides in its link's
    size = np.linalg.norm(joined[:, :-1], axis=0)
    size[size == 0.0] = 1.0
    U, s, Vt = np.linalg.svd(joined[:, :-1] / size, full_matrices=False)
    inverse = Vt.T / np.maximum(s, 1e-9 * s[0])
    value = inverse @ (U.T @ joined[:, -1]) / size
    std = np.sqrt(_CORRELATED * (inverse**2).sum(axis=1)) / size
    return value[:count], std[:count]


def excitation_findings(
    excitation: Excitation, moving: Sequence[bool], joints: Sequence[str]
) -> list[Finding]:
    """Of one log; `moving` says which joints do."""
    found: list[Finding] = []
    still = excitation.standstill_share
    if still > STILL_HINT:
        severity: Severity = "hint"
        if still > STILL_WARNING:
            severity = "error" if still > STILL_ERROR else "warning"
        evidence = f"no joint is faster than {MOVING_SPEED:g} (rad or m)/s in {100 * still:.3g} % of the time"
        advice = "cut the log to the motion; rest has no weight"
        found.append(Finding("standstill", severity, evidence, advice))
    for name, moves in zip(joints, moving, strict=True):
        if not moves:
            advice = "its own parameters cannot be found from this log"
            found.append(Finding("standstill", "hint", "the joint never moves", advice, name))
    missing = excitation.undetermined
    if missing or excitation.scaled_condition > POOR_CONDITION:
        more = f" and {len(missing) - LISTED} more" if len(missing) > LISTED else ""
        what = f"; not to be determined: {', '.join(missing[:LISTED])}{more}" if missing else ""
        evidence = f"condition of the base regressor {excitation.condition:.3g}, with columns of one length "
        evidence += f"{excitation.scaled_condition:.3g}{what}"
        advice = "move all joints together, fast and far: 'dynid excite' finds such a motion; or add logs"
        found.append(Finding("poor_excitation", "warning", evidence, advice))
    return found
