"""What the log doctor can find, and how it says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Severity = Literal["hint", "warning", "error"]
Verdict = Literal["good", "usable", "bad"]
Kind = Literal[
    "clock_gap",
    "clock_jitter",
    "clock_backwards",
    "clock_duplicate",
    "repeated_rows",
    "frozen_channel",
    "saturated_channel",
    "quantised_channel",
    "degrees",
    "position_limit",
    "velocity_unit",
    "velocity_sign",
    "delay",
    "effort_sign",
    "effort_scale",
    "effort_constant",
    "swapped_joints",
    "poor_excitation",
    "standstill",
    "not_finite",
]


@dataclass(frozen=True)
class Finding:
    """One thing that is, or may be, wrong with a log."""

    kind: Kind
    severity: Severity
    evidence: str  # what was seen, with figures
    advice: str  # what to do about it
    joint: str | None = None  # None: the whole log


def verdict(findings: Sequence[Finding]) -> Verdict:
    """Bad with an error, usable with a warning, good otherwise."""
    severities = {finding.severity for finding in findings}
    return "bad" if "error" in severities else "usable" if "warning" in severities else "good"
