"""Least squares under semidefinite constraints, written to Clarabel in residual form.

    minimise |A x - b|^2   subject to   smat(x[block]) - margin positive semidefinite for every block,
                                        G x >= h

With A = Q U and x0 the free minimum, the cost beyond its floor is |U (x - x0)|^2. The program has the
residual e = U (x - x0) as variables of its own, minimises |e|^2 and never forms A' A, whose condition is the
square. Left to itself, the part of the cost that constraints cannot change would hide the part they can.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dynid.spatial import Array, frozen

Status = Literal["solved", "inaccurate", "infeasible", "failed"]

FEASIBLE = 1e-9
GAP = 1e-8  # of the duality; the cost is in units of the noise, whose own size is about 1
ENOUGH = 1e-6  # of the gap and of both residuals, where the last digits are out of the solver's reach
MAX_ITERATIONS = 200

SIZE = 4  # of the matrices
TRIANGLE = tuple((i, j) for j in range(SIZE) for i in range(j + 1))  # upper triangle, column by column
ENTRIES = len(TRIANGLE)
_WEIGHTS = np.array([1.0 if i == j else np.sqrt(2.0) for i, j in TRIANGLE])
_ROWS = np.array([i for i, _ in TRIANGLE])
_COLUMNS = np.array([j for _, j in TRIANGLE])


def svec(matrices: Array) -> Array:
    """Symmetric matrices (..., 4, 4) as vectors (..., 10) of the same inner products."""
    return matrices[..., _ROWS, _COLUMNS] * _WEIGHTS


_UNIT = svec(np.eye(SIZE))


def smat(vectors: Array) -> Array:
    """The symmetric matrices (..., 4, 4) of vectors (..., 10)."""
    entries = vectors / _WEIGHTS
    matrices = np.empty((*vectors.shape[:-1], SIZE, SIZE))
    matrices[..., _ROWS, _COLUMNS] = entries
    matrices[..., _COLUMNS, _ROWS] = entries
    return matrices


@dataclass(frozen=True, eq=False, kw_only=True)
class ConeSolution:
    """The minimum x, (n,), strictly inside of the cones; `cost` is |A x - b|^2, its floor included."""

    x: Array | None  # None where there is none
    status: Status
    reason: str  # the solver's own word
    cost: float
    floor: float  # cost of the free minimum
    gap: float  # of the duality, as the solver reports it
    iterations: int
    seconds: float


def solve_cone_program(
    A: Array, b: Array, blocks: Sequence[slice], G: Array, h: Array, margin: float = 0.0
) -> ConeSolution:
    """Solve the program above for A (m, n) of full column rank, G (k, n); blocks are of ten variables."""
    start = time.perf_counter()
    n = A.shape[1]
    triangle = np.asarray(np.linalg.qr(np.column_stack([A, b]), mode="r"), dtype=np.float64)
    U, c = triangle[:n, :n], triangle[:n, n]
    floor = float(np.sum(triangle[n:, n] ** 2))
    x0 = np.asarray(np.linalg.solve(U, c), dtype=np.float64)
    found = _call(U, x0, blocks, G, h, margin)
    status = _status(found)
    x = None
    if status in ("solved", "inaccurate"):
        x = x0 + np.array(found.x[:n])
        for slack, block in zip(_slacks(found, n, len(h), len(blocks)), blocks, strict=True):
            # x up to the solver's tolerance, but never outside of the cone
            x[block] = slack + margin * _UNIT
    cost = np.inf if x is None else float(np.sum((U @ (x - x0)) ** 2)) + floor
    return ConeSolution(
        x=None if x is None else frozen(x),
        status=status,
        reason=str(found.status),
        cost=cost,
        floor=floor,
        gap=float(found.obj_val - found.obj_val_dual),
        iterations=int(found.iterations),
        seconds=time.perf_counter() - start,
    )


def _call(U: Array, x0: Array, blocks: Sequence[slice], G: Array, h: Array, margin: float) -> Any:
    """Clarabel's answer for variables (x - x0, e); rows of its matrix are equations, bounds, triangles."""
    clarabel: Any = import_module("clarabel")
    sparse: Any = import_module("scipy.sparse")
    n, k = len(x0), len(h)
    members = np.concatenate([np.arange(n)[block] for block in blocks]) if blocks else np.arange(0)
    select = np.zeros((len(members), n))
    select[np.arange(len(members)), members] = -1.0
    rows = np.block(
        [
            [U, -np.eye(n)],
            [-G.reshape(k, n), np.zeros((k, n))],
            [select, np.zeros((len(members), n))],
        ]
    )
    right = np.concatenate(
        [np.zeros(n), G.reshape(k, n) @ x0 - h, x0[members] - margin * np.tile(_UNIT, len(blocks))]
    )
    cones = [clarabel.ZeroConeT(n)]
    cones += [clarabel.NonnegativeConeT(k)] if k else []
    cones += [clarabel.PSDTriangleConeT(SIZE) for _ in blocks]
    cost = sparse.csc_matrix(
        (np.full(n, 2.0), (np.arange(n, 2 * n), np.arange(n, 2 * n))), shape=(2 * n, 2 * n)
    )
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = MAX_ITERATIONS
    settings.tol_gap_abs = settings.tol_gap_rel = GAP
    settings.tol_feas = FEASIBLE
    return clarabel.DefaultSolver(
        cost, np.zeros(2 * n), sparse.csc_matrix(rows), right, cones, settings
    ).solve()


def _slacks(found: Any, n: int, k: int, blocks: int) -> NDArray[np.float64]:
    """The solver's slack of every semidefinite cone, (blocks, 10)."""
    return np.array(found.s[n + k :]).reshape(blocks, ENTRIES)


def _status(found: Any) -> Status:
    """The solver's word, but what it calls almost solved is solved if gap and residuals are small."""
    word = str(found.status)
    if "PrimalInfeasible" in word:
        return "infeasible"
    if word not in ("Solved", "AlmostSolved", "InsufficientProgress"):
        return "failed"
    gap = abs(found.obj_val - found.obj_val_dual) / max(1.0, abs(found.obj_val))
    if word == "Solved" or max(gap, found.r_prim, found.r_dual) <= ENOUGH:
        return "solved"
    return "inaccurate" if word == "AlmostSolved" else "failed"
