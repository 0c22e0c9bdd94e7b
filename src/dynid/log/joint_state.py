"""The ROS 2 message sensor_msgs/msg/JointState in its CDR encoding.

    header: stamp {int32 sec, uint32 nanosec}, string frame_id
    string[] name, float64[] position, float64[] velocity, float64[] effort

CDR aligns every number to its own size, counted from behind the four bytes that say which encoding
it is; strings and sequences begin with their length, and strings count their closing zero.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from dynid.spatial import Array

TYPE = "sensor_msgs/msg/JointState"
_BEGIN = 4


@dataclass(frozen=True, eq=False)
class JointState:
    """One message; arrays are (len(names),) or empty."""

    stamp_ns: int  # 0: not set
    names: tuple[str, ...]
    position: Array
    velocity: Array
    effort: Array


def decode(data: bytes) -> JointState:
    """The message in `data`; `ValueError` says what is wrong with it."""
    if len(data) < _BEGIN or data[0] != 0 or data[1] > 1:
        raise ValueError(f"encoding {data[:2].hex() or 'missing'} is not plain CDR")
    reader = _Reader(data, "<" if data[1] else ">")
    try:
        seconds = reader.number("i")
        stamp_ns = seconds * 1_000_000_000 + reader.number("I")
        reader.string()
        names = tuple(reader.string() for _ in range(reader.number("I")))
        position, velocity, effort = reader.doubles(), reader.doubles(), reader.doubles()
    except struct.error as error:
        raise ValueError(f"the message of {len(data)} bytes ends too early") from error
    for quantity, values in (("position", position), ("velocity", velocity), ("effort", effort)):
        if len(values) not in (0, len(names)):
            raise ValueError(f"{len(values)} values of {quantity} for {len(names)} names")
    return JointState(stamp_ns, names, position, velocity, effort)


class _Reader:
    """A place in a message that moves on as values are read."""

    def __init__(self, data: bytes, order: str) -> None:
        self._data = data
        self._at = _BEGIN
        self._order = order
        self._integers = {kind: struct.Struct(order + kind) for kind in "iI"}
        self._double = np.dtype(order + "f8")

    def number(self, kind: str) -> int:
        at = self._at + (_BEGIN - self._at) % 4
        self._at = at + 4
        return self._integers[kind].unpack_from(self._data, at)[0]

    def string(self) -> str:
        length = self.number("I")
        if length > len(self._data) - self._at:
            raise struct.error
        text = self._data[self._at : self._at + length]
        self._at += length
        return text.removesuffix(b"\0").decode("utf-8")

    def doubles(self) -> Array:
        count = self.number("I")
        if not count:
            return np.empty(0)
        at = self._at + (_BEGIN - self._at) % 8
        self._at = at + 8 * count
        if self._at > len(self._data):
            raise struct.error
        return np.frombuffer(self._data, self._double, count, at)
