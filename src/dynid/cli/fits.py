"""Options of the commands that find a model and judge it."""

from __future__ import annotations

import argparse

from dynid.cli.common import Commands, new_command, robot_options, unused_seed
from dynid.cli.logs import log_options


def add_identify(commands: Commands) -> None:
    command = new_command(
        commands, "identify", "Find a robot's dynamic model from logs; the defaults choose everything."
    )
    command.add_argument("robot", metavar="ROBOT", help="a file or the name of a built-in")
    command.add_argument("logs", nargs="+", metavar="LOG", help="training logs")
    command.add_argument("-o", "--output", metavar="DIR", help="directory for the estimate and the report")
    command.add_argument("--force", action="store_true", help="overwrite files there")
    command.add_argument(
        "--validate",
        action="append",
        default=[],
        metavar="LOG",
        help="a log to judge the result on; may be given again",
    )
    robot_options(command)
    log_options(command)
    unused_seed(command)
    _long_options(command.add_argument_group("logs too long to be loaded, or many of them"))
    _sample_options(command.add_argument_group("samples of the logs"))
    _fit_options(command.add_argument_group("the fit (by default chosen from the training logs)"))
    _body_options(command.add_argument_group("bodies that can exist"))


def _fit_options(group: argparse._ArgumentGroup) -> None:  # pyright: ignore[reportPrivateUsage]
    group.add_argument(
        "--method",
        default="wls",
        metavar="NAME",
        help="wls (default), ols, irls, tukey, iv, tls, energy, power, momentum, one-joint",
    )
    group.add_argument("--plan", metavar="FILE", help="plan.json of 'dynid plan', for --method one-joint")
    group.add_argument(
        "--friction",
        default="auto",
        metavar="A,B,...",
        help="viscous, coulomb, offset (these by default), asymmetric, stribeck, root, load; or none",
    )
    group.add_argument("--friction-side", metavar="SIDE", help="joint or motor; default: as the robot says")
    group.add_argument("--width", type=float, metavar="V", help="of Coulomb friction's step, rad/s; 0: sign")
    group.add_argument(
        "--presliding",
        type=float,
        metavar="D",
        help="rad over which friction turns after a reversal (chosen); 0: at once",
    )
    group.add_argument("--no-armature", dest="armature", action="store_false", help="without motor inertias")
    group.add_argument(
        "--prior",
        default="auto",
        metavar="KIND",
        help="auto (default), cad (the robot's file), ridge (zero), none",
    )
    group.add_argument("--prior-weight", type=float, metavar="W", help="default: by cross-validation")
    group.add_argument("--delay", type=float, metavar="S", help="of efforts behind positions (estimated)")
    group.add_argument(
        "--purpose",
        default="values",
        metavar="WHAT",
        help="values (default), or prediction: further friction terms if they pay",
    )


def _sample_options(group: argparse._ArgumentGroup) -> None:  # pyright: ignore[reportPrivateUsage]
    group.add_argument("--cutoff-hz", type=float, metavar="F", help="band of the fit (chosen)")
    group.add_argument("--derivative", default="central", metavar="NAME", help="central, savitzky-golay, ...")
    group.add_argument(
        "--velocity", default="position", metavar="SOURCE", help="from positions (default), or measured"
    )
    group.add_argument(
        "--standstill-speed",
        type=float,
        default=0.01,
        metavar="V",
        help="slower joints do not count, rad/s or m/s (0.01)",
    )
    group.add_argument(
        "--exclude",
        type=interval,
        action="append",
        default=[],
        metavar="A:B",
        help="seconds of the logs to leave out; may be given again",
    )


def _body_options(group: argparse._ArgumentGroup) -> None:  # pyright: ignore[reportPrivateUsage]
    group.add_argument("--physical", action="store_true", help="a full set of bodies that can exist")
    group.add_argument(
        "--bounds",
        metavar="WHAT",
        help="of these bodies: collision (each inside its collision geometry), or a TOML file",
    )
    group.add_argument(
        "--metric",
        default="pullback",
        metavar="NAME",
        help="of their deviations from the robot's file: pullback (default) or entropic",
    )


def _long_options(group: argparse._ArgumentGroup) -> None:  # pyright: ignore[reportPrivateUsage]
    group.add_argument(
        "--state", metavar="FILE", help="keeps how far a run has got; one that was killed goes on from there"
    )
    group.add_argument(
        "--dask", metavar="ADDRESS", help="of a Dask cluster to read the logs, such as tcp://127.0.0.1:8786"
    )


def add_validate(commands: Commands) -> None:
    command = new_command(commands, "validate", "Judge an estimate on a log that it has not seen.")
    command.add_argument("estimate", metavar="ESTIMATE", help="estimate.json of 'dynid identify'")
    command.add_argument("logs", nargs="+", metavar="LOG", help="logs of the same robot")
    log_options(command)
    unused_seed(command)


def interval(text: str) -> tuple[float, float]:
    try:
        first, last = (float(part) for part in text.split(":"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected two times such as 3.5:7, found {text!a}") from None
    return first, last
