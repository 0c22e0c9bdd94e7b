"""`dynid identify`: from logs to an estimate, its report, and the robot's file with the new numbers."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from dynid.commands.logs import read_together
from dynid.commands.output import print_json, remark
from dynid.errors import DynidError
from dynid.estimate import Estimate
from dynid.files import directory_for
from dynid.fit.given import loaded
from dynid.fit.identify import identify
from dynid.fit.options import Options
from dynid.formats.load import load_robot
from dynid.log.check import check
from dynid.log.log import Log
from dynid.log.long import LongLogs

STATUS = {"trusted": 0, "weak": 1, "failed": 1}
FIT_OPTIONS = tuple(Options.__dataclass_fields__)
ESTIMATE, REPORT = "estimate.json", "report.html"
FILES = (ESTIMATE, REPORT, "identified.urdf", "identified.toml")


def run(options: argparse.Namespace) -> int:
    quiet = options.quiet or options.json
    directory = None if options.output is None else directory_for(options.output, FILES, force=options.force)
    robot = load_robot(options.robot, gravity=options.gravity, joints=options.joints)
    in_parts = options.state is not None or options.dask is not None
    training = read_together(options, options.logs, robot, in_parts=in_parts)
    unseen = [read_together(options, [path], robot) for path in options.validate]
    estimate = identify(
        robot,
        training,
        validate=[source for logs in unseen for source in ([logs] if isinstance(logs, LongLogs) else logs)],
        plan=options.plan,
        state=options.state,
        dask=options.dask,
        report=lambda text: remark(f"{text} ...", quiet),
        **{name: getattr(options, name) for name in FIT_OPTIONS if hasattr(options, name)},
    )
    if directory is not None:
        judged = [log for logs in unseen for log in loaded(logs)]
        files = write(estimate, directory, loaded(training), judged, force=options.force, quiet=quiet)
        remark(f"in {directory}: {', '.join(files)}", quiet)
    if options.json:
        print_json(estimate.as_dict())
    else:
        print(estimate.summary())
    return STATUS[estimate.status]


def write(
    estimate: Estimate,
    directory: Path,
    training: Sequence[Log],
    unseen: Sequence[Log],
    *,
    force: bool,
    quiet: bool,
) -> list[str]:
    """All files of a result; their names."""
    from dynid.report.from_estimate import report_data
    from dynid.report.page import write_report

    estimate.save(directory / ESTIMATE, force=force)
    remark("writing the report ...", quiet)
    health = check(estimate.robot, training)
    command = shlex.join(["dynid", *sys.argv[1:]])
    write_report(
        directory / REPORT, report_data(estimate, training, unseen, health, command=command), force=force
    )
    return [ESTIMATE, REPORT, *_robot_file(estimate, directory, force=force, quiet=quiet)]


def _robot_file(estimate: Estimate, directory: Path, *, force: bool, quiet: bool) -> list[str]:
    """The robot's file with the physical set: its own URDF, a DH table, or, where none can be, a URDF."""
    from dynid.export.write import export, save

    if not estimate.physical:
        return []
    for format in ("toml", "urdf") if estimate.source is None else ("urdf",):
        try:
            exported = export(estimate, format)
        except DynidError as problem:
            remark(f"note: no identified.{format}: {problem}", quiet)
            continue
        save(exported, directory / f"identified.{format}", force=force)
        return [f"identified.{format}"]
    return []
