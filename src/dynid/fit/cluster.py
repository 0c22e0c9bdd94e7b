"""Reductions of many logs on a Dask cluster that is there already: each log is one task."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from dynid.errors import ArgumentError, DynidError, MissingExtraError, quote
from dynid.fit.whole import Progress, Recipe, progress
from dynid.log.long import LongLog
from dynid.log.read import open_log

CONNECT_S = 10.0


@dataclass(frozen=True, eq=False)
class _Task:
    """One log to be reduced, in terms that travel."""

    number: int
    recipe: Recipe
    path: str
    sha256: str
    long: bool
    reading: Mapping[str, Any]


def on_cluster(
    address: str, recipe: Recipe, logs: Mapping[int, LongLog], reading: Mapping[str, Any]
) -> Iterator[tuple[int, Progress]]:
    """Numbers of logs and what these come to, as the workers finish; workers may come, go and die.

    Workers read the files by themselves, under the same paths.
    """
    try:
        distributed = import_module("distributed")
    except ImportError as problem:
        raise MissingExtraError("a Dask cluster", "distributed", "cluster") from problem
    try:
        client = distributed.Client(address, timeout=CONNECT_S)
    except (OSError, ValueError) as problem:
        raise ArgumentError(
            f"no Dask scheduler answers at {quote(address)} ({quote(problem)}); "
            "an address is such as tcp://127.0.0.1:8786"
        ) from problem
    with client:
        tasks = [_task(number, recipe, log, reading) for number, log in logs.items()]
        futures = client.map(_reduced, tasks, pure=False)
        try:
            for future in distributed.as_completed(futures):
                yield future.result()
        except distributed.KilledWorker as problem:
            raise DynidError(f"a log has killed one worker after the other: {problem}") from problem


def _task(number: int, recipe: Recipe, log: LongLog, reading: Mapping[str, Any]) -> _Task:
    path = os.path.abspath(log.provenance.source)
    return _Task(number, recipe, path, log.provenance.sha256, log.long, dict(reading))


def _reduced(task: _Task) -> tuple[int, Progress]:
    """What a worker does."""
    recipe = task.recipe
    log = LongLog(open_log(task.path, recipe.robot, **task.reading), task.long)
    if log.provenance.sha256 != task.sha256:
        raise ArgumentError(f"{quote(task.path)}: the workers of the cluster find another file there")
    *_, last = progress(recipe, recipe.system(), log, None)
    return task.number, last
