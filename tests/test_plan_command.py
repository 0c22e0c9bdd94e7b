"""`dynid plan`, and the way from a plan through simulated logs to parameters, as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dynid import base_parameters, load_robot
from dynid.cli import main
from dynid.trajectory import read_trajectory

TREE = """<robot name="tree"><link name="a"/><link name="b"/><link name="c"/>
<joint name="ab" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="1" effort="9"/></joint>
<joint name="ac" type="revolute"><parent link="a"/><child link="c"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" velocity="1" effort="9"/></joint></robot>"""
UNLIMITED = """name = "free"
convention = "modified"
[[joint]]
name = "only"
type = "revolute"
alpha = 0.0
a = 0.0
theta = 0.0
d = 0.0
"""


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(list(words))
    said = capsys.readouterr()
    return status, said.out, said.err


def test_what_a_person_sees(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "plan", "scara")
    assert status == 0
    assert out.startswith("scara: 8 experiments, one joint at a time\n")
    assert "step 3.1(b): move shoulder, read the effort of wrist; condition" in out
    assert "why: joint 4 is parallel to joint 1, not on one line with it: Eq. (56), Property 1.1(d)" in out
    assert "estimates: U4_33, k4x, k4y" in out
    assert "all experiments together\n  effort of wrist: 7 unknowns, condition" in out
    assert "whether they are free of collisions nobody has checked" in err
    assert not list(there.iterdir())


def test_json_is_one_object_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "plan", "scara", "--json", "--rigid")
    assert (status, err) == (0, "")
    plan = json.loads(out)
    names = load_robot("scara").joint_names
    for one in plan["experiments"]:
        assert {"file", "moves", "configuration", "estimates", "condition"} <= set(one)
        assert one["moves"] in names
        assert tuple(one["configuration"]) == names
        assert one["condition"] >= 1.0
    told = {name for one in plan["experiments"] for name in one["estimates"]}
    assert told == set(base_parameters(load_robot("scara"), method="lin").names)
    assert plan["undetermined"] == []


def test_files_of_a_plan(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "plan", "planar2", "-o", "new/plan", "--rate-hz", "50")
    assert status == 0
    assert "3 trajectories and plan.json: new/plan" in out
    plan = json.loads((there / "new/plan/plan.json").read_text())
    robot = load_robot("planar2")
    assert sorted(p.name for p in (there / "new/plan").iterdir()) == sorted(
        ["plan.json", *(one["file"] for one in plan["experiments"])]
    )
    for one in plan["experiments"]:
        motion = read_trajectory(there / "new/plan" / one["file"], robot)
        moving = np.ptp(motion.q, axis=0) > 0.0
        assert [name for name, flag in zip(robot.joint_names, moving, strict=True) if flag] == [one["moves"]]
        np.testing.assert_allclose(motion.q[0], list(one["configuration"].values()), atol=1e-12)
        assert motion.times[1] - motion.times[0] == pytest.approx(0.02)
    status, _, err = run(capsys, "plan", "planar2", "-o", "new/plan")
    assert status == 2
    assert "exists; --force" in err
    assert run(capsys, "plan", "planar2", "-o", "new/plan", "--force", "--motion", "step")[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tree.urdf"], "tree"),
        (["free.toml"], "no position limits for 'only'"),
        (["free.toml", "--position-limits", "1:-1"], "cannot move"),
        (["free.toml", "--position-limits", "-1:1", "--velocity-limits", "0"], "must be positive"),
        (["scara", "--position-limits", "-1:1,-1:1"], "2 position limits are given; scara needs 1, or 4"),
        (["scara", "--motion", "jump"], "motion 'jump' is unknown"),
        (["scara", "--rate-hz", "nan"], "the rate must be at least"),
        (["scara", "--seed", "-1"], "--seed must be 0 or more"),
        (["scara", "--configurations", "none.json"], "none.json' cannot be read"),
        (["scara", "-o", "tree.urdf"], "is a file; a directory is needed"),
        (["nowhere.urdf"], "nowhere.urdf"),
    ],
)
def test_what_cannot_be_planned(
    there: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (there / "tree.urdf").write_text(TREE)
    (there / "free.toml").write_text(UNLIMITED)
    status, out, err = run(capsys, "plan", *words)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_limits_that_a_file_lacks_can_be_given(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (there / "free.toml").write_text(UNLIMITED)
    status, out, err = run(capsys, "plan", "free.toml", "--position-limits=-1:1")
    assert status == 0
    assert "free: 1 experiments" in out
    assert "no velocity limit for 'only': 1 assumed" in err


def test_given_configurations_are_judged(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One that moves a single joint leaves much open: exit status 1, and what is missing by name."""
    at = {"shoulder": 0.0, "elbow": 0.4, "slide": 0.05, "wrist": 0.3}
    plan = {"experiments": [{"moves": "shoulder", "configuration": at}]}
    (there / "mine.json").write_text(json.dumps(plan))
    status, out, err = run(capsys, "plan", "scara", "--configurations", "mine.json")
    assert status == 1
    assert "step given: move shoulder; condition" in out
    assert "these experiments leave undetermined: " in err
    status, out, _ = run(capsys, "plan", "scara", "--configurations", "mine.json", "--json")
    assert status == 1
    assert "Fv4" in json.loads(out)["undetermined"]


def test_from_a_plan_through_simulated_logs_to_parameters(
    there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The robot's own numbers come back: MuJoCo made the logs, noise included."""
    assert run(capsys, "plan", "planar2", "-o", "plan")[0] == 0
    plan = json.loads((there / "plan/plan.json").read_text())
    (there / "logs").mkdir()
    for k, one in enumerate(plan["experiments"]):
        noise = ["--torque-noise", "0.01", "--seed", str(k)]
        assert (
            run(capsys, "simulate", "planar2", f"plan/{one['file']}", "-o", f"logs/{one['file']}", *noise)[0]
            == 0
        )
    logs = [f"logs/{one['file']}" for one in plan["experiments"]]
    words = ["identify", "planar2", *logs, "--method", "one-joint", "--plan", "plan/plan.json", "--json"]
    status, out, err = run(capsys, *words)
    assert (status, err) == (0, "")
    found = json.loads(out)
    robot = load_robot("planar2")
    base = base_parameters(robot, armature=True, friction=True, offset=True)
    joints = robot.joints
    drives = [getattr(j, what) for what in ("armature", "viscous", "coulomb", "offset") for j in joints]
    truth = dict(
        zip(base.names, base.values(np.concatenate([robot.parameters, np.nan_to_num(drives)])), strict=True)
    )
    for entry in found["parameters"]:
        assert abs(entry["value"] - truth[entry["name"]]) < 5.0 * entry["std"], entry
    largest = max(map(abs, truth.values()))
    assert max(entry["std"] for entry in found["parameters"]) < 0.05 * largest
    assert found["status"] == "trusted"
    status, _, err = run(capsys, *[word for word in words if word != logs[1]])
    assert status == 2
    assert f"2 logs for a plan of 3 experiments; missing: '{plan['experiments'][1]['file']}'" in err
