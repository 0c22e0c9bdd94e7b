"""The command line: parsing only. What a command does is in `dynid.commands`, imported when it is called.

Results go to stdout, everything else to stderr. Exit status 0: done and accepted; 1: there is a result, but
it is not to be trusted or not complete; 2: nothing was produced, and one message says why.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn, TypeAlias

from dynid import __version__

ACCEPTED, DOUBTFUL, FAILED = 0, 1, 2


Commands: TypeAlias = Any  # what add_subparsers returns, whose type argparse keeps to itself


class _Parser(argparse.ArgumentParser):
    """argparse with messages of our form: one line, and where to look for what is valid."""

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: error: {message} (try '{self.prog} --help')\n")
        raise SystemExit(FAILED)


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    root = _Parser(
        prog="dynid",
        description="The dynamic model of a robot arm, from its description and its logs.",
        epilog="'dynid COMMAND --help' explains a command.",
    )
    root.add_argument("--version", action="version", version=f"dynid {__version__}")
    commands = root.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    _add_robots(commands)
    _add_base(commands)
    return root


def _command(commands: Commands, name: str, help: str) -> _Parser:
    """A command with the options that all commands have."""
    added = commands.add_parser(name, help=help, description=help)
    added.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    added.add_argument("--quiet", action="store_true", help="no progress and no remarks on stderr")
    return added


def _robot_options(command: _Parser) -> None:
    """Options of every command that reads a robot."""
    command.add_argument(
        "--gravity",
        type=_three_numbers,
        metavar="X,Y,Z",
        help="acceleration of gravity in the base frame, m/s^2",
    )
    command.add_argument(
        "--joints",
        type=_names,
        metavar="A,B,...",
        help="joints that stay free; all others are locked at zero",
    )


def _three_numbers(text: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) != 3:
        raise argparse.ArgumentTypeError(f"expected three numbers such as 0,0,-9.81, found {text!a}")
    return numbers


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _add_robots(commands: Commands) -> None:
    command = _command(commands, "robots", "List the built-in robots, or show what a robot's file says.")
    command.add_argument("robot", nargs="?", metavar="ROBOT", help="a file or the name of a built-in")
    _robot_options(command)


def _add_base(commands: Commands) -> None:
    command = _command(commands, "base", "List the base parameters: the combinations that can be identified.")
    command.add_argument("robot", metavar="ROBOT", help="a file or the name of a built-in")
    _robot_options(command)
    command.add_argument(
        "--model",
        default="torque",
        metavar="MODEL",
        help="torque (default), inertia, gravity or energy",
    )
    command.add_argument(
        "--method",
        default="exact",
        metavar="METHOD",
        help="exact (default), gautier-khalil, lin or numeric",
    )
    command.add_argument("--armature", action="store_true", help="with motor inertias Ia")
    command.add_argument("--friction", action="store_true", help="with viscous and Coulomb friction Fv, Fc")
    command.add_argument("--offset", action="store_true", help="with constant offsets Fo")
    shape = command.add_mutually_exclusive_group()
    shape.add_argument("--markdown", action="store_true", help="print a Markdown table")
    shape.add_argument("--latex", action="store_true", help="print LaTeX")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    from dynid.errors import DynidError

    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        options = parser().parse_args(_attach_negative_values(given))
    except SystemExit as stop:  # --help, --version, or a usage error that has been reported
        return int(stop.code or 0)
    try:
        return int(import_module(f"dynid.commands.{options.command}").run(options))
    except DynidError as problem:
        sys.stderr.write(f"dynid {options.command}: {problem}\n")
        return FAILED
    except KeyboardInterrupt:
        sys.stderr.write(f"dynid {options.command}: interrupted\n")
        return DOUBTFUL
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ACCEPTED


def _attach_negative_values(arguments: list[str]) -> list[str]:
    """'--gravity -9.81,0,0' as '--gravity=-9.81,0,0', which argparse does not take for an option."""
    joined: list[str] = []
    for argument in arguments:
        if joined and joined[-1] == "--gravity" and re.match(r"-[\d.]", argument):
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined
