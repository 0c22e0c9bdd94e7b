"""From a log to samples in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from dynid.errors import ArgumentError, choices
from dynid.log.clean import clean
from dynid.log.cutoff import choose_cutoff
from dynid.log.log import Log
from dynid.log.samples import Samples, VelocitySource, condition
from dynid.robot import Robot
from dynid.signals.derivatives import DERIVATIVES, Derivative
from dynid.signals.filters import check_cutoff
from dynid.signals.masks import STANDSTILL_SPEED


def prepare(
    log: Log,
    robot: Robot,
    *,
    cutoff_hz: float | None = None,
    derivative: Derivative = "central",
    velocity: VelocitySource = "position",
    standstill_speed: float = STANDSTILL_SPEED,
    exclude: Sequence[tuple[float, float]] = (),
) -> Samples:
    """Samples of a log for a fit: uniform clock, filtered, differentiated, weighted.

    cutoff_hz: of the equations' band; None chooses it from the log, reproducibly (`choices` says which).
    derivative: "central", "savitzky-golay", "spline" or "izaguirre1992".
    velocity: differentiate the "position", or take the "measured" velocity and differentiate that once.
    standstill_speed: rad/s or m/s; a slower joint's equation gets weight 0. 0 keeps all.
    exclude: intervals (s, first and last) of the log's time to leave out.
    """
    if derivative not in DERIVATIVES:
        raise ArgumentError(f"derivative {choices(derivative, DERIVATIVES)}")
    if velocity not in ("position", "measured"):
        raise ArgumentError(f"velocity {choices(velocity, ('position', 'measured'))}")
    rows = clean(log, robot)
    if not rows.measured.any():
        source = log.provenance.source
        raise ArgumentError(f"{source}: the log has no efforts that change, so there is nothing to fit")
    if cutoff_hz is None:
        choice = choose_cutoff(rows, robot)
        cutoff_hz, how = choice.cutoff_hz, f"chosen: {choice}"
    else:
        check_cutoff(cutoff_hz, 1.0 / rows.period)
        how = "given"
    samples = condition(
        rows,
        cutoff_hz,
        derivative=derivative,
        velocity=velocity,
        standstill_speed=standstill_speed,
        exclude=exclude,
        effort_limit=np.array([robot.joints[j].limits.effort for j in robot.free]),
    )
    return replace(samples, choices=MappingProxyType({**samples.choices, "cutoff": how}))
