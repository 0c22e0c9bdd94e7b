"""`dynid excite`: a trajectory that excites all parameters within all limits."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from dynid.commands.logs import read_with
from dynid.commands.output import print_json, remark
from dynid.errors import ArgumentError, quote_path
from dynid.excite.joint_trajectory import write_joint_trajectory
from dynid.excite.optimise import Excitation, exciting_trajectory, judged
from dynid.excite.options import Options
from dynid.files import refuse_existing
from dynid.formats.load import load_robot
from dynid.trajectory import read_trajectory, write_trajectory

FORMATS = {".csv": write_trajectory, ".yaml": write_joint_trajectory, ".yml": write_joint_trajectory}
OPTIONS = tuple(Options.__dataclass_fields__)


def run(options: argparse.Namespace) -> int:
    quiet = options.quiet or options.json
    outputs = [Path(name) for name in options.output]
    for file in (*outputs, *([Path(options.report)] if options.report else [])):
        refuse_existing(file, options.force)
    for file in outputs:
        if file.suffix.lower() not in FORMATS:
            raise ArgumentError(
                f"{quote_path(file)}: a trajectory is written as .csv, or as .yaml for ROS 2 "
                "(JointTrajectory)"
            )
    robot = load_robot(options.robot, gravity=options.gravity, joints=options.joints)
    chosen = {name: getattr(options, name) for name in OPTIONS if hasattr(options, name)}
    if options.criterion == "energy":  # an older way to ask for the model
        chosen |= {"model": "energy", "criterion": "condition"}
    if options.trajectory is not None:
        found = judged(robot, read_trajectory(options.trajectory, robot), **chosen)
    else:
        logs = [read_with(options, path, robot) for path in options.after]
        found = exciting_trajectory(
            robot, after=logs, report=lambda text: remark(f"{text} ...", quiet), **chosen
        )
    for file in outputs:
        FORMATS[file.suffix.lower()](found.trajectory, file, force=options.force)
    if options.report:
        from dynid.report.excitation import write_excitation

        write_excitation(options.report, found, force=options.force)
    if options.json:
        print_json(_record(found, options))
    else:
        _print(found, options)
    for note in found.notes:
        remark(f"note: {note}", quiet)
    if found.reason:
        remark(f"{found.status}: {found.reason}", quiet)
    return 0 if found.status == "done" else 1


def _record(found: Excitation, options: argparse.Namespace) -> dict[str, Any]:
    record: dict[str, Any] = {
        "condition": found.condition,
        "duration": found.duration,
        "largest_violation": found.certificate.largest,
        "seconds": found.seconds,
        "starts": found.starts,
        "status": found.status,
        "reason": found.reason,
        "robot": found.robot.name,
        "model": found.setting.observation.model,
        "criterion": found.setting.criterion.kind,
        "parameters": found.setting.observation.base.kept,
        "scaling": found.scaling,
        "seed": options.seed,
        "safe": found.certificate.safe,
        "violations": {
            limit: dict(zip(found.trajectory.joint_names, excess, strict=True))
            if limit != "space"
            else excess.max()
            for limit, excess in found.certificate.excess.items()
        },
        "files": options.output,
        "notes": found.notes,
    }
    if found.condition_with_logs is not None:
        record["condition_with_logs"] = found.condition_with_logs
    if found.points is not None:
        record["points"] = [{"q": q, "qd": qd} for q, qd in zip(*found.points, strict=True)]
    return record


def _print(found: Excitation, options: argparse.Namespace) -> None:
    count = found.setting.observation.base.count
    rows = len(found.trajectory.times)
    where = "at the points" if found.points is not None else "at the rows"
    print(f"{found.robot.name}: {count} parameters of the {found.setting.observation.model} model")
    print(f"condition   {found.condition:.4g} {where}; S = {found.scaling:.3g}")
    if found.condition_with_logs is not None:
        print(f"            {found.condition_with_logs:.4g} together with the logs")
    print(f"duration    {found.duration:.4g} s, {rows} rows")
    verdict = "kept at every instant" if found.certificate.safe else "NOT kept"
    print(f"limits      {verdict}; closest: {found.certificate.worst(found.trajectory.joint_names)}")
    if options.trajectory is None:
        print(f"search      {found.starts} starts, {found.seconds:.1f} s, seed {options.seed}")
    for file in options.output:
        print(f"written     {file}")
