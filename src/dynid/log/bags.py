"""Logs as ROS 2 bags: sensor_msgs/msg/JointState messages from MCAP or SQLite files, or directories of them.

A message's own stamp counts; where it is not set, the time of logging. Messages come in the order of the
file, and one that lacks a joint of the robot (other nodes may publish on the same topic) is left out.
A bag without its end gives what it has, and the loss is noted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, ModuleType

import numpy as np

from dynid.errors import choices, quote
from dynid.log import joint_state
from dynid.log.columns import STAMP
from dynid.log.joint_state import JointState
from dynid.log.log import LogError
from dynid.log.table import Block, CutShort, Note, Table
from dynid.spatial import Array

SUFFIXES = (".mcap", ".db3")
DEFAULT_TOPIC = "/joint_states"
QUANTITIES = ("position", "velocity", "effort")


@dataclass(frozen=True)
class Message:
    """A joint state, its number among those of the topic, and its time; `stamped` by its publisher or not."""

    number: int
    stamp_ns: int
    stamped: bool
    state: JointState


@dataclass(frozen=True)
class Bag:
    """The files of a recording, in order, and the topic to read from them."""

    source: str
    files: tuple[Path, ...]
    topic: str

    def messages(self) -> Iterator[Message | Note]:
        """All joint states, and a note for every file that ends early."""
        number = 0
        for file in self.files:
            in_file = number
            try:
                for log_time, data in _storage(file).messages(file, self.topic):
                    number += 1
                    yield self._message(number, log_time, data)
            except CutShort as cut:
                text = f"{file.name} is incomplete, {number - in_file} messages were saved: {cut}"
                yield Note(f"{text}; all that came after is lost")

    def _message(self, number: int, log_time: int, data: bytes) -> Message:
        try:
            state = joint_state.decode(data)
        except ValueError as error:
            raise LogError(f"{self.source}: message {number} of {self.topic}: {error}") from error
        stamp_ns = state.stamp_ns or log_time
        if stamp_ns >= 2**63:
            raise LogError(f"{self.source}: message {number} of {self.topic}: {stamp_ns} ns cannot be a time")
        return Message(number, stamp_ns, bool(state.stamp_ns), state)


def open_bag(path: Path, needed: Collection[str], topic: str | None) -> Table:
    """The table of a bag; the joints `needed` are those a message must have, by the log's names."""
    files = bag_files(path)
    available: dict[str, str] = {}
    for file in files:
        available |= _storage(file).topics(file)
    chosen, notes = _topic(str(path), available, topic)
    bag = Bag(str(path), files, chosen)
    joints = _joints(bag, needed)

    def blocks(names: Sequence[str], rows: int) -> Iterator[Block]:
        block = _Filling(names, needed, rows)
        for item in bag.messages():
            if isinstance(item, Note):
                block.notes.append(item)
            else:
                block.add(item)
            if block.count == rows:
                yield block.done()
                block = _Filling(names, needed, rows)
        yield block.done()

    return Table(
        source=bag.source,
        names=(STAMP, *(f"{joint}.{quantity}" for joint in joints for quantity in QUANTITIES)),
        row_word="message",
        blocks=blocks,
        options=MappingProxyType({"topic": chosen}),
        notes=notes,
    )


def bag_files(path: Path) -> tuple[Path, ...]:
    """The storage files of a bag in the order they were recorded: bag_2 comes before bag_10."""
    if not path.is_dir():
        return (path,)
    files = [file for file in path.iterdir() if file.suffix in SUFFIXES]
    if not files:
        packed = " (packed ones have to be unpacked first: zstd -d)" if any(path.glob("*.zstd")) else ""
        raise LogError(f"{path}: a directory without {' or '.join(SUFFIXES)} files{packed}")

    def in_order(file: Path) -> list[tuple[int, str]]:
        return [(int(part or 0), text) for text, part in re.findall(r"(\D*)(\d*)", file.name)]

    return tuple(sorted(files, key=in_order))


def _storage(file: Path) -> ModuleType:
    """The module that reads such a file."""
    if file.suffix == ".mcap":
        from dynid.log import mcap_file

        return mcap_file
    from dynid.log import sqlite_file

    return sqlite_file


def _topic(source: str, available: Mapping[str, str], topic: str | None) -> tuple[str, tuple[Note, ...]]:
    """The topic to read: the one asked for, the only one of the type, or the usual one of several."""
    fitting = sorted(name for name, kind in available.items() if kind == joint_state.TYPE)
    if topic is not None:
        if topic in fitting:
            return topic, ()
        if topic in available:
            raise LogError(f"{source}: topic {quote(topic)} has messages of type {quote(available[topic])}")
        raise LogError(f"{source}: topic {choices(topic, fitting or available)}")
    if len(fitting) == 1:
        return fitting[0], ()
    if DEFAULT_TOPIC in fitting:
        others = ", ".join(name for name in fitting if name != DEFAULT_TOPIC)
        return DEFAULT_TOPIC, (Note(f"topic {DEFAULT_TOPIC} was read, though there is also {others}"),)
    if fitting:
        raise LogError(f"{source}: several topics could be read ({', '.join(fitting)}); name one (topic=)")
    found = ", ".join(f"{quote(name)} ({quote(kind)})" for name, kind in sorted(available.items()))
    raise LogError(f"{source}: no topic of type {joint_state.TYPE}; the bag has {found or 'no topics'}")


def _joints(bag: Bag, needed: Collection[str]) -> tuple[str, ...]:
    """Joints of the first message that has all needed, or of all messages if none has."""
    seen: dict[str, None] = {}
    for item in bag.messages():
        if isinstance(item, Message):
            if set(needed) <= set(item.state.names):
                return item.state.names
            seen.update(dict.fromkeys(item.state.names))
    if not seen:
        raise LogError(f"{bag.source}: no joint states on topic {bag.topic}")
    return tuple(seen)


class _Filling:
    """A block of messages in the making."""

    def __init__(self, names: Sequence[str], needed: Collection[str], rows: int) -> None:
        channels = [name.rpartition(".") for name in names if name != STAMP]
        self._joints = tuple(dict.fromkeys(joint for joint, _, _ in channels))
        self._channels = [(self._joints.index(joint), quantity) for joint, _, quantity in channels]
        self._names = [name for name in names if name != STAMP]
        self._needed = set(needed)
        self._places: dict[tuple[str, ...], list[int] | None] = {}
        self._rows = np.empty(rows, dtype=np.int64)
        self._stamps = np.empty(rows, dtype=np.int64)
        self._values = {quantity: np.full((rows, len(self._joints)), np.nan) for quantity in QUANTITIES}
        self._incomplete: list[int] = []
        self._unstamped: list[int] = []
        self.count = 0
        self.notes: list[Note] = []

    def add(self, message: Message) -> None:
        state = message.state
        if state.names not in self._places:
            self._places[state.names] = self._places_of(state.names)
        places = self._places[state.names]
        if places is None:
            self._incomplete.append(message.number)
            return
        if not message.stamped:
            self._unstamped.append(message.number)
        self._rows[self.count] = message.number
        self._stamps[self.count] = message.stamp_ns
        self._put("position", state.position, places)
        self._put("velocity", state.velocity, places)
        self._put("effort", state.effort, places)
        self.count += 1

    def done(self) -> Block:
        for numbers, text in (
            (self._incomplete, "messages left out, they lack joints of the robot"),
            (self._unstamped, "messages without a stamp of their own, the time of logging is used"),
        ):
            if numbers:
                self.notes.append(Note(text, len(numbers), f"message {numbers[0]}"))
        columns = {
            name: self._values[quantity][: self.count, j]
            for name, (j, quantity) in zip(self._names, self._channels, strict=True)
        }
        return Block(
            rows=self._rows[: self.count],
            columns={STAMP: self._stamps[: self.count], **columns},
            notes=tuple(self.notes),
        )

    def _places_of(self, names: Sequence[str]) -> list[int] | None:
        """Where in a message with these names the joints are; None if it lacks one."""
        return [names.index(joint) for joint in self._joints] if self._needed <= set(names) else None

    def _put(self, quantity: str, values: Array, places: list[int]) -> None:
        if len(values):
            self._values[quantity][self.count] = values[places]
