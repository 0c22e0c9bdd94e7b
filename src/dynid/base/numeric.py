"""Base parameters from sampled regressors: elimination column by column, or QR with pivoting.

Section 6.1 of [Izaguirre1992]: columns are taken one after the other, and one that depends on those
before it is dropped and its share added to theirs, Eqs. (27)-(29). The order decides which parameters
stay. All columns have unit length when the rank is decided, so units of measurement have no say.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid.base.columns import Columns, units
from dynid.base.floating import (
    Floating,
    independent_columns,
    reduced_in_units,
    unit_columns,
    without_rounding,
)
from dynid.base.geometry import floating_geometry
from dynid.base.result import BaseParameters, from_pivots
from dynid.base.sampling import sampled_rows
from dynid.errors import ArgumentError, choices
from dynid.robot import Robot

ORDERS = ("paper", "qr")

# A link's moments in the paper's order m x y z a b c d e f, where a b c = XX YY ZZ and d e f = XY YZ XZ.
_PAPER_LETTERS = ("M", "MX", "MY", "MZ", "XX", "YY", "ZZ", "XY", "YZ", "XZ")


def numeric(
    robot: Robot, model: str, columns: Columns, order: Sequence[str] | str | None = None
) -> BaseParameters:
    """Base parameters from samples; `order` lists columns by preference, or is "paper" or "qr".

    "paper" (the default) takes motor inertias, then links from the last to the first, then friction and
    offsets; "qr" lets column pivoting choose. Columns that a list leaves out come last.
    """
    rows = sampled_rows(robot, model, columns)
    arithmetic = Floating()
    triangle, lengths = unit_columns(rows)
    basis = arithmetic.span(triangle)
    if order == "qr":
        pivots = independent_columns(triangle, [], len(basis))
    else:
        pivots = independent_columns(basis, column_order(columns, order or "paper"), len(basis))
    reduced = reduced_in_units(basis, pivots, lengths)
    scale = np.array(units(robot, floating_geometry(robot), columns), dtype=np.float64)
    return from_pivots(
        method="numeric",
        model=model,
        columns=columns.names,
        matrix=without_rounding(reduced, scale, pivots),
        pivots=pivots,
        gap=(arithmetic.kept, arithmetic.dropped),
    )


def column_order(columns: Columns, order: Sequence[str] | str) -> list[int]:
    """Numbers of all columns in the order asked for."""
    number = {name: k for k, name in enumerate(columns.names)}
    default = [number[name] for name in paper_order(columns)]
    if order == "paper":
        return default
    names = [order] if isinstance(order, str) else list(order)
    for name in names:
        if name not in number:
            raise ArgumentError(f"order: {choices(name, (*ORDERS, *number))}")
    first = [number[name] for name in dict.fromkeys(names)]
    return [*first, *(k for k in default if k not in set(first))]


def paper_order(columns: Columns) -> list[str]:
    """Motor inertias, links from the last to the first, Coulomb friction, viscous friction, offsets."""
    links = [f"{letter}{j}" for j in range(columns.links, 0, -1) for letter in _PAPER_LETTERS]

    def drives(letter: str) -> list[str]:
        return [f"{letter}{j + 1}" for j in range(columns.dof)] if letter in columns.letters else []

    return [*drives("Ia"), *links, *drives("Fc"), *drives("Fv"), *drives("Fo")]
