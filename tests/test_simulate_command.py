"""`dynid simulate` as a user meets it."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from dynid import load_robot, read_log
from dynid.cli import main
from dynid.trajectory import make_trajectory, write_trajectory


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with trajectories of three robots, to work in."""
    for name in ("planar2", "gk3", "puma260"):
        robot = load_robot(name)
        t = np.arange(21) / 100.0
        q = 0.1 * (1.0 - np.cos(10.0 * np.pi * t))[:, None] * np.ones(robot.dof)
        write_trajectory(make_trajectory(robot.joint_names, t, q), tmp_path / f"{name}.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("suffix", ["csv", "parquet", "mcap"])
def test_it_writes_a_log_that_can_be_read(
    there: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "planar2", "planar2.csv", "-o", f"log.{suffix}"]) == 0
    captured = capsys.readouterr()
    assert f"21 samples of 2 joints, 0.2 s: log.{suffix}" in captured.out
    robot = load_robot("planar2")
    log = read_log(f"log.{suffix}", robot)
    np.testing.assert_allclose(log.time, np.arange(21) / 100.0, atol=1e-9)
    held = robot.gravity_torque(log.position[10])  # the trajectory turns here, and accelerates with 98.7
    assert np.all(log.effort[10] < held - 1.0)
    assert sorted(p.name for p in there.iterdir() if p.name.startswith((".", "log"))) == [f"log.{suffix}"]


def test_json_and_all_options(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "--seed 3 --controller computed-torque --nominal planar2 --bandwidth-hz 8 --control-hz 500 "
        "--rate-hz 250 --encoder-bits 14 --velocity encoder --torque-noise 0.01 --torque-step 0.01 "
        "--delay -0.001 --clock-jitter 0.0001 --dropped 0.1 --gravity -9.81,0,0 --json"
    )
    options = text.split()
    assert main(["simulate", "planar2", "planar2.csv", "-o", "log.csv", *options]) == 0
    captured = capsys.readouterr()
    record = json.loads(captured.out)
    assert captured.err == ""
    assert record["joints"] == list(load_robot("planar2").joint_names)
    assert record["seed"] == 3
    assert 30 < record["samples"] < 51
    assert any("dropped" in remark for remark in record["remarks"])
    assert 0.0 < record["largest_tracking_error"] < 0.1


def test_limits_of_efforts_are_kept_when_asked_for(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The trajectory needs about four times what the shoulder has, so it is followed badly."""
    assert main(["simulate", "planar2", "planar2.csv", "-o", "log.csv", "--saturate", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["largest_tracking_error"] > 0.1
    efforts = np.abs(read_log("log.csv", load_robot("planar2")).effort)
    np.testing.assert_allclose(efforts.max(axis=0), [60.0, 20.0], rtol=1e-12)


def test_the_seed_decides(there: Path) -> None:
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        arguments = ["simulate", "planar2", "planar2.csv", "-o", f"{name}.csv", "--seed", seed]
        assert main([*arguments, "--torque-noise", "0.1", "--quiet"]) == 0
    a, b, c = ((there / f"{name}.csv").read_bytes() for name in "abc")
    assert a == b != c


def test_remarks_go_to_stderr_unless_quiet(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["simulate", "planar2", "planar2.csv", "--dropped", "0.5", "--force", "-o", "log.csv"]
    assert main(arguments) == 0
    assert "samples dropped" in capsys.readouterr().err
    assert main([*arguments, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["gk3", "puma260"])
def test_sets_that_are_not_physical_are_refused(
    there: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", name, f"{name}.csv", "-o", "log.csv"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"dynid simulate: {name}: links " in captured.err
    assert "that no body can have" in captured.err
    assert "--physical" in captured.err
    assert not (there / "log.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["planar2", "none.csv", "-o", "log.csv"], "none.csv"),
        (["planar2", "gk3.csv", "-o", "log.csv"], "no column"),
        (["planar2", "planar2.csv", "-o", "log.xls"], "'.csv'"),
        (["planar2", "planar2.csv", "-o", "planar2.csv"], "--force"),
        (["planar2", "planar2.csv", "-o", "no/log.csv"], "cannot be written"),
        (["planar2", "planar2.csv", "-o", "log.csv", "--controller", "pid"], "computed-torque"),
        (["planar2", "planar2.csv", "-o", "log.csv", "--rate-hz", "0"], "rate"),
        (["planar2", "planar2.csv", "-o", "log.csv", "--bandwidth-hz", "-1"], "bandwidth_hz"),
        (["planar2", "planar2.csv", "-o", "log.csv", "--dropped", "2"], "dropped"),
        (["planar2", "planar2.csv", "-o", "log.csv", "--seed", "-1"], "seed"),
        (["planar2", "planar2.csv", "-o", "log.csv", "--gear-stiffness", "1000,x"], "expected numbers"),
        (["planar2", "planar2.csv", "-o", "log.csv", "--gear-stiffness", "1000,1000"], "Ia is zero"),
        (["planar2", "planar2.csv", "-o", "log.csv", "--nominal", "scara"], "nominal"),
        (["planar2", "planar2.csv"], "-o"),
    ],
)
def test_bad_input_is_one_message_and_status_2(
    there: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path.name for path in there.iterdir())
    assert main(["simulate", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert sorted(path.name for path in there.iterdir()) == before


def test_without_mujoco_the_extra_is_named(
    there: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    assert main(["simulate", "planar2", "planar2.csv", "-o", "log.csv"]) == 2
    assert "dynid[sim]" in capsys.readouterr().err
