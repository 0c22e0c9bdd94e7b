"""The built-in robots against their sources: printed tables, other conventions, and Pinocchio.

Robots are read here through the DH reader, so these figures do not lean on anything that computes in dynid:
torques come from the plain oracle of `helpers_rnea` and from Pinocchio.
"""

import tomllib
from fractions import Fraction

import numpy as np
import pinocchio as pin
import pytest

from dynid.formats.dh_toml import parse_dh_toml
from dynid.robots import BUILT_IN, built_in_text
from dynid.spatial import is_physical
from helpers_rnea import rnea

NOT_PHYSICAL = {"gk3", "puma260"}  # so are the papers' figures; see the comments in the files
EXACT = 1e-12  # relative to the largest torque of the sample


def built_in(name, **options):
    return parse_dh_toml(built_in_text(name), name, **options)


def exact_table(name):
    """The [[joint]] tables with every decimal as the exact fraction that is written."""
    return tomllib.loads(built_in_text(name), parse_float=Fraction)["joint"]


def samples(robot, count=20, seed=1):
    """Random (q, qd, qdd), each (n,): positions within the limits, rates and accelerations of order one."""
    rng = np.random.default_rng(seed)
    lower = [joint.limits.lower for joint in robot.joints]
    upper = [joint.limits.upper for joint in robot.joints]
    return [(rng.uniform(lower, upper), *rng.uniform(-2, 2, (2, robot.dof))) for _ in range(count)]


def assert_same_torque(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=EXACT * np.abs(theirs).max())


# --- what every built-in promises -----------------------------------------------------------------


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_figure_is_there(name):
    robot = built_in(name)
    assert robot.name == name
    assert robot.notes == ()
    assert np.isfinite(robot.parameters).all()
    for joint in robot.joints:
        limits = joint.limits
        bounds = (limits.lower, limits.upper, limits.velocity, limits.acceleration, limits.effort)
        assert np.isfinite(bounds).all()
        assert np.isfinite([joint.armature, joint.viscous, joint.coulomb, joint.offset]).all()
        assert min(joint.armature, joint.viscous, joint.coulomb) >= 0.0


@pytest.mark.parametrize("name", BUILT_IN)
def test_links_are_possible_bodies_where_the_file_says_so(name):
    physical = [is_physical(link.parameters) for link in built_in(name).links]
    if name in NOT_PHYSICAL:
        assert not all(physical)
    else:
        assert all(physical)


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_drives_can_hold_the_arm(name):
    robot = built_in(name)
    zero = np.zeros(robot.dof)
    holding = [np.abs(rnea(robot, None, q, zero, zero)) for q, _, _ in samples(robot, 200)]
    assert (np.max(holding, axis=0) < [joint.limits.effort for joint in robot.joints]).all()


def pinocchio_model(robot):
    """The robot joint by joint; a link's inertia hangs behind the joint's `after`."""
    model = pin.Model()
    model.gravity.linear = np.array(robot.gravity)
    frames = []  # (Pinocchio's joint, placement of the link's frame in it)
    for joint, link in zip(robot.joints, robot.links, strict=True):
        carrier, placement = frames[joint.parent] if joint.parent >= 0 else (0, pin.SE3.Identity())
        kind = pin.JointModelPrismaticUnaligned if joint.prismatic else pin.JointModelRevoluteUnaligned
        before = placement * pin.SE3(np.array(joint.before.rotation), np.array(joint.before.translation))
        number = model.addJoint(carrier, kind(np.array(joint.axis)), before, joint.name)
        after = pin.SE3(np.array(joint.after.rotation), np.array(joint.after.translation))
        xx, xy, xz, yy, yz, zz, mx, my, mz, m = link.parameters
        dynamic = np.array([m, mx, my, mz, xx, xy, yy, xz, yz, zz])
        model.appendBodyToJoint(number, pin.Inertia.FromDynamicParameters(dynamic), after)
        frames.append((number, after))
    return model


@pytest.mark.parametrize("name", BUILT_IN)
def test_pinocchio_computes_the_same_torques(name):
    robot = built_in(name)
    model = pinocchio_model(robot)
    data = model.createData()
    for q, qd, qdd in samples(robot):
        assert_same_torque(rnea(robot, None, q, qd, qdd), pin.rnea(model, data, q, qd, qdd))


# --- Stanford arm: Lin 1992 -----------------------------------------------------------------------


def cross(v):
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def composite_constants(robot):
    """Mass, k and U of Lemma 1 of [Lin1992], Eqs. (14)-(24), for modified frames at the null position."""
    constants = []
    outer = None  # (joint, mass, k, U) of the composite body behind this one
    for joint, link in reversed(list(zip(robot.joints, robot.links, strict=True))):
        xx, xy, xz, yy, yz, zz, *first_moment, mass = link.parameters
        k, U = np.array(first_moment), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if outer is not None:
            behind, m, k1, U1 = outer
            R, s = behind.before.rotation, np.array(behind.before.translation)
            if behind.prismatic:
                s, fixed = s * [1, 0, 0], R @ k1
                U = U + R @ U1 @ R.T
            else:
                fixed = R[:, 2] * k1[2]
                U = U + R @ np.diag([U1[1, 1], U1[1, 1], U1[2, 2]]) @ R.T
            k = k + m * s + fixed
            U = U - m * cross(s) @ cross(s) - cross(s) @ cross(fixed) - cross(fixed) @ cross(s)
            mass = mass + m
        outer = (joint, mass, k, U)
        constants.append((mass, k, U))
    return constants[::-1]


# Table II: k_x, k_y, U11 - U22, U33, U12, U13, U23 of the composite bodies. Its "identified" values carry
# noise of 1e-4 and less in four entries of body 2, which are given here as exact torques have them.
TABLE_2 = {
    2: (0.0, 2.7400, 4.3849, 4.4053, 0.0, 0.0, 0.0),
    4: (0.0099, 0.0058, -0.0235, 0.0044, -0.00005, 0.0, 0.0),
    5: (0.0, -0.1149, 0.0270, 0.0277, 0.0, 0.0, 0.0),
    6: (0.0, 0.0, 0.0, 0.0003, 0.0, 0.0, 0.0),
}


def test_stanford_has_the_composite_bodies_of_table_2():
    constants = composite_constants(built_in("stanford"))
    for body, printed in TABLE_2.items():
        _, k, U = constants[body - 1]
        ours = (k[0], k[1], U[0, 0] - U[1, 1], U[2, 2], U[0, 1], U[0, 2], U[1, 2])
        np.testing.assert_allclose(ours, printed, rtol=0, atol=0.5001e-4)
    assert constants[3][2][0, 1] == pytest.approx(-0.00005, abs=0.5e-5)
    assert constants[0][2][2, 2] == pytest.approx(1.0144, abs=0.5e-4)
    assert constants[2][0] == pytest.approx(6.47, abs=1e-12)
    np.testing.assert_allclose(constants[2][1], [0, 0, -2.7400], atol=0.5e-4)


# Table I: u_1 in the frame of each body, for all joints at 0.7 (joint 3 at 0), then with that body's joint
# (joint 2 for body 3) moved to -0.7 and to -0.6. The paper's text names these two in the other order, and it
# prints -0.8264 for the last -0.8624. Compared to one unit of the last printed digit.
TABLE_1 = {
    2: (2, [(0.7648, -0.6442, 0), (0.7648, 0.6442, 0), (0.8253, 0.5646, 0)]),
    3: (2, [(0.7648, 0, 0.6442), (0.7648, 0, -0.6442)]),
    4: (4, [(0.5850, -0.4927, 0.6442), (0.5850, 0.4927, 0.6442), (0.6313, 0.4319, 0.6442)]),
    5: (5, [(-0.1159, 0.8624, 0.4927), (-0.8696, 0.0324, 0.4927), (-0.8620, 0.1190, 0.4927)]),
    6: (6, [(0.2288, 0.4515, -0.8624), (-0.4060, 0.3022, -0.8624), (-0.3738, 0.3412, -0.8624)]),
}


def first_axis(robot, q, body):
    """u_1 in the frame of `body`."""
    u = np.array([0.0, 0.0, 1.0])
    for joint, value in list(zip(robot.joints, q, strict=True))[1:body]:
        c, s = (1.0, 0.0) if joint.prismatic else (np.cos(value), np.sin(value))
        u = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]).T @ joint.before.rotation.T @ u
    return u


@pytest.mark.parametrize("body", TABLE_1)
def test_stanford_has_the_axes_of_table_1(body):
    moved, printed = TABLE_1[body]
    robot = built_in("stanford")
    for value, expected in zip((0.7, -0.7, -0.6), printed, strict=False):
        q = np.array([0.7, 0.7, 0.0, 0.7, 0.7, 0.7])
        q[moved - 1] = value
        np.testing.assert_allclose(first_axis(robot, q, body), expected, rtol=0, atol=1e-4)


def test_stanford_departs_from_the_figure_where_no_joint_feels_it():
    robot = built_in("stanford")
    printed = np.array(robot.parameters)
    printed[[0, 3]] -= 0.1
    assert not is_physical(printed[:10])
    for q, qd, qdd in samples(robot):
        assert_same_torque(rnea(robot, None, q, qd, qdd), rnea(robot, printed, q, qd, qdd))


# --- PUMA 560: the toolbox, in standard convention ------------------------------------------------

# alpha (deg), a, d, mass, centre of mass, inertia xx yy zz about it: distal frames, zero products
TOOLBOX = [
    (90, 0.0, 0.0, 0.0, [0.0, 0.0, 0.0], (0.0, 0.35, 0.0)),
    (0, 0.4318, 0.0, 17.4, [-0.3638, 0.006, 0.2275], (0.13, 0.524, 0.539)),
    (-90, 0.0203, 0.15005, 4.8, [-0.0203, -0.0141, 0.07], (0.066, 0.086, 0.0125)),
    (90, 0.0, 0.4318, 0.82, [0.0, 0.019, 0.0], (1.8e-3, 1.3e-3, 1.8e-3)),
    (-90, 0.0, 0.0, 0.34, [0.0, 0.0, 0.0], (0.3e-3, 0.4e-3, 0.3e-3)),
    (0, 0.0, 0.0, 0.09, [0.0, 0.0, 0.032], (0.15e-3, 0.15e-3, 0.04e-3)),
]
# |G|, motor inertia, viscous and Coulomb (+ and -) torque at the motor
MOTORS = [
    ("62.6111", "200e-6", "1.48e-3", "0.395", "-0.435"),
    ("107.815", "200e-6", "0.817e-3", "0.126", "-0.071"),
    ("53.7063", "200e-6", "1.38e-3", "0.132", "-0.105"),
    ("76.0364", "33e-6", "71.2e-6", "11.2e-3", "-16.9e-3"),
    ("71.923", "33e-6", "82.6e-6", "9.26e-3", "-14.5e-3"),
    ("76.686", "33e-6", "36.7e-6", "3.96e-3", "-10.5e-3"),
]


def toolbox_puma():
    text = 'name = "toolbox"\nconvention = "standard"\n'
    for alpha, a, d, mass, com, inertia in TOOLBOX:
        six = [*inertia, 0.0, 0.0, 0.0]
        text += f'[[joint]]\ntype = "revolute"\nalpha = "{alpha} deg"\na = {a}\ntheta = 0.0\nd = {d}\n'
        text += f"link = {{ mass = {mass}, com = {com}, inertia = {six} }}\n"
    return parse_dh_toml(text, "toolbox.toml")


def test_puma560_has_the_torques_of_the_toolbox():
    ours, theirs = built_in("puma560"), toolbox_puma()
    half_turn = np.array([0, np.pi, 0, 0, 0, 0])
    for q, qd, qdd in samples(ours):
        assert_same_torque(rnea(ours, None, q, qd, qdd), rnea(theirs, None, q + half_turn, qd, qdd))


def test_puma560_has_the_geometry_of_1990():
    geometry = [(row["alpha"], row["theta"]) for row in exact_table("puma560")]
    assert geometry == [(0, 0), ("-90 deg", 0), (0, 0), ("-90 deg", 0), ("90 deg", 0), ("-90 deg", 0)]
    lengths = {(j, key) for j, row in enumerate(exact_table("puma560"), 1) for key in "ad" if row[key]}
    assert lengths == {(3, "a"), (3, "d"), (4, "a"), (4, "d")}  # D3, R3, D4, R4


def test_puma560_has_the_drives_of_the_toolbox():
    for row, motor in zip(exact_table("puma560"), MOTORS, strict=True):
        gear, inertia, viscous, forth, back = map(Fraction, motor)
        assert row["Ia"] == gear**2 * inertia
        assert row["Fv"] == gear**2 * viscous
        assert row["Fc"] == gear * (forth - back) / 2
        assert row["Fo"] == gear * (forth + back) / 2


# --- completions of printed base parameters -------------------------------------------------------


def with_only(robot, printed):
    """Parameters, (10 n,), that are zero but for the printed ones at their pivots."""
    return np.array([printed.get(name, 0.0) for name in robot.parameter_names])


GK3 = {
    "ZZ1": 5.0186, "XX2": -2.05, "XY2": 0.7, "XZ2": -1.07, "YZ2": 0.65, "ZZ2": 6.55, "MX2": 4.3, "MY2": 0.6,
    "XX3": 0.7634, "XY3": 0.6872, "XZ3": 0.55, "YZ3": -0.6, "ZZ3": 0.9646, "MX3": 0.528, "MY3": 1.14,
}  # fmt: skip
PUMA260 = {"M6": 2.768114, "MZ6": 0.014041, "MY4": -0.38219, "XX4": 0.079781, "ZZ4": 0.077761}


@pytest.mark.parametrize(("name", "printed"), [("gk3", GK3), ("puma260", PUMA260)])
def test_completion_has_the_torques_of_the_printed_base_parameters(name, printed):
    robot = built_in(name)
    assert set(printed) <= set(robot.parameter_names)
    base = with_only(robot, printed)
    for q, qd, qdd in samples(robot, 40):
        assert_same_torque(rnea(robot, None, q, qd, qdd), rnea(robot, base, q, qd, qdd))


def test_gk3_completes_table_6_exactly():
    link = {
        f"{key}{j}": value
        for j, row in enumerate(exact_table("gk3"), 1)
        for key, value in row["standard"].items()
    }
    D3, R3 = Fraction("0.5"), Fraction("0.2")
    grouped = link | {  # Eq. (15) of [GK1990] for alpha3 = 0 and alpha2 = -90 deg
        "XX3": link["XX3"] - link["YY3"],
        "XX2": link["XX2"] - link["YY2"] - D3**2 * link["M3"],
        "XZ2": link["XZ2"] - D3 * link["MZ3"] - D3 * R3 * link["M3"],
        "ZZ2": link["ZZ2"] + D3**2 * link["M3"],
        "MX2": link["MX2"] + D3 * link["M3"],
        "ZZ1": link["ZZ1"] + link["YY2"] + link["YY3"] + 2 * R3 * link["MZ3"] + (D3**2 + R3**2) * link["M3"],
    }
    for name, value in GK3.items():
        assert grouped[name] == Fraction(str(value))


def test_gk3_links_have_positive_kinetic_energy():
    for link in built_in("gk3").links:
        xx, xy, xz, yy, yz, zz, *h, m = link.parameters
        H = cross(h)
        spatial = np.block([[np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), H], [H.T, m * np.eye(3)]])
        assert np.linalg.eigvalsh(spatial)[0] > 0.01


def test_puma260_completes_table_2_exactly():
    rows = exact_table("puma260")
    link = {f"{key}{j}": value for j, row in enumerate(rows, 1) for key, value in row["standard"].items()}
    a2, d3 = Fraction("0.2032"), Fraction("0.12624")
    d4 = a2
    upper = (link["XX2"] - link["YY2"]) / a2**2  # as mass at the elbow
    outer = upper + link["M2"] + link["M3"]
    forearm = outer * d4**2 + link["YY3"] - 2 * d4 * link["MZ3"]
    grouped = link | {
        "M6": outer + link["M4"] + link["M5"] + link["M6"],
        "MZ6": link["MZ6"] + link["MZ5"],
        "XX6": link["XX6"] + link["YY5"],
        "YY6": link["YY6"] + link["YY5"],
        "MY5": link["MY5"] - link["MZ4"],
        "XX5": link["XX5"] + link["YY4"] - link["YY5"],
        "ZZ5": link["ZZ5"] + link["YY4"],
        "MY4": link["MY4"] + link["MZ3"] - d4 * outer,
        "XX4": link["XX4"] - link["YY4"] + forearm,
        "ZZ4": link["ZZ4"] + forearm,
        "MY3": link["MY3"] - link["MZ2"] + link["XZ2"] / a2 + d3 * (upper + link["M2"]),
        "XX3": link["XX3"] - link["YY3"] - link["ZZ3"],
        "MX2": link["MX2"] - a2 * upper,
        "ZZ2": link["ZZ2"] + link["XX2"] - link["YY2"],  # merges with Ia2
        "YY1": link["YY1"] + link["XX2"] + link["ZZ3"] + d3**2 * (upper + link["M2"])
        + 2 * d3 * (link["XZ2"] / a2 - link["MZ2"]),  # merges with Ia1
    }  # fmt: skip
    dropped = {
        "XX1", "XY1", "XZ1", "YZ1", "ZZ1", "MX1", "MY1", "MZ1", "M1", "XX2", "YY2", "XZ2", "MZ2", "M2",
        "YY3", "ZZ3", "MZ3", "M3", "YY4", "MZ4", "M4", "YY5", "MZ5", "M5",
    }  # fmt: skip
    base = {name: value for name, value in grouped.items() if name not in dropped}
    assert len(base) == 36  # the 34 of the paper's Table 1 and the two that merge with ia1 and ia2
    for name, value in base.items():
        assert value == Fraction(str(PUMA260.get(name, 0)))


def test_puma260_has_the_drives_of_table_2():
    printed = {
        "Ia": ["0.091631", "0.136312", "0.030843", "0.001781", "0.006759", "0.001262"],
        "Fc": ["0.787033", "1.389280", "0.650706", "0.256854", "0.036607", "0.106594"],
        "Fv": ["0.575662", "0.944670", "0.417502", "0.066791", "0.101721", "0.030363"],
    }
    rows = exact_table("puma260")
    for key, values in printed.items():
        assert [row[key] for row in rows] == [Fraction(value) for value in values]


# --- the others -----------------------------------------------------------------------------------


def test_panda_stands_where_its_maker_says():
    """At zero the flange, 0.107 m beyond frame 7, is 0.926 m up and 0.088 m forward, pointing down."""
    R, p = np.eye(3), np.zeros(3)
    for joint in built_in("panda").joints:
        R, p = R @ joint.before.rotation, p + R @ joint.before.translation
    np.testing.assert_allclose(p + R @ [0, 0, 0.107], [0.088, 0, 0.926], atol=1e-15)
    assert R[:, 2].tolist() == [0, 0, -1]


def test_panda_friction_is_the_published_sigmoid_of_fast_motion():
    p1 = np.array([0.54615, 0.87224, 0.64068, 1.2794, 0.83904, 0.30301, 0.56489])
    p2 = np.array([5.1181, 9.0657, 10.136, 5.5903, 8.3469, 17.133, 10.336])
    p3 = np.array([0.039533, 0.025882, -0.04607, 0.036194, 0.026226, -0.021047, 0.0035526])

    def sigmoid(qd):
        return p1 / (1 + np.exp(-p2 * (qd + p3))) - p1 / (1 + np.exp(-p2 * p3))

    joints = built_in("panda").joints
    coulomb = np.array([joint.coulomb for joint in joints])
    offset = np.array([joint.offset for joint in joints])
    np.testing.assert_allclose(offset + coulomb, sigmoid(20.0), atol=1e-6)
    np.testing.assert_allclose(offset - coulomb, sigmoid(-20.0), atol=1e-6)


def test_scara_slide_alone_carries_the_weight_behind_it():
    robot = built_in("scara")
    zero = np.zeros(4)
    for q, _, _ in samples(robot):
        np.testing.assert_allclose(rnea(robot, None, q, zero, zero), [0, 0, -9.81 * 2.3, 0], atol=1e-12)


def test_planar2_is_the_textbook_arm():
    robot = built_in("planar2")
    m1, m2, l1, c1, c2, I1, I2, g = 2.0, 1.0, 1.0, 0.5, 0.4, 2.0 / 12, 0.64 / 12, 9.81
    for (q1, q2), qd, qdd in samples(robot):
        coupling = m2 * l1 * c2
        M22 = I2 + m2 * c2**2
        M12 = M22 + coupling * np.cos(q2)
        M11 = I1 + m1 * c1**2 + M22 + m2 * l1**2 + 2 * coupling * np.cos(q2)
        h = coupling * np.sin(q2)
        tau = np.array([[M11, M12], [M12, M22]]) @ qdd
        tau += [-h * qd[1] * (2 * qd[0] + qd[1]), h * qd[0] ** 2]
        fore = m2 * c2 * g * np.cos(q1 + q2)
        tau += [(m1 * c1 + m2 * l1) * g * np.cos(q1) + fore, fore]
        assert_same_torque(rnea(robot, None, (q1, q2), qd, qdd), tau)
