"""What a report shows, as plain data: whoever has results fills this, the page only reads it.

Every part but the robot is optional; what is not given is not shown. N samples, n joints, p parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from dynid.fit.judge import Status
from dynid.log.check import Report as Health
from dynid.robot import Robot
from dynid.spatial import Array
from dynid.validation import Comparison, Score

if TYPE_CHECKING:
    from dynid.tracking import Tracking

Role = Literal["training", "validation"]
Mark = Literal["good", "caution", "bad", "open"]


@dataclass(frozen=True, kw_only=True)
class Reason:
    """One thing that speaks for or against a result; open: nobody has looked."""

    mark: Mark
    text: str


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether the result can be trusted, and why."""

    status: Status
    advice: tuple[str, ...] = ()  # what to do next, or to know
    reasons: tuple[Reason, ...] = ()
    figures: tuple[tuple[str, str], ...] = ()  # what to know first: (what, figure)


@dataclass(frozen=True, eq=False, kw_only=True)
class Compared:
    """A log and what the model says of it."""

    log: str
    role: Role
    comparison: Comparison
    scores: Mapping[str, Score]

    @property
    def joints(self) -> tuple[int, ...]:
        """Numbers of the joints whose efforts are known."""
        return tuple(np.flatnonzero(self.comparison.known).tolist())

    @property
    def residual(self) -> Array:
        """Measured less predicted, both filtered, (M, n)."""
        return self.comparison.measured - self.comparison.predicted


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One estimated parameter; `formula` says which standard parameters it groups."""

    name: str
    value: float
    std: float  # infinite: not determined
    half_width: float  # of the 95 % interval
    unit: str = ""
    formula: str = ""
    reference: float | None = None  # what the robot's own file says

    @property
    def determined(self) -> bool:
        return bool(np.isfinite(self.std))

    @property
    def relative_std_percent(self) -> float:
        return 100.0 * self.std / abs(self.value) if self.value else float("inf")


@dataclass(frozen=True, eq=False, kw_only=True)
class Motion:
    """What moved in one log."""

    log: str
    time: Array  # (N,) s
    position: Array  # (N, n)
    velocity: Array  # (N, n)
    effort: Array | None = None  # (N, n)


@dataclass(frozen=True, kw_only=True)
class Essential:
    """How few parameters would do."""

    kept: tuple[str, ...]
    dropped: tuple[str, ...]  # in the order in which they went
    errors: tuple[float, ...]  # what stays unexplained, % of the efforts, as one after the other goes


@dataclass(frozen=True, eq=False, kw_only=True)
class Bodies:
    """Standard parameters of all links, (10 L,), and where they came from."""

    parameters: Array
    origins: tuple[str, ...] = ()  # of each of them: measured, grouped or prior
    posture: Array | None = None  # (n,) in which to draw the arm; None: half-way between the limits


@dataclass(frozen=True, kw_only=True)
class Operations:
    """Operations of one function of the generated code."""

    function: str
    mul: int
    add: int
    neg: int
    sincos: int


@dataclass(frozen=True, kw_only=True)
class Estimator:
    """What another estimator makes of the same logs."""

    method: str
    status: Status
    scores: Mapping[str, Score]  # on validation logs if there are any, else on the training logs
    chosen: bool = False  # whether all else on the page is of this one


@dataclass(frozen=True, eq=False, kw_only=True)
class ReportData:
    """All that one page shows."""

    title: str
    robot: Robot
    verdict: Verdict | None = None
    compared: tuple[Compared, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    correlation: Array | None = None  # (p, p)
    motions: tuple[Motion, ...] = ()
    excitation: tuple[tuple[str, str], ...] = ()  # (what, figure): condition numbers and the like
    estimators: tuple[Estimator, ...] = ()
    tracking: Mapping[str, Tracking] = field(default_factory=lambda: MappingProxyType({}))  # by model
    essential: Essential | None = None
    bodies: Bodies | None = None
    health: Health | None = None
    operations: tuple[Operations, ...] = ()
    choices: tuple[tuple[str, str], ...] = ()
    provenance: tuple[tuple[str, str], ...] = ()
