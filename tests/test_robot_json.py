"""A robot's JSON record: the same robot comes back bit for bit, and bad records are named."""

import copy
import dataclasses
import json

import numpy as np
import pytest

from dynid.errors import DynidError, RobotError
from dynid.formats.load import load_robot
from dynid.formats.robot_json import robot_from_record, robot_record
from dynid.robot import Joint, Limits, Link, Robot
from dynid.robots import BUILT_IN
from helpers_robots import any_robot, random_motion


def through_json(robot: Robot) -> Robot:
    return robot_from_record(json.loads(json.dumps(robot_record(robot), allow_nan=False)))


def flat(value: object) -> object:
    """Every field of a robot as plain data that compares with ==, NaN written out."""
    if dataclasses.is_dataclass(value):
        return [(f.name, flat(getattr(value, f.name))) for f in dataclasses.fields(value)]
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if isinstance(value, tuple | list):
        return [flat(entry) for entry in value]
    return repr(float(value)) if isinstance(value, float) else value


def same(a: Robot, b: Robot) -> None:
    assert flat(a) == flat(b)
    rng = np.random.default_rng(1)
    motion = random_motion(rng, a)
    parameters = rng.normal(size=len(a.parameters))
    efforts = [robot.inverse_dynamics(*motion, parameters) for robot in (a, b)]
    assert efforts[0].tobytes() == efforts[1].tobytes()


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_comes_back_bit_for_bit(name: str) -> None:
    robot = load_robot(name)
    same(robot, through_json(robot))


@pytest.mark.parametrize("seed", range(25))
def test_random_trees_come_back_bit_for_bit(seed: int) -> None:
    robot = any_robot(seed)
    rng = np.random.default_rng(seed)
    limits = Limits(lower=-1.0 / 3.0, velocity=2.0, effort=1e300)
    joints = tuple(
        dataclasses.replace(joint, viscous=float(rng.normal()), armature=0.1, limits=limits)
        for joint in robot.joints
    )
    T = np.eye(robot.dof) + 0.1 * rng.normal(size=(robot.dof, robot.dof))
    notes = ("a note", 'with "quotes" and a \N{SNOWMAN}')
    same(robot, through_json(robot))
    robot = dataclasses.replace(robot, joints=joints, transmission=T, friction_side="motor", notes=notes)
    same(robot, through_json(robot))


def test_unknown_numbers_keep_their_meaning() -> None:
    joint = Joint(name="a", kind="revolute", parent=-1)
    robot = through_json(Robot(name="r", joints=(joint,), links=(Link(name="l"),)))
    assert robot.joints[0].limits == Limits()
    assert np.isnan(robot.parameters).all()
    assert np.isnan([robot.joints[0].armature, robot.joints[0].offset]).all()
    assert robot.joints[0].mimic is None
    assert robot.transmission is None


GK3 = load_robot("gk3")
BAD = {
    "no object": ((), 3, "must be an object"),
    "unknown key": (("colour",), "red", "Valid"),
    "kind": (("joints", 0, "kind"), "revolut", "Did you mean 'revolute'"),
    "kind of a wrong type": (("joints", 0, "kind"), ["revolute"], "Valid"),
    "forward parent": (("joints", 0, "parent"), 1, "whole number from -1 to -1"),
    "parent as bool": (("joints", 1, "parent"), True, "whole number"),
    "parent far below": (("joints", 1, "parent"), -(10**400), "whole number"),
    "text for a number": (("gravity", 0), "9.81", "must hold numbers"),
    "bool for a number": (("gravity", 0), True, "must hold numbers"),
    "null for a needed number": (("gravity", 0), None, "must hold numbers"),
    "infinite": (("gravity", 0), float("inf"), "finite"),
    "not a number": (("joints", 0, "viscous"), float("nan"), "finite numbers or null"),
    "too large for a float": (("joints", 0, "viscous"), 10**400, "finite"),
    "short vector": (("gravity",), [0.0, 0.0], "array of 3"),
    "ragged rotation": (("joints", 0, "before", "rotation", 1), [1.0], "array of 3 x 3"),
    "not a rotation": (("joints", 0, "before", "rotation", 0, 0), 1e200, "rotation matrix"),
    "a mirror": (("joints", 0, "before", "rotation"), [[1, 0, 0], [0, 1, 0], [0, 0, -1]], "rotation matrix"),
    "axis": (("joints", 0, "axis"), [0.0, 0.0, 2.0], "length 1"),
    "reversed limits": (("joints", 0, "limits", "lower"), 1e9, "upper limit"),
    "negative limit": (("joints", 0, "limits", "effort"), -1.0, "negative"),
    "mimic of itself": (("joints", 0, "mimic"), {"joint": 0, "multiplier": 1, "offset": 0}, "mimics joint"),
    "mimic out of range": (("joints", 0, "mimic"), {"joint": 9, "multiplier": 1, "offset": 0}, "0 to 2"),
    "parameters": (("links", 0, "parameters"), [1.0] * 9, "array of 10"),
    "lumped": (("links", 0, "lumped"), [1], "list of texts"),
    "same joint names": (("joints", 1, "name"), GK3.joint_names[0], "number 2.*earlier"),
    "same link names": (("links", 1, "name"), GK3.links[0].name, "number 2.*earlier"),
    "blank name": (("joints", 1, "name"), " ", "no name"),
    "no joints": (("joints",), [], "0 joints"),
    "too many joints": (("joints",), [{}] * 5000, "5000 joints"),
    "too few links": (("links",), [], "3 joints but 0 links"),
    "joints no list": (("joints",), {}, "must be a list"),
    "singular transmission": (("transmission",), [[1.0] * 3] * 3, "singular"),
    "friction side": (("friction_side",), "gear", "joint"),
    "long text": (("name",), "x" * 1_000_000, "characters"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_records_are_named(case: str) -> None:
    place, value, message = BAD[case]
    record = copy.deepcopy(robot_record(GK3))
    if place:
        inner = record
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = value
    with pytest.raises(RobotError, match=message) as raised:
        robot_from_record(record if place else value, "estimate.json, robot")
    assert str(raised.value).startswith("estimate.json, robot")
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize("key", robot_record(GK3))
def test_a_missing_key_is_named(key: str) -> None:
    record = robot_record(GK3)
    del record[key]
    with pytest.raises(DynidError, match=key):
        robot_from_record(record)
