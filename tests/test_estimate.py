"""Estimates as values, text and files."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from dynid import ArgumentError, Estimate, identify, load_estimate
from helpers_fit import arm, log_of, waves

ARM = arm("planar2", seed=2)


@cache
def found() -> Estimate:
    motion = waves(ARM.robot, seconds=12.0, size=0.6)
    log = log_of(ARM, motion, effort_noise=0.01, position_noise=1e-5)
    return identify(ARM.robot, log, validate=log, cutoff_hz=6.0)


def test_predictions_are_those_of_the_values() -> None:
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 5, 2))
    estimate = found()
    rigid = estimate.robot.inverse_dynamics(q, qd, qdd, estimate.model.parameters)
    drives = estimate.model.friction.efforts(qd) + qdd * estimate.model.armature
    assert estimate.predict(q, qd, qdd) == pytest.approx(rigid + drives, rel=1e-12)
    assert estimate.predict(q[0], qd[0], qdd[0]) == pytest.approx(estimate.predict(q, qd, qdd)[0], rel=1e-12)
    truth = ARM.model.efforts(q, qd, qdd)
    assert np.abs(estimate.predict(q, qd, qdd) - truth).max() < 0.05 * np.abs(truth).max()


def test_a_file_gives_the_same_estimate(tmp_path: Path) -> None:
    estimate, path = found(), tmp_path / "estimate.json"
    estimate.save(path)
    again = load_estimate(path)
    assert again.names == estimate.names
    for name in ("values", "covariance", "white_std", "information"):
        assert np.array_equal(getattr(again, name), getattr(estimate, name)), name
    for name in ("status", "advice", "train", "held_out", "validation", "samples", "physical", "freedom"):
        assert getattr(again, name) == getattr(estimate, name), name
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 4, 2))
    assert np.array_equal(again.predict(q, qd, qdd), estimate.predict(q, qd, qdd))
    assert again.logs[0].sha256 == estimate.logs[0].sha256
    with pytest.raises(ArgumentError, match="--force"):
        estimate.save(path)
    estimate.save(path, force=True)


def test_the_record_has_what_is_promised() -> None:
    record = found().as_dict()
    assert set(record["parameters"][0]) == {"name", "value", "std", "relative_std_percent"}
    assert [entry["name"] for entry in record["parameters"]] == list(found().names)
    assert set(record["train"]["shoulder"]) == {"rmse", "percent", "percent_raw", "percent_moving", "r2"}
    assert {"condition", "samples", "validation", "physical", "status", "advice", "choices"} < set(record)
    assert record["choices"]["cutoff_hz"] == 6.0
    assert record["choices"]["friction"] == "viscous,coulomb,offset"


def test_the_summary_says_the_verdict_first() -> None:
    lines = found().summary().splitlines()
    assert lines[0] == "planar2: can be trusted"
    assert any(line.startswith("elbow") for line in lines)
    assert any(line.startswith("Fc2") for line in lines)


def test_names_are_asked_for_by_name() -> None:
    with pytest.raises(ArgumentError, match="Did you mean 'Fc1'"):
        found().value("fc1")


def spoilt(key: str, value: object) -> str:
    text = json.loads(json.dumps(_record()))
    place = text
    *path, last = key.split("/")
    for part in path:
        place = place[int(part) if part.isdigit() else part]
    place[last] = value
    return json.dumps(text)


@cache
def _record() -> dict:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "estimate.json"
        found().save(path)
        return json.loads(path.read_text())


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("schema", 99, "schema"),
        ("status", "splendid", "'trusted', 'weak', 'failed'"),
        ("parameters/0/value", None, "value"),
        ("parameters/0/name", "ZZR9", "parameters"),
        ("covariance", [1.0], "covariance"),
        ("information", "none", "information"),
        ("samples", -1, "samples"),
        ("robot", {}, "robot"),
        ("terms/friction", ["Fz"], "Fz"),
        ("terms/width", -1.0, "width"),
        ("terms/presliding", -1.0, "presliding"),
        ("terms/extra", ["a", "a"], "different names"),
        ("physical", "yes", "true, false or null"),
        ("train/shoulder/rmse", "small", "rmse"),
    ],
)
def test_a_spoilt_file_is_refused_with_its_place(
    tmp_path: Path, key: str, value: object, message: str
) -> None:
    path = tmp_path / "estimate.json"
    path.write_text(spoilt(key, value))
    with pytest.raises(ArgumentError, match=message) as problem:
        load_estimate(path)
    assert "estimate.json" in str(problem.value)


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "{" * 100_000, '{"schema": 1', "\x00\xff"])
def test_what_is_no_estimate(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ArgumentError, match=r"x\.json"):
        load_estimate(path)
    with pytest.raises(ArgumentError, match="cannot be read"):
        load_estimate(tmp_path)
