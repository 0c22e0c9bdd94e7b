"""The estimator of Algorithm 2 fed from logs: which joints move, stretches of one direction, triangles.

A log need not come from a plan: whatever moves in it is seen, and the efforts of all joints are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid.errors import ArgumentError
from dynid.fit.choose import FOLDS, fold_edges
from dynid.fit.one_joint import Block, Recursion, recursion
from dynid.fit.reduction import Reduction, reduce_blocks, triangle
from dynid.fit.runs import Runs
from dynid.fit.solve import Solution, solve
from dynid.fit.system import System, system_of
from dynid.fit.unknowns import Unknowns, unknowns_of
from dynid.friction import SIMPLE
from dynid.log.cutoff import in_validation_band
from dynid.log.samples import Samples
from dynid.spatial import Array, frozen
from dynid.statistics import Noise, Uncertainty, noise_of

STANDING = 0.01  # rad/s or m/s, RMS; a slower joint stands still
TURNED = 0.2  # of the largest speed, which a motion must reach in one direction to count as reversed
HELD = "held"  # the extra column of a constant effort
GUARD = -1  # the fold of rows between two folds


@dataclass(frozen=True, eq=False)
class LogBlocks:
    """Reductions of one log, stretch by stretch."""

    samples: Samples  # with weights for the joints that stand still
    moving: NDArray[np.bool_]  # (n,)
    reductions: tuple[Reduction, ...]  # of the working system
    folds: tuple[int, ...]  # of each stretch, or GUARD
    edges: tuple[float, ...]  # s, between stretches


@dataclass(frozen=True, eq=False)
class Found:
    """The answer of the method."""

    solution: Solution
    noise: Noise
    uncertainty: Uncertainty
    recursion: Recursion
    remarks: dict[str, str]


@dataclass(frozen=True, eq=False)
class OneJoint:
    """The logs as equations of single joints."""

    system: System
    logs: tuple[LogBlocks, ...]

    @cached_property
    def working(self) -> System:
        """The system with a column for a constant effort on each joint."""
        return working_system(self.system)

    @cached_property
    def unknowns(self) -> Unknowns:
        letters = self.system.terms.friction
        return unknowns_of(self.system.robot, (*letters, *(("Ia",) if self.system.terms.armature else ())))

    @cached_property
    def to_system(self) -> Array:
        """Values of the system per value of Lin's set, (system p, p): Corollary 6 of [Lin1994]."""
        return frozen(self.system.base.matrix @ self.unknowns.standard)

    @cached_property
    def blocks(self) -> list[tuple[int, Block]]:
        """Equations of all joints and logs, each with its fold."""
        found: list[tuple[int, Block]] = []
        for log in self.logs:
            at_rest = self.unknowns.at_rest(np.flatnonzero(log.moving).tolist())
            for fold, reduction in zip(log.folds, log.reductions, strict=True):
                triples = zip(reduction.columns, reduction.triangles, reduction.rows.tolist(), strict=True)
                for joint, (columns, R, count) in enumerate(triples):
                    rows = R[:, :-2] @ self.to_system[columns[:-1]]
                    rows[:, at_rest] = 0.0
                    held = None if log.moving[joint] else R[:, -2]
                    found.append((fold, Block(joint, rows, R[:, -1], count, held)))
        return found

    def reduction(self) -> Reduction:
        """All equations in the unknowns of the system; friction does not act on drives that stand still."""
        names, columns, n = self.system.names, self.system.columns, self.system.robot.dof
        parts: list[list[Array]] = [[] for _ in range(n)]
        rows = np.zeros(n)
        for log in self.logs:
            still = self.unknowns.named(self.unknowns.at_rest(np.flatnonzero(log.moving).tolist()))
            silent = {names.index(name) for name in still if name in names}
            for reduction in log.reductions:
                rows += reduction.rows
                for joint, R in enumerate(reduction.triangles):
                    part = np.delete(R, -2, axis=1)
                    part[:, [k for k, c in enumerate(columns[joint].tolist()) if c in silent]] = 0.0
                    parts[joint].append(part)
        triangles = tuple(frozen(triangle(np.concatenate(part))) for part in parts)
        return Reduction(names, columns, triangles, frozen(rows))

    # -- the fit -------------------------------------------------------------------------------------

    def fit(self) -> Found:
        """Values, and what they are worth with noise that is correlated in time."""
        blocks = [block for _, block in self.blocks]
        first = recursion(self.unknowns, blocks)
        reduction = self.reduction()
        noise = self._noise(first, solve(reduction, first.sigma))
        last = recursion(self.unknowns, blocks, _colour(noise))
        values, covariance, undetermined = self._in_system(last)
        white = self._in_system(first)[1]
        solution = replace(solve(reduction, last.sigma), values=frozen(values), undetermined=undetermined)
        freedom = float(reduction.rows.sum() * np.mean(noise.independent)) - len(values)
        uncertainty = Uncertainty(frozen(covariance), frozen(white), max(freedom, 1.0))
        return Found(solution, noise, uncertainty, last, self._remarks(last))

    def _in_system(self, found: Recursion) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Values, covariance and what is not determined, in the unknowns of the system."""
        M = self.to_system
        finite = np.where(np.isfinite(found.covariance), found.covariance, 0.0)
        covariance = M @ finite @ M.T
        weights = np.abs(M) > 1e-9 * np.abs(M).max(axis=1, keepdims=True)
        undetermined = np.asarray(weights[:, found.undetermined].any(axis=1), dtype=np.bool_)
        covariance[undetermined, undetermined] = np.inf
        return M @ found.values, covariance, undetermined

    def _noise(self, found: Recursion, solution: Solution) -> Noise:
        """Of what the values leave of the efforts, less the constant friction of joints at rest."""
        model = self.system.model(self._in_system(found)[0])
        series: list[Runs] = []
        for log in self.logs:
            samples = log.samples
            e = samples.filtered(samples.tau - model.efforts(samples.q, samples.qd, samples.qdd))
            stretch = np.searchsorted(log.edges, samples.time[samples.rows])
            for joint in np.flatnonzero(~log.moving).tolist():
                for k in np.unique(stretch).tolist():
                    inside = stretch == k
                    e[inside, joint] -= e[inside, joint].mean()
            series.append(_residual_runs(e * (samples.weights > 0.0)))
        return noise_of(series, solution)

    def _remarks(self, found: Recursion) -> dict[str, str]:
        names = self.system.robot.joint_names
        moved = [
            ", ".join(name for name, flag in zip(names, log.moving.tolist(), strict=True) if flag)
            for log in self.logs
        ]
        sources = [log.samples.provenance.source for log in self.logs]
        allowed = [
            f"{name}: {np.sqrt(3.0) * s:.3g}" for name, s in zip(names, found.standing.tolist(), strict=True)
        ]
        return {
            "one_joint": "; ".join(f"{source}: {who}" for source, who in zip(sources, moved, strict=True)),
            "friction_at_rest": f"any effort up to {', '.join(allowed)} (Nm or N)",
        }

    # -- on what it has not seen -----------------------------------------------------------------------

    def held_out(self) -> Array | None:
        """RMS errors on folds that were left out, relative to the efforts, (n,); None for short logs."""
        judged: list[list[Reduction]] = []
        for log in self.logs:
            edges = fold_edges(log.samples)
            if edges is None:
                return None
            judged.append(reduce_blocks(self.system, in_validation_band(log.samples), edges)[::2])
        squares, efforts = np.zeros(self.system.robot.dof), np.zeros(self.system.robot.dof)
        for fold in range(FOLDS):
            kept = [block for one, block in self.blocks if one not in (fold, GUARD)]
            values = self._in_system(recursion(self.unknowns, kept))[0]
            for reductions in judged:
                squares += reductions[fold].residuals(values)
                efforts += reductions[fold].efforts
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(np.where(efforts > 0.0, squares / efforts, np.nan))


def one_joint(system: System, logs: Sequence[Samples]) -> OneJoint:
    """The equations of logs in which one joint moves at a time, or a few do."""
    strange = [letter for letter in system.terms.friction if letter not in SIMPLE]
    if strange or system.terms.extra:
        raise ArgumentError(
            "the method 'one-joint' knows viscous and Coulomb friction, offsets and motor inertias, not "
            f"{', '.join((*strange, *system.terms.extra))}: another method fits these"
        )
    working = working_system(system)
    return OneJoint(system, tuple(_blocks(working, samples) for samples in logs))


def working_system(system: System) -> System:
    return system_of(system.robot, replace(system.terms, extra=(HELD,)))


def _blocks(working: System, samples: Samples) -> LogBlocks:
    """One log, cut at reversals and between folds."""
    moving = moving_joints(samples)
    weights = samples.weights.copy()
    felt = np.ptp(samples.tau, axis=0) > 0.0
    for joint in np.flatnonzero(~moving & felt).tolist():  # the same rows as of the joints that move
        weights[:, joint] = samples.weights[:, moving].max(axis=1)
    ones = {HELD: np.ones_like(samples.q)}
    ready = replace(samples, weights=weights, extra=ones)
    cuts = fold_edges(samples) or []
    edges = np.unique([*reversals(samples, moving), *cuts]).tolist()
    middles = 0.5 * (np.array([-np.inf, *edges]) + np.array([*edges, np.inf]))
    if edges:
        middles[0], middles[-1] = edges[0] - 1.0, edges[-1] + 1.0
    part = np.searchsorted(cuts, middles)
    folds = tuple(int(k) // 2 if k % 2 == 0 else GUARD for k in part.tolist())
    return LogBlocks(
        samples=replace(ready, extra={}),
        moving=moving,
        reductions=tuple(reduce_blocks(working, ready, edges)),
        folds=folds,
        edges=tuple(edges),
    )


def moving_joints(samples: Samples) -> NDArray[np.bool_]:
    """Which joints move, (n,)."""
    return np.asarray(np.sqrt(np.mean(samples.qd**2, axis=0)) > STANDING, dtype=np.bool_)


def reversals(samples: Samples, moving: NDArray[np.bool_]) -> list[float]:
    """Instants (s) at which a joint turns back, having gone fast enough both ways."""
    found: list[float] = []
    for joint in np.flatnonzero(moving).tolist():
        v = samples.qd[:, joint]
        fast = np.flatnonzero(np.abs(v) > TURNED * np.abs(v).max())
        for a, b in zip(fast[:-1].tolist(), fast[1:].tolist(), strict=True):
            if v[a] * v[b] < 0.0:
                turn = a + int(np.argmin(np.abs(v[a : b + 1])))
                found.append(float(samples.time[turn]))
    return found


def _residual_runs(e: Array) -> Runs:
    """Residuals (M, n) of one log as equations without unknowns; zero where they do not count."""
    nothing = tuple(np.zeros(0, dtype=np.intp) for _ in range(e.shape[1]))
    return Runs(nothing, len(e), lambda: iter([list(e.T[:, None])]))


def _colour(noise: Noise) -> Array:
    """Density of the noise at low frequencies, where rows live, beside that of white noise, (n,)."""
    factors: list[float] = []
    for g in noise.autocovariance:
        factors.append(max((2.0 * float(g.sum()) - float(g[0])) / float(g[0]), 1.0) if g[0] > 0.0 else 1.0)
    return np.array(factors)
