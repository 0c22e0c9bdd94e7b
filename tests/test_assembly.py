"""From records to a robot: order, lumping, locked and mimic joints, transmission, and what is refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynid.errors import RobotError
from dynid.formats.assembly import JointRecord, LinkRecord, assemble
from dynid.robot import Limits, Robot
from dynid.spatial import Frame, parameters_from_com
from helpers_rnea import rnea, rodrigues

SEEDS = st.integers(0, 2**32 - 1)
GRAVITY = (1.0, -2.0, 9.0)
BODY = np.arange(1.0, 11.0)


def link(name: str, parameters=BODY, **more) -> LinkRecord:
    return LinkRecord(name=name, parameters=parameters, **more)


def joint(name: str, parent: str, child: str, kind="revolute", **more) -> JointRecord:
    return JointRecord(name=name, kind=kind, parent=parent, child=child, **more)


def built(links, joints, **more) -> Robot:
    return assemble(**{"name": "r", "links": links, "joints": joints, "gravity": GRAVITY, **more})


def chain(*joints: JointRecord, **more) -> Robot:
    """A robot whose links are those that the joints name, all with the same body."""
    names = dict.fromkeys(name for record in joints for name in (record.parent, record.child))
    return built([link(name) for name in names], joints, **more)


def random_frame(rng: np.random.Generator) -> Frame:
    axis = rng.normal(size=3)
    return Frame(rodrigues(axis / np.linalg.norm(axis), rng.uniform(-3, 3)), rng.uniform(-1, 1, 3))


def random_tree(rng: np.random.Generator, count: int) -> tuple[list[LinkRecord], list[JointRecord]]:
    """Records in arbitrary order, with frames before and behind the joints, and mimic joints."""
    links, joints = [link("l0", None)], []
    for k in range(1, count + 1):
        free = [record.name for record in joints if record.kind != "fixed"]
        kind = str(rng.choice(["revolute", "continuous", "prismatic", "fixed"])) if k > 1 else "revolute"
        mimics = kind != "fixed" and free and rng.random() < 0.3
        joints.append(
            joint(
                f"j{k}",
                f"l{rng.integers(0, k)}",
                f"l{k}",
                kind,
                before=random_frame(rng),
                axis=rng.normal(size=3),
                after=random_frame(rng),
                mimic=(str(rng.choice(free)), *rng.uniform(-1, 1, 2)) if mimics else None,
            )
        )
        links.append(link(f"l{k}", rng.normal(size=10)))
    return [links[k] for k in rng.permutation(count + 1)], [joints[k] for k in rng.permutation(count)]


# --- order, names, lumping ----------------------------------------------------------------------


def test_joints_are_depth_first_with_children_in_file_order():
    robot = chain(
        joint("tip", "c", "d"),
        joint("right", "base", "e"),
        joint("mount", "base", "a", "fixed"),
        joint("second", "a", "c"),
        joint("first", "e", "f"),
        joint("left", "base", "b"),
        joint("third", "a", "g"),
        joint("last", "e", "h"),
    )
    assert robot.joint_names == ("right", "first", "last", "second", "tip", "third", "left")
    assert [record.parent for record in robot.joints] == [-1, 0, 0, -1, 3, -1, -1]
    assert [record.name for record in robot.links] == ["e", "f", "h", "c", "d", "g", "b"]


def test_fixed_links_are_lumped_and_recorded():
    tool = parameters_from_com(2.0, (0, 0, 0), np.diag([0.1, 0.2, 0.3]))
    robot = built(
        [link("base"), link("stand"), link("arm", np.zeros(10)), link("flange", None), link("tool", tool)],
        [
            joint("mount", "base", "stand", "fixed", before=Frame(None, (0, 0, 1))),
            joint("j", "stand", "arm", before=Frame(None, (0, 2, 0))),
            joint("f", "arm", "flange", "fixed", before=Frame(None, (3, 0, 0))),
            joint("t", "flange", "tool", "fixed", before=Frame(rodrigues((0, 0, 1), np.pi / 2))),
        ],
    )
    (arm,) = robot.links
    assert (arm.name, arm.lumped) == ("arm", ("flange", "tool"))
    # A mass of 2 at (3, 0, 0), the tool's axes turned by a right angle: its x is the arm's y.
    np.testing.assert_allclose(arm.parameters, [0.2, 0, 0, 0.1 + 18, 0, 0.3 + 18, 6, 0, 0, 2], atol=1e-15)
    np.testing.assert_array_equal(robot.joints[0].before.translation, [0, 2, 1])
    base_note, massless_note = robot.notes
    assert "'base', 'stand'" in base_note
    assert "'flange'" in massless_note
    assert "tool" not in massless_note


def test_links_without_any_inertia_have_no_parameters():
    robot = built(
        [link("base", None), link("a", None), link("frame", None), link("b")],
        [joint("j", "base", "a"), joint("f", "a", "frame", "fixed"), joint("k", "a", "b")],
    )
    assert np.isnan(robot.links[0].parameters).all()
    np.testing.assert_array_equal(robot.links[1].parameters, BODY)
    assert any("'a' has no inertial" in note for note in robot.notes)
    assert not any("base" in note for note in robot.notes)


def test_axes_become_unit_vectors():
    for axis, expected in {
        (0, 0, -2): (0, 0, -1),
        (1e-12, 5, 0): (0, 1, 0),
        (3, 0, 4): (0.6, 0, 0.8),
        (1e-200, 0, 0): (1, 0, 0),
        (3e200, 0, 4e200): (0.6, 0, 0.8),
    }.items():
        robot = chain(joint("j", "base", "a", axis=np.array(axis, dtype=float)))
        np.testing.assert_allclose(robot.joints[0].axis, expected, rtol=1e-15, atol=0)


# --- locked and mimic joints --------------------------------------------------------------------


@settings(max_examples=60)
@given(seed=SEEDS, count=st.integers(2, 9))
def test_locked_robot_moves_as_the_whole_one_at_zero(seed: int, count: int):
    rng = np.random.default_rng(seed)
    links, joints = random_tree(rng, count)
    whole = built(links, joints)
    chosen = sorted(rng.permutation(whole.dof)[: rng.integers(1, whole.dof + 1)])
    robot = built(links, joints, keep=[whole.joint_names[k] for k in reversed(chosen)])
    assert robot.joint_names == tuple(whole.joint_names[k] for k in chosen)
    state = np.zeros((3, whole.dof))
    state[:, chosen] = rng.uniform(-2, 2, (3, len(chosen)))
    expected = rnea(whole, None, *state)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(
        rnea(robot, None, *state[:, chosen]), expected[chosen], rtol=0, atol=1e-12 * scale
    )


def test_mimic_chains_are_composed_and_may_come_before_their_master():
    robot = chain(
        joint("x", "base", "a", mimic=("y", 2.0, 0.5)),
        joint("y", "a", "b", mimic=("z", -3.0, 0.25)),
        joint("z", "b", "c", "prismatic"),
    )
    assert robot.joint_names == ("z",)
    x, y, _ = (record.mimic for record in robot.joints)
    assert (x.joint, x.multiplier, x.offset) == (2, -6.0, 1.0)
    assert (y.joint, y.multiplier, y.offset) == (2, -3.0, 0.25)


def test_a_mimic_joint_is_locked_where_its_master_at_zero_puts_it():
    robot = chain(
        joint("m", "base", "a"),
        joint("f", "base", "b", "prismatic", mimic=("m", 2.0, 0.5)),
        joint("k", "b", "c"),
        keep=["k"],
    )
    np.testing.assert_array_equal(robot.joints[0].before.translation, [0, 0, 0.5])
    assert any("'m', 'f'" in note for note in robot.notes if note.startswith("locked"))


# --- the transmission ---------------------------------------------------------------------------

# In the file's order p, q, r; the robot's is r, q, p.
COUPLED = (joint("p", "b", "c"), joint("q", "a", "b"), joint("r", "base", "a"))


def test_transmission_follows_the_joints_into_the_robots_order():
    T = np.array([[1.0, 2.0, 3.0], [0.0, 5.0, 6.0], [0.0, 0.0, 9.0]])
    robot = chain(*COUPLED, transmission=T)
    assert robot.joint_names == ("r", "q", "p")
    np.testing.assert_array_equal(robot.transmission, T[::-1, ::-1])
    assert chain(*COUPLED).transmission is None


def test_transmission_of_kept_joints():
    T = [[1, 2, 0], [3, 4, 0], [0, 0, 5]]
    np.testing.assert_array_equal(
        chain(*COUPLED, transmission=T, keep=["p", "q"]).transmission, [[4, 3], [2, 1]]
    )
    np.testing.assert_array_equal(chain(*COUPLED, transmission=T, keep=["r"]).transmission, [[5]])
    with pytest.raises(RobotError, match="couples"):
        chain(*COUPLED, transmission=T, keep=["r", "q"])


# --- what is refused ----------------------------------------------------------------------------

J1 = joint("j1", "base", "a", where="line 7")


def with_limits(**limits: float) -> tuple[JointRecord, ...]:
    return (dataclasses.replace(J1, limits=Limits(**limits)),)


REFUSED = {
    "singular": (COUPLED, {"transmission": np.ones((3, 3))}, ["singular"]),
    "wrong size": (COUPLED, {"transmission": np.eye(2)}, ["3 x 3"]),
    "transmission nan": (COUPLED, {"transmission": np.full((3, 3), np.nan)}, ["finite"]),
    "keep unknown": (COUPLED, {"keep": ["pp"]}, ["'pp'", "mean 'p'", "'p', 'q', 'r'"]),
    "keep twice": (COUPLED, {"keep": ["p", "q", "p"]}, ["'p'", "more than once"]),
    "keep none": (COUPLED, {"keep": []}, ["no joint moves"]),
    "keep fixed": ((J1, joint("f", "a", "b", "fixed")), {"keep": ["f"]}, ["'f'", "fixed", "Valid: 'j1'"]),
    "keep mimic": ((J1, joint("m", "a", "b", mimic=("j1", 1, 0))), {"keep": ["m"]}, ["moves with 'j1'"]),
    "only fixed": ((joint("f", "base", "a", "fixed"),), {}, ["no joint moves"]),
    "gravity": ((J1,), {"gravity": (0, 0, np.inf)}, ["gravity"]),
    "gravity size": ((J1,), {"gravity": (0, 9.81)}, ["gravity", "3"]),
    "reversed": (with_limits(lower=2, upper=1), {}, ["line 7", "'j1'", "[2, 1]"]),
    "nan limit": (with_limits(upper=np.nan), {}, ["nan", "position limits"]),
    "effort": (with_limits(effort=-1.0), {}, ["effort limit -1"]),
    "acceleration": (with_limits(acceleration=np.nan), {}, ["acceleration limit nan"]),
    "zero axis": ((dataclasses.replace(J1, axis=np.zeros(3)),), {}, ["line 7", "axis is zero"]),
    "nan axis": ((dataclasses.replace(J1, axis=np.array([0, 0, np.nan])),), {}, ["finite"]),
    "nan frame": ((dataclasses.replace(J1, before=Frame(None, (0, 0, np.nan))),), {}, ["finite"]),
    "inf after": ((dataclasses.replace(J1, after=Frame(None, (np.inf, 0, 0))),), {}, ["finite"]),
    "inf friction": ((dataclasses.replace(J1, viscous=np.inf),), {}, ["friction"]),
    "mimic unknown": ((J1, joint("m", "a", "b", mimic=("j2", 1, 0))), {}, ["'m'", "'j2'", "Valid: 'j1'"]),
    "mimic nan": ((J1, joint("m", "a", "b", mimic=("j1", np.nan, 0))), {}, ["multiplier"]),
    "mimic self": ((dataclasses.replace(J1, mimic=("j1", 1, 0)),), {}, ["'j1'", "itself"]),
    "mimic cycle": (
        (joint("x", "base", "a", mimic=("y", 1, 0)), joint("y", "a", "b", mimic=("x", 1, 0))),
        {},
        ["'x'", "itself"],
    ),
    "mimic of fixed": (
        (joint("f", "base", "a", "fixed"), joint("m", "a", "b", mimic=("f", 1, 0))),
        {},
        ["'m'", "'f'", "fixed"],
    ),
    "fixed mimic": ((J1, joint("f", "a", "b", "fixed", mimic=("j1", 1, 0))), {}, ["'f'", "cannot mimic"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str):
    joints, more, fragments = REFUSED[case]
    with pytest.raises(RobotError) as caught:
        chain(*joints, source="some/robot", **more)
    message = str(caught.value)
    assert message.startswith("some/robot")
    for fragment in fragments:
        assert fragment in message


def test_parameters_that_are_no_numbers_are_refused():
    with pytest.raises(RobotError, match="'a': the inertial parameters must be finite"):
        built([link("base"), link("a", np.full(10, np.nan))], [J1])


def test_oddities_are_noted():
    negative = BODY.copy()
    negative[9] = -3.0
    stuck = dataclasses.replace(J1, limits=Limits(lower=0.0, upper=0.0))
    robot = built([link("base", None), link("a", negative)], [stuck], notes=["from the reader"])
    first, *warnings = robot.notes
    assert first == "from the reader"
    assert all(note.startswith("warning:") for note in warnings)
    assert ["-3" in warnings[0], "no motion" in warnings[1]] == [True, True]


def test_long_chains_need_no_recursion_and_no_quadratic_time():
    joints = [joint("j0", "l0", "l1")]
    joints += [joint(f"j{k}", f"l{k}", f"l{k + 1}", mimic=(f"j{k - 1}", -1, 1)) for k in range(1, 3000)]
    robot = chain(*reversed(joints))
    assert robot.joint_names == ("j0",)
    assert (robot.joints[-1].mimic.multiplier, robot.joints[-1].mimic.offset) == (-1, 1)
