"""Trajectories: exact between samples where that has a meaning, and files that come back bit by bit."""

from pathlib import Path

import numpy as np
import pytest

from dynid import ArgumentError, DynidError, load_robot
from dynid.trajectory import make_trajectory, read_trajectory, write_trajectory

TIMES = np.array([0.0, 0.1, 0.25, 0.3, 0.7, 1.1, 1.2])
C = np.array(
    [[1.0, -2.0], [0.5, 1.0], [-3.0, 0.25], [2.0, 1.5], [-1.0, 0.75], [0.5, -2.0]]
)  # of 1, t, .. t^5


def quintic(t: np.ndarray) -> list[np.ndarray]:
    """A polynomial of two joints and its derivatives, (N, 2) each."""
    polynomials = [np.polynomial.Polynomial(c) for c in C.T]
    return [np.column_stack([p.deriv(k)(t) if k else p(t) for p in polynomials]) for k in range(3)]


@pytest.mark.parametrize("given", [1, 2, 3])
def test_a_quintic_comes_back_between_its_samples(given: int) -> None:
    """Exact, whether rates are given or come from the splines, which are quintic themselves."""
    arrays = quintic(TIMES)[:given]
    trajectory = make_trajectory(("a", "b"), TIMES, *arrays)
    fine = np.linspace(0.0, 1.2, 97)
    found = np.array([trajectory.at(t) for t in fine]).transpose(1, 0, 2)
    # Rates at the ends of splines through few samples lose some digits: 1 / h^2 with h = 0.05.
    np.testing.assert_allclose(found, quintic(fine), rtol=0, atol=1e-11 if given == 3 else 1e-9)


def test_it_is_still_outside() -> None:
    trajectory = make_trajectory(("a", "b"), TIMES, *quintic(TIMES))
    np.testing.assert_array_equal(trajectory.at(-0.5), [trajectory.q[0], [0, 0], [0, 0]])
    np.testing.assert_array_equal(trajectory.at(9.0), [trajectory.q[-1], [0, 0], [0, 0]])


def test_two_samples_make_a_straight_line() -> None:
    trajectory = make_trajectory(("a",), [0.0, 2.0], [[0.0], [1.0]])
    np.testing.assert_allclose(trajectory.at(0.5), [[0.25], [0.5], [0.0]], atol=1e-15)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0], [[1.0]]), "at least two"),
        (([0.0, 1.0], [[1.0, 2.0], [1.0, 2.0]]), r"needed is \(2, 1\)"),
        (([0.0, 1.0, 1.0], [[1.0], [2.0], [3.0]]), "sample 3"),
        (([0.0, 1.0], [[1.0], [np.nan]]), "sample 2"),
    ],
)
def test_what_is_no_trajectory(arguments: tuple, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make_trajectory(("a",), *arguments)


# --- files ----------------------------------------------------------------------------------------


def test_files_come_back_bit_by_bit(tmp_path: Path) -> None:
    robot, path = load_robot("planar2"), tmp_path / "übung 1.csv"
    written = make_trajectory(robot.joint_names, TIMES, *quintic(TIMES))
    write_trajectory(written, path)
    read = read_trajectory(path, robot)
    for name in ("times", "q", "qd", "qdd"):
        np.testing.assert_array_equal(getattr(read, name), getattr(written, name))
    assert read.notes == ()


def test_columns_by_name_and_what_is_left_out(tmp_path: Path) -> None:
    robot, path = load_robot("planar2"), tmp_path / "t.csv"
    first, second = robot.joint_names
    path.write_text(
        f"{second}.position,gripper.position,time,{first}.position\n1,9,0,2\n1.5,9,0.5,2\n2,9,1,3\n",
        encoding="utf-8-sig",
    )
    read = read_trajectory(path, robot)
    np.testing.assert_array_equal(read.q, [[2, 1], [2, 1.5], [3, 2]])
    assert any("gripper.position" in note for note in read.notes)
    assert any("velocity taken from a spline" in note for note in read.notes)


HEADER = "time,{0}.position,{1}.position\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        (HEADER, "no samples"),
        (HEADER + "0,1,2\n", "at least two"),
        (HEADER + "0,1,2\n1,1\n", "line 3"),
        (HEADER + "0,1,2\n1,one,2\n", "line 3"),
        (HEADER + "0,1,2\n1,nan,2\n", "line 3"),
        (HEADER + "0,1,2\n1,1,2\n1,1,2\n", "line 4"),
        ("time,{0}.position\n0,1\n1,2\n", "{1}.position"),
        ("time,{0}.position,{0}.position,{1}.position\n0,1,1,1\n1,2,2,2\n", "more than once"),
        ("{0}.position,{1}.position\n1,1\n2,2\n", "time"),
    ],
)
def test_bad_files_are_named_with_the_place(tmp_path: Path, text: str, message: str) -> None:
    robot, path = load_robot("planar2"), tmp_path / "bad.csv"
    path.write_text(text.format(*robot.joint_names))
    with pytest.raises(DynidError, match=message.format(*robot.joint_names)) as caught:
        read_trajectory(path, robot)
    assert "bad.csv" in str(caught.value)


def test_a_missing_file_and_an_existing_one(tmp_path: Path) -> None:
    robot = load_robot("planar2")
    with pytest.raises(ArgumentError, match="cannot be read"):
        read_trajectory(tmp_path / "none.csv", robot)
    path = tmp_path / "t.csv"
    path.write_text("mine")
    trajectory = make_trajectory(robot.joint_names, TIMES, *quintic(TIMES))
    with pytest.raises(ArgumentError, match="--force"):
        write_trajectory(trajectory, path)
    assert path.read_text() == "mine"
    write_trajectory(trajectory, path, force=True)
    assert path.read_text().startswith("time,")
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]
