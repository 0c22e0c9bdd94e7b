"""Logs as NumPy archives: `time` or `stamp_ns` (N,), and `position`, `velocity`, `effort` (N, n).

`joint_names` (n,) says which joint a column is; without it the columns are the robot's joints in order.
`extra.<name>` (N, n) is a further regressor column. Nothing is ever unpickled.
"""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from dynid.errors import quote
from dynid.log.columns import STAMP, TIME
from dynid.log.log import LogError
from dynid.log.rows import rows_of
from dynid.log.table import Block, Note, Table

JOINT_NAMES = "joint_names"
_CLOCKS = (TIME, STAMP)
_QUANTITIES = ("position", "velocity", "effort")
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError)


@dataclass(frozen=True, eq=False)
class _Array:
    """An array of the archive, as its header describes it."""

    name: str
    shape: tuple[int, ...]
    by_columns: bool
    dtype: np.dtype[Any]

    @property
    def width(self) -> int:
        return math.prod(self.shape[1:])


def open_npz(path: Path, robot_joints: Sequence[str]) -> Table:
    """The table of an archive, with a column `<joint>.<quantity>` for every column of its arrays."""
    source = str(path)
    try:
        with zipfile.ZipFile(path) as archive:
            arrays = {name: _header(archive, name) for name in _array_names(archive, source)}
            joints = _joint_names(archive, arrays)
    except _DAMAGED as error:
        raise _damaged(source, error) from error
    notes = () if joints or not arrays else (Note("no joint_names: columns are the robot's joints in order"),)
    columns = _columns(arrays, joints or robot_joints, source)

    def blocks(names: Sequence[str], rows: int) -> Iterator[Block]:
        used = list(dict.fromkeys(columns[name][0] for name in names))
        _check(used, arrays, source)
        first = 1
        try:
            with zipfile.ZipFile(path) as archive:
                for parts in zip(*(_windows(archive, arrays[name], rows) for name in used), strict=True):
                    part = dict(zip(used, parts, strict=True))
                    count = len(parts[0])
                    picked = {name: part[columns[name][0]][:, columns[name][1]] for name in names}
                    yield Block(rows=rows_of(first, count), columns=picked)
                    first += count
        except _DAMAGED as error:
            raise _damaged(source, error) from error

    return Table(source=source, names=tuple(columns), row_word="row", blocks=blocks, notes=notes)


def _damaged(source: str, error: Exception) -> LogError:
    return LogError(f"{source}: not a whole NPZ archive of numbers ({quote(error, 160)})")


def _array_names(archive: zipfile.ZipFile, source: str) -> list[str]:
    names = [name.removesuffix(".npy") for name in archive.namelist()]
    for name in names:
        if names.count(name) > 1:
            raise LogError(f"{source}: array {quote(name)} occurs {names.count(name)} times")
    return names


def _open(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    return archive.open(f"{name}.npy" if f"{name}.npy" in archive.namelist() else name)


def _header(archive: zipfile.ZipFile, name: str) -> _Array:
    with _open(archive, name) as stream:
        array = _read_header(stream, name)
        size = array.dtype.itemsize * math.prod(array.shape)
        if not array.dtype.hasobject and stream.read(1) == b"" and size:
            raise EOFError(f"{name} is empty")
        return array


def _read_header(stream: IO[bytes], name: str) -> _Array:
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_columns, dtype = read(stream)
    return _Array(name, shape, by_columns and len(shape) > 1, dtype)


def _joint_names(archive: zipfile.ZipFile, arrays: Mapping[str, _Array]) -> tuple[str, ...]:
    if JOINT_NAMES not in arrays:
        return ()
    with _open(archive, JOINT_NAMES) as stream:
        return tuple(str(name) for name in npy.read_array(stream, allow_pickle=False).ravel())


def _columns(arrays: Mapping[str, _Array], joints: Sequence[str], source: str) -> dict[str, tuple[str, int]]:
    """Array and number of every column."""
    columns: dict[str, tuple[str, int]] = {}
    for name, array in arrays.items():
        if name in _QUANTITIES or name.startswith("extra."):
            if array.width != len(joints):
                raise LogError(
                    f"{source}: {name} has {array.width} columns for {len(joints)} joints "
                    f"({', '.join(joints)}); the array {JOINT_NAMES!r} may name other joints"
                )
            columns.update({f"{joint}.{name}": (name, j) for j, joint in enumerate(joints)})
        elif name != JOINT_NAMES:
            columns[name] = (name, 0)
    return columns


def _check(names: Sequence[str], arrays: Mapping[str, _Array], source: str) -> None:
    """Arrays must be numbers, and go together."""
    clock = arrays[names[0]]
    for name in names:
        array = arrays[name]
        if array.dtype.kind not in ("iu" if name == STAMP else "fiu"):
            wanted = "int64 nanoseconds" if name == STAMP else "numbers"
            raise LogError(f"{source}: {name} holds {array.dtype}; {wanted} were expected")
        if len(array.shape) not in ((1,) if name in _CLOCKS else (1, 2)) or array.shape[:1] != clock.shape:
            raise LogError(
                f"{source}: {name} has shape {array.shape}, {clock.name} has shape {clock.shape}; "
                "(N, n) and (N,) were expected"
            )


def _windows(archive: zipfile.ZipFile, array: _Array, rows: int) -> Iterator[NDArray[Any]]:
    """The array's rows in order, (up to `rows`, width); one stored by columns is loaded as a whole."""
    with _open(archive, array.name) as stream:
        if array.by_columns:
            whole = npy.read_array(stream, allow_pickle=False)
            for first in range(0, len(whole), rows):
                yield whole[first : first + rows]
            return
        _read_header(stream, array.name)
        row_bytes = array.dtype.itemsize * array.width
        for first in range(0, array.shape[0], rows):
            count = min(rows, array.shape[0] - first)
            data = stream.read(count * row_bytes)
            if len(data) != count * row_bytes:
                raise EOFError(f"{array.name} ends in row {first + len(data) // row_bytes + 1}")
            yield np.frombuffer(data, array.dtype).reshape(count, array.width)
        if stream.read(1):  # reading to the end also makes zipfile compare its checksum
            raise ValueError(f"{array.name} is longer than its header says")
