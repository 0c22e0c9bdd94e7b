"""The two metrics of the prior's term: constant pullback, one program; entropic, a few in a row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid.physical.problem import Problem
from dynid.physical.program import ConeSolution, smat, svec
from dynid.spatial import Array, frozen

NEWTON_STEPS = 60
CONVERGED = 1e-9  # of the cost


def pullback(problem: Problem) -> ConeSolution:
    """The minimum with the deviation |X - X_prior|^2."""
    width = 10 * len(problem.links)
    rows = np.eye(width, len(problem.columns))
    return problem.solve(rows, problem.prior.centre)


def entropic(problem: Problem) -> ConeSolution:
    """The minimum with the log-det divergence, by Newton's method.

    Each step is the program with the divergence expanded about the bodies so far: at X = C C' it is
    |C^-1 dX C^-T|^2 + 2 trace((C' C - 1) C^-1 dX C^-T) to second order.
    """
    first = pullback(problem)
    if first.x is None:
        return first
    width = 10 * len(problem.links)
    x = np.array(first.x)
    x[:width] = 0.5 * (x[:width] + np.tile(svec(np.eye(4)), len(problem.links)))  # far inside of the cone
    if (problem.G @ x < problem.h).any():
        x = np.array(first.x)
    cost, status, iterations, solution = _entropic_cost(problem, x), "failed", first.iterations, first
    for _ in range(NEWTON_STEPS):
        solution = problem.solve(*_expansion(x, len(problem.links), len(problem.columns)))
        iterations += solution.iterations
        if solution.x is None:
            break
        x, decrease, whole = _line_search(problem, x, solution.x, cost)
        cost -= decrease
        if whole and decrease <= CONVERGED * (1.0 + abs(cost)):
            status = "solved"
            break
    return replace(
        solution,
        x=frozen(x) if status == "solved" else None,
        status=solution.status if status == "solved" or solution.x is None else "failed",
        cost=cost,
        iterations=iterations,
    )


def _expansion(x: Array, links: int, columns: int) -> tuple[Array, Array]:
    """Rows and target of the divergence's second-order term about x."""
    rows, target = np.zeros((10 * links, columns)), np.zeros(10 * links)
    units = smat(np.eye(10))
    for k in range(links):
        block = slice(10 * k, 10 * k + 10)
        C = np.linalg.cholesky(smat(x[block]))
        inverse = np.linalg.inv(C)
        rows[block, block] = svec(inverse @ units @ inverse.T).T
        target[block] = svec(2.0 * np.eye(4) - C.T @ C)
    return rows, target


def _line_search(problem: Problem, x: Array, towards: Array, cost: float) -> tuple[Array, float, bool]:
    """The point of lower cost on the way, by how much, and whether it is the end of the way."""
    step = _longest_step(x, towards, len(problem.links))
    while step > 1e-6:
        trial = x + step * (towards - x)
        decrease = cost - _entropic_cost(problem, trial)
        if decrease > 0.0 or (step == 1.0 and abs(decrease) <= CONVERGED * (1.0 + abs(cost))):
            return trial, decrease, step == 1.0
        step *= 0.5
    return x, 0.0, True  # no way down is left


def _longest_step(x: Array, towards: Array, links: int) -> float:
    """1, or less where bodies would become flat: the expansion is good down to a tenth of an eigenvalue."""
    C = np.linalg.cholesky(smat(x[: 10 * links].reshape(-1, 10)))
    inverse = np.linalg.inv(C)
    ends = inverse @ smat(towards[: 10 * links].reshape(-1, 10)) @ np.swapaxes(inverse, -1, -2)
    least = float(np.linalg.eigvalsh(ends).min())
    return 1.0 if least >= 0.1 else 0.9 / (1.0 - least)


def _entropic_cost(problem: Problem, x: Array) -> float:
    X = smat(x[: 10 * len(problem.links)].reshape(-1, 10))
    signs, logs = np.linalg.slogdet(X)
    if not (signs > 0.0).all() or np.linalg.eigvalsh(X).min() <= 0.0:
        return np.inf
    divergence = 2.0 * float(np.sum(np.trace(X, axis1=1, axis2=2) - logs - 4.0))
    data = problem.data @ x - problem.r
    held = problem.ridge @ x - problem.ridge_target
    return float(data @ data + held @ held) + problem.weight * divergence
