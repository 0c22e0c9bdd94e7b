"""Options of the command that plans experiments with one joint at a time."""

from __future__ import annotations

import argparse

from dynid.cli.common import Commands, new_command, robot_options


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
    command.add_argument(
        "--position-limits",
        type=ranges,
        metavar="A:B,...",
        help="rad or m, one for all joints or one each; default: the file's",
    )
    for name, unit in (("velocity", "rad/s or m/s"), ("acceleration", "rad/s^2 or m/s^2")):
        command.add_argument(
            f"--{name}-limits",
            type=positive,
            metavar="X,...",
            help=f"{unit}, one for all joints or one each; default: the file's",
        )
    command.add_argument("--rate-hz", type=float, default=100.0, metavar="F", help="rows per second (100)")
    command.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the postures that are tried (0)"
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
