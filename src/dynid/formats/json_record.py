"""Objects of a JSON file, hostile until read: every value is asked for by its type, shape and range.

Numbers that JSON does not have are null in our files; whoever asks says what null stands for.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

import numpy as np

from dynid.errors import ArgumentError, RobotError, choices, quote, quote_path
from dynid.spatial import Array, frozen

LONGEST_TEXT = 100_000
LONGEST_LIST = 100_000
LARGEST = sys.float_info.max

Choice = TypeVar("Choice", bound=str)


def read_json(path: str | os.PathLike[str], largest: int, what: str) -> object:
    """The value in a JSON file of at most so many bytes; `what` it should be, as in "an estimate"."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(largest + 1)
    except OSError as problem:
        raise ArgumentError(f"{quote_path(path)} cannot be read: {problem.strerror or problem}") from problem
    if len(data) > largest:
        raise ArgumentError(f"{quote_path(path)}: larger than {largest >> 20} MiB, so not {what}")
    try:
        return json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as problem:
        raise ArgumentError(f"{quote_path(path)}: not JSON: {problem}") from problem


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """One object with its place in the file, so that every complaint names place, key and what is valid."""

    entries: Mapping[str, object]
    where: str

    @classmethod
    def of(cls, value: object, where: str) -> JsonRecord:
        """The record of a parsed JSON value, which must be an object."""
        if not isinstance(value, dict):
            raise RobotError(f"{where}: must be an object, found {quote(value, 40)}")
        return cls(cast("dict[str, object]", value), where)

    def error(self, key: str, problem: str) -> RobotError:
        found = f" = {quote(self.entries[key], 40)}" if key in self.entries else ""
        return RobotError(f"{self.where}: {quote(key, 40)}{found}: {problem}")

    def refuse_unknown(self, valid: Sequence[str]) -> None:
        for key in self.entries:
            if key not in valid:
                raise RobotError(f"{self.where}: key {choices(key, valid)}")

    def value(self, key: str) -> object:
        if key not in self.entries:
            raise RobotError(f"{self.where}: the key {key!r} is missing")
        return self.entries[key]

    # -- texts and whole numbers ---------------------------------------------------------------------

    def text(self, key: str) -> str:
        value = self.value(key)
        if not isinstance(value, str) or len(value) > LONGEST_TEXT:
            raise self.error(key, f"must be a text of at most {LONGEST_TEXT} characters")
        return value

    def choice(self, key: str, valid: Sequence[Choice]) -> Choice:
        value = self.value(key)
        for option in valid:
            if value == option:
                return option
        raise self.error(key, choices(value, valid))

    def texts(self, key: str) -> tuple[str, ...]:
        values = self._list(key)
        if not all(isinstance(value, str) and len(value) <= LONGEST_TEXT for value in values):
            raise self.error(key, "must be a list of texts")
        return tuple(cast("list[str]", values))

    def integer(self, key: str, valid: range) -> int:
        value = self.value(key)
        if isinstance(value, bool) or not isinstance(value, int) or value not in valid:
            raise self.error(key, f"must be a whole number from {valid[0]} to {valid[-1]}")
        return value

    # -- numbers -------------------------------------------------------------------------------------

    def number(self, key: str, null: float | None = None) -> float:
        """A finite number, or null where `null` says what that stands for."""
        return self._number(key, self.value(key), null)

    def numbers(self, key: str, shape: tuple[int, ...], null: float | None = None) -> Array:
        """An array of finite numbers, rows within rows as `shape` has it."""
        flat: list[object] = [self.value(key)]
        for count in shape:
            inner: list[object] = []
            for row in flat:
                if not isinstance(row, list) or len(cast("list[object]", row)) != count:
                    raise self.error(key, f"must be an array of {' x '.join(map(str, shape))} numbers")
                inner += cast("list[object]", row)
            flat = inner
        return frozen(np.array([self._number(key, value, null) for value in flat]), shape)

    def _number(self, key: str, value: object, null: float | None) -> float:
        if value is None and null is not None:
            return null
        or_null = "" if null is None else " or null"
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.error(key, f"must hold numbers{or_null}, found {quote(value, 40)}")
        if not abs(value) <= LARGEST or math.isnan(value):  # or an integer no float can hold
            raise self.error(key, f"must hold finite numbers{or_null}")
        return float(value)

    # -- records within ------------------------------------------------------------------------------

    def record(self, key: str) -> JsonRecord:
        return JsonRecord.of(self.value(key), f"{self.where}, {quote(key, 40)}")

    def records(self, key: str) -> list[JsonRecord]:
        """A list of objects; places count from 1."""
        return [
            JsonRecord.of(value, f"{self.where}, {key} number {k}")
            for k, value in enumerate(self._list(key), start=1)
        ]

    def _list(self, key: str) -> list[object]:
        value = self.value(key)
        if not isinstance(value, list):
            raise self.error(key, "must be a list")
        values = cast("list[object]", value)
        if len(values) > LONGEST_LIST:
            raise self.error(key, f"{len(values)} entries; at most {LONGEST_LIST} are accepted")
        return values
