"""`dynid export`: what was identified in the format of another program."""

from __future__ import annotations

import argparse
from pathlib import Path

from dynid.commands.output import print_json, remark
from dynid.errors import ArgumentError, choices
from dynid.estimate_file import load_estimate
from dynid.export.write import FORMATS, IDENTIFIED_URDF, Format, export, format_of, save
from dynid.files import refuse_existing


def run(options: argparse.Namespace) -> int:
    quiet = options.quiet or options.json
    format = _format(options)
    refuse_existing(Path(options.output), options.force)
    if options.urdf is not None and format != "pinocchio":
        raise ArgumentError("--urdf goes with --format pinocchio")
    estimate = load_estimate(options.estimate)
    if options.physical and estimate.parameters is None:
        from dynid.physical.estimate import make_physical  # with its solver

        estimate = make_physical(estimate)
        if estimate.parameters is None and not options.allow_impossible:
            raise ArgumentError(f"{options.estimate}: {' '.join(estimate.advice)}")
    exported = export(
        estimate,
        format,
        allow_impossible=options.allow_impossible,
        original=options.original,
        urdf=options.urdf or IDENTIFIED_URDF,
    )
    save(exported, options.output, force=options.force)
    for note in exported.notes:
        remark(f"note: {note}", quiet)
    if options.json:
        print_json(
            {
                "file": options.output,
                "format": format,
                "robot": estimate.robot.name,
                "physical": estimate.physical,
                "status": estimate.status,
                "notes": exported.notes,
            }
        )
    else:
        print(f"{estimate.robot.name} as {format}: {options.output}")
    return 0


def _format(options: argparse.Namespace) -> Format:
    if options.format is None:
        return format_of(options.output)
    if options.format not in FORMATS:
        raise ArgumentError(f"--format {choices(options.format, FORMATS)}")
    return options.format
