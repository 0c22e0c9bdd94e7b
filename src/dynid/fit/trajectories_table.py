"""Izaguirre's table: how values found from several trajectories, one fit each, scatter from fit to fit.

Tables 1 and 2 of [Izaguirre1992] give average, standard deviation, maximum and minimum of each parameter over
ten fits. The scatter needs no assumption about noise, and shows what no single fit can: what changes from
motion to motion, as friction does, and what the model lacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import ArgumentError
from dynid.spatial import Array, frozen


@dataclass(frozen=True, eq=False)
class TrajectoriesTable:
    """Statistics of p values over the fits of several trajectories; arrays are (p,)."""

    names: tuple[str, ...]
    fits: int
    mean: Array
    deviation: Array  # of one fit, with fits - 1 degrees of freedom
    largest: Array
    smallest: Array

    @property
    def deviation_of_mean(self) -> Array:
        """(p,), if the trajectories are independent of each other."""
        return self.deviation / np.sqrt(self.fits)

    def text(self, marked: Sequence[str] = ()) -> str:
        """As the paper prints it; a star behind the number of each marked name."""
        wide = max(len(name) for name in self.names)
        lines = [f"  no    {'':{wide}}      average    deviation      maximum      minimum"]
        columns = (self.mean, self.deviation, self.largest, self.smallest)
        for k, name in enumerate(self.names):
            numbers = " ".join(f"{column[k]:12.6f}" for column in columns)
            lines.append(f"  {k + 1:3d} {'*' if name in marked else ' '} {name:{wide}} {numbers}")
        return "\n".join(lines)


def trajectories_table(names: Sequence[str], values: ArrayLike) -> TrajectoriesTable:
    """From values (fits, p), a row per fit."""
    fits = np.asarray(values, dtype=np.float64)
    if fits.ndim != 2 or fits.shape[1] != len(names) or len(fits) < 2:
        raise ArgumentError(
            f"values have shape {fits.shape}; needed are at least 2 fits of {len(names)} parameters each"
        )
    return TrajectoriesTable(
        names=tuple(names),
        fits=len(fits),
        mean=frozen(fits.mean(axis=0)),
        deviation=frozen(fits.std(axis=0, ddof=1)),
        largest=frozen(fits.max(axis=0)),
        smallest=frozen(fits.min(axis=0)),
    )
