"""Algorithm 2 as a plan: each branch on a robot that needs it, any serial robot, and given configurations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import dynid
from dynid.errors import ArgumentError, RobotError
from dynid.fit.unknowns import DRIVES
from dynid.plan.bench import Bench
from dynid.plan.experiments import Experiment, algorithm_2, given
from dynid.plan.judge import judge, open_at_last
from dynid.plan.rank import undetermined
from dynid.robot import Robot
from helpers_plan import bench_of, error_of, heavy, serial

HALF = np.pi / 2
ACROSS = (0.0, -9.81, 0.0)  # gravity that is not along the first axis


def left_open(bench: Bench, experiments: Sequence[Experiment]) -> set[str]:
    """What all efforts together leave open."""
    return set(open_at_last(judge(bench, [(one.moves, one.posture) for one in experiments])))


def not_read(bench: Bench, experiments: Sequence[Experiment]) -> set[str]:
    """What the efforts that Algorithm 2 reads leave open, each joint's equation by itself."""
    found: set[str] = set()
    for joint in range(bench.dof):
        rows = [bench.rows(e.moves, joint, e.posture) for e in experiments if e.reads == joint]
        found |= set(bench.unknowns.named(undetermined(rows, bench.unknowns.of_joint(joint))))
    return found


@cache
def planned(name: str, letters: tuple[str, ...] = ()) -> tuple[Bench, list[Experiment]]:
    bench = bench_of(dynid.load_robot(name), letters)
    return bench, algorithm_2(bench)


# --- the branches ---------------------------------------------------------------------------------------

# branch: a robot, the joints that move and are read in that branch, and what it estimates there
BRANCHES = {
    "1": (serial(("P", 0, 0), ("R", 0, 0.2)), (1, 1), {"m1^"}),
    "2.1": (serial(("R", 0, 0), ("R", 1.0, 0.1)), (1, 2), {"U2_33", "U2_11-22", "k2x"}),
    "2.2": (serial(("R", 0, 0), ("R", HALF, 0.1), ("P", HALF, 0)), (1, 3), {"k3x", "k3y", "k3z"}),
    "3.1(a)": (serial(("R", 0, 0), ("R", 0, 0.3), gravity=ACROSS), (1, 2), {"U2_33", "k2x", "k2y"}),
    "3.1(b)": (serial(("R", 0, 0), ("R", 0, 0.3)), (1, 2), {"U2_33", "k2x", "k2y"}),
    "3.1(c)": (serial(("P", HALF, 0), ("R", -HALF, 0)), (1, 2), {"k2x", "k2y"}),
    "3.2": (serial(("R", 0, 0), ("P", 1.0, 0.1)), (1, 2), {"kappa1_2", "kappa2_2"}),
}


@pytest.mark.parametrize("branch", BRANCHES)
def test_each_branch_on_a_robot_that_needs_it(branch: str) -> None:
    robot, (moves, reads), estimates = BRANCHES[branch]
    bench = bench_of(robot)
    found = algorithm_2(bench)
    mine = [e for e in found if (e.step, e.moves + 1, e.reads + 1) == (branch, moves, reads)]
    assert mine
    assert estimates <= {name for e in mine for name in e.estimates}
    assert error_of(bench, found) < 1e-10
    others = [e for e in found if e not in mine]
    assert estimates <= not_read(bench, others)


def test_perpendicular_joints_need_to_move_alone_for_their_inertia() -> None:
    """The second half of step 2.1: no motion of joint 1 tells U2_33 of the Stanford arm."""
    bench, found = planned("stanford")
    alone = [e for e in found if e.moves == e.reads == 1]
    assert [e.estimates for e in alone] == [("U2_33",)]
    assert left_open(bench, [e for e in found if e not in alone]) == {"U2_33"}


def test_coaxial_joints_are_told_apart_by_case_c() -> None:
    """Two upright joints on one line: their inertias by turning each, and no first moments at all."""
    bench = bench_of(serial(("R", 0, 0), ("R", 0, 0)))
    found = algorithm_2(bench)
    assert [(e.step, e.moves, e.reads, e.estimates) for e in found] == [
        ("3.1(c)", 0, 1, ("U2_33",)),
        ("3.1(c)", 0, 0, ("U1_33",)),
    ]


def test_order_of_the_stanford_arm_is_that_of_algorithm_2() -> None:
    """Step 1 for the slide, step 2 from joint 6 to joint 2, where s is, step 3 for joint 1."""
    _, found = planned("stanford")
    order = [(e.step, e.reads + 1) for e in found]
    assert list(dict.fromkeys(order)) == [
        *(("1", 3), ("2.1", 6), ("2.1", 5), ("2.1", 4), ("2.2", 3), ("2.1", 2), ("3.1(c)", 1)),
    ]
    assert [e.step for e in found].count("2.1") == 4 * 3 + 1
    assert all(e.moves == 0 for e in found if e.step.startswith("2") and e.reads != e.moves)
    for j in (3, 4, 5):  # at three positions of joint j, the others alike
        others = {tuple(np.delete(e.posture, j)) for e in found if (e.step, e.reads) == ("2.1", j)}
        own = {e.posture[j] for e in found if (e.step, e.reads) == ("2.1", j)}
        assert (len(others), len(own)) == (1, 3)


# --- any serial robot -----------------------------------------------------------------------------------


@pytest.mark.parametrize("first", range(0, 16, 8))
def test_any_serial_robot_with_gravity_is_determined_by_algorithm_2_alone(first: int) -> None:
    for seed in range(first, first + 8):
        bench = bench_of(heavy(seed))
        found = algorithm_2(bench)
        assert not left_open(bench, found), seed
        assert all(one.step != "more" for one in found), seed
        assert {name for one in found for name in one.estimates} == set(bench.unknowns.names), seed
        assert error_of(bench, found) < 1e-7, seed


@pytest.mark.parametrize("first", range(0, 8, 4))
def test_drives_are_determined_too(first: int) -> None:
    for seed in range(first, first + 4):
        bench = bench_of(heavy(seed, joints=3), DRIVES)
        found = algorithm_2(bench)
        assert not left_open(bench, found), seed
        assert {name for one in found for name in one.estimates} == set(bench.unknowns.names), seed


def test_without_gravity_more_experiments_tell_the_rest() -> None:
    for seed in (1, 3, 4, 10):
        bench = bench_of(replace(heavy(seed), gravity=np.zeros(3)))
        found = algorithm_2(bench)
        assert not left_open(bench, found), seed
        assert {name for one in found for name in one.estimates} == set(bench.unknowns.names), seed


@pytest.mark.parametrize("name", ["stanford", "panda", "scara", "gk3"])
def test_built_in_robots_with_their_drives(name: str) -> None:
    bench, found = planned(name, DRIVES)
    assert not left_open(bench, found)
    assert {n for e in found for n in e.estimates} == set(bench.unknowns.names)
    assert all(np.isfinite(e.condition) and e.condition < 500 for e in found)
    for e in found:
        motion = bench.trajectory(e.moves, e.posture)
        still = np.delete(motion.q, e.moves, axis=1)
        assert not np.ptp(still, axis=0).any()
        assert (motion.q >= bench.bounds.lower).all()
        assert (motion.q <= bench.bounds.upper).all()
        assert (np.abs(motion.qd) <= bench.bounds.velocity).all()
        assert (np.abs(motion.qdd) <= bench.bounds.acceleration).all()


def test_conditions_are_those_of_the_rows_of_the_trajectories() -> None:
    bench, found = planned("stanford")
    group = [e for e in found if (e.step, e.reads) == ("2.1", 5)]
    columns = [bench.unknowns.names.index(name) for name in group[0].estimates]
    rows = []
    for e in group:
        motion = bench.trajectory(e.moves, e.posture)
        rows.append(bench.unknowns.efforts(motion.q, motion.qd, motion.qdd)[:, 5][:, columns])
    assert group[0].condition == pytest.approx(np.linalg.cond(np.concatenate(rows)), rel=1e-9)


def test_the_same_seed_gives_the_same_plan() -> None:
    robot = dynid.load_robot("scara")
    one, two, other = (algorithm_2(bench_of(robot, seed=seed)) for seed in (0, 0, 5))
    assert [e.posture.tolist() for e in one] == [e.posture.tolist() for e in two]
    assert [e.posture.tolist() for e in one] != [e.posture.tolist() for e in other]


# --- efforts and limits ---------------------------------------------------------------------------------


def with_limits(robot: Robot, **limits: float) -> Robot:
    return replace(robot, joints=tuple(replace(j, limits=replace(j.limits, **limits)) for j in robot.joints))


def test_motions_keep_effort_limits_and_postures_can_be_held() -> None:
    robot = with_limits(dynid.load_robot("planar2"), effort=30.0)
    bench = bench_of(robot)
    for e in algorithm_2(bench):
        motion = bench.trajectory(e.moves, e.posture)
        assert np.abs(robot.inverse_dynamics(motion.q, motion.qd, motion.qdd)).max() <= 30.0


def test_a_robot_that_cannot_hold_itself_is_refused() -> None:
    with pytest.raises(ArgumentError, match="at no posture do the effort limits suffice"):
        algorithm_2(bench_of(with_limits(dynid.load_robot("panda"), effort=0.01)))


def test_robots_that_are_no_chain_are_refused() -> None:
    robot = serial(("R", 0, 0), ("R", 1.0, 0.1), ("R", 1.0, 0.1))
    tree = replace(robot, joints=(*robot.joints[:2], replace(robot.joints[2], parent=0)))
    with pytest.raises(RobotError, match="serial"):
        bench_of(tree)


# --- configurations somebody gives ----------------------------------------------------------------------


def test_given_configurations_are_judged() -> None:
    """Eq. (63): the paper's three configurations for body 6 suffice; two of them at equal angles do not."""
    bench, _ = planned("stanford")
    postures = [np.array([0.7, 0.7, 0.0, 0.7, 0.7, q6]) for q6 in (0.7, -0.6, -0.7)]
    good = judge(bench, [(0, q) for q in postures])[0]
    assert good.joint == 5
    assert not good.undetermined
    poor = judge(bench, [(0, postures[0])])[0]
    assert poor.undetermined
    assert set(good.names) == set(poor.names)


def test_what_a_given_experiment_tells_by_itself() -> None:
    bench, _ = planned("stanford")
    (one,) = given(bench, [(1, np.array([0.0, 0.3, 0.1, 0.2, 0.4, 0.5]))])
    assert one.step == "given"
    assert "U2_33" in one.estimates
    assert not any(name.startswith("U1") for name in one.estimates)
    assert one.why.count("Property") == 5  # joints 2 to 6
    with pytest.raises(ArgumentError, match="j4 at 9, beyond its limits"):
        given(bench, [(0, np.array([0, 0, 0, 9.0, 0, 0]))])
