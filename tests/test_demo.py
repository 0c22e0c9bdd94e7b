"""The demonstration: what it claims holds, judged by what it wrote, and its files are usable."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import mujoco
import numpy as np
import pytest

import dynid
from dynid.cli import main
from dynid.demo.setting import NOISE, OFF, SENSORS, fast_move, nominal_arm, true_arm
from dynid.model import model_of
from dynid.spatial import is_physical
from helpers_report import Reader


@cache
def run():
    """One run, its JSON, and its directory."""
    import contextlib
    import io

    directory = Path(mkdtemp(prefix="dynid-demo-"))
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(["demo", "-o", str(directory), "--json"])
    return directory, json.loads(out.getvalue()), status, err.getvalue()


@pytest.fixture(scope="module", autouse=True)
def cleaned():
    yield
    if run.cache_info().currsize:
        shutil.rmtree(run()[0])


def test_faults_and_the_nominal_model_are_as_promised():
    assert (SENSORS.encoder_bits, SENSORS.clock_jitter, SENSORS.dropped) == (16, 1e-3, 0.005)
    assert SENSORS.torque_noise == NOISE == 0.01
    arm = true_arm()
    nominal = nominal_arm(arm, 0)
    ratios = np.concatenate(
        [
            (nominal.parameters / np.where(arm.parameters, arm.parameters, np.nan)),
            model_of(nominal).armature / model_of(arm).armature,
        ]
    )
    np.testing.assert_allclose(np.abs(ratios[np.isfinite(ratios)] - 1.0), OFF, rtol=1e-12)
    assert all(is_physical(link.parameters) for link in nominal.links)
    assert (nominal_arm(arm, 0).parameters == nominal.parameters).all()
    assert (nominal_arm(arm, 1).parameters != nominal.parameters).any()


def test_the_fast_move_reaches_its_limits_and_moves_all_joints():
    arm = true_arm()
    move = fast_move(arm)
    speeds = np.abs(move.qd).max(axis=0) / [joint.limits.velocity for joint in arm.joints]
    assert speeds.max() == pytest.approx(1.0, rel=1e-9)
    assert (np.ptp(move.q, axis=0) >= np.radians(45.0) * (1.0 - 1e-12)).all()


@pytest.mark.slow
def test_it_keeps_its_promises():
    _, found, status, err = run()
    assert status == 0
    assert err == ""
    assert all(found["claims"].values())
    for joint in found["validation"].values():
        assert joint["rmse"] <= 1.3 * joint["floor"]
        assert 0.9 < joint["torque_error_over_noise"] <= 1.3
    worst = {name: entry["worst_percent"] for name, entry in found["tracking"].items()}
    assert worst["identified"] <= 1.2 * worst["true"]
    assert worst["identified"] <= worst["nominal"] / 3.0
    assert found["physical"] is True
    assert len(found["estimators"]) >= 4


@pytest.mark.slow
def test_the_identified_torques_are_the_true_ones():
    """Of random motions, in MuJoCo, without limits and dry friction: what filters and noise never touched."""
    directory, *_ = run()
    arm = true_arm()
    true = model_of(arm)
    zero = np.zeros(arm.dof)
    true = replace(true, friction=replace(true.friction, coulomb=zero, offset=zero))
    model = mujoco.MjModel.from_xml_path(str(directory / "identified.xml"))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    state = mujoco.MjData(model)
    motions = np.random.default_rng(0).uniform(-2.0, 2.0, (50, 3, arm.dof))
    wanted = true.efforts(motions[:, 0], motions[:, 1], motions[:, 2])
    found = np.zeros_like(wanted)
    for k, (q, qd, qdd) in enumerate(motions):
        state.qpos[:], state.qvel[:], state.qacc[:] = q, qd, qdd
        mujoco.mj_inverse(model, state)
        found[k] = state.qfrc_inverse
    error = np.sqrt(np.mean((wanted - found) ** 2, axis=0) / np.mean(wanted**2, axis=0))
    assert error.max() < 0.01  # the nominal model's: 0.2


@pytest.mark.slow
def test_files_can_be_used_again():
    directory, found, *_ = run()
    estimate = dynid.load_estimate(directory / "estimate.json")
    assert estimate.status == found["status"]
    nominal = nominal_arm(true_arm(), 0)
    log = dynid.read_log(directory / "log-3.csv", nominal)
    for joint, score in estimate.validate(log).items():
        assert score.rmse == pytest.approx(found["validation"][joint]["rmse"], rel=1e-9)
    for name in ("identified.urdf", "identified.toml"):
        robot = dynid.load_robot(directory / name)
        assert robot.dof == 6
    times = np.diff(log.time)
    assert len(log) == pytest.approx(0.995 * 10.0 * 200.0, rel=0.01)  # one in two hundred is lost
    assert np.std(times[times < 0.0075]) == pytest.approx(np.sqrt(2.0) * 1e-3, rel=0.15)


@pytest.mark.slow
def test_the_report_has_the_tables_of_the_json():
    directory, found, *_ = run()
    text = (directory / "report.html").read_text("utf-8")
    assert len(text.encode()) < 6_000_000
    reader = Reader.of(text)
    for row in reader.table(id="tracks"):
        wanted = [found["tracking"][name]["percent"][row[0]] for name in found["tracking"]]
        np.testing.assert_allclose(row[1:], wanted, rtol=1e-9)
    methods = reader.table(id="methods")
    assert [re.match(r"[a-z]+", row[0])[0] for row in methods] == list(found["estimators"])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
def test_the_code_compiles_without_a_warning(tmp_path):
    directory, *_ = run()
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1"]
    subprocess.run(
        ["cc", *flags, "-c", str(directory / "c" / "arm.c"), "-o", str(tmp_path / "arm.o")], check=True
    )


def test_without_the_simulator_it_says_what_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    assert main(["demo", "-o", str(tmp_path / "d")]) == 2
    assert "pip install 'dynid[sim]'" in capsys.readouterr().err
    assert not (tmp_path / "d").exists()


def test_what_is_there_is_not_overwritten(tmp_path, capsys):
    (tmp_path / "log-2.csv").write_text("mine")
    assert main(["demo", "-o", str(tmp_path)]) == 2
    assert "log-2.csv" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["log-2.csv"]


def test_a_bad_seed_is_refused(tmp_path, capsys):
    assert main(["demo", "-o", str(tmp_path / "d"), "--seed", "-1"]) == 2
    assert "--seed must be 0 or more" in capsys.readouterr().err
    assert not (tmp_path / "d").exists()
