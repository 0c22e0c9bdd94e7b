"""`load_robot`: which reader gets which source, and what is said about the others."""

from pathlib import Path

import numpy as np
import pytest

from dynid.errors import ArgumentError, RobotError
from dynid.formats.load import READERS, load_robot
from dynid.robots import BUILT_IN

URDF = """<robot name="from-urdf">
  <link name="base"/>
  <link name="arm"><inertial><mass value="2"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="hand"/>
  <joint name="j1" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>
  <joint name="j2" type="continuous"><parent link="arm"/><child link="hand"/><axis xyz="0 1 0"/></joint>
</robot>
"""
MJCF = """<mujoco model="from-mjcf"><worldbody><body name="arm">
  <joint name="j1" type="hinge" axis="0 0 1"/><geom size="0.1" mass="2"/>
  <body name="hand"><joint name="j2" type="hinge" axis="0 1 0"/><geom size="0.1" mass="1"/></body>
</body></worldbody></mujoco>
"""
TOML = 'name = "from-toml"\nconvention = "modified"\ngravity = [0.0, 0.0, -1.0]\n' + "".join(
    f'[[joint]]\nname = "j{j}"\ntype = "revolute"\nalpha = 0\na = 0\ntheta = 0\nd = 0\n' for j in (1, 2)
)
XACRO = URDF.replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ')


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_ins_are_loaded_by_name(name):
    robot = load_robot(name)
    assert (robot.name, robot.source) == (name, name)
    assert robot.dof > 0


def test_every_dh_file_of_the_package_is_listed_and_described():
    import dynid.robots

    folder = Path(dynid.robots.__file__).parent
    assert {path.stem for path in folder.glob("*.toml")} == set(BUILT_IN)
    assert {"stanford", "puma560", "puma260", "gk3", "panda", "scara"} <= set(BUILT_IN)
    assert all(BUILT_IN.values())


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("arm.urdf", URDF, "from-urdf"),
        ("arm.URDF", URDF, "from-urdf"),
        ("arm.xml", URDF, "from-urdf"),
        ("arm.xml", MJCF, "from-mjcf"),
        ("arm.toml", TOML, "from-toml"),
    ],
)
@pytest.mark.parametrize("kind", [str, Path])
def test_the_suffix_and_the_root_element_choose_the_reader(tmp_path, file, text, name, kind):
    path = tmp_path / file
    path.write_text(text, encoding="utf-8")
    robot = load_robot(kind(path))
    assert robot.name == name
    assert robot.joint_names == ("j1", "j2")


@pytest.mark.parametrize("file", ["arm.xacro", "arm.urdf.xacro"])
def test_xacro_is_expanded(tmp_path, file):
    pytest.importorskip("xacrodoc")
    path = tmp_path / file
    path.write_text(XACRO, encoding="utf-8")
    assert load_robot(path).name == "from-urdf"


@pytest.mark.parametrize(("file", "text"), [("a.urdf", URDF), ("a.xml", MJCF), ("a.toml", TOML)])
def test_gravity_and_joints_reach_every_reader(tmp_path, file, text):
    path = tmp_path / file
    path.write_text(text, encoding="utf-8")
    robot = load_robot(path, gravity=np.array([1, 2, 3]), joints=["j2"])
    assert robot.gravity.tolist() == [1.0, 2.0, 3.0]
    assert robot.joint_names == ("j2",)


def test_built_ins_take_gravity_and_joints_too():
    robot = load_robot("panda", gravity=(0, 0, 0), joints=["panda_joint4", "panda_joint2"])
    assert robot.gravity.tolist() == [0.0, 0.0, 0.0]
    assert robot.joint_names == ("panda_joint2", "panda_joint4")


def test_a_name_is_a_built_in_and_a_path_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("panda").write_text(TOML, encoding="utf-8")
    Path("panda.toml").write_text(TOML, encoding="utf-8")
    assert load_robot("panda").dof == 7
    assert load_robot("panda.toml").name == "from-toml"
    with pytest.raises(RobotError, match="panda"):
        load_robot(Path("panda"))


@pytest.mark.parametrize("source", ["pnda", "", "arm.sdf", "no/such/robot", "/", Path("pnda"), "Panda\n"])
def test_an_unknown_source_lists_built_ins_and_suffixes(source):
    with pytest.raises(RobotError) as caught:
        load_robot(source)
    message = str(caught.value)
    assert "\n" not in message
    for part in (*BUILT_IN, *READERS):
        assert part in message


def test_a_near_miss_is_recognised():
    with pytest.raises(RobotError, match="Did you mean 'puma560'"):
        load_robot("puma_560")


@pytest.mark.parametrize("suffix", READERS)
def test_a_missing_file_is_one_message(tmp_path, suffix):
    path = tmp_path / f"absent{suffix}"
    with pytest.raises(RobotError, match="no such file") as caught:
        load_robot(path)
    assert str(path) in str(caught.value)


def test_another_root_element_is_refused_with_its_line(tmp_path):
    path = tmp_path / "page.xml"
    path.write_text("<!-- a page -->\n<html/>", encoding="utf-8")
    with pytest.raises(RobotError, match=r"page\.xml.*2.*<mujoco>.*<robot>"):
        load_robot(path)


@pytest.mark.parametrize(
    "gravity", [(0, 0), 9.81, "down", (0, 0, float("nan")), (0, 0, "x"), [[0, 0, 1]], (0, 0, None)]
)
def test_gravity_must_be_three_finite_numbers(gravity):
    with pytest.raises(ArgumentError, match="three finite numbers"):
        load_robot("panda", gravity=gravity)


@pytest.mark.parametrize("joints", ["panda_joint1", [1, 2], 5, []])
def test_joints_must_be_a_sequence_of_names(joints):
    with pytest.raises(ArgumentError, match="names"):
        load_robot("panda", joints=joints)


def test_unknown_joints_list_the_valid_ones():
    with pytest.raises(RobotError, match="panda_joint7"):
        load_robot("panda", joints=["panda_joint8"])


@pytest.mark.parametrize("source", [None, 3, b"panda"])
def test_a_source_of_another_type_is_refused(source):
    with pytest.raises(ArgumentError, match="path or the name"):
        load_robot(source)
