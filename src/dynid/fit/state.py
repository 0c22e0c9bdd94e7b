"""How far the reduction of long logs has got, as a file: where a run was killed, the next one goes on."""

from __future__ import annotations

import hashlib
import json
import os
import time
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dynid.commands.output import plain
from dynid.errors import ArgumentError, quote
from dynid.files import refuse_existing, whole_file
from dynid.fit.reduction import Reduction, nothing
from dynid.fit.system import System
from dynid.fit.whole import Progress, Recipe
from dynid.formats.robot_json import robot_record
from dynid.log.long import PART_ROWS, LongLog
from dynid.log.table import Note
from dynid.spatial import frozen

FORMAT = "dynid reduction, version 1"
SELDOM_S = 5.0  # between two times that the state is saved
DIGITS = 9  # of chosen numbers, in which two runs must agree
_DAMAGED = (zipfile.BadZipFile, OSError, EOFError, ValueError, KeyError, TypeError)


class State:
    """The file of a run."""

    def __init__(self, path: str | os.PathLike[str], recipe: Recipe, logs: Sequence[LongLog]) -> None:
        self._path, self._key = Path(path), _key(recipe, logs)
        self._saved = -np.inf
        refuse_existing(self._path, force=True)

    def load(self, system: System) -> dict[int, Progress]:
        """What is known of the logs by their numbers; nothing if there is no file yet."""
        if not self._path.exists():
            return {}
        try:
            with np.load(self._path, allow_pickle=False) as arrays:
                header: Any = json.loads(arrays["header"].tobytes())
                if header["format"] != FORMAT:
                    raise ValueError("of another format")
                if header["key"] != self._key:
                    raise ArgumentError(
                        f"{quote(self._path)} is the state of another run, with other logs or options: "
                        "name another file, or remove it"
                    )
                return {int(k): _progress(system, arrays, k, log) for k, log in header["logs"].items()}
        except ArgumentError:
            raise
        except _DAMAGED as problem:
            raise ArgumentError(
                f"{quote(self._path)} is not the state of a run ({quote(problem)}): "
                "name another file, or remove it"
            ) from problem

    def save(self, logs: Mapping[int, Progress], *, now: bool = False) -> bool:
        """Write the file, whole or not at all, unless it was written a moment ago; whether it was."""
        if not now and time.monotonic() - self._saved < SELDOM_S:
            return False
        header = {
            "format": FORMAT,
            "key": self._key,
            "logs": {str(number): _record(log) for number, log in logs.items()},
        }
        arrays: dict[str, NDArray[Any]] = {
            "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        }
        for number, log in logs.items():
            arrays[f"{number}.rows"] = log.reduction.rows
            for joint, triangle in enumerate(log.reduction.triangles):
                arrays[f"{number}.triangle{joint}"] = triangle
        with whole_file(self._path, force=True) as temporary, temporary.open("wb") as file:
            np.savez(file, **cast("Any", arrays))
        self._saved = time.monotonic()
        return True


def _record(log: Progress) -> dict[str, Any]:
    notes = [[note.text, note.count, note.first] for note in log.notes]
    counts = {"parts": log.parts, "rows": log.rows, "samples": log.samples}
    return {**counts, "finished": log.finished, "notes": notes}


def _progress(system: System, arrays: Mapping[str, Any], number: str, record: Mapping[str, Any]) -> Progress:
    empty = nothing(system)
    weights = np.asarray(arrays[f"{number}.rows"], dtype=np.float64)
    joints = range(len(empty.triangles))
    triangles = [np.asarray(arrays[f"{number}.triangle{j}"], dtype=np.float64) for j in joints]
    found = [weights.shape, *(triangle.shape for triangle in triangles)]
    expected = [empty.rows.shape, *(triangle.shape for triangle in empty.triangles)]
    if found != expected or not all(np.isfinite(array).all() for array in (weights, *triangles)):
        raise ValueError("triangles of other unknowns")
    reduction = Reduction(empty.names, empty.columns, tuple(map(frozen, triangles)), frozen(weights))
    notes = tuple(Note(str(text), int(count), str(first)) for text, count, first in record["notes"])
    parts, rows, samples = (int(record[name]) for name in ("parts", "rows", "samples"))
    return Progress(reduction, parts, rows, samples, notes, bool(record["finished"]))


def _key(recipe: Recipe, logs: Sequence[LongLog]) -> str:
    """A hash of everything on which the numbers depend."""
    terms = vars(recipe.terms)
    record = {
        "robot": robot_record(recipe.robot),
        "terms": {name: _rounded(value) for name, value in terms.items()},
        "preparing": {name: _rounded(value) for name, value in recipe.preparing.items()},
        "delay": _rounded(recipe.delay),
        "equations": recipe.reducer.__name__,
        "part_rows": PART_ROWS,
        "logs": [[log.provenance.sha256, dict(log.provenance.options)] for log in logs],
    }
    return hashlib.sha256(json.dumps(plain(record), sort_keys=True).encode()).hexdigest()


def _rounded(value: object) -> object:
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else value
