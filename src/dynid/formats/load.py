"""`load_robot`: from a path or the name of a built-in to a `Robot`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import cast

import numpy as np

from dynid.errors import ArgumentError, RobotError, choices, quote, quote_path
from dynid.formats.dh_toml import parse_dh_toml, read_dh_toml
from dynid.formats.dyn import is_dyn, read_dyn
from dynid.formats.mjcf import read_mjcf
from dynid.formats.urdf import read_urdf
from dynid.formats.xacro import read_xacro
from dynid.formats.xml_source import read_xml
from dynid.robot import Robot
from dynid.robots import BUILT_IN, built_in_text


def load_robot(
    source: str | os.PathLike[str],
    *,
    gravity: Sequence[float] | None = None,
    joints: Sequence[str] | None = None,
) -> Robot:
    """The robot of a file, told by its suffix, or the built-in of that name.

    `gravity`, (3,), in the base frame, overrides the file's. `joints` names the joints that stay free;
    all others are locked at zero.
    """
    try:
        path = Path(source)
    except TypeError as problem:
        raise ArgumentError(f"the path or the name of a robot is needed, found {quote(source)}") from problem
    gravity = None if gravity is None else _checked_gravity(gravity)
    joints = None if joints is None else _checked_names(joints)
    if isinstance(source, str) and source in BUILT_IN:
        return parse_dh_toml(built_in_text(source), source, gravity=gravity, joints=joints)
    suffix = path.suffix.lower()
    if suffix not in READERS and is_dyn(path):
        suffix = ".dyn"
    if suffix not in READERS and path.name != os.fspath(source):
        raise RobotError(
            f"{quote_path(source)}: a robot's file ends in one of {', '.join(READERS)}; "
            f"built in are {', '.join(BUILT_IN)}"
        )
    if suffix not in READERS:
        raise RobotError(f"robot {choices(source, BUILT_IN)} A path must end in one of {', '.join(READERS)}.")
    return READERS[suffix](path, gravity=gravity, joints=joints)


def read_xml_robot(
    path: Path, *, gravity: Sequence[float] | None = None, joints: Sequence[str] | None = None
) -> Robot:
    """The robot of an .xml file, which its root element tells to be MJCF or URDF."""
    readers = {"mujoco": read_mjcf, "robot": read_urdf}
    root = read_xml(path)
    if root.tag not in readers:
        raise root.error("the root element must be <mujoco> (MJCF) or <robot> (URDF)")
    return readers[root.tag](path, gravity=gravity, joints=joints)


READERS: Mapping[str, Callable[..., Robot]] = MappingProxyType(
    {
        ".urdf": read_urdf,
        ".xacro": read_xacro,
        ".xml": read_xml_robot,
        ".toml": read_dh_toml,
        ".dyn": read_dyn,
    }
)


# --- what a caller may get wrong -------------------------------------------------------------------


def _checked_gravity(gravity: object) -> tuple[float, ...]:
    try:
        vector = np.array(gravity, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.zeros(0)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise ArgumentError(f"gravity must be three finite numbers in m/s^2, found {quote(gravity)}")
    return tuple(vector.tolist())


def _checked_names(joints: object) -> tuple[str, ...]:
    shown = quote(joints)
    several = isinstance(joints, Iterable) and not isinstance(joints, str)
    entries = list(cast("Iterable[object]", joints)) if several else []
    names = tuple(entry for entry in entries if isinstance(entry, str))
    if not names or len(names) < len(entries):
        raise ArgumentError(f"joints must be a sequence of names, at least one, found {shown}")
    return names
