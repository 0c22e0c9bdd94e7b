"""Whether a trajectory keeps its limits at every instant, not only at its samples.

Between samples a trajectory is a polynomial of degree 5, which `polynomials` bounds, and with it velocity,
acceleration and jerk. Efforts and clearances are bounded by `intervals`. So what is called safe is safe, up
to the rounding of numbers; what is not may be safe after all, by a hair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dynid.excite import polynomials
from dynid.excite.effort import Effort
from dynid.excite.intervals import Interval, enclose
from dynid.excite.limits import Bounds
from dynid.excite.space import Space
from dynid.spatial import Array
from dynid.trajectory import Trajectory

QUANTITIES = ("position", "velocity", "acceleration", "jerk")
PART = 0.0025  # s, about; bounds of efforts and clearances are wider by what these change in that time
MOST_PARTS = 64  # of the interval between two samples
ROUNDING = 1e-12  # of a limit's range; sums of polynomials are no more exact than this


@dataclass(frozen=True, eq=False)
class Certificate:
    """The largest excess over each limit, divided by the limit's range; not positive where it is kept."""

    excess: Mapping[str, Array] = field(default_factory=dict[str, Array])  # by limit, (n,), or (m,) for space

    @property
    def largest(self) -> float:
        return max((float(values.max()) for values in self.excess.values()), default=0.0)

    @property
    def safe(self) -> bool:
        return self.largest <= 0.0

    def worst(self, names: tuple[str, ...]) -> str:
        """What is closest to its limit, or furthest beyond it, in words."""
        limit = max(self.excess, key=lambda key: float(self.excess[key].max()))
        values = self.excess[limit]
        joint = "" if limit == "space" else f" of {names[int(values.argmax())]}"
        size = float(values.max())
        return (
            f"{limit}{joint}, {100.0 * abs(size):.3g} % of its range {'beyond' if size > 0.0 else 'inside'}"
        )


def certify(
    trajectory: Trajectory,
    bounds: Bounds,
    effort: Effort | None = None,
    space: Space | None = None,
) -> Certificate:
    """The certificate of a trajectory; efforts and clearances are looked at if they are given."""
    found = own_excess(trajectory, bounds)
    if effort is not None or space is not None:
        parts = _parts(trajectory)
        lengths = np.repeat(np.diff(trajectory.times) / parts, parts)
        pieces = [enclosure(trajectory, order) for order in range(4)]
        middles = [_flat(polynomials.middles(_powers(trajectory, order), parts)) for order in range(3)]
        if effort is not None:
            efforts = effort.enclosed(enclose(effort.recorded, pieces, middles, lengths), pieces[1])
            found["effort"] = _beyond(efforts, -bounds.effort, bounds.effort)
        if space is not None and len(space.sizes):
            clearances = enclose(space.clearances, pieces, middles, lengths)
            found["space"] = (-clearances.lower / space.sizes).max(axis=0)
    return Certificate({key: _rounded(excess) for key, excess in found.items()})


def own_excess(trajectory: Trajectory, bounds: Bounds) -> dict[str, Array]:
    """The part of a certificate that each joint's motion decides alone, (n,) by limit."""
    found = {"position": _beyond(enclosure(trajectory, 0), bounds.lower, bounds.upper)}
    for order, limit in enumerate(bounds.rates, 1):
        if np.isfinite(limit).any():
            found[QUANTITIES[order]] = _beyond(enclosure(trajectory, order), -limit, limit)
    return {key: _rounded(excess) for key, excess in found.items()}


def _rounded(excess: Array) -> Array:
    return np.where(np.abs(excess) < ROUNDING, 0.0, excess)


def enclosure(trajectory: Trajectory, order: int) -> Interval:
    """Bounds of a derivative of q over each part of each interval, (parts (N - 1), n)."""
    lower, upper = polynomials.bounds(_powers(trajectory, order), _parts(trajectory))
    return Interval(_flat(lower), _flat(upper))


def _beyond(pieces: Interval, lower: Array, upper: Array) -> Array:
    """Largest excess over either bound by the distance of the bounds, (n,); -1 where there are none."""
    span = upper - lower
    with np.errstate(invalid="ignore"):
        excess = np.maximum((lower - pieces.lower).max(axis=0), (pieces.upper - upper).max(axis=0)) / span
    return np.where(np.isfinite(span), excess, -1.0)


def _parts(trajectory: Trajectory) -> int:
    """Into how many parts every interval is divided."""
    return int(np.clip(np.ceil(float(np.diff(trajectory.times).max()) / PART), 1, MOST_PARTS))


def _powers(trajectory: Trajectory, order: int) -> Array:
    """Coefficients of 1, u, .. of a derivative by time, (N - 1, 6 - order, n)."""
    lengths = np.diff(trajectory.times)[:, None, None]
    return polynomials.derived(trajectory.coefficients, order) / lengths**order


def _flat(values: Array) -> Array:
    return np.ascontiguousarray(values.reshape(-1, values.shape[-1]))
