"""The closed form of [GK1990] against sampled torques, the structural answer and what is printed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from dynid import RobotError, load_robot
from dynid.base import base_parameters
from dynid.base.gautier_khalil import gautier_khalil_symbolic
from dynid.base.geometry import longest_offset, squared_up
from dynid.base.modified_dh import Row, in_modified_frames, modified_dh
from dynid.base.relations import Place, closed_form, numeric_places, symbolic_places, transport
from dynid.base.symbolic import Poly, combination_text, poly, symbol
from dynid.robot import Joint, Link, Mimic, Robot
from dynid.spatial import (
    PARAMETER_LETTERS,
    Frame,
    parameter_transform,
    rotation_about,
    rotation_x,
    rotation_z,
)
from helpers_rank import drive_rows, effort_rows, random_robot, row_space, same_row_space
from helpers_rnea import motions, rnea

ROBOTS = 300
BLOCKS = [0, *(pytest.param(block, marks=pytest.mark.slow) for block in range(100, ROBOTS, 100))]
KINDS = ("right", "rational", "oblique")


def robot_of(seed: int) -> Robot:
    return random_robot(seed, serial=True, kind=KINDS[seed % 3], joints=5)


def table_robot(*rows: tuple, gravity=(0, 0, -9.81)) -> Robot:
    """A robot from rows (kind, alpha, d, theta, r), angles in degrees."""
    joints, links = [], []
    for j, (kind, alpha, d, theta, r) in enumerate(rows):
        row = Row(kind == "P", np.radians(alpha), d, np.radians(theta), r)
        joints.append(
            Joint(
                name=f"j{j}",
                kind="prismatic" if kind == "P" else "revolute",
                parent=j - 1,
                before=row.frame(),
            )
        )
        links.append(Link(name=f"l{j}"))
    return Robot(
        name="table", joints=tuple(joints), links=tuple(links), gravity=np.array(gravity, dtype=float)
    )


def closed_matrix(table, links: int) -> np.ndarray:
    """The closed form in the frames of the table, before any completion: (count, 10 links)."""
    names = [f"{letters}{j + 1}" for j in range(links) for letters in PARAMETER_LETTERS]
    state = closed_form(table, numeric_places(table))
    return np.array([[state[kept].get(name, 0.0) for name in names] for kept in state]).reshape(
        -1, len(names)
    )


# --- modified Denavit-Hartenberg frames -----------------------------------------------------------------


@pytest.mark.parametrize("block", range(0, ROBOTS, 100))
def test_frames_of_the_table_move_like_the_robot(block):
    for seed in range(block, block + 100):
        robot = robot_of(seed)
        table = modified_dh(robot)
        size = max([1.0, longest_offset(robot), *(abs(x) for row in table.rows for x in (row.d, row.r))])
        q = np.random.default_rng(seed).uniform(-2, 2, robot.dof)
        pose = Frame()
        for m, row, link, x in zip(motions(robot, q, 0 * q, 0 * q), table.rows, table.links, q, strict=True):
            pose = pose @ row.frame(x)
            found = table.base.inverse() @ pose @ link
            assert np.abs(found.rotation - m.R).max() < 1e-13, seed
            assert np.abs(found.translation - m.p).max() < 1e-11 * size, seed


def test_torques_are_the_same_in_the_frames_of_the_table():
    for seed in range(0, ROBOTS, 5):
        robot = robot_of(seed)
        there = in_modified_frames(robot, modified_dh(robot))
        motion = np.random.default_rng(seed).uniform(-2, 2, (3, robot.dof))
        ours, robots = rnea(there, None, *motion), rnea(robot, None, *motion)
        assert np.abs(ours - robots).max() < 1e-9 * max(1.0, np.abs(robots).max()), seed


@pytest.mark.parametrize("name", ["puma560", "panda", "stanford", "scara", "gk3"])
def test_robots_in_modified_frames_keep_them(name):
    robot = load_robot(name)
    table = modified_dh(robot)
    assert table.own_frames
    assert table.base.is_identity
    for joint, row in zip(robot.joints, table.rows, strict=True):
        assert np.array_equal(row.frame().rotation, joint.before.rotation)
        assert np.allclose(row.frame().translation, joint.before.translation, rtol=0, atol=1e-15)


def test_right_angles_and_zeros_are_exact():
    rows = modified_dh(load_robot("puma560")).rows
    assert [row.alpha_cos_sin for row in rows[:3]] == [(1.0, 0.0), (0.0, -1.0), (1.0, 0.0)]
    assert [row.d for row in rows] == [0.0, 0.0, 0.4318, 0.0203, 0.0, 0.0]
    assert [row.r for row in rows] == [0.0, 0.0, 0.15005, 0.4318, 0.0, 0.0]


def test_distal_frames_become_the_table_of_the_manual():
    """PUMA 260, standard Denavit-Hartenberg: alpha 90 0 -90 90 -90, a2, d3, d4 move up by one row."""
    rows = modified_dh(load_robot("puma260")).rows
    assert [round(np.degrees(row.alpha)) for row in rows] == [0, 90, 0, -90, 90, -90]
    assert [row.d for row in rows] == [0, 0, 0.2032, 0, 0, 0]
    assert [row.r for row in rows] == [0, 0, 0.12624, 0.2032, 0, 0]


def frames_of(before: Frame, *, axis=(0, 0, 1)) -> tuple[Frame, Row]:
    """The first link's frame seen from the table, and row 2, of a joint at the base and one placed there."""
    joints = (
        Joint(name="a", kind="revolute", parent=-1),
        Joint(name="b", kind="revolute", parent=0, before=before, axis=np.array(axis, dtype=float)),
    )
    table = modified_dh(Robot(name="two", joints=joints, links=(Link(name="a"), Link(name="b"))))
    return table.links[0], table.rows[1]


def test_skew_axes_meet_the_foot_of_their_common_perpendicular():
    link, row = frames_of(
        Frame(rotation_x(np.pi / 2), (0.3, 0.7, 0.2))
    )  # axis 2 along -y through (0.3, ., 0.2)
    assert np.allclose(link.translation, (0, 0, -0.2), atol=1e-16)
    assert np.array_equal(link.rotation, np.eye(3))
    assert (row.d, row.r) == (0.3, -0.7)


def test_intersecting_axes_put_the_origin_where_they_meet():
    link, row = frames_of(Frame(rotation_about((1, 0, 0), 0.5), (0, 0, 0.4)))
    assert np.allclose(link.translation, (0, 0, -0.4), atol=1e-16)
    assert (row.d, row.r) == (0.0, 0.0)


def test_parallel_axes_turn_x_toward_the_next():
    link, row = frames_of(Frame(None, (0.3, 0.3, 0.1)))
    assert np.allclose(link.rotation, rotation_z(-np.pi / 4))
    assert (row.d, row.r, row.alpha) == (pytest.approx(0.3 * np.sqrt(2)), 0.1, 0.0)
    link, row = frames_of(Frame(None, (-0.3, 0, 0.1)))  # d may be negative: the frame is kept
    assert link.is_identity
    assert row.d == -0.3


def test_coaxial_axes_keep_the_frame():
    for turn, alpha in ((np.eye(3), 0.0), (rotation_x(np.pi), np.pi)):
        link, row = frames_of(Frame(turn @ rotation_z(0.3), (0, 0, 0.2)))
        assert link.is_identity
        assert (row.d, row.alpha, abs(row.r)) == (0.0, alpha, 0.2)


def test_branches_and_mimic_joints_have_no_table():
    arm = table_robot(("R", 0, 0, 0, 0), ("R", 90, 0, 0, 0), ("R", 0, 0.3, 0, 0))
    branch = replace(arm, joints=(*arm.joints[:2], replace(arm.joints[2], parent=0)))
    follower = replace(arm, joints=(*arm.joints[:2], replace(arm.joints[2], mimic=Mimic(1))))
    for robot, word in ((branch, "branch"), (follower, "mimics")):
        with pytest.raises(RobotError, match=f"'j2' {word}|'j2' starts a {word}") as error:
            base_parameters(robot, method="gautier-khalil")
        assert "serial" in str(error.value)


# --- the relations --------------------------------------------------------------------------------------


def test_transport_is_a_change_of_frame():
    """lambda, (A2) to (A6), from its own formulas, and X of phi_outer = X phi_inner of `spatial`."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        alpha, d, theta, r = rng.normal(size=4)
        place = Place(np.cos(alpha), np.sin(alpha), np.cos(theta), np.sin(theta), d, r)
        X = parameter_transform(Row(False, alpha, d, theta, r).frame())
        for k, letters in enumerate(PARAMETER_LETTERS):
            column = transport(place, letters, 1)
            ours = [column.get(f"{target}1", 0.0) for target in PARAMETER_LETTERS]
            assert np.allclose(ours, X[:, k], rtol=0, atol=1e-14 * max(1.0, np.abs(X).max()))


def test_puma560_line_by_line():
    lines = gautier_khalil_symbolic(load_robot("puma560"))
    assert len(lines) == 36
    assert lines[0] == "ZZR1 = ZZ1 + YY2 + YY3 + 2 R3 MZ3 + (D3^2 + R3^2)(M3+M4+M5+M6) + D4^2 (M4+M5+M6)"
    printed = """
        XXR2 = XX2 - YY2 - D3^2 (M3+M4+M5+M6)
        XZR2 = XZ2 - D3 MZ3 - D3 R3 (M3+M4+M5+M6)
        ZZR2 = ZZ2 + D3^2 (M3+M4+M5+M6)
        MXR2 = MX2 + D3 (M3+M4+M5+M6)
        XXR3 = XX3 - YY3 + YY4 + 2 R4 MZ4 + (R4^2 - D4^2)(M4+M5+M6)
        XYR3 = XY3 - D4 MZ4 - D4 R4 (M4+M5+M6)
        ZZR3 = ZZ3 + YY4 + 2 R4 MZ4 + (D4^2 + R4^2)(M4+M5+M6)
        MXR3 = MX3 + D4 (M4+M5+M6)
        MYR3 = MY3 + MZ4 + R4 (M4+M5+M6)
        XXR4 = XX4 - YY4 + YY5
        ZZR4 = ZZ4 + YY5
        MYR4 = MY4 - MZ5
        XXR5 = XX5 - YY5 + YY6
        ZZR5 = ZZ5 + YY6
        MYR5 = MY5 + MZ6
        XXR6 = XX6 - YY6"""
    alone = "XY2 YZ2 MY2 XZ3 YZ3 XY4 XZ4 YZ4 MX4 XY5 XZ5 YZ5 MX5 XY6 XZ6 YZ6 ZZ6 MX6 MY6"
    assert set(lines[1:]) == {*alone.split(), *(line.strip() for line in printed.strip().splitlines())}


def test_puma560_in_numbers():
    base = base_parameters(load_robot("puma560"), method="gautier-khalil")
    D3, R3, D4, R4 = 0.4318, 0.15005, 0.0203, 0.4318
    row = dict(zip(base.columns, base.matrix[base.names.index("ZZR1")], strict=True))
    assert row["M3"] == pytest.approx(D3**2 + R3**2, rel=1e-12)
    assert row["M6"] == pytest.approx(D3**2 + R3**2 + D4**2, rel=1e-12)
    row = dict(zip(base.columns, base.matrix[base.names.index("XXR3")], strict=True))
    assert row["M5"] == pytest.approx(R4**2 - D4**2, rel=1e-12)
    assert base.count == 36
    assert base.notes == ()


def test_symbols_stand_for_the_numbers():
    """The same relations with symbols, evaluated, and with numbers."""
    seen = 0
    for seed in range(0, ROBOTS, 2):
        table = modified_dh(squared_up(robot_of(seed))[0])
        numbers, symbols = (
            closed_form(table, numeric_places(table)),
            closed_form(table, symbolic_places(table)),
        )
        values = symbol_values(table)
        assert list(numbers) == list(symbols)
        for kept, combination in numbers.items():
            formulas = symbols[kept]
            for name in {*combination, *formulas}:
                value = evaluate(poly(formulas.get(name, 0)), values)
                assert value == pytest.approx(combination.get(name, 0.0), rel=1e-9, abs=1e-11)
            seen += any("alpha" in text or "theta" in text for text in map(str, formulas.values()))
    assert seen > 100  # oblique angles among them


def symbol_values(table) -> dict[str, float]:
    values = {}
    for j, row in enumerate(table.rows, start=1):
        values |= {f"D{j}": row.d, f"R{j}": row.r}
        values |= {f"Calpha{j}": np.cos(row.alpha), f"Salpha{j}": np.sin(row.alpha)}
        values |= {f"Ctheta{j}": np.cos(row.theta), f"Stheta{j}": np.sin(row.theta)}
    return values


def evaluate(formula: Poly, values: dict[str, float]) -> float:
    return sum(c * np.prod([values[name] ** power for name, power in m]) for m, c in formula.terms.items())


def test_formulas_have_one_form_and_a_short_text():
    Ca, Sa, Ct, St, D, R = map(symbol, ("Calpha2", "Salpha2", "Ctheta2", "Stheta2", "D2", "R2"))
    assert Sa * Sa + Ca * Ca == poly(1)
    assert not Sa * Sa * St * St - (1 - Ca * Ca) * (1 - Ct * Ct)
    assert Sa * Sa * Sa == Sa - Sa * Ca * Ca
    names = ("ZZ1", "MZ2", "M2", "M3")

    def text(**combination) -> str:
        return combination_text(combination, names, "ZZ1")

    assert text(ZZ1=1, M2=D * D + R * R, M3=D * D + R * R) == "ZZ1 + (D2^2 + R2^2)(M2+M3)"
    assert text(ZZ1=1, M2=D * D * (1 - Ca * Ca), MZ2=-2 * R) == "ZZ1 - 2 R2 MZ2 + D2^2 Salpha2^2 M2"
    assert text(M2=-1 * D * D - R, M3=-1 * D * D - R) == "-(D2^2 + R2)(M2+M3)"
    assert text(M2=-1, M3=2 * D) == "-M2 + 2 D2 M3"
    assert text(M2=D, M3=-1 * D) == "D2 (M2-M3)"
    assert text() == "0"
    with pytest.raises(ValueError, match="whole"):
        poly(0.5)


# --- agreement ------------------------------------------------------------------------------------------


@cache
def rows_of(seed: int) -> np.ndarray:
    return effort_rows(robot_of(seed), "torque", np.random.default_rng(seed), 20)


@cache
def pair_of(seed: int):
    robot = robot_of(seed)
    return robot, base_parameters(robot, method="gautier-khalil"), base_parameters(robot)


@pytest.mark.parametrize("block", BLOCKS)
def test_random_robots_have_the_sampled_row_space(block):
    for seed in range(block, block + 100):
        _, base, exact = pair_of(seed)
        assert same_row_space(base.matrix, rows_of(seed)) < 1e-8, seed
        assert base.kept == exact.kept, seed
        assert np.allclose(base.matrix, exact.matrix, rtol=1e-9, atol=1e-11), seed
        assert base.method == "gautier-khalil"


@pytest.mark.parametrize("block", BLOCKS)
def test_the_literal_rules_drop_nothing_identifiable_and_say_when_they_keep_too_much(block):
    """Of the closed form alone, the structural answer playing no part."""
    incomplete = 0
    for seed in range(block, block + 100):
        robot, base, _ = pair_of(seed)
        table = modified_dh(squared_up(robot)[0])
        literal = closed_matrix(table, len(robot.links)) @ table.parameter_matrix
        sizes, basis, _ = row_space(rows_of(seed))
        scaled = literal / np.where(np.isinf(sizes), 1.0, sizes)
        scaled /= np.linalg.norm(scaled, axis=1, keepdims=True)
        explained = np.linalg.lstsq(scaled.T, basis.T, rcond=1e-12)[0]
        assert np.abs(scaled.T @ explained - basis.T).max(initial=0.0) < 1e-8, seed
        assert np.linalg.matrix_rank(scaled, tol=1e-10) == len(scaled) >= base.count, seed
        said = any("[GK1990]" in note for note in base.notes)
        assert said == (len(literal) > base.count), seed
        assert not said or case_by_case(robot), seed
        incomplete += said
    assert 5 < incomplete < 50


def case_by_case(robot: Robot) -> bool:
    """Whether the rules may be incomplete: without gravity, or with a joint between r1 and r2."""
    world = motions(robot, *np.zeros((3, robot.dof)))
    axes = [m.R @ joint.after.rotation.T @ joint.axis for m, joint in zip(world, robot.joints, strict=True)]
    turning = [j for j, joint in enumerate(robot.joints) if not joint.prismatic]
    if not turning:
        return False
    r1 = turning[0]
    r2 = next((j for j in turning if np.linalg.norm(np.cross(axes[j], axes[r1])) > 1e-9), robot.dof)
    return not robot.gravity.any() or r2 > r1 + 1


def test_the_closed_form_gives_the_numbers(monkeypatch):
    """Not the structural answer, with which it agrees."""
    from dynid.base import gautier_khalil as module

    right = base_parameters(load_robot("puma560"), method="gautier-khalil")
    longer = [replace(place, d=2 * place.d) for place in numeric_places(modified_dh(load_robot("puma560")))]
    monkeypatch.setattr(module, "numeric_places", lambda table: longer)
    wrong = base_parameters(load_robot("puma560"), method="gautier-khalil")
    at = right.names.index("ZZR2"), right.columns.index("M3")
    assert wrong.matrix[at] == pytest.approx(4 * right.matrix[at])


def test_rule_1_slides_that_never_turn_have_their_mass_alone():
    gantry = table_robot(("P", 0, 0, 0, 0), ("P", 90, 0.1, 30, 0), ("P", 90, 0, 0, 0.2), ("R", 20, 0.3, 0, 0))
    base = base_parameters(gantry, method="gautier-khalil")
    assert base.notes == ()
    assert [name for name in base.kept if name[-1] != "4"] == ["M1", "M2", "M3"]
    assert base.regrouped["M4"] == ("MR3",)


def test_the_sample_covers_what_it_should():
    first_two = [[joint.prismatic for joint in robot_of(seed).joints[:2]] for seed in range(ROBOTS)]
    for kinds in ([False, False], [False, True], [True, False], [True, True]):
        assert first_two.count(kinds) > 10
    gravities = {tuple(np.round(robot_of(seed).gravity, 3)) for seed in range(ROBOTS)}
    assert (0.0, 0.0, 0.0) in gravities
    assert len(gravities) == 5
    twists = [row.alpha % np.pi for seed in range(ROBOTS) for row in modified_dh(robot_of(seed)).rows[1:]]
    parallel = np.isclose(np.minimum(twists, np.pi - np.array(twists)), 0.0)
    across = np.isclose(twists, np.pi / 2)
    assert min(parallel.sum(), across.sum(), (~parallel & ~across).sum()) > 100


@pytest.mark.parametrize("block", BLOCKS)
def test_counts_stay_within_the_bound(block):
    """(18): at most 7 nr + 4 nt - 3 - (1 - sigma_1), where some joint turns."""
    for seed in range(block, block + 100):
        robot, base, _ = pair_of(seed)
        turning = [not joint.prismatic for joint in robot.joints]
        if any(turning):
            bound = 7 * sum(turning) + 4 * (len(turning) - sum(turning)) - 3 - turning[0]
            assert base.count <= bound, seed


@pytest.mark.parametrize("seed", range(0, 90, 3))
def test_drives_join_as_in_the_sampled_torques(seed):
    robot = robot_of(seed)
    rng = np.random.default_rng(seed)
    if seed % 2:
        T = np.eye(robot.dof) + np.diag(rng.integers(0, 2, robot.dof - 1), 1) if robot.dof > 1 else np.eye(1)
        robot = replace(robot, transmission=T, friction_side="motor")
    base = base_parameters(robot, method="gautier-khalil", armature=True, friction=True, offset=True)
    rows = drive_rows(robot, "torque", rng, 60, "IFO")
    assert same_row_space(base.matrix, rows) < 1e-8


@pytest.mark.parametrize("model", ["inertia", "energy"])
def test_other_models(model):
    for seed in range(0, ROBOTS, 6):
        robot = robot_of(seed)
        base = base_parameters(robot, model, "gautier-khalil")
        exact = base_parameters(robot, model)
        assert base.kept == exact.kept, seed
        assert np.allclose(base.matrix, exact.matrix, rtol=1e-9, atol=1e-11), seed


def test_gravity_alone_is_decided_by_the_conditions_and_says_so():
    for name in ("puma560", "stanford", "scara"):
        base = base_parameters(load_robot(name), "gravity", "gautier-khalil")
        sampled = base_parameters(load_robot(name), "gravity", "numeric")
        assert base.count == sampled.count
        assert same_row_space(base.matrix, sampled.matrix) < 1e-8
        assert any("of gravity alone, conditions (4) and (5) decide" in note for note in base.notes)


def test_motor_inertias_of_the_first_two_joints_of_the_puma_merge():
    base = base_parameters(load_robot("puma560"), method="gautier-khalil", armature=True)
    assert base.count == 36 + 4
    assert base.regrouped["Ia1"] == ("ZZR1",)
    assert base.regrouped["Ia2"] == ("ZZR2",)


@pytest.mark.parametrize("factor", [1e3, 1e-3, 1 / 0.0254])
def test_the_unit_of_length_does_not_matter(factor):
    for seed in range(2, 60, 3):
        robot = robot_of(seed)

        def scaled(frame: Frame) -> Frame:
            return Frame(frame.rotation, frame.translation * factor)

        other = replace(
            robot,
            joints=tuple(replace(j, before=scaled(j.before), after=scaled(j.after)) for j in robot.joints),
            gravity=robot.gravity * factor,
        )
        bases = [base_parameters(r, method="gautier-khalil") for r in (robot, other)]
        assert bases[0].kept == bases[1].kept
        assert len(bases[0].notes) == len(bases[1].notes)


# --- where the rules are incomplete ---------------------------------------------------------------------

INCOMPLETE = {
    # slide 2 is oblique to axis 1: two first moments of three remain
    "oblique slide": (
        table_robot(("R", 0, 0, 0, 0), ("P", 40, 0.2, 0, 0), ("R", 90, 0.1, 0, 0.3)),
        "(19) and (20)",
    ),
    # slide 3 is along axis 1, but carried by an oblique one
    "slide on an oblique slide": (
        table_robot(("R", 0, 0, 0, 0), ("P", 40, 0.2, 0, 0), ("P", -40, 0.1, 0, 0)),
        "(19) and (20)",
    ),
    # slide 2 is across axis 1, which is half way between x and y of its frame
    "slide across, turned": (
        table_robot(("R", 0, 0, 0, 0), ("P", 90, 0.2, 45, 0), ("R", 0, 0.1, 0, 0.3)),
        "rule 3 of [GK1990] leaves link 2, a slide across axis 1",
    ),
    # axes 1 and 2 coincide and are along gravity
    "coaxial": (
        table_robot(("R", 0, 0, 0, 0), ("R", 0, 0, 0, 0.2), ("R", 90, 0.1, 0, 0.3)),
        "rule 3 of [GK1990] leaves the first moments of link 2",
    ),
    # a wrist that gravity does not pull: 11 parameters
    "wrist without gravity": (
        table_robot(("R", 0, 0, 0, 0), ("R", 90, 0, 0, 0), ("R", -90, 0, 0, 0), gravity=(0, 0, 0)),
        "without gravity",
    ),
}


@pytest.mark.parametrize("case", INCOMPLETE)
def test_incomplete_rules_are_named_and_completed(case):
    robot, words = INCOMPLETE[case]
    base = base_parameters(robot, method="gautier-khalil")
    rows = effort_rows(robot, "torque", np.random.default_rng(0), 40)
    assert same_row_space(base.matrix, rows) < 1e-9
    said = "; ".join(base.notes)
    assert words in said
    assert "by condition (" in said
    literal = closed_form(modified_dh(robot), numeric_places(modified_dh(robot)))
    left = [name for name in literal if name not in base.kept]
    assert len(literal) - len(left) == base.count
    assert left
    lines = gautier_khalil_symbolic(robot)
    assert len(lines) == len(literal)
    for name in left:
        assert f"{name} is regrouped" in said or f"{name} has no effect" in said
    assert sum("[is regrouped" in line or "[has no effect" in line for line in lines) == len(left)


def test_20_is_for_right_angles_only():
    """Slide 3 is along axis 1 but stands obliquely on slide 2: the paper's formula is not for it."""
    robot, _ = INCOMPLETE["slide on an oblique slide"]
    notes = base_parameters(robot, method="gautier-khalil").notes
    assert any("link 2 slides obliquely" in note for note in notes)
    assert any("link 3 is carried by an oblique slide: MX3 is regrouped by condition (5)" in n for n in notes)


def test_a_wrist_without_gravity_has_11():
    assert base_parameters(INCOMPLETE["wrist without gravity"][0], method="gautier-khalil").count == 11


def test_the_oblique_slide_keeps_two_first_moments():
    robot, _ = INCOMPLETE["oblique slide"]
    base = base_parameters(robot, method="gautier-khalil")
    assert sum(name in ("MX2", "MY2", "MZ2") for name in base.kept) == 2


def test_lines_say_what_condition_5_adds():
    """Formulas and shares together are the base parameters."""
    robot, _ = INCOMPLETE["oblique slide"]
    base = base_parameters(robot, method="gautier-khalil")
    left = next(name for name in ("MX2", "MY2", "MZ2") if name not in base.kept)
    takers = base.regrouped[left]
    lines = gautier_khalil_symbolic(robot)
    taken = [line for line in lines if "and by condition (5)" in line]
    assert len(taken) == len(takers) > 0
    for line in taken:
        row = base.kept.index(line.split()[0].replace("R", ""))
        share = base.matrix[row, base.columns.index(left)]
        assert float(line.split("(5) ")[1].split()[0]) == pytest.approx(share, rel=1e-11)


def test_what_19_and_20_put_on_a_slide_is_passed_on():
    """Slide 3 is along axis 1, slide 2 across it: MX3 moves to YY2 by (20), and on to ZZ1 by (16)."""
    robot = table_robot(("R", 0, 0, 0, 0), ("P", 90, 0, 0, 0), ("P", -90, 0.2, 0, 0), ("R", 90, 0.1, 0, 0))
    base = base_parameters(robot, method="gautier-khalil")
    assert base.notes == ()
    assert "ZZR1" in base.regrouped["MX3"]
    rows = effort_rows(robot, "torque", np.random.default_rng(0), 40)
    assert same_row_space(base.matrix, rows) < 1e-9


def test_rule_2_asks_for_gravity_along_the_first_axis_even_at_joint_1():
    for gravity, silent in (((0, 0, -9.81), True), ((0, 9.81, 0), False)):
        robot = table_robot(("R", 0, 0, 0, 0), ("R", 90, 0, 0, 0), gravity=gravity)
        base = base_parameters(robot, method="gautier-khalil")
        assert ("MX1" in base.no_effect) == silent


def test_other_frames_are_said_and_the_names_are_the_robots():
    robot = load_robot("puma260")
    base = base_parameters(robot, method="gautier-khalil")
    assert base.count == 36
    assert "links 1, 2, 3, 4, 5" in base.notes[0]
    assert base.columns == robot.parameter_names
