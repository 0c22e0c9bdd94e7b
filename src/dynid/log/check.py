"""The log doctor: what is wrong with a log, and whether it can be used for identification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from dynid.base import base_parameters
from dynid.errors import ArgumentError
from dynid.log.channel_levels import ChannelLevel, channel_levels
from dynid.log.check_channels import MOVES, channel_findings, not_finite
from dynid.log.check_clock import Clock, clock_findings, clock_of
from dynid.log.check_excitation import (
    Excitation,
    Information,
    excitation_findings,
    excitation_of,
    information,
)
from dynid.log.check_model import model_findings
from dynid.log.check_positions import position_findings
from dynid.log.check_velocity import MEASURED, velocity_findings
from dynid.log.clean import CleanLog, clean, match_joints
from dynid.log.cutoff import spectral_cutoff, within_band
from dynid.log.effort_model import DRIVE_COLUMNS, effort_model
from dynid.log.efforts import LEAST_ROWS, ROWS_PER_COLUMN, efforts_of
from dynid.log.findings import Finding, Verdict, verdict
from dynid.log.log import Log
from dynid.log.samples import ROWS_PER_PERIOD, condition
from dynid.robot import Robot
from dynid.spatial import Array

LONGEST_S = 300.0  # of the log that is compared with the model; taken in pieces from all over it
PIECE_S = 30.0


@dataclass(frozen=True)
class LogReport:
    """What the doctor says about one log."""

    source: str
    verdict: Verdict
    findings: tuple[Finding, ...]
    clock: Clock
    excitation: Excitation | None  # None if too little of the log can be used
    levels: tuple[ChannelLevel, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """What the doctor says about one log or several; the worst decides, excitation is of all together."""

    logs: tuple[LogReport, ...]
    excitation: Excitation | None

    @property
    def verdict(self) -> Verdict:
        return verdict(self.findings)

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(finding for log in self.logs for finding in log.findings)

    @property
    def clock(self) -> Mapping[str, float]:
        """Of all logs: counts and durations added, the lowest rate, the largest jitter and gap."""
        clocks = [asdict(log.clock) for log in self.logs]
        merge = {"rate_hz": min, "jitter_s": max, "longest_gap_s": max}
        return {name: merge.get(name, sum)([clock[name] for clock in clocks]) for name in clocks[0]}

    def as_dict(self) -> dict[str, Any]:
        """For JSON; with several logs each finding names its log, and `logs` has them one by one."""
        several = len(self.logs) > 1
        record: dict[str, Any] = {
            "verdict": self.verdict,
            "findings": [
                {**_finding(finding), **({"log": log.source} if several else {})}
                for log in self.logs
                for finding in log.findings
            ],
            "clock": dict(self.clock),
            "excitation": {} if self.excitation is None else asdict(self.excitation),
        }
        if not several:
            return {**record, "channels": [asdict(level) for level in self.logs[0].levels]}
        record["logs"] = [_log_record(log) for log in self.logs]
        return record


def _finding(finding: Finding) -> dict[str, Any]:
    return {key: getattr(finding, key) for key in ("kind", "joint", "severity", "evidence", "advice")}


def _log_record(log: LogReport) -> dict[str, Any]:
    return {
        "log": log.source,
        "verdict": log.verdict,
        "clock": asdict(log.clock),
        "excitation": {} if log.excitation is None else asdict(log.excitation),
        "channels": [asdict(level) for level in log.levels],
    }


def check(robot: Robot, logs: Log | Sequence[Log]) -> Report:
    """Look for faults in one log or several of the same robot."""
    several = [logs] if isinstance(logs, Log) else list(logs)
    if not several:
        raise ArgumentError("no log to check")
    looked_at = [_check_one(robot, log) for log in several]
    parts = [part for _, part in looked_at if part is not None]
    return Report(tuple(report for report, _ in looked_at), excitation_of(parts) if parts else None)


def _check_one(robot: Robot, log: Log) -> tuple[LogReport, Information | None]:
    match_joints(log, robot)
    clock = clock_of(log)
    of_positions = channel_findings(log, clock.rate_hz, "position")
    of_others = channel_findings(log, clock.rate_hz, "velocity", "effort")
    findings = [*clock_findings(clock), *not_finite(log), *of_positions, *of_others]
    limits, in_degrees = position_findings(log, robot)
    findings += limits
    excitation = part = None
    stuck, spoiled = _joints(of_positions), _joints([*of_positions, *of_others])
    try:
        deeper, part = _against_model(robot, _in_radians(log, robot) if in_degrees else log, stuck, spoiled)
    except ArgumentError as problem:  # too few usable rows, or too short for any filter
        evidence = f"the motion cannot be judged: {problem}"
        findings.append(Finding("poor_excitation", "error", evidence, "record a longer log without gaps"))
    else:
        findings += deeper
        excitation = excitation_of([part])
        moving = (np.nanmax(log.position, axis=0) - np.nanmin(log.position, axis=0) > MOVES).tolist()
        findings += excitation_findings(excitation, moving, robot.joint_names)
    ordered = tuple(sorted(findings, key=lambda f: ("error", "warning", "hint").index(f.severity)))
    report = LogReport(
        log.provenance.source, verdict(ordered), ordered, clock, excitation, channel_levels(log), log.notes
    )
    return report, part


def _in_radians(log: Log, robot: Robot) -> Log:
    """The log as `degrees=True` would read it: what the other checks then look at."""
    turns = np.array([not robot.joints[j].prismatic for j in robot.free])

    def converted(values: Array) -> Array:
        return np.where(turns, np.radians(values), values)

    velocity = None if log.velocity is None else converted(log.velocity)
    return replace(log, position=converted(log.position), velocity=velocity)


def _joints(findings: Sequence[Finding]) -> frozenset[str]:
    """Joints with a column that is frozen or clipped."""
    return frozenset(f.joint or "" for f in findings if f.kind in ("frozen_channel", "saturated_channel"))


def _against_model(
    robot: Robot, log: Log, stuck: frozenset[str], spoiled: frozenset[str]
) -> tuple[list[Finding], Information]:
    """Velocities, efforts and excitation, from samples in the band of the motion.

    `stuck` positions spoil the equations of all joints, other `spoiled` columns that of their own joint.
    """
    rows = clean(_excerpt(log), robot)
    if rows.velocity is not None:
        rows = replace(rows, extra={MEASURED: rows.velocity})
    base = base_parameters(robot)
    samples = condition(rows, _cutoff(rows, base.count))
    model = effort_model(samples, robot, base)
    findings: list[Finding] = []
    if rows.velocity is not None:
        findings += velocity_findings(samples, rows.period, spoiled)
    if rows.measured.any() and not stuck:
        findings += model_findings(samples, efforts_of(samples, model, robot), robot, rows.period, spoiled)
    return findings, information(samples, model, bool(rows.measured.any()))


def _cutoff(rows: CleanLog, count: int) -> float:
    """The motion's band (Hz), or for a short log a wider one, with equations enough to judge efforts by.

    The rows that a joint's own fit needs, twice, as delays are judged away from reversals only.
    """
    wanted = 2 * (LEAST_ROWS + ROWS_PER_COLUMN * (count + DRIVE_COLUMNS))
    seconds = float(rows.time[-1] - rows.time[0])
    return max(spectral_cutoff(rows)[0], within_band(wanted / (ROWS_PER_PERIOD * seconds), rows))


def _excerpt(log: Log) -> Log:
    """Long logs: pieces of half a minute from all over, so that an hour takes no more time than minutes."""
    time = log.time
    duration = float(time.max() - time.min())
    if duration <= LONGEST_S:
        return log
    stride = PIECE_S * duration / LONGEST_S
    rows = np.flatnonzero((time - time.min()) % stride < PIECE_S)

    def taken(values: Array) -> Array:
        return values[rows]

    return replace(
        log,
        stamp_ns=log.stamp_ns[rows],
        position=taken(log.position),
        velocity=None if log.velocity is None else taken(log.velocity),
        effort=None if log.effort is None else taken(log.effort),
        extra={},
    )
