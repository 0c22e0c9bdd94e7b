"""What all commands share: the parser, its options, and the values they take."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn, TypeAlias

ACCEPTED, DOUBTFUL, FAILED = 0, 1, 2

Group: TypeAlias = Any  # what add_argument_group returns; argparse keeps that type to itself, too
Commands: TypeAlias = Any  # what add_subparsers returns, whose type argparse keeps to itself


class Parser(argparse.ArgumentParser):
    """argparse with messages of our form: one line, and where to look for what is valid."""

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: error: {message} (try '{self.prog} --help')\n")
        raise SystemExit(FAILED)


def new_command(commands: Commands, name: str, help: str) -> Parser:
    """A command with the options that all commands have."""
    added = commands.add_parser(name, help=help, description=help)
    added.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    added.add_argument("--quiet", action="store_true", help="no progress and no remarks on stderr")
    return added


def robot_options(command: Parser) -> None:
    """Options of every command that reads a robot."""
    command.add_argument(
        "--gravity",
        type=three_numbers,
        metavar="X,Y,Z",
        help="acceleration of gravity in the base frame, m/s^2",
    )
    command.add_argument(
        "--joints",
        type=names,
        metavar="A,B,...",
        help="joints that stay free; all others are locked at zero",
    )


def unused_seed(command: Parser) -> None:
    """For scripts that give every command a seed."""
    command.add_argument("--seed", type=int, metavar="N", help="makes no difference: nothing here is random")


def three_numbers(text: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) != 3:
        raise argparse.ArgumentTypeError(f"expected three numbers such as 0,0,-9.81, found {text!a}")
    return numbers


def numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers such as 1,2.5,3, found {text!a}") from None


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
