"""The URDF that an export patches: the text that the estimate carries, or a file that must be the same."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from dynid.errors import RobotError, quote_path
from dynid.estimate import RobotSource
from dynid.formats.xml_source import parse_xml, read_bounded

URDF = "urdf"
SHOWN = 12  # digits of a hash in messages


def read_source(path: str | os.PathLike[str]) -> RobotSource:
    """A URDF as text with the hash of its bytes."""
    data = read_bounded(Path(path))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise RobotError(f"{path}: not UTF-8, so its numbers cannot be changed in place") from problem
    if parse_xml(data, str(path)).tag != "robot":
        raise RobotError(f"{path}: no URDF, whose root element is <robot>")
    return RobotSource(URDF, text, hashlib.sha256(data).hexdigest())


def checked_source(known: RobotSource | None, path: str | os.PathLike[str] | None) -> RobotSource | None:
    """The file to patch: the estimate's own, or the one at `path` if that is the one which was identified."""
    if known is not None and hashlib.sha256(known.text.encode("utf-8")).hexdigest() != known.sha256:
        raise RobotError("the robot file inside of the estimate does not have its hash: it was changed since")
    if path is None:
        return known
    given = read_source(path)
    if known is None:
        raise RobotError(f"{quote_path(path)}: the estimate does not say which file its robot came from")
    if given.sha256 != known.sha256:
        raise RobotError(
            f"{quote_path(path)} is not the file that was identified: its SHA-256 is "
            f"{given.sha256[:SHOWN]}..., that of the estimate's {known.sha256[:SHOWN]}...; leave --original "
            "away to patch the text that the estimate carries, or identify with this file"
        )
    return given
