"""The estimator of Algorithm 2 fed from logs: which joints move, and triangles of each joint's equations.

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
from dynid.fit.reduction import Reduction, reduce, reduce_blocks, total, triangle
from dynid.fit.runs import torque_runs
from dynid.fit.solve import Solution, solve, weighted
from dynid.fit.system import System
from dynid.fit.unknowns import Unknowns, unknowns_of
from dynid.friction import SIMPLE
from dynid.log.cutoff import in_validation_band
from dynid.log.samples import Samples
from dynid.spatial import Array, frozen
from dynid.statistics import Noise, Uncertainty, noise_of

STANDING = 0.01  # rad/s or m/s, RMS; a slower joint stands still
BOTH_WAYS = 0.2  # share of the samples in which a joint has to go each way
GUARD, ALWAYS = -1, -2  # folds: of rows between two folds, and of logs too short to be cut


@dataclass(frozen=True, eq=False)
class LogBlocks:
    """Reductions of one log, fold by fold."""

    samples: Samples
    moving: NDArray[np.bool_]  # (n,)
    parts: int  # directions of motion, in each of which joints at rest have friction of their own
    reductions: tuple[Reduction, ...]  # with rows of joints at rest, too
    folds: tuple[int, ...]  # of each reduction, or GUARD or ALWAYS

    def triangles(self, joint: int, left_out: int | None = None) -> tuple[Array, float]:
        """Triangles of a joint's equations one below the other, and their count; less a fold and guards."""
        kept = [
            reduction
            for fold, reduction in zip(self.folds, self.reductions, strict=True)
            if left_out is None or fold not in (left_out, GUARD)
        ]
        rows = np.concatenate([reduction.triangles[joint] for reduction in kept])
        return rows, float(sum(reduction.rows[joint] for reduction in kept))


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
    def unknowns(self) -> Unknowns:
        letters = self.system.terms.friction
        return unknowns_of(self.system.robot, (*letters, *(("Ia",) if self.system.terms.armature else ())))

    @cached_property
    def to_system(self) -> Array:
        """Values of the system per value of Lin's set, (system p, p): Corollary 6 of [Lin1994]."""
        return frozen(self.system.base.matrix @ self.unknowns.standard)

    def blocks(self, left_out: int | None = None) -> list[Block]:
        """Equations of all joints and logs, less a fold of each."""
        found: list[Block] = []
        for log in self.logs:
            at_rest = self.unknowns.at_rest(np.flatnonzero(log.moving).tolist())
            for joint, columns in enumerate(self.system.columns):
                R, count = log.triangles(joint, left_out)
                rows = R[:, :-1] @ self.to_system[columns]
                rows[:, at_rest] = 0.0
                parts = None if log.moving[joint] else log.parts
                found.append(Block(joint, rows, R[:, -1], count, parts))
        return found

    def reduction(self) -> Reduction:
        """All equations in the unknowns of the system; friction does not act on drives that stand still."""
        triangles: list[Array] = []
        counts = np.zeros(self.system.robot.dof)
        for joint, columns in enumerate(self.system.columns):
            parts: list[Array] = []
            for log in self.logs:
                R, count = log.triangles(joint)
                still = self.unknowns.named(self.unknowns.at_rest(np.flatnonzero(log.moving).tolist()))
                silent = [name in still for name in self.system.names]
                R[:, :-1][:, np.array(silent, dtype=np.bool_)[columns]] = 0.0
                parts.append(R)
                counts[joint] += count
            triangles.append(frozen(triangle(np.concatenate(parts))))
        return Reduction(self.system.names, self.system.columns, tuple(triangles), frozen(counts))

    # -- the fit -------------------------------------------------------------------------------------

    def fit(self) -> Found:
        """Values, and what they are worth with noise that is correlated in time."""
        samples = [log.samples for log in self.logs]
        moving = weighted(total([reduce(self.system, one) for one in samples]))
        noise = noise_of([torque_runs(self.system, one) for one in samples], moving)
        blocks, reduction = self.blocks(), self.reduction()
        last = recursion(self.unknowns, blocks, _colour(noise))
        values, covariance, undetermined = self._in_system(last)
        white = self._in_system(recursion(self.unknowns, blocks))[1]
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
        """RMS errors of moving joints on folds that were left out, relative to their efforts, (n,).

        None if all logs are too short to be cut.
        """
        judged: list[list[Reduction]] = []
        for log in self.logs:
            edges = fold_edges(log.samples)
            if edges is not None:
                judged.append(reduce_blocks(self.system, in_validation_band(log.samples), edges)[::2])
        if not judged:
            return None
        squares, efforts = np.zeros(self.system.robot.dof), np.zeros(self.system.robot.dof)
        for fold in range(FOLDS):
            values = self._in_system(recursion(self.unknowns, self.blocks(fold)))[0]
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
    return OneJoint(system, tuple(_blocks(system, samples) for samples in logs))


def _blocks(system: System, samples: Samples) -> LogBlocks:
    """One log, cut into folds."""
    moving = np.asarray(np.sqrt(np.mean(samples.qd**2, axis=0)) > STANDING, dtype=np.bool_)
    weights = samples.weights.copy()
    felt = np.ptp(samples.tau, axis=0) > 0.0
    for joint in np.flatnonzero(~moving & felt).tolist():  # the same rows as of the joints that move
        weights[:, joint] = samples.weights[:, moving].max(axis=1, initial=0.0)
    edges = fold_edges(samples)
    reductions = reduce_blocks(system, samples, edges or (), weights=weights)
    folds = [ALWAYS] if edges is None else [k // 2 if k % 2 == 0 else GUARD for k in range(len(reductions))]
    return LogBlocks(samples, moving, directions(samples), tuple(reductions), tuple(folds))


def directions(samples: Samples) -> int:
    """In how many directions the joint that moves most goes, 1 or 2."""
    v = samples.qd[:, int(np.argmax(np.mean(samples.qd**2, axis=0)))]
    return 2 if BOTH_WAYS < np.mean(v > 0.0) < 1.0 - BOTH_WAYS else 1


def _colour(noise: Noise) -> Array:
    """Density of the noise at low frequencies, where rows live, beside that of white noise, (n,)."""
    factors: list[float] = []
    for g in noise.autocovariance:
        factors.append(max((2.0 * float(g.sum()) - float(g[0])) / float(g[0]), 1.0) if g[0] > 0.0 else 1.0)
    return np.array(factors)
