"""Reader of the input file of [Izaguirre1992], Appendix A: a table of an arm's links, one quantity a line.

    number_links 6
    sigma 0 0 0 0 0 0        % 0 turns, 1 slides
    alpha 90 0 -90 90 -90 0  % degrees; standard (distal) Denavit-Hartenberg
    mass 0 0 0 0 0 m6        % a name stands for what `variable` or `constant` says below
    option moment
    variable m6 2.768114     % may stay an argument of generated code
    constant a2 0.20320      % is folded into it
    stop

Moments are about and in the distal frames; a b c are XX YY ZZ and d e f are XY YZ XZ. With `option moment`,
xgrav ygrav zgrav are first moments and the second moments are about the frame's origin; without, they are
the centre of mass, and moments about it. As in the paper's listing, the line of motor inertias may begin with
its first name, ia1, and a line of zeros may be too short.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dynid.errors import RobotError, choices, quote
from dynid.formats.assembly import JointRecord, LinkRecord, assemble
from dynid.formats.xml_source import read_bounded
from dynid.robot import NAN, Robot
from dynid.spatial import Array, Frame, frozen, parameters_from_com, rotation_x, rotation_z, tensor

MAX_LINKS = 1000
MOMENTS = ("adyna", "ddyna", "fdyna", "bdyna", "edyna", "cdyna")  # in the order XX XY XZ YY YZ ZZ
FIRST = ("xgrav", "ygrav", "zgrav")
INERTIAL = (*MOMENTS, *FIRST, "mass")  # in the order of the standard parameters
GEOMETRY = ("sigma", "alpha", "dpar", "apar", "theta")
DRIVES = ("ia", "fs", "ds")
ROWS = (*GEOMETRY, *INERTIAL, *DRIVES)
REQUIRED = ("sigma", "alpha", "dpar", "apar")
OPTIONS = ("option", "option.update")
KEYWORDS = ("number_links", *ROWS, "gravity", *OPTIONS, "variable", "constant", "stop")
GRAVITY = (0.0, 0.0, -9.81)

_NAME = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII)
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eEdD][-+]?\d+)?", re.ASCII)


def is_dyn(path: Path) -> bool:
    """Whether a file begins as this format does: comments, then `number_links`."""
    try:
        with path.open("rb") as stream:
            head = stream.read(4096)
    except OSError:
        return False
    words = re.sub(rb"%[^\r\n]*", b"", head).split(None, 1)
    return bool(words) and words[0] == b"number_links"


def read_dyn(
    path: str | Path, *, gravity: Sequence[float] | None = None, joints: Sequence[str] | None = None
) -> Robot:
    """The robot of such a file; `gravity` overrides the file's, `joints` keeps only these moving."""
    table = read_table(Path(path))
    values = table.values
    numbers = {row: table.numbers(row, values) for row in table.rows}
    parameters = table.parameters(values)
    records = [_joint(table, k, numbers) for k in range(table.links)]
    names = ["base", *(f"link{k + 1}" for k in range(table.links))]
    given = [None, *(frozen(ten) for ten in parameters)]
    return assemble(
        name=Path(path).stem or "robot",
        links=[LinkRecord(name=name, parameters=ten) for name, ten in zip(names, given, strict=True)],
        joints=records,
        gravity=(table.gravity or GRAVITY) if gravity is None else gravity,
        keep=joints,
        notes=table.notes,
        source=str(path),
    )


def _joint(table: DynTable, k: int, numbers: Mapping[str, Sequence[float]]) -> JointRecord:
    def of(row: str, default: float = 0.0) -> float:
        return numbers[row][k] if row in numbers else default

    turn = Frame(rotation_z(np.radians(of("theta"))), (0.0, 0.0, of("dpar")))
    twist = Frame(rotation_x(np.radians(of("alpha"))), (of("apar"), 0.0, 0.0))
    if of("sigma") not in (0.0, 1.0):
        raise table.error(f"sigma of link {k + 1} is {of('sigma'):g}; 0 (turns) and 1 (slides) are valid")
    return JointRecord(
        name=f"joint{k + 1}",
        kind="prismatic" if of("sigma") else "revolute",
        parent=f"link{k}" if k else "base",
        child=f"link{k + 1}",
        after=turn @ twist,
        armature=of("ia", NAN),
        viscous=of("ds", NAN),
        coulomb=of("fs", NAN),
        where=f"link {k + 1}",
    )


# --- the text -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DynTable:
    """The file as it is: numbers and names, line by line."""

    source: str
    links: int
    rows: Mapping[str, tuple[str, ...]]
    variables: Mapping[str, float]
    constants: Mapping[str, float]
    options: tuple[str, ...]
    gravity: tuple[float, ...] | None
    notes: tuple[str, ...]

    @property
    def values(self) -> dict[str, float]:
        return {**self.constants, **self.variables}

    @property
    def moment(self) -> bool:
        """Whether moments are about the frame's origin, and linear in all that the file gives."""
        return "moment" in self.options

    def error(self, problem: str) -> RobotError:
        return RobotError(f"{self.source}: {problem}")

    def numbers(self, row: str, values: Mapping[str, float]) -> list[float]:
        return [self._number(row, word, values) for word in self.rows[row]]

    def _number(self, row: str, word: str, values: Mapping[str, float]) -> float:
        name = word.lstrip("+-")
        if not _NAME.fullmatch(name):
            return _float(word)
        if name not in values:
            raise self.error(f"{row}: {choices(name, values)} A name needs a line 'variable' or 'constant'.")
        return -values[name] if word.startswith("-") else values[name]

    def parameters(self, values: Mapping[str, float]) -> Array:
        """Standard parameters, (links, 10); what no line gives is zero, or NaN where none gives anything."""
        found = np.zeros((self.links, 10))
        for k, row in enumerate(INERTIAL):
            if row in self.rows:
                found[:, k] = self.numbers(row, values)
        if not any(row in self.rows for row in INERTIAL):
            found[:] = NAN
        elif not self.moment:
            found = np.array([parameters_from_com(ten[9], ten[6:9], tensor(ten[:6])) for ten in found])
        return found


def read_table(path: Path) -> DynTable:
    """The file, line by line."""
    try:
        text = read_bounded(path).decode("ascii")
    except UnicodeDecodeError as problem:
        raise RobotError(f"{path}: byte {problem.start} is not ASCII text") from problem
    return _parse(text, str(path))


def _parse(text: str, source: str) -> DynTable:
    rows: dict[str, tuple[str, ...]] = {}
    named: dict[str, dict[str, float]] = {"variable": {}, "constant": {}}
    options: list[str] = []
    single: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("%")[0].split()
        if not words:
            continue
        keyword, *rest = words
        where = f"{source}, line {number}"
        if keyword == "stop":
            break
        if keyword in named:
            _define(named, keyword, rest, where)
        elif keyword in OPTIONS:
            options += rest if keyword == "option" else []
        elif keyword in ("number_links", "gravity"):
            single[keyword] = tuple(rest)
        elif keyword == "ia1":
            _row(rows, "ia", words, where)
        elif keyword in ROWS:
            _row(rows, keyword, rest, where)
        else:
            raise RobotError(f"{where}: {choices(keyword, KEYWORDS)}")
    links = _count(single.get("number_links", ()), source)
    rows, notes = _completed(rows, links, source)
    gravity = tuple(_float(word) for word in single["gravity"]) if "gravity" in single else None
    return DynTable(
        source, links, rows, named["variable"], named["constant"], tuple(options), gravity, tuple(notes)
    )


def _define(named: Mapping[str, dict[str, float]], keyword: str, rest: Sequence[str], where: str) -> None:
    if len(rest) != 2 or not _NAME.fullmatch(rest[0]) or not _NUMBER.fullmatch(rest[1]):
        raise RobotError(f"{where}: '{keyword}' needs a name and a number, such as '{keyword} m6 2.768114'")
    if any(rest[0] in known for known in named.values()):
        raise RobotError(f"{where}: {quote(rest[0])} has a value already")
    named[keyword][rest[0]] = _float(rest[1])


def _row(rows: dict[str, tuple[str, ...]], keyword: str, words: Sequence[str], where: str) -> None:
    if keyword in rows:
        raise RobotError(f"{where}: there is a line {keyword!r} already")
    for word in words:
        if not _NUMBER.fullmatch(word) and not _NAME.fullmatch(word.lstrip("+-")):
            raise RobotError(f"{where}: {quote(word)} is neither a number nor a name")
    rows[keyword] = tuple(words)


def _count(words: Sequence[str], source: str) -> int:
    if len(words) == 1 and words[0].isdecimal() and 1 <= int(words[0][:9]) <= MAX_LINKS:
        return int(words[0])
    raise RobotError(f"{source}: a line 'number_links N' is needed, with N from 1 to {MAX_LINKS}")


def _completed(
    rows: Mapping[str, tuple[str, ...]], links: int, source: str
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """The rows with one entry per link, and notes on those that were too short."""
    found: dict[str, tuple[str, ...]] = {}
    notes: list[str] = []
    for keyword in REQUIRED:
        if keyword not in rows:
            raise RobotError(f"{source}: the line {keyword!r} is missing; needed are {', '.join(REQUIRED)}")
    for keyword, words in rows.items():
        if len(words) < links and all(_NUMBER.fullmatch(word) and _float(word) == 0.0 for word in words):
            notes.append(f"{keyword} has {len(words)} zeros for {links} links: taken as zero for all")
            words = ("0",) * links
        if len(words) != links:
            raise RobotError(f"{source}: {keyword} has {len(words)} entries; number_links is {links}")
        found[keyword] = words
    return found, notes


def _float(word: str) -> float:
    """A number, also with Fortran's D; one that is too large for a double is an error."""
    if not _NUMBER.fullmatch(word):
        raise RobotError(f"{quote(word)} is not a number")
    value = float(word.lower().replace("d", "e"))
    if not np.isfinite(value):
        raise RobotError(f"the number {quote(word, 40)} is too large")
    return value
