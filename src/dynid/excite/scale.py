"""The same path at another speed: slower for a first careful run, or as fast as the limits allow.

At `factor` times the speed velocities grow by the factor, accelerations by its square, and so on. A motion
that is slowed down gets more rows, so that no two are further apart in time than before.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from dynid.errors import ArgumentError
from dynid.excite import polynomials
from dynid.excite.certificate import certify, enclosure
from dynid.excite.effort import Effort
from dynid.excite.limits import Bounds
from dynid.excite.options import MOST_ROWS
from dynid.excite.search import Candidate
from dynid.excite.space import Space
from dynid.spatial import Array
from dynid.trajectory import Trajectory, make_trajectory

SPARED = 1e-9  # of the fastest speed, for rounding
HALVINGS = 24
SLOWEST = 1e-3  # of the speed, beyond which nobody looks


def scaled(
    candidate: Candidate, factor: float, bounds: Bounds, effort: Effort | None, space: Space | None
) -> Candidate:
    """The candidate at `factor` times the speed, with a certificate of its own."""
    whole = candidate.trajectory
    parts = max(1, ceil(1.0 / factor - 1e-9))
    if parts * len(whole.times) > MOST_ROWS:
        raise ArgumentError(f"scale {factor:g} is too slow: it would take more than {MOST_ROWS} rows")
    found = at_factor(whole, factor, parts)
    motion = [x * factor**order for order, x in enumerate(candidate.motion)]
    if len(motion[0]) == len(whole.times):
        motion = [found.q, found.qd, found.qdd]
    return Candidate(found, certify(found, bounds, effort, space), motion)


def at_factor(trajectory: Trajectory, factor: float, parts: int = 1) -> Trajectory:
    """The trajectory at `factor` times the speed, every interval cut into equal parts."""
    t, arrays = _finer(trajectory, parts)
    q, qd, qdd = (x * factor**order for order, x in enumerate(arrays))
    return make_trajectory(trajectory.joint_names, t / factor, q, qd, qdd, trajectory.notes)


def _finer(trajectory: Trajectory, parts: int) -> tuple[Array, list[Array]]:
    """Times (M,) and q, qd, qdd with every interval cut into equal parts; the motion is the same."""
    if parts == 1:
        return trajectory.times, [trajectory.q, trajectory.qd, trajectory.qdd]
    u = np.arange(parts) / parts
    h = np.diff(trajectory.times)
    times = np.append((trajectory.times[:-1, None] + u * h[:, None]).ravel(), trajectory.times[-1])
    arrays: list[Array] = []
    for order, last in enumerate((trajectory.q, trajectory.qd, trajectory.qdd)):
        powers = polynomials.derived(trajectory.coefficients, order) / h[:, None, None] ** order
        values = polynomials.at(powers, u).reshape(-1, last.shape[1])
        arrays.append(np.vstack([values, last[-1:]]))
    return times, arrays


def fastest(trajectory: Trajectory, bounds: Bounds, effort: Effort | None, space: Space | None) -> float:
    """The largest factor for the speed that keeps all limits.

    Velocities, accelerations and jerks say it almost at once; efforts, which gravity keeps from growing with
    the speed alone, are tried.
    """
    tiny = np.finfo(float).tiny
    ratios: list[float] = []
    for order, limit in enumerate(bounds.rates, 1):
        if np.isfinite(limit).any():
            most = enclosure(trajectory, order).size.max(axis=0)
            ratios.append(float((limit / np.maximum(most, tiny)).min()) ** (1.0 / order))
    high = (1.0 - SPARED) * min(ratios)

    def safe(factor: float) -> bool:
        return certify(at_factor(trajectory, factor), bounds, effort, space).safe

    if safe(high):
        return high
    low = 1.0 if high > 1.0 and safe(1.0) else SLOWEST
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if safe(middle) else (low, middle)
    return low
