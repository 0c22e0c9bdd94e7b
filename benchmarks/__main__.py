"""`make bench`: run all benchmarks, print them as a table and keep it in docs/benchmarks.md."""

from __future__ import annotations

import datetime
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.measure import Row, machine

# One module each, with a function rows() -> list[Row].
SECTIONS = {
    "Kernels": "benchmarks.kernels",
    "Long logs": "benchmarks.scale",
    "Base parameters": "benchmarks.base",
    "Exciting trajectories": "benchmarks.excite",
    "Generated code": "benchmarks.codegen",
    "Starting": "benchmarks.startup",
    "Loads and gains of drives": "benchmarks.loads",
    "Confidence intervals": "benchmarks.coverage",
}


def table(title: str, rows: list[Row]) -> list[str]:
    lines = [f"## {title}", "", "| what | measured | asked | |", "|---|---|---|---|"]
    for row in rows:
        verdict = "" if row.met is None else "met" if row.met else "**missed**"
        lines.append(f"| {row.what} | {row.figure} | {row.goal} | {verdict} |")
    return [*lines, ""]


def main(wanted: list[str]) -> int:
    text = ["# Benchmarks", "", f"Measured on {datetime.date.today()} in one run: {machine()}.", ""]
    for title, module in SECTIONS.items():
        if not wanted or module.rpartition(".")[2] in wanted:
            section = table(title, import_module(module).rows())
            print("\n".join(section), flush=True)
            text += section
    if not wanted:
        Path("docs/benchmarks.md").write_text("\n".join(text).rstrip() + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
