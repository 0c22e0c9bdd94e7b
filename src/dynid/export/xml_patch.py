"""Changing numbers in an XML text and leaving every other byte as it is.

An element remembers where its tags and its attributes' values stand; changes are collected as edits and made
in one go. The text must have been read by `formats.xml_source` before, which refuses what is not well-formed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

_TAG = re.compile(rb"<[^\s/>]+((?:\s+[^\s=]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*(/?)>")
_ATTRIBUTE = re.compile(rb"([^\s=]+)\s*=\s*(\"[^\"]*\"|'[^']*')")


@dataclass(frozen=True)
class Edit:
    """Bytes from first to last - 1 become `text`."""

    first: int
    last: int
    text: bytes


@dataclass(eq=False)
class Element:
    """An element, where its start tag stands (first .. last - 1), and where attribute values do."""

    tag: str
    attributes: Mapping[str, str]
    first: int
    last: int
    closed: bool  # <tag/>, without a place for children
    spans: Mapping[str, tuple[int, int]]
    children: list[Element] = field(default_factory=list["Element"])

    def all(self, tag: str) -> list[Element]:
        return [child for child in self.children if child.tag == tag]

    def only(self, tag: str) -> Element | None:
        found = self.all(tag)
        return found[0] if found else None


class Patch:
    """A text and the edits to be made in it."""

    def __init__(self, text: str) -> None:
        self.data = text.encode("utf-8")
        self.edits: list[Edit] = []
        self.root = _read(self.data)

    def set(self, element: Element, values: Mapping[str, str]) -> None:
        """Give attributes these values; one that already says the same number keeps its spelling."""
        for name, value in values.items():
            if name not in element.spans:
                at = element.first + 1 + len(element.tag.encode("utf-8"))
                self.edits.append(Edit(at, at, f' {name}="{value}"'.encode()))
            elif _numbers(element.attributes[name]) != _numbers(value):
                self.edits.append(Edit(*element.spans[name], value.encode()))

    def insert(self, parent: Element, child: str, inside: Iterable[str] = ()) -> None:
        """Put a new element, and others inside of it, first in `parent`, indented as its surroundings are."""
        outer = self._line_before(parent)
        inner = outer and outer + b"  "
        rows = [inner + child.encode()]
        rows += [(inner and inner + b"  ") + row.encode() for row in inside]
        if rows[1:]:
            rows.append(inner + f"</{child[1:-1].split()[0]}>".encode())
        text = b"".join(rows)
        if parent.closed:
            start = parent.last - 2
            end = outer + f"</{parent.tag}>".encode()
            self.edits.append(Edit(start, parent.last, b">" + text + end))
        else:
            self.edits.append(Edit(parent.last, parent.last, text))

    def _line_before(self, element: Element) -> bytes:
        """The line break and the indentation before an element, nothing where it does not begin its line."""
        start = self.data.rfind(b"\n", 0, element.first)
        blanks = self.data[start + 1 : element.first]
        if start < 0 or blanks.strip():
            return b""
        return (b"\r\n" if self.data[start - 1 : start] == b"\r" else b"\n") + blanks

    def done(self) -> str:
        """The text with all edits made."""
        pieces: list[bytes] = []
        at = 0
        for edit in sorted(self.edits, key=lambda edit: edit.first):
            pieces += [self.data[at : edit.first], edit.text]
            at = edit.last
        return b"".join([*pieces, self.data[at:]]).decode("utf-8")


def _numbers(text: str) -> list[float] | str:
    try:
        return [float(part) for part in text.split()]
    except ValueError:
        return text


def _read(data: bytes) -> Element:
    document = Element("", {}, 0, 0, False, {})
    stack = [document]
    parser = expat.ParserCreate("utf-8")

    def start(tag: str, attributes: dict[str, str]) -> None:
        first = parser.CurrentByteIndex
        match = _TAG.match(data, first)
        assert match is not None, "well-formed XML has no other tags"
        spans = {
            found[1].decode("utf-8"): (found.start(2) + 1, found.end(2) - 1)
            for found in _ATTRIBUTE.finditer(data, *match.span(1))
        }
        element = Element(tag, attributes, first, match.end(), bool(match[2]), spans)
        stack[-1].children.append(element)
        stack.append(element)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: stack.pop()
    parser.Parse(data, True)
    return document.children[0]
