"""Reader of Denavit-Hartenberg tables in TOML, in the modified and in the standard convention.

Both conventions are made of the same two constant moves,

    turn  = Rz(theta) Tz(d)      along the joint's axis, to which the joint variable adds
    twist = Rx(alpha) Tx(a)      along the common normal

Modified: T(parent, j) = twist turn, so the joint moves at the end of both, about its own axis z.
Standard: T(parent, j) = turn twist, so the joint moves first, about axis z of its parent's frame.
"""

from __future__ import annotations

import math
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

from dynid.errors import RobotError, choices, quote
from dynid.formats.assembly import JointRecord, LinkRecord, assemble
from dynid.formats.xml_source import read_bounded
from dynid.robot import JointKind, Limits, Robot, Side
from dynid.spatial import (
    PARAMETER_LETTERS,
    Array,
    Frame,
    frozen,
    parameters_from_com,
    rotation_x,
    rotation_z,
    tensor,
)

MAX_JOINTS = 1000
LARGEST = sys.float_info.max

FILE_KEYS = ("name", "convention", "gravity", "transmission", "friction_side", "joint")
REQUIRED_KEYS = ("type", "alpha", "a", "theta", "d")
DRIVE_KEYS = ("Ia", "Fv", "Fc", "Fo")
JOINT_KEYS = ("name", "parent", *REQUIRED_KEYS, "limits", "standard", "link", *DRIVE_KEYS)
LIMIT_KEYS = ("position", "velocity", "acceleration", "effort")
LINK_KEYS = ("mass", "com", "inertia")

BASE = "base"
Choice = TypeVar("Choice", bound=str)
_ANGLE = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(deg|rad)\s*")


def read_dh_toml(
    path: str | Path, *, gravity: Sequence[float] | None = None, joints: Sequence[str] | None = None
) -> Robot:
    """The robot of a DH TOML file; `gravity` overrides the file's, `joints` keeps only these moving."""
    data = read_bounded(Path(path))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise RobotError(
            f"{path}: byte {problem.start} is not UTF-8 text; a robot in TOML is a text file"
        ) from problem
    return parse_dh_toml(text, str(path), gravity=gravity, joints=joints)


def parse_dh_toml(
    text: str, source: str, *, gravity: Sequence[float] | None = None, joints: Sequence[str] | None = None
) -> Robot:
    """As `read_dh_toml`, from the text of the file; `source` names it in messages."""
    file = _Table(_parse(text, source), source)
    file.refuse_unknown(FILE_KEYS)
    tables = _joint_tables(file)
    modified = file.choice("convention", ("modified", "standard")) == "modified"
    numbered = list(enumerate(tables, start=1))
    side: Side = file.choice("friction_side", ("joint", "motor"), "joint")
    return assemble(
        name=file.text("name", Path(source).stem or "robot"),
        links=[LinkRecord(name=BASE), *(_link(number, table) for number, table in numbered)],
        joints=[_joint(number, table, modified, len(tables)) for number, table in numbered],
        gravity=file.numbers("gravity", 3, (0.0, 0.0, -9.81)) if gravity is None else gravity,
        transmission=_transmission(file, len(tables)),
        friction_side=side,
        keep=joints,
        source=source,
    )


def _parse(text: str, source: str) -> dict[str, object]:
    if "\0" in text:
        raise RobotError(f"{source}: is a binary file; a robot in TOML is a text file")
    try:
        return tomllib.loads(text)
    except RecursionError as problem:
        raise RobotError(f"{source}: arrays or tables are nested too deeply") from problem
    except ValueError as problem:  # a syntax error, or an integer of thousands of digits
        raise RobotError(f"{source}: not valid TOML: {problem}") from problem


def _joint_tables(file: _Table) -> list[_Table]:
    """The [[joint]] tables in file order, each with its place, and without unknown keys."""
    entries = file.entries.get("joint")
    if not isinstance(entries, list) or not entries:
        raise file.error("one [[joint]] table per joint is needed, with double brackets")
    entries = cast("list[object]", entries)
    if len(entries) > MAX_JOINTS:
        raise file.error(f"{len(entries)} joints; at most {MAX_JOINTS} are accepted")
    tables: list[_Table] = []
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise file.error(f"joint {number} is not a table; write it under its own [[joint]]")
        fields = cast("dict[str, object]", entry)
        name = fields.get("name")
        shown = f" {quote(name, 40)}" if isinstance(name, str) else ""
        table = _Table(fields, f"{file.where}, joint {number}{shown}")
        table.refuse_unknown(JOINT_KEYS)
        tables.append(table)
    return tables


def _link(number: int, table: _Table) -> LinkRecord:
    return LinkRecord(name=f"link{number}", parameters=_parameters(table), where=f"[[joint]] number {number}")


def _joint(number: int, table: _Table, modified: bool, count: int) -> JointRecord:
    kind: JointKind = table.choice("type", ("revolute", "prismatic"))
    twist = Frame(rotation_x(table.angle("alpha")), (table.number("a"), 0.0, 0.0))
    turn = Frame(rotation_z(table.angle("theta")), (0.0, 0.0, table.number("d")))
    parent = _parent(number, table, count)
    return JointRecord(
        name=table.text("name", f"joint{number}"),
        kind=kind,
        parent=f"link{parent}" if parent else BASE,
        child=f"link{number}",
        before=twist @ turn if modified else Frame(),
        after=Frame() if modified else turn @ twist,
        limits=_limits(table, angles=kind == "revolute"),
        armature=table.number("Ia", math.nan),
        viscous=table.number("Fv", math.nan),
        coulomb=table.number("Fc", math.nan),
        offset=table.number("Fo", math.nan),
        where=f"[[joint]] number {number}",
    )


def _parent(number: int, table: _Table, count: int) -> int:
    """Number of the joint that carries this one; 0 is the base."""
    parent = table.entries.get("parent", number - 1)
    if isinstance(parent, bool) or not isinstance(parent, int) or not 0 <= parent <= count:
        raise table.error(f"must be 0 (the base) or the number of a joint, 1 to {count}", "parent")
    if parent == number:
        raise table.error("a joint cannot carry itself", "parent")
    return parent


def _parameters(table: _Table) -> Array | None:
    """The ten parameters of the link; None where the file has none."""
    if "standard" in table.entries and "link" in table.entries:
        raise table.error("has both 'standard' and 'link'; one of them is valid")
    if "standard" in table.entries:
        standard = table.table("standard", PARAMETER_LETTERS)
        return frozen([standard.number(letter) for letter in PARAMETER_LETTERS])
    if "link" in table.entries:
        link = table.table("link", LINK_KEYS)
        xx, yy, zz, xy, xz, yz = link.numbers("inertia", 6)
        inertia = tensor((xx, xy, xz, yy, yz, zz))
        return frozen(parameters_from_com(link.number("mass"), link.numbers("com", 3), inertia))
    return None


def _limits(table: _Table, *, angles: bool) -> Limits:
    if "limits" not in table.entries:
        return Limits()
    limits = table.table("limits", LIMIT_KEYS)
    lower, upper = -math.inf, math.inf
    if "position" in limits.entries:
        lower, upper = limits.numbers("position", 2, angles=angles)
        if lower >= upper:
            raise limits.error("must be [lower, upper] with lower below upper", "position")
    velocity, acceleration, effort = (_bound(limits, key) for key in LIMIT_KEYS[1:])
    return Limits(lower, upper, velocity, acceleration, effort)


def _bound(limits: _Table, key: str) -> float:
    value = limits.number(key, math.inf)
    if value <= 0.0:
        raise limits.error("must be positive; leave it out where there is no bound", key)
    return value


def _transmission(file: _Table, count: int) -> Array | None:
    """The matrix T of qd_joint = T qd_motor, (n, n); None where the file has none."""
    if "transmission" not in file.entries:
        return None
    rows = file.entries["transmission"]
    if not isinstance(rows, list) or len(cast("list[object]", rows)) != count:
        raise file.error(f"must be {count} rows of {count} numbers, one per joint", "transmission")
    return frozen(
        [
            _Table({f"transmission row {i}": row}, file.where).numbers(f"transmission row {i}", count)
            for i, row in enumerate(cast("list[object]", rows), start=1)
        ]
    )


# --- one table of the file ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of the file with its place, so that every complaint names place, key and what is valid."""

    entries: Mapping[str, object]
    where: str

    def error(self, problem: str, key: str | None = None) -> RobotError:
        if key is None:
            return RobotError(f"{self.where}: {problem}")
        found = f" = {quote(self.entries[key])}" if key in self.entries else ""
        return RobotError(f"{self.where}: {key}{found}: {problem}")

    def refuse_unknown(self, valid: Sequence[str]) -> None:
        for key in self.entries:
            if key not in valid:
                raise self.error(f"key {choices(key, valid)}")

    def required(self, key: str) -> object:
        if key not in self.entries:
            raise self.error(f"the key {key!r} is missing")
        return self.entries[key]

    def table(self, key: str, keys: Sequence[str]) -> _Table:
        """The inner table `key`, which may hold `keys` and nothing else."""
        value = self.entries[key]
        if not isinstance(value, dict):
            raise self.error(f"must be a table with the keys {', '.join(keys)}", key)
        inner = _Table(cast("dict[str, object]", value), f"{self.where}, {key}")
        inner.refuse_unknown(keys)
        return inner

    def text(self, key: str, default: str) -> str:
        value = self.entries.get(key, default)
        if not isinstance(value, str) or not value.strip():
            raise self.error("must be a text that is not empty", key)
        return value

    def choice(self, key: str, valid: Sequence[Choice], default: Choice | None = None) -> Choice:
        value = self.required(key) if default is None else self.entries.get(key, default)
        for option in valid:
            if value == option:
                return option
        raise self.error(choices(value, valid), key)

    def number(self, key: str, default: float | None = None) -> float:
        if default is not None and key not in self.entries:
            return default
        return self._finite(key, self.required(key))

    def angle(self, key: str) -> float:
        """An angle in rad, from a number in rad or a text such as "-90 deg"."""
        return self._angle(key, self.required(key))

    def numbers(
        self, key: str, count: int, default: Sequence[float] | None = None, *, angles: bool = False
    ) -> list[float]:
        """`count` finite numbers; with `angles`, each may be an angle written as text."""
        if default is not None and key not in self.entries:
            return list(default)
        values = self.required(key)
        if not isinstance(values, list) or len(cast("list[object]", values)) != count:
            raise self.error(f"must be an array of {count} numbers", key)
        convert = self._angle if angles else self._finite
        return [convert(key, value) for value in cast("list[object]", values)]

    def _finite(self, key: str, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.error("must be a number in SI units, without quotes", key)
        if not abs(value) <= LARGEST:  # NaN, infinity, or an integer no float can hold
            raise self.error("must be a finite number", key)
        return float(value)

    def _angle(self, key: str, value: object) -> float:
        if not isinstance(value, str):
            return self._finite(key, value)
        match = _ANGLE.fullmatch(value)
        if match is None:
            raise self.error('must be a number in rad or a text such as "-90 deg"', key)
        size = self._finite(key, float(match[1]))
        return math.radians(size) if match[2] == "deg" else size
