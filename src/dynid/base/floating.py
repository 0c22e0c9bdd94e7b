"""Row spaces in floating point, for geometry that no fractions describe.

All quantities are in units in which lengths and gravity are at most about one, so one threshold
serves every robot; the decisions are well separated (about 1e-2 against 1e-14) and the closest one
is remembered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dynid.spatial import Array

THRESHOLD = 1e-9  # what is smaller than this beside one is rounding
SIGNIFICANT_DIGITS = 15


class Floating:
    """Row spaces decided by singular values; `kept` and `dropped` are the closest calls so far."""

    def __init__(self) -> None:
        self.kept = float("inf")
        self.dropped = 0.0

    def span(self, rows: Array) -> Array:
        """Orthonormal rows with the same span, (rank, columns)."""
        if not rows.size:
            return np.zeros((0, rows.shape[1]))
        _, sizes, basis = np.linalg.svd(np.asarray(rows, dtype=np.float64), full_matrices=False)
        relative = sizes / max(1.0, sizes[0])
        rank = int(np.sum(relative > THRESHOLD))
        self.kept = min([self.kept, *map(float, relative[:rank])])
        self.dropped = max([self.dropped, *map(float, relative[rank:])])
        return np.asarray(basis[:rank], dtype=np.float64)

    def reduce(self, rows: Array, order: Sequence[int]) -> tuple[Array, list[int]]:
        """Reduced rows with ones at the pivots, (rank, columns), and the pivots."""
        basis = self.span(rows)
        pivots = independent_columns(basis, order, len(basis))
        return reduced_on(basis, pivots), pivots


def independent_columns(
    matrix: Array, order: Iterable[int], rank: int | None = None, threshold: float = 1e-7
) -> list[int]:
    """Columns in the given order, each kept if it is independent of those kept before it.

    If the rank is known and the order leaves the choice incomplete, the column that sticks out most is
    kept next: without any order this is QR with column pivoting. The threshold is for columns of about
    unit length.
    """
    residual = np.array(matrix, dtype=np.float64)
    pivots: list[int] = []

    def keep(column: int) -> None:
        direction = residual[:, column] / np.linalg.norm(residual[:, column])
        for _ in range(2):  # twice is enough for orthogonality to rounding
            residual[:] -= np.outer(direction, direction @ residual)
        pivots.append(column)

    for column in order:
        if len(pivots) != rank and np.linalg.norm(residual[:, column]) > threshold:
            keep(column)
    while rank is not None and len(pivots) < rank:
        keep(int(np.argmax(np.linalg.norm(residual, axis=0))))
    return pivots


def unit_columns(rows: Array) -> tuple[Array, Array]:
    """Triangular rows with the span of `rows` once each column has unit length, and those lengths.

    Columns that hold rounding only are cleared; their length is then one.
    """
    lengths = np.linalg.norm(rows, axis=0)
    silent = lengths <= THRESHOLD * np.sqrt(len(rows))
    lengths = np.where(silent, 1.0, lengths)
    scaled = np.where(silent, 0.0, rows / lengths)
    return np.asarray(np.linalg.qr(scaled, mode="r"), dtype=np.float64), lengths


def reduced_in_units(basis: Array, pivots: Sequence[int], lengths: Array) -> Array:
    """`reduced_on` for a span of columns that were divided by `lengths`, with the columns as they were."""
    return reduced_on(basis, pivots) * lengths / lengths[list(pivots)][:, None]


def reduced_on(basis: Array, pivots: Sequence[int]) -> Array:
    """The rows' span written with the identity at the pivots."""
    matrix = np.asarray(np.linalg.solve(basis[:, list(pivots)], basis), dtype=np.float64)
    matrix[:, list(pivots)] = np.eye(len(pivots))
    return matrix


def without_rounding(matrix: Array, scale: Array, pivots: Sequence[int]) -> Array:
    """The reduced matrix for parameters in SI units, rounding errors removed.

    `scale` turns parameters in SI units into those of `matrix`, in which what is below the threshold is
    zero; what is left is rounded to the digits it can have.
    """
    cleared = np.where(np.abs(matrix) < THRESHOLD, 0.0, matrix) * scale / scale[list(pivots)][:, None]
    digits = [[float(f"{entry:.{SIGNIFICANT_DIGITS}g}") for entry in row] for row in cleared]
    return np.array(digits, dtype=np.float64).reshape(matrix.shape)
