"""Are two sets of base parameters the same thing? Corollary 6 and Theorem 1 of [Lin1994].

Two sets a and b of as many linear combinations determine each other exactly when b = M a with a constant,
nonsingular M; that is, when their matrices have the same row space. If they do not, the comparison names
what is foreign (not determined by the first set), redundant (follows from the rest of the second) and
missing (not determined by the second).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid.base.floating import Floating, independent_columns, reduced_on, without_rounding
from dynid.base.result import BaseParameters, from_pivots, linear_text
from dynid.errors import ArgumentError, choices
from dynid.spatial import Array

TOLERANCE = 1e-8

UserSet = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class Comparison:
    """How the set `b` stands to the base parameters `a`; `matrix` is M of b = M a, if there is one."""

    a: BaseParameters
    b: BaseParameters
    matrix: Array | None
    foreign: tuple[str, ...]  # elements of b that a does not determine
    redundant: tuple[str, ...]  # elements of b that follow from those before them
    missing: tuple[str, ...]  # elements of a that b does not determine

    @property
    def equivalent(self) -> bool:
        return self.matrix is not None

    def explain(self) -> str:
        """What keeps the sets from being equivalent, or that they are."""
        if self.equivalent:
            return f"equivalent: each of the {self.b.count} parameters follows from the others' set"
        problems = (
            ("not determined by the model", self.foreign),
            ("redundant, they follow from the others", self.redundant),
            ("missing, not determined by this set", self.missing),
        )
        found = "; ".join(f"{what}: {', '.join(names)}" for what, names in problems if names)
        return f"not a set of base parameters ({self.b.count} given, {self.a.count} needed); {found}"

    def table(self) -> tuple[tuple[str, str], ...]:
        """Each parameter of b with its expression in those of a."""
        if self.matrix is None:
            raise ArgumentError(self.explain())
        return tuple(
            (name, linear_text(row, self.a.names))
            for name, row in zip(self.b.names, self.matrix, strict=True)
        )


def compare(a: BaseParameters, b: BaseParameters | UserSet, *, tolerance: float = TOLERANCE) -> Comparison:
    """How the set `b` stands to the base parameters `a`.

    The tolerance is for what one set leaves unexplained of the other beside the size of its row; a set
    whose coefficients are printed with few digits needs a larger one.
    """
    other = b if isinstance(b, BaseParameters) else user_set(b, a)
    columns = tuple(dict.fromkeys((*a.columns, *other.columns)))
    A, B = balanced(spread(a, columns), spread(other, columns))
    foreign = names_where(unexplained(A, B) > tolerance, other.names)
    missing = names_where(unexplained(B, A) > tolerance, a.names)
    redundant = dependent_rows(B, other.names, tolerance)
    good = not (foreign or missing or redundant)
    return Comparison(a, other, transfer(a, other, columns) if good else None, foreign, redundant, missing)


def map_between(a: BaseParameters, b: BaseParameters | UserSet) -> Array:
    """M with beta_b = M @ beta_a, (count, count); an ArgumentError explains why there is none."""
    found = compare(a, b)
    if found.matrix is None:
        raise ArgumentError(found.explain())
    return found.matrix


def convert(
    values: ArrayLike, covariance: ArrayLike, a: BaseParameters, b: BaseParameters | UserSet
) -> tuple[Array, Array]:
    """Values (count,) and covariance (count, count) of the set `a`, as those of the set `b`."""
    beta, C = np.asarray(values, dtype=np.float64), np.asarray(covariance, dtype=np.float64)
    if beta.shape != (a.count,) or C.shape != (a.count, a.count):
        raise ArgumentError(
            f"expected {a.count} values and a covariance of {a.count} x {a.count}, "
            f"got shapes {beta.shape} and {C.shape}"
        )
    M = map_between(a, b)
    return M @ beta, M @ C @ M.T


def user_set(given: UserSet, like: BaseParameters) -> BaseParameters:
    """A set of one's own, name -> {standard parameter: coefficient}, over the columns of `like`."""
    if not given:
        raise ArgumentError("the set of parameters is empty")
    number = {name: k for k, name in enumerate(like.columns)}
    matrix = np.zeros((len(given), len(like.columns)))
    for row, (element, terms) in zip(matrix, given.items(), strict=True):
        for name, coefficient in terms.items():
            if name not in number:
                raise ArgumentError(f"{element}: parameter {choices(name, like.columns)}")
            if not np.isfinite(coefficient):
                raise ArgumentError(f"{element}: the coefficient of {name} is not finite")
            row[number[name]] = coefficient
    return BaseParameters(
        method="own", model=like.model, columns=like.columns, matrix=matrix, names=tuple(given)
    )


# --- row spaces -------------------------------------------------------------------------------------


def spread(base: BaseParameters, columns: Sequence[str]) -> Array:
    """The set's matrix over other columns, (count, columns)."""
    number = {name: k for k, name in enumerate(columns)}
    matrix = np.zeros((base.count, len(columns)))
    matrix[:, [number[name] for name in base.columns]] = base.matrix
    return matrix


def balanced(A: Array, B: Array) -> tuple[Array, Array]:
    """Both matrices with columns scaled alike, so that no unit of length matters, and rows of unit length.

    The columns' units are those in which, with a unit for each row, the logarithms of all entries are as
    small as can be (least squares): a change of the unit of length changes nothing at all.
    """
    entries = np.vstack([A, B])
    rows, columns = np.nonzero(entries)
    unit_of = np.zeros((len(rows), sum(entries.shape)))
    unit_of[np.arange(len(rows)), columns] = 1.0
    unit_of[np.arange(len(rows)), entries.shape[1] + rows] = 1.0
    sizes = np.log(np.abs(entries[rows, columns]))
    units = np.exp(np.linalg.lstsq(unit_of, sizes, rcond=None)[0][: entries.shape[1]])
    return unit_rows(A / units), unit_rows(B / units)


def largest(matrix: Array) -> Array:
    """Size of the largest entry of each column."""
    return np.asarray(np.abs(matrix).max(axis=0, initial=0.0), dtype=np.float64)


def unit_rows(matrix: Array) -> Array:
    """Rows of unit length; rows of zeros stay."""
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / np.where(lengths > 0.0, lengths, 1.0)


def fit(A: Array, B: Array) -> Array:
    """M that makes M @ A closest to B, (rows of B, rows of A)."""
    return np.asarray(np.linalg.lstsq(A.T, B.T, rcond=None)[0], dtype=np.float64).T


def unexplained(A: Array, B: Array) -> Array:
    """What no combination of the rows of A gives of each row of B, (rows of B,)."""
    return np.linalg.norm(B - fit(A, B) @ A, axis=1)


def names_where(chosen: NDArray[np.bool_], names: Sequence[str]) -> tuple[str, ...]:
    """The names for which `chosen` holds."""
    return tuple(name for name, is_chosen in zip(names, chosen, strict=True) if is_chosen)


def dependent_rows(B: Array, names: Sequence[str], tolerance: float) -> tuple[str, ...]:
    """Names of the rows that are combinations of those before them."""
    independent = independent_columns(B.T, range(len(B)), threshold=tolerance)
    return tuple(name for k, name in enumerate(names) if k not in independent)


def transfer(a: BaseParameters, b: BaseParameters, columns: Sequence[str]) -> Array:
    """M of two sets with one row space: read off the identity of a where it has one, fitted otherwise."""
    if a.kept:
        return spread(b, columns)[:, [columns.index(name) for name in a.kept]]
    A, B = spread(a, columns), spread(b, columns)
    across = np.where(largest(A) > 0.0, largest(A), 1.0)
    M = fit(A / across, B / across)
    cleared = np.where(np.abs(M) < 1e-12 * np.abs(M).max(axis=1, keepdims=True, initial=0.0), 0.0, M)
    whole = np.round(cleared)  # most entries are whole numbers, but for the rounding of the fit
    return np.where(np.abs(cleared - whole) < 1e-12 * np.maximum(np.abs(whole), 1.0), whole, cleared)


# --- any linear model -------------------------------------------------------------------------------


def minimal_combinations(
    model: Callable[[Array], ArrayLike],
    names: Sequence[str],
    states: int | Callable[[np.random.Generator], ArrayLike],
    *,
    order: Sequence[str] | None = None,
    samples: int | None = None,
    seed: int = 0,
) -> BaseParameters:
    """Minimal linear combinations of the parameters x of any model y = A(theta) x (Theorem 1).

    `model` gives A(theta), (n, parameters); `states` draws a theta, or is its length for draws from the
    standard normal distribution. `order` names the parameters that had better stay, best first.
    """
    rng = np.random.default_rng(seed)
    rows: list[Array] = []
    for _ in range(samples or 2 * len(names) + 10):
        theta = np.asarray(rng.standard_normal(states) if isinstance(states, int) else states(rng))
        block = np.atleast_2d(np.asarray(model(theta.astype(np.float64)), dtype=np.float64))
        if block.shape[1] != len(names) or not np.isfinite(block).all():
            raise ArgumentError(
                f"the model gave an array of shape {block.shape}; "
                f"expected finite values in {len(names)} columns"
            )
        rows.append(block)
    stacked = np.concatenate(rows)
    lengths = np.linalg.norm(stacked, axis=0)
    lengths[lengths == 0.0] = 1.0
    arithmetic = Floating()
    basis = arithmetic.span(stacked / lengths)
    pivots = independent_columns(basis, preferred(names, order), len(basis))
    reduced = reduced_on(basis, pivots)
    return from_pivots(
        method="theorem 1",
        model="linear",
        columns=names,
        matrix=without_rounding(reduced, lengths, pivots),
        pivots=pivots,
        gap=(arithmetic.kept, arithmetic.dropped),
    )


def preferred(names: Sequence[str], order: Sequence[str] | None) -> list[int]:
    """Numbers of all names, those in `order` first."""
    for name in order or ():
        if name not in names:
            raise ArgumentError(f"order: {choices(name, names)}")
    first = [list(names).index(name) for name in dict.fromkeys(order or ())]
    return [*first, *(k for k in range(len(names)) if k not in first)]
