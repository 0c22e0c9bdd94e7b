"""Options of the commands about a robot's model."""

from __future__ import annotations

from dynid.cli.common import Commands, new_command, robot_options, unused_seed


def add_robots(commands: Commands) -> None:
    command = new_command(commands, "robots", "List the built-in robots, or show what a robot's file says.")
    command.add_argument("robot", nargs="?", metavar="ROBOT", help="a file or the name of a built-in")
    robot_options(command)
    unused_seed(command)


def add_base(commands: Commands) -> None:
    command = new_command(
        commands, "base", "List the base parameters: the combinations that can be identified."
    )
    command.add_argument("robot", metavar="ROBOT", help="a file or the name of a built-in")
    robot_options(command)
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
    unused_seed(command)
