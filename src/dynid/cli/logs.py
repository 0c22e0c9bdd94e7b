"""Options about logs: what their numbers mean, and the command that checks them."""

from __future__ import annotations

import argparse

from dynid.cli.common import Commands, Parser, names, new_command, numbers, robot_options, unused_seed


def log_options(command: Parser) -> None:
    """Options of every command that reads logs: what `read_log` has to be told."""
    group = command.add_argument_group("what the numbers of the logs mean")
    group.add_argument(
        "--effort",
        default="torque",
        metavar="MEANING",
        help="torque at the joint (default), motor_torque or current",
    )
    group.add_argument(
        "--gain", type=numbers, metavar="K1,K2,...", help="of currents: Nm/A at the joint, gear included"
    )
    group.add_argument(
        "--positions", default="joint", metavar="SIDE", help="positions are of the joint (default) or motor"
    )
    group.add_argument("--degrees", action="store_true", help="angles are in degrees")
    group.add_argument(
        "--sign", type=numbers, metavar="S1,S2,...", help="1 or -1 per joint: efforts that count backwards"
    )
    group.add_argument(
        "--columns",
        type=columns,
        metavar="A,B,...",
        help="names of the columns of a text file without header, - for one to skip",
    )
    group.add_argument(
        "--map",
        type=mapping,
        action="append",
        default=[],
        metavar="LOG=ROBOT",
        help="what the log calls a joint of the robot; may be given again, or A=B,C=D",
    )
    group.add_argument("--topic", metavar="TOPIC", help="of a bag, if it has several")


def add_check(commands: Commands) -> None:
    command = new_command(commands, "check", "Look for what is wrong with logs before they are used.")
    command.add_argument("robot", metavar="ROBOT", help="a file or the name of a built-in")
    command.add_argument("logs", nargs="+", metavar="LOG", help="logs of this robot")
    robot_options(command)
    log_options(command)
    unused_seed(command)


def columns(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def mapping(text: str) -> list[tuple[str, str]]:
    pairs = [tuple(part.strip() for part in pair.split("=")) for pair in names(text)]
    if not pairs or not all(len(pair) == 2 and all(pair) for pair in pairs):
        raise argparse.ArgumentTypeError(f"expected LOG=ROBOT such as shoulder=joint1, found {text!a}")
    return [(pair[0], pair[1]) for pair in pairs]
