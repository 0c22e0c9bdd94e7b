"""Algorithm 2 of [Lin1992] on a real arm: one joint at a time beside a motion of all joints.

The recordings are a UR10e's, currents times published gains; they are not part of this project, and
DYNID_DATA names their folder. In six logs one joint moves (in the last two some others do, too), all from
one posture or two. These are fewer experiments than Algorithm 2 asks for, and friction hides most of what
joints at rest have to tell, so many intervals are wide. Printed are all parameters by both ways, and their
difference in standard deviations; exit status 0 if those of bodies and motors are within four of them.
Friction differs by more, as it does between days: the logs are 19 days apart.

Run it with:  DYNID_DATA=... python papers/lin_1992_recordings.py
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

from dynid import Estimate, Log, Robot, identify, load_robot, read_log

GAIN = (10.0, 10.6956, 8.4566, 9.0029, 9.4800, 10.1232)  # Nm/A
SINGLE = tuple(f"01_22-joint_{k}" for k in range(1, 7))
TOGETHER, UNSEEN = "02_10-30sec_12harm", "02_12-40sec_12harm"
LARGEST = 4.0  # standard deviations


def main() -> int:
    """Print both fits; 0 if they agree, or if there is nothing to compare."""
    folder = Path(os.environ.get("DYNID_DATA", "../shared/data")) / "ur10e"
    if not folder.is_dir():
        print(f"no recordings at {folder}: set DYNID_DATA to the folder that has ur10e/")
        return 0
    robot = load_robot(folder / "ur10e.urdf")
    unseen = log_of(robot, folder, UNSEEN)
    single = [log_of(robot, folder, name) for name in SINGLE]
    one = identify(robot, single, method="one-joint", validate=unseen)
    both = identify(robot, log_of(robot, folder, TOGETHER), validate=unseen, prior="none")
    worst = parameters(one, both)
    print("\nerror of the predicted efforts of a motion that neither has seen, % of their RMS")
    for name, estimate in (("one joint at a time", one), ("all joints", both)):
        for scores in estimate.validation.values():
            print(f"  {name:20}", "  ".join(f"{score.percent:6.1f}" for score in scores.values()))
    print(f"\nLargest difference of bodies and motors: {worst:.1f} standard deviations.")
    return 0 if worst <= LARGEST else 1


def log_of(robot: Robot, folder: Path, name: str) -> Log:
    columns = [
        f"{joint}.{what}" for what in ("position", "velocity", "effort") for joint in robot.joint_names
    ]
    path = folder / f"ur-20_{name}.csv"
    return read_log(path, robot, columns=["time", *columns, *["-"] * 12], effort="current", gain=GAIN)


def parameters(one: Estimate, both: Estimate) -> float:
    """Print all parameters; the largest difference of those that are no friction, in standard deviations."""
    print("parameter   one joint at a time       all joints           difference / std")
    difference = (one.values - both.values) / np.hypot(one.std, both.std)
    rows = zip(one.names, one.values, one.std, both.values, both.std, difference, strict=True)
    for name, x, dx, y, dy, z in rows:
        print(f"{name:9} {x:10.3f} +- {dx:7.3f}   {y:10.3f} +- {dy:7.3f}   {z:6.1f}")
    rigid = difference[[not name.startswith("F") for name in one.names]]
    print(f"\nRMS of the differences: {np.sqrt(np.mean(rigid**2)):.2f} standard deviations, without friction")
    return float(np.abs(rigid).max())


if __name__ == "__main__":
    sys.exit(main())
