"""From a block of named columns to arrays in the robot's order, with every row left out accounted for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dynid.errors import quote
from dynid.log.columns import STAMP, Channels, Layout
from dynid.log.log import LogError, Stamps
from dynid.log.meaning import Meaning
from dynid.log.table import NO_STAMP, Block, Column, Note, Rows, Table, merged
from dynid.spatial import Array

Mask = NDArray[np.bool_]
Numbers = TypeVar("Numbers", bound=NDArray[Any])

# Nothing on an arm measures this much in SI units, degrees or encoder counts: such a number is corrupt.
LARGEST = 1e12
LATEST = 9.2e9  # s: what an int64 of nanoseconds can hold
COARSE = 1e-8  # s: where a clock in floating-point seconds is worth a remark
DROPPED = "rows left out, time or position not finite"


@dataclass(frozen=True, eq=False, kw_only=True)
class Piece:
    """Consecutive samples of a log; arrays as in `Log`."""

    stamp_ns: Stamps
    position: Array
    velocity: Array | None
    effort: Array | None
    extra: Mapping[str, Array]
    left_out: int
    notes: tuple[Note, ...]

    def __len__(self) -> int:
        return len(self.stamp_ns)


def joined(pieces: Sequence[Piece]) -> Piece:
    """One piece made of several; all have the same quantities."""
    first = pieces[0]
    if len(pieces) == 1:
        return first

    def whole(field: Callable[[Piece], Array | None]) -> Array | None:
        parts = [part for piece in pieces if (part := field(piece)) is not None]
        return np.concatenate(parts) if parts else None

    return Piece(
        stamp_ns=np.concatenate([piece.stamp_ns for piece in pieces]),
        position=np.concatenate([piece.position for piece in pieces]),
        velocity=whole(lambda piece: piece.velocity),
        effort=whole(lambda piece: piece.effort),
        extra={name: np.concatenate([piece.extra[name] for piece in pieces]) for name in first.extra},
        left_out=sum(piece.left_out for piece in pieces),
        notes=merged(note for piece in pieces for note in piece.notes),
    )


def pieces(table: Table, layout: Layout, meaning: Meaning, rows: int, start: int = 0) -> Iterator[Piece]:
    """The samples of a table, piece by piece, none of them empty; ends in an error if too few are left.

    It begins at row `start`, one of the table's `starts`. One piece is held back, so that what is only known
    at the end (a file cut short) comes with the last.
    """
    kept = left_out = 0
    held: Piece | None = None
    for block in table.read(layout.columns, rows, start):
        piece = _piece(block, table, layout, meaning)
        kept += len(piece)
        left_out += piece.left_out
        if held is None or not len(held) or not len(piece):
            held = piece if held is None else joined((held, piece))
        else:
            yield held
            held = piece
    if held is None or kept < 2 or left_out > kept:
        raise _too_few(table, kept, left_out, held.notes if held is not None else ())
    yield held


def _too_few(table: Table, kept: int, left_out: int, notes: Sequence[Note]) -> LogError:
    why = "; ".join(str(note) for note in notes)
    if left_out > kept:
        return table.error(f"{left_out} of {kept + left_out} rows cannot be used ({why})")
    return table.error(f"{kept or 'no'} sample{'s' * (kept != 1)}: a log needs at least two")


def _piece(block: Block, table: Table, layout: Layout, meaning: Meaning) -> Piece:
    """The samples of a block; rows without a finite time or position are left out."""
    stamp_ns, timed, clock_notes = _stamps(block, table, layout.clock)
    position, finite = _stack(block, table, layout.position, "position")
    keep = timed & finite.all(axis=1)
    notes = [*block.notes, *clock_notes]
    if not keep.all():
        at = int(np.argmin(keep))
        bad = layout.position[int(np.argmin(finite[at]))] if timed[at] else layout.clock
        notes.append(Note(DROPPED, int(np.sum(~keep)), table.place(int(block.rows[at]), bad)))
        columns = {name: column[keep] for name, column in block.columns.items()}
        block = replace(block, rows=block.rows[keep], columns=columns)
        stamp_ns, position = stamp_ns[keep], position[keep]

    def channels(columns: Channels | None, quantity: str, absent: float) -> Array | None:
        if columns is None:
            return None
        values, finite = _stack(block, table, columns, quantity, absent)
        if not finite.all():
            values[~finite] = np.nan
            notes.extend(_missing(block, table, columns, quantity, finite))
        return values

    velocity = channels(layout.velocity, "velocity", np.nan)
    effort = channels(layout.effort, "effort", np.nan)
    extra = {name: channels(columns, name, 0.0) for name, columns in layout.extra.items()}
    return Piece(
        stamp_ns=stamp_ns,
        position=meaning.motion(position),
        velocity=None if velocity is None else meaning.motion(velocity),
        effort=None if effort is None else meaning.effort(effort),
        extra={name: values for name, values in extra.items() if values is not None},
        left_out=len(keep) - len(stamp_ns),
        notes=tuple(notes),
    )


def _stack(
    block: Block, table: Table, columns: Channels, quantity: str, absent: float = np.nan
) -> tuple[Array, Mask]:
    """Columns side by side, (N, n), and where they are finite; a column the log has not is `absent`.

    Numbers too large to be measurements are an error: a file that holds one cannot be trusted.
    """
    values = np.empty((len(block.rows), len(columns)))
    for j, name in enumerate(columns):
        values[:, j] = absent if name is None else block.columns[name]
    sound = np.abs(values) <= LARGEST
    if sound.all():
        return values, sound
    finite = np.isfinite(values)
    garbage = np.argwhere(finite & ~sound)
    if len(garbage):
        i, j = map(int, garbage[0])
        place = table.place(int(block.rows[i]), columns[j] or quantity)
        raise table.error(f"{place}: {values[i, j]:.6g} cannot be a measured {quantity}; the file is damaged")
    return values, finite


def _missing(block: Block, table: Table, columns: Channels, quantity: str, finite: Mask) -> Iterator[Note]:
    """A note per channel that has gaps; channels the log has not are noted elsewhere."""
    for j, name in enumerate(columns):
        gaps = np.flatnonzero(~finite[:, j])
        if name is not None and len(gaps):
            place = table.place(int(block.rows[gaps[0]]))
            yield Note(f"{quantity} not finite in column {quote(name)}", len(gaps), place)


def _stamps(block: Block, table: Table, clock: str) -> tuple[Stamps, Mask, list[Note]]:
    """Whole nanoseconds, which of them are there, and remarks."""
    column = block.columns[clock]
    if clock == STAMP:
        return column.astype(np.int64), column != NO_STAMP, []
    seconds = column.astype(np.float64)
    finite = np.isfinite(seconds)
    magnitude = np.abs(np.where(finite, seconds, 0.0))
    late = np.flatnonzero(magnitude > LATEST)
    if len(late):
        raise table.error(
            f"{table.place(int(block.rows[late[0]]), clock)}: {seconds[late[0]]:.6g} cannot be a time in "
            f"seconds; whole nanoseconds belong in a column {STAMP!r}"
        )
    stamp_ns = np.rint(np.where(finite, seconds, 0.0) * 1e9).astype(np.int64)
    return stamp_ns, finite, _resolution(column, magnitude)


def _resolution(column: Column, magnitude: Array) -> list[Note]:
    """A remark if the clock's floating-point type cannot tell nearby samples apart as it should."""
    kind = column.dtype if column.dtype.kind == "f" else np.dtype(np.float64)
    largest = np.asarray(magnitude.max(initial=0.0), dtype=kind)
    if np.spacing(largest) <= COARSE:
        return []
    return [Note(f"times stored as {kind.name} seconds are coarser than 10 ns; a column {STAMP!r} is exact")]


def rows_of(first: int, count: int) -> Rows:
    """Consecutive row numbers."""
    return np.arange(first, first + count, dtype=np.int64)


def read_only(array: Numbers) -> Numbers:
    array.setflags(write=False)
    return array
