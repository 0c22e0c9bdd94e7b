"""Logs of any length as one reduction, a part after the other, in memory that does not grow.

All choices have been made by then, on an excerpt. Every log comes to a reduction of its own, and only these
are added, so it makes no difference whether one process reads all logs, many read one each, or a run goes on
where another was killed: the same sums of the same parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dynid.errors import ArgumentError
from dynid.fit.delay import advanced
from dynid.fit.reduction import Reduction, total
from dynid.fit.system import System, Terms, system_of
from dynid.log.log import Log
from dynid.log.long import LongLog, gathered
from dynid.log.prepare import prepare
from dynid.log.samples import Samples
from dynid.log.table import Note, merged
from dynid.robot import Robot

Reducer = Callable[[System, Samples], Reduction]


@dataclass(frozen=True, eq=False, kw_only=True)
class Recipe:
    """How every part of a log becomes a reduction."""

    robot: Robot
    terms: Terms
    preparing: Mapping[str, Any]  # options of `prepare`
    delay: float  # s, to be taken out
    reducer: Reducer

    def system(self) -> System:
        return system_of(self.robot, self.terms)


@dataclass(frozen=True, eq=False)
class Progress:
    """What a log has come to by now."""

    reduction: Reduction | None = None  # None before there is anything to add
    parts: int = 0
    rows: int = 0  # of the log
    samples: int = 0
    notes: tuple[Note, ...] = ()
    finished: bool = False


def progress(recipe: Recipe, system: System, log: LongLog, begin: Progress | None) -> Iterator[Progress]:
    """How a log's reduction grows, part by part, from where it has got to."""
    state = begin or Progress()
    for number, part in enumerate(log.parts()):
        if number >= state.parts:
            state = _absorbed(recipe, system, state, part)
            yield state
    yield replace(state, finished=True)


def _absorbed(recipe: Recipe, system: System, state: Progress, part: Log) -> Progress:
    """The next part taken in; one of which nothing can be used is noted."""
    seen = replace(state, parts=state.parts + 1, rows=state.rows + len(part) + part.left_out)
    try:
        samples = system.remembering(prepare(part, recipe.robot, **recipe.preparing))
    except ArgumentError as problem:
        text = str(problem).removeprefix(f"{part.provenance.source}: ")
        note = Note("parts left out", 1, f"part {seen.parts}: {text}")
        return replace(seen, notes=merged((*state.notes, note)))
    if recipe.delay:
        samples = advanced(samples, recipe.delay)
    of_part, before = recipe.reducer(system, samples), state.reduction
    return replace(
        seen,
        reduction=of_part if before is None else before + of_part,
        samples=state.samples + len(samples.time),
        notes=gathered(state.notes, samples.notes),
    )


def together(found: Sequence[Progress]) -> Progress:
    """All logs as one."""
    reductions = [one.reduction for one in found if one.reduction is not None]
    return Progress(
        total(reductions) if reductions else None,
        sum(one.parts for one in found),
        sum(one.rows for one in found),
        sum(one.samples for one in found),
        merged(note for one in found for note in one.notes),
        all(one.finished for one in found),
    )
