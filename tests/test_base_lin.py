"""Lin's sets against exact structure, sampled regressors, and his own recursions as printed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import dynid
from dynid.base import base_parameters
from dynid.base.compare import compare
from dynid.base.composite import (
    chain_of,
    composite_constants,
    inertia_and_gravity,
    varying_parts,
)
from dynid.base.composite_sets import gravity_set, torque_set
from dynid.base.lin import inertia_matrix_and_gravity, inertia_partition
from dynid.base.modified_dh import modified_dh
from dynid.errors import ArgumentError, RobotError
from dynid.robot import Joint, Link, Robot
from dynid.spatial import Frame, cross_matrix, parameter_transform, rotation_x, six, tensor
from helpers_rank import drive_rows, effort_rows, random_robot, same_row_space

GRAVITY = 9.81 * np.array([(0, 0, -1), (0, 1, 0), (0, 0.6, -0.8), (0.3, -0.5, 0.81)])
KINDS = ("right", "rational", "oblique")
SEEDS = range(300)


@cache
def heavy_robot(seed: int) -> Robot:
    """A random serial robot, gravity in one of four directions."""
    robot = random_robot(seed, serial=True, kind=KINDS[seed % 3], joints=4)
    return replace(robot, gravity=GRAVITY[seed // 3 % 4])


@cache
def lin_set(seed: int, model: str):
    return base_parameters(heavy_robot(seed), model, "lin")


def serial(*steps: tuple[str, float, float], gravity=(0, 0, -9.81)) -> Robot:
    """A robot of (R or P, alpha, a) in modified DH frames, generic parameters."""
    rng = np.random.default_rng(len(steps))
    joints = tuple(
        Joint(
            name=f"j{k}",
            kind="prismatic" if letter == "P" else "revolute",
            parent=k - 1,
            before=Frame(rotation_x(alpha), (a, 0, 0)),
        )
        for k, (letter, alpha, a) in enumerate(steps)
    )
    links = tuple(Link(name=f"l{k}", parameters=rng.normal(size=10)) for k in range(len(steps)))
    return Robot(name="serial", joints=joints, links=links, gravity=np.array(gravity, dtype=float))


# --- Lemma 1 and Algorithm 1 as printed ---------------------------------------------------------------


def printed_constants(robot: Robot, q: np.ndarray):
    """k, U, m^ by Eqs. (14), (16), (18), (20), (22), (24), and l, V by (15), (17), (19), (21), (23), (25)."""
    rows = modified_dh(robot).rows
    phi = (modified_dh(robot).parameter_matrix @ robot.parameters).reshape(-1, 10)
    n = len(rows)
    mhat = [phi[i:, 9].sum() for i in range(n)]  # Eq. (5)
    k, U = [phi[n - 1, 6:9]], [tensor(phi[n - 1, :6])]
    ell, V, rewritten = [np.zeros(3)], [np.zeros((3, 3))], [np.zeros((3, 3))]
    X = cross_matrix
    for i in reversed(range(n - 1)):
        row, m = rows[i + 1], mhat[i + 1]
        theta = row.theta + (0.0 if row.prismatic else q[i + 1])
        b, d = row.d, row.r + (q[i + 1] if row.prismatic else 0.0)
        C, S, Cb, Sb = np.cos(theta), np.sin(theta), np.cos(row.alpha), np.sin(row.alpha)
        R = np.array([[C, -S, 0], [Cb * S, Cb * C, -Sb], [Sb * S, Sb * C, Cb]])  # Eq. (4)
        s = np.array([b, -d * Sb, d * Cb])  # Eq. (3)
        k1, U1, l1, V1 = k[0], U[0], ell[0], V[0]
        J, mc = tensor(phi[i, :6]), phi[i, 6:9]
        if not row.prismatic:
            along = R[:, 2] * k1[2]
            k_i = mc + m * s + along
            l_i = R @ (l1 + np.array([k1[0], k1[1], 0.0]))
            D = U1 - np.diag([U1[1, 1], U1[1, 1], U1[2, 2]])
            U_i = J - m * X(s) @ X(s) + R @ np.diag([U1[1, 1], U1[1, 1], U1[2, 2]]) @ R.T
            U_i = U_i - X(s) @ X(along) - X(along) @ X(s)
            V_i = R @ (V1 + D) @ R.T - X(s) @ X(l_i) - X(l_i) @ X(s)
            V_36 = V_i
        else:
            B, Bo, Dk = np.array([b, 0, 0]), np.array([b * C, -b * S, 0]), np.array([0, 0, d])
            Rk, chat = R @ k1, k1 + l1
            k_i = mc + m * B + Rk
            l_i = R @ (l1 + m * Dk)
            U_i = J + R @ U1 @ R.T - m * X(B) @ X(B) - X(B) @ X(Rk) - X(Rk) @ X(B)
            inner = V1 - m * (X(Dk) @ X(Dk) + X(Dk) @ X(Bo) + X(Bo) @ X(Dk))
            inner = inner - X(Dk) @ X(chat) - X(chat) @ X(Dk) - X(Bo) @ X(l1) - X(l1) @ X(Bo)
            V_i = R @ inner @ R.T
            V_36 = R @ (V1 + terms_of_36(m, b, d, C, S, l1, chat)) @ R.T
        k, U, ell, V = [k_i, *k], [U_i, *U], [l_i, *ell], [V_i, *V]
        rewritten = [V_36, *rewritten]
    return mhat, k, U, ell, V, rewritten


def terms_of_36(m, b, d, C, S, l, c):  # noqa: E741
    """What Eq. (36) adds to V_{i+1}, for a slide; T23 has the plus sign that Algorithm 1 misprints."""
    T = np.array(
        [
            [m * d * d - 2 * b * S * l[1], b * (S * l[0] - C * l[1]), -b * C * (l[2] + m * d)],
            [0, m * d * d + 2 * b * C * l[0], b * S * (l[2] + m * d)],
            [0, 0, 2 * b * (C * l[0] - S * l[1])],
        ]
    )
    T += np.array([[2 * d * c[2], 0, -d * c[0]], [0, 2 * d * c[2], -d * c[1]], [0, 0, 0]])
    return np.triu(T) + np.triu(T, 1).T


@pytest.mark.parametrize("seed", range(40))
def test_constants_and_varying_parts_are_those_of_the_printed_equations(seed):
    robot = heavy_robot(seed)
    q = np.random.default_rng(seed).uniform(-2, 2, robot.dof)
    chain = chain_of(robot)
    constants = composite_constants(chain) @ robot.parameters
    varying = varying_parts(chain, constants, q)
    mhat, k, U, ell, V, rewritten = printed_constants(robot, q)
    for i in range(robot.dof):
        scale = 1e-12 * max(1.0, np.abs(constants).max(), np.abs(varying).max())
        np.testing.assert_allclose(constants[i], [*six(U[i]), *k[i], mhat[i]], atol=scale)
        np.testing.assert_allclose(varying[i], [*six(V[i]), *ell[i], 0.0], atol=scale)
        np.testing.assert_allclose(rewritten[i], V[i], atol=scale)


@pytest.mark.parametrize("seed", range(20))
def test_constant_and_varying_part_add_up_to_the_composite_body(seed):
    """Eqs. (5) to (7), (12), (13): the bodies as sums over their links at the posture."""
    robot = heavy_robot(seed)
    q = np.random.default_rng(seed).uniform(-2, 2, robot.dof)
    table, chain = modified_dh(robot), chain_of(robot)
    own = (table.parameter_matrix @ robot.parameters).reshape(-1, 10)
    constants = composite_constants(chain) @ robot.parameters
    bodies = constants + varying_parts(chain, constants, q)
    for i in range(robot.dof):
        pose, total = Frame(), own[i].copy()
        for j in range(i + 1, robot.dof):
            pose = pose @ table.rows[j].frame(q[j])
            total += parameter_transform(pose) @ own[j]
        np.testing.assert_allclose(bodies[i], total, atol=1e-12 * max(1.0, np.abs(total).max()))


# --- the sets -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["torque", "gravity", "inertia"])
@pytest.mark.parametrize("first", range(0, len(SEEDS), 50))
def test_count_and_row_space_are_those_of_the_exact_structure(model, first):
    for seed in SEEDS[first : first + 50]:
        found, structure = lin_set(seed, model), base_parameters(heavy_robot(seed), model)
        assert found.count == structure.count, (seed, model, found.names, structure.names)
        if found.count:
            result = compare(structure, found)
            assert result.equivalent, (seed, model, result.explain())
            assert np.linalg.matrix_rank(result.matrix) == found.count


def test_the_random_robots_meet_every_case_of_the_theorems():
    """Otherwise the agreement above would say little."""
    names, counts = set(), {"delta": 0, "sigma": 0, "P1": 0, "P2": 0}
    for seed in SEEDS:
        chain = chain_of(heavy_robot(seed)).scaled(1.0, 9.81)
        torque, gravity = ({e.name for e in found(chain)} for found in (torque_set, gravity_set))
        assert gravity <= torque
        names |= {name.partition("_")[0] for name in torque if name.startswith("kappa")}
        for i, prismatic in enumerate(chain.prismatic):
            counts["delta"] += not prismatic and f"k{i + 1}x" not in torque
            counts["sigma"] += prismatic and f"m{i + 1}^" not in gravity
    for seed in SEEDS[:100]:
        partition = inertia_partition(heavy_robot(seed))
        counts["P1"] += bool(partition.P1.any())
        counts["P2"] += len(partition.P2) < len(partition.gravity)
    assert names == {"kappa1", "kappa2"}
    assert min(counts.values()) >= 5, counts


@pytest.mark.parametrize("seed", range(0, 60, 4))
def test_row_spaces_are_those_of_regressors_from_other_kinematics(seed):
    robot = heavy_robot(seed)
    rng = np.random.default_rng(seed)
    for model in ("torque", "gravity", "inertia"):
        rows = effort_rows(robot, model, rng, 15 + 8 * robot.dof)
        assert same_row_space(lin_set(seed, model).matrix, rows) < 1e-8, model


@pytest.mark.parametrize("seed", range(1, 40, 3))
def test_theorem_3_inertia_matrix_and_inertial_torque_have_one_set(seed):
    robot = heavy_robot(seed)
    rng = np.random.default_rng(seed)
    of_torque = effort_rows(robot, "inertia", rng, 15 + 8 * robot.dof)  # H qdd + C
    entries = []
    for unit in np.eye(len(robot.parameters)):
        H = robot.mass_matrix(np.random.default_rng(seed).uniform(-2, 2, (80, robot.dof)), unit)
        entries.append(H.reshape(-1))
    of_entries = np.array(entries).T
    found = lin_set(seed, "inertia").matrix
    assert same_row_space(found, of_torque) < 1e-8
    assert same_row_space(found, of_entries) < 1e-8


@pytest.mark.parametrize(
    ("name", "count"), [("stanford", 33), ("puma560", 36), ("puma260", 36), ("gk3", 15), ("panda", 43)]
)
def test_counts_of_known_robots(name, count):
    robot = dynid.load_robot(name)
    found = base_parameters(robot, method="lin")
    assert found.count == count
    assert np.linalg.matrix_rank(found.map_to(base_parameters(robot))) == count
    assert base_parameters(robot, "energy", "lin").names == found.names


def test_set_of_the_puma_560_is_that_of_theorem_5():
    found = base_parameters(dynid.load_robot("puma560"), method="lin")
    letters = ("U{}_11-22", "U{}_33", "U{}_12", "U{}_13", "U{}_23", "k{}x", "k{}y")
    assert found.names == ("U1_33", *(letter.format(j) for j in range(2, 7) for letter in letters))
    assert dict(zip(found.names, found.expressions, strict=True))["U6_11-22"] == "XX6 - YY6"


def test_1992_reading_of_delta_is_two_short_when_the_first_axis_is_not_along_gravity():
    """With 'k < j' nothing keeps k_1 of a single joint across gravity."""
    across, along = serial(("R", 0.0, 0.0), gravity=(0, 9.81, 0)), serial(("R", 0.0, 0.0))
    assert base_parameters(across, method="lin").names == ("U1_33", "k1x", "k1y")
    assert base_parameters(along, method="lin").names == ("U1_33",)


def test_sigma_of_theorem_4_is_not_that_in_print():
    """Printed: a slide does not lift when u_i // g. But a slide along gravity lifts all it carries."""
    half = np.pi / 2
    for slide_along in (0.0, half):
        robot = serial(("R", 0.0, 0.0), ("P", slide_along, 0.1))
        names = base_parameters(robot, "gravity", "lin").names
        assert ("m2^" in names) == (slide_along == 0.0)
        assert len(names) == base_parameters(robot, "gravity").count


def test_slide_between_r_and_s_keeps_kappa_1_and_kappa_2():
    robot = serial(("R", 0.0, 0.0), ("P", 1.0, 0.1))
    found = base_parameters(robot, method="lin")
    assert found.names == ("U1_33", "m2^", "kappa1_2", "kappa2_2")
    rows = dict(zip(found.names, found.matrix[:, 16:19], strict=True))
    u = rotation_x(1.0).T @ [0, 0, 1]  # u_r in frame 2
    np.testing.assert_allclose(rows["kappa1_2"], [-u[1], u[0], 0], atol=1e-11)
    np.testing.assert_allclose(rows["kappa2_2"], [-u[2] * u[0], -u[2] * u[1], 1 - u[2] ** 2], atol=1e-11)


@pytest.mark.parametrize("length", [1e-3, 1e3])
def test_units_of_length_do_not_matter(length):
    for seed in range(0, 30, 2):
        robot = heavy_robot(seed)

        def scale(frame):
            return Frame(frame.rotation, frame.translation * length)

        joints = [replace(j, before=scale(j.before), after=scale(j.after)) for j in robot.joints]
        scaled = replace(robot, joints=tuple(joints), gravity=robot.gravity * length)
        for model in ("torque", "inertia"):
            assert base_parameters(scaled, model, "lin").names == lin_set(seed, model).names


# --- Theorem 2: the set for the inertia matrix --------------------------------------------------------


@pytest.mark.parametrize("seed", range(0, 90, 3))
def test_partition_gives_the_inertia_set_from_the_sets_for_torque_and_gravity(seed):
    partition = inertia_partition(heavy_robot(seed))
    torque, gravity = lin_set(seed, "torque"), lin_set(seed, "gravity")
    assert sorted((*partition.rest, *partition.gravity)) == sorted(torque.names)
    assert partition.gravity == gravity.names
    rows = dict(zip(torque.names, torque.matrix, strict=True))
    rest = np.array([rows[name] for name in partition.rest]).reshape(-1, len(torque.columns))
    expected = np.vstack([rest + partition.P1 @ gravity.matrix, partition.P2 @ gravity.matrix])
    found = lin_set(seed, "inertia")
    np.testing.assert_allclose(found.matrix, expected, atol=1e-9 * max(1.0, np.abs(expected).max()))
    assert [name.removesuffix("R") for name in found.names] == [*partition.rest, *partition.seen]


# --- inertia matrix and gravity from the set alone ----------------------------------------------------


def test_set_alone_gives_inertia_matrix_and_gravity():
    for seed in SEEDS[::6]:
        robot = heavy_robot(seed)
        q = np.random.default_rng(seed).uniform(-2, 2, (2, robot.dof))
        H, load = inertia_matrix_and_gravity(robot, lin_set(seed, "torque").values(robot.parameters), q)
        for found, full in ((H, robot.mass_matrix(q)), (load, robot.gravity_torque(q))):
            np.testing.assert_allclose(found, full, atol=1e-10 * max(1.0, np.abs(full).max()))


@pytest.mark.parametrize("name", ["stanford", "puma560", "panda", "scara"])
def test_set_alone_gives_inertia_matrix_and_gravity_of_known_robots(name):
    robot = dynid.load_robot(name)
    values = base_parameters(robot, method="lin").values(robot.parameters)
    q = np.random.default_rng(1).uniform(-1, 1, (5, robot.dof))
    H, load = inertia_matrix_and_gravity(robot, values, q)
    np.testing.assert_allclose(H, robot.mass_matrix(q), atol=1e-10)
    np.testing.assert_allclose(load, robot.gravity_torque(q), atol=1e-10)
    one = inertia_matrix_and_gravity(robot, values, q[0])
    assert np.array_equal(one[0], H[0])
    assert np.array_equal(one[1], load[0])


def test_each_value_of_the_set_is_needed():
    robot = dynid.load_robot("stanford")
    values = base_parameters(robot, method="lin").values(robot.parameters)
    q = np.random.default_rng(1).uniform(-1, 1, (4, robot.dof))
    H, load = inertia_matrix_and_gravity(robot, values, q)
    for k in range(len(values)):
        other = values + 0.1 * np.eye(len(values))[k]
        H_k, load_k = inertia_matrix_and_gravity(robot, other, q)
        assert max(np.abs(H_k - H).max(), np.abs(load_k - load).max()) > 1e-3


def test_constants_outside_the_set_do_not_matter():
    robot = heavy_robot(2)
    chain = chain_of(robot)
    constants = composite_constants(chain) @ robot.parameters
    turning = [i for i, prismatic in enumerate(chain.prismatic) if not prismatic]
    changed = constants.copy()
    changed[turning, 8] += 1.0  # k_z of rotational joints
    changed[np.ix_(turning, [0, 3])] += 1.0  # U_11 and U_22 together
    q = np.random.default_rng(3).uniform(-2, 2, robot.dof)
    for one, other in zip(
        inertia_and_gravity(chain, constants, q), inertia_and_gravity(chain, changed, q), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize(("values", "q", "said"), [(32, (6,), "33 values"), (33, (5,), "q has shape")])
def test_wrong_shapes_are_named(values, q, said):
    with pytest.raises(ArgumentError, match=said):
        inertia_matrix_and_gravity(dynid.load_robot("stanford"), np.zeros(values), np.zeros(q))


# --- drives, no gravity, other robots -----------------------------------------------------------------


@pytest.mark.parametrize("model", ["torque", "gravity", "inertia"])
@pytest.mark.parametrize("seed", range(12))
def test_drives_join_as_in_sampled_regressors(model, seed):
    robot = heavy_robot(seed)
    found = base_parameters(robot, model, "lin", armature=True, friction=True, offset=True)
    rows = drive_rows(robot, model, np.random.default_rng(seed), 15 + 10 * robot.dof, "IFO")
    assert same_row_space(found.matrix, rows) < 1e-8


def test_motor_inertia_adds_to_u_33_or_stands_alone():
    """Lin's remark on Eq. (58); of the PUMA 560 the first two axes take it up, the others do not."""
    found = base_parameters(dynid.load_robot("puma560"), method="lin", armature=True)
    texts = dict(zip(found.names, found.expressions, strict=True))
    assert texts["U1_33R"].endswith(" + Ia1")
    assert texts["U2_33R"].endswith(" + Ia2")
    assert found.names[-4:] == ("Ia3", "Ia4", "Ia5", "Ia6")
    slide = base_parameters(serial(("P", 0.0, 0.0)), method="lin", armature=True)
    assert slide.names == ("m1^", "Ia1")  # weight tells the mass from the motor
    level = base_parameters(serial(("P", np.pi / 2, 0.0)), method="lin", armature=True)
    assert level.expressions == ("M1 + Ia1",)  # Eq. (60)


def test_drives_that_have_no_effect_are_left_out():
    """Axes along gravity: at rest there is nothing but the offsets."""
    robot = serial(("R", 0.0, 0.0), ("R", 0.0, 0.3))
    assert base_parameters(robot, "gravity", "lin", armature=True, friction=True).names == ()
    everything = base_parameters(robot, "gravity", "lin", armature=True, friction=True, offset=True)
    assert everything.names == ("Fo1", "Fo2")


@pytest.mark.parametrize("seed", range(40))
def test_without_gravity_the_redundant_elements_are_regrouped(seed):
    robot = replace(heavy_robot(seed), gravity=np.zeros(3))
    found = base_parameters(robot, method="lin")
    assert compare(base_parameters(robot), found).equivalent
    elements = torque_set(chain_of(robot))
    assert (found.count < len(elements)) == any("without it" in note for note in found.notes)
    q = np.random.default_rng(seed).uniform(-2, 2, robot.dof)
    H, load = inertia_matrix_and_gravity(robot, found.values(robot.parameters), q)
    full = robot.mass_matrix(q)
    np.testing.assert_allclose(H, full, atol=1e-10 * max(1.0, np.abs(full).max()))
    assert not load.any()
    assert base_parameters(robot, "gravity", "lin").count == 0


def test_spherical_wrist_without_gravity_has_11_not_15():
    half = np.pi / 2
    wrist = serial(("R", 0.0, 0.0), ("R", half, 0.0), ("R", half, 0.0), gravity=(0, 0, 0))
    found = base_parameters(wrist, method="lin")
    assert found.count == 11
    assert any("4 of their elements" in note for note in found.notes)


def test_trees_are_refused():
    robot = serial(("R", 0.0, 0.0), ("R", 1.0, 0.0), ("R", 1.0, 0.0))
    branched = replace(robot, joints=(*robot.joints[:2], replace(robot.joints[2], parent=0)))
    with pytest.raises(RobotError, match="serial"):
        base_parameters(branched, method="lin")


def test_frames_that_are_not_the_robots_are_mentioned():
    robot = random_robot(8, serial=True, kind="oblique", joints=4, distal=1.0)
    assert any("not the robot's own" in note for note in base_parameters(robot, method="lin").notes)
    assert base_parameters(dynid.load_robot("puma560"), method="lin").notes == ()
