"""Xacro: URDF with macros, expanded by the optional package xacrodoc and then read as URDF.

Expansion runs what xacro itself runs and nothing more: its own restricted expressions, inclusion of
files, look-up of packages and environment variables. Arguments keep the defaults of the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.parsers.expat import ExpatError

from dynid.errors import MissingExtraError, RobotError, quote
from dynid.formats.urdf import parse_urdf
from dynid.formats.xml_source import read_xml
from dynid.robot import Robot

EXPANDED = " (expanded)"  # behind the path, in messages


def read_xacro(
    path: Path, *, gravity: Sequence[float] | None = None, joints: Sequence[str] | None = None
) -> Robot:
    """The robot of a xacro file; `gravity` is (3,), `joints` names those that keep moving."""
    return parse_urdf(expand(path), f"{path}{EXPANDED}", gravity=gravity, joints=joints)


def expand(path: Path) -> str:
    """The URDF text of a xacro file."""
    read_xml(path)  # refuses here what must not get as far as xacro's own parser
    xacro, packages, complaints = _xacro()
    packages.walk_up_from(path)  # so that $(find ...) works in a source tree without a ROS installation
    try:
        return str(xacro.process_file(str(path)).toxml())
    except complaints as problem:
        reason = " ".join(str(problem).split()) or type(problem).__name__
        raise RobotError(f"{path}: xacro cannot expand it: {quote(reason, 400)}") from problem


def _xacro() -> tuple[Any, Any, tuple[type[Exception], ...]]:
    """xacro, xacrodoc's look-up of packages, and what the two raise on bad files."""
    try:
        packages = import_module("xacrodoc.packages")
        xacro = import_module("xacro")
        arguments = import_module("xacro.substitution_args")
    except ImportError as problem:
        raise MissingExtraError("reading xacro files", "xacrodoc", "xacro") from problem
    own = (xacro.XacroException, arguments.SubstitutionException, packages.PackageNotFoundError)
    return xacro, packages, (*own, ExpatError, OSError, ValueError, TypeError, LookupError, RuntimeError)
