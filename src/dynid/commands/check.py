"""`dynid check`: the log doctor's findings, as a person likes to read them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dynid.commands.logs import read_together
from dynid.commands.output import print_json
from dynid.fit.given import loaded
from dynid.formats.load import load_robot
from dynid.log.channel_levels import ChannelLevel
from dynid.log.check import LogReport, Report, check
from dynid.log.check_clock import Clock
from dynid.log.check_excitation import Excitation
from dynid.log.findings import Finding

_STYLES = {"error": "bold red", "warning": "yellow", "hint": "dim"}
_VERDICTS = {"good": "bold green", "usable": "bold yellow", "bad": "bold red"}


def run(options: argparse.Namespace) -> int:
    robot = load_robot(options.robot, gravity=options.gravity, joints=options.joints)
    report = check(robot, loaded(read_together(options, options.logs, robot)))
    if options.json:
        print_json(report.as_dict())
    else:
        _print(report)
    return int(report.verdict == "bad")


def _print(report: Report) -> None:
    console = Console(highlight=False)
    for number, log in enumerate(report.logs):
        if number:
            console.print()
        _print_log(console, log)
    if len(report.logs) > 1:
        console.print(Text.assemble("\nall logs: ", (report.verdict, _VERDICTS[report.verdict])))
        _print_excitation(console, report.excitation)


def _print_log(console: Console, log: LogReport) -> None:
    console.print(Text.assemble(f"{log.source}: ", (log.verdict, _VERDICTS[log.verdict])))
    console.print(Text(_clock(log.clock)))
    _print_findings(console, log.findings)
    _print_levels(console, log.levels)
    _print_excitation(console, log.excitation)


def _clock(clock: Clock) -> str:
    jitter = 100.0 * clock.jitter_s * clock.rate_hz
    return (
        f"{clock.samples} samples in {clock.duration_s:.4g} s, {clock.rate_hz:.5g} Hz, steps scatter by "
        f"{jitter:.2g} %, {clock.gaps} gaps, {clock.repeated_rows} repeated rows"
    )


def _print_findings(console: Console, findings: Sequence[Finding]) -> None:
    """Each with its evidence and advice below; those that differ in the joint alone, together."""
    joints: dict[Finding, list[str]] = {}
    for finding in findings:
        joints.setdefault(replace(finding, joint=None), []).extend([finding.joint] if finding.joint else [])
    for finding, names in joints.items():
        head = Text.assemble((f"{finding.severity:<8}", _STYLES[finding.severity]), finding.kind)
        console.print(head.append(f": {', '.join(names)}" if names else ""))
        console.print(Padding(Text(finding.evidence), (0, 0, 0, 8), expand=False))
        console.print(Padding(Text(finding.advice, "dim"), (0, 0, 0, 8), expand=False))


def _print_levels(console: Console, levels: Sequence[ChannelLevel]) -> None:
    """Range, step and noise of every column, a line per joint."""
    quantities = tuple(dict.fromkeys(level.quantity for level in levels))
    table = Table("joint", *quantities, box=None, pad_edge=False, header_style="")
    cells: dict[str, dict[str, str]] = {}
    for level in levels:
        text = f"{level.low:.3g} .. {level.high:.3g}, step {level.step:.1g}, noise {level.noise:.1g}"
        cells.setdefault(level.joint, {})[level.quantity] = text
    for joint, of in cells.items():
        table.add_row(Text(joint), *(of.get(quantity, "-") for quantity in quantities))
    console.print(table)


def _print_excitation(console: Console, excitation: Excitation | None) -> None:
    if excitation is None:
        return
    groups = {
        "determined": excitation.determined,
        "weak": excitation.weak,
        "not determined": excitation.undetermined,
    }
    total = sum(map(len, groups.values()))
    console.print(
        Text(
            f"excitation: condition {excitation.condition:.3g} ({excitation.scaled_condition:.3g} with all "
            f"columns of one length), {len(excitation.determined)} of {total} base parameters determined"
        )
    )
    for what in ("weak", "not determined"):
        if groups[what]:
            console.print(Text(f"  {what}: {', '.join(groups[what])}"))
