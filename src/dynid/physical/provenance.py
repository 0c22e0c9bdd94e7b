"""Where each standard parameter of a full set comes from.

measured   the data determine it by itself
grouped    the data determine a sum it is part of; the prior decided about its share
prior      the data say nothing, or less than the prior did
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from dynid.base import BaseParameters
from dynid.physical.prior import Prior
from dynid.spatial import Array

Origin = Literal["measured", "grouped", "prior"]

DECIDED = 0.5  # share of the prior's variance that the data must take away


def origins(
    base: BaseParameters, data: Array, prior: Prior, scale: Array, weight: float
) -> tuple[Origin, ...]:
    """The origin of the 10 L standard parameters.

    `data` (m, columns) are rows in the unknowns of the program: coordinates of the prior, whose variance is
    1 / weight, then constants that have no prior.
    """
    width = 10 * prior.links
    alone = _alone(base.matrix)[:width]
    unknowns = np.zeros((len(base.columns), width + len(scale)))  # standard columns per unknown
    for k, block in enumerate(prior.to_parameters):
        unknowns[10 * k : 10 * k + 10, 10 * k : 10 * k + 10] = block
    drives = np.arange(width, len(base.columns))
    unknowns[drives, drives] = scale[: len(drives)]
    decided = _decided(unknowns, data, width, weight)
    in_groups = _decided(base.matrix @ unknowns, data, width, weight)
    found: list[Origin] = []
    for k in range(width):
        groups = np.flatnonzero(base.matrix[:, k])
        if alone[k] and decided[k]:
            found.append("measured")
        else:
            found.append("grouped" if in_groups[groups].any() and not alone[k] else "prior")
    return tuple(found)


def _alone(matrix: Array) -> np.ndarray:
    """Which columns' parameters are functions of the base values: e_k lies in the row space."""
    _, sizes, rows = np.linalg.svd(matrix, full_matrices=False)
    rows = rows[sizes > 1e-10 * sizes[0]]
    return np.sum(rows**2, axis=0) > 1.0 - 1e-9


def _decided(rows: Array, data: Array, width: int, weight: float) -> np.ndarray:
    """Whether data take `DECIDED` of the prior's variance of each combination of unknowns."""
    precision = np.full(data.shape[1], 1e-16)
    precision[:width] = weight
    root = np.asarray(np.linalg.qr(np.concatenate([data, np.diag(np.sqrt(precision))]), mode="r"))
    after = np.sum(np.linalg.solve(root.T, rows.T) ** 2, axis=0)
    before = np.sum(rows**2 / precision, axis=1)
    return after <= (1.0 - DECIDED) * before
