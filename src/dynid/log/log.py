"""A recording of a robot: joint positions, velocities and efforts over time, in the robot's joint order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from dynid.errors import DynidError
from dynid.spatial import Array

Stamps = NDArray[np.int64]


class LogError(DynidError):
    """A log cannot be used."""


@dataclass(frozen=True)
class Provenance:
    """Where a log came from and how its numbers were read; every result that rests on it carries this."""

    source: str  # path as given, for messages and reports
    sha256: str  # of the file's bytes
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # effort, gain, ...


@dataclass(frozen=True, eq=False, kw_only=True)
class Log:
    """N samples of n joints; arrays are (N, n), read-only, NaN where a value is missing.

    Times are whole nanoseconds. Positions and velocities are of the joints, efforts act on the joints (Nm
    or N), whatever the file held: the reader has converted them, and `provenance` says how.
    """

    joint_names: tuple[str, ...]
    stamp_ns: Stamps  # (N,), as recorded: not necessarily increasing
    epoch_ns: int  # what `time` counts from: 0 for logs in seconds, the first stamp for logs of stamps
    position: Array
    velocity: Array | None  # None where the log has none
    effort: Array | None
    extra: Mapping[str, Array] = field(default_factory=lambda: MappingProxyType({}))  # name -> (N, n)
    provenance: Provenance
    left_out: int = 0  # rows of the file that are not here, as time or position is not finite
    notes: tuple[str, ...] = ()  # what was left out, lost or converted, with counts

    @property
    def time(self) -> Array:
        """Seconds, (N,): the doubles nearest to the stamps, so a file's decimals come back as they were."""
        return (self.stamp_ns - self.epoch_ns).astype(np.float64) / 1e9

    def __len__(self) -> int:
        return len(self.stamp_ns)

    def _repr_html_(self) -> str:
        from dynid.notebook import log_html

        return log_html(self)
