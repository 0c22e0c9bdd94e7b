"""The problem that logs too long to be loaded pose: the reduction of them all, and an excerpt to look at."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from dynid.errors import ArgumentError
from dynid.fit.energy import reduce_energy, reduce_power
from dynid.fit.methods import Problem
from dynid.fit.momentum import reduce_momentum
from dynid.fit.options import Options
from dynid.fit.reduction import reduce
from dynid.fit.state import State
from dynid.fit.whole import Progress, Recipe, Reducer, progress, together
from dynid.log.long import LongLogs

# By method: of the others each looks at all samples more than once.
REDUCERS: Mapping[str, Reducer] = MappingProxyType(
    {
        "wls": reduce,
        "ols": reduce,
        "energy": reduce_energy,
        "power": reduce_power,
        "momentum": reduce_momentum,
    }
)

SELDOM_S = 2.0  # between two words on how far the work has got

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Work:
    """How the work on long logs is done; nothing of it changes a number."""

    state: str | os.PathLike[str] | None = None  # file from which a killed run goes on
    dask: str | None = None  # address of a cluster


def check_method(method: str) -> None:
    """Refuse a method that cannot do with one look at every sample."""
    if method not in REDUCERS:
        raise ArgumentError(
            f"the method {method!r} looks at all samples more than once, so it needs logs that can be "
            f"loaded, and neither --state nor --dask; methods for long logs: {', '.join(REDUCERS)}"
        )


def whole_problem(
    logs: LongLogs, excerpt: Problem, options: Options, chosen: Mapping[str, Any], work: Work, say: Say
) -> tuple[Problem, Mapping[str, Any], tuple[str, ...]]:
    """The problem of all samples with what was chosen on an excerpt; what to say of it, and of the logs."""
    recipe = Recipe(
        robot=excerpt.system.robot,
        terms=excerpt.system.terms,
        preparing={
            "cutoff_hz": chosen["cutoff_hz"],
            "derivative": options.derivative,
            "velocity": options.velocity,
            "standstill_speed": options.standstill_speed,
            "exclude": options.exclude,
        },
        delay=chosen["delay_s"],
        reducer=REDUCERS[options.method],
    )
    found = _reduced(logs, excerpt, recipe, work, say)
    share = sum(len(one.time) for one in excerpt.logs) / found.samples
    problem = replace(excerpt, reduction=found.reduction, share=min(share, 1.0))
    return problem, {} if logs.complete else {"excerpt": str(logs)}, tuple(map(str, found.notes))


def _reduced(logs: LongLogs, excerpt: Problem, recipe: Recipe, work: Work, say: Say) -> Progress:
    """All logs as one reduction, with a state on disk if there is to be one."""
    state = None if work.state is None else State(work.state, recipe, logs.logs)
    done = {} if state is None else state.load(excerpt.system)
    if done:
        say(f"going on after {sum(one.parts for one in done.values())} parts that were reduced before")
    said = time.monotonic()
    for number, one in _steps(logs, recipe, work, excerpt, done):
        done[number] = one
        parts = sum(log.parts for log in done.values())
        saved = state is not None and state.save(done)
        if saved or time.monotonic() - said > SELDOM_S:
            said = time.monotonic()
            say(f"{parts} parts, {sum(log.rows for log in done.values())} rows{', saved' if saved else ''}")
    if state is not None:
        state.save(done, now=True)
    found = together([done[number] for number in range(len(logs.logs))])
    if found.reduction is None:
        raise ArgumentError(f"no part of the logs can be used: {'; '.join(map(str, found.notes))}")
    return found


def _steps(
    logs: LongLogs, recipe: Recipe, work: Work, excerpt: Problem, done: Mapping[int, Progress]
) -> Iterator[tuple[int, Progress]]:
    """What becomes of logs by their numbers, as it becomes known."""
    left = {k: log for k, log in enumerate(logs.logs) if k not in done or not done[k].finished}
    if work.dask is not None:
        from dynid.fit.cluster import on_cluster

        yield from on_cluster(work.dask, recipe, left, logs.reading)
        return
    for number, log in left.items():
        for one in progress(recipe, excerpt.system, log, done.get(number)):
            yield number, one
