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
    _add_simulate(commands)
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


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers such as 1,2.5,3, found {text!a}") from None


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


def _add_simulate(commands: Commands) -> None:
    command = _command(commands, "simulate", "Record a simulated robot (MuJoCo) following a trajectory.")
    command.add_argument("robot", metavar="ROBOT", help="a file or the name of a built-in")
    command.add_argument("trajectory", metavar="TRAJECTORY", help="CSV: time, <joint>.position, ...")
    command.add_argument(
        "-o", "--output", required=True, metavar="LOG", help="the log: .csv, .parquet or .mcap"
    )
    command.add_argument("--force", action="store_true", help="overwrite the log")
    command.add_argument("--seed", type=int, default=0, metavar="N", help="of all that is random (0)")
    _robot_options(command)
    command.add_argument(
        "--controller",
        default="feedforward",
        metavar="KIND",
        help="servo, feedforward (default: a servo that knows the robot) or computed-torque",
    )
    command.add_argument("--nominal", metavar="ROBOT", help="what the controller takes the robot for")
    command.add_argument(
        "--bandwidth-hz", type=float, default=10.0, metavar="X", help="of the controller (10)"
    )
    rates: dict[str, str] = {
        "--control-hz": "the controller computes efforts at this rate and holds them; default: continuously",
        "--rate-hz": "samples per second; default: a sample at each time of the trajectory",
    }
    faults: dict[str, str] = {
        "--torque-noise": "white noise of efforts, as a fraction of each joint's RMS",
        "--torque-step": "resolution of the motors' currents, Nm of motor effort",
        "--delay": "seconds by which efforts lag behind positions",
        "--clock-jitter": "seconds (RMS) by which samples are taken off their instants",
        "--dropped": "share of samples that are lost",
    }
    for option, help in {**rates, **faults}.items():
        default = 0.0 if option in faults else None
        command.add_argument(option, type=float, default=default, metavar="X", help=help)
    command.add_argument("--encoder-bits", type=int, metavar="N", help="counts of a motor's turn, as 2^N")
    command.add_argument(
        "--velocity",
        default="true",
        metavar="HOW",
        help="true (default), or encoder: differences of positions",
    )
    command.add_argument("--saturate", action="store_true", help="efforts end at the limits of the joints")
    command.add_argument(
        "--gear-stiffness",
        type=_numbers,
        metavar="K1,K2,...",
        help="elastic gears, Nm/rad or N/m per joint; default: rigid",
    )


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
