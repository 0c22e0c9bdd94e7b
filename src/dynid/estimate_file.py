"""Estimates as JSON: what the commands print, and the file that holds all of it.

The file has its schema's number and carries the robot, so nothing else is read to use it again. Whatever can
be computed from the rest is not read back from it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from dynid import __version__
from dynid.commands.output import plain
from dynid.errors import ArgumentError, DynidError, quote_path
from dynid.estimate import Estimate, RobotSource
from dynid.files import whole_file
from dynid.fit.judge import Status
from dynid.fit.system import Terms, system_of
from dynid.formats.json_record import JsonRecord, read_json
from dynid.formats.robot_json import robot_from_record, robot_record
from dynid.log.log import Provenance
from dynid.spatial import Array, frozen
from dynid.validation import Score

SCHEMA = 1
FILE = "estimate.json"  # in the directory of an identification
LARGEST = 64 * 1024 * 1024  # bytes
STATUSES: tuple[Status, ...] = ("trusted", "weak", "failed")
MOST_EXTRA = 1000
ORIGINS = ("measured", "grouped", "prior")


def record(estimate: Estimate) -> dict[str, Any]:
    """What `dynid identify --json` prints."""
    rows = zip(estimate.names, estimate.values.tolist(), estimate.std.tolist(), strict=True)
    return {
        "parameters": [
            {
                "name": name,
                "value": value,
                "std": std,
                "relative_std_percent": 100.0 * std / abs(value) if value else float("inf"),
            }
            for name, value, std in rows
        ],
        "condition": estimate.condition,
        "scaled_condition": estimate.scaled_condition,
        "samples": estimate.samples,
        "train": _scores(estimate.train),
        "validation": {log: _scores(found) for log, found in estimate.validation.items()},
        "held_out_percent": dict(estimate.held_out),
        "physical": estimate.physical,
        "standard": _standard(estimate),
        "status": estimate.status,
        "advice": list(estimate.advice),
        "choices": dict(estimate.choices),
        "logs": [asdict_of(log) for log in estimate.logs],
        "seconds": estimate.seconds,
    }


def _standard(estimate: Estimate) -> list[dict[str, Any]] | None:
    """The full physical set, if there is one: what each parameter is and whose word it is."""
    if estimate.parameters is None:
        return None
    names = estimate.robot.parameter_names
    rows = zip(names, estimate.parameters.tolist(), estimate.origins, strict=True)
    return [{"name": name, "value": value, "origin": origin} for name, value, origin in rows]


def asdict_of(log: Provenance) -> dict[str, Any]:
    return {"source": log.source, "sha256": log.sha256, "options": dict(log.options)}


def _scores(found: Mapping[str, Score]) -> dict[str, dict[str, float]]:
    return {joint: asdict(score) for joint, score in found.items()}


def save(estimate: Estimate, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write the file, whole or not at all."""
    terms, p = estimate.terms, len(estimate.names)
    source = estimate.source
    whole = {
        "schema": SCHEMA,
        "dynid": __version__,
        **record(estimate),
        "terms": {
            "armature": terms.armature,
            "friction": list(terms.friction),
            "width": terms.width,
            "presliding": terms.presliding,
            "stribeck_speed": terms.stribeck_speed,
            "extra": list(terms.extra),
            "load_parameters": terms.load_parameters,
        },
        "expressions": list(estimate.expressions),
        "covariance": estimate.covariance[np.tril_indices(p)],
        "white_std": estimate.white_std,
        "information": estimate.information,
        "residual": estimate.residual,
        "freedom": estimate.freedom,
        "source": None if source is None else asdict(source),
        "robot": robot_record(estimate.robot),
    }
    with whole_file(path, force=force) as temporary, temporary.open("w", encoding="utf-8") as file:
        json.dump(plain(whole), file, indent=1, allow_nan=False, ensure_ascii=False)
        file.write("\n")


def load_estimate(path: str | os.PathLike[str]) -> Estimate:
    """The estimate that `Estimate.save` or `dynid identify` wrote: its file, or the directory around it."""
    if Path(path).is_dir():
        path = Path(path) / FILE
    parsed = read_json(path, LARGEST, "an estimate")
    try:
        return _estimate(JsonRecord.of(parsed, "the file"))
    except DynidError as problem:
        raise ArgumentError(f"{quote_path(path)} is no estimate of dynid: {problem}") from problem


def _estimate(file: JsonRecord) -> Estimate:
    file.integer("schema", range(SCHEMA, SCHEMA + 1))
    system = system_of(robot_from_record(file.value("robot"), f"{file.where}, robot"), _terms(file))
    entries = file.records("parameters")
    names = tuple(entry.text("name") for entry in entries)
    if names != system.names:
        raise file.error(
            "parameters", f"the robot and terms of the file have {', '.join(system.names)[:200]}"
        )
    p = len(names)
    covariance = np.zeros((p, p))
    covariance[np.tril_indices(p)] = file.numbers("covariance", (p * (p + 1) // 2,), null=np.inf)
    covariance = covariance + np.tril(covariance, -1).T
    source = file.value("source")
    parameters, origins = _bodies(file, system.robot.parameter_names)
    return Estimate(
        system=system,
        values=frozen(np.array([entry.number("value") for entry in entries])),
        covariance=frozen(covariance),
        white_std=file.numbers("white_std", (p,), null=np.inf),
        information=file.numbers("information", (p, p + 1)),
        residual=file.number("residual", null=np.nan),
        freedom=file.number("freedom"),
        condition=file.number("condition", null=np.inf),
        scaled_condition=file.number("scaled_condition", null=np.inf),
        samples=file.integer("samples", range(1 << 62)),
        status=file.choice("status", STATUSES),
        advice=file.texts("advice"),
        choices=MappingProxyType(dict(file.record("choices").entries)),
        train=_read_scores(file.record("train")),
        held_out={
            joint: file.record("held_out_percent").number(joint, null=np.nan)
            for joint in file.record("held_out_percent").entries
        },
        validation={
            log: _read_scores(file.record("validation").record(log))
            for log in file.record("validation").entries
        },
        parameters=parameters,
        origins=origins,
        physical=_truth(file, "physical"),
        source=None if source is None else _source(file.record("source")),
        logs=tuple(_provenance(entry) for entry in file.records("logs")),
        seconds=file.number("seconds"),
    )


def _bodies(file: JsonRecord, names: tuple[str, ...]) -> tuple[Array | None, tuple[str, ...]]:
    if file.value("standard") is None:
        return None, ()
    entries = file.records("standard")
    if tuple(entry.text("name") for entry in entries) != names:
        raise file.error("standard", f"must be the robot's {len(names)} parameters in its order")
    values = frozen(np.array([entry.number("value") for entry in entries]))
    return values, tuple(entry.choice("origin", ORIGINS) for entry in entries)


def _terms(file: JsonRecord) -> Terms:
    entry = file.record("terms")
    load: Array | None = None
    if entry.value("load_parameters") is not None:
        links = len(file.record("robot").records("links"))
        load = entry.numbers("load_parameters", (10 * links,))
    extra = entry.texts("extra")
    if len(extra) > MOST_EXTRA or len(set(extra)) < len(extra):
        raise entry.error("extra", "must be different names")
    return Terms(
        armature=bool(_truth(entry, "armature")),
        friction=entry.texts("friction"),
        width=entry.number("width"),
        presliding=entry.number("presliding"),
        stribeck_speed=entry.number("stribeck_speed"),
        extra=extra,
        load_parameters=load,
    )


def _truth(entry: JsonRecord, key: str) -> bool | None:
    value = entry.value(key)
    if value is not None and not isinstance(value, bool):
        raise entry.error(key, "must be true, false or null")
    return value


def _read_scores(entry: JsonRecord) -> Mapping[str, Score]:
    found: dict[str, Score] = {}
    for joint in entry.entries:
        score = entry.record(joint)
        found[joint] = Score(
            **{
                key: score.number(key, null=np.nan)
                for key in ("rmse", "percent", "percent_raw", "percent_moving", "r2")
            }
        )
    return MappingProxyType(found)


def _source(entry: JsonRecord) -> RobotSource:
    text = entry.value("text")
    if not isinstance(text, str):
        raise entry.error("text", "must be a text")
    return RobotSource(entry.text("format"), text, entry.text("sha256"))


def _provenance(entry: JsonRecord) -> Provenance:
    options = entry.record("options").entries
    return Provenance(
        entry.text("source"),
        entry.text("sha256"),
        MappingProxyType({key: str(value) for key, value in options.items()}),
    )
