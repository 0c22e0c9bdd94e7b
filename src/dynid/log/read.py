"""Reading a log, whole or in pieces, whatever its format."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from dynid.errors import ArgumentError
from dynid.log import columns as naming
from dynid.log.bags import SUFFIXES as BAG_SUFFIXES
from dynid.log.bags import bag_files, open_bag
from dynid.log.columns import STAMP, Layout
from dynid.log.delimited import open_delimited
from dynid.log.log import Log, LogError, Provenance
from dynid.log.meaning import EffortMeaning, Meaning, PositionSide, meaning_of
from dynid.log.npz import open_npz
from dynid.log.rows import Piece, joined, pieces, read_only
from dynid.log.table import Note, Table, merged
from dynid.robot import Robot
from dynid.spatial import Array

TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".dat")
PARQUET_SUFFIXES = (".parquet", ".pq")
NPZ_SUFFIX = ".npz"

CHUNK = 1 << 15  # samples: a few megabytes


def read_log(
    path: str | os.PathLike[str],
    robot: Robot,
    *,
    effort: EffortMeaning = "torque",
    gain: Sequence[float] | None = None,
    positions: PositionSide = "joint",
    degrees: bool = False,
    sign: Sequence[float] | None = None,
    columns: Sequence[str] | None = None,
    joints: Mapping[str, str] | None = None,
    topic: str | None = None,
) -> Log:
    """The log in `path`: text (CSV), Parquet, NPZ, MCAP, or a rosbag2 directory.

    What `effort` and `positions` of the file mean is for the caller to say, as it cannot be seen from the
    numbers: `effort` is "torque" at the joint, "motor_torque" (through the robot's transmission) or
    "current" with a `gain` in Nm/A at the joint, gear included, one per joint; `sign` (+1 or -1 per joint)
    corrects efforts that count the other way; `positions` are of the "joint" or of the "motor"; `degrees`
    says that angles are in degrees. `gain` and `sign` are in the robot's order.

    `columns` names the columns of a text file without header, "-" for one to skip; `joints` maps names of
    the log to names of the robot; `topic` chooses one of a bag's. What had to be left out is counted in
    `Log.notes`; a log that cannot be used raises `LogError` with the file and the place.
    """
    meaning = meaning_of(robot, effort=effort, gain=gain, positions=positions, degrees=degrees, sign=sign)
    return _open(path, robot, meaning, columns, joints, topic).whole()


def stream_log(
    path: str | os.PathLike[str],
    robot: Robot,
    *,
    chunk: int = CHUNK,
    effort: EffortMeaning = "torque",
    gain: Sequence[float] | None = None,
    positions: PositionSide = "joint",
    degrees: bool = False,
    sign: Sequence[float] | None = None,
    columns: Sequence[str] | None = None,
    joints: Mapping[str, str] | None = None,
    topic: str | None = None,
) -> Iterator[Log]:
    """The log in pieces of about `chunk` samples, in memory that does not grow with it; see `read_log`.

    Each piece notes what was left out of it; what concerns the whole file is noted with the first piece,
    and a missing end with the last.
    """
    if chunk < 1:
        raise ArgumentError(f"chunk: at least one sample, not {chunk}")
    meaning = meaning_of(robot, effort=effort, gain=gain, positions=positions, degrees=degrees, sign=sign)
    return _open(path, robot, meaning, columns, joints, topic).logs(chunk)


def open_log(
    path: str | os.PathLike[str],
    robot: Robot,
    *,
    columns: Sequence[str] | None = None,
    joints: Mapping[str, str] | None = None,
    topic: str | None = None,
    **meaning: Any,
) -> Recording:
    """The log in `path`, opened but not read; all options are those of `read_log`."""
    return _open(path, robot, meaning_of(robot, **meaning), columns, joints, topic)


@dataclass(frozen=True, eq=False)
class Recording:
    """A log that is open for reading."""

    table: Table
    layout: Layout
    meaning: Meaning
    joint_names: tuple[str, ...]
    provenance: Provenance

    @property
    def notes(self) -> tuple[Note, ...]:
        return (*self.table.notes, *self.layout.notes, *(Note(text) for text in self.meaning.notes))

    def whole(self) -> Log:
        """All of it."""
        whole = joined(list(self._pieces(CHUNK)))
        return _without_empty_channels(self._log(whole, self.notes, int(whole.stamp_ns[0])))

    def logs(self, chunk: int, start: int = 0, first_stamp_ns: int | None = None) -> Iterator[Log]:
        """Pieces of about `chunk` samples from row `start` on, one of the table's `starts`.

        Stamps count from the first, which is to be given where reading does not begin there.
        """
        notes = self.notes if start == 0 else ()
        for piece in self._pieces(chunk, start):
            first_stamp_ns = int(piece.stamp_ns[0]) if first_stamp_ns is None else first_stamp_ns
            yield self._log(piece, notes, first_stamp_ns)
            notes = ()

    def _pieces(self, rows: int, start: int = 0) -> Iterator[Piece]:
        return pieces(self.table, self.layout, self.meaning, rows, start)

    def _log(self, piece: Piece, notes: Sequence[Note], first_stamp_ns: int) -> Log:
        return Log(
            joint_names=self.joint_names,
            stamp_ns=read_only(piece.stamp_ns),
            epoch_ns=first_stamp_ns if self.layout.clock == STAMP else 0,
            position=read_only(piece.position),
            velocity=None if piece.velocity is None else read_only(piece.velocity),
            effort=None if piece.effort is None else read_only(piece.effort),
            extra=MappingProxyType({name: read_only(values) for name, values in piece.extra.items()}),
            provenance=self.provenance,
            left_out=piece.left_out,
            notes=tuple(str(note) for note in merged((*notes, *piece.notes))),
        )


def _open(
    path: str | os.PathLike[str],
    robot: Robot,
    meaning: Meaning,
    columns: Sequence[str] | None,
    joints: Mapping[str, str] | None,
    topic: str | None,
) -> Recording:
    """A log with its columns matched to the robot's joints; nothing but its head has been read."""
    source = os.fspath(path)
    if not os.path.exists(source):
        raise LogError(f"{source}: there is no such file or directory")
    try:
        table = _table(Path(source), robot, columns, joints, topic)
        layout = naming.match(table.names, robot.joint_names, joints, table.source)
        options = {**meaning.options, **table.options}
        if joints:
            options["joints"] = ",".join(f"{log}={of_robot}" for log, of_robot in joints.items())
        provenance = Provenance(table.source, _sha256(Path(source)), MappingProxyType(options))
    except OSError as error:
        raise LogError(f"{source}: cannot be read ({error.strerror or error})") from error
    return Recording(table, layout, meaning, robot.joint_names, provenance)


def _table(
    path: Path,
    robot: Robot,
    columns: Sequence[str] | None,
    joints: Mapping[str, str] | None,
    topic: str | None,
) -> Table:
    """The table of a file, by the ending of its name; options that do not apply to it are errors."""
    suffix = path.suffix.lower()
    is_bag = path.is_dir() or suffix in BAG_SUFFIXES
    if columns is not None and suffix not in TEXT_SUFFIXES:
        raise ArgumentError(f"{path}: columns can be named for text files only ({', '.join(TEXT_SUFFIXES)})")
    if topic is not None and not is_bag:
        raise ArgumentError(f"{path}: only bags have topics ({', '.join(BAG_SUFFIXES)} or a directory)")
    if is_bag:
        return open_bag(path, frozenset(naming.log_names(robot.joint_names, joints).values()), topic)
    if suffix in TEXT_SUFFIXES:
        return open_delimited(path, columns)
    if suffix == NPZ_SUFFIX:
        return open_npz(path, robot.joint_names)
    if suffix in PARQUET_SUFFIXES:
        from dynid.log.parquet import open_parquet

        return open_parquet(path)
    known = (*TEXT_SUFFIXES, *PARQUET_SUFFIXES, NPZ_SUFFIX, *BAG_SUFFIXES)
    raise LogError(
        f"{path}: unknown kind of log; the name of one ends in {', '.join(known)}, or is a directory"
    )


def _sha256(path: Path) -> str:
    """Of the file's bytes; of a bag's directory: of its storage files one after the other."""
    digest = hashlib.sha256()
    for file in bag_files(path):
        with file.open("rb") as stream:
            while piece := stream.read(1 << 20):
                digest.update(piece)
    return digest.hexdigest()


def _without_empty_channels(log: Log) -> Log:
    """The log without velocities or efforts that are missing in every sample and joint, as if never there."""
    notes = list(log.notes)

    def unless_empty(values: Array | None, quantity: str) -> Array | None:
        if values is None or not np.isnan(values).all():
            return values
        notes.append(f"{quantity} is missing in every sample: the log counts as one without")
        return None

    velocity, effort = unless_empty(log.velocity, "velocity"), unless_empty(log.effort, "effort")
    return replace(log, velocity=velocity, effort=effort, notes=tuple(notes))
