"""A trajectory as a ROS 2 message, trajectory_msgs/msg/JointTrajectory, in YAML.

`ros2 topic pub` and action goals take this form. JSON is YAML, so joint names are written as JSON strings
and need no other care.
"""

from __future__ import annotations

import json
import os

import numpy as np

from dynid.files import whole_file
from dynid.spatial import Array
from dynid.trajectory import Trajectory


def joint_trajectory(trajectory: Trajectory) -> str:
    """The message as text; times are from the start of the motion."""
    stamps = np.rint((trajectory.times - trajectory.times[0]) * 1e9).astype(np.int64).tolist()
    lines = ["joint_names:", *(f"- {json.dumps(name)}" for name in trajectory.joint_names), "points:"]
    rows = zip(stamps, trajectory.q, trajectory.qd, trajectory.qdd, strict=True)
    for stamp, q, qd, qdd in rows:
        lines += [
            f"- positions: {_flow(q)}",
            f"  velocities: {_flow(qd)}",
            f"  accelerations: {_flow(qdd)}",
            "  effort: []",
            f"  time_from_start: {{sec: {stamp // 10**9}, nanosec: {stamp % 10**9}}}",
        ]
    return "\n".join(lines) + "\n"


def _flow(values: Array) -> str:
    """Numbers that every YAML reader takes for floats: some do not know 1e-05 as one."""
    return "[" + ", ".join(_number(x) for x in values.tolist()) + "]"


def _number(x: float) -> str:
    mantissa, e, exponent = repr(x).partition("e")
    return f"{mantissa if '.' in mantissa or not e else mantissa + '.0'}{e}{exponent}"


def write_joint_trajectory(
    trajectory: Trajectory, path: str | os.PathLike[str], *, force: bool = False
) -> None:
    """The message as a file, whole or not at all."""
    with whole_file(path, force=force) as temporary:
        temporary.write_text(joint_trajectory(trajectory), encoding="utf-8")
