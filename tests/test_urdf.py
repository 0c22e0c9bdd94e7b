"""URDF and xacro: equal to Pinocchio's reading on random robots; bad files end in one message."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynid.errors import MissingExtraError, RobotError
from dynid.formats.urdf import parse_urdf, read_urdf
from dynid.formats.xacro import read_xacro
from dynid.formats.xml_source import MAX_ELEMENTS, parse_xml
from dynid.robot import INFINITY, Robot
from helpers_rnea import motions, rnea
from helpers_urdf import random_urdf

SEEDS = st.integers(0, 2**32 - 1)
PINOCCHIO_ORDER = [9, 6, 7, 8, 0, 1, 3, 2, 4, 5]  # its dynamic parameters: m, m c, then xx xy yy xz yz zz


# --- against Pinocchio ---------------------------------------------------------------------------


def coupling(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """G and g with (values of all joints) = G @ (values of the free joints) + g."""
    G, g = np.zeros((len(robot.joints), robot.dof)), np.zeros(len(robot.joints))
    for number, joint in enumerate(robot.joints):
        master = number if joint.mimic is None else joint.mimic.joint
        G[number, robot.free.index(master)] = 1.0 if joint.mimic is None else joint.mimic.multiplier
        g[number] = 0.0 if joint.mimic is None else joint.mimic.offset
    return G, g


def configuration(model: pin.Model, values: dict[str, float]) -> np.ndarray:
    """Pinocchio's configuration; joints that are not named are at zero."""
    q = pin.neutral(model)
    for name, value in values.items():
        joint = model.joints[model.getJointId(name)]
        q[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else [np.cos(value), np.sin(value)]
    return q


def assert_same(robot: Robot, model: pin.Model, rng: np.random.Generator, samples: int = 3) -> None:
    """Parameters, poses and torques of `robot` are Pinocchio's, where every joint of `model` is free."""
    names = [joint.name for joint in robot.joints]
    assert sorted(names) == sorted(list(model.names)[1:])
    ids = [model.getJointId(name) for name in names]
    rows = [model.joints[i].idx_v for i in ids]
    for link, i in zip(robot.links, ids, strict=True):
        theirs = model.inertias[i].toDynamicParameters()
        np.testing.assert_allclose(
            link.parameters[PINOCCHIO_ORDER], theirs, rtol=0, atol=1e-13 * np.abs(theirs).max()
        )
    model.gravity.linear = robot.gravity
    data = model.createData()
    G, g = coupling(robot)
    ours, theirs = np.zeros((2, samples, robot.dof))
    for k in range(samples):
        q, qd, qdd = rng.uniform(-3, 3, (3, robot.dof))
        q_all = configuration(model, dict(zip(names, G @ q + g, strict=True)))
        rates = np.zeros((2, model.nv))
        rates[:, rows] = G @ qd, G @ qdd
        ours[k] = rnea(robot, None, q, qd, qdd)
        theirs[k] = G.T @ pin.rnea(model, data, q_all, *rates)[rows]
        pin.forwardKinematics(model, data, q_all)
        for motion, i in zip(motions(robot, q, qd, qdd), ids, strict=True):
            np.testing.assert_allclose(motion.R, data.oMi[i].rotation, rtol=0, atol=1e-13)
            np.testing.assert_allclose(motion.p, data.oMi[i].translation, rtol=0, atol=2e-13 * len(names))
    # Against the largest of all samples: the only joint's effort may be near zero in one of them.
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())


@settings(max_examples=60)
@given(seed=SEEDS, moving=st.integers(1, 9), tree=st.booleans(), mimic=st.booleans())
def test_random_robots_equal_pinocchio(seed: int, moving: int, tree: bool, mimic: bool):
    rng = np.random.default_rng(seed)
    text = random_urdf(rng, moving, tree=tree, mimic=mimic)
    gravity = rng.normal(size=3) * 5
    robot = parse_urdf(text, "random.urdf", gravity=gravity)
    assert len(robot.joints) == moving
    assert_same(robot, pin.buildModelFromXML(text), rng)


@settings(max_examples=40)
@given(seed=SEEDS, moving=st.integers(2, 8))
def test_locked_joints_equal_pinocchios_reduced_model(seed: int, moving: int):
    rng = np.random.default_rng(seed)
    text = random_urdf(rng, moving)
    whole = parse_urdf(text, "random.urdf")
    keep = [str(name) for name in rng.permutation(whole.joint_names)[: rng.integers(1, whole.dof + 1)]]
    robot = parse_urdf(text, "random.urdf", joints=keep)
    assert set(robot.joint_names) == set(keep)
    assert list(robot.joint_names) == [name for name in whole.joint_names if name in keep]

    model = pin.buildModelFromXML(text)
    _, at_zero = coupling(whole)
    values = dict(zip((joint.name for joint in whole.joints), at_zero, strict=True))
    still = configuration(model, values)
    moves = {joint.name for joint in robot.joints}
    locked = [model.getJointId(name) for name in values if name not in moves]
    assert_same(robot, pin.buildReducedModel(model, locked, still), rng)


def test_mimic_equals_pinocchios_own():
    limit = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'
    mimic = '<mimic joint="a" multiplier="-0.7" offset="0.1"/>'
    text = f"""<robot name="gripper"><link name="base"/>{body("palm")}{body("left")}{body("right")}
    {joint("wrist", "base", "palm", axis="0 1 0", more=limit)}
    {joint("a", "palm", "left", kind="prismatic", more=limit)}
    {joint("b", "palm", "right", kind="prismatic", more=limit + mimic)}
    </robot>"""
    robot = parse_urdf(text, "gripper.urdf")
    model = pin.buildModelFromXML(text, mimic=True)
    assert robot.joint_names == ("wrist", "a")
    assert model.nv == robot.dof == 2
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 2))
    theirs = pin.rnea(model, model.createData(), q, qd, qdd)
    np.testing.assert_allclose(
        rnea(robot, None, q, qd, qdd), theirs, rtol=0, atol=1e-12 * np.abs(theirs).max()
    )


# --- what the file says -------------------------------------------------------------------------


def body(name: str, mass: str = "1.5") -> str:
    return (
        f'<link name="{name}"><inertial><origin xyz="0.1 0 0.2" rpy="0.3 0 0"/><mass value="{mass}"/>'
        '<inertia ixx="0.3" ixy="0.01" ixz="0" iyy="0.4" iyz="0" izz="0.5"/></inertial></link>'
    )


def joint(name: str, parent: str, child: str, *, kind="revolute", axis="0 0 1", more="") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="{axis}"/>{more}</joint>'
    )


def robot_text(content: str = "", *, first: str = "", j1: str | None = None) -> str:
    """One joint that is sound, on line 2, and `content` on line 3."""
    default = joint("j1", "base", "one", more=first)
    return f'<robot name="r">\n<link name="base"/>{body("one")}{j1 or default}\n{content}\n</robot>'


def test_defaults_and_optional_entries():
    text = robot_text(
        body("two") + '<joint name="j2" type="continuous"><parent link="one"/><child link="two"/>'
        '<limit lower="1" upper="-1" velocity="2" effort="3"/><dynamics damping="0.5"/></joint>',
        first='<limit effort="7" velocity="2" lower="-1" upper="2"/><dynamics friction="0.2" damping="0.1"/>',
    )
    robot = parse_urdf(text, "r.urdf")
    one, two = robot.joints
    assert robot.name == "r"
    np.testing.assert_array_equal(robot.gravity, [0, 0, -9.81])
    np.testing.assert_array_equal(two.axis, [1, 0, 0])
    assert (one.limits.lower, one.limits.upper, one.limits.velocity, one.limits.effort) == (-1, 2, 2, 7)
    assert (two.limits.lower, two.limits.upper, two.limits.velocity) == (-INFINITY, INFINITY, 2)
    assert (one.viscous, one.coulomb) == (0.1, 0.2)
    assert (two.viscous, two.coulomb) == (0.5, 0.0)
    assert np.isnan([one.armature, one.offset]).all()
    assert np.isnan(parse_urdf(robot_text(), "r.urdf").joints[0].viscous)


def test_right_angles_written_with_nine_decimals_are_exact():
    j1 = joint("j1", "base", "one", axis="0 1e-12 -3", more='<origin rpy="1.570796327 0 -3.141592654"/>')
    robot = parse_urdf(robot_text(j1=j1), "r.urdf")
    np.testing.assert_array_equal(robot.joints[0].axis, [0, 0, -1])
    np.testing.assert_array_equal(robot.joints[0].before.rotation, [[-1, 0, 0], [0, 0, 1], [0, 1, 0]])


def test_slips_of_the_pen_and_transmissions_are_noted():
    text = robot_text(
        '<transmission name="t"><joint name="j1"/></transmission><gazebo reference="one"/>',
        first='<orgin xyz="1 2 3"/><limit lowr="1" effort="1" velocity="1"/>',
    )
    notes = parse_urdf(text, "r.urdf").notes
    assert any("line 2" in note and "'orgin'" in note and "'origin'" in note for note in notes)
    assert any("'lowr'" in note and "'lower'" in note for note in notes)
    assert any("line 3" in note and "<transmission>" in note and "'j1'" in note for note in notes)
    assert not any("gazebo" in note for note in notes)


def test_negative_mass_is_read_with_a_warning():
    text = f'<robot name="r"><link name="base"/>{body("one", "-2")}{joint("j1", "base", "one")}</robot>'
    robot = parse_urdf(text, "r.urdf")
    assert robot.links[0].parameters[9] == -2
    assert any(note.startswith("warning:") and "'one'" in note for note in robot.notes)


# --- bad input ----------------------------------------------------------------------------------

HEAD = '<robot name="r">\n<link name="base"/>'

BAD = {
    "not a robot": ("<urdf/>", ["line 1", "<robot"]),
    "xacro": ('<robot name="r" xmlns:xacro="x"><xacro:arm/></robot>', [".xacro"]),
    "no name": ("<robot/>", ["name"]),
    "no joint": (f"{HEAD}</robot>", ["no joint moves"]),
    "floating": (robot_text(j1=joint("j1", "base", "one", kind="floating")), ["line 2", "continuous"]),
    "planar": (robot_text(j1=joint("j1", "base", "one", kind="planar")), ["'planar'", "prismatic"]),
    "unknown type": (robot_text(j1=joint("j1", "base", "one", kind="revolut")), ["mean 'revolute'"]),
    "unknown parent": (robot_text(j1=joint("j1", "bas", "one")), ["line 2", "'j1'", "mean 'base'"]),
    "unknown child": (robot_text(j1=joint("j1", "base", "on")), ["'on'", "mean 'one'"]),
    "no parent": (
        robot_text('<joint name="x" type="fixed"><child link="one"/></joint>'),
        ["line 3", "<parent>"],
    ),
    "two links": (robot_text(body("one")), ["line 3", "'one'", "taken", "(line 2)"]),
    "two joints": (robot_text(body("b") + joint("j1", "one", "b")), ["line 3", "'j1'", "taken", "(line 2)"]),
    "two roots": (robot_text(body("b")), ["'base', 'b'", "exactly one"]),
    "loop": (robot_text(joint("j2", "base", "one")), ["line 3", "'j2'", "'j1'", "closed kinematic loop"]),
    "self": (robot_text(body("b") + joint("j2", "b", "b")), ["'j2'", "cycle"]),
    "cycle": (
        robot_text(body("b") + body("c") + joint("j2", "b", "c") + joint("j3", "c", "b")),
        ["'j2', 'j3'", "cycle", "closed kinematic loop"],
    ),
    "no root": (f"{HEAD}{body('b')}{joint('j', 'base', 'b')}{joint('k', 'b', 'base')}</robot>", ["cycle"]),
    "zero axis": (robot_text(j1=joint("j1", "base", "one", axis="0 0 0")), ["line 2", "axis is zero"]),
    "short axis": (robot_text(j1=joint("j1", "base", "one", axis="0 1")), ["<axis xyz='0 1'>", "3 numbers"]),
    "nan": (robot_text(first='<origin xyz="0 nan 0"/>'), ["line 2", "<origin", "'nan' is not finite"]),
    "inf": (robot_text(first='<limit lower="-inf"/>'), ["<limit lower='-inf'>", "not finite"]),
    "overflow": (robot_text(first='<limit lower="-1e999"/>'), ["not finite"]),
    "degrees": (robot_text(first='<origin rpy="90 deg 0 0"/>'), ["radians", "from degrees"]),
    "unit": (robot_text(first='<origin xyz="5mm 0 0"/>'), ["metres", "'5mm'", "SI units"]),
    "comma": (robot_text(first='<origin xyz="0,5 0 0"/>'), ["'0,5'", "point"]),
    "underscore": (robot_text(first='<origin xyz="1_0 0 0"/>'), ["'1_0' is not a number"]),
    "reversed": (robot_text(first='<limit lower="1" upper="-1"/>'), ["line 2", "[1, -1]", "reversed"]),
    "velocity": (robot_text(first='<limit velocity="-1"/>'), ["velocity limit -1"]),
    "no mass": (robot_text('<link name="x"><inertial/></link>'), ["line 3", "<mass> is missing"]),
    "mass without value": (
        robot_text('<link name="x"><inertial><mass/></inertial></link>'),
        ["line 3: <mass>", "'value' is missing"],
    ),
    "no moment": (
        robot_text('<link name="x"><inertial><mass value="1"/><inertia ixx="1"/></inertial></link>'),
        ["<inertia>", "'iyy'"],
    ),
    "two inertials": (robot_text("<link name='x'><inertial/>\n<inertial/></link>"), ["line 4", "line 3"]),
    "mimic of nothing": (robot_text(first='<mimic joint="j7"/>'), ["'j7'", "Valid"]),
    "mimic of itself": (robot_text(first='<mimic joint="j1"/>'), ["'j1'", "itself"]),
    "mimic ratio": (robot_text(first='<mimic joint="j1" multiplier="x"/>'), ["1 number", "'x'"]),
    "truncated": (robot_text()[:-30], ["line 2", "not well-formed"]),
    "empty": ("", ["line 1", "not well-formed"]),
    "unknown entity": (robot_text("&laugh;"), ["line 3", "not well-formed"]),
    "doctype": ('<!DOCTYPE robot SYSTEM "http://example.org/robot.dtd">' + robot_text(), ["refused"]),
    "external entity": (
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>',
        ["line 1", "entities are refused"],
    ),
    "deep": ("<robot name='r'>" + "<link name='x'>" * 500, ["nested more than 200 deep"]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_text_ends_in_one_message(case: str):
    text, fragments = BAD[case]
    with pytest.raises(RobotError) as caught:
        parse_urdf(text, "bad.urdf")
    message = str(caught.value)
    assert message.startswith("bad.urdf")
    assert "\n" not in message
    for fragment in fragments:
        assert fragment in message


def test_billion_laughs_are_not_expanded():
    entities = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 30))
    bomb = f'<!DOCTYPE r [<!ENTITY l0 "ha">{entities}]><robot name="&l29;"/>'
    with pytest.raises(RobotError, match="entities are refused"):
        parse_urdf(bomb, "bomb.urdf")


def test_number_of_elements_is_bounded():
    with pytest.raises(RobotError, match="elements"):
        parse_xml("<r>" + "<a/>" * MAX_ELEMENTS + "</r>", "many.urdf")


def test_files_that_are_no_text(tmp_path: Path):
    huge, binary, latin, fifo = (tmp_path / name for name in ("huge", "binary", "latin", "fifo"))
    with huge.open("wb") as stream:
        stream.truncate(100_000_000)
    binary.write_bytes(b"\x7fELF\x02\x01\x01\x00\x00")
    latin.write_bytes(robot_text("<!-- \xe9 -->").encode("latin-1"))
    os.mkfifo(fifo)
    expected = {
        huge: "larger than 20 MB",
        binary: "binary",
        latin: "line 3: not well-formed",
        fifo: "not a regular file",
        tmp_path: "directory",
        tmp_path / "none.urdf": "no such file",
    }
    for path, fragment in expected.items():
        with pytest.raises(RobotError, match=fragment) as caught:
            read_urdf(path)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_of_xml(encoding: str, tmp_path: Path):
    path = tmp_path / "r.urdf"
    path.write_bytes(robot_text().replace("j1", "köln").encode(encoding))
    assert read_urdf(path).joint_names == ("köln",)


@pytest.mark.parametrize("encoding", ["foo-9", "shift_jis", "rot13"])
def test_encodings_nobody_can_read(encoding: str):
    with pytest.raises(RobotError, match="cannot be decoded"):
        parse_xml(f'<?xml version="1.0" encoding="{encoding}"?><robot/>'.encode(), "r.urdf")


def verdict(text: str) -> str:
    """The message on a text, or the source of its robot."""
    try:
        return parse_urdf(text, "damaged.urdf").source
    except RobotError as problem:
        return str(problem)


@settings(max_examples=300)
@given(seed=SEEDS)
def test_damaged_files_give_a_robot_or_a_message(seed: int):
    """Whatever is cut out of, doubled in or written over a file, nothing but a RobotError may come of it."""
    rng = np.random.default_rng(seed)
    text = random_urdf(rng, 3)
    words = ['"', "<", "/>", "nan", "-", " ", "\0", "1e400", "\ud800", "fixed", "link", "base", "x=''"]
    for _ in range(rng.integers(1, 4)):
        start, stop = np.sort(rng.integers(0, len(text), 2))
        stop = min(stop, start + 30)
        text = text[:start] + str(rng.choice(["", text[start:stop] * 2, *words])) + text[stop:]
    assert verdict(text).startswith("damaged.urdf")


# --- xacro --------------------------------------------------------------------------------------

XACRO = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'


def test_xacro_equals_its_expansion(tmp_path: Path):
    (tmp_path / "part.xacro").write_text(
        f"""{XACRO}<xacro:macro name="arm" params="parent child mass">{body("${child}", "${mass / 2}")}
        {joint("${parent}_${child}", "${parent}", "${child}", more='<origin rpy="${pi/2} 0 0"/>')}
        </xacro:macro></robot>"""
    )
    main = tmp_path / "main [1].xacro"  # a name that xacro would take for a pattern
    main.write_text(
        f"""{XACRO}<xacro:include filename="part.xacro"/><xacro:arg name="mass" default="3"/>
        <link name="base"/><xacro:arm parent="base" child="a" mass="$(arg mass)"/>
        <xacro:arm parent="a" child="b" mass="5"/></robot>"""
    )
    more = f'<origin rpy="{np.pi / 2!r} 0 0"/>'
    plain = f"""<robot name="r"><link name="base"/>{body("a", "1.5")}{body("b", "2.5")}
        {joint("base_a", "base", "a", more=more)}{joint("a_b", "a", "b", more=more)}</robot>"""
    robot, expected = read_xacro(main), parse_urdf(plain, "plain.urdf")
    assert robot.joint_names == expected.joint_names
    np.testing.assert_array_equal(robot.parameters, expected.parameters)
    for ours, theirs in zip(robot.joints, expected.joints, strict=True):
        np.testing.assert_array_equal(ours.before.rotation, theirs.before.rotation)
    assert read_xacro(main, gravity=(0, 1, 0), joints=["a_b"]).joint_names == ("a_b",)


@pytest.mark.parametrize(
    ("content", "fragment"),
    [
        ("<xacro:arm/>", "unknown macro"),
        ("<xacro:macro/>", "missing attribute"),
        ('<link name="${1/0}"/>', "division by zero"),
        ('<link name="${nothing}"/>', "nothing"),
        ('<link name="$(find nowhere)"/>', "nowhere"),
        ('<link name="${().__class__}"/>', "invalid name"),
        ("<link name=\"${open('/etc/passwd')}\"/>", "open"),
        ('<xacro:include filename="missing.xacro"/>', "missing.xacro"),
        ('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', "recursion"),
        ('<link name="base"/>', "no joint moves"),
        ("<link>", "not well-formed"),
    ],
)
def test_xacro_errors_are_one_message(content: str, fragment: str, tmp_path: Path):
    path = tmp_path / "bad.xacro"
    path.write_text(f"{XACRO}{content}</robot>")
    with pytest.raises(RobotError, match=fragment) as caught:
        read_xacro(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_xacro_refuses_document_types_before_expanding(tmp_path: Path):
    path = tmp_path / "bomb.xacro"
    path.write_text('<!DOCTYPE r [<!ENTITY a "ha">]><robot name="&a;"/>')
    with pytest.raises(RobotError, match="refused"):
        read_xacro(path)


def test_xacro_without_its_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "r.xacro"
    path.write_text(f"{XACRO}</robot>")
    monkeypatch.setitem(sys.modules, "xacrodoc.packages", None)
    with pytest.raises(MissingExtraError, match=r"dynid\[xacro\]"):
        read_xacro(path)
