"""Essential parameters: which unknowns a fit can do without, and the fit without them.

Two rules. [Izaguirre1992], section 7: a parameter is significant if in some trajectory its largest
contribution to some joint's effort is at least 1 % of the largest effort measured there. And backward
elimination: what the data do not determine goes first; then, as long as there is an unknown whose loss the
residual does not show, by an F test, the one of which it shows least. The others are then identified again.

Values of what was dropped are zero, not regrouped: what they did to the efforts is lost, or taken over by the
others as far as these can.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from dynid.errors import ArgumentError
from dynid.fit.panels import all_panels
from dynid.fit.reduction import Reduction, triangle
from dynid.fit.solve import DEPENDENT, Solution, weighted
from dynid.fit.system import Indices, System
from dynid.log.samples import Samples
from dynid.spatial import Array, frozen

_linalg: Any = import_module("scipy.linalg")  # it has no types
_special: Any = import_module("scipy.special")

SHARE = 0.01  # of a joint's largest effort: Izaguirre's rule
LEVEL = 0.05  # of the F test


@dataclass(frozen=True)
class Dropped:
    """An unknown that went, its value in the fit of all, and what decided."""

    name: str
    value: float
    because: float  # its largest contribution by the largest effort; or its F statistic when it went


@dataclass(frozen=True, eq=False)
class Essential:
    """The fit of p unknowns, and that of the k of them that are essential.

    Errors are those of prediction, RMS by the RMS effort, per joint, (n,).
    """

    names: tuple[str, ...]  # (p,)
    kept: Indices  # (k,)
    dropped: tuple[Dropped, ...]  # in the order in which they went, or of the unknowns
    full: Solution  # of all
    solution: Solution  # of the essential ones
    error_full: Array
    error: Array
    joint_test: float  # F of everything that was dropped together
    joint_limit: float  # what that would exceed by chance once in 1 / level times

    @property
    def values(self) -> Array:
        """Values (p,), zero where dropped."""
        values = np.zeros(len(self.names))
        values[self.kept] = self.solution.values
        return frozen(values)

    @property
    def cost(self) -> Array:
        """By how much the error of prediction grew, per joint, (n,): 0.01 for 5 % of the effort to 6 %."""
        return self.error - self.error_full

    @property
    def gain(self) -> Array:
        """Standard deviations of the essential ones, before by after, (k,), by the white-noise formula."""
        before, after = (_deviations(one) for one in (self.full, self.solution))
        with np.errstate(invalid="ignore"):
            return before[self.kept] / after

    def summary(self) -> str:
        """What was dropped, what that costs and gains, as a few lines."""
        dropped = ", ".join(f"{one.name} ({one.value:.3g})" for one in self.dropped) or "nothing"
        error = " ".join(
            f"{100 * a:.3g}->{100 * b:.3g}" for a, b in zip(self.error_full, self.error, strict=True)
        )
        lines = [
            f"{len(self.kept)} of {len(self.names)} unknowns are essential",
            f"dropped: {dropped}",
            f"error of prediction, % of the effort, joint by joint: {error}",
        ]
        if len(self.kept):
            gain, k = self.gain, int(np.argmax(self.gain))
            lines += [
                f"standard deviations: {float(np.median(gain)):.3g} times smaller (median), at best "
                f"{gain[k]:.3g} times ({self.names[self.kept[k]]})",
                f"condition: {self.full.condition:.3g} -> {self.solution.condition:.3g}, with columns of one "
                f"length {self.full.scaled_condition:.3g} -> {self.solution.scaled_condition:.3g}",
            ]
        return "\n".join(lines)


# --- the two rules -----------------------------------------------------------------------------------------


def by_contribution(
    system: System,
    logs: Sequence[Samples],
    reduction: Reduction,
    share: float = SHARE,
    values: Array | None = None,
) -> Essential:
    """By the rule of [Izaguirre1992]; each log is a trajectory, `reduction` is of all of them.

    values: those whose contributions count, (p,), such as means over trajectories; None: of the fit of all.
    """
    if not 0.0 <= share < 1.0:
        raise ArgumentError(f"the share must be at least 0 and below 1, not {share:g}")
    full = weighted(reduction)
    largest = contributions(system, logs, full.values if values is None else values).max(axis=0)
    kept = np.flatnonzero(largest >= share)
    because = {k: float(largest[k]) for k in np.flatnonzero(largest < share).tolist()}
    return _without(reduction, full, kept, because, LEVEL, 1.0)


def by_elimination(reduction: Reduction, level: float = LEVEL, independent: float = 1.0) -> Essential:
    """Backward, with an F test at this level.

    independent: share of the rows that count as such, where filtered noise is correlated from row to row.
    """
    if not 0.0 < level < 1.0 or not 0.0 < independent <= 1.0:
        raise ArgumentError(
            "level must be between 0 and 1, independent above 0 and at most 1, "
            f"not {level:g} and {independent:g}"
        )
    full = weighted(reduction)
    rows, factor = float(reduction.rows.sum()), reduction.joined(full.sigma)
    kept = _determined(factor)
    because = {k: 0.0 for k in range(len(reduction.names)) if k not in kept}
    factor = triangle(factor[:, [*kept, len(reduction.names)]])
    while len(kept):
        freedom = max(rows * independent - len(kept), 1.0)
        F = _increases(factor) / _variance(factor, rows, independent)
        least = int(np.argmin(F))
        if F[least] > _special.fdtri(1.0, freedom, 1.0 - level):
            break
        because[int(kept[least])] = float(F[least])
        kept = np.delete(kept, least)
        factor = triangle(np.delete(factor, least, axis=1))
    return _without(reduction, full, kept, because, level, independent)


def contributions(system: System, logs: Sequence[Samples], values: Array) -> Array:
    """Largest contribution of each unknown by the largest effort of a joint in the same log, (n, p)."""
    n, p = system.robot.dof, len(system.names)
    found = np.zeros((n, p))
    for samples in logs:
        most, effort = np.zeros((n, p)), np.zeros(n)
        for _, panels in all_panels(system, samples):
            for joint, (columns, panel) in enumerate(zip(system.columns, panels, strict=True)):
                sizes = np.abs(panel).max(axis=1, initial=0.0)
                most[joint, columns] = np.maximum(most[joint, columns], sizes[:-1] * np.abs(values[columns]))
                effort[joint] = max(effort[joint], float(sizes[-1]))
        known = effort > 0.0
        found[known] = np.maximum(found[known], most[known] / effort[known, None])
    return found


# --- the fit without some unknowns --------------------------------------------------------------------------


def restricted(reduction: Reduction, kept: Indices) -> Reduction:
    """The equations of some unknowns (k,) alone: those of all others are zero."""
    place = np.full(len(reduction.names), -1)
    place[kept] = np.arange(len(kept))
    columns: list[Indices] = []
    triangles: list[Array] = []
    for c, R in zip(reduction.columns, reduction.triangles, strict=True):
        here = place[c] >= 0
        columns.append(place[c][here])
        triangles.append(frozen(triangle(R[:, np.append(here, True)])))
    names = tuple(reduction.names[int(k)] for k in kept)
    return Reduction(names, tuple(columns), tuple(triangles), reduction.rows)


def errors(reduction: Reduction, values: Array) -> Array:
    """RMS residual by RMS effort, per joint, (n,); zero for a joint without efforts."""
    efforts = reduction.efforts
    return np.sqrt(reduction.residuals(values) / np.where(efforts > 0.0, efforts, np.inf))


def _without(
    reduction: Reduction,
    full: Solution,
    kept: Indices,
    because: dict[int, float],
    level: float,
    independent: float,
) -> Essential:
    if not len(kept):
        raise ArgumentError("no unknown is essential: the efforts hold nothing that this model could explain")
    names: tuple[str, ...] = reduction.names
    solution = weighted(restricted(reduction, kept))
    values = np.zeros(len(names))
    values[kept] = solution.values
    # Of all that went together, with the weights of the full fit in both.
    factor, rows = reduction.joined(full.sigma), float(reduction.rows.sum())
    determined = _determined(factor)
    whole, rest = (triangle(factor[:, [*some, len(names)]]) for some in (determined, kept))
    count = max(len(determined) - len(kept), 1)
    together = max(rest[-1, -1] ** 2 - whole[-1, -1] ** 2, 0.0) / count
    freedom = max(rows * independent - len(determined), 1.0)
    return Essential(
        names=names,
        kept=kept,
        dropped=tuple(Dropped(names[k], float(full.values[k]), why) for k, why in because.items()),
        full=full,
        solution=solution,
        error_full=errors(reduction, full.values),
        error=errors(reduction, values),
        joint_test=float(together / _variance(whole, rows, independent)),
        joint_limit=float(_special.fdtri(count, freedom, 1.0 - level)),
    )


def _determined(factor: Array) -> Indices:
    """The unknowns of a triangle [R r; 0 rho] less those whose columns depend on the columns of others."""
    columns = factor[:, :-1]
    lengths = np.linalg.norm(columns, axis=0)
    R, order = _linalg.qr(columns / np.where(lengths > 0.0, lengths, 1.0), mode="r", pivoting=True)
    sizes = np.abs(np.diag(R))
    rank = int(np.count_nonzero(sizes > DEPENDENT * max(float(sizes.max(initial=0.0)), 1e-300)))
    return np.sort(order[:rank]).astype(np.intp)


def _increases(factor: Array) -> Array:
    """By how much the sum of squares of a triangle [R r; 0 rho] grows without each unknown, (k,)."""
    k = factor.shape[1] - 1
    found = [triangle(np.delete(factor, one, axis=1))[-1, -1] ** 2 for one in range(k)]
    return np.maximum(np.array(found) - factor[k, k] ** 2, 0.0)


def _variance(factor: Array, rows: float, independent: float) -> float:
    """What an F test measures increases by: the residual's variance by the share of independent rows."""
    left = max(rows - (factor.shape[1] - 1) / independent, 1.0)
    variance = factor[-1, -1] ** 2 / (left * independent)
    return max(float(variance), np.finfo(float).tiny)


def _deviations(solution: Solution) -> Array:
    return np.sqrt(np.diag(solution.inverse))
