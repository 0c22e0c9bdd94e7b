"""Logs as Parquet tables, with the columns of a CSV log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from dynid.errors import MissingExtraError, quote
from dynid.log.columns import STAMP, TIME
from dynid.log.log import LogError
from dynid.log.rows import rows_of
from dynid.log.table import NO_STAMP, Block, Column, Table

# Pages are read through a buffer of this size: a row group may be the whole file, and is never loaded whole.
_BUFFER = 1 << 18


def open_parquet(path: Path) -> Table:
    """The table of a Parquet file."""
    arrow, parquet = _arrow()
    source = str(path)
    damaged = (arrow.ArrowException, OSError, UnicodeDecodeError)

    def opened() -> Any:
        return parquet.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)

    try:
        with opened() as file:
            schema, metadata = file.schema_arrow, file.metadata
            sizes = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
    except damaged as error:
        raise _damaged(source, error) from error
    # A `time` column of dates, as pandas writes it, is one of stamps.
    has_dates = TIME in schema.names and arrow.types.is_timestamp(schema.field(TIME).type)
    names = tuple(STAMP if has_dates and name == TIME else str(name) for name in schema.names)
    field_of = dict(zip(names, schema, strict=True))

    starts = [0, *np.cumsum(sizes).tolist()][:-1]

    def blocks(names: Sequence[str], rows: int, start: int = 0) -> Iterator[Block]:
        for name in names:
            _check_type(arrow, source, field_of[name], stamp=name == STAMP)
        first = 1 + start
        groups = [group for group, row in enumerate(starts) if row >= start]
        try:
            with opened() as file:
                fields = [field_of[name].name for name in names]
                for batch in file.iter_batches(rows, row_groups=groups, columns=fields, use_threads=False):
                    columns = {
                        name: _column(arrow, batch.column(field_of[name].name), stamp=name == STAMP)
                        for name in names
                    }
                    yield Block(rows=rows_of(first, batch.num_rows), columns=columns)
                    first += batch.num_rows
        except damaged as error:
            raise _damaged(source, error, first) from error

    return Table(
        source=source,
        names=names,
        row_word="row",
        blocks=blocks,
        count=sum(sizes),
        starts=starts or [0],
        blocks_from=blocks,
    )


def _arrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingExtraError("reading Parquet", "pyarrow", "tables") from error


def _check_type(arrow: Any, source: str, field: Any, *, stamp: bool) -> None:
    kinds, kind = arrow.types, field.type
    if stamp and not (kinds.is_integer(kind) or kinds.is_timestamp(kind)):
        raise LogError(f"{source}: column {quote(field.name)} holds {kind}; stamps are int64 nanoseconds")
    if not stamp and not (kinds.is_integer(kind) or kinds.is_floating(kind)):
        raise LogError(f"{source}: column {quote(field.name)} holds {kind}; numbers were expected")


def _column(arrow: Any, values: Any, *, stamp: bool) -> Column:
    """One column of a batch as NumPy array; missing values are NaN or `NO_STAMP`."""
    if not stamp:
        return values.to_numpy(zero_copy_only=False)
    if arrow.types.is_timestamp(values.type):
        values = values.cast(arrow.timestamp("ns", values.type.tz))
    return np.asarray(values.cast(arrow.int64()).fill_null(NO_STAMP), dtype=np.int64)


def _damaged(source: str, error: Exception, row: int = 0) -> LogError:
    where = f"row {row} or after: " if row else ""
    return LogError(f"{source}: {where}not a whole Parquet file ({quote(error, 160)})")
