"""`dynid simulate`: the log of a simulated robot that follows a trajectory."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from dynid import plant
from dynid.commands.output import print_json, remark
from dynid.errors import ArgumentError
from dynid.files import refuse_existing
from dynid.formats.load import load_robot
from dynid.log.write import check_log_path, write_log
from dynid.plant.control import Control
from dynid.plant.sensors import Sensors
from dynid.robot import Robot
from dynid.trajectory import Trajectory, read_trajectory

_CLEAR_LINE = "\r\x1b[K"


def run(options: argparse.Namespace) -> int:
    started = time.perf_counter()
    check_log_path(options.output)  # and the next, before minutes are spent
    refuse_existing(Path(options.output), options.force)
    if options.seed < 0:
        raise ArgumentError(f"--seed must be 0 or more, not {options.seed}")
    robot = load_robot(options.robot, gravity=options.gravity, joints=options.joints)
    trajectory = read_trajectory(options.trajectory, robot)
    quiet = options.quiet or options.json
    report = None if quiet or not sys.stderr.isatty() else _progress
    found = plant.run(robot, trajectory, _setup(options), seed=options.seed, progress=report)
    if report is not None:
        sys.stderr.write(_CLEAR_LINE)
    write_log(found.log, options.output, force=options.force)
    remarks = [*trajectory.notes, *found.remarks]
    for note in remarks:
        remark(f"note: {note}", quiet)
    record = _record(options, robot, trajectory, found, remarks, time.perf_counter() - started)
    if options.json:
        print_json(record)
    else:
        print(
            f"{record['samples']} samples of {robot.dof} joints, {record['duration']:g} s: {options.output} "
            f"(largest tracking error {record['largest_tracking_error']:.2g})"
        )
    return 0


def _setup(options: argparse.Namespace) -> plant.Setup:
    nominal = options.nominal
    return plant.Setup(
        control=Control(
            kind=options.controller,
            bandwidth_hz=options.bandwidth_hz,
            rate_hz=options.control_hz,
            saturate=options.saturate,
            nominal=None
            if nominal is None
            else load_robot(nominal, gravity=options.gravity, joints=options.joints),
        ),
        sensors=Sensors(
            encoder_bits=options.encoder_bits,
            velocity=options.velocity,
            torque_noise=options.torque_noise,
            torque_step=options.torque_step,
            delay=options.delay,
            clock_jitter=options.clock_jitter,
            dropped=options.dropped,
        ),
        rate_hz=options.rate_hz,
        gear_stiffness=options.gear_stiffness,
    )


def _record(
    options: argparse.Namespace,
    robot: Robot,
    trajectory: Trajectory,
    found: plant.Run,
    remarks: list[str],
    seconds: float,
) -> dict[str, Any]:
    truth = found.truth
    wanted = np.array([trajectory.at(stamp * 1e-9)[0] for stamp in truth.stamp_ns.tolist()])
    return {
        "file": options.output,
        "robot": robot.name,
        "joints": list(robot.joint_names),
        "samples": len(found.log),
        "duration": float(trajectory.times[-1] - trajectory.times[0]),
        "largest_tracking_error": float(np.abs(truth.q - wanted).max()),
        "seed": options.seed,
        "remarks": remarks,
        "seconds": seconds,
    }


def _progress(share: float) -> None:
    sys.stderr.write(f"{_CLEAR_LINE}simulating: {100 * share:.0f} %")
