"""The structural method: against the papers' tables, sampled ranks and its own two arithmetics."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from dynid import ArgumentError, RobotError, load_robot
from dynid.base import base_parameters
from dynid.base import exact as exact_module
from dynid.base.geometry import floating_geometry, geometry_of
from dynid.base.rational import Exact, exact_array, inverse, rank
from dynid.robot import Joint, Link, Mimic, Robot
from dynid.spatial import Frame, rotation_about, rotation_x
from helpers_rank import drive_rows, effort_rows, energy_rows, random_robot, row_space, same_row_space
from helpers_rnea import rnea

ROBOTS = 3000 if "DYNID_THOROUGH" in os.environ else 300


def modified_dh(rows, kinds=None, gravity=(0, 0, -9.81)) -> Robot:
    """A serial robot from rows alpha (deg), a, theta (deg), d."""
    joints = []
    for j, (alpha, a, theta, d) in enumerate(rows):
        lean = rotation_x(np.radians(alpha))
        before = Frame(lean, (a, 0, 0)) @ Frame(rotation_about((0, 0, 1), np.radians(theta)), (0, 0, d))
        kind = "revolute" if kinds is None or kinds[j] == "R" else "prismatic"
        joints.append(Joint(name=f"j{j}", kind=kind, parent=j - 1, before=before))
    links = tuple(Link(name=f"l{j}", parameters=np.ones(10)) for j in range(len(rows)))
    return Robot(name="dh", joints=tuple(joints), links=links, gravity=np.array(gravity, dtype=float))


def combination(base, name) -> dict[str, float]:
    """The terms of one base parameter."""
    row = base.matrix[base.names.index(name)]
    return {column: c for column, c in zip(base.columns, row, strict=True) if c}


# --- what the papers print --------------------------------------------------------------------------


def test_puma560_has_the_36_parameters_of_gautier_and_khalil():
    base = base_parameters(load_robot("puma560"))
    printed = (
        "ZZR1 XXR2 XY2 XZR2 YZ2 ZZR2 MXR2 MY2 XXR3 XYR3 XZ3 YZ3 ZZR3 MXR3 MYR3 "
        "XXR4 XY4 XZ4 YZ4 ZZR4 MX4 MYR4 XXR5 XY5 XZ5 YZ5 ZZR5 MX5 MYR5 XXR6 XY6 XZ6 YZ6 ZZ6 MX6 MY6"
    )
    assert base.names == tuple(printed.split())
    assert " ".join(base.no_effect) == "XX1 XY1 XZ1 YY1 YZ1 MX1 MY1 MZ1 M1 MZ2 M2"
    moved = {"YY2"} | {f"{letter}{j}" for j in range(3, 7) for letter in ("YY", "MZ", "M")}
    assert set(base.regrouped) == moved


def test_puma560_regroupings_have_the_printed_coefficients():
    # The formulas of the paper's example, evaluated in fractions: the result is the nearest float.
    base = base_parameters(load_robot("puma560"))
    elbow, forearm = (load_robot("puma560").joints[j].before.translation.tolist() for j in (2, 3))
    D3, R3, D4, R4 = (Fraction(repr(x)) for x in (elbow[0], elbow[2], forearm[0], forearm[1]))
    outer, wrist = ("M3", "M4", "M5", "M6"), ("M4", "M5", "M6")

    def plus(*terms) -> dict[str, float]:
        total: dict[str, Fraction] = {}
        for factor, names in terms:
            for name in (names,) if isinstance(names, str) else names:
                total[name] = total.get(name, Fraction(0)) + factor
        return {name: float(c) for name, c in total.items() if c}

    expected = {
        "ZZR1": plus((1, ("ZZ1", "YY2", "YY3")), (2 * R3, "MZ3"), (D3**2 + R3**2, outer), (D4**2, wrist)),
        "XXR2": plus((1, "XX2"), (-1, "YY2"), (-(D3**2), outer)),
        "XZR2": plus((1, "XZ2"), (-D3, "MZ3"), (-D3 * R3, outer)),
        "ZZR2": plus((1, "ZZ2"), (D3**2, outer)),
        "MXR2": plus((1, "MX2"), (D3, outer)),
        "XXR3": plus((1, ("XX3", "YY4")), (-1, "YY3"), (2 * R4, "MZ4"), (R4**2 - D4**2, wrist)),
        "XYR3": plus((1, "XY3"), (-D4, "MZ4"), (-D4 * R4, wrist)),
        "ZZR3": plus((1, ("ZZ3", "YY4")), (2 * R4, "MZ4"), (D4**2 + R4**2, wrist)),
        "MXR3": plus((1, "MX3"), (D4, wrist)),
        "MYR3": plus((1, ("MY3", "MZ4")), (R4, wrist)),
        "XXR4": plus((1, ("XX4", "YY5")), (-1, "YY4")),
        "ZZR4": plus((1, ("ZZ4", "YY5"))),
        "MYR4": plus((1, "MY4"), (-1, "MZ5")),
        "XXR5": plus((1, ("XX5", "YY6")), (-1, "YY5")),
        "ZZR5": plus((1, ("ZZ5", "YY6"))),
        "MYR5": plus((1, ("MY5", "MZ6"))),
        "XXR6": plus((1, "XX6"), (-1, "YY6")),
    }
    assert 0 not in (D3, R3, D4, R4)
    for name, terms in expected.items():
        assert combination(base, name) == terms, name
    assert {name for name in base.names if "R" in name} == set(expected)


def test_gk3_has_the_15_parameters_of_1992():
    robot = load_robot("gk3")
    names = "ZZR1 XXR2 XY2 XZR2 YZ2 ZZR2 MXR2 MY2 XXR3 XY3 XZ3 YZ3 ZZ3 MX3 MY3"
    assert base_parameters(robot).names == tuple(names.split())
    assert base_parameters(robot, "gravity").count == 4
    assert base_parameters(robot, "inertia").count == 13


UR10 = [
    (0, 0, 0, 0.1273),
    (90, 0, 0, 0),
    (0, -0.612, 0, 0),
    (0, -0.5723, 0, 0.163941),
    (90, 0, 0, 0.1157),
    (-90, 0, 0, 0.0922),
]
WRIST = [(0, 0, 0, 0), (-90, 0, 0, 0), (90, 0, 0, 0)]


@pytest.mark.parametrize(
    ("robot", "count"),
    [
        (load_robot("panda"), 43),
        (load_robot("stanford"), 33),
        (load_robot("scara"), 8),
        (modified_dh(UR10), 36),
        (modified_dh([(0, 0, 0, 0), (90, 0, 90, 0), (90, 0, 90, 0)], "PPP"), 3),  # gantry: masses alone
        (modified_dh(WRIST, gravity=(0, 0, 0)), 11),
        (modified_dh(WRIST), 15),
        (modified_dh([(0, 0, 0, 0)]), 1),
        (modified_dh([(90, 0, 0, 0)]), 3),
    ],
)
def test_counts_that_are_known(robot, count):
    assert base_parameters(robot).count == count


# --- every tree against the sampled rank ------------------------------------------------------------

CASES = [
    ("torque", ""),
    ("inertia", ""),
    ("gravity", ""),
    ("energy", ""),
    ("torque", "I"),
    ("torque", "IF"),
    ("torque", "IFO"),
    ("gravity", "O"),
]


def case(seed: int) -> tuple[Robot, str, str]:
    """A random robot, and a model with some of the drive's columns; each kind of robot meets each case."""
    kind = ("right", "rational", "oblique")[seed % 3]
    model, letters = CASES[seed // 6 % len(CASES)]
    return random_robot(seed, serial=seed % 2 == 0, kind=kind), model, letters


def sampled(robot: Robot, model: str, letters: str, rng: np.random.Generator) -> np.ndarray:
    """Enough rows at random states to span all that can be identified."""
    if model == "energy":
        return energy_rows(robot, rng, 15 * len(robot.links))
    samples = 5 + 16 * len(robot.links) // robot.dof
    if letters:
        return drive_rows(robot, model, rng, samples, letters)
    return effort_rows(robot, model, rng, samples)


def drives(letters: str) -> dict[str, bool]:
    return {"armature": "I" in letters, "friction": "F" in letters, "offset": "O" in letters}


@pytest.mark.parametrize("block", range(0, ROBOTS, 50))
def test_random_robots_have_the_sampled_row_space(block):
    for seed in range(block, block + 50):
        robot, model, letters = case(seed)
        rows = sampled(robot, model, letters, np.random.default_rng(seed))
        base = base_parameters(robot, model, **drives(letters))
        assert row_space(rows)[2] > 1e4, f"the oracle itself is undecided for robot {seed}"
        assert same_row_space(base.matrix, rows) < 1e-7, f"robot {seed}, {model} {letters}"


def test_random_robots_cover_what_they_should():
    robots = [case(seed)[0] for seed in range(300)]
    exact = sum(geometry_of(robot).exact for robot in robots)
    assert 180 < exact < 260
    assert sum(robot.gravity.any() for robot in robots) < 280
    assert sum(any(j.prismatic for j in r.joints) for r in robots) > 100
    assert sum(any(not j.after.is_identity for j in r.joints) for r in robots) > 100
    assert sum(any(j.parent != k - 1 for k, j in enumerate(r.joints)) for r in robots) > 80


@pytest.mark.parametrize("seed", range(20))
def test_transmissions_couple_motor_inertias_and_offsets(seed):
    rng = np.random.default_rng(seed)
    robot = random_robot(seed, serial=seed % 2 == 0, kind=("right", "oblique")[seed % 2])
    T = np.round(np.eye(robot.dof) + rng.choice([0, 0, 0.5, -0.25], (robot.dof, robot.dof)), 2)
    if abs(np.linalg.det(T)) < 0.1:
        T = np.triu(T) + np.eye(robot.dof)
    robot = replace(robot, transmission=T, friction_side=("joint", "motor")[seed // 2 % 2])
    base = base_parameters(robot, armature=True, friction=True, offset=True)
    rows = drive_rows(robot, "torque", rng, 10 + 24 * len(robot.links) // robot.dof, "IFO")
    assert same_row_space(base.matrix, rows) < 1e-7


def test_energy_and_torque_agree():
    for seed in range(0, 60, 7):
        robot = case(seed)[0]
        torque, energy = (base_parameters(robot, model, armature=True) for model in ("torque", "energy"))
        assert torque.names == energy.names
        assert np.array_equal(torque.matrix, energy.matrix)


def test_joints_with_one_coordinate_are_coupled():
    for seed in (4, 10, 13, 16, 21, 28):
        rng = np.random.default_rng(seed)
        robot = random_robot(seed, serial=False, kind="right", joints=5)
        if len(robot.joints) < 3:
            continue
        joints = [*robot.joints[:-1], replace(robot.joints[-1], mimic=Mimic(0, -1.0, 0.2))]
        coupled = replace(robot, joints=tuple(joints))
        base = base_parameters(coupled, armature=True)
        assert same_row_space(base.matrix, drive_rows(coupled, "torque", rng, 60, "I")) < 1e-7
        assert base.notes


# --- arithmetic, units, torques ---------------------------------------------------------------------


def test_fractions_and_floats_agree(monkeypatch):
    for seed in range(24):
        robot = random_robot(seed, serial=seed % 2 == 0, kind=("right", "rational")[seed % 2], joints=8)
        exact = base_parameters(robot, armature=True)
        assert exact.gap is None
        with monkeypatch.context() as patch:
            patch.setattr(exact_module, "geometry_of", floating_geometry)
            floating = base_parameters(robot, armature=True)
        assert floating.names == exact.names
        assert np.allclose(floating.matrix, exact.matrix, rtol=1e-10, atol=1e-10)
        if floating.gap is not None:
            assert floating.gap[0] > 1e6 * floating.gap[1]


@pytest.mark.parametrize("factor", [1e3, 1e-3, 1 / 0.0254])
def test_the_unit_of_length_does_not_matter(factor):
    for seed in range(0, 300, 25):
        robot = case(seed)[0]
        joints = tuple(
            replace(
                joint,
                before=Frame(joint.before.rotation, joint.before.translation * factor),
                after=Frame(joint.after.rotation, joint.after.translation * factor),
            )
            for joint in robot.joints
        )
        rescaled = replace(robot, joints=joints, gravity=robot.gravity * factor)
        assert (
            base_parameters(rescaled, armature=True, offset=True).names
            == base_parameters(robot, armature=True, offset=True).names
        )


def test_torques_come_from_base_parameters_alone():
    for robot in (load_robot("puma560"), load_robot("puma260"), *(case(seed)[0] for seed in range(30))):
        rng = np.random.default_rng(1)
        full = rng.normal(size=10 * len(robot.links))
        base = base_parameters(robot)
        other = base.completion(base.values(full))
        assert not np.allclose(other, full)
        states = rng.uniform(-2, 2, (5, 3, robot.dof))
        a = np.array([rnea(robot, full, *state) for state in states])
        b = np.array([rnea(robot, other, *state) for state in states])
        assert np.abs(a - b).max() <= 1e-10 * np.abs(a).max()


def test_motor_inertias_of_the_first_two_joints_merge():
    base = base_parameters(load_robot("puma560"), armature=True, friction=True)
    assert base.count == 36 + 4 + 12
    assert [name for name in base.names if name.startswith("Ia")] == ["Ia3", "Ia4", "Ia5", "Ia6"]
    assert base.regrouped["Ia1"] == ("ZZR1",)
    assert base.regrouped["Ia2"] == ("ZZR2",)


def test_an_offset_merges_with_the_weight_of_a_hanging_slide():
    robot = modified_dh([(0, 0, 0, 0)], "P")
    hanging = base_parameters(robot, "gravity", offset=True)
    assert hanging.expressions == (f"M1 + {1 / 9.81:.12g} Fo1",)
    assert hanging.matrix[0, hanging.columns.index("Fo1")] == 1 / 9.81  # all digits: only texts are shortened
    assert base_parameters(robot, armature=True, offset=True).count == 2
    assert base_parameters(robot, "gravity", armature=True, friction=True).no_effect[-3:] == (
        "Ia1",
        "Fv1",
        "Fc1",
    )


def test_angles_of_six_digits_are_right_angles():
    rounded, right = (
        modified_dh([(alpha, 0.1, 0, 0.2) for alpha in angles])
        for angles in ([0, np.degrees(1.5708), np.degrees(-1.5708)], [0, 90, -90])
    )
    base, expected = base_parameters(rounded), base_parameters(right)
    assert base.names == expected.names
    assert np.allclose(base.matrix, expected.matrix, rtol=1e-10, atol=0.0)
    assert "taken as right" in base.notes[0]
    assert expected.notes == ()
    ajar = modified_dh([(alpha, 0.1, 0, 0.2) for alpha in (0, 90.01, -90.01)])  # 2e-4 rad is no rounding
    assert base_parameters(ajar).names != expected.names


def test_rounding_of_a_reader_hides_no_intersection():
    # 0.1 + 0.2 - 0.3 is 5.6e-17 in floats: the wrist's axes still meet.
    drifted = modified_dh([(0, 0, 0, 0), (-90, 0, 0, 0.1 + 0.2 - 0.3), (90, 0, 0, 0), (-90, 0, 0, 0.3)])
    exact = modified_dh([(0, 0, 0, 0), (-90, 0, 0, 0), (90, 0, 0, 0), (-90, 0, 0, 0.3)])
    assert np.array_equal(base_parameters(drifted).matrix, base_parameters(exact).matrix)


def test_every_parameter_without_effect_has_a_reason():
    for seed in range(48):
        robot, model, letters = case(seed)
        base = base_parameters(robot, model, **drives(letters))
        assert set(base.reasons) == set(base.no_effect)
        assert all(len(text) > 20 for text in base.reasons.values())
    reasons = base_parameters(load_robot("puma560")).reasons
    assert "only turns about the z axis" in reasons["XX1"]
    assert "never moves" in reasons["M1"]


def test_texts_hold_the_matrix():
    base = base_parameters(load_robot("panda"))
    for row, text in zip(base.matrix, base.expressions, strict=True):
        terms = dict.fromkeys(base.columns, 0.0)
        tokens, sign, factor = text.split(), 1.0, 1.0
        for token in tokens:
            if token in "+-":
                sign = 1.0 if token == "+" else -1.0
            elif token.lstrip("-")[0].isdigit():
                factor = float(token)
            else:
                terms[token.lstrip("-")] = sign * factor * (-1.0 if token.startswith("-") else 1.0)
                factor = 1.0
        assert np.array_equal(row, list(terms.values()))


def test_speed():
    panda, start = load_robot("panda"), time.process_time()
    base_parameters(panda)
    assert time.process_time() - start < 0.3
    tree = random_robot(39, serial=True, kind="right", joints=30)
    assert len(tree.joints) == 30
    start = time.process_time()
    base_parameters(tree, armature=True, friction=True, offset=True)
    assert time.process_time() - start < 10.0


# --- bad input --------------------------------------------------------------------------------------


def test_bad_input_is_refused_with_the_choices():
    robot = load_robot("puma560")
    with pytest.raises(ArgumentError, match="torque"):
        base_parameters(robot, "torques")
    with pytest.raises(ArgumentError, match="gautier-khalil"):
        base_parameters(robot, method="gautier")
    with pytest.raises(ArgumentError, match="order"):
        base_parameters(robot, order=["M1"])
    with pytest.raises(RobotError, match="no joint"):
        base_parameters(Robot(name="stone", joints=(), links=()))
    joints = (replace(robot.joints[0], before=Frame(np.eye(3), (np.nan, 0, 0))), *robot.joints[1:])
    with pytest.raises(RobotError, match=robot.joints[0].name):
        base_parameters(replace(robot, joints=joints))
    with pytest.raises(RobotError, match="singular"):
        base_parameters(replace(robot, transmission=np.zeros((6, 6))), armature=True)


# --- exact linear algebra ---------------------------------------------------------------------------


def test_rank_and_inverse_are_exact():
    hilbert = exact_array([[Fraction(1, i + j + 1) for j in range(12)] for i in range(12)])
    assert rank(hilbert) == 12  # in floats its condition is 1e16
    assert np.array_equal(hilbert @ inverse(hilbert), exact_array(np.eye(12, dtype=int).tolist()))
    with pytest.raises(ZeroDivisionError):
        inverse(exact_array([[1, 2], [2, 4]]))


def test_pivots_are_the_greedy_choice():
    rng = np.random.default_rng(5)
    for _ in range(50):
        rows = exact_array((rng.integers(-2, 3, (4, 3)) @ rng.integers(-1, 2, (3, 7))).tolist())
        order = rng.permutation(7).tolist()
        matrix, pivots = Exact().reduce(rows, order)
        greedy: list[int] = []
        for column in order:
            if rank(rows[:, [*greedy, column]]) > len(greedy):
                greedy.append(column)
        assert pivots == greedy
        assert np.array_equal(matrix[:, pivots], np.eye(len(pivots), dtype=int))
        assert rank(np.vstack([rows, matrix])) == len(pivots)


def test_rank_agrees_with_determinants():
    rng = np.random.default_rng(6)
    for _ in range(30):
        rows = exact_array((rng.integers(-2, 3, (3, 2)) @ rng.integers(-2, 3, (2, 4))).tolist())
        minors = [
            rows[i, k] * rows[j, m] - rows[i, m] * rows[j, k]
            for i, j in combinations(range(3), 2)
            for k, m in combinations(range(4), 2)
        ]
        assert rank(rows) == (2 if any(minors) else int(bool(rows.any())))
