"""Options of the command that generates code."""

from __future__ import annotations

from dynid.cli.common import Commands, names, new_command, robot_options, unused_seed


def add_codegen(commands: Commands) -> None:
    command = new_command(commands, "codegen", "Generate C and other code for a robot's dynamics.")
    command.add_argument(
        "model", metavar="MODEL", help="an estimate (.json), or a robot with parameters: a file or a built-in"
    )
    command.add_argument("-o", "--output", required=True, metavar="DIR", help="directory of the code")
    command.add_argument("--force", action="store_true", help="overwrite files")
    command.add_argument("--prefix", metavar="NAME", help="of files and functions; default: the robot's name")
    robot_options(command)
    command.add_argument(
        "--target",
        type=names,
        action="extend",
        metavar="LANGUAGE",
        help="c (default), python, casadi, jax, matlab; may be given again, or A,B",
    )
    command.add_argument("--real", default="double", metavar="TYPE", help="of C: double (default) or float")
    command.add_argument(
        "--payload",
        default="constant",
        metavar="WHEN",
        help="constant (default: none but the model's), or runtime: one more argument, load[10]",
    )
    command.add_argument(
        "--variables",
        default="constant",
        metavar="WHEN",
        help="of a .dyn file: constant (default), or runtime: one more argument",
    )
    command.add_argument(
        "--friction",
        default="model",
        metavar="KIND",
        help="as the model has it (default), with sign, smooth (tanh), or none",
    )
    command.add_argument(
        "--friction-width",
        type=float,
        default=0.02,
        metavar="V",
        help="of smooth friction, tanh(velocity / V), rad/s or m/s (0.02)",
    )
    unused_seed(command)
