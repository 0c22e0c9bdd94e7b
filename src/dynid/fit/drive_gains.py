"""Gains of drives from currents: least squares in gains and in what the arm's joints share.

With i the current of a joint, g = 1 / gain and W its row of the regressor, a run has the equations

    i = g W v,    v = constant + V u

of parameters v (p,) in Nm per unit; the unknowns u are common to all runs. The noise is in i, so i stands
alone: a problem linear in g and linear in u, solved by Gauss and Newton's method from where gain * i = W v is
linear in both ([GautierBriot2014]). What goes in is one triangle per joint and run, so samples do not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.fit import runs
from dynid.fit.reduction import Reduction
from dynid.fit.solve import solve
from dynid.fit.system import System
from dynid.log.samples import Samples
from dynid.spatial import Array, frozen
from dynid.statistics import noise_of, spectral_product

ROUNDS = 4  # of weighting
STEPS = 60  # of Gauss and Newton
SETTLED = 1e-10  # of the cost
SHORTEST = 1e-6  # of a step
DEPENDENT = 1e-9  # of the largest direction, with columns of one length
INVOLVED = 1e-6  # of a direction that the data do not determine
FLOOR = 1e-12  # of a joint's currents, below which a residual is rounding


@dataclass(frozen=True, eq=False)
class Run:
    """One run's triangles of currents, and its parameters v = constant + V u."""

    reduction: Reduction
    constant: Array  # (p,)
    V: Array  # (p, k)


@dataclass(frozen=True, eq=False)
class Found:
    """Inverse gains g (n,) and unknowns u (k,), and the deviation of each run's currents, (runs, n)."""

    g: Array
    u: Array
    sigma: Array

    def values(self, run: Run) -> Array:
        """Parameters v of a run, (p,)."""
        return run.constant + run.V @ self.u


def find_gains(problem: Sequence[Run]) -> Found:
    """Weighted least squares of all runs, each joint's rows divided by what the fit leaves of them."""
    found = _started(problem)
    for _ in range(ROUNDS):
        found = _descended(problem, found)
        found = replace(found, sigma=_deviations(problem, found))
    return found


def _started(problem: Sequence[Run]) -> Found:
    """The minimum of gain * i - W v, with currents as the triangles' columns explain them."""
    sizes = np.array([np.sqrt(run.reduction.efforts) for run in problem])
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    n, k = sizes.shape[1], problem[0].V.shape[1]
    gain = np.ones(n)
    u = np.zeros(k)
    for _ in range(ROUNDS):
        rows: list[Array] = []
        right: list[Array] = []
        for run, size in zip(problem, sizes, strict=True):
            for j, (R, r, columns) in enumerate(_joints(run.reduction)):
                s = size[j] * abs(gain[j])
                currents = np.zeros((len(R), n))
                currents[:, j] = -r
                rows.append(np.concatenate([currents, R @ run.V[columns]], axis=1) / s)
                right.append(-R @ run.constant[columns] / s)
        x = _least(np.concatenate(rows), np.concatenate(right))
        gain, u = _without_zeros(x[:n]), x[n:]
    counts = np.array([np.sqrt(np.maximum(run.reduction.rows, 1.0)) for run in problem])
    return Found(1.0 / gain, u, sizes / counts)


def _without_zeros(gain: Array) -> Array:
    """Gains that can be divided by: the usual size where the data say nothing."""
    sizes = np.abs(gain[np.isfinite(gain)])
    usual = float(np.median(sizes)) or 1.0
    return np.where(np.abs(gain) > 1e-3 * usual, gain, usual)


def _descended(problem: Sequence[Run], start: Found) -> Found:
    """The minimum of sum |(i - g W v) / sigma|^2 from a start, by steps that lower it."""
    n = len(start.g)
    found, now = start, residuals(problem, start)
    for _ in range(STEPS):
        step, share, cost = _least(now[1], -now[0]), 1.0, float(np.sum(now[0] ** 2))
        while share > SHORTEST:
            trial = replace(found, g=found.g + share * step[:n], u=found.u + share * step[n:])
            then = residuals(problem, trial)
            if float(np.sum(then[0] ** 2)) <= cost:
                break
            share *= 0.5
        else:
            break  # no way down is left
        found, now = trial, then
        if cost - float(np.sum(now[0] ** 2)) <= SETTLED * cost:
            break
    return found


def residuals(problem: Sequence[Run], at: Found) -> tuple[Array, Array]:
    """(i - g W v) / sigma of all joints' triangles, and its slopes by g and u."""
    n = len(at.g)
    e: list[Array] = []
    slopes: list[Array] = []
    for run, sigma in zip(problem, at.sigma, strict=True):
        v = at.values(run)
        for j, (R, r, columns) in enumerate(_joints(run.reduction)):
            model = R @ v[columns]
            by_gain = np.zeros((len(R), n))
            by_gain[:, j] = -model
            e.append((r - at.g[j] * model) / sigma[j])
            slopes.append(np.concatenate([by_gain, -at.g[j] * (R @ run.V[columns])], axis=1) / sigma[j])
    return np.concatenate(e), np.concatenate(slopes)


def _deviations(problem: Sequence[Run], found: Found) -> Array:
    """What the fit leaves of each run's currents, (runs, n)."""
    sigma: list[list[float]] = []
    for run in problem:
        v = found.values(run)
        left: list[float] = []
        for j, (triangle, columns) in enumerate(
            zip(run.reduction.triangles, run.reduction.columns, strict=True)
        ):
            e = triangle[:, -1] - found.g[j] * (triangle[:, :-1] @ v[columns])
            rows = max(float(run.reduction.rows[j]), 1.0)
            left.append(
                max(float(np.sqrt(e @ e / rows)), FLOOR * float(np.abs(triangle[:, -1]).max()), 1e-30)
            )
        sigma.append(left)
    return np.array(sigma)


def _joints(reduction: Reduction) -> list[tuple[Array, Array, NDArray[np.intp]]]:
    """R, r and columns of each joint; the last row, which no parameter changes, is left out."""
    pairs = zip(reduction.triangles, reduction.columns, strict=True)
    return [(R[:-1, :-1], R[:-1, -1], columns) for R, columns in pairs]


def _least(A: Array, b: Array) -> Array:
    """Least squares with columns of one length; nothing in directions that A does not have."""
    lengths = _lengths(A)
    return np.linalg.lstsq(A / lengths, b, rcond=DEPENDENT)[0] / lengths


def _lengths(A: Array) -> Array:
    lengths = np.linalg.norm(A, axis=0)
    return np.where(lengths > 0.0, lengths, 1.0)


# --- what they are worth -----------------------------------------------------------------------------


def covariance(
    system: System, problem: Sequence[Run], found: Found, samples: Sequence[Sequence[Samples]]
) -> Array:
    """Of g and u, (n + k, n + k), with the coloured noise of each joint; infinite where nothing is known.

    `samples` are those of each run's logs. With c = g v the columns' factors of a joint and D their slopes,
    the noise e of its currents moves the unknowns by (J' J)^-1 D' W' e / sigma^2.
    """
    n = len(found.g)
    _, J = residuals(problem, found)
    lengths = _lengths(J)
    _, s, Vt = np.linalg.svd(np.linalg.qr(J / lengths, mode="r"))
    rank = int(np.count_nonzero(s > DEPENDENT * s[0]))
    inverse = (Vt[:rank].T / s[:rank] ** 2) @ Vt[:rank] / np.outer(lengths, lengths)
    lost = np.abs(Vt[rank:]).max(axis=0, initial=0.0) > INVOLVED
    meat = np.zeros_like(inverse)
    for run, sigma, logs in zip(problem, found.sigma, samples, strict=True):
        v = found.values(run)
        for j, scatter in enumerate(_scatter(system, run, found, sigma, logs)):
            columns = run.reduction.columns[j]
            D = np.concatenate([np.zeros((len(columns), n)), found.g[j] * run.V[columns]], axis=1)
            D[:, j] = v[columns]
            meat += D.T @ scatter @ D / sigma[j] ** 4
    spread = inverse @ meat @ inverse
    spread[lost, lost] = np.inf
    return frozen(0.5 * (spread + spread.T))


def _scatter(system: System, run: Run, found: Found, sigma: Array, logs: Sequence[Samples]) -> list[Array]:
    """W' Omega W of each joint's currents, Omega being the covariance of their noise."""
    gain = 1.0 / found.g
    torques = [replace(one, tau=one.tau * gain) for one in logs]  # so that all joints share the values
    reduction = _in_torques(run.reduction, gain)
    solution = replace(solve(reduction, np.abs(gain) * sigma), values=frozen(found.values(run)))
    equations = [runs.torque_runs(system, one) for one in torques]
    noise = noise_of(equations, solution)
    sums = [np.zeros((len(columns), len(columns))) for columns in system.columns]
    for one in equations:
        for panels in one.read():
            for j, panel in enumerate(panels):
                product = spectral_product(panel[:-1], noise.autocovariance[j])
                sums[j] += one.factor * product / gain[j] ** 2
    return sums


def _in_torques(reduction: Reduction, gain: Array) -> Reduction:
    triangles: list[Array] = []
    for R, factor in zip(reduction.triangles, gain.tolist(), strict=True):
        scaled = np.array(R)
        scaled[:, -1] *= factor
        triangles.append(frozen(scaled))
    return replace(reduction, triangles=tuple(triangles))
