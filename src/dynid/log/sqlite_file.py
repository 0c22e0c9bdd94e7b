"""Messages of a rosbag2 SQLite file in the order they were written, also when its end is missing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from dynid.errors import quote
from dynid.log.log import LogError
from dynid.log.table import CutShort

# All rows, in the order of writing: in a page that a cut has torn, the numbers of rows fall back to zero.
# Not by the index on time, which lies scattered over the file. The data of other topics is never loaded.
_MESSAGES = """
    WITH wanted AS (SELECT id FROM topics WHERE name = ?)
    SELECT id, topic_id IN wanted, timestamp, CASE WHEN topic_id IN wanted THEN data END
    FROM messages NOT INDEXED ORDER BY id
"""


def topics(path: Path) -> dict[str, str]:
    """The type of every topic's messages."""
    try:
        with closing(_connected(path)) as database:
            return {str(name): str(kind) for name, kind in database.execute("SELECT name, type FROM topics")}
    except sqlite3.Error as error:
        raise LogError(f"{path}: not a rosbag2 SQLite file ({error})") from error


def messages(path: Path, topic: str) -> Iterator[tuple[int, bytes]]:
    """Log time (ns) and content of the messages of a topic; ends in `CutShort` if the file does."""
    with closing(_connected(path)) as database:
        last = 0
        try:
            _check_encoding(database, path, topic)
            for number, wanted, log_time, data in database.execute(_MESSAGES, (topic,)):
                if not isinstance(number, int) or number <= last:
                    raise CutShort(f"what follows message {last} of the database is torn")
                last = number
                if wanted:
                    if not (isinstance(log_time, int) and isinstance(data, bytes)):
                        raise CutShort(f"message {number} of the database is damaged")
                    yield log_time, data
        except sqlite3.Error as error:
            raise CutShort(f"the database cannot be read beyond message {last} ({error})") from error


def _check_encoding(database: sqlite3.Connection, path: Path, topic: str) -> None:
    rows = database.execute("SELECT serialization_format FROM topics WHERE name = ?", (topic,))
    for (encoding,) in rows:
        if encoding != "cdr":
            raise LogError(
                f"{path}: topic {quote(topic)} is encoded as {quote(encoding)}; "
                "messages of ROS 2 ('cdr') were expected"
            )


def _connected(path: Path) -> sqlite3.Connection:
    """A connection that never writes; `immutable` also keeps it from looking for a journal to replay."""
    journal = path.with_name(f"{path.name}-wal").exists()
    mode = "mode=ro" if journal else "mode=ro&immutable=1"
    database = sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True)
    # Otherwise SQLite would refuse a file that is shorter than its header says.
    database.execute("PRAGMA writable_schema = ON")
    return database
