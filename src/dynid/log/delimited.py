"""Logs as text: comma, semicolon, tab or blanks between the fields, with a header or with given names.

Sound chunks of lines go through NumPy's parser; a chunk that it refuses is read again field by field,
which either finds the fields that are merely empty or names the line and column of what is wrong.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

import numpy as np

from dynid.errors import quote
from dynid.log.columns import STAMP, TIME
from dynid.log.log import LogError
from dynid.log.rows import rows_of
from dynid.log.table import NO_STAMP, Block, Column, Note, Rows, Table

SKIPPED = ("", "-")  # names of columns to skip in a list of names
_BOM = b"\xef\xbb\xbf"
_LONGEST_LINE = 1 << 20  # bytes; a longer first line is no table of text


@dataclass(frozen=True, eq=False, kw_only=True)
class _Text:
    """What the first lines of a file say about the rest."""

    source: str
    delimiter: str | None  # None: runs of blanks
    names: tuple[str, ...]
    start: int  # offset in bytes of the first line of data
    lines_before: int
    notes: tuple[Note, ...] = ()

    def fields(self, line: bytes, number: int) -> list[str]:
        return _fields(line, self.delimiter, f"{self.source}: line {number}")

    def has_all_fields(self, line: bytes) -> bool:
        """Whether a line without quotes has one field per name."""
        if self.delimiter is None:
            return len(line.split()) == len(self.names)
        return line.count(self.delimiter.encode()) == len(self.names) - 1


def open_delimited(path: Path, columns: Sequence[str] | None) -> Table:
    """The table of a text file; `columns` names the columns of a file without header, "-" skips one."""
    source = str(path)
    with path.open("rb") as file:
        text = _read_head(file, source, columns)

    def blocks(names: Sequence[str], rows: int) -> Iterator[Block]:
        wanted = [text.names.index(name) for name in names]
        with path.open("rb") as file:
            file.seek(text.start)
            before = text.lines_before
            while lines := list(islice(file, rows)):
                yield _block(lines, before, text, wanted)
                before += len(lines)

    return Table(
        source=source,
        names=text.names,
        row_word="line",
        blocks=blocks,
        options=MappingProxyType({} if columns is None else {"columns": ",".join(columns)}),
        notes=text.notes,
    )


# --- the first lines ------------------------------------------------------------------------------


def _read_head(file: BinaryIO, source: str, columns: Sequence[str] | None) -> _Text:
    if file.read(len(_BOM)) != _BOM:
        file.seek(0)
    comment = b""
    number = start = 0
    line = b"#"
    while not _is_data(line):
        comment = line if line.lstrip().startswith(b"#") else comment
        start = file.tell()
        line = file.readline(_LONGEST_LINE)
        number += 1
        if not line:
            raise LogError(f"{source}: the file is empty, or holds nothing but comments")
    if b"\0" in line or len(line) == _LONGEST_LINE:
        raise LogError(f"{source}: line {number}: not UTF-8 text with one sample per line")
    delimiter = _delimiter(line)
    place = f"{source}: line {number}"
    first = _fields(line, delimiter, place)
    has_header = not any(_is_number(field) for field in first)
    if has_header:
        start = file.tell()
    names, notes = _names(first, has_header, columns, comment, delimiter, place)
    if has_header and not any(map(_is_data, file)):
        raise LogError(f"{source}: a header and no samples")
    return _Text(
        source=source,
        delimiter=delimiter,
        names=names,
        start=start,
        lines_before=number if has_header else number - 1,
        notes=notes,
    )


def _is_data(line: bytes) -> bool:
    """Whether a line is neither blank nor a comment."""
    return line.strip()[:1] not in (b"", b"#")


def _delimiter(line: bytes) -> str | None:
    # Names of joints may hold any mark, the name of a first column of times holds none.
    if after_time := re.match(rb"\s*(?:time|stamp_ns)([;\t,])", line):
        return after_time[1].decode()
    # A comma beside semicolons, tabs or blanks would be a decimal comma.
    return next((mark for mark in (";", "\t", ",") if mark.encode() in line), None)


def _names(
    first: Sequence[str],
    has_header: bool,
    columns: Sequence[str] | None,
    comment: bytes,
    delimiter: str | None,
    place: str,
) -> tuple[tuple[str, ...], tuple[Note, ...]]:
    """Names of the columns: those given, the header, or a header behind # as numpy.savetxt writes it."""
    if columns is not None:
        if len(columns) != len(first):
            raise LogError(f"{place}: {len(first)} columns, but {len(columns)} names are given for them")
        notes = (Note("the header is not used: names of the columns were given"),) if has_header else ()
        return tuple("" if name in SKIPPED else name for name in columns), notes
    if has_header:
        unnamed = first.count("")
        return tuple(first), (Note("columns without a name, not used", unnamed),) if unnamed else ()
    commented = _fields(comment.lstrip().lstrip(b"#"), delimiter, place)
    if len(commented) == len(first) and (TIME in commented or STAMP in commented):
        return tuple(commented), ()
    raise LogError(
        f"{place}: numbers where the header should be; name all {len(first)} columns in the order of the "
        "file (columns=, --columns): time or stamp_ns, <joint>.position, ..., and - for those to skip"
    )


def _fields(line: bytes, delimiter: str | None, place: str) -> list[str]:
    try:
        text = line.decode("utf-8").strip("\r\n")
        if delimiter is None:
            return text.split()
        fields = [*csv.reader([text], delimiter=delimiter)]
        return [field.strip() for field in fields[0]] if fields else []
    except (UnicodeDecodeError, csv.Error) as error:
        raise LogError(f"{place}: not UTF-8 text in columns ({error})") from error


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


# --- lines of numbers -----------------------------------------------------------------------------


def _block(lines: list[bytes], before: int, text: _Text, wanted: Sequence[int]) -> Block:
    rows = rows_of(before + 1, len(lines))
    data = [_is_data(line) for line in lines]
    if not all(data):
        rows = rows[np.array(data)]
        lines = [line for line, is_data in zip(lines, data, strict=True) if is_data]
    notes: tuple[Note, ...] = ()
    if text.delimiter != "," and (commas := sum(b"," in line for line in lines)):
        notes = (Note("lines with decimal commas", commas, f"line {rows[0]}"),)
        lines = [line.replace(b",", b".") for line in lines]
    columns = _parsed(lines, text, wanted)
    if columns is None:
        columns = _read_by_field(lines, rows, text, wanted)
    return Block(rows=rows, columns=columns, notes=notes)


def _parsed(lines: list[bytes], text: _Text, wanted: Sequence[int]) -> dict[str, Column] | None:
    """The wanted columns of sound lines; None if there is anything about them to look into."""
    if not lines or not all(map(text.has_all_fields, lines)):
        return None
    record = np.dtype([(f"c{k}", np.int64 if text.names[k] == STAMP else np.float64) for k in wanted])
    try:
        table = np.loadtxt(
            lines, dtype=record, delimiter=text.delimiter, usecols=wanted, comments=None, quotechar='"'
        )
    except ValueError:
        return None
    table = np.atleast_1d(table)
    return {text.names[k]: table[f"c{k}"] for k in wanted}


def _read_by_field(lines: list[bytes], rows: Rows, text: _Text, wanted: Sequence[int]) -> dict[str, Column]:
    """The same, slowly: empty fields are missing values, everything else wrong is an error with its place."""
    values: dict[str, list[float]] = {text.names[k]: [] for k in wanted}
    for line, number in zip(lines, rows.tolist(), strict=True):
        fields = text.fields(line, number)
        if len(fields) != len(text.names):
            raise LogError(
                f"{text.source}: line {number} has {len(fields)} columns, {len(text.names)} were expected"
            )
        for k in wanted:
            values[text.names[k]].append(_number(fields[k], text.names[k], f"{text.source}: line {number}"))
    return {
        name: np.array(column, dtype=np.int64 if name == STAMP else np.float64)
        for name, column in values.items()
    }


def _number(text: str, name: str, place: str) -> float:
    """A float, or an int for stamps, as NumPy's parser reads it; an empty field is a missing value."""
    stamp = name == STAMP
    if not text:
        return NO_STAMP if stamp else math.nan
    try:
        if not text.isascii() or "_" in text:  # Python's own numbers go further than files should
            raise ValueError
        value = int(text) if stamp else float(text)
    except ValueError:
        valid = "whole nanoseconds" if stamp else "a number"
        raise LogError(f"{place}, column {quote(name)}: {quote(text)} is not {valid}") from None
    if stamp and abs(value) >= 2**63:
        raise LogError(f"{place}, column {quote(name)}: {quote(text)} does not fit 64 bits")
    return value
