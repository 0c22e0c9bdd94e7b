"""Exports, read by the programs they are for: the same torques, and of a user's file no other byte."""

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from dynid import load_robot
from dynid.errors import DynidError
from dynid.export.dh_toml import write_dh_toml
from dynid.export.exported import motions
from dynid.export.mjcf import write_mjcf
from dynid.export.pinocchio import write_pinocchio
from dynid.export.sdf import write_sdf
from dynid.export.sidecar import write_yaml
from dynid.export.urdf import write_urdf
from dynid.export.urdf_patch import patch_urdf
from dynid.formats.dh_toml import parse_dh_toml
from dynid.formats.urdf import parse_urdf
from dynid.friction import armature_matrix, armature_of
from dynid.model import DynamicModel, model_of
from dynid.robot import Robot
from dynid.spatial import Frame, frozen, is_physical, parameter_transform
from helpers_export import AWKWARD, by_mujoco, by_pinocchio, torques, without_numbers
from helpers_robots import random_body, random_robot
from helpers_urdf import random_urdf

# Relative to the largest torque, or 1 Nm: what the tool promises of every export.
SAME = 1e-9


def model(robot: Robot, seed: int = 0) -> DynamicModel:
    """The robot with bodies and drives of its own."""
    rng = np.random.default_rng(seed)
    own = model_of(
        replace(
            robot,
            links=tuple(replace(link, parameters=frozen(random_body(rng))) for link in robot.links),
        )
    )
    viscous, coulomb, offset, armature = rng.uniform(0.1, 2.0, (4, robot.dof))
    friction = replace(own.friction, viscous=viscous, coulomb=coulomb, offset=offset)
    return replace(own, robot=robot, armature=armature, friction=friction)


def robot_called(name: str) -> Robot:
    if name.startswith("tree"):
        rng = np.random.default_rng(int(name[4:]))
        return random_robot(rng, 6, serial=False, mimic=0.0)
    if name.startswith("urdf"):
        rng = np.random.default_rng(int(name[4:]))
        return parse_urdf(random_urdf(rng, 5, mimic=False), "random.urdf")
    return load_robot(name)


def assert_same(found: np.ndarray, m: DynamicModel) -> None:
    expected = m.robot.inverse_dynamics(*motions(m.robot), m.parameters)
    assert np.abs(found - expected).max() <= SAME * max(1.0, np.abs(expected).max())


ROBOTS = [
    "panda",
    "puma560",
    "puma260",
    "stanford",
    "scara",
    "gk3",
    "tree0",
    "tree1",
    "tree2",
    "urdf0",
    "urdf3",
]


@pytest.mark.parametrize("name", ROBOTS)
def test_pinocchio_reads_the_torques_of_urdf(name: str) -> None:
    m = model(robot_called(name))
    text = write_urdf(m).text
    assert_same(by_pinocchio(text, m.robot), m)
    known = pin.buildModelFromXML(text)
    rubbing = m.friction.side == "joint" or m.robot.transmission is None
    for k, joint in enumerate(m.robot.joint_names):
        v = known.joints[known.getJointId(joint)].idx_v
        if rubbing:
            assert known.damping[v] == m.friction.viscous[k]
            assert known.friction[v] == m.friction.coulomb[k]


@pytest.mark.parametrize("name", ROBOTS)
def test_mujoco_reads_the_torques_and_the_drives_of_mjcf(name: str) -> None:
    m = model(robot_called(name))
    found, known = by_mujoco(write_mjcf(m).text, m.robot)
    assert_same(found, m)
    at = [known.joint(joint).dofadr[0] for joint in m.robot.joint_names]
    data = mujoco.MjData(known)
    mujoco.mj_forward(known, data)
    whole = np.zeros((known.nv, known.nv))
    mujoco.mj_fullM(known, data, whole)
    rigid = m.robot.mass_matrix(np.zeros(m.robot.dof), m.parameters)
    motors = armature_matrix(m.armature, m.robot.transmission)
    assert whole[np.ix_(at, at)] == pytest.approx(rigid + motors, rel=1e-9, abs=1e-9)


def test_bodies_that_cannot_exist_stay_as_they_are_and_are_named() -> None:
    """Negative masses and moments are written, read back to the same torques, and MuJoCo says no."""
    m = model(load_robot("panda"))
    bodies = m.parameters.copy()
    bodies[20:30] *= -1.0
    bodies[55] = -0.5
    m = replace(m, parameters=bodies)
    exported = write_mjcf(m)
    assert "MuJoCo will not load this file: no bodies are like 'link3', 'link6'" in " ".join(exported.notes)
    with pytest.raises(ValueError, match="inertia"):
        mujoco.MjModel.from_xml_string(exported.text)


def test_bodies_of_nothing_are_raised_to_what_mujoco_needs() -> None:
    m = model(load_robot("panda"))
    bodies = m.parameters.copy()
    bodies[60:70] = 0.0
    m = replace(m, parameters=bodies)
    exported = write_mjcf(m)
    assert "raised to 1e-13" in " ".join(exported.notes)
    found, _ = by_mujoco(exported.text, m.robot)
    assert_same(found, m)


@pytest.mark.parametrize("name", ROBOTS)
def test_mujoco_damps_as_the_model_does(name: str) -> None:
    m = model(robot_called(name))
    m = replace(m, friction=replace(m.friction, coulomb=0.0 * m.armature, offset=0.0 * m.armature))
    known = mujoco.MjModel.from_xml_string(write_mjcf(m).text)
    data = mujoco.MjData(known)
    at = [known.joint(joint).dofadr[0] for joint in m.robot.joint_names]
    data.qvel[at] = qd = np.random.default_rng(1).normal(size=m.robot.dof)
    mujoco.mj_forward(known, data)
    assert -data.qfrc_passive[at] == pytest.approx(m.friction.efforts(qd), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_snippet_puts_the_model_into_pinocchio(name: str, tmp_path: Path, monkeypatch) -> None:
    """Run beside the URDF with the file's own bodies, it must replace all of these."""
    m = model(robot_called(name))
    (tmp_path / "own.urdf").write_text(write_urdf(model(m.robot, 5)).text)
    monkeypatch.chdir(tmp_path)
    space: dict = {}
    exec(write_pinocchio(m, "own.urdf").text, space)
    assert_same(torques(space["model"], m.robot), m)
    if m.robot.transmission is None:
        v = [space["model"].joints[space["model"].getJointId(joint)].idx_v for joint in m.robot.joint_names]
        assert space["model"].armature[v] == pytest.approx(m.armature)


def test_the_snippet_locks_what_was_locked(tmp_path: Path, monkeypatch) -> None:
    text = random_urdf(np.random.default_rng(4), 5, mimic=False)
    names = parse_urdf(text, "random.urdf").joint_names
    m = model(parse_urdf(text, "random.urdf", joints=names[1:4]))
    (tmp_path / "own.urdf").write_text(text)
    monkeypatch.chdir(tmp_path)
    space: dict = {}
    exec(write_pinocchio(m, "own.urdf").text, space)
    assert space["model"].nv == 3
    assert_same(torques(space["model"], m.robot), m)


@pytest.mark.parametrize("name", [*ROBOTS, "mimic"])
def test_sdf_comes_back(name: str) -> None:
    """What no program here reads, our own reader of it must: it refuses what has other torques."""
    robot = random_robot(np.random.default_rng(11), 6, mimic=0.5) if name == "mimic" else robot_called(name)
    text = write_sdf(model(robot)).text
    assert text.count("<link ") == len(robot.links)


@pytest.mark.parametrize("name", ["panda", "puma560", "puma260", "stanford", "scara", "gk3"])
def test_toml_comes_back_with_its_drives(name: str) -> None:
    m = model(load_robot(name))
    back = parse_dh_toml(write_dh_toml(m).text, "exported")
    assert_same(back.inverse_dynamics(*motions(m.robot)), m)
    assert back.parameters == pytest.approx(m.parameters, abs=1e-12)
    assert armature_of(back) == pytest.approx(m.armature)
    again = model_of(back)
    q, qd, qdd = motions(m.robot)
    assert again.efforts(q, qd, qdd) == pytest.approx(m.efforts(q, qd, qdd), rel=1e-9, abs=1e-9)


def test_toml_of_a_urdf_is_a_table_of_modified_rows() -> None:
    robot = parse_urdf(random_urdf(np.random.default_rng(2), 4, tree=False, mimic=False), "random.urdf")
    exported = write_dh_toml(model(robot))
    assert 'convention = "modified"' in exported.text
    assert any("frames" in note for note in exported.notes)


def test_yaml_is_yaml_with_the_drives() -> None:
    yaml = pytest.importorskip("yaml")
    m = model(load_robot("panda"))
    m = replace(m, armature=1e-7 * m.armature)  # an exponent that YAML 1.1 could take for text
    found = yaml.safe_load(write_yaml(m).text)
    assert list(found["joints"]) == list(m.robot.joint_names)
    assert [joint["armature"] for joint in found["joints"].values()] == m.armature.tolist()
    assert [joint["coulomb"] for joint in found["joints"].values()] == m.friction.coulomb.tolist()


# --- a user's own URDF ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def awkward() -> Robot:
    return parse_urdf(AWKWARD.encode(), "arm.urdf")


def test_a_patch_changes_numbers_and_no_other_byte(awkward: Robot) -> None:
    m = model(awkward)
    whole = completed(AWKWARD)
    found = patch_urdf(m, whole, "arm.urdf").text
    assert found != whole
    assert without_numbers(found) == without_numbers(whole)
    assert found.startswith("\ufeff<?xml")
    assert found.count("\r\n") == found.count("\n") == whole.count("\n")
    assert_same(by_pinocchio(found.removeprefix("\ufeff"), awkward), m)


def completed(text: str) -> str:
    """The file with an inertia for every link that has a joint, and friction for every joint."""
    inertial = (
        '<inertial><origin xyz="0 0 0"/><mass value="1"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    )
    text = text.replace('<link name="hand">', f'<link name="hand">{inertial}')
    text = text.replace('<inertial><mass value="1.5"/>', '<inertial><origin xyz="0 0 0"/><mass value="1.5"/>')
    for joint in ("elbow", "wrist"):
        at = text.index(f'name="{joint}"')
        end = text.index("</joint>", at)
        text = text[:end] + "<dynamics friction='1' damping='2'/>" + text[end:]
    return text


def test_missing_elements_are_added_and_the_rest_stays(awkward: Robot) -> None:
    m = model(awkward)
    found = patch_urdf(m, AWKWARD, "arm.urdf").text
    assert_same(by_pinocchio(found.removeprefix("\ufeff"), awkward), m)
    lines = iter(without_numbers(found).split("\r\n"))
    for line in without_numbers(AWKWARD).split("\r\n"):  # all lines of the file, in order
        head = line.split("<inertial")[0].split("<parent")[0]
        assert any(other.startswith(head) for other in lines), line
    assert found.count("\n") == found.count("\r\n")
    assert found.count("<inertial>") == AWKWARD.count("<inertial>") + 1
    assert found.count("<dynamics ") == AWKWARD.count("<dynamics ") + 2
    back = parse_urdf(found.encode(), "patched.urdf")
    assert [joint.viscous for joint in back.joints] == m.friction.viscous.tolist()


def test_links_fixed_to_another_keep_their_inertia(awkward: Robot) -> None:
    """The fore-arm takes what the camera on it does not have."""
    m = model(awkward)
    found = pin.buildModelFromXML(patch_urdf(m, AWKWARD, "arm.urdf").text.removeprefix("\ufeff"))
    text = patch_urdf(m, AWKWARD, "arm.urdf").text
    camera = text[text.index('<link name="camera">') : text.index('<link name="tool0"/>')]
    assert camera in AWKWARD
    whole = found.inertias[found.getJointId("elbow")].mass
    assert whole == pytest.approx(m.parameters[19])


def test_links_too_heavy_for_what_was_identified_give_way(awkward: Robot) -> None:
    """A fore-arm identified as lighter than its camera: the camera's share shrinks, and a note says so."""
    m = model(awkward)
    light = np.array(m.parameters)
    light[10:20] = 0.05 / light[19] * light[10:20]
    m = replace(m, parameters=light)
    exported = patch_urdf(m, AWKWARD, "arm.urdf")
    assert "'camera'" in exported.notes[0]
    assert "keeps" in exported.notes[0]
    assert_same(by_pinocchio(exported.text.removeprefix("\ufeff"), awkward), m)
    bodies = parse_urdf(exported.text.replace('type="fixed"', 'type="revolute"').encode(), "freed.urdf")
    known = [link for link in bodies.links if not np.isnan(link.parameters).any()]
    assert len(known) == 4
    assert all(is_physical(link.parameters) and link.parameters[9] > 0.0 for link in known)


def test_numbers_that_stay_keep_their_spelling(awkward: Robot) -> None:
    whole = completed(AWKWARD)
    own = model_of(parse_urdf(whole.encode(), "arm.urdf"))
    assert patch_urdf(own, whole, "arm.urdf").text == whole
    lighter = replace(own, parameters=np.concatenate([own.parameters[:20], 0.5 * own.parameters[20:]]))
    text = patch_urdf(lighter, whole, "arm.urdf").text
    assert text.split("hand")[0] == whole.split("hand")[0]


@pytest.mark.parametrize("seed", range(12))
def test_random_files_are_patched(seed: int) -> None:
    text = random_urdf(np.random.default_rng(seed), 5, mimic=False)
    robot = parse_urdf(text, "random.urdf", gravity=(1.0, 2.0, -3.0))
    m = model(robot, seed)
    found = patch_urdf(m, text, "random.urdf").text
    assert_same(by_pinocchio(found, robot), m)


@pytest.mark.parametrize("seed", range(6))
def test_files_with_mimic_and_locked_joints_are_patched(seed: int) -> None:
    """The reader refuses any export whose torques differ."""
    text = random_urdf(np.random.default_rng(seed), 6)
    names = parse_urdf(text, "random.urdf").joint_names
    robot = parse_urdf(text, "random.urdf", joints=names[: max(len(names) - 1, 1)])
    m = model(robot, seed)
    back = parse_urdf(patch_urdf(m, text, "random.urdf").text, "patched.urdf", joints=robot.joint_names)
    assert_same(back.inverse_dynamics(*motions(robot)), m)


def test_inertia_turned_with_its_own_axes() -> None:
    """The axes of <inertial> stay; in them stands the tensor about the centre of mass."""
    m = model(parse_urdf(AWKWARD.encode(), "arm.urdf"))
    found = patch_urdf(m, AWKWARD, "arm.urdf").text
    assert "rpy='0.1 -0.20 3.0e-1'" in found
    there = parse_urdf(found.encode(), "patched.urdf").links[0].parameters
    assert there == pytest.approx(m.parameters[:10], rel=1e-12, abs=1e-12)
    moved = parameter_transform(Frame(None, (0.0, 0.0, 1.0))) @ there
    assert moved[9] == there[9]


def test_a_text_that_does_not_come_back_is_not_kept(awkward: Robot) -> None:
    other = AWKWARD.replace('xyz="0.4 0 0"', 'xyz="0.5 0 0"')
    with pytest.raises(DynidError, match="not kept"):
        patch_urdf(model(awkward), other, "arm.urdf")
