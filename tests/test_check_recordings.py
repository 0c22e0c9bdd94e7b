"""The log doctor on recordings of real arms: the faults that are known to be there, and no others."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dynid import load_robot
from dynid.log.check import check
from dynid.log.log import Log
from dynid.log.read import read_log
from dynid.robot import Robot

DATA = Path(os.environ.get("DYNID_DATA", "../shared/data"))
UR10E, PANDA = DATA / "ur10e", DATA / "panda"
ABSENT = f"no recordings at {DATA} (set DYNID_DATA to their folder)"
K = (10.0, 10.6956, 8.4566, 9.0029, 9.48, 10.1232)  # Nm/A
ALL_JOINTS = (
    "20_02_05-20sec_8harm",
    "20_02_10-30sec_12harm",
    "20_02_12-40sec_12harm",
    "20_02_12-50sec_12harm",
)

panda_is_here = pytest.mark.skipif(not PANDA.exists(), reason=ABSENT)
ur10e_is_here = pytest.mark.skipif(not UR10E.exists(), reason=ABSENT)


@pytest.fixture(scope="module")
def panda_log(tmp_path_factory: pytest.TempPathFactory) -> Log:
    """The text files as one NPZ."""

    def values(name: str) -> np.ndarray:
        return np.loadtxt(PANDA / f"exciting_traj_{name}.txt")

    path = tmp_path_factory.mktemp("panda") / "panda.npz"
    names = {"position": "positions", "velocity": "velocity", "effort": "torques"}
    arrays = {key: values(name).reshape(-1, 7) for key, name in names.items()}
    np.savez(path, time=values("time"), **arrays)
    return read_log(path, load_robot("panda"))


def ur10e_log(robot: Robot, run: str) -> Log:
    joints = robot.joint_names
    named = [f"{joint}.{what}" for what in ("position", "velocity", "effort") for joint in joints]
    columns = ["time", *named, *["-"] * 12]
    return read_log(UR10E / f"ur-{run}.csv", robot, effort="current", gain=K, columns=columns)


def serious(report) -> set[str]:
    return {finding.kind for finding in report.findings if finding.severity != "hint"}


@panda_is_here
def test_gaps_and_repeated_rows_of_the_panda_are_counted(panda_log: Log) -> None:
    """As anybody counts them: steps of more than 1.5 ms, rows with the positions of the row before."""
    report = check(load_robot("panda"), panda_log)
    assert np.count_nonzero(np.diff(panda_log.time) > 1.5e-3) == 504
    assert (report.clock["gaps"], report.clock["repeated_rows"]) == (504, 1255)
    assert serious(report) == {"clock_gap", "clock_jitter", "repeated_rows", "delay"}
    assert report.verdict == "usable"


@panda_is_here
def test_faults_of_the_panda_are_found_beside_its_own(panda_log: Log) -> None:
    robot = load_robot("panda")

    def kinds(**changes: np.ndarray) -> list[tuple[str, str | None]]:
        findings = check(robot, replace(panda_log, **changes)).findings
        return [(finding.kind, finding.joint) for finding in findings if finding.severity != "hint"]

    for joint in (1, 3, 5):
        turned = panda_log.effort.copy()
        turned[:, joint] *= -1.0
        assert ("effort_sign", robot.joint_names[joint]) in kinds(effort=turned)
    order = [0, 1, 3, 2, 4, 5, 6]
    names = ", ".join(robot.joint_names[2:4])
    assert ("swapped_joints", names) in kinds(effort=panda_log.effort[:, order])
    assert ("degrees", None) in kinds(position=np.degrees(panda_log.position))


@ur10e_is_here
@pytest.mark.parametrize("run", ALL_JOINTS)
def test_nothing_but_the_clock_is_wrong_with_the_ur10e(run: str) -> None:
    robot = load_robot(UR10E / "ur10e.urdf")
    report = check(robot, ur10e_log(robot, run))
    assert serious(report) == {"clock_jitter"}


@ur10e_is_here
@pytest.mark.parametrize("moving", [1, 4])
def test_logs_of_one_moving_joint_are_called_poor(moving: int) -> None:
    robot = load_robot(UR10E / "ur10e.urdf")
    report = check(robot, ur10e_log(robot, f"20_01_22-joint_{moving}"))
    assert serious(report) == {"clock_jitter", "poor_excitation"}
    still = {finding.joint for finding in report.findings if finding.kind == "standstill"}
    assert still == set(robot.joint_names) - {robot.joint_names[moving - 1]}
