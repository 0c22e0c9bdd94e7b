"""What a user may ask of an identification; the defaults choose everything from the training logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from dynid.errors import ArgumentError, choices
from dynid.friction import SIMPLE
from dynid.log.samples import VelocitySource
from dynid.physical.prior import METRICS, Metric
from dynid.robot import Side
from dynid.signals.derivatives import Derivative
from dynid.signals.masks import STANDSTILL_SPEED

PriorKind = Literal["auto", "none", "ridge", "cad"]
Purpose = Literal["values", "prediction"]
PRIORS: tuple[PriorKind, ...] = get_args(PriorKind)
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)

FRICTION_WORDS = {
    "viscous": "Fv",
    "coulomb": "Fc",
    "offset": "Fo",
    "asymmetric": "Fa",
    "stribeck": "Fs",
    "root": "Fr",
    "load": "Fl",
}


@dataclass(frozen=True, kw_only=True)
class Options:
    """All options but the method's own."""

    method: str = "wls"
    cutoff_hz: float | None = None  # None: chosen from the log
    friction: str | Sequence[str] = "auto"  # or words of FRICTION_WORDS, in a text with commas, or none
    friction_side: Side | None = None  # None: the robot's own
    width: float | None = None  # rad/s, of Coulomb friction's step; None: chosen, 0: the sign
    presliding: float | None = None  # rad to turn friction after a reversal; None: chosen, 0: at once
    armature: bool = True
    prior: PriorKind = "auto"
    prior_weight: float | None = None  # None: chosen
    delay: float | None = None  # s; None: estimated and taken out if it is significant
    purpose: Purpose = "values"  # or prediction, with further friction terms if they pay
    derivative: Derivative = "central"
    velocity: VelocitySource = "position"
    standstill_speed: float = STANDSTILL_SPEED
    exclude: Sequence[tuple[float, float]] = ()
    physical: bool = False
    bounds: str | None = None  # of bodies: "collision", or the path of a TOML file
    metric: Metric = "pullback"  # of bodies' deviations from the robot's file

    def __post_init__(self) -> None:
        if self.prior not in PRIORS:
            raise ArgumentError(f"prior {choices(self.prior, PRIORS)}")
        if self.purpose not in PURPOSES:
            raise ArgumentError(f"purpose {choices(self.purpose, PURPOSES)}")
        if self.friction_side not in (None, "joint", "motor"):
            raise ArgumentError(f"friction_side {choices(self.friction_side, ('joint', 'motor'))}")
        for name in ("cutoff_hz", "prior_weight", "width", "presliding", "delay"):
            value = getattr(self, name)
            if value is not None and not np.isfinite(value):
                raise ArgumentError(f"{name} must be a finite number, not {value:g}")
        if self.cutoff_hz is not None and self.cutoff_hz <= 0.0:
            raise ArgumentError(f"cutoff_hz must be positive, not {self.cutoff_hz:g}")
        if self.prior_weight is not None and self.prior_weight < 0.0:
            raise ArgumentError(f"prior_weight must be 0 or more, not {self.prior_weight:g}")
        if self.metric not in METRICS:
            raise ArgumentError(f"metric {choices(self.metric, METRICS)}")
        if not self.physical and (self.bounds is not None or self.metric != "pullback"):
            raise ArgumentError("bounds and metric are of bodies that can exist: they go with physical")
        self.letters  # noqa: B018  (raises for unknown words)

    @property
    def letters(self) -> tuple[str, ...]:
        """Friction terms by their letters, in the order of the unknowns."""
        if self.friction == "auto":
            return SIMPLE
        if self.friction == "none":
            return ()
        given = self.friction.split(",") if isinstance(self.friction, str) else self.friction
        words = [word.strip() for word in given if word.strip()]
        for word in words:
            if word not in FRICTION_WORDS:
                raise ArgumentError(f"friction {choices(word, ('auto', 'none', *FRICTION_WORDS))}")
        return tuple(letter for word, letter in FRICTION_WORDS.items() if word in words)
