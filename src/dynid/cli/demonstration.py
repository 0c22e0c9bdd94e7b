"""Options of the demonstration."""

from __future__ import annotations

from dynid.cli.common import Commands, new_command


def add_demo(commands: Commands) -> None:
    command = new_command(
        commands, "demo", "Run the whole chain on a simulated arm: motion, logs, model, report, code."
    )
    command.add_argument(
        "-o", "--output", default="dynid-demo", metavar="DIR", help="directory for all files (dynid-demo)"
    )
    command.add_argument("--force", action="store_true", help="overwrite files there")
    command.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the noise, and of what is believed wrongly (0)"
    )
