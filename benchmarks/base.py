"""How long base parameters take."""

from __future__ import annotations

import time

import dynid
from benchmarks.kernels import tree
from benchmarks.measure import Row, cpu_seconds


def rows() -> list[Row]:
    whole = cpu_seconds(["-m", "dynid", "base", "panda"])
    begin = time.process_time()
    base = dynid.base_parameters(tree(30))
    alone = time.process_time() - begin
    return [
        Row("dynid base panda, processor time in all", f"{whole:.2f} s", "< 1 s", whole < 1.0),
        Row(
            f"{base.count} base parameters of a 30-joint tree, processor time",
            f"{alone:.2f} s",
            "< 10 s",
            alone < 10,
        ),
    ]
