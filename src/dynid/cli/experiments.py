"""Options of the commands that design experiments: one motion of all joints, or one joint at a time."""

from __future__ import annotations

import argparse

from dynid.cli.common import (
    Commands,
    Group,
    Parser,
    new_command,
    numbers,
    robot_options,
    three_numbers,
    unused_seed,
)
from dynid.cli.logs import log_options


def add_plan(commands: Commands) -> None:
    command = new_command(commands, "plan", "Plan experiments in which one joint moves at a time.")
    command.add_argument("robot", metavar="ROBOT", help="a file or the name of a built-in")
    command.add_argument(
        "-o", "--output", metavar="DIR", help="write a trajectory for each experiment, and plan.json"
    )
    command.add_argument("--force", action="store_true", help="overwrite the files of an earlier plan")
    robot_options(command)
    command.add_argument(
        "--configurations",
        metavar="FILE",
        help="judge the joints and configurations of this plan.json instead of choosing them",
    )
    command.add_argument(
        "--motion",
        default="smooth",
        metavar="KIND",
        help="smooth, out and back (default), or step, critically damped",
    )
    command.add_argument(
        "--rigid", action="store_true", help="no experiments for motor inertias, friction and offsets"
    )
    _limit_options(command, "velocity", "acceleration")
    command.add_argument("--rate-hz", type=float, default=100.0, metavar="F", help="rows per second (100)")
    command.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the postures that are tried (0)"
    )


def add_excite(commands: Commands) -> None:
    command = new_command(commands, "excite", "Find a trajectory that excites all parameters within limits.")
    command.add_argument("robot", metavar="ROBOT", help="a file or the name of a built-in")
    command.add_argument(
        "-o",
        "--output",
        action="append",
        default=[],
        metavar="FILE",
        help="traj.csv, or traj.yaml for ROS 2 (JointTrajectory); may be given again",
    )
    command.add_argument("--report", metavar="FILE", help="an HTML page with the motion and its limits")
    command.add_argument("--force", action="store_true", help="overwrite these files")
    robot_options(command)
    _motion_options(command.add_argument_group("the motion"))
    _criterion_options(command.add_argument_group("what it shall be good for"))
    limits = command.add_argument_group("limits (default: those of the robot's file)")
    _limit_options(limits, "velocity", "acceleration", "jerk", "effort")
    _space_options(limits)
    _search_options(command.add_argument_group("the search"))
    log_options(command)


def add_view(commands: Commands) -> None:
    command = new_command(commands, "view", "Show a robot, or its motion, in the browser (extra: view).")
    command.add_argument("robot", metavar="ROBOT", help="a file or the name of a built-in")
    command.add_argument("trajectory", nargs="?", metavar="TRAJECTORY", help="traj.csv to play")
    robot_options(command)
    command.add_argument("--host", default="127.0.0.1", metavar="NAME", help="address to serve (127.0.0.1)")
    command.add_argument("--port", type=int, default=8080, metavar="N", help="port to serve (8080)")
    command.add_argument(
        "--link-radius", type=float, default=0.05, metavar="R", help="of the capsules about links, m (0.05)"
    )
    unused_seed(command)


def _motion_options(group: Group) -> None:
    group.add_argument(
        "--basis", default="fourier", metavar="NAME", help="fourier (default), spline, or points, as in 1992"
    )
    group.add_argument("--period", type=float, default=10.0, metavar="T", help="duration in s (10)")
    group.add_argument("--harmonics", type=int, default=5, metavar="N", help="of the Fourier series (5)")
    group.add_argument("--pieces", type=int, default=15, metavar="N", help="of the splines (15)")
    group.add_argument("--periodic", action="store_true", help="splines that can be repeated")
    group.add_argument(
        "--points",
        type=int,
        metavar="R",
        help="rows of the regressor from R + 1 points; default: 30, or twice the number of parameters",
    )
    group.add_argument("--start", type=numbers, metavar="Q,...", help="pose at the beginning, rad or m")
    group.add_argument("--end", type=numbers, metavar="Q,...", help="pose at the end")
    group.add_argument("--rate-hz", type=float, default=100.0, metavar="F", help="rows per second (100)")
    group.add_argument(
        "--scale",
        type=speed,
        default=1.0,
        metavar="S",
        help="at S times the speed: 0.3 for a first careful run, max for all that the limits allow",
    )
    group.add_argument(
        "--from",
        dest="trajectory",
        metavar="FILE",
        help="judge, scale and write this trajectory instead of finding one",
    )


def _criterion_options(group: Group) -> None:
    group.add_argument(
        "--model", metavar="NAME", help="torque (default), energy (default with points), gravity"
    )
    group.add_argument(
        "--criterion",
        default="condition",
        metavar="NAME",
        help="condition (default), d-optimal, e-optimal, combined (condition and scaling S)",
    )
    group.add_argument(
        "--scaling-weight", type=float, default=0.01, metavar="W", help="of S in the combined one (0.01)"
    )
    group.add_argument("--armature", action="store_true", help="motor inertias are to be found, too")
    group.add_argument("--friction", action="store_true", help="and viscous and Coulomb friction")
    group.add_argument("--offset", action="store_true", help="and constant offsets")
    group.add_argument(
        "--noise", type=numbers, metavar="S,...", help="standard deviation of each joint's effort"
    )
    group.add_argument(
        "--after",
        action="append",
        default=[],
        metavar="LOG",
        help="a log that is there already: find what it lacks; may be given again",
    )


def _limit_options(group: Group | Parser, *rates: str) -> None:
    group.add_argument(
        "--position-limits",
        type=ranges,
        metavar="A:B,...",
        help="rad or m, one for all joints or one each; default: the file's",
    )
    units = {
        "velocity": "rad/s or m/s",
        "acceleration": "rad/s^2 or m/s^2",
        "jerk": "rad/s^3 or m/s^3",
        "effort": "Nm or N",
    }
    for name in rates:
        group.add_argument(
            f"--{name}-limits",
            type=positive,
            metavar="X,...",
            help=f"{units[name]}, one for all joints or one each; "
            + ("default: none" if name == "jerk" else "default: the file's"),
        )


def _space_options(group: Group) -> None:
    group.add_argument("--floor", type=float, metavar="Z", help="no link goes below this height, m")
    group.add_argument(
        "--box", type=numbers, metavar="X0,X1,Y0,Y1,Z0,Z1", help="no link leaves this box of the base frame"
    )
    group.add_argument("--self-collision", action="store_true", help="no link meets another one")
    group.add_argument(
        "--link-radius", type=float, default=0.05, metavar="R", help="of the capsules about links, m (0.05)"
    )
    group.add_argument(
        "--tool", type=three_numbers, metavar="X,Y,Z", help="point of the last link to which it reaches"
    )


def _search_options(group: Group) -> None:
    group.add_argument("--seed", type=int, default=0, metavar="N", help="of the random starts (0)")
    group.add_argument(
        "--starts", type=int, metavar="K", help="searches from random motions; default: 12, points 60"
    )
    group.add_argument(
        "--seconds", type=float, metavar="S", help="stop about then (the result depends on the machine)"
    )


def ranges(text: str) -> list[tuple[float, float]]:
    """'-1:1,-2:2' as pairs."""
    try:
        pairs = [tuple(float(end) for end in part.split(":")) for part in text.split(",")]
    except ValueError:
        pairs = []
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise argparse.ArgumentTypeError(f"expected LOWER:UPPER such as -1.5:1.5, found {text!a}")
    return [(pair[0], pair[1]) for pair in pairs]


def positive(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers such as 1,2.5,3, found {text!a}") from None


def speed(text: str) -> float | str:
    if text == "max":
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number such as 0.3, or max, found {text!a}") from None
