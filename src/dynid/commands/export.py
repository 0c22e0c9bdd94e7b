"""`dynid export`: what was identified in the format of another program."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from dynid.commands.output import print_json, remark
from dynid.errors import ArgumentError, choices
from dynid.estimate import Estimate
from dynid.estimate_file import load_estimate
from dynid.export.write import FORMATS, IDENTIFIED_URDF, Format, export, format_of, save
from dynid.files import refuse_existing


def run(options: argparse.Namespace) -> int:
    quiet = options.quiet or options.json
    format = _format(options)
    refuse_existing(Path(options.output), options.force)
    if options.urdf is not None and format != "pinocchio":
        raise ArgumentError("--urdf goes with --format pinocchio")
    estimate = _physical(load_estimate(options.estimate), options)
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


def _physical(estimate: Estimate, options: argparse.Namespace) -> Estimate:
    """The estimate, made physical if that is asked for and it is not so already."""
    given = {"bounds": options.bounds, "metric": options.metric, "prior_weight": options.body_weight}
    chosen = {name: value for name, value in given.items() if value is not None}
    if not options.physical:
        if chosen:
            raise ArgumentError("--bounds, --metric and --body-weight go with --physical")
        return estimate
    if estimate.parameters is not None and not chosen:
        return estimate
    from dynid.physical.bounds_file import bounds_called  # with its solver
    from dynid.physical.estimate import make_physical

    if "bounds" in chosen:
        chosen["bounds"], _ = bounds_called(chosen["bounds"], estimate.robot, estimate.source)
    found = make_physical(replace(estimate, parameters=None, origins=(), physical=None), **chosen)
    if found.parameters is None and not options.allow_impossible:
        raise ArgumentError(f"{options.estimate}: {' '.join(found.advice)}")
    return found


def _format(options: argparse.Namespace) -> Format:
    if options.format is None:
        return format_of(options.output)
    if options.format not in FORMATS:
        raise ArgumentError(f"--format {choices(options.format, FORMATS)}")
    return options.format
