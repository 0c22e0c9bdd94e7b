"""Base parameters: the fewest linear combinations of parameters that determine a model."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import ArgumentError
from dynid.spatial import Array, frozen


@dataclass(frozen=True, eq=False, kw_only=True)
class BaseParameters:
    """A set of base parameters: values = matrix @ (standard parameters in the order of `columns`).

    `kept` names, row by row, the standard parameter that carries the base parameter where there is
    one: the matrix has the identity on these columns. Sets of another form leave it empty.
    """

    method: str
    model: str
    columns: tuple[str, ...]
    matrix: Array  # (count, columns)
    names: tuple[str, ...]
    kept: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict[str, str])  # of the parameters without effect
    gap: tuple[float, float] | None = None  # smallest size kept, largest dropped; None if exact
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", frozen(self.matrix, (len(self.names), len(self.columns))))

    def _repr_html_(self) -> str:
        from dynid.notebook import base_html

        return base_html(self)

    @property
    def count(self) -> int:
        return len(self.names)

    @property
    def expressions(self) -> tuple[str, ...]:
        """The base parameters as linear texts, such as 'ZZ1 + YY2 + 0.0484 M3'."""
        leads = self.kept or (None,) * self.count
        return tuple(
            linear_text(row, self.columns, lead) for row, lead in zip(self.matrix, leads, strict=True)
        )

    @property
    def no_effect(self) -> tuple[str, ...]:
        """Standard parameters on which nothing depends."""
        silent = ~np.any(self.matrix, axis=0)
        return tuple(name for name, is_silent in zip(self.columns, silent, strict=True) if is_silent)

    @property
    def regrouped(self) -> dict[str, tuple[str, ...]]:
        """Standard parameters that only act through others, and the base parameters they went to."""
        gone = set(self.no_effect) | set(self.kept)
        return {
            name: tuple(self.names[row] for row in np.flatnonzero(self.matrix[:, k]))
            for k, name in enumerate(self.columns)
            if name not in gone
        }

    def values(self, parameters: ArrayLike) -> Array:
        """Base values (count,) of standard parameters in the order of `columns`."""
        standard = np.asarray(parameters, dtype=np.float64)
        if standard.shape != (len(self.columns),):
            raise ArgumentError(f"expected {len(self.columns)} parameters, got an array of {standard.shape}")
        return self.matrix @ standard

    def completion(self, values: ArrayLike) -> Array:
        """Some standard parameters (columns,) with these base values; they need not be physical."""
        beta = np.asarray(values, dtype=np.float64)
        if beta.shape != (self.count,):
            raise ArgumentError(f"expected {self.count} base values, got an array of shape {beta.shape}")
        standard = np.zeros(len(self.columns))
        if self.kept:
            standard[[self.columns.index(name) for name in self.kept]] = beta
            return standard
        return np.asarray(np.linalg.lstsq(self.matrix, beta, rcond=None)[0], dtype=np.float64)

    def without(self, letters: Collection[str]) -> BaseParameters:
        """Less constants of the drives, by letters such as "Fv", on which nothing else depends."""
        rows = [k for k, name in enumerate(self.names) if name[:2] not in letters]
        columns = [k for k, name in enumerate(self.columns) if name[:2] not in letters]
        return replace(
            self,
            columns=tuple(self.columns[k] for k in columns),
            matrix=self.matrix[np.ix_(rows, columns)],
            names=tuple(self.names[k] for k in rows),
            kept=tuple(self.kept[k] for k in rows) if self.kept else (),
            reasons={name: why for name, why in self.reasons.items() if name[:2] not in letters},
        )

    def map_to(self, other: BaseParameters | Mapping[str, Mapping[str, float]]) -> Array:
        """M with beta_other = M @ beta_self (Corollary 6 of [Lin1994]), (count, count).

        `other` may also be a set of your own: name -> {standard parameter: coefficient}. If the two
        do not determine each other, an ArgumentError says what is missing, redundant or foreign.
        """
        from dynid.base.compare import map_between  # compare imports this module

        return map_between(self, other)


def from_pivots(
    *,
    method: str,
    model: str,
    columns: Sequence[str],
    matrix: Array,
    pivots: Sequence[int],
    gap: tuple[float, float] | None = None,
    notes: Sequence[str] = (),
) -> BaseParameters:
    """Base parameters from a reduced matrix with the identity at `pivots`, named after these."""
    kept = tuple(columns[pivot] for pivot in pivots)
    names = tuple(
        name if np.count_nonzero(row) == 1 else regrouped_name(name)
        for name, row in zip(kept, matrix, strict=True)
    )
    return BaseParameters(
        method=method,
        model=model,
        columns=tuple(columns),
        matrix=matrix,
        names=names,
        kept=kept,
        gap=gap,
        notes=tuple(notes),
    )


def regrouped_name(name: str) -> str:
    """The name with an R between letters and number: ZZ1 -> ZZR1."""
    match = re.fullmatch(r"(\D+)(\d+)", name)
    return f"{match[1]}R{match[2]}" if match else f"{name}R"


def linear_text(coefficients: ArrayLike, names: Sequence[str], lead: str | None = None) -> str:
    """A linear combination as text, the name `lead` first: 'XX6 - YY6', '0' if all vanish."""
    terms = [(name, float(c)) for name, c in zip(names, readable(coefficients), strict=True) if c]
    terms.sort(key=lambda term: term[0] != lead)
    text = ""
    for name, coefficient in terms:
        sign = "-" if coefficient < 0 else "+"
        size = abs(coefficient)
        factor = "" if size == 1 else f"{shortest(size)} "
        text += f" {sign} {factor}{name}" if text else f"{'-' if sign == '-' else ''}{factor}{name}"
    return text or "0"


def readable(coefficients: ArrayLike) -> Array:
    """Coefficients as texts show them, of 12 digits: the last ones of a float may be rounding."""
    return np.array([float(f"{c:.12g}") for c in np.asarray(coefficients, dtype=np.float64)])


def shortest(value: float) -> str:
    """The fewest digits that give this float back, without a trailing '.0'."""
    text = repr(float(value))
    return text.removesuffix(".0")
