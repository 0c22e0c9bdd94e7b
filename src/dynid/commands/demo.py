"""`dynid demo`: the whole chain on a simulated arm."""

from __future__ import annotations

import argparse
import time
from importlib.util import find_spec

from dynid.codegen.package import names_of, refuse_present
from dynid.commands.output import print_json, remark
from dynid.demo.files import CODE, FILES, LOGS, PREFIX
from dynid.errors import ArgumentError, MissingExtraError
from dynid.files import directory_for


def run(options: argparse.Namespace) -> int:
    started = time.perf_counter()
    quiet = options.quiet or options.json
    if find_spec("mujoco") is None:
        raise MissingExtraError("the demonstration", "mujoco", "sim")  # now, not after the search for motions
    if options.seed < 0:
        raise ArgumentError(f"--seed must be 0 or more, not {options.seed}")
    directory = directory_for(options.output, (*LOGS, *FILES), force=options.force)
    refuse_present(directory / CODE, names_of(PREFIX, ["c"]), options.force)

    from dynid.demo.chain import run_demo  # loads everything there is
    from dynid.demo.result import record, table

    def say(text: str) -> None:
        remark(f"{time.perf_counter() - started:5.1f} s  {text}", quiet)

    demo = run_demo(directory, seed=options.seed, force=options.force, say=say)
    report = directory / "report.html"
    if options.json:
        print_json(
            {
                **record(demo),
                "report": str(report),
                "files": [str(directory / name) for name in (*LOGS, *FILES, CODE)],
            }
        )
    else:
        print(f"\n{table(demo)}\n\nreport: {report}")
    return 0 if all(demo.claims.values()) else 1
