"""What it costs to start."""

from __future__ import annotations

from benchmarks.measure import Row, cpu_seconds


def rows() -> list[Row]:
    found: list[Row] = []
    for what, arguments, goal in (
        ("import dynid", ["-c", "import dynid"], 0.25),
        ("import dynid, load a robot", ["-c", "import dynid; dynid.load_robot('panda')"], None),
        ("dynid --help", ["-m", "dynid", "--help"], 0.3),
    ):
        seconds = cpu_seconds(arguments)
        limit = "" if goal is None else f"< {goal} s"
        found.append(Row(f"{what}, processor time", f"{seconds:.2f} s", limit, goal and seconds < goal))
    return found
