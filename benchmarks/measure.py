"""How to time things so that two of them can be compared."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One line of the table: what, the figure, and what was asked of it."""

    what: str
    figure: str
    goal: str = ""
    met: bool | None = None


def fastest(function: Callable[[], object], seconds: float = 1.0, least: int = 3) -> float:
    """Shortest time of many runs: the one that nothing else on the machine disturbed."""
    best, runs, start = float("inf"), 0, time.perf_counter()
    while runs < least or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - begin)
        runs += 1
    return best


def cpu_seconds(arguments: list[str], runs: int = 5) -> float:
    """Least processor time, user and system, of a command run by this Python."""
    best = float("inf")
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def machine() -> str:
    """Processor and number of cores, without the host's name."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [
            line.split(":")[1].strip() for line in info.read_text().splitlines() if "model name" in line
        ]
        name = models[0] if models else name
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{name}, {cores} cores, Python {platform.python_version()}"
