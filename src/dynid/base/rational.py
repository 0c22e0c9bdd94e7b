"""Linear algebra without rounding: row spaces of matrices of integers and fractions.

Rows are kept as sparse dictionaries of coprime integers and eliminated without division, so the
numbers stay short and nothing is ever compared with a tolerance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]  # of Python integers and fractions (dtype object), or of floats
Number = int | Fraction
Row = dict[int, int]


def exact_array(values: Any) -> Numbers:
    """Object array of the given integers and fractions, whole fractions turned into integers."""
    array = np.array(values, dtype=object)
    flat = array.reshape(-1)
    for k, value in enumerate(flat):
        if isinstance(value, Fraction) and value.denominator == 1:
            flat[k] = int(value)
    return array


def common_unit(values: Iterable[Number]) -> Fraction:
    """The largest number of which all values are whole multiples; one if there are only zeros."""
    unit = Fraction(0)
    for value in map(Fraction, values):
        numerator = gcd(unit.numerator * value.denominator, value.numerator * unit.denominator)
        unit = Fraction(numerator, unit.denominator * value.denominator)
    return unit or Fraction(1)


def sparse_row(values: Sequence[Number] | Numbers) -> Row:
    """Non-zero entries of a row by column, scaled to coprime integers."""
    entries = {k: value for k, value in enumerate(values) if value}
    scale = lcm(*(value.denominator for value in entries.values()))
    return primitive({k: int(value * scale) for k, value in entries.items()})


def primitive(row: Row) -> Row:
    """The row divided by the greatest common divisor of its entries."""
    divisor = gcd(*row.values())
    return row if divisor <= 1 else {k: value // divisor for k, value in row.items()}


def eliminate(row: Row, pivot_row: Row, column: int) -> Row:
    """The combination of both rows, primitive, in which `column` is zero."""
    shared = gcd(row[column], pivot_row[column])
    keep, take = pivot_row[column] // shared, row[column] // shared
    result = {k: keep * value for k, value in row.items()}
    for k, value in pivot_row.items():
        entry = result.get(k, 0) - take * value
        if entry:
            result[k] = entry
        else:
            result.pop(k, None)
    return primitive(result)


def row_reduce(rows: Iterable[Row], order: Iterable[int]) -> list[tuple[int, Row]]:
    """Fully reduced rows with their pivots; a column earlier in `order` is preferred as a pivot.

    The pivots are the greedy choice: a column becomes one exactly when it is independent of the
    pivots before it.
    """
    waiting = [row for row in rows if row]
    reduced: list[tuple[int, Row]] = []
    for column in order:
        candidates = [row for row in waiting if column in row]
        if not candidates:
            continue
        pivot_row = min(candidates, key=len)
        waiting = [
            eliminate(row, pivot_row, column) if column in row else row
            for row in waiting
            if row is not pivot_row
        ]
        waiting = [row for row in waiting if row]
        reduced = [
            (pivot, eliminate(row, pivot_row, column) if column in row else row) for pivot, row in reduced
        ]
        reduced.append((column, pivot_row))
        if not waiting:
            break
    return reduced


class Exact:
    """Row spaces decided exactly."""

    def span(self, rows: Numbers) -> Numbers:
        """Independent integer rows with the same span, (rank, columns)."""
        reduced = row_reduce(map(sparse_row, rows), range(rows.shape[1]))
        basis = np.zeros((len(reduced), rows.shape[1]), dtype=object)
        for k, (_, row) in enumerate(reduced):
            basis[k, list(row)] = list(row.values())
        return basis

    def reduce(self, rows: Numbers, order: Sequence[int]) -> tuple[Numbers, list[int]]:
        """Reduced rows with ones at the pivots, (rank, columns), and the pivots."""
        reduced = row_reduce(map(sparse_row, rows), order)
        matrix = np.zeros((len(reduced), rows.shape[1]), dtype=object)
        for k, (pivot, row) in enumerate(reduced):
            for column, value in row.items():
                matrix[k, column] = Fraction(value, row[pivot])
        return matrix, [pivot for pivot, _ in reduced]


def rank(rows: Numbers) -> int:
    """Exact rank of a matrix of integers and fractions."""
    return len(row_reduce(map(sparse_row, rows), range(rows.shape[1])))


def inverse(matrix: Numbers) -> Numbers:
    """Exact inverse of a square matrix of integers and fractions, (n, n)."""
    size = len(matrix)
    bordered = np.hstack([matrix, exact_array(np.eye(size, dtype=int).tolist())])
    reduced, pivots = Exact().reduce(bordered, range(size))
    if len(pivots) < size:
        raise ZeroDivisionError("the matrix is singular")
    return reduced[np.argsort(pivots)][:, size:]
