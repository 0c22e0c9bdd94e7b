"""`dynid excite` as a user sees it: files, JSON, exit statuses, messages; and the function behind it."""

import csv
import json
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pinocchio as pin
import pytest
from scipy.interpolate import BPoly

from dynid import base_parameters, exciting_trajectory, load_robot, read_log
from dynid.blas import single_thread
from dynid.cli import main
from dynid.conventions import to_pinocchio
from dynid.errors import ArgumentError
from dynid.excite.criteria import condition_number
from dynid.excite.limits import bounds_of
from dynid.excite.search import Watch
from dynid.trajectory import read_trajectory
from helpers_robots import PinocchioTwin


def run(capsys, *arguments):
    status = main(["excite", *map(str, arguments)])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.fixture(scope="module")
def panda(tmp_path_factory):
    file = tmp_path_factory.mktemp("excite") / "traj.csv"
    return load_robot("panda"), file


def test_the_panda_within_its_published_limits(panda, capsys):
    robot, file = panda
    status, out, err = run(capsys, "panda", "-o", file, "--json", "--starts", 3)
    assert status == 0
    assert err == ""
    said = json.loads(out)
    assert {"condition", "duration", "largest_violation", "seconds", "starts"} <= set(said)
    assert said["duration"] == 10.0
    assert said["starts"] == 3
    assert said["largest_violation"] <= 0.0
    assert said["condition"] <= 20.0

    with file.open() as lines:
        header, *rows = csv.reader(lines)
    quantities = ("position", "velocity", "acceleration")
    assert header == ["time", *(f"{name}.{what}" for what in quantities for name in robot.joint_names)]
    table = np.array(rows, dtype=float)
    times, q, qd, qdd = table[:, 0], table[:, 1:8], table[:, 8:15], table[:, 15:]
    assert np.allclose(np.diff(times), 0.01)
    assert np.isclose(pinocchio_condition(robot, q, qd, qdd), said["condition"], rtol=1e-9)

    motion = BPoly.from_derivatives(times, np.stack([q, qd, qdd], axis=1))
    fine = np.linspace(0.0, 10.0, 200_001)
    bounds = bounds_of(robot)
    assert (bounds.lower <= motion(fine)).all()
    assert (motion(fine) <= bounds.upper).all()
    assert (np.abs(motion.derivative(1)(fine)) <= bounds.velocity).all()
    assert (np.abs(motion.derivative(2)(fine)) <= bounds.acceleration).all()
    twin = PinocchioTwin(robot)
    efforts = np.array(
        [pin.rnea(twin.model, twin.model.createData(), *row) for row in zip(q, qd, qdd, strict=True)]
    )
    friction = bounds.effort - np.abs(efforts)
    assert (friction >= 0.0).all()


def pinocchio_condition(robot, q, qd, qdd):
    """Of the regressor in the columns of the base parameters, all of it by Pinocchio."""
    model = PinocchioTwin(robot).model
    data = model.createData()
    order = np.kron(np.eye(robot.dof), to_pinocchio(np.eye(10)))
    kept = [list(robot.parameter_names).index(name) for name in base_parameters(robot).kept]
    Y = [pin.computeJointTorqueRegressor(model, data, *row) for row in zip(q, qd, qdd, strict=True)]
    return np.linalg.cond(np.vstack(Y) @ order.T[:, kept])


def test_the_same_seed_gives_the_same_file(tmp_path, capsys):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        arguments = ("planar2", "-o", tmp_path / name / "t.csv", "--seed", seed, "--starts", 2)
        (tmp_path / name).mkdir()
        assert run(capsys, *arguments)[0] == 0
    texts = [(tmp_path / name / "t.csv").read_bytes() for name in "abc"]
    assert texts[0] == texts[1] != texts[2]


def test_points_and_the_older_way_to_ask_for_energies(tmp_path, capsys):
    found = []
    for more in (("--criterion", "energy"), ("--model", "energy"), ()):
        status, out, _ = run(
            capsys, "gk3", "--basis", "points", "--points", 20, "--starts", 1, *more, "--json"
        )
        assert status == 0
        found.append(json.loads(out))
    assert found[0]["condition"] == found[1]["condition"] == found[2]["condition"]
    points = found[0]["points"]
    assert len(points) == 21
    assert all(len(point["q"]) == len(point["qd"]) == 3 for point in points)
    q, qd = (np.array([point[key] for point in points]) for key in ("q", "qd"))
    robot = load_robot("gk3")
    columns = [robot.parameter_names.index(name) for name in found[0]["parameters"]]
    W = np.diff(robot.energy_regressor(q, qd)[:, columns], axis=0)
    assert np.isclose(np.linalg.cond(W), found[0]["condition"], rtol=1e-9)


def test_ros_messages_hold_the_rows(tmp_path, capsys):
    yaml = pytest.importorskip("ruamel.yaml").YAML(typ="safe")
    for suffix in ("csv", "yaml"):
        arguments = ("planar2", "-o", tmp_path / f"t.{suffix}", "--starts", 1, "--period", 1, "--quiet")
        assert run(capsys, *arguments)[0] == 0
    message = yaml.load(tmp_path / "t.yaml")
    trajectory = read_trajectory(tmp_path / "t.csv", load_robot("planar2"))
    assert tuple(message["joint_names"]) == trajectory.joint_names
    stamps = [p["time_from_start"]["sec"] + 1e-9 * p["time_from_start"]["nanosec"] for p in message["points"]]
    assert np.allclose(stamps, trajectory.times, atol=1e-9)
    for key, array in (("positions", "q"), ("velocities", "qd"), ("accelerations", "qdd")):
        rows = [point[key] for point in message["points"]]
        assert np.array_equal(rows, getattr(trajectory, array))
        assert all(isinstance(x, float) for row in rows for x in row)


def test_other_criteria_find_what_they_ask_for():
    robot = load_robot("planar2")
    found = {
        name: exciting_trajectory(robot, criterion=name, starts=3, rate_hz=20.0)
        for name in ("condition", "d-optimal", "e-optimal")
    }
    singular = {
        name: np.linalg.svd(
            one.setting.observation.matrix([one.trajectory.q, one.trajectory.qd, one.trajectory.qdd]),
            compute_uv=False,
        )
        for name, one in found.items()
    }
    assert min(singular, key=lambda name: singular[name][0] / singular[name][-1]) == "condition"
    assert max(singular, key=lambda name: singular[name].prod()) == "d-optimal"
    assert max(singular, key=lambda name: singular[name][-1]) == "e-optimal"


def test_splines_go_from_pose_to_pose():
    robot = load_robot("planar2")
    start, end = [0.3, -0.5], [-1.0, 1.2]
    found = exciting_trajectory(
        robot, basis="spline", start=start, end=end, starts=2, period=5.0, jerk_limits=[100.0], friction=True
    )
    trajectory = found.trajectory
    assert np.allclose(trajectory.q[[0, -1]], [start, end], atol=1e-12)
    assert np.abs(trajectory.qd[[0, -1]]).max() < 1e-10
    assert np.abs(trajectory.qdd[[0, -1]]).max() < 1e-9
    assert found.certificate.safe
    assert set(found.certificate.excess) == {"position", "velocity", "acceleration", "jerk", "effort"}
    assert sum(name.startswith("F") for name in found.setting.observation.base.kept) == 4


def test_slower_and_faster(tmp_path, capsys):
    arguments = ("planar2", "--starts", 1, "--json", "--period", 4)
    records = {}
    for scale in ("1", "0.5", "max"):
        status, out, _ = run(capsys, *arguments, "--scale", scale)
        assert status == 0
        records[scale] = json.loads(out)
    assert records["0.5"]["duration"] == 8.0
    assert records["max"]["duration"] <= 4.0
    assert records["0.5"]["violations"]["velocity"]["shoulder"] < -0.2
    status, _, err = run(capsys, *arguments, "--scale", 2)
    assert status == 2
    assert "a scale up to 1." in err


def test_a_given_trajectory_is_judged(tmp_path, capsys):
    file = tmp_path / "t.csv"
    assert run(capsys, "planar2", "-o", file, "--starts", 1)[0] == 0
    status, out, _ = run(capsys, "planar2", "--from", file)
    assert status == 0
    assert "kept at every instant" in out
    status, out, err = run(capsys, "planar2", "--from", file, "--velocity-limits", 0.5)
    assert status == 1
    assert "NOT kept" in out
    assert "a limit is exceeded: velocity of" in err
    status, out, _ = run(capsys, "planar2", "--from", file, "--velocity-limits", 0.5, "--json")
    assert json.loads(out)["largest_violation"] > 0.0


def test_logs_that_are_there_count(tmp_path, capsys):
    first, log = tmp_path / "first.csv", tmp_path / "log.csv"
    assert run(capsys, "planar2", "-o", first, "--starts", 1)[0] == 0
    robot = load_robot("planar2")
    t = read_trajectory(first, robot)
    t = type(t)(
        joint_names=t.joint_names,
        times=t.times,
        q=t.q * [1.0, 0.0],
        qd=t.qd * [1.0, 0.0],
        qdd=t.qdd * [1.0, 0.0],
    )
    efforts = robot.inverse_dynamics(t.q, t.qd, t.qdd)
    header = "time," + ",".join(f"{n}.{w}" for w in ("position", "velocity", "effort") for n in t.joint_names)
    table = np.column_stack([t.times, t.q, t.qd, efforts])
    np.savetxt(log, table, delimiter=",", header=header, comments="", fmt="%.17g")
    status, out, _ = run(capsys, "planar2", "--after", log, "--starts", 2, "--json")
    assert status == 0
    said = json.loads(out)
    found = exciting_trajectory(robot, after=[read_log(log, robot)], starts=2)
    assert found.condition_with_logs == said["condition_with_logs"]
    # together with the log it is better than a motion that knows of no log, which is better without it
    alone = exciting_trajectory(robot, starts=2)
    W = alone.setting.observation.matrix([alone.trajectory.q, alone.trajectory.qd, alone.trajectory.qdd])
    assert found.condition_with_logs < condition_number(W, found.setting.criterion.known)
    assert alone.condition < found.condition
    status, _, err = run(capsys, "planar2", "--after", log, "--model", "energy")
    assert status == 2
    assert "torque and gravity only" in err


# --- what goes wrong -------------------------------------------------------------------------------------

NO_LIMITS = """
name = "bare"
convention = "modified"
[[joint]]
name = "one"
type = "revolute"
alpha = 0.0
a = 0.0
theta = 0.0
d = 0.0
[[joint]]
name = "two"
type = "revolute"
alpha = "-90 deg"
a = 0.5
theta = 0.0
d = 0.0
limits = { position = [-1.0, 1.0] }
"""


def test_a_robot_without_limits_is_told_what_is_missing(tmp_path, capsys):
    file = tmp_path / "bare.toml"
    file.write_text(NO_LIMITS)
    status, out, err = run(capsys, file)
    assert (status, out) == (2, "")
    assert "no position limits for 'one'" in err
    assert "--position-limits" in err
    assert "'two'" not in err
    arguments = ("--position-limits", "-1:1", "--starts", 1, "--rate-hz", 20)
    status, _, err = run(capsys, file, *arguments)
    assert status == 0
    assert "no velocity limit for 'one', 'two': 1 assumed" in err
    assert "no acceleration limit" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("planar2", "--period", 0), "period must be a positive number"),
        (("planar2", "--period", "nan"), "period must be a positive number"),
        (("planar2", "--rate-hz", 0), "rate_hz must be a positive number"),
        (("planar2", "--rate-hz", 1e9), "between 1 and 1000000"),
        (("planar2", "--position-limits", "1:-1"), "cannot move"),
        (("planar2", "--velocity-limits", "0"), "must be positive"),
        (("planar2", "--velocity-limits", "1,2,3"), "needs 1, or 2"),
        (("planar2", "--start", "9,0"), "'shoulder' at 9 is outside its limits"),
        (("planar2", "--start", "1"), "needs 2 finite numbers"),
        (("planar2", "--end", "0,0"), "needs a start pose"),
        (("planar2", "--start", "0,0", "--end", "1,1"), "ends where it starts"),
        (("planar2", "--effort-limits", "0.01", "--start", "0,0"), "holding 'shoulder' takes"),
        (("planar2", "--effort-limits", "0.01", "--starts", 1), "no motion within the limits"),
        (("panda", "--floor", "0.3", "--start", "0,1.7,0,-0.1,0,1.5,0"), "in collision: "),
        (("planar2", "--box", "1,2,3"), "six numbers"),
        (("planar2", "--basis", "wavelets"), "basis 'wavelets' is unknown"),
        (("planar2", "--criterion", "nice"), "criterion 'nice' is unknown"),
        (("planar2", "--harmonics", 1), "2 or more are needed"),
        (("planar2", "--starts", 0), "starts must be 1 or more"),
        (("planar2", "--seed", -1), "seed must be 0 or more"),
        (("planar2", "-o", "t.txt"), "written as .csv, or as .yaml"),
        (("planar2", "-o", "nowhere/t.csv"), "no directory"),
        (("nosuchrobot",), "nosuchrobot"),
    ],
)
def test_what_cannot_be_is_named(arguments, said, capsys):
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert said in err.splitlines()[-1]
    assert "Traceback" not in err


def test_nothing_is_overwritten_unasked(tmp_path, capsys):
    file = tmp_path / "t.csv"
    file.write_text("mine")
    assert run(capsys, "planar2", "-o", file)[0] == 2
    assert file.read_text() == "mine"
    assert run(capsys, "planar2", "-o", file, "--starts", 1, "--rate-hz", 20, "--force")[0] == 0
    assert file.read_text() != "mine"


def test_an_interrupted_search_keeps_the_best_so_far():
    watch = Watch()
    threading.Timer(1.0, watch.interrupted.set).start()
    found = exciting_trajectory(load_robot("panda"), watch=watch, starts=2000)
    assert found.status == "interrupted"
    assert f"after {found.starts} of 2000 starts" in found.reason
    assert 0 < found.starts < 2000
    assert found.certificate.safe
    assert np.isfinite(found.condition)


def test_a_time_limit_ends_the_search():
    began = time.perf_counter()
    found = exciting_trajectory(load_robot("planar2"), starts=100_000, seconds=0.5)
    assert time.perf_counter() - began < 30.0
    assert found.starts < 100_000
    assert found.status == "done"


def test_a_search_that_cannot_improve_says_so(monkeypatch):
    monkeypatch.setattr("dynid.excite.smooth.minimise", lambda f, x, *_: (x, f(x)[0]))
    found = exciting_trajectory(load_robot("planar2"), starts=2)
    assert found.status == "stalled"
    assert "did not improve" in found.reason
    assert found.certificate.safe


def test_unknown_options_are_named():
    with pytest.raises(ArgumentError, match="Did you mean 'harmonics'"):
        exciting_trajectory(load_robot("planar2"), harmonic=3)


def test_linear_algebra_gets_its_threads_back():
    from dynid.blas import _libraries

    before = [get() for get, _ in _libraries()]
    with single_thread():
        assert all(get() == 1 for get, _ in _libraries())
    assert [get() for get, _ in _libraries()] == before


def test_ctrl_c_leaves_a_file_and_says_why(tmp_path):
    file = tmp_path / "t.csv"
    command = [sys.executable, "-u", "-m", "dynid", "excite", "panda", "--starts", "5000", "-o", str(file)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while "start" not in process.stderr.readline():  # the search has begun
        pass
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "interrupted after" in err
    assert "kept at every instant" in out
    assert len(file.read_text().splitlines()) == 1002
