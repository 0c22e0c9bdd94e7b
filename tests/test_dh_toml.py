"""The DH TOML reader: geometry against elementary matrices, values, and one good message per bad input."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynid.errors import RobotError
from dynid.formats.dh_toml import MAX_JOINTS, parse_dh_toml, read_dh_toml
from helpers_rnea import rnea

FIRST = """
[[joint]]
name = "lift"
type = "prismatic"
alpha = 0.0
a = 0.0
theta = 0.0
d = 0.5
"""

SECOND = """
[[joint]]
name = "turn"
type = "revolute"
alpha = "-90 deg"
a = 0.3
theta = 0.2
d = 0.1
limits = { position = ["-90 deg", 2], velocity = 2.0, acceleration = 8.0, effort = 60.0 }
standard = { XX = 1, XY = 2, XZ = 3, YY = 4, YZ = 5, ZZ = 6, MX = 7, MY = 8, MZ = 9, M = 10 }
Ia = 0.1
Fv = 0.2
Fc = 0.3
Fo = -0.4
"""

TWO_JOINTS = 'name = "arm"\nconvention = "modified"\n' + FIRST + SECOND


def parse(text, **options):
    return parse_dh_toml(text, "arm.toml", **options)


# --- geometry -----------------------------------------------------------------------------------


def rot(axis, angle):
    """Homogeneous rotation about x (0) or z (2)."""
    c, s = math.cos(angle), math.sin(angle)
    i, j = (1, 2) if axis == 0 else (0, 1)
    T = np.eye(4)
    T[i, i], T[i, j], T[j, i], T[j, j] = c, -s, s, c
    return T


def trans(axis, length):
    T = np.eye(4)
    T[axis, 3] = length
    return T


def homogeneous(frame):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = frame.rotation, frame.translation
    return T


def link_poses(robot, q):
    """Poses of all links in the base, by the definition in `Robot`, with all joints about or along z."""
    poses = []
    for joint, value in zip(robot.joints, q, strict=True):
        assert joint.axis.tolist() == [0, 0, 1]
        motion = trans(2, value) if joint.prismatic else rot(2, value)
        carrier = np.eye(4) if joint.parent < 0 else poses[joint.parent]
        poses.append(carrier @ homogeneous(joint.before) @ motion @ homogeneous(joint.after))
    return poses


lengths = st.floats(-2, 2)
angles = st.one_of(st.floats(-4, 4), st.sampled_from(["90 deg", "-90 deg", "180 deg", "30 deg", "0.5 rad"]))
rows = st.lists(st.tuples(st.booleans(), angles, lengths, angles, lengths), min_size=1, max_size=5)


def radians(angle):
    if isinstance(angle, float):
        return angle
    value, unit = angle.split()
    return float(value) * math.pi / 180 if unit == "deg" else float(value)


def table(convention, rows, parents=None):
    text = f'convention = "{convention}"\n'
    for number, (prismatic, alpha, a, theta, d) in enumerate(rows):
        entries = {"alpha": alpha, "a": a, "theta": theta, "d": d}
        text += f'[[joint]]\ntype = "{"prismatic" if prismatic else "revolute"}"\n'
        text += "".join(f"{key} = {value!r}\n".replace("'", '"') for key, value in entries.items())
        if parents is not None:
            text += f"parent = {parents[number]}\n"
    return text


@given(rows, st.sampled_from(["modified", "standard"]), st.data())
def test_poses_are_products_of_elementary_moves(rows, convention, data):
    q = data.draw(st.lists(st.floats(-3, 3), min_size=len(rows), max_size=len(rows)))
    poses = link_poses(parse(table(convention, rows)), q)
    expected = np.eye(4)
    for (prismatic, alpha, a, theta, d), value, pose in zip(rows, q, poses, strict=True):
        alpha, theta = radians(alpha), radians(theta)
        theta, d = (theta, d + value) if prismatic else (theta + value, d)
        if convention == "modified":
            expected = expected @ rot(0, alpha) @ trans(0, a) @ rot(2, theta) @ trans(2, d)
        else:
            expected = expected @ rot(2, theta) @ trans(2, d) @ trans(0, a) @ rot(0, alpha)
        np.testing.assert_allclose(pose, expected, rtol=0, atol=1e-8)  # angles may snap by 1e-9


@given(rows, st.data())
def test_a_modified_table_is_a_standard_table_shifted_by_one_column(rows, data):
    """alpha and a of row j move to row j - 1: the axes, so all link poses up to a fixed move, agree."""
    q = data.draw(st.lists(st.floats(-3, 3), min_size=len(rows), max_size=len(rows)))
    shifted = [
        (row[0], *following[1:3], *row[3:])
        for row, following in zip(rows, [*rows[1:], (False, 0.0, 0.0, 0.0, 0.0)], strict=True)
    ]
    base = rot(0, radians(rows[0][1])) @ trans(0, rows[0][2])
    standard = link_poses(parse(table("standard", shifted)), q)
    for row, pose, modified in zip(
        shifted, standard, link_poses(parse(table("modified", rows)), q), strict=True
    ):
        tail = trans(0, row[2]) @ rot(0, radians(row[1]))
        np.testing.assert_allclose(base @ pose, modified @ tail, rtol=0, atol=1e-8)


@pytest.mark.parametrize("convention", ["modified", "standard"])
def test_branches_hang_on_the_joint_named_by_its_number(convention):
    rows = [(False, 0.1, 0.2, 0.3, 0.4), (True, 0.5, 0.6, 0.7, 0.8), (False, 0.9, 1.0, 1.1, 1.2)]
    robot = parse(table(convention, rows, parents=[0, 1, 1]))
    assert [joint.parent for joint in robot.joints] == [-1, 0, 0]
    chain = link_poses(parse(table(convention, [rows[0], rows[2]])), [0.3, -0.2])
    np.testing.assert_allclose(link_poses(robot, [0.3, 0.9, -0.2])[2], chain[1], atol=1e-14)


def test_parameters_and_drives_follow_their_joint_when_the_file_is_not_depth_first():
    rows = [(False, 0.0, 0.0, 0.0, 0.0)] * 3
    text = table("modified", rows, parents=[0, 0, 1])
    text = text.replace("parent = 0\n[[", 'parent = 0\nname = "first"\n[[', 1)
    text += 'name = "child"\nIa = 3.0\nlink = { mass = 5, com = [0, 0, 0], inertia = [1, 1, 1, 0, 0, 0] }\n'
    robot = parse(text)
    assert robot.joint_names == ("first", "child", "joint2")
    assert [link.name for link in robot.links] == ["link1", "link3", "link2"]
    assert robot.joints[1].armature == 3.0
    assert robot.links[1].parameters[9] == 5.0


@pytest.mark.parametrize(
    "alpha", ['"90 deg"', '"-90 deg"', '"180 deg"', '"450deg"', "1.5707963267948966", '"9e1 deg"']
)
@pytest.mark.parametrize("convention", ["modified", "standard"])
def test_right_angles_are_exact(convention, alpha):
    row = f'[[joint]]\ntype = "revolute"\nalpha = {alpha}\na = 0\ntheta = {alpha}\nd = 0\n'
    robot = parse(f'convention = "{convention}"\n{row}')
    entries = np.concatenate([robot.joints[0].before.rotation, robot.joints[0].after.rotation]).ravel()
    assert set(entries.tolist()) <= {-1.0, 0.0, 1.0}


# --- values -------------------------------------------------------------------------------------


def test_everything_the_file_says_is_in_the_robot():
    robot = parse(TWO_JOINTS)
    lift, turn = robot.joints
    assert (robot.name, robot.joint_names, robot.source) == ("arm", ("lift", "turn"), "arm.toml")
    assert (lift.kind, turn.kind) == ("prismatic", "revolute")
    assert turn.limits.lower == pytest.approx(-math.pi / 2, abs=1e-15)
    assert (turn.limits.upper, turn.limits.velocity) == (2.0, 2.0)
    assert (turn.limits.acceleration, turn.limits.effort) == (8.0, 60.0)
    assert robot.links[1].parameters.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert (turn.armature, turn.viscous, turn.coulomb, turn.offset) == (0.1, 0.2, 0.3, -0.4)
    assert robot.gravity.tolist() == [0.0, 0.0, -9.81]
    assert robot.friction_side == "joint"
    assert robot.transmission is None


def test_what_the_file_does_not_say_is_not_invented():
    robot = parse(TWO_JOINTS)
    lift = robot.joints[0]
    assert np.isnan(robot.links[0].parameters).all()
    assert all(map(math.isnan, (lift.armature, lift.viscous, lift.coulomb, lift.offset)))
    assert (lift.limits.lower, lift.limits.upper) == (-math.inf, math.inf)
    assert lift.limits.velocity == lift.limits.acceleration == lift.limits.effort == math.inf
    assert parse(table("modified", [(False, 0.0, 0.0, 0.0, 0.0)] * 2)).joint_names == ("joint1", "joint2")


def test_link_moments_are_those_of_the_particles_that_make_it():
    masses, points = np.array([0.5, 1.5, 1.0, 2.0]), np.random.default_rng(0).normal(size=(4, 3))
    com = masses @ points / masses.sum()

    def inertia(about):
        return sum(
            m * ((r @ r) * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points - about, strict=True)
        )

    central, origin = inertia(com), inertia(np.zeros(3))
    order = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
    listed = [float(central[i, j]) for i, j in order]
    text = TWO_JOINTS.replace(
        "d = 0.5", f"d = 0.5\nlink = {{ mass = 5.0, com = {com.tolist()}, inertia = {listed} }}"
    )
    expected = [origin[i, j] for i, j in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]]
    expected = [*expected, *(masses @ points), 5.0]
    np.testing.assert_allclose(parse(text).links[0].parameters, expected, rtol=1e-13, atol=1e-13)


def test_gravity_transmission_and_side_of_the_friction():
    head = 'gravity = [1, 2.5, -3]\nfriction_side = "motor"\ntransmission = [[2, 0], [0.5, -3]]\n'
    robot = parse(head + TWO_JOINTS)
    assert robot.gravity.tolist() == [1.0, 2.5, -3.0]
    assert robot.friction_side == "motor"
    assert robot.transmission is not None
    assert robot.transmission.tolist() == [[2.0, 0.0], [0.5, -3.0]]


def test_transmission_follows_its_joints_when_the_file_is_not_depth_first():
    rows = [(False, 0.0, 0.0, 0.0, 0.0)] * 3
    text = "transmission = [[1, 2, 0], [3, 4, 5], [0, 6, 7]]\n" + table("modified", rows, parents=[0, 0, 1])
    robot = parse(text)
    assert robot.joint_names == ("joint1", "joint3", "joint2")
    assert robot.transmission is not None
    assert robot.transmission.tolist() == [[1, 0, 2], [0, 7, 6], [3, 5, 4]]


def test_gravity_of_the_caller_overrides_the_file():
    robot = parse("gravity = [1, 2, 3]\n" + TWO_JOINTS, gravity=(0, 0, 0))
    assert robot.gravity.tolist() == [0, 0, 0]


def test_locked_joint_carries_its_link_along():
    text = TWO_JOINTS.replace("d = 0.5", "d = 0.5\n" + SECOND.splitlines()[9])
    full, kept = parse(text), parse(text, joints=["lift"])
    assert kept.joint_names == ("lift",)
    q, qd, qdd = [0.3], [-0.5], [2.0]
    expected = rnea(full, None, [0.3, 0.0], [-0.5, 0.0], [2.0, 0.0])[:1]
    np.testing.assert_allclose(rnea(kept, None, q, qd, qdd), expected, rtol=1e-13)


# --- bad input ----------------------------------------------------------------------------------

BAD = [
    # (text that is replaced, by what, parts of the message)
    ('convention = "modified"', "", ["arm.toml", "'convention'", "missing"]),
    (
        'convention = "modified"',
        'convention = "craig"',
        ["convention", "'craig'", "'modified'", "'standard'"],
    ),
    ('convention = "modified"', "convention = 1", ["convention", "'1'", "'modified'"]),
    ('name = "arm"', "name = 3", ["name = '3'", "text"]),
    ('name = "arm"', 'name = "arm"\ngravity = [0, 0]', ["gravity", "3 numbers"]),
    ('name = "arm"', 'name = "arm"\ngravity = [0, 0, nan]', ["gravity", "finite"]),
    ('name = "arm"', 'name = "arm"\ngravitee = 1', ["'gravitee'", "Did you mean 'gravity'"]),
    ('name = "arm"', 'name = "arm"\nfriction_side = "gear"', ["friction_side", "'motor'"]),
    ('name = "arm"', 'name = "arm"\ntransmission = [[1, 0]]', ["transmission", "2 rows of 2"]),
    ('name = "arm"', 'name = "arm"\ntransmission = 2', ["transmission", "2 rows of 2"]),
    ('name = "arm"', 'name = "arm"\ntransmission = [[1, 0], [1]]', ["transmission row 2", "2 numbers"]),
    ('name = "arm"', 'name = "arm"\ntransmission = [[1, 2], [2, 4]]', ["transmission", "singular"]),
    ('name = "arm"', 'name = "arm"\ntransmission = [[0, 0], [0, 0]]', ["transmission", "singular"]),
    ('type = "revolute"\n', "", ["joint 2 'turn'", "'type'", "missing"]),
    (
        'type = "revolute"',
        'type = "fixed"',
        ["joint 2 'turn'", "type", "'fixed'", "'revolute'", "'prismatic'"],
    ),
    ('alpha = "-90 deg"\n', "", ["joint 2 'turn'", "'alpha'", "missing"]),
    ("a = 0.3\n", "", ["joint 2 'turn'", "'a'", "missing"]),
    ("theta = 0.2\n", "", ["joint 2 'turn'", "'theta'", "missing"]),
    ("d = 0.1\n", "", ["joint 2 'turn'", "'d'", "missing"]),
    ('"-90 deg"\n', '"-90"\n', ["joint 2 'turn'", "alpha = '-90'", "deg"]),
    ('"-90 deg"\n', '"-90 grad"\n', ["alpha = '-90 grad'", "deg"]),
    ('"-90 deg"\n', '"1e999 deg"\n', ["alpha", "finite"]),
    ('"-90 deg"\n', "true\n", ["alpha = 'True'", "number"]),
    ('"-90 deg"\n', "[1]\n", ["alpha", "number"]),
    ("a = 0.3", 'a = "0.3"', ["joint 2 'turn'", "a = '0.3'", "without quotes"]),
    ("a = 0.3", 'a = "17 deg"', ["a = '17 deg'", "without quotes"]),
    ("a = 0.3", "a = nan", ["a = 'nan'", "finite"]),
    ("a = 0.3", "a = -inf", ["a = '-inf'", "finite"]),
    ("a = 0.3", f"a = 1{'0' * 400}", ["a = '1000", "finite"]),
    ("a = 0.3", "a = 2020-01-01", ["a = '2020-01-01'", "number"]),
    ("a = 0.3", "a = 0.3\nparent = 3", ["joint 2 'turn'", "parent = '3'", "1 to 2"]),
    ("a = 0.3", "a = 0.3\nparent = -1", ["parent = '-1'", "0 (the base)"]),
    ("a = 0.3", "a = 0.3\nparent = 2", ["parent = '2'", "cannot carry itself"]),
    ("a = 0.3", "a = 0.3\nparent = 1.0", ["parent = '1.0'", "number of a joint"]),
    ("a = 0.3", "a = 0.3\nparent = true", ["parent = 'True'", "number of a joint"]),
    ("d = 0.5", "d = 0.5\nparent = 2", ["'lift'", "'turn'", "loop"]),
    ("a = 0.3", "a = 0.3\nalfa = 1", ["joint 2 'turn'", "'alfa'", "Did you mean 'alpha'"]),
    ('name = "turn"', 'name = "lift"', ["[[joint]] number 2", "'lift'", "names must differ"]),
    ('name = "turn"', 'name = ""', ["joint 2", "name", "not empty"]),
    ('"-90 deg", 2]', "3, 2]", ["joint 2 'turn', limits", "position", "lower below upper"]),
    ('"-90 deg", 2]', "2, 2]", ["position", "lower below upper"]),
    ('"-90 deg", 2]', "2]", ["position", "2 numbers"]),
    ('position = ["-90 deg", 2]', "position = 2", ["position", "2 numbers"]),
    ("velocity = 2.0", "velocity = 0.0", ["limits", "velocity", "positive"]),
    ("effort = 60.0", "effort = -1", ["effort", "positive"]),
    ("effort = 60.0", "effort = inf", ["effort", "finite"]),
    ("effort = 60.0", "efort = 60.0", ["limits", "'efort'", "Did you mean 'effort'"]),
    ("a = 0.0", "a = 0.0\nlimits = { position = ['-10 deg', 1] }", ["joint 1 'lift'", "without quotes"]),
    ("a = 0.0", "a = 0.0\nlimits = 3", ["joint 1 'lift'", "limits", "table", "velocity"]),
    (
        "a = 0.3",
        "a = 0.3\nlink = { mass = 1, com = [0, 0, 0], inertia = [1, 1, 1, 0, 0, 0] }",
        ["joint 2 'turn'", "'standard'", "'link'"],
    ),
    ("MZ = 9, ", "", ["joint 2 'turn', standard", "'MZ'", "missing"]),
    ("MZ = 9", "Mz = 9", ["standard", "'Mz'", "'MZ'"]),
    ("MZ = 9", "MZ = nan", ["standard", "MZ", "finite"]),
    ("a = 0.0", "a = 0.0\nlink = { mass = 1, com = [0, 0, 0] }", ["joint 1 'lift', link", "'inertia'"]),
    (
        "a = 0.0",
        "a = 0.0\nlink = { mass = 1, com = [0, 0], inertia = [1, 1, 1, 0, 0, 0] }",
        ["joint 1 'lift', link", "com", "3 numbers"],
    ),
    ("Ia = 0.1", "Ia = nan", ["joint 2 'turn'", "Ia", "finite"]),
    ("[[joint]]", "[[joints]]", ["'joints'", "Did you mean 'joint'"]),
]


@pytest.mark.parametrize(("old", "new", "parts"), BAD)
def test_a_bad_entry_is_one_message_that_names_place_key_and_what_is_valid(old, new, parts):
    assert old in TWO_JOINTS
    with pytest.raises(RobotError) as caught:
        parse(TWO_JOINTS.replace(old, new, 1))
    message = str(caught.value)
    assert message.startswith("arm.toml")
    assert "\n" not in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "[[joint]]"),
        ('convention = "modified"', "[[joint]]"),
        ('convention = "modified"\njoint = []', "[[joint]]"),
        ('convention = "modified"\n[joint]\nname = "j"', "double brackets"),
        ('convention = "modified"\njoint = [1]', "joint 1"),
        ("convention = modified", "line 1"),
        ("a = 1\nb = = 2", "line 2"),
        ("a = 1\na = 2", "overwrite"),
        ("a = " + "[" * 100_000, "nested too deeply"),
        ("a = " + "1" * 5000, "not valid TOML"),
        ("a = 1 \0", "binary"),
    ],
)
def test_a_bad_file_is_one_message(text, part):
    with pytest.raises(RobotError) as caught:
        parse(text)
    assert str(caught.value).startswith("arm.toml")
    assert part in str(caught.value)


def test_a_cycle_of_parents_is_refused():
    text = table("modified", [(False, 0.0, 0.0, 0.0, 0.0)] * 3, parents=[0, 3, 2])
    with pytest.raises(RobotError, match="cycle"):
        parse(text)


def test_too_many_joints_are_refused():
    row = '[[joint]]\ntype = "revolute"\nalpha = 0\na = 0\ntheta = 0\nd = 0\n'
    with pytest.raises(RobotError, match=f"at most {MAX_JOINTS}"):
        parse('convention = "modified"\n' + row * (MAX_JOINTS + 1))


def test_a_negative_mass_is_noted_and_kept():
    robot = parse(TWO_JOINTS.replace("M = 10", "M = -10"))
    assert robot.links[1].parameters[9] == -10.0
    assert any("negative mass" in note for note in robot.notes)


def test_files_that_cannot_be_read_are_one_message(tmp_path):
    def message(path):
        with pytest.raises(RobotError) as caught:
            read_dh_toml(path)
        assert str(caught.value).startswith(str(path))
        return str(caught.value)

    big, binary = tmp_path / "big.toml", tmp_path / "binary.toml"
    with big.open("wb") as stream:
        stream.truncate(100_000_000)
    binary.write_bytes(bytes(range(256)))
    assert "no such file" in message(tmp_path / "absent.toml")
    assert "directory" in message(tmp_path)
    assert "too large" in message(big)
    assert "UTF-8" in message(binary)


def test_byte_order_mark_and_windows_line_ends_are_read(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_bytes(b"\xef\xbb\xbf" + TWO_JOINTS.replace("\n", "\r\n").encode())
    assert read_dh_toml(path).joint_names == ("lift", "turn")


pieces = st.sampled_from(
    [
        "nan",
        "inf",
        "-1",
        '""',
        "[]",
        "{}",
        "true",
        "1e400",
        "[[joint]]",
        "=",
        '"-90 deg"',
        "parent = 1\n",
        "\n",
    ]
)


@given(st.lists(st.tuples(st.integers(0, len(TWO_JOINTS)), st.integers(0, 12), pieces), max_size=3))
def test_a_damaged_file_is_read_or_refused_and_nothing_else(damages):
    text = TWO_JOINTS
    for start, length, piece in damages:
        text = text[:start] + piece + text[start + length :]
    try:
        robot = parse(text)
    except RobotError:
        return
    assert all(np.isfinite(joint.before.translation).all() for joint in robot.joints)
