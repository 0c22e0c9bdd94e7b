"""The doctor's look at positions: within the limits, in radians."""

from __future__ import annotations

import numpy as np

from dynid.log.check_channels import MOVES
from dynid.log.clean import usable
from dynid.log.findings import Finding
from dynid.log.log import Log
from dynid.robot import Robot
from dynid.signals.clock import Flags
from dynid.spatial import Array

FASTEST = 20.0  # rad/s; no arm's joint turns faster


def position_findings(log: Log, robot: Robot) -> tuple[list[Finding], bool]:
    """Positions against the limits, and whether they are all in degrees."""
    limits = np.array([[robot.joints[j].limits.lower, robot.joints[j].limits.upper] for j in robot.free])
    turns = np.array([not robot.joints[j].prismatic for j in robot.free])
    with np.errstate(invalid="ignore"):
        q = np.where(usable(log.position), log.position, np.nan)
    low, high = np.nanmin(q, axis=0, initial=np.inf), np.nanmax(q, axis=0, initial=-np.inf)
    if _in_degrees(log, low, high, limits, turns):
        shown = ", ".join(f"{a:.4g} .. {b:.4g}" for a, b in zip(low[turns], high[turns], strict=True))
        evidence = f"joints that turn go through {shown}: out of reach or too fast in rad, plausible in deg"
        return [Finding("degrees", "error", evidence, "read the log with degrees=True (--degrees)")], True
    found: list[Finding] = []
    for joint, name in enumerate(log.joint_names):
        lower, upper = limits[joint]
        slack = 0.01 * (upper - lower) if np.isfinite(upper - lower) else MOVES
        beyond = max(lower - low[joint], high[joint] - upper)
        if beyond <= slack:
            continue
        shift = _offset(low[joint], high[joint], lower, upper) if turns[joint] else ""
        outside = np.count_nonzero((q[:, joint] < lower - slack) | (q[:, joint] > upper + slack)) / len(q)
        found.append(
            Finding(
                "position_limit",
                "error" if outside > 0.5 else "warning",
                f"position goes through {low[joint]:.4g} .. {high[joint]:.4g}, the limits are {lower:.4g} .. "
                f"{upper:.4g}: {100 * outside:.3g} % of the rows are outside{shift}",
                "check the joint's name, zero and sign, and the limits in the robot's file",
                name,
            )
        )
    return found, False


def _in_degrees(log: Log, low: Array, high: Array, limits: Array, turns: Flags) -> bool:
    """Positions of turning joints that make no sense in radians and do in degrees."""
    if not turns.any():
        return False
    largest = np.maximum(np.abs(low), np.abs(high))
    reach = np.where(np.isfinite(limits), np.abs(limits), 2.0 * np.pi).max(axis=1)
    out = turns & (largest > 2.0 * reach) & (largest > 2.0 * np.pi)
    fits = np.radians(largest[turns]) < 1.2 * reach[turns]
    bounded = np.isfinite(limits).all(axis=1)
    if (out & bounded).any():
        return bool(fits.all())
    steps = np.diff(log.stamp_ns) * 1e-9
    moves = np.abs(np.diff(log.position[:, turns], axis=0))
    with np.errstate(invalid="ignore", divide="ignore"):
        speed = np.where(steps[:, None] > 0, moves / steps[:, None], np.nan)
    return bool(out.any() and np.nanpercentile(speed, 95, axis=0).max() > FASTEST and fits.all())


def _offset(low: float, high: float, lower: float, upper: float) -> str:
    """A multiple of a quarter turn by which the range would fit within the limits."""
    for quarters in (1, -1, 2, -2, 3, -3, 4, -4):
        shift = 0.5 * np.pi * quarters
        if lower <= low + shift and high + shift <= upper:
            return f"; adding {90 * quarters} deg would bring all inside"
    return ""
