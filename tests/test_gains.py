"""Gains of drives from currents without and with a known load: the truth, an oracle, and doubts."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import least_squares

from dynid import load_robot
from dynid.cli import main
from dynid.errors import ArgumentError
from dynid.export.dh_toml import write_dh_toml
from dynid.fit.arrays import samples_from_arrays
from dynid.fit.drive_gains import Run, covariance, find_gains
from dynid.fit.reduction import reduce
from dynid.fit.system import System, Terms, system_of
from dynid.gains import Gains, gains
from dynid.log.log import Log
from dynid.log.write import write_log
from dynid.model import model_of
from dynid.plant.sensors import Sensors
from dynid.robot import Robot
from helpers_load import COM, MASS, loaded, quick_logs, ur_like

ARM = ur_like()
GIVEN = {"cutoff_hz": 8.0, "width": 0.01, "presliding": 0.0, "delay": 0.0}  # where nothing hangs on choices
GAIN = np.array([14.9, 13.3, 11.1, 10.6, 11.0, 11.5])  # Nm/A


def as_currents(log: Log, gain: np.ndarray) -> Log:
    return replace(log, effort=log.effort / gain)


def currents(robot: Robot, seed: int, gain: np.ndarray, **options) -> tuple[Log, Log]:
    without, with_load = quick_logs(robot, seed, **options)
    return as_currents(without, gain), as_currents(with_load, gain)


@pytest.fixture(scope="module")
def runs() -> list[tuple[Log, Log]]:
    return [currents(ARM, seed, GAIN) for seed in range(3)]


@pytest.fixture(scope="module")
def found(runs: list[tuple[Log, Log]]) -> list[Gains]:
    return [gains(ARM, *pair, MASS) for pair in runs]


def test_gains_come_back_through_realistic_sensors(found: list[Gains]) -> None:
    """2 % of noise on the currents; the last joint feels the load by its offset of 14 mm alone."""
    for one in found:
        assert one.status == "trusted"
        assert one.values[:5] == pytest.approx(GAIN[:5], rel=0.02)
        assert one.values[5] == pytest.approx(GAIN[5], rel=0.06)
        assert one.com == pytest.approx(COM, abs=0.002)


def test_intervals_cover_the_truth(found: list[Gains]) -> None:
    """18 intervals of 95 %: chance leaves out more than three of them once in a hundred times."""
    covered = [(one.interval[:, 0] <= GAIN) & (one.interval[:, 1] >= GAIN) for one in found]
    assert np.sum(covered) >= 15
    errors = np.array([(one.values - GAIN) / one.std for one in found])
    assert 0.5 < np.sqrt(np.mean(errors**2)) < 1.5


def test_perfect_sensors_leave_little() -> None:
    one = gains(ARM, *currents(ARM, 2, GAIN, sensors=Sensors()), MASS, **{**GIVEN, "width": 1e-3})
    assert one.values == pytest.approx(GAIN, rel=2e-3)


def test_a_known_centre_tells_more(runs: list[tuple[Log, Log]], found: list[Gains]) -> None:
    one = gains(ARM, *runs[0], MASS, com=COM)
    assert one.values == pytest.approx(GAIN, rel=0.05)
    assert (one.std < found[0].std).all()
    assert one.com.tolist() == COM.tolist()
    assert one.com_std.tolist() == [0.0, 0.0, 0.0]


def test_gains_that_logs_were_read_with_are_counted_in(runs: list[tuple[Log, Log]], tmp_path: Path) -> None:
    """Logs read with rough gains give the same as currents."""
    from dynid import read_log

    rough = [10.0, 11.0, 12.0, 13.0, 14.0, -15.0]
    for name, log in zip(("a.csv", "b.csv"), runs[0], strict=True):
        write_log(replace(log, effort=log.effort * np.sign(rough)), tmp_path / name)
    logs = [read_log(tmp_path / name, ARM, effort="current", gain=rough) for name in ("a.csv", "b.csv")]
    one, raw = (gains(ARM, *pair, MASS, **GIVEN) for pair in (logs, (tmp_path / "a.csv", tmp_path / "b.csv")))
    assert one.values == pytest.approx(raw.values, rel=1e-6)
    assert one.values * np.sign(rough) == pytest.approx(GAIN, rel=0.06)
    assert (one.interval[:, 0] < one.interval[:, 1]).all()
    with pytest.raises(ArgumentError, match="same gains"):
        gains(ARM, logs[0], runs[0][1], MASS)


# --- the equations -------------------------------------------------------------------------------------


def simulated(robot: Robot, gain: np.ndarray, noise: float, seed: int, samples: int = 400):
    """The problem of random states with white noise of the currents, and their samples."""
    rng = np.random.default_rng(seed)
    system = system_of(robot, Terms(width=0.0))
    data, problem = [], []
    base = system.base
    rigid = np.array([k for k, name in enumerate(base.kept) if not name.startswith("F")])
    own = np.setdiff1d(np.arange(len(system.names)), rigid)
    width = len(rigid) + 2 * len(own) + 9
    last = base.matrix[rigid, 10 * len(robot.links) - 10 : 10 * len(robot.links)]
    for k, arm in enumerate((robot, loaded(robot))):
        q, qd, qdd = rng.uniform(-2.0, 2.0, (3, samples, robot.dof))
        i = model_of(arm).efforts(q, qd, qdd) / gain + noise * rng.normal(size=q.shape)
        data.append([samples_from_arrays(robot, q, qd, qdd, i)])
        constant, V = np.zeros(len(system.names)), np.zeros((len(system.names), width))
        V[rigid, np.arange(len(rigid))] = 1.0
        V[own, len(rigid) + k * len(own) + np.arange(len(own))] = 1.0
        if k:
            constant[rigid], V[rigid, -9:] = MASS * last[:, 9], last[:, :9]
        problem.append(Run(reduce(system, data[k][0]), constant, V))
    return system, problem, data


def rows_of(system: System, problem: list[Run], data: list) -> list[tuple[np.ndarray, np.ndarray, Run]]:
    """Every row of every run: W (N n, p), i (N n,), from the panels' definition."""
    found = []
    for run, (samples,) in zip(problem, data, strict=True):
        filled = system.fill(system.tile(), samples.q, samples.qd, samples.qdd, samples.tau, {})
        W = np.zeros((system.robot.dof, len(samples.q), len(system.names)))
        for j, (panel, columns) in enumerate(zip(system.panels, system.columns, strict=True)):
            W[j][:, columns] = filled[panel][:-1].T
        found.append((W, samples.tau.T, run))
    return found


def test_the_minimum_is_that_of_scipy_on_all_rows() -> None:
    robot = load_robot("gk3")
    gain = np.array([4.0, 9.0, -6.0])
    system, problem, data = simulated(robot, gain, 0.05, 3)
    found = find_gains(problem)
    rows = rows_of(system, problem, data)
    size = np.maximum(np.abs(found.u), 1e-2)

    def residual(x: np.ndarray) -> np.ndarray:
        g, u = x[:3], x[3:] * size
        parts = [
            (i[j] - g[j] * (W[j] @ (run.constant + run.V @ u))) / sigma[j]
            for (W, i, run), sigma in zip(rows, found.sigma, strict=True)
            for j in range(3)
        ]
        return np.concatenate(parts)

    start = np.concatenate([1.0 / gain, found.u / size])
    theirs = least_squares(residual, start, method="trf", xtol=1e-14, ftol=1e-14, gtol=1e-12)
    assert found.g == pytest.approx(theirs.x[:3], rel=1e-5)
    own = residual(np.concatenate([found.g, found.u / size]))
    assert own @ own == pytest.approx(2.0 * theirs.cost, rel=1e-9)
    assert found.sigma == pytest.approx(np.full((2, 3), 0.05), rel=0.1)


def test_deviations_are_those_of_many_runs() -> None:
    """White noise: the spread of 60 fits, to the 9 % that 60 of them can tell a deviation."""
    robot = load_robot("gk3")
    gain = np.array([4.0, 9.0, 6.0])
    fits = [simulated(robot, gain, 0.05, seed, samples=150) for seed in range(60)]
    found = [find_gains(problem) for _, problem, _ in fits]
    system, problem, data = fits[0]
    spread = covariance(system, problem, found[0], data)
    ratio = np.std([one.g for one in found], axis=0, ddof=1) / np.sqrt(np.diag(spread)[:3])
    assert (np.abs(np.log(ratio)) < 0.4).all()


# --- doubts --------------------------------------------------------------------------------------------


def test_without_a_load_nothing_is_told(runs: list[tuple[Log, Log]]) -> None:
    for pair in ((runs[0][0], runs[1][0]), (runs[0][0], runs[0][0])):
        one = gains(ARM, *pair, MASS, **GIVEN)
        assert one.status == "weak"
        assert set(one.verdicts) == {"undetermined"}
        assert np.isnan(one.values).all()
        assert "do not tell the load from none" in one.advice[0]


def test_swapped_logs_are_noticed(runs: list[tuple[Log, Log]]) -> None:
    one = gains(ARM, *runs[0][::-1], MASS, **GIVEN)
    assert one.status == "weak"
    assert "swapped" in one.advice[0]


def test_a_joint_that_does_not_feel_the_load_is_named() -> None:
    """A load on the axis of the last joint, without inertia about it: only its friction is in the current."""
    robot = load_robot("scara")
    one = gains(robot, *currents(robot, 1, np.array([5.0, 8.0, 20.0, 3.0]), mass=0.2), 0.2, **GIVEN)
    assert one.status == "weak"
    assert one.verdicts[3] != "determined"
    assert any("wrist" in advice for advice in one.advice)
    assert one.verdicts[2] == "determined"
    assert one.values[2] == pytest.approx(20.0, rel=0.02)


BAD = {
    "no mass": ({"mass": 0.0}, "positive number of kg"),
    "infinite mass": ({"mass": float("inf")}, "positive number of kg"),
    "centre": ({"mass": 1.0, "com": (1.0, 2.0)}, "three finite numbers"),
    "link": ({"mass": 1.0, "link": "link66"}, "Did you mean 'link6'"),
    "option": ({"mass": 1.0, "frictoin": "none"}, "Did you mean 'friction'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_named(runs: list[tuple[Log, Log]], case: str) -> None:
    options, message = BAD[case]
    with pytest.raises(ArgumentError, match=message):
        gains(ARM, *runs[0], **options)


def test_both_runs_are_needed(runs: list[tuple[Log, Log]]) -> None:
    with pytest.raises(ArgumentError, match="a log with the load is needed"):
        gains(ARM, runs[0][0], [], MASS)


# --- the command ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, runs: list[tuple[Log, Log]]) -> Path:
    path = tmp_path_factory.mktemp("gains")
    (path / "arm.toml").write_text(write_dh_toml(model_of(ARM)).text)
    write_log(runs[0][0], path / "without.csv")
    write_log(runs[0][1], path / "with.csv")
    return path


def command(capsys, folder: Path, *arguments: object, load: str = "with.csv") -> tuple[int, str, str]:
    logs = ("--without", folder / "without.csv", "--with", folder / load)
    status = main([str(a) for a in ("gains", folder / "arm.toml", *logs, *arguments)])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_the_command_prints_one_object(capsys, folder: Path) -> None:
    status, out, err = command(capsys, folder, "--mass", MASS, "--json")
    assert (status, err) == (0, "")
    printed = json.loads(out)
    assert list(printed["gains"]) == list(ARM.joint_names)
    for k, record in enumerate(printed["gains"].values()):
        assert record["gain"] == pytest.approx(GAIN[k], rel=0.06)
        assert record["interval"][0] < record["gain"] < record["interval"][1]
        assert record["verdict"] == "determined"
        assert record["std"] > 0.0
    assert printed["gain"] == [record["gain"] for record in printed["gains"].values()]
    assert printed["status"] == "trusted"


def test_its_last_line_is_for_identify(capsys, folder: Path) -> None:
    status, out, err = command(capsys, folder, "--mass", MASS)
    assert status == 0
    words = out.splitlines()[-1].split()
    assert words[:3] == ["--effort", "current", "--gain"]
    assert [float(word) for word in words[3].split(",")] == pytest.approx(GAIN, rel=0.06)
    assert "fitting the gains" in err


def test_what_it_cannot_tell_ends_with_status_one(capsys, folder: Path) -> None:
    status, out, _ = command(capsys, folder, "--mass", MASS, "--json", load="without.csv")
    assert status == 1
    printed = json.loads(out)
    assert printed["status"] == "weak"
    assert printed["gain"] == [None] * 6
    assert printed["gains"]["j1"]["interval"] == [None, None]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--mass", "-1"), "positive number of kg"),
        (("--mass", "2", "--effort", "motor_torque"), "leave --effort away"),
        (("--mass", "2", "--gain", "1,2"), "2 values for 6 joints"),
        (("--mass", "2", "--com", "1,2"), "three finite numbers"),
    ],
)
def test_bad_options_end_in_one_message(capsys, folder: Path, arguments: tuple, message: str) -> None:
    status, out, err = command(capsys, folder, *arguments, "--quiet")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err
