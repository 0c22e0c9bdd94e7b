"""plan.json as a file: written, read with suspicion, and matched with logs."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dynid
from dynid.errors import ArgumentError
from dynid.log.log import Log, Provenance
from dynid.plan.experiments import algorithm_2
from dynid.plan.match import match
from dynid.plan.plan_file import Planned, read_plan, write_plan
from helpers_plan import bench_of, serial


@cache
def robot():
    return dynid.load_robot("scara")


@cache
def experiments():
    return algorithm_2(bench_of(robot()))


def written(folder: Path) -> Path:
    path = folder / "plan.json"
    write_plan(path, robot(), experiments())
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    read = read_plan(written(tmp_path), robot())
    assert [one.moves for one in read] == [one.moves for one in experiments()]
    assert [one.estimates for one in read] == [one.estimates for one in experiments()]
    np.testing.assert_array_equal([one.posture for one in read], [one.posture for one in experiments()])
    assert [one.condition for one in read] == [one.condition for one in experiments()]
    assert [one.file[:3] for one in read] == [f"{k:02d}_" for k in range(1, len(read) + 1)]


def test_names_of_joints_make_names_of_files_and_never_paths(tmp_path: Path) -> None:
    plain = serial(("R", 0, 0), ("R", 1.0, 0.1))
    wild = replace(
        plain, joints=tuple(replace(j, name=f"../{k}: {'x' * 99}") for k, j in enumerate(plain.joints))
    )
    path = tmp_path / "plan.json"
    write_plan(path, wild, algorithm_2(bench_of(wild)))
    for one in read_plan(path, wild):
        assert "/" not in one.file
        assert len(one.file) < 50


def test_only_moves_and_configuration_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    at = {name: 0.1 for name in robot().joint_names if name != "elbow"}
    path.write_text(json.dumps({"experiments": [{"moves": "elbow", "configuration": at}]}))
    (one,) = read_plan(path, robot())
    assert (one.file, one.moves, one.posture.tolist()) == ("01_elbow.csv", 1, [0.1, 0.0, 0.1, 0.1])


# --- hostile files --------------------------------------------------------------------------------------

HOSTILE: dict[str, tuple[Any, str]] = {
    "no object": ([], "must be an object"),
    "nothing": ({}, "'experiments' is missing"),
    "no list": ({"experiments": "x"}, "must be a list"),
    "no experiments": ({"experiments": []}, "from 1 to 10000 experiments"),
    "an experiment that is none": ({"experiments": [7]}, "experiments number 1: must be an object"),
    "too many": ({"experiments": [{}] * 10_001}, "from 1 to 10000 experiments, not 10001"),
}
CHANGES: dict[str, tuple[str, Any, str]] = {
    "another robot's joint": ("moves", "j7", "'j7' is unknown"),
    "a number for a name": ("moves", 3, "is unknown"),
    "a path upwards": ("file", "../../etc/passwd.csv", "plain name of a file"),
    "an absolute path": ("file", "/tmp/x.csv", "plain name of a file"),
    "a path with backslashes": ("file", "..\\x.csv", "plain name of a file"),
    "a hidden file": ("file", ".x.csv", "plain name of a file"),
    "a file with a line break": ("file", "a\nb.csv", "plain name of a file"),
    "a file twice": ("file", "02_shoulder.parquet", "two experiments have the file"),
    "no configuration": ("configuration", None, "must be an object"),
    "a joint too many": ("configuration", {"hand": 0.0}, "no joint of scara"),
    "a joint too few": ("configuration", {"shoulder": 0.0}, "'elbow' is missing"),
    "not a number": ("configuration", {"shoulder": float("nan")}, "finite numbers"),
    "too large a number": ("configuration", {"shoulder": 10**400}, "finite numbers"),
    "a text for a number": ("configuration", {"shoulder": "0.1"}, "must hold numbers"),
    "estimates that are no texts": ("estimates", [1, 2], "list of texts"),
    "a condition that is a text": ("condition", "good", "must hold numbers"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_plan_is_refused(name: str, tmp_path: Path) -> None:
    content, said = HOSTILE[name]
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ArgumentError, match=said):
        read_plan(path, robot())


@pytest.mark.parametrize("name", CHANGES)
def test_one_wrong_entry_is_named(name: str, tmp_path: Path) -> None:
    key, value, said = CHANGES[name]
    plan = json.loads(written(tmp_path).read_text())
    plan["experiments"][0][key] = value
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(plan))
    with pytest.raises(ArgumentError, match=said) as caught:
        read_plan(path, robot())
    assert "changed.json" in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff\xfe{}", "not JSON"),
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"experiments": ' + b"9" * 5000 + b"}", "not JSON"),
        (b" " * (16 * 1024 * 1024 + 1), "larger than 16 MiB, so not a plan"),
    ],
)
def test_bytes_that_are_no_plan_are_refused(data: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(data)
    with pytest.raises(ArgumentError, match=said):
        read_plan(path, robot())


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"none\.json' cannot be read"):
        read_plan(tmp_path / "none.json", robot())


# --- logs and experiments -------------------------------------------------------------------------------


def log_of(one: Planned, **changes: object) -> Log:
    """The experiment as it was planned, recorded in another format and folder."""
    wave = np.linspace(0.0, 1.0, 50)
    q = np.tile(one.posture, (50, 1))
    q[:, one.moves] += wave
    log = Log(
        joint_names=robot().joint_names,
        stamp_ns=np.arange(50, dtype=np.int64) * 10**8,
        epoch_ns=0,
        position=q,
        velocity=None,
        effort=np.zeros_like(q),
        provenance=Provenance(f"elsewhere/{one.stem}.mcap", ""),
    )
    return replace(log, **changes)


@pytest.fixture
def plan(tmp_path: Path) -> tuple[Planned, ...]:
    return read_plan(written(tmp_path), robot())


def test_logs_come_in_the_order_of_the_plan(plan: tuple[Planned, ...]) -> None:
    logs = [log_of(one) for one in plan]
    found, remarks = match(plan, robot(), logs[::-1])
    assert found == logs
    assert not remarks


def test_a_log_too_few_or_too_many(plan: tuple[Planned, ...]) -> None:
    logs = [log_of(one) for one in plan]
    with pytest.raises(
        ArgumentError, match=rf"{len(plan) - 1} logs for a plan of {len(plan)}.*'{plan[2].file}'"
    ):
        match(plan, robot(), [*logs[:2], *logs[3:]])
    with pytest.raises(ArgumentError, match="two logs of the experiment"):
        match(plan, robot(), [*logs, logs[0]])
    stranger = replace(logs[0], provenance=Provenance("elsewhere/09_hand.csv", ""))
    with pytest.raises(ArgumentError, match=r"elsewhere/09_hand\.csv: no experiment of the plan"):
        match(plan, robot(), [*logs, stranger])


def test_the_wrong_joint_moves(plan: tuple[Planned, ...]) -> None:
    logs = [log_of(one) for one in plan]
    q = np.tile(plan[0].posture, (50, 1))
    with pytest.raises(ArgumentError, match="in this experiment, but nothing moves"):
        match(plan, robot(), [replace(logs[0], position=q), *logs[1:]])
    other = q.copy()
    other[:, 3] += np.linspace(0.0, 1.0, 50)
    with pytest.raises(ArgumentError, match="in this experiment, but wrist moves"):
        match(plan, robot(), [replace(logs[0], position=other), *logs[1:]])


def test_what_is_not_as_planned_is_remarked(plan: tuple[Planned, ...]) -> None:
    logs = [log_of(one) for one in plan]
    j = next(j for j in range(robot().dof) if j != plan[0].moves)
    elsewhere, along = logs[0].position.copy(), logs[0].position.copy()
    elsewhere[:, j] += 0.2
    along[:, j] += np.linspace(0.0, 0.3, 50)
    name = robot().joint_names[j]
    _, remarks = match(plan, robot(), [replace(logs[0], position=elsewhere), *logs[1:]])
    assert len(remarks) == 1
    assert f"{name} stands at" in remarks[0]
    _, remarks = match(plan, robot(), [replace(logs[0], position=along), *logs[1:]])
    assert len(remarks) == 1
    assert f"{name} moves too, by 0.3" in remarks[0]
