"""`dynid plan`: experiments with one joint at a time, or what given ones are worth."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dynid.base.modified_dh import check_serial
from dynid.commands.output import print_json, remark
from dynid.errors import ArgumentError, quote
from dynid.excite.limits import bounds_of
from dynid.files import refuse_existing
from dynid.formats.load import load_robot
from dynid.plan.bench import Bench
from dynid.plan.experiments import Experiment, algorithm_2, given
from dynid.plan.judge import Body, judge, open_at_last
from dynid.plan.plan_file import file_name, read_plan, record, write_plan
from dynid.plan.unknowns import DRIVES, unknowns_of
from dynid.robot import Robot
from dynid.trajectory import write_trajectory

PLAN = "plan.json"
LISTED = 12  # names in one sentence


def run(options: argparse.Namespace) -> int:
    robot = load_robot(options.robot, gravity=options.gravity, joints=options.joints)
    check_serial(robot)
    bench = _bench(robot, options)
    if options.configurations is None:
        experiments = algorithm_2(bench.unknowns, bench)
    else:
        wanted = [(one.moves, one.posture) for one in read_plan(options.configurations, robot)]
        experiments = given(wanted, bench)
    bodies = judge(bench, [(one.moves, one.posture) for one in experiments])
    missing = open_at_last(bodies)
    if options.output is not None:
        _write(Path(options.output), bench, experiments, options.force)
    if options.json:
        print_json(_record(robot, experiments, bodies))
    else:
        _print(robot, experiments, bodies)
        if options.output is not None:
            print(f"\n{len(experiments)} trajectories and {PLAN}: {options.output}")
    for note in _notes(bench, missing):
        remark(f"note: {note}", options.quiet or options.json)
    return 1 if missing else 0


def _bench(robot: Robot, options: argparse.Namespace) -> Bench:
    if options.seed < 0:
        raise ArgumentError(f"--seed must be 0 or more, not {options.seed}")
    bounds = bounds_of(
        robot,
        position=options.position_limits,
        velocity=options.velocity_limits,
        acceleration=options.acceleration_limits,
    )
    unknowns = unknowns_of(robot, () if options.rigid else DRIVES)
    return Bench(unknowns, bounds, options.motion, options.rate_hz, options.seed)


def _write(folder: Path, bench: Bench, experiments: Sequence[Experiment], force: bool) -> None:
    """All files, once it is clear that nothing stands in their way."""
    robot = bench.unknowns.robot
    try:
        folder.mkdir(exist_ok=True)
    except OSError as problem:
        raise ArgumentError(f"{quote(folder)} cannot be made: {problem.strerror or problem}") from problem
    files = [folder / file_name(k, robot, one.moves) for k, one in enumerate(experiments, start=1)]
    for file in (*files, folder / PLAN):
        refuse_existing(file, force)
    for file, one in zip(files, experiments, strict=True):
        write_trajectory(bench.trajectory(one.moves, one.posture), file, force=force)
    write_plan(folder / PLAN, robot, experiments, force=force)


def _record(robot: Robot, experiments: Sequence[Experiment], bodies: Sequence[Body]) -> dict[str, Any]:
    return {
        "robot": robot.name,
        "experiments": [record(robot, k, one) for k, one in enumerate(experiments, start=1)],
        "bodies": [
            {
                "joint": robot.joint_names[body.joint],
                "names": body.names,
                "condition": body.condition,
                "undetermined": body.undetermined,
            }
            for body in bodies
        ],
        "undetermined": open_at_last(bodies),
    }


def _print(robot: Robot, experiments: Sequence[Experiment], bodies: Sequence[Body]) -> None:
    console = Console(highlight=False)
    console.print(Text(f"{robot.name}: {len(experiments)} experiments, one joint at a time", style="bold"))
    table = Table(box=None, pad_edge=False)
    for heading in ("", "step", "moves", "the others stand at", "estimates", "condition", "why"):
        table.add_column(heading)
    for k, one in enumerate(experiments, start=1):
        standing = " ".join("-" if j == one.moves else f"{x:.2f}" for j, x in enumerate(one.posture.tolist()))
        cells = (
            str(k),
            one.step,
            robot.joint_names[one.moves],
            standing,
            " ".join(one.estimates),
            f"{one.condition:.3g}",
            one.why,
        )
        table.add_row(*(Text(cell) for cell in cells))
    console.print(table)
    console.print(Text("\nall experiments together", style="bold"))
    for body in bodies:
        left = f"; not determined: {' '.join(body.undetermined)}" if body.undetermined else ""
        name = robot.joint_names[body.joint]
        told = len(body.names) - len(body.undetermined)
        console.print(Text(f"  effort of {name}: {told} unknowns, condition {body.condition:.3g}{left}"))


def _notes(bench: Bench, missing: Sequence[str]) -> list[str]:
    notes = list(bench.bounds.notes)
    if missing:
        more = f" and {len(missing) - LISTED} more" if len(missing) > LISTED else ""
        notes.append(f"these experiments leave undetermined: {', '.join(missing[:LISTED])}{more}")
    notes.append(
        "postures keep the joints' limits; whether they are free of collisions nobody has checked: "
        "look at them before the robot moves"
    )
    return notes
