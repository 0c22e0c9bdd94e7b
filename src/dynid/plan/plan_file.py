"""plan.json: the experiments with their trajectories, written whole and read with suspicion."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dynid.commands.output import plain
from dynid.errors import ArgumentError, DynidError, choices, quote, quote_path
from dynid.files import whole_file
from dynid.formats.json_record import JsonRecord, read_json
from dynid.plan.experiments import Experiment
from dynid.robot import Robot
from dynid.spatial import Array, frozen

LARGEST = 16 * 1024 * 1024  # bytes
MOST = 10_000  # experiments
LONGEST_NAME = 40  # of a joint's name in a file's name


@dataclass(frozen=True, eq=False)
class Planned:
    """An experiment as plan.json has it; joints are counted from 0."""

    file: str
    moves: int
    posture: Array  # (n,)
    estimates: tuple[str, ...]
    condition: float

    @property
    def stem(self) -> str:
        """The file's name up to its last dot."""
        return Path(self.file).stem


def file_name(number: int, robot: Robot, moves: int) -> str:
    """A name for the trajectory of an experiment: its number and the joint that moves."""
    joint = re.sub(r"[^A-Za-z0-9_-]", "_", robot.joint_names[moves])[:LONGEST_NAME]
    return f"{number:02d}_{joint}.csv"


def record(robot: Robot, number: int, experiment: Experiment) -> dict[str, Any]:
    """An experiment as JSON."""
    return {
        "file": file_name(number, robot, experiment.moves),
        "moves": robot.joint_names[experiment.moves],
        "configuration": dict(zip(robot.joint_names, experiment.posture.tolist(), strict=True)),
        "estimates": list(experiment.estimates),
        "condition": experiment.condition,
        "step": experiment.step,
        "why": experiment.why,
    }


def write_plan(
    path: str | os.PathLike[str], robot: Robot, experiments: Sequence[Experiment], *, force: bool = False
) -> None:
    """plan.json, in the order of the experiments."""
    whole = {"experiments": [record(robot, k, one) for k, one in enumerate(experiments, start=1)]}
    with whole_file(path, force=force) as temporary, temporary.open("w", encoding="utf-8") as file:
        json.dump(plain(whole), file, indent=1, allow_nan=False, ensure_ascii=False)
        file.write("\n")


def read_plan(path: str | os.PathLike[str], robot: Robot) -> tuple[Planned, ...]:
    """The experiments of a plan for a robot; only `moves` and `configuration` must be there."""
    parsed = read_json(path, LARGEST, "a plan")
    try:
        entries = JsonRecord.of(parsed, quote_path(path)).records("experiments")
        if not 1 <= len(entries) <= MOST:
            raise ArgumentError(
                f"{quote_path(path)}: a plan has from 1 to {MOST} experiments, not {len(entries)}"
            )
        found = tuple(_planned(entry, robot, number) for number, entry in enumerate(entries, start=1))
        _different_files(found, path)
    except DynidError as problem:
        raise ArgumentError(f"not a plan for {robot.name}: {problem}") from problem
    return found


def _planned(entry: JsonRecord, robot: Robot, number: int) -> Planned:
    moves = entry.choice("moves", robot.joint_names)
    joint = robot.joint_names.index(moves)
    where = entry.record("configuration")
    for name in where.entries:
        if name not in robot.joint_names:
            raise where.error(name, f"no joint of {robot.name}: {choices(name, robot.joint_names)}")
    posture = [
        where.number(name) if name in where.entries or k != joint else 0.0  # where it starts is its motion's
        for k, name in enumerate(robot.joint_names)
    ]
    file = entry.text("file") if "file" in entry.entries else file_name(number, robot, joint)
    if not re.fullmatch(r"[^/\\\x00-\x1f]{1,200}", file) or file.startswith("."):
        raise entry.error("file", "must be the plain name of a file")
    return Planned(
        file=file,
        moves=joint,
        posture=frozen(np.array(posture)),
        estimates=entry.texts("estimates") if "estimates" in entry.entries else (),
        condition=entry.number("condition", null=np.inf) if "condition" in entry.entries else np.inf,
    )


def _different_files(found: Sequence[Planned], path: str | os.PathLike[str]) -> None:
    """Refuse names that are the same up to the last dot: logs may have another format than trajectories."""
    seen: set[str] = set()
    for one in found:
        if one.stem in seen:
            raise ArgumentError(f"{quote_path(path)}: two experiments have the file {quote(one.file)}")
        seen.add(one.stem)
