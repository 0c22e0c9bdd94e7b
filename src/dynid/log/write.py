"""Logs to files that `read_log` reads: CSV, Parquet, or MCAP with JointState messages, told by the suffix.

Efforts are written as the log has them, on the joints. The same log gives the same bytes.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.errors import ArgumentError, MissingExtraError, choices, quote_path
from dynid.files import whole_file
from dynid.log.log import Log
from dynid.spatial import Array

TOPIC = "/joint_states"
MESSAGE = "sensor_msgs/msg/JointState"


def write_log(log: Log, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """The log in a new file; an existing one is kept unless `force` is set."""
    writer = _writer(path)
    with whole_file(path, force=force) as temporary:
        writer(log, temporary)


def check_log_path(path: str | os.PathLike[str]) -> None:
    """Raise what `write_log` would raise about this suffix, before there is anything to write."""
    _writer(path)


def _writer(path: str | os.PathLike[str]) -> Callable[[Log, Path], None]:
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS:
        raise ArgumentError(f"log {quote_path(path)}: the suffix {choices(suffix, WRITERS)}")
    return WRITERS[suffix]


# --- tables -------------------------------------------------------------------------------------


def _columns(log: Log) -> dict[str, NDArray[Any]]:
    """Columns by name: `time` where the log counts from zero, `stamp_ns` where it has stamps."""
    columns: dict[str, NDArray[Any]] = {"stamp_ns": log.stamp_ns} if log.epoch_ns else {"time": log.time}
    groups: dict[str, Array | None] = {
        "position": log.position,
        "velocity": log.velocity,
        "effort": log.effort,
        **{f"extra.{name}": values for name, values in log.extra.items()},
    }
    for group, values in groups.items():
        if values is not None:
            for k, joint in enumerate(log.joint_names):
                columns[f"{joint}.{group}"] = values[:, k]
    return columns


def _write_csv(log: Log, path: Path) -> None:
    columns = _columns(log)
    cells = [column.tolist() for column in columns.values()]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*cells, strict=True))


def _write_parquet(log: Log, path: Path) -> None:
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtraError("writing Parquet", "pyarrow", "tables") from None
    parquet.write_table(pyarrow.table(_columns(log)), path)


# --- messages -----------------------------------------------------------------------------------


def _write_mcap(log: Log, path: Path) -> None:
    try:
        from mcap.writer import Writer
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise MissingExtraError("writing MCAP", "rosbags and mcap", "bags") from None
    if log.extra:
        raise ArgumentError("JointState messages have no place for extra columns; CSV and Parquet have")
    if len(log) and int(log.stamp_ns.min()) < 0:
        raise ArgumentError("MCAP has no stamps before zero; CSV and Parquet have")
    types: Any = get_typestore(Stores.ROS2_HUMBLE)
    definition = types.generate_msgdef(MESSAGE, ros_version=2)[0]
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start(profile="ros2", library="dynid")
        schema = writer.register_schema(MESSAGE, "ros2msg", definition.encode())
        channel = writer.register_channel(TOPIC, "cdr", schema)
        for k, stamp in enumerate(log.stamp_ns.tolist()):
            payload = bytes(types.serialize_cdr(_message(types.types, log, k), MESSAGE))
            writer.add_message(channel, log_time=stamp, publish_time=stamp, sequence=k, data=payload)
        writer.finish()


def _message(types: Mapping[str, Any], log: Log, k: int) -> Any:
    """Sample k as a JointState; a quantity that the log does not have is an empty array."""
    seconds, nanoseconds = divmod(int(log.stamp_ns[k]), 1_000_000_000)
    stamp = types["builtin_interfaces/msg/Time"](sec=seconds, nanosec=nanoseconds)
    none = np.zeros(0)
    return types[MESSAGE](
        header=types["std_msgs/msg/Header"](stamp=stamp, frame_id=""),
        name=list(log.joint_names),
        position=log.position[k],
        velocity=none if log.velocity is None else log.velocity[k],
        effort=none if log.effort is None else log.effort[k],
    )


WRITERS: Mapping[str, Callable[[Log, Path], None]] = MappingProxyType(
    {".csv": _write_csv, ".parquet": _write_parquet, ".mcap": _write_mcap}
)
