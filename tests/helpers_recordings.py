"""Real recordings, where this machine has them."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dynid import Log, Robot, load_robot, read_log

DATA = Path(os.environ.get("DYNID_DATA", "../shared/data"))
UR10E, PANDA = DATA / "ur10e", DATA / "panda"
needs_recordings = pytest.mark.skipif(
    not (UR10E.exists() and PANDA.exists()),
    reason=f"no recordings at {DATA} (set DYNID_DATA to their folder)",
)

GAIN = (10.0, 10.6956, 8.4566, 9.0029, 9.4800, 10.1232)  # Nm/A, published with the recordings


def ur10e_columns(robot: Robot) -> list[str]:
    """Names of the columns of the UR10e's files, which have no header."""
    named = [f"{joint}.{what}" for what in ("position", "velocity", "effort") for joint in robot.joint_names]
    return ["time", *named, *["-"] * 12]


def ur10e() -> Robot:
    return load_robot(UR10E / "ur10e.urdf")


def ur10e_log(robot: Robot, name: str) -> Log:
    return read_log(
        UR10E / f"ur-20_{name}.csv", robot, columns=ur10e_columns(robot), effort="current", gain=GAIN
    )


def panda_log(robot: Robot, folder: Path) -> Log:
    """The Panda's text files, converted to NPZ as their description says."""
    parts = {
        key: np.loadtxt(PANDA / f"exciting_traj_{name}.txt").reshape(-1, robot.dof)
        for key, name in (("position", "positions"), ("velocity", "velocity"), ("effort", "torques"))
    }
    path = folder / "panda.npz"
    np.savez(path, time=np.loadtxt(PANDA / "exciting_traj_time.txt").ravel(), **parts)
    return read_log(path, robot)


def rows_of(log: Log, first: int, last: int) -> Log:
    """Rows first .. last - 1 of a log."""
    rows = slice(first, last)
    return replace(
        log,
        stamp_ns=log.stamp_ns[rows],
        position=log.position[rows],
        velocity=None if log.velocity is None else log.velocity[rows],
        effort=None if log.effort is None else log.effort[rows],
    )
