"""What rows of one joint's equation tell of the unknowns in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dynid.fit.solve import condition
from dynid.spatial import Array

TINY = 1e-9  # of a column's length: what is left of it beside others, if it depends on them
INVOLVED = 1e-6  # of a direction; an unknown with a smaller share of it is determined


def told(rows: Array, own: NDArray[np.intp]) -> tuple[NDArray[np.intp], float]:
    """The first of the unknowns `own` that rows (m, p) tell apart, and the condition of their columns."""
    kept: list[int] = []
    candidates: list[int] = own.tolist()
    for k in candidates:
        if not len(undetermined([rows], np.array([*kept, k], dtype=np.intp))):
            kept.append(k)
    return np.array(kept, dtype=np.intp), condition(rows[:, kept])


def undetermined(rows: Sequence[Array], own: NDArray[np.intp]) -> NDArray[np.intp]:
    """Which of the unknowns `own` the rows (m, p) of one joint's equation leave open."""
    if not rows or not len(own):
        return own
    A = np.concatenate(rows)[:, own]
    lengths = np.linalg.norm(A, axis=0)
    silent = lengths <= TINY * max(float(lengths.max(initial=0.0)), 1.0)
    s, vt = np.linalg.svd(A / np.where(silent, 1.0, lengths), full_matrices=True)[1:]
    rank = int(np.sum(s > TINY * max(float(s.max(initial=0.0)), TINY)))
    involved = np.abs(vt[rank:]).max(axis=0, initial=0.0) > INVOLVED
    return own[involved | silent]
