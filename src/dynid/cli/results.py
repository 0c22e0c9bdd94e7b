"""Options of the commands that use what was identified, or find loads and gains."""

from __future__ import annotations

from dynid.cli.common import Commands, Parser, new_command, numbers, robot_options, unused_seed
from dynid.cli.logs import log_options


def add_export(commands: Commands) -> None:
    command = new_command(commands, "export", "Write what was identified into the format of another program.")
    command.epilog = (
        "A TOML file of bounds: total_mass = [10, 14] (kg, of all moving links), then for any link a table "
        "[link.NAME] with mass = [1, 3], com = [[x, y, z], [x, y, z]] (opposite corners of a box that holds "
        "the centre of mass, m, in the link's frame) and box = the same of one that holds all of the mass."
    )
    command.add_argument("estimate", metavar="ESTIMATE", help="an estimate.json of 'dynid identify'")
    command.add_argument(
        "--format",
        metavar="FORMAT",
        help="urdf (the robot's own file with new numbers, if it was one), mjcf, sdf, toml (DH table), yaml "
        "(motor inertia and friction), pinocchio (Python), csv, latex; default: as the suffix of FILE says",
    )
    command.add_argument("-o", "--output", required=True, metavar="FILE", help="the file to write")
    command.add_argument("--force", action="store_true", help="overwrite FILE")
    command.add_argument(
        "--physical",
        action="store_true",
        help="of base values alone, export the nearest bodies that can exist",
    )
    physical_options(command)
    command.add_argument(
        "--allow-impossible",
        action="store_true",
        help="export bodies that cannot exist, too: with exactly the identified base values",
    )
    command.add_argument(
        "--original", metavar="URDF", help="the URDF to patch; it must be the one that was identified"
    )
    command.add_argument(
        "--urdf", metavar="NAME", help="what a Pinocchio snippet loads (default identified.urdf)"
    )
    unused_seed(command)


def physical_options(command: Parser) -> None:
    """How bodies that can exist are looked for."""
    group = command.add_argument_group("bodies that can exist (with --physical)")
    group.add_argument(
        "--bounds",
        metavar="WHAT",
        help="collision: each link's mass lies inside its collision geometry; or a TOML file with masses, "
        "centres of mass and boxes",
    )
    group.add_argument(
        "--metric",
        metavar="NAME",
        help="how deviations from the robot file's bodies are measured: pullback (default) or entropic",
    )
    group.add_argument(
        "--body-weight",
        type=float,
        metavar="W",
        help="of the robot file's bodies: deviating by all of itself, one counts as sqrt(W) standard "
        "deviations of the data (1)",
    )


def add_payload(commands: Commands) -> None:
    command = new_command(
        commands, "payload", "Find mass, centre of mass and inertia of a load from logs without and with it."
    )
    command.epilog = (
        "With --json: mass (kg), com (x y z, m, in the frame of the link that carries the load), inertia "
        "(Ixx Iyy Izz Ixy Ixz Iyz, kg m^2, about the centre of mass, along that link's axes), and std, the "
        "deviations of the three under the same names; null where these logs do not tell."
    )
    command.add_argument(
        "--method",
        default="auto",
        metavar="METHOD",
        help="difference of both runs, or known: the robot file's inertias are right, and --without may be "
        "left away; default: the difference where there are both",
    )
    _two_runs(command, needed=False)


def add_gains(commands: Commands) -> None:
    command = new_command(
        commands,
        "gains",
        "Find the drives' gains in Nm/A from logs of currents without and with a known load.",
    )
    command.epilog = (
        "Efforts of the logs are taken for currents. With --json: gains, by joint, each with gain, std, "
        "interval (95 %) and verdict (determined, rough or undetermined), and gain, all of them as --gain of "
        "the other commands takes them. Exit status 1 if a gain cannot be told."
    )
    _two_runs(command, needed=True)
    command.add_argument("--mass", type=float, required=True, metavar="M", help="of the load, kg")
    command.add_argument(
        "--com",
        type=numbers,
        metavar="X,Y,Z",
        help="its centre of mass in the last link's frame, m; default: found along with the gains",
    )


def _two_runs(command: Parser, needed: bool) -> None:
    command.add_argument("robot", metavar="ROBOT", help="a file or the name of a built-in")
    runs = {
        "without": ("the arm alone", needed),
        "with": ("the same arm with the load, best in the same motion", True),
    }
    for name, (what, required) in runs.items():
        command.add_argument(
            f"--{name}",
            dest=f"logs_{name}",
            nargs="+",
            action="extend",
            required=required,
            default=[],
            metavar="LOG",
            help=f"one log or several of {what}",
        )
    command.add_argument("--link", metavar="LINK", help="the link that carries the load; default: the last")
    command.add_argument(
        "--cutoff-hz", type=float, metavar="F", help="of the equations' band; default: chosen from the logs"
    )
    command.add_argument(
        "--friction", default="auto", metavar="A,B,...", help="friction terms, as for 'dynid identify'"
    )
    robot_options(command)
    log_options(command)
    unused_seed(command)
