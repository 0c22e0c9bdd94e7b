"""The URDF that a robot was read from, as text: what an export can patch."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from dynid.formats.xacro import EXPANDED, expand
from dynid.formats.xml_source import parse_xml
from dynid.robot import Robot


def urdf_text(robot: Robot) -> tuple[str, str] | None:
    """The text and the SHA-256 of its bytes; of a xacro file the URDF it expands to.

    None for robots in other formats, and for a file in an encoding of which JSON would keep nothing.
    """
    path = Path(robot.source.removesuffix(EXPANDED))
    suffix = path.suffix.lower()
    if suffix not in (".urdf", ".xacro", ".xml") or not path.is_file():
        return None
    data = expand(path).encode("utf-8") if suffix == ".xacro" else path.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if suffix == ".xml" and parse_xml(data, robot.source).tag != "robot":
        return None
    return text, sha256(data).hexdigest()
