"""Messages of an MCAP file in the order of the file, also when its end is missing.

The records are walked here rather than by `mcap`'s readers because those hand out a record that the end
of the file cuts as if it were whole, and drop the unfinished chunk; a recorder that stopped may have left
nothing else of the last seconds. Both compressions of MCAP can be undone up to the cut.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

from dynid.errors import MissingExtraError, quote
from dynid.log.log import LogError
from dynid.log.table import CutShort

try:
    import zstandard
    from mcap.data_stream import ReadDataStream
    from mcap.exceptions import McapError
    from mcap.opcode import Opcode
    from mcap.reader import SeekingReader
    from mcap.records import Channel, Schema

    _lz4: Any = import_module("lz4.frame")  # it has no types
except ImportError as error:
    raise MissingExtraError("reading MCAP", "mcap", "bags") from error

_MAGIC = b"\x89MCAP0\r\n"
_RECORD = struct.Struct("<BQ")  # opcode, length
_CHUNK = struct.Struct("<QQQII")  # first and last time, size, checksum, length of the compression's name
_LENGTH = struct.Struct("<Q")
_MESSAGE = struct.Struct("<H4xQ8x")  # channel and log time; the number and the time of publishing between
_USED = (Opcode.SCHEMA, Opcode.CHANNEL, Opcode.MESSAGE)

Parsed = TypeVar("Parsed", Schema, Channel)


def topics(path: Path) -> dict[str, str]:
    """The type of every topic's messages."""
    with path.open("rb") as file:
        try:
            summary = SeekingReader(file).get_summary()
        except (McapError, struct.error, ValueError, OSError):
            summary = None  # it is at the end of the file, if the file has its end
    if summary is not None and summary.channels:
        schemas, channels = summary.schemas, list(summary.channels.values())
    else:
        schemas, channels = _described(path)
    return {
        channel.topic: schemas[channel.schema_id].name if channel.schema_id in schemas else ""
        for channel in channels
    }


def messages(path: Path, topic: str) -> Iterator[tuple[int, bytes]]:
    """Log time (ns) and content of the messages of a topic; ends in `CutShort` if the file does."""
    wanted: set[int] = set()
    for opcode, content in _records(path):
        if opcode == Opcode.MESSAGE:
            if len(content) < _MESSAGE.size:
                raise CutShort(f"a message of {len(content)} bytes is damaged")
            channel, log_time = _MESSAGE.unpack_from(content)
            if channel in wanted:
                yield log_time, content[_MESSAGE.size :]
        elif opcode == Opcode.CHANNEL:
            found = _parsed(Channel, content)
            if found.topic == topic:
                if found.message_encoding != "cdr":
                    raise LogError(
                        f"{path}: topic {quote(topic)} is encoded as {quote(found.message_encoding)}; "
                        "messages of ROS 2 ('cdr') were expected"
                    )
                wanted.add(found.id)


def _described(path: Path) -> tuple[dict[int, Schema], list[Channel]]:
    """Schemas and channels as the records of a file without summary give them."""
    schemas: dict[int, Schema] = {}
    channels: dict[int, Channel] = {}
    try:
        for opcode, content in _records(path):
            if opcode == Opcode.SCHEMA:
                schema = _parsed(Schema, content)
                schemas[schema.id] = schema
            elif opcode == Opcode.CHANNEL:
                channel = _parsed(Channel, content)
                channels[channel.id] = channel
    except CutShort:
        pass  # `messages` will say so
    return schemas, list(channels.values())


def _parsed(kind: type[Parsed], content: bytes) -> Parsed:
    try:
        return kind.read(ReadDataStream(BytesIO(content)))
    except (McapError, struct.error, ValueError) as error:
        raise CutShort(f"a record ({kind.__name__}) is damaged: {error}") from error


def _records(path: Path) -> Iterator[tuple[int, bytes]]:
    """Opcode and content of the records in use, those inside chunks among them."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise LogError(f"{path}: not an MCAP file (it does not begin as one)")
        while len(head := file.read(_RECORD.size)) == _RECORD.size:
            opcode, length = _RECORD.unpack(head)
            start, left = file.tell(), size - file.tell()
            if opcode == Opcode.CHUNK:
                yield from _chunk(file.read(min(length, left)), whole=length <= left, start=start)
            elif opcode in _USED and length <= left:
                yield opcode, file.read(length)
            elif opcode == Opcode.DATA_END:
                return  # a summary follows, or what is left of it: no data
            elif length <= left:
                file.seek(length, 1)
            if length > left:
                raise CutShort(f"the file ends in byte {size}, within a record that begins in byte {start}")
    raise CutShort(f"the file ends in byte {size}, before the end of its data")


def _chunk(content: bytes, *, whole: bool, start: int) -> Iterator[tuple[int, bytes]]:
    """The records inside a chunk, as far as the content of the chunk goes."""
    if len(content) < _CHUNK.size:
        return
    _, _, _, checksum, name_length = _CHUNK.unpack_from(content)
    begin = _CHUNK.size + name_length + _LENGTH.size
    compression = content[_CHUNK.size : _CHUNK.size + name_length].decode("ascii", "replace")
    try:
        data = _decompressed(content[begin:], compression)
    except (zstandard.ZstdError, RuntimeError) as error:
        raise CutShort(f"the chunk in byte {start} cannot be unpacked ({error})") from error
    if whole and checksum and zlib.crc32(data) != checksum:
        raise CutShort(f"the chunk in byte {start} is damaged (checksum)")
    at = 0
    while at + _RECORD.size <= len(data):
        opcode, length = _RECORD.unpack_from(data, at)
        at += _RECORD.size + length
        if at > len(data):
            break
        if opcode in _USED:
            yield opcode, data[at - length : at]


def _decompressed(data: bytes, compression: str) -> bytes:
    """As much as `data`, which may be the beginning of something longer, unpacks to."""
    match compression:
        case "":
            return data
        case "zstd":
            return zstandard.ZstdDecompressor().decompressobj().decompress(data)
        case "lz4":
            return _lz4.LZ4FrameDecompressor().decompress(data)
        case _:
            raise RuntimeError(f"unknown compression {compression!r}")
