"""`dynid identify`: from logs to an estimate, its report, and the robot's file with the new numbers."""

from __future__ import annotations

import argparse
from pathlib import Path

from dynid.commands.logs import read_with
from dynid.commands.output import print_json, remark
from dynid.errors import ArgumentError, quote
from dynid.estimate import Estimate
from dynid.files import refuse_existing
from dynid.fit.identify import identify
from dynid.fit.options import Options
from dynid.formats.load import load_robot

STATUS = {"trusted": 0, "weak": 1, "failed": 1}
OWN = tuple(Options.__dataclass_fields__)


def run(options: argparse.Namespace) -> int:
    directory = None if options.output is None else prepared_directory(options.output, options.force)
    robot = load_robot(options.robot, gravity=options.gravity, joints=options.joints)
    training = [read_with(options, path, robot) for path in options.logs]
    unseen = [read_with(options, path, robot) for path in options.validate]
    quiet = options.quiet or options.json
    estimate = identify(
        robot,
        training,
        validate=unseen,
        report=lambda text: remark(f"{text} ...", quiet),
        **{name: getattr(options, name) for name in OWN if hasattr(options, name)},
    )
    if directory is not None:
        files = write(estimate, directory, force=options.force)
        remark(f"in {directory}: {', '.join(files)}", quiet)
    if options.json:
        print_json(estimate.as_dict())
    else:
        print(estimate.summary())
    return STATUS[estimate.status]


FILES = ("estimate.json", "report.html", "identified.urdf", "identified.toml")


def prepared_directory(name: str, force: bool) -> Path:
    """The directory of the results, made if it is not there; refused if results are there already."""
    directory = Path(name)
    if directory.exists() and not directory.is_dir():
        raise ArgumentError(f"{quote(name)} is a file; a directory is needed for the results")
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ArgumentError(f"{quote(name)} cannot be made: {problem.strerror or problem}") from problem
    for file in FILES:
        refuse_existing(directory / file, force)
    return directory


def write(estimate: Estimate, directory: Path, *, force: bool) -> list[str]:
    """All files of a result; their names."""
    estimate.save(directory / "estimate.json", force=force)
    return ["estimate.json"]
