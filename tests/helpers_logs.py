"""Recordings for tests, and writers of every log format that owe nothing to the readers under test."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from mcap.writer import CompressionType, Writer
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as BagWriter
from rosbags.typesys import Stores, get_typestore

from dynid.robot import Joint, JointKind, Link, Robot

TYPES = get_typestore(Stores.ROS2_HUMBLE)
JOINT_STATE = "sensor_msgs/msg/JointState"
TOPIC = "/joint_states"


def robot_of(
    *names: str, kinds: Sequence[JointKind] | None = None, transmission: np.ndarray | None = None
) -> Robot:
    """A robot whose joints have these names; readers need nothing else of it."""
    joints = [
        Joint(name=name, kind=kind, parent=number - 1)
        for number, (name, kind) in enumerate(zip(names, kinds or ["revolute"] * len(names), strict=True))
    ]
    return Robot(
        name="arm",
        joints=tuple(joints),
        links=tuple(Link(name=f"link of {name}") for name in names),
        transmission=transmission,
    )


@dataclass(frozen=True, kw_only=True)
class Recording:
    """What a driver saw: stamps (N,) and channels (N, n) in the order of `names`."""

    names: tuple[str, ...]
    stamp_ns: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray
    extra: dict[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.stamp_ns)

    def shuffled(self, order: Sequence[int]) -> Recording:
        """The same recording by a driver that publishes its joints in another order."""
        return replace(
            self,
            names=tuple(self.names[j] for j in order),
            position=self.position[:, order],
            velocity=self.velocity[:, order],
            effort=self.effort[:, order],
        )

    def columns(self) -> dict[str, np.ndarray]:
        channels = {"position": self.position, "velocity": self.velocity, "effort": self.effort}
        channels |= {f"extra.{name}": values for name, values in self.extra.items()}
        return {"stamp_ns": self.stamp_ns} | {
            f"{joint}.{quantity}": values[:, j]
            for quantity, values in channels.items()
            for j, joint in enumerate(self.names)
        }


def recording(*names: str, samples: int = 50, seed: int = 0) -> Recording:
    """Random channels over every order of magnitude a double can print, with stamps no double can hold."""
    rng = np.random.default_rng(seed)

    def channels() -> np.ndarray:
        sizes = 10.0 ** rng.integers(-12, 5, size=(samples, len(names)))
        return rng.standard_normal((samples, len(names))) * sizes

    stamps = 1_700_000_000_123_456_789 + np.cumsum(rng.integers(999_001, 1_001_000, size=samples))
    stamps += 1 - stamps % 2  # odd numbers beyond 2**53: a float64 on the way would be seen
    return Recording(
        names=names, stamp_ns=stamps, position=channels(), velocity=channels(), effort=channels()
    )


# --- tables -------------------------------------------------------------------------------------


def text_of(columns: dict[str, np.ndarray], delimiter: str = ",", end: str = "\n") -> str:
    """A header and one line per row; `repr` gives the shortest digits that bring a double back."""
    lines = [delimiter.join(columns)]
    lines += [delimiter.join(repr(cell) for cell in row) for row in zip(*lists(columns), strict=True)]
    return end.join(lines) + end


def lists(columns: dict[str, np.ndarray]) -> list[list[Any]]:
    return [np.asarray(column).tolist() for column in columns.values()]


def write_csv(what: Recording, directory: Path) -> Path:
    path = directory / "log.csv"
    path.write_text(text_of(what.columns()), encoding="utf-8")
    return path


def write_parquet(what: Recording, directory: Path) -> Path:
    path = directory / "log.parquet"
    pq.write_table(pa.table(what.columns()), path, row_group_size=17)
    return path


def write_npz(what: Recording, directory: Path) -> Path:
    path = directory / "log.npz"
    arrays = {
        "joint_names": np.array(what.names),
        "stamp_ns": what.stamp_ns,
        "position": what.position,
        "velocity": what.velocity,
        "effort": what.effort,
    }
    np.savez_compressed(path, **arrays, **{f"extra.{name}": values for name, values in what.extra.items()})
    return path


# --- bags ---------------------------------------------------------------------------------------


def joint_state(
    stamp_ns: int,
    names: Sequence[str],
    position: np.ndarray,
    velocity: np.ndarray | None = None,
    effort: np.ndarray | None = None,
    *,
    frame: str = "base",
    little_endian: bool = True,
) -> bytes:
    """A message in CDR, serialised by rosbags."""
    types = TYPES.types
    stamp = types["builtin_interfaces/msg/Time"](sec=stamp_ns // 10**9, nanosec=stamp_ns % 10**9)
    message = types[JOINT_STATE](
        header=types["std_msgs/msg/Header"](stamp=stamp, frame_id=frame),
        name=list(names),
        position=np.array(position, dtype=np.float64),
        velocity=np.array([] if velocity is None else velocity, dtype=np.float64),
        effort=np.array([] if effort is None else effort, dtype=np.float64),
    )
    return bytes(TYPES.serialize_cdr(message, JOINT_STATE, little_endian=little_endian))


def messages(what: Recording) -> list[bytes]:
    rows = zip(what.stamp_ns.tolist(), what.position, what.velocity, what.effort, strict=True)
    return [joint_state(stamp, what.names, *channels) for stamp, *channels in rows]


def mcap_of(
    path: Path,
    topics: dict[str, list[bytes]],
    *,
    log_times: Sequence[int] | None = None,
    kind: str = JOINT_STATE,
    encoding: str = "cdr",
    **options: Any,
) -> Path:
    """An MCAP file whose topics take turns; message k is logged at 10 ms * k unless `log_times` says when."""
    with path.open("wb") as file:
        writer = Writer(file, **options)
        writer.start(profile="ros2", library="tests")
        schema = writer.register_schema(kind, "ros2msg", b"")
        channels = {topic: writer.register_channel(topic, encoding, schema) for topic in topics}
        for k in range(max(map(len, topics.values()))):
            for topic, sent in topics.items():
                if k < len(sent):
                    time = 10_000_000 * k if log_times is None else log_times[k]
                    writer.add_message(channels[topic], time, sent[k], time)
        writer.finish()
    return path


def write_mcap(what: Recording, directory: Path, **options: Any) -> Path:
    return mcap_of(directory / "log.mcap", {TOPIC: messages(what)}, **options)


def write_mcap_plain(what: Recording, directory: Path) -> Path:
    return write_mcap(what, directory, use_chunking=False)


def write_mcap_lz4(what: Recording, directory: Path) -> Path:
    return write_mcap(what, directory, compression=CompressionType.LZ4, chunk_size=2000)


def bag_of(path: Path, sent: Sequence[bytes], storage: StoragePlugin) -> Path:
    """A rosbag2 directory as rosbags writes it; elsewhere first, as its SQLite cannot write to '#' or '?'."""
    with TemporaryDirectory() as plain:
        with BagWriter(Path(plain) / path.name, version=9, storage_plugin=storage) as writer:
            connection = writer.add_connection(TOPIC, JOINT_STATE, typestore=TYPES)
            for k, data in enumerate(sent):
                writer.write(connection, 10_000_000 * k, data)
        shutil.move(Path(plain) / path.name, path)
    return path


def write_bag_sqlite(what: Recording, directory: Path) -> Path:
    return bag_of(directory / "bag", messages(what), StoragePlugin.SQLITE3)


def write_bag_mcap(what: Recording, directory: Path) -> Path:
    return bag_of(directory / "bag", messages(what), StoragePlugin.MCAP)


Write = Callable[[Recording, Path], Path]

TABLES: dict[str, Write] = {"csv": write_csv, "parquet": write_parquet, "npz": write_npz}
BAGS: dict[str, Write] = {
    "mcap": write_mcap,
    "mcap, no chunks": write_mcap_plain,
    "mcap, lz4": write_mcap_lz4,
    "rosbag2, sqlite": write_bag_sqlite,
    "rosbag2, mcap": write_bag_mcap,
}
WRITERS = TABLES | BAGS
