"""Loads from logs without and with them: the truth of simulations, and what no data can tell."""

import json
from dataclasses import replace
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

from dynid import load_robot
from dynid.cli import main
from dynid.errors import ArgumentError
from dynid.export.dh_toml import write_dh_toml
from dynid.log.log import Log
from dynid.log.write import write_log
from dynid.model import model_of
from dynid.payload import Payload, payload
from dynid.physical.body import nearest_body
from dynid.plant.sensors import Sensors
from dynid.robot import Link, Robot
from dynid.spatial import is_physical, parameters_from_com
from helpers_load import COM, INERTIA, MASS, logs, quick_logs, ur_like
from helpers_physical import pseudo
from helpers_robots import random_body

TRUTH = np.array([MASS, *COM, INERTIA[0, 0], INERTIA[1, 1], INERTIA[2, 2], 0.0, 0.0, 0.0])
ARM = ur_like()
SEEDS = range(4)
GIVEN = {"cutoff_hz": 8.0, "width": 0.01, "presliding": 0.0, "delay": 0.0}  # where nothing hangs on choices


@pytest.fixture(scope="module")
def runs() -> list[tuple[Log, Log]]:
    return [quick_logs(ARM, seed) for seed in SEEDS]


@pytest.fixture(scope="module")
def found(runs: list[tuple[Log, Log]]) -> list[Payload]:
    return [payload(ARM, *pair) for pair in runs]


def body(load: Payload) -> np.ndarray:
    return np.array([load.mass, *load.com, *load.inertia])


def test_mass_and_centre_come_back_through_realistic_sensors(found: list[Payload]) -> None:
    for load in found:
        assert load.mass == pytest.approx(MASS, rel=0.02)
        assert np.linalg.norm(load.com - COM) < 0.005
        assert is_physical(load.parameters)
        assert load.status == "trusted"


def test_intervals_cover_the_truth(found: list[Payload]) -> None:
    """Ten intervals of 95 % on four runs: nine in ten at the least."""
    covered = []
    for load in found:
        interval = load.as_dict()["interval"]
        ends = np.vstack([interval["mass"], interval["com"], interval["inertia"]])
        covered.append((ends[:, 0] <= TRUTH) & (ends[:, 1] >= TRUTH))
    assert np.mean(covered) >= 0.9
    errors = np.array([(body(load) - TRUTH) / load.std for load in found])
    assert 0.5 < np.sqrt(np.mean(errors**2)) < 1.5  # and deviations are no wider than need be


def test_a_simulator_of_its_own_agrees() -> None:
    """MuJoCo's plant, with a controller that does not follow exactly."""
    load = payload(ARM, *logs(ARM, 4, duration=5.0), **GIVEN)
    assert load.mass == pytest.approx(MASS, rel=0.02)
    assert np.linalg.norm(load.com - COM) < 0.005


def test_perfect_sensors_leave_little() -> None:
    load = payload(ARM, *quick_logs(ARM, 2, sensors=Sensors()), **{**GIVEN, "width": 1e-3})
    assert load.mass == pytest.approx(MASS, rel=1e-3)
    assert load.com == pytest.approx(COM, abs=2e-4)


def test_on_a_known_arm_one_run_is_enough(runs: list[tuple[Log, Log]]) -> None:
    alone = payload(ARM, [], runs[0][1], **GIVEN)
    assert alone.method == "known"
    assert alone.mass == pytest.approx(MASS, rel=0.02)
    assert np.linalg.norm(alone.com - COM) < 0.005
    both = payload(ARM, *runs[0], method="known", **GIVEN)
    assert both.method == "known"
    assert both.mass == pytest.approx(MASS, rel=0.02)


def test_a_load_on_another_link_is_in_that_link_s_frame() -> None:
    """What hangs on the fore-arm, in the axes of its frame."""
    at = ARM.links[2]
    heavier = replace(at, parameters=at.parameters + parameters_from_com(MASS, COM, INERTIA))
    arm = replace(ARM, links=(*ARM.links[:2], heavier, *ARM.links[3:]))
    load = payload(ARM, quick_logs(ARM, 5)[0], quick_logs(arm, 6)[0], link=at.name, **GIVEN)
    assert load.link == at.name
    assert (np.abs(body(load) - TRUTH) < 4.0 * load.std).all()
    assert load.std[:4].max() < 0.05


def test_what_a_planar_arm_cannot_tell_has_no_interval() -> None:
    robot = load_robot("scara")
    load = payload(robot, *quick_logs(robot, 1), **GIVEN)
    assert set(load.undetermined) == {"XX", "XY", "XZ", "YY", "YZ", "MZ"}
    assert load.mass == pytest.approx(MASS, rel=0.02)
    assert load.com[:2] == pytest.approx(COM[:2], abs=0.005)
    assert np.isinf(load.std[[3, 4, 5]]).all()
    assert np.isfinite(load.std[[0, 1, 2, 6]]).all()


# --- the nearest body ---------------------------------------------------------------------------------


@pytest.mark.parametrize("mass", [None, 1.5])
@pytest.mark.parametrize("seed", range(4))
def test_the_nearest_body_is_that_of_cvxpy(seed: int, mass: float | None) -> None:
    rng = np.random.default_rng(seed)
    size = np.array([0.01] * 6 + [0.1] * 3 + [1.0])
    R = rng.normal(size=(10, 10)) * 100.0 / size
    far = random_body(rng) + 0.5 * size * rng.normal(size=10)
    r = R @ far
    found = nearest_body(R, r, mass)
    x = cp.Variable(10)
    P = cp.bmat(pseudo(cp.multiply(size, x)))
    scale = np.diag([10.0, 10.0, 10.0, 1.0])
    constraints = [scale @ (0.5 * (P + P.T)) @ scale >> 0.0]
    if mass is not None:
        constraints.append(size[9] * x[9] == mass)
    problem = cp.Problem(cp.Minimize(cp.sum_squares((R * size) @ x - r) * 1e-4), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    cost = float(np.sum((R @ found.parameters - r) ** 2)) * 1e-4
    assert found.advice == ()
    assert is_physical(found.parameters)
    assert cost == pytest.approx(problem.value, rel=1e-5, abs=1e-8)
    if mass is not None:
        assert found.parameters[9] == pytest.approx(mass, rel=1e-8)


# --- doubts --------------------------------------------------------------------------------------------


def test_without_a_difference_there_is_no_load() -> None:
    a, b = quick_logs(ARM, 1)[0], quick_logs(ARM, 2)[0]
    load = payload(ARM, a, b, **GIVEN)
    assert load.status == "weak"
    assert "no load can be told from none" in load.advice[0]


def test_swapped_logs_are_noticed(runs: list[tuple[Log, Log]]) -> None:
    without, loaded = runs[0]
    load = payload(ARM, loaded, without, **GIVEN)
    assert load.status == "weak"
    assert "swapped" in load.advice[0]


def unknown(robot: Robot) -> Robot:
    return replace(robot, links=tuple(Link(name=link.name) for link in robot.links))


BAD = {
    "method": (ARM, {"method": "guess"}, "'guess' is unknown"),
    "link": (ARM, {"link": "link66"}, "Did you mean 'link6'"),
    "unknown arm": (unknown(ARM), {"method": "known"}, "needs all inertias"),
    "option": (ARM, {"cutof_hz": 3.0}, "Did you mean 'cutoff_hz'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_named(runs: list[tuple[Log, Log]], case: str) -> None:
    robot, options, message = BAD[case]
    with pytest.raises(ArgumentError, match=message):
        payload(robot, *runs[0], **options)


def test_a_difference_needs_two_runs(runs: list[tuple[Log, Log]]) -> None:
    with pytest.raises(ArgumentError, match="without the load"):
        payload(ARM, [], runs[0][1], method="difference")


# --- the command ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, runs: list[tuple[Log, Log]]) -> Path:
    path = tmp_path_factory.mktemp("load")
    (path / "arm.toml").write_text(write_dh_toml(model_of(ARM)).text)
    write_log(runs[0][0], path / "without.csv")
    write_log(runs[0][1], path / "with.csv")
    return path


def command(capsys, folder: Path, *arguments: str) -> tuple[int, str, str]:
    status = main(["payload", str(folder / "arm.toml"), *arguments])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_the_command_prints_one_object(capsys, folder: Path) -> None:
    arguments = ("--without", str(folder / "without.csv"), "--with", str(folder / "with.csv"))
    status, out, err = command(capsys, folder, *arguments, "--json")
    printed = json.loads(out)
    assert (status, err) == (0, "")
    assert printed["mass"] == pytest.approx(MASS, rel=0.02)
    assert printed["com"] == pytest.approx(COM, abs=0.005)
    assert len(printed["inertia"]) == 6
    assert {key: np.shape(value) for key, value in printed["std"].items()} == {
        "mass": (),
        "com": (3,),
        "inertia": (6,),
    }
    status, out, err = command(capsys, folder, *arguments)
    assert status == 0
    assert "mass, kg" in out
    assert "trusted" in out
    assert "without the load: fitting" in err


def test_the_command_s_exit_status_is_the_verdict(capsys, folder: Path) -> None:
    without, loaded = str(folder / "without.csv"), str(folder / "with.csv")
    assert command(capsys, folder, "--without", loaded, "--with", without, "--quiet")[0] == 1
    status, out, err = command(capsys, folder, "--without", "gone.csv", "--with", loaded)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert "gone.csv" in err
