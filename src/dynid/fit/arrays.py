"""Samples from arrays that need no filter: motions and efforts as somebody else has prepared them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import ArgumentError
from dynid.log.log import Provenance
from dynid.log.samples import Samples
from dynid.robot import Robot
from dynid.signals.filters import Decimator
from dynid.spatial import Array


@dataclass(frozen=True)
class Unfiltered(Decimator):
    """The filter that leaves everything as it is."""

    @property
    def half(self) -> int:
        return 0

    def apply(self, values: Array) -> Array:
        return values


def samples_from_arrays(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    tau: ArrayLike,
    *,
    rate_hz: float = 1.0,
    weights: ArrayLike | None = None,
    extra: Mapping[str, Array] | None = None,
) -> Samples:
    """Samples of N rows (N, n), one equation per joint and row, with weights (N, n) if they differ."""
    arrays = [np.ascontiguousarray(x, dtype=np.float64) for x in (q, qd, qdd, tau)]
    shape = arrays[0].shape
    if len(shape) != 2 or shape[1] != robot.dof or any(x.shape != shape for x in arrays):
        found = ", ".join(str(x.shape) for x in arrays)
        raise ArgumentError(f"q, qd, qdd and tau have shapes {found}; all must be (N, {robot.dof})")
    count = shape[0]
    return Samples(
        joint_names=robot.joint_names,
        rate_hz=rate_hz,
        time=np.arange(count, dtype=np.float64) / rate_hz,
        q=arrays[0],
        qd=arrays[1],
        qdd=arrays[2],
        tau=arrays[3],
        extra=MappingProxyType(dict(extra or {})),
        segments=((0, count),),
        parallel=Unfiltered(rate_hz, 0.25 * rate_hz),
        weights=np.ones(shape) if weights is None else np.asarray(weights, dtype=np.float64),
        choices=MappingProxyType({"filter": "none"}),
        provenance=Provenance("arrays", ""),
        notes=(),
    )
