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

from dynid import __version__
from dynid.cli import code, demonstration, experiments, fits, logs, models, motions, results
from dynid.cli.common import ACCEPTED, DOUBTFUL, FAILED, Parser


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    root = Parser(
        prog="dynid",
        description="The dynamic model of a robot arm, from its description and its logs.",
        epilog="'dynid COMMAND --help' explains a command.",
    )
    root.add_argument("--version", action="version", version=f"dynid {__version__}")
    commands = root.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    models.add_robots(commands)
    models.add_base(commands)
    logs.add_check(commands)
    fits.add_identify(commands)
    fits.add_validate(commands)
    motions.add_simulate(commands)
    code.add_codegen(commands)
    results.add_export(commands)
    results.add_payload(commands)
    results.add_gains(commands)
    experiments.add_excite(commands)
    experiments.add_plan(commands)
    experiments.add_view(commands)
    demonstration.add_demo(commands)
    return root


def _one_thread_per_product() -> None:
    """Keep BLAS, which is loaded later, from threads of its own: dynid shares out the work in larger pieces.

    Threads of threads wait for each other, many times as long as the products take.
    """
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    from dynid.errors import DynidError

    _one_thread_per_product()
    _open_what_is_closed()
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        options = parser().parse_args(_attach_negative_values(given))
    except SystemExit as stop:  # --help, --version, or a usage error that has been reported
        return int(stop.code or 0)
    try:
        status = int(import_module(f"dynid.commands.{options.command}").run(options))
        sys.stdout.flush()  # here, where a full disk or a closed pipe can still be answered
        return status
    except DynidError as problem:
        sys.stderr.write(f"dynid {options.command}: {problem}\n")
        return FAILED
    except KeyboardInterrupt:
        sys.stderr.write(f"dynid {options.command}: interrupted\n")
        return DOUBTFUL
    except BrokenPipeError:  # the reader of our output has seen enough
        _drop_what_is_left()
        return ACCEPTED
    except OSError as problem:  # such as a full disk behind stdout
        _drop_what_is_left()
        sys.stderr.write(f"dynid {options.command}: {problem.strerror or problem}\n")
        return FAILED


def _open_what_is_closed() -> None:
    """'dynid ... >&-' asks for no output, for which Python has no stream at all."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  for the rest of the run


def _drop_what_is_left() -> None:
    """Of the output that could not be written: Python would try once more at its end, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


LISTS = (  # whose values may begin with a minus
    "--gravity",
    "--sign",
    "--gain",
    "--columns",
    "--start",
    "--end",
    "--box",
    "--tool",
    "--position-limits",
)


def _attach_negative_values(arguments: list[str]) -> list[str]:
    """'--gravity -9.81,0,0' as '--gravity=-9.81,0,0', which argparse does not take for an option."""
    joined: list[str] = []
    for argument in arguments:
        if joined and joined[-1] in LISTS and re.match(r"-[\d.,]", argument):
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined
