"""What every reader hands over: a recording as named columns, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.log.log import LogError

Column = NDArray[Any]  # (N,) of float64, or of int64 where the column holds stamps
Rows = NDArray[np.int64]

NO_STAMP = int(np.iinfo(np.int64).min)  # an int64 has no NaN: a missing stamp is this, as in NumPy's NaT


class CutShort(Exception):  # noqa: N818 - it ends a reading that went well so far, as StopIteration does
    """The rest of a recording is missing or unreadable; raised when all that can be had was handed out."""


@dataclass(frozen=True)
class Note:
    """Something a user should know about how a log was read; notes of the same text add up."""

    text: str
    count: int = 0  # 0: a remark that needs no count
    first: str = ""  # where it was first met

    def __str__(self) -> str:
        counted = f"{self.text}: {self.count}" if self.count else self.text
        return f"{counted} (first: {self.first})" if self.first else counted


def merged(notes: Iterable[Note]) -> tuple[Note, ...]:
    """One note per text, in order of appearance, counts summed, the first place kept."""
    sums: dict[str, Note] = {}
    for note in notes:
        known = sums.get(note.text)
        sums[note.text] = note if known is None else Note(note.text, known.count + note.count, known.first)
    return tuple(sums.values())


@dataclass(frozen=True, eq=False)
class Block:
    """Some consecutive rows; `rows` (N,) are their places in the file as a user would count them, from 1."""

    rows: Rows
    columns: Mapping[str, Column]
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Table:
    """A recording as named columns, not yet read.

    `names` are the file's, duplicates included. `blocks(names, rows)` reads it from the start: blocks of at
    most `rows` rows with the columns asked for, in memory that does not grow with the file. Where a format
    can begin elsewhere, `blocks_from(names, rows, start)` does, at one of `starts`.
    """

    source: str  # the path as given
    names: tuple[str, ...]
    row_word: str  # what one row is called in messages: "line", "row", "message"
    blocks: Callable[[Sequence[str], int], Iterator[Block]]
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # for the provenance
    notes: tuple[Note, ...] = ()
    count: int | None = None  # of rows, where the head of the file says it
    starts: Sequence[int] = (0,)  # rows, the first being 0
    blocks_from: Callable[[Sequence[str], int, int], Iterator[Block]] | None = None

    def read(self, names: Sequence[str], rows: int, start: int = 0) -> Iterator[Block]:
        """Blocks from row `start` on, one of `starts`."""
        if start == 0 or self.blocks_from is None:
            return self.blocks(names, rows)
        return self.blocks_from(names, rows, start)

    def place(self, row: int, column: str = "") -> str:
        """Where a value is, for messages that name the file already."""
        return f"{self.row_word} {row}, column {column!r}" if column else f"{self.row_word} {row}"

    def error(self, message: str) -> LogError:
        return LogError(f"{self.source}: {message}")
