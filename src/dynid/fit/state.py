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
from dynid.fit.reduction import Reduction
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
                logs = header["logs"].items()
                return {int(k): _progress(log, _reduction(system.names, arrays, k)) for k, log in logs}
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
            arrays |= {f"{number}.{name}": array for name, array in _arrays(log.reduction).items()}
        with whole_file(self._path, force=True) as temporary, temporary.open("wb") as file:
            np.savez(file, **cast("Any", arrays))
        self._saved = time.monotonic()
        return True


def _record(log: Progress) -> dict[str, Any]:
    notes = [[note.text, note.count, note.first] for note in log.notes]
    counts = {"parts": log.parts, "rows": log.rows, "samples": log.samples}
    return {**counts, "finished": log.finished, "notes": notes}


def _progress(record: Mapping[str, Any], reduction: Reduction | None) -> Progress:
    notes = tuple(Note(str(text), int(count), str(first)) for text, count, first in record["notes"])
    parts, rows, samples = (int(record[name]) for name in ("parts", "rows", "samples"))
    return Progress(reduction, parts, rows, samples, notes, bool(record["finished"]))


def _arrays(reduction: Reduction | None) -> dict[str, NDArray[Any]]:
    if reduction is None:
        return {}
    found: dict[str, NDArray[Any]] = {"rows": reduction.rows}
    for k, (columns, triangle) in enumerate(zip(reduction.columns, reduction.triangles, strict=True)):
        found |= {f"columns{k}": columns, f"triangle{k}": triangle}
    return found


def _reduction(names: Sequence[str], arrays: Mapping[str, Any], number: str) -> Reduction | None:
    if f"{number}.rows" not in arrays:
        return None
    rows = frozen(np.asarray(arrays[f"{number}.rows"], dtype=np.float64))
    columns = [np.asarray(arrays[f"{number}.columns{k}"]) for k in range(len(rows))]
    triangles = [frozen(np.asarray(arrays[f"{number}.triangle{k}"], np.float64)) for k in range(len(rows))]
    for of_joint, triangle in zip(columns, triangles, strict=True):
        fits = triangle.shape == (len(of_joint) + 1, len(of_joint) + 1) and np.isfinite(triangle).all()
        if not (fits and of_joint.dtype == np.intp and set(of_joint.tolist()) <= set(range(len(names)))):
            raise ValueError("triangles of other unknowns")
    return Reduction(tuple(names), tuple(columns), tuple(triangles), rows)


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
