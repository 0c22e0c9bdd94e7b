"""XML files as small immutable trees that know their line numbers.

A robot description may come from anywhere, so nothing in it is trusted: document types and entities are
refused before anything is expanded, and size, depth and number of elements are bounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn
from xml.parsers import expat

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import RobotError, quote
from dynid.spatial import Array, frozen

MAX_BYTES = 20_000_000
MAX_DEPTH = 200
MAX_ELEMENTS = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class XmlElement:
    """One element: its attributes, its children, and where it stands. Text between tags is not kept."""

    tag: str
    attributes: Mapping[str, str]
    children: tuple[XmlElement, ...]
    line: int
    source: str

    @property
    def where(self) -> str:
        """The place in the file, as the records of `dynid.formats.assembly` want it."""
        return f"line {self.line}"

    def __iter__(self) -> Iterator[XmlElement]:
        return iter(self.children)

    def all(self, tag: str) -> tuple[XmlElement, ...]:
        """The children called `tag`, in file order."""
        return tuple(child for child in self.children if child.tag == tag)

    def only(self, tag: str) -> XmlElement | None:
        """The child called `tag`, None where there is none; more than one is an error."""
        found = self.all(tag)
        if len(found) > 1:
            raise found[1].error(f"a second one, the first is on line {found[0].line}; one is valid")
        return found[0] if found else None

    def error(self, problem: str, attribute: str | None = None) -> RobotError:
        """An error that names file, line, this element and, if given, one of its attributes."""
        shown = ""
        if attribute is not None and attribute in self.attributes:
            shown = f" {attribute}={quote(self.attributes[attribute])}"
        return RobotError(f"{self.source}, {self.where}: <{_shown(self.tag)}{shown}>: {problem}")

    def text(self, name: str, default: str | None = None) -> str:
        """An attribute without the blanks around it; without default it must be there and not be empty."""
        value = self.attributes.get(name, default)
        if value is None:
            raise self.error(f"the attribute {name!r} is missing")
        if not value.strip() and default is None:
            raise self.error("must not be empty", name)
        return value.strip()

    def number(self, name: str, unit: str = "", default: float | None = None) -> float:
        """One finite number; without default the attribute must be there."""
        return float(self.numbers(name, 1, unit, None if default is None else [default])[0])

    def numbers(
        self, name: str, count: int | range, unit: str = "", default: ArrayLike | None = None
    ) -> Array:
        """Finite numbers separated by blanks, (k,) with k equal to `count` or in the range `count`.

        `unit` is for messages only, such as "metres".
        """
        if name not in self.attributes and default is not None:
            return frozen(default)
        tokens = self.text(name).split()
        many = str(count) if isinstance(count, int) else f"{count[0]} to {count[-1]}"
        plural = "" if count == 1 else "s"
        expected = f"expected {many} number{plural}{' in ' * bool(unit)}{unit}"
        for token in tokens:
            if (complaint := _complaint(token)) is not None:
                raise self.error(f"{expected}; {complaint}", name)
        if len(tokens) != count if isinstance(count, int) else len(tokens) not in count:
            raise self.error(f"{expected}, found {len(tokens)}", name)
        return frozen(np.array([float(token) for token in tokens]))


def _complaint(token: str) -> str | None:
    """What is wrong with a number of a file, and how to write it; None where it is one."""
    try:
        value = float(token)
    except ValueError:
        value = None
    if value is None or "_" in token:  # Python reads 1_000, XML does not
        return f"{quote(token)} is not a number{_hint(token)}"
    if math.isinf(value):
        return f"{quote(token)} is not finite: leave the attribute out where there is no bound"
    return f"{quote(token)} is not finite" if math.isnan(value) else None


def _hint(token: str) -> str:
    if "," in token:
        return ": separate numbers by blanks and write decimals with a point"
    if token.lower().lstrip("-+.0123456789") in ("deg", "degree", "degrees", "°"):
        return ": write the number alone, converted from degrees"
    if token.lstrip("-+.0123456789").isalpha():
        return ": write the number alone, in SI units"
    if "$" in token or "{" in token:
        return ": a .xacro file must be read as such, or expanded first"
    return ""


def _shown(tag: str) -> str:
    return quote(tag, 40)[1:-1]


# --- from bytes to a tree ----------------------------------------------------------------------


def read_bounded(path: Path) -> bytes:
    """The bytes of a regular file of at most `MAX_BYTES`; any other is a RobotError."""
    if path.is_dir():
        raise RobotError(f"{path}: is a directory; the path of one robot file is needed")
    if not path.exists():
        raise RobotError(f"{path}: no such file")
    if not path.is_file():
        raise RobotError(f"{path}: is not a regular file")
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as problem:
        raise RobotError(f"{path}: cannot be read: {problem.strerror}") from problem
    if len(data) > MAX_BYTES:
        raise RobotError(f"{path}: is larger than {MAX_BYTES // 1_000_000} MB, too large for a robot file")
    return data


def read_xml(path: Path) -> XmlElement:
    """The root element of an XML file."""
    return parse_xml(read_bounded(path), str(path))


def parse_xml(document: str | bytes, source: str) -> XmlElement:
    """The root element of an XML document; `source` names it in messages."""
    if isinstance(document, bytes) and _looks_binary(document):
        raise RobotError(f"{source}: is a binary file; an XML robot description is text")
    builder = _Builder(source)
    try:
        builder.parser.Parse(document, True)
    except expat.ExpatError as problem:
        reason = expat.ErrorString(problem.code) or "syntax error"
        raise RobotError(
            f"{source}, line {problem.lineno}: not well-formed XML, column {problem.offset + 1}: {reason}"
        ) from problem
    except (LookupError, ValueError) as problem:  # an encoding that does not exist, or does not fit
        raise RobotError(f"{source}: cannot be decoded as text: {problem}; UTF-8 is valid") from problem
    return builder.root


def _looks_binary(data: bytes) -> bool:
    """NUL bytes occur in no XML but UTF-16, which starts with a byte order mark or a '<'."""
    utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")
    return not utf16 and b"\0" in data


@dataclass(slots=True)
class _Open:
    """An element whose end tag has not come yet."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[XmlElement] = field(default_factory=list[XmlElement])


class _Builder:
    """Receives the parser's events; an element is frozen as soon as its end tag is seen."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.count = 0
        self.open = [_Open("", {}, 0)]  # the document, whose only child is the root
        self.parser = expat.ParserCreate()
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.EntityDeclHandler = self.refuse
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end

    @property
    def root(self) -> XmlElement:
        return self.open[0].children[0]

    def refuse(self, *_: object) -> NoReturn:
        raise RobotError(
            f"{self.source}, line {self.parser.CurrentLineNumber}: document types and entities are refused "
            "(<!DOCTYPE ...>, <!ENTITY ...>); remove them, a robot description needs none"
        )

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        self.count += 1
        if self.count > MAX_ELEMENTS:
            raise RobotError(f"{self.source}, line {line}: more than {MAX_ELEMENTS} elements")
        if len(self.open) > MAX_DEPTH:
            raise RobotError(f"{self.source}, line {line}: elements nested more than {MAX_DEPTH} deep")
        self.open.append(_Open(tag, attributes, line))

    def end(self, _: str) -> None:
        done = self.open.pop()
        attributes = MappingProxyType(done.attributes)
        element = XmlElement(done.tag, attributes, tuple(done.children), done.line, self.source)
        self.open[-1].children.append(element)
