"""Points joined by quintics, section 5 of [GK1992].

Between two points all joints take the same time, accelerations vanish at both, and each joint follows the
polynomial of Eqs. (24) to (28). The paper shortens the time until a velocity or an acceleration reaches its
limit, taking both for decreasing functions of the time; they are not, so times are tried one by one. Near
limits one quintic is often too much to ask for at any time: then the joint stops on its way, and three
quintics take the place of one. That way always exists (`points` leaves the room), so a time is always found.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dynid.excite import polynomials
from dynid.excite.limits import Bounds
from dynid.spatial import Array

BRAKING_ACCELERATION = 1.5  # speed / time: to rest with a velocity of 1 - 3 u^2 + 2 u^3
BRAKING_JERK = 6.0  # speed / time^2
REST_VELOCITY = 1.875  # way / time: largest velocity of the quintic from rest to rest
REST_ACCELERATION = 10.0 / np.sqrt(3.0)  # way / time^2
REST_JERK = 60.0  # way / time^3
BLOCK = 128  # rows that are tried at once
PARTS = 16  # of a quintic, over which it is bounded


@dataclass(frozen=True)
class Knot:
    """Where one joint is at a row, with zero acceleration."""

    row: int
    q: float
    qd: float


Path = list[Knot]  # of one joint, from one point to the next


def braking(speed: Array, bounds: Bounds) -> tuple[Array, Array]:
    """Least time (..., n) from these speeds to rest, and its slope by the speed."""
    times = BRAKING_ACCELERATION * speed / bounds.acceleration
    by_jerk = np.sqrt(BRAKING_JERK * speed / bounds.jerk)
    jerky = by_jerk > times
    slopes = np.where(
        jerky, 0.5 * by_jerk / np.where(jerky, speed, 1.0), BRAKING_ACCELERATION / bounds.acceleration
    )
    return np.where(jerky, by_jerk, times), slopes


def quintic(qa: Array, va: Array, qb: Array, vb: Array, time: Array) -> Array:
    """a_0 .. a_5 of Eq. (28) in u = t / time, (M, 6, n) for times (M,) and points (n,)."""
    va, vb = va * time[:, None], vb * time[:, None]
    A = np.broadcast_to(qb - qa, va.shape)
    return np.stack(
        [
            np.broadcast_to(qa, va.shape),
            va,
            np.zeros_like(va),
            10 * A - 6 * va - 4 * vb,
            -15 * A + 8 * va + 7 * vb,
            6 * A - 3 * (va + vb),
        ],
        axis=1,
    )


def join(q: Array, qd: Array, bounds: Bounds, step: float) -> tuple[Array, Array, Array, Array]:
    """Rows of the shortest motion through points (K, n): times (N,), q, qd, qdd, (N, n) each.

    The points are met at rows, `step` s apart.
    """
    paths: list[Path] = [[Knot(0, float(x), float(v))] for x, v in zip(q[0], qd[0], strict=True)]
    for i in range(len(q) - 1):
        row = paths[0][-1].row
        for path, way in zip(paths, _interval(q[i], qd[i], q[i + 1], qd[i + 1], bounds, step), strict=True):
            path.extend(Knot(row + knot.row, knot.q, knot.qd) for knot in way)
    times = np.arange(paths[0][-1].row + 1, dtype=np.float64) * step
    arrays = np.stack([_rows_of(path, step) for path in paths], axis=2)
    return times, arrays[0], arrays[1], arrays[2]


def _interval(qa: Array, va: Array, qb: Array, vb: Array, bounds: Bounds, step: float) -> list[Path]:
    """Every joint's path from one point to the next, in the fewest rows."""
    first, last, least = _stopping_rows(qa, va, qb, vb, bounds, step)
    rows, single = _fewest(qa, va, qb, vb, bounds, step, least)
    paths: list[Path] = []
    for j in range(len(qa)):
        end = Knot(rows, float(qb[j]), float(vb[j]))
        if single[j]:
            paths.append([end])
            continue
        stop = float(qa[j] + 0.5 * va[j] * first[j] * step)
        go = float(qb[j] - 0.5 * vb[j] * last[j] * step)
        knots = [Knot(int(first[j]), stop, 0.0), Knot(rows - int(last[j]), go, 0.0), end]
        paths.append([a for a, b in zip(knots, [*knots[1:], None], strict=True) if a.row and a != b])
    return paths


def _fewest(
    qa: Array, va: Array, qb: Array, vb: Array, bounds: Bounds, step: float, least: NDArray[np.intp]
) -> tuple[int, NDArray[np.bool_]]:
    """The fewest rows in which all joints arrive, and which of them by one quintic, (n,)."""
    most = max(1, int(least.max()))
    for begin in range(1, most + 1, BLOCK):
        counts = np.arange(begin, min(begin + BLOCK, most + 1))
        single = fits(qa, va, qb, vb, counts.astype(np.float64) * step, bounds)
        possible = (single | (counts[:, None] >= least)).all(axis=1)
        if possible.any():
            k = int(np.argmax(possible))
            return int(counts[k]), single[k]
    raise AssertionError("after `most` rows every joint can stop on its way")


def fits(qa: Array, va: Array, qb: Array, vb: Array, times: Array, bounds: Bounds) -> NDArray[np.bool_]:
    """Whether one quintic that takes so long keeps a joint's limits, (M, n) for times (M,)."""
    powers = quintic(qa, va, qb, vb, times)
    low, high = polynomials.bounds(powers, PARTS)
    good = np.asarray((low >= bounds.lower).all(axis=1) & (high <= bounds.upper).all(axis=1))
    for order, limit in enumerate(bounds.rates, 1):
        if np.isfinite(limit).any():
            low, high = polynomials.bounds(polynomials.derived(powers, order), PARTS)
            most = np.maximum(-low, high).max(axis=1) / times[:, None] ** order
            good &= most <= limit
    return good


def _stopping_rows(
    qa: Array, va: Array, qb: Array, vb: Array, bounds: Bounds, step: float
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Rows (n,) to brake to rest, to run up at the end, and of the shortest path that does both."""
    first, last = (np.ceil(braking(np.abs(v), bounds)[0] / step).astype(np.intp) for v in (va, vb))
    way = np.abs((qb - 0.5 * vb * last * step) - (qa + 0.5 * va * first * step))
    least = np.max(
        [
            REST_VELOCITY * way / bounds.velocity,
            np.sqrt(REST_ACCELERATION * way / bounds.acceleration),
            np.cbrt(REST_JERK * way / bounds.jerk),
        ],
        axis=0,
    )
    return first, last, first + last + np.ceil(least / step).astype(np.intp)


def _rows_of(path: Path, step: float) -> Array:
    """q, qd, qdd of one joint at all rows, (3, N)."""
    found = np.zeros((3, path[-1].row + 1))
    for a, b in pairwise(path):
        span = (b.row - a.row) * step
        qa, va, qb, vb = (np.array([x]) for x in (a.q, a.qd, b.q, b.qd))
        powers = quintic(qa, va, qb, vb, np.array([span]))[0]
        u = np.arange(b.row - a.row + 1) / (b.row - a.row)
        for order in range(3):
            values = polynomials.at(polynomials.derived(powers, order), u)
            found[order, a.row : b.row + 1] = values[:, 0] / span**order
        # points are met to the last digit, and joints that follow different paths agree there
        for knot in (a, b):
            found[:, knot.row] = knot.q, knot.qd, 0.0
    return found
