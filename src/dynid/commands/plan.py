"""`dynid plan`: experiments with one joint at a time, or what given ones are worth."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dynid.base.modified_dh import check_serial
from dynid.commands.output import print_json, remark
from dynid.errors import ArgumentError
from dynid.excite.limits import bounds_of
from dynid.files import directory_for
from dynid.fit.judge import listed
from dynid.fit.unknowns import DRIVES, unknowns_of
from dynid.formats.load import load_robot
from dynid.plan.bench import Bench
from dynid.plan.experiments import Experiment, algorithm_2, given
from dynid.plan.judge import Body, judge, open_at_last
from dynid.plan.plan_file import file_name, read_plan, record, write_plan
from dynid.robot import Robot
from dynid.trajectory import write_trajectory

PLAN = "plan.json"
WIDEST_NAME = 6  # of joints, as headings of columns of numbers


def run(options: argparse.Namespace) -> int:
    robot = load_robot(options.robot, gravity=options.gravity, joints=options.joints)
    check_serial(robot)
    bench = _bench(robot, options)
    if options.configurations is None:
        experiments = algorithm_2(bench)
    else:
        wanted = [(one.moves, one.posture) for one in read_plan(options.configurations, robot)]
        experiments = given(bench, wanted)
    bodies = judge(bench, [(one.moves, one.posture) for one in experiments])
    missing = open_at_last(bodies)
    if options.output is not None:
        _write(options.output, bench, experiments, options.force)
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


def _write(name: str, bench: Bench, experiments: Sequence[Experiment], force: bool) -> None:
    """All files, once it is clear that nothing stands in their way."""
    robot = bench.unknowns.robot
    files = [file_name(k, robot, one.moves) for k, one in enumerate(experiments, start=1)]
    folder = directory_for(name, (*files, PLAN), force=force)
    for file, one in zip(files, experiments, strict=True):
        write_trajectory(bench.trajectory(one.moves, one.posture), folder / file, force=force)
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
    """Experiments that go together under one heading, each a row of positions."""
    console = Console(highlight=False)
    console.print(Text(f"{robot.name}: {len(experiments)} experiments, one joint at a time", style="bold"))
    short = max(map(len, robot.joint_names)) <= WIDEST_NAME
    headings = robot.joint_names if short else [f"q{j}" for j in range(1, robot.dof + 1)]
    if not short:
        legend = (f"q{j}: {name}" for j, name in enumerate(robot.joint_names, start=1))
        console.print(Text(", ".join(legend)), soft_wrap=True)
    numbered = enumerate(experiments, start=1)
    for one, group in groupby(numbered, key=lambda pair: _heading(robot, pair[1])):
        console.print(Text(f"\n{one}"), soft_wrap=True)
        table = Table(box=None, pad_edge=False, padding=(0, 0, 0, 2))
        table.add_column("file", no_wrap=True)
        for heading in headings:
            table.add_column(Text(heading), justify="right", no_wrap=True)
        for k, experiment in group:
            positions = enumerate(experiment.posture.tolist())
            cells = ["moves" if j == experiment.moves else f"{x + 0.0:.2f}" for j, x in positions]
            table.add_row(*(Text(cell) for cell in (file_name(k, robot, experiment.moves), *cells)))
        console.print(table)
    console.print(Text("\nall experiments together", style="bold"))
    for body in bodies:
        left = f"; not determined: {listed(body.undetermined)}" if body.undetermined else ""
        told = len(body.names) - len(body.undetermined)
        name = robot.joint_names[body.joint]
        said = f"  effort of {name}: {told} unknowns, condition {body.condition:.3g}{left}"
        console.print(Text(said), soft_wrap=True)


def _heading(robot: Robot, one: Experiment) -> str:
    reads = "" if one.step == "given" else f", read the effort of {robot.joint_names[one.reads]}"
    return (
        f"step {one.step}: move {robot.joint_names[one.moves]}{reads}; condition {one.condition:.3g}\n"
        f"  why: {one.why}\n  estimates: {', '.join(one.estimates) or 'nothing'}"
    )


def _notes(bench: Bench, missing: Sequence[str]) -> list[str]:
    notes = list(bench.bounds.notes)
    if missing:
        notes.append(f"these experiments leave undetermined: {listed(missing)}")
    notes.append(
        "postures keep the joints' limits; whether they are free of collisions nobody has checked: "
        "look at them before the robot moves"
    )
    return notes
