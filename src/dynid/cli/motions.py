"""Options of the commands about motions, wished for and simulated."""

from __future__ import annotations

from dynid.cli.common import Commands, new_command, numbers, robot_options


def add_simulate(commands: Commands) -> None:
    command = new_command(commands, "simulate", "Record a simulated robot (MuJoCo) following a trajectory.")
    command.add_argument("robot", metavar="ROBOT", help="a file or the name of a built-in")
    command.add_argument("trajectory", metavar="TRAJECTORY", help="CSV: time, <joint>.position, ...")
    command.add_argument(
        "-o", "--output", required=True, metavar="LOG", help="the log: .csv, .parquet or .mcap"
    )
    command.add_argument("--force", action="store_true", help="overwrite the log")
    command.add_argument("--seed", type=int, default=0, metavar="N", help="of all that is random (0)")
    robot_options(command)
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
        type=numbers,
        metavar="K1,K2,...",
        help="elastic gears, Nm/rad or N/m per joint; default: rigid",
    )
