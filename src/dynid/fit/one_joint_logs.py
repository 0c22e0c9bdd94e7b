"""The estimator of Algorithm 2 fed from logs: which joints move, what holds the others, triangles.

A log need not come from a plan: whatever moves in it is seen, and the efforts of all joints are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid.errors import ArgumentError
from dynid.fit.choose import FOLDS, fold_edges
from dynid.fit.one_joint import Block, Recursion, recursion
from dynid.fit.reduction import Reduction, reduce_blocks, triangle
from dynid.fit.runs import Panels, Runs, torque_runs
from dynid.fit.solve import Solution, solve
from dynid.fit.system import System, system_of
from dynid.fit.unknowns import Unknowns, unknowns_of
from dynid.friction import SIMPLE
from dynid.log.cutoff import in_validation_band
from dynid.log.samples import Samples
from dynid.spatial import Array, frozen
from dynid.statistics import Noise, Uncertainty, noise_of

STANDING = 0.01  # rad/s or m/s, RMS; a slower joint stands still
WAVES = np.arange(4)  # half waves of friction at rest over the way of the joint that moves, forth and back
SHARES = frozen(np.sqrt(1.0 / (1.0 + WAVES**2) / 1.4))  # of them; the variance is one on average
HELD = tuple(f"held {k}" for k in range(2 * len(WAVES)))  # the extra columns of these shapes
GUARD, ALWAYS = -1, -2  # folds: of rows between two folds, and of logs too short to be cut


@dataclass(frozen=True, eq=False)
class LogBlocks:
    """Reductions of one log, fold by fold."""

    samples: Samples  # with the shapes of friction at rest as extra columns
    weights: Array  # (M, n), of joints that stand still as of those that move
    moving: NDArray[np.bool_]  # (n,)
    reductions: tuple[Reduction, ...]  # of the working system
    folds: tuple[int, ...]  # of each reduction, or GUARD or ALWAYS

    def triangles(self, joint: int, left_out: int | None = None) -> tuple[Array, float]:
        """Triangles of a joint's equations one below the other, and their count; less a fold and guards."""
        kept = [
            reduction
            for fold, reduction in zip(self.folds, self.reductions, strict=True)
            if left_out is None or fold not in (left_out, GUARD)
        ]
        return np.concatenate([one.triangles[joint] for one in kept]), sum(
            float(one.rows[joint]) for one in kept
        )


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
    working: System  # with the shapes of friction at rest
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
        k = len(HELD)
        for log in self.logs:
            at_rest = self.unknowns.at_rest(np.flatnonzero(log.moving).tolist())
            for joint, columns in enumerate(self.working.columns):
                R, count = log.triangles(joint, left_out)
                rows = R[:, : -k - 1] @ self.to_system[columns[:-k]]
                rows[:, at_rest] = 0.0
                held = None if log.moving[joint] else R[:, -k - 1 : -1]
                found.append(Block(joint, rows, R[:, -1], count, held))
        return found

    def reduction(self) -> Reduction:
        """All equations in the unknowns of the system; friction does not act on drives that stand still."""
        triangles: list[Array] = []
        rows = np.zeros(self.system.robot.dof)
        for joint, columns in enumerate(self.system.columns):
            parts: list[Array] = []
            for log in self.logs:
                R, count = log.triangles(joint)
                part = np.hstack([R[:, : -len(HELD) - 1], R[:, -1:]])
                part[:, :-1][:, self._silent(log)[columns]] = 0.0
                parts.append(part)
                rows[joint] += count
            triangles.append(frozen(triangle(np.concatenate(parts))))
        return Reduction(self.system.names, self.system.columns, tuple(triangles), frozen(rows))

    def _silent(self, log: LogBlocks) -> NDArray[np.bool_]:
        """Unknowns of the system that do not act in a log, (p,): friction and motors of what stands still."""
        still = self.unknowns.named(self.unknowns.at_rest(np.flatnonzero(log.moving).tolist()))
        return np.array([name in still for name in self.system.names], dtype=np.bool_)

    # -- the fit -------------------------------------------------------------------------------------

    def fit(self) -> Found:
        """Values, and what they are worth with noise that is correlated in time."""
        blocks = self.blocks()
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
        """Of what the values leave of the efforts, less the friction of joints at rest."""
        values = self._in_system(found)[0]
        return noise_of([self._leftovers(log, values) for log in self.logs], solution)

    def _leftovers(self, log: LogBlocks, values: Array) -> Runs:
        """Residuals of one log as equations without unknowns."""
        x = np.where(self._silent(log), 0.0, values)
        k = len(HELD)
        full: list[Array] = []
        for joint, columns in enumerate(self.working.columns):
            R, _ = log.triangles(joint)
            beta = np.zeros(len(columns))
            beta[:-k] = x[columns[:-k]]
            if not log.moving[joint]:
                left = R[:, -1] - R[:, :-1] @ beta
                beta[-k:] = np.linalg.lstsq(R[:, -k - 1 : -1], left, rcond=None)[0]
            full.append(beta)
        runs = torque_runs(self.working, log.samples, log.weights)

        def read() -> Iterator[Panels]:
            for panels in runs.read():
                yield [panel[-1:] - v @ panel[:-1] for panel, v in zip(panels, full, strict=True)]

        nothing = np.zeros(0, dtype=np.intp)
        return Runs(tuple(nothing for _ in full), runs.rows, read, runs.factor)

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
    working = system_of(system.robot, replace(system.terms, extra=HELD))
    return OneJoint(system, working, tuple(_blocks(working, samples) for samples in logs))


def _blocks(working: System, samples: Samples) -> LogBlocks:
    """One log, cut into folds."""
    moving = np.asarray(np.sqrt(np.mean(samples.qd**2, axis=0)) > STANDING, dtype=np.bool_)
    weights = samples.weights.copy()
    felt = np.ptp(samples.tau, axis=0) > 0.0
    for joint in np.flatnonzero(~moving & felt).tolist():  # the same rows as of the joints that move
        weights[:, joint] = samples.weights[:, moving].max(axis=1, initial=0.0)
    shapes = {
        name: np.repeat(shape[:, None], working.robot.dof, axis=1)
        for name, shape in zip(HELD, friction_shapes(samples, moving), strict=True)
    }
    ready = replace(samples, extra=shapes)
    edges = fold_edges(samples)
    reductions = reduce_blocks(working, ready, edges or (), weights=weights)
    folds = [ALWAYS] if edges is None else [k // 2 if k % 2 == 0 else GUARD for k in range(len(reductions))]
    return LogBlocks(ready, weights, moving, tuple(reductions), tuple(folds))


def friction_shapes(samples: Samples, moving: NDArray[np.bool_]) -> Array:
    """What the friction of a joint at rest may do while others move, (len(HELD), N).

    Half waves over the way of the joint that moves most, forth and back apart: what a joint at rest has to
    hold, and so what its friction does, is a matter of where that joint is and where it comes from.
    """
    mover = int(np.argmax(np.where(moving, np.mean(samples.qd**2, axis=0), 0.0)))
    q, forth = samples.q[:, mover], samples.qd[:, mover] > 0.0
    lowest, highest = float(q.min()), float(q.max())
    share = (q - lowest) / max(highest - lowest, 1e-300)
    waves = SHARES[:, None] * np.cos(np.pi * np.outer(WAVES, share))
    return np.concatenate([np.where(forth, waves, 0.0), np.where(forth, 0.0, waves)])


def _colour(noise: Noise) -> Array:
    """Density of the noise at low frequencies, where rows live, beside that of white noise, (n,)."""
    factors: list[float] = []
    for g in noise.autocovariance:
        factors.append(max((2.0 * float(g.sum()) - float(g[0])) / float(g[0]), 1.0) if g[0] > 0.0 else 1.0)
    return np.array(factors)
