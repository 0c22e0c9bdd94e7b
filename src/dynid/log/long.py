"""Logs too long to be loaded: sequences of parts, each of which is a log of its own.

A part is cleaned, filtered and cut at its ends like any log, so that whatever fits several logs together fits
one of any length; what its ends cost is a second or so in many minutes. Choices are made on an excerpt: some
of the parts, spread over the log as far as its format allows, and always the same ones.
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any

from dynid.errors import ArgumentError
from dynid.log.bags import bag_files
from dynid.log.clean import clean
from dynid.log.log import Log, Provenance
from dynid.log.read import Recording, open_log
from dynid.log.table import Note, merged
from dynid.robot import Robot

LONGEST_LOADED = 1 << 20  # rows of all logs together
PART_ROWS = 1 << 16
EXCERPT_PARTS, EXCERPT_ROWS = 4, 1 << 15  # of all logs together, and of each part
BYTES_PER_ROW = 200  # of files that do not say how many rows they have

Path = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class LongLog:
    """A log that is read a part at a time, or as one part if it is not long after all."""

    recording: Recording
    long: bool = True

    @property
    def provenance(self) -> Provenance:
        return self.recording.provenance

    @property
    def rows(self) -> int:
        """How many there are, or about how many."""
        if self.recording.table.count is not None:
            return self.recording.table.count
        files = bag_files(pathlib.Path(self.provenance.source))
        return sum(file.stat().st_size for file in files) // BYTES_PER_ROW

    def parts(self) -> Iterator[Log]:
        """All of it, in order."""
        return self.recording.logs(PART_ROWS) if self.long else iter([self.recording.whole()])

    def excerpt(self, parts: int) -> list[Log]:
        """So many pieces, evenly spread where reading can begin anywhere, or else from the start on."""
        starts = self._starts(parts)
        found: list[Log] = []
        for start, end in pairwise([*starts, max(self.rows, starts[-1] + 1)]):
            count = min(-(-parts // len(starts)), max((end - start) // EXCERPT_ROWS, 1))
            epoch_ns = found[0].epoch_ns if found and found[0].epoch_ns else None
            pieces = islice(self.recording.logs(EXCERPT_ROWS, start, epoch_ns), count)
            found += [_placed(piece, start + k * EXCERPT_ROWS) for k, piece in enumerate(pieces)]
        return found[:parts]

    def _starts(self, parts: int) -> list[int]:
        """Rows at which so many parts of an excerpt may begin, or fewer, none within another part."""
        chosen = [0]
        for k in range(1, parts):
            row = (self.rows - EXCERPT_ROWS) * k // (parts - 1)
            start = max((s for s in self.recording.table.starts if s <= row), default=0)
            if start >= chosen[-1] + EXCERPT_ROWS:
                chosen.append(start)
        return chosen


def _placed(piece: Log, start: int) -> Log:
    """A piece of a log that says which rows it is, beginning with this one."""
    rows = f"rows {start + 1}-{start + len(piece) + piece.left_out}"
    return replace(piece, provenance=replace(piece.provenance, source=f"{piece.provenance.source}, {rows}"))


@dataclass(frozen=True, eq=False)
class LongLogs:
    """Logs that are read in parts, as they are too long to be loaded together or as it was asked for."""

    robot: Robot
    logs: tuple[LongLog, ...]
    reading: Mapping[str, Any]  # options of `read_log`
    excerpt: Sequence[Log]  # of some of them; all of them if they are not long

    @property
    def complete(self) -> bool:
        """Whether the excerpt is all there is."""
        return not any(log.long for log in self.logs)

    def __str__(self) -> str:
        """Which share of them the excerpt is."""
        total = sum(log.rows for log in self.logs)
        seen = sum(len(piece) + piece.left_out for piece in self.excerpt)
        return f"{seen} of {total} rows, in {len(self.excerpt)} pieces"


def read_logs(
    robot: Robot, paths: Sequence[Path], reading: Mapping[str, Any], *, in_parts: bool = False
) -> list[Log] | LongLogs:
    """The logs of these paths; in parts if they are too long to be loaded together, or if asked for."""
    recordings = [open_log(path, robot, **reading) for path in paths]
    logs = tuple(LongLog(recording) for recording in recordings)
    if sum(log.rows for log in logs) <= LONGEST_LOADED:
        whole = [recording.whole() for recording in recordings]
        short = tuple(LongLog(recording, long=False) for recording in recordings)
        return LongLogs(robot, short, reading, whole) if in_parts else whole
    count = min(len(logs), EXCERPT_PARTS)
    chosen = [logs[k * len(logs) // count] for k in range(count)]
    pieces = [piece for log in chosen for piece in log.excerpt(EXCERPT_PARTS // count)]
    return LongLogs(robot, logs, reading, [piece for piece in pieces if _of_use(piece, robot)] or pieces)


def _of_use(piece: Log, robot: Robot) -> bool:
    """Whether anything can be learned from a piece."""
    try:
        return bool(clean(piece, robot).measured.any())
    except ArgumentError:
        return False


_LEFT_OUT = re.compile(r"left out ([\d.e+]+) (s )?(.*)")


def gathered(notes: Sequence[Note], texts: Sequence[str]) -> tuple[Note, ...]:
    """Notes of parts, in which numbers add up."""
    more: list[Note] = []
    for text in texts:
        match = _LEFT_OUT.fullmatch(text)
        unit = "seconds " if match and match[2] else ""
        more.append(Note(f"left out: {unit}{match[3]}", round(float(match[1]))) if match else Note(text))
    return merged((*notes, *more))
