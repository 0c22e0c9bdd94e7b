"""Any number of samples as one small triangle per joint: all that least squares ever needs of them.

Of joint j's equations W beta = tau the triangle keeps R with R' R = [W tau]' [W tau]. Triangles of disjoint
samples stack up and are reduced again, so chunks, logs, processes and machines all work alike, and nothing
depends on who did which part.

Two methods. "qr" reduces chunks by Householder reflections as they come. "gram", the usual one, first factors
a few rows, R0, and then sums up the products of Z = [W tau] R0^-1. Its columns are all but orthogonal, so the
sum loses none of the digits that W' W would; R = chol(Z' Z) R0.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np

from dynid.errors import ArgumentError, choices
from dynid.fit.panels import Chunk, PanelWriter, chunks_of
from dynid.fit.system import Indices, System
from dynid.log.samples import Samples
from dynid.spatial import Array, frozen

_linalg: Any = import_module("scipy.linalg")  # it has no types

Method = Literal["gram", "qr"]
METHODS: tuple[Method, ...] = ("gram", "qr")
PROBED = 4000  # rows that R0 is made of; fewer rows than this are all factored by QR
PARTS = 4  # of the rows, each summed up by itself: whatever the number of threads, the sums are the same
PART_ROWS = 20_000  # a part with fewer rows is not worth a thread
ROUNDING = 1e-11  # of a column's usual size
NEGLIGIBLE = 1e-14  # of a column's length; what is left of it beside others is then rounding


@dataclass(frozen=True, eq=False)
class Reduction:
    """Triangles of n joints' equations in p unknowns."""

    names: tuple[str, ...]  # (p,)
    columns: tuple[Indices, ...]  # per joint, the unknowns of its triangle's columns
    triangles: tuple[Array, ...]  # per joint, (columns + 1, columns + 1): the last column is of the efforts
    rows: Array  # (n,) sums of weights

    def __add__(self, other: Reduction) -> Reduction:
        """Of both sets of samples together."""
        if self.names != other.names:
            raise ArgumentError("reductions of different unknowns cannot be added")
        pairs = zip(self.triangles, other.triangles, strict=True)
        triangles = tuple(frozen(triangle(np.concatenate(pair))) for pair in pairs)
        return Reduction(self.names, self.columns, triangles, frozen(self.rows + other.rows))

    def residuals(self, beta: Array) -> Array:
        """Sums of squares that values (p,) leave, per joint, (n,)."""
        pairs = zip(self.columns, self.triangles, strict=True)
        return np.array([np.sum((R[:, :-1] @ beta[c] - R[:, -1]) ** 2) for c, R in pairs])

    @property
    def efforts(self) -> Array:
        """Sums of squares of the efforts, (n,)."""
        return np.array([np.sum(R[:, -1] ** 2) for R in self.triangles])

    def joined(self, sigma: Array) -> Array:
        """One triangle of all joints, (p + 1, p + 1): [R r; 0 rho], rows divided by their joint's `sigma`."""
        p = len(self.names)
        blocks: list[Array] = []
        for columns, R, s in zip(self.columns, self.triangles, sigma, strict=True):
            block = np.zeros((len(R), p + 1))
            block[:, columns] = R[:, :-1] / s
            block[:, p] = R[:, -1] / s
            blocks.append(block)
        return triangle(np.concatenate(blocks))


def nothing(system: System) -> Reduction:
    """Of no samples."""
    empty = tuple(frozen(np.zeros((len(c) + 1, len(c) + 1))) for c in system.columns)
    return Reduction(system.names, system.columns, empty, frozen(np.zeros(len(empty))))


def total(reductions: Sequence[Reduction]) -> Reduction:
    """Of all samples together."""
    first = reductions[0]
    stacked = [np.concatenate(joint) for joint in zip(*(r.triangles for r in reductions), strict=True)]
    rows = np.sum([r.rows for r in reductions], axis=0)
    return Reduction(
        first.names, first.columns, tuple(frozen(triangle(stack)) for stack in stacked), frozen(rows)
    )


def triangle(rows: Array) -> Array:
    """The triangular factor (k, k) of rows (m, k), by Householder reflections; zero rows where m < k."""
    k = rows.shape[1]
    R = np.asarray(np.linalg.qr(rows, mode="r"), dtype=np.float64)
    return R if len(R) == k else np.concatenate([R, np.zeros((k - len(R), k))])


def reduce(
    system: System,
    samples: Samples,
    *,
    method: Method = "gram",
    weights: Array | None = None,
    threads: int = 2,
) -> Reduction:
    """The reduction of all samples; `weights` (M, n) replace those of the samples."""
    return reduce_blocks(system, samples, (), method=method, weights=weights, threads=threads)[0]


def reduce_blocks(
    system: System,
    samples: Samples,
    edges: Sequence[float],
    *,
    method: Method = "gram",
    weights: Array | None = None,
    threads: int = 2,
) -> list[Reduction]:
    """Reductions of the rows before, between and behind the instants `edges` (s), one more than these."""
    if method not in METHODS:
        raise ArgumentError(f"method {choices(method, METHODS)}")
    weights = samples.weights if weights is None else weights
    chunks = chunks_of(samples, edges)
    rows = sum(chunk.rows.stop - chunk.rows.start for chunk in chunks)
    starts = None
    if method == "gram" and rows > PROBED:
        starts = _probe(PanelWriter(system, samples, weights), chunks, rows)
    count = min(PARTS, max(rows // PART_ROWS, 1))
    share = -(-len(chunks) // count)
    parts = [chunks[k : k + share] for k in range(0, len(chunks), share)]

    def reduced(part: Sequence[Chunk]) -> dict[int, list[Array]]:
        return _absorbed(PanelWriter(system, samples, weights), part, starts)

    if len(parts) > 1 and threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(reduced, parts))
    else:
        found = [reduced(part) for part in parts]
    counted = np.zeros((len(edges) + 1, system.robot.dof))
    for chunk in chunks:
        counted[chunk.block] += weights[chunk.rows].sum(axis=0)
    empty = nothing(system)
    result: list[Reduction] = []
    for block in range(len(edges) + 1):
        triangles = [triangles[block] for triangles in found if block in triangles] or [list(empty.triangles)]
        stacked = [triangle(np.concatenate(joint)) for joint in zip(*triangles, strict=True)]
        merged = _without_rounding(system, stacked, counted[block])
        result.append(Reduction(system.names, system.columns, merged, frozen(counted[block])))
    return result


def _without_rounding(system: System, triangles: Sequence[Array], rows: Array) -> tuple[Array, ...]:
    """The triangles with columns of zero where only rounding is left, as where joints stand still."""
    found: list[Array] = []
    for R, usual, count in zip(triangles, system.usual, rows.tolist(), strict=True):
        lengths = np.linalg.norm(R[:, :-1], axis=0)
        nothing = lengths < ROUNDING * usual * np.sqrt(count)
        found.append(frozen(np.where([*nothing, False], 0.0, R)))
    return tuple(found)


def _absorbed(
    writer: PanelWriter, chunks: Sequence[Chunk], starts: Sequence[Array] | None
) -> dict[int, list[Array]]:
    """Triangles of every joint, by block."""
    sums: dict[int, list[_Gram] | list[_Householder]] = {}
    for chunk in chunks:
        panels = writer.fill(chunk)
        if chunk.block not in sums:
            sums[chunk.block] = [_Gram(R) for R in starts] if starts else [_Householder() for _ in panels]
        for one, panel in zip(sums[chunk.block], panels, strict=True):
            one.absorb(panel)
    return {block: [one.triangle() for one in joints] for block, joints in sums.items()}


class _Householder:
    """By reflections: panels wait until there are enough rows for one."""

    def __init__(self) -> None:
        self._waiting: list[Array] = []
        self._count = 0

    def absorb(self, panel: Array) -> None:
        self._waiting.append(np.array(panel.T, order="F"))
        self._count += panel.shape[1]
        if self._count > 8 * len(panel):
            self._waiting, self._count = [self.triangle()], len(panel)

    def triangle(self) -> Array:
        return triangle(np.concatenate(self._waiting))


class _Gram:
    """By the products of all but orthogonal columns."""

    def __init__(self, start: Array) -> None:
        self._start = start
        self._inverse = _linalg.solve_triangular(start, np.eye(len(start))).T.copy()
        self._products = np.zeros_like(start)

    def absorb(self, panel: Array) -> None:
        Z = self._inverse @ panel
        self._products += Z @ Z.T

    def triangle(self) -> Array:
        try:
            upper = np.linalg.cholesky(self._products).T
        except np.linalg.LinAlgError:  # columns that depend on each other to the last digit
            values, vectors = np.linalg.eigh(self._products)
            upper = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        return triangle(upper @ self._start)


def _probe(writer: PanelWriter, chunks: Sequence[Chunk], rows: int) -> list[Array]:
    """R0 of every joint from chunks all over the samples, with no diagonal entry next to nothing."""
    stride = max(len(chunks) * PROBED // rows, 1)
    chosen: Indices = np.unique(
        np.linspace(0, len(chunks) - 1, max(stride, min(len(chunks), 8))).astype(np.intp)
    )
    panels: list[list[Array]] = []
    for k in chosen:
        panels.append([np.array(panel.T) for panel in writer.fill(chunks[int(k)])])
    starts: list[Array] = []
    for joint in zip(*panels, strict=True):
        stacked = np.concatenate(joint)
        lengths = np.linalg.norm(stacked, axis=0)
        lengths[lengths == 0.0] = 1.0
        R = triangle(stacked)
        diagonal = np.diag(R)
        R[np.diag_indices(len(R))] = np.where(np.abs(diagonal) < NEGLIGIBLE * lengths, lengths, diagonal)
        starts.append(R)
    return starts
