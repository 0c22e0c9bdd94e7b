"""The estimator of Algorithm 2 of [Lin1992]: exact values, honest covariance, joints at rest, logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import dynid
from dynid import ArgumentError, Log, identify
from dynid.errors import RobotError
from dynid.fit import one_joint as estimator
from dynid.fit.one_joint import Block, Recursion, recursion
from dynid.fit.one_joint_logs import Found, one_joint
from dynid.fit.unknowns import DRIVES, unknowns_of
from dynid.log.log import Provenance
from dynid.log.samples import Samples
from dynid.plan.experiments import Experiment, algorithm_2
from dynid.plan.motions import critically_damped
from dynid.plan.plan_file import file_name, write_plan
from dynid.robot import Robot
from dynid.spatial import Frame, rotation_x
from helpers_fit import Arm, arm, samples_from_arrays
from helpers_plan import LIMITS, bench_of, equations, serial, truth_of
from helpers_recordings import needs_recordings, rows_of, ur10e, ur10e_log
from helpers_robots import PinocchioTwin

# --- the Stanford arm of the paper ----------------------------------------------------------------------

FIRST = (0.7, 0.7, 0.0, 0.7, 0.7, 0.7)  # Eq. (62)
ELSEWHERE = {6: (6, (0.7, -0.7, -0.6)), 5: (5, (0.7, -0.7, -0.6)), 4: (4, (0.7, -0.7, -0.6))}
ELSEWHERE |= {3: (2, (0.7, -0.7)), 2: (2, (0.7, -0.7, -0.6))}  # body: the joint turned, and where it stands
INSTANTS = (0.2, 0.3, 0.4)


def section_4(decimals: int | None = None) -> Recursion:
    """The paper's experiments on the Stanford arm, with Pinocchio's efforts, exact or rounded."""
    robot = dynid.load_robot("stanford")
    unknowns, twin = unknowns_of(robot, ()), PinocchioTwin(robot)
    motions = [(1, body, turned, place) for body, (turned, places) in ELSEWHERE.items() for place in places]
    found: list[Block] = []
    for moves, reads, turned, place in [*motions, (2, 2, 3, 0.0), (1, 1, 3, 0.0)]:
        q, qd, qdd = np.tile(FIRST, (3, 1)), np.zeros((3, 6)), np.zeros((3, 6))
        q[:, turned - 1] = place
        k = moves - 1
        q[:, k], qd[:, k], qdd[:, k] = critically_damped(INSTANTS, 0.7, np.pi / 6, 10.0)
        tau = np.array([twin.at(*state).inverse_dynamics for state in zip(q, qd, qdd, strict=True)])
        tau = tau if decimals is None else np.round(tau, decimals)
        rows = unknowns.efforts(q, qd, qdd)[:, reads - 1]
        found.append(Block(reads - 1, rows, tau[:, reads - 1], 3))
    return recursion(unknowns, found)


def stanford_truth() -> np.ndarray:
    robot = dynid.load_robot("stanford")
    return unknowns_of(robot, ()).base.values(robot.parameters)


def test_exact_torques_give_table_2_to_rounding() -> None:
    found = section_4()
    assert not found.undetermined.any()
    np.testing.assert_allclose(found.values, stanford_truth(), atol=1e-12, rtol=0)


@pytest.mark.parametrize(("decimals", "worst"), [(5, 2e-4), (4, 2e-3), (6, 2e-5)])
def test_rounded_torques_cost_digits_as_the_conditions_say(decimals: int, worst: float) -> None:
    """Conditions of 23 to 427 and a few steps of the recursion make of half a digit some 20 digits."""
    error = np.abs(section_4(decimals).values - stanford_truth()).max()
    assert 1e-2 * worst < error < worst


# --- what errors do -------------------------------------------------------------------------------------


def small() -> Robot:
    """Three joints: upright, parallel to it, and oblique."""
    return serial(("R", 0, 0), ("R", 0, 0.3), ("R", 1.0, 0.2))


@cache
def exact() -> tuple[object, tuple[Block, ...]]:
    bench = bench_of(small(), ("Fv", "Fo"))
    return bench, tuple(equations(bench, algorithm_2(bench), every=60, own=False))


def disturbed(blocks: Sequence[Block], errors: Sequence[np.ndarray]) -> list[Block]:
    return [replace(b, efforts=b.efforts + e) for b, e in zip(blocks, errors, strict=True)]


def test_covariance_is_that_of_a_linear_estimator() -> None:
    """x = L y, so cov(x) = L S L' with S the noise of all equations, whichever joint's they are."""
    bench, blocks = exact()
    rng = np.random.default_rng(0)
    noisy = disturbed(blocks, [0.01 * rng.normal(size=len(b.efforts)) for b in blocks])
    found = recursion(bench.unknowns, noisy)
    columns, variances = [], []
    for k, block in enumerate(blocks):
        for row in range(len(block.efforts)):
            unit = [np.zeros(len(b.efforts)) for b in blocks]
            unit[k][row] = 1.0
            columns.append(recursion(bench.unknowns, disturbed(blocks, unit)).values)
            variances.append(found.sigma[block.joint] ** 2)
    L = np.array(columns).T - truth_of(bench)[1][:, None]
    covariance = (L * variances) @ L.T
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert (np.abs(found.covariance - covariance) / scale).max() < 1e-6
    np.testing.assert_allclose(found.sigma, 0.01, rtol=0.15)


def test_later_bodies_errors_pass_on() -> None:
    """With the bodies behind known exactly, the first ones would be known better."""
    bench, blocks = exact()
    rng = np.random.default_rng(1)
    one = recursion(
        bench.unknowns, disturbed(blocks, [0.01 * rng.normal(size=len(b.efforts)) for b in blocks])
    )
    first = bench.unknowns.of_joint(0)
    behind = np.setdiff1d(np.arange(bench.unknowns.count), first)
    correlated = np.abs(one.covariance[np.ix_(first, behind)]).max()
    assert correlated > 0.0
    alone = [
        replace(b, rows=b.rows * np.isin(np.arange(bench.unknowns.count), first))
        for b in blocks
        if b.joint == 0
    ]
    ideal = recursion(bench.unknowns, [replace(b, efforts=b.rows @ truth_of(bench)[1]) for b in alone])
    unit = np.diag(ideal.covariance)[first] / ideal.sigma[0] ** 2
    assert (np.diag(one.covariance)[first] > 1.0001 * unit * one.sigma[0] ** 2).any()


def test_noise_that_is_correlated_in_time_widens_intervals() -> None:
    bench, blocks = exact()
    rng = np.random.default_rng(2)
    noisy = disturbed(blocks, [0.01 * rng.normal(size=len(b.efforts)) for b in blocks])
    white, coloured = recursion(bench.unknowns, noisy), recursion(bench.unknowns, noisy, np.full(3, 4.0))
    np.testing.assert_allclose(coloured.covariance, 4.0 * white.covariance, rtol=1e-9, atol=1e-18)
    np.testing.assert_array_equal(coloured.values, white.values)


def test_what_no_equation_tells_is_named_and_the_rest_is_right() -> None:
    """The last experiment of the Stanford arm alone moves joint 1 for its own inertia."""
    bench = bench_of(dynid.load_robot("stanford"))
    found = recursion(bench.unknowns, equations(bench, algorithm_2(bench)[:-1]))
    assert np.array(bench.unknowns.names)[found.undetermined] == ["U1_33"]
    assert np.isinf(np.diag(found.covariance)[found.undetermined]).all()
    sure = ~found.undetermined
    np.testing.assert_allclose(found.values[sure], truth_of(bench)[1][sure], atol=1e-9)


# --- joints that stand still ----------------------------------------------------------------------------

COULOMB = (2.0, 1.5)


def upright_and_oblique() -> Robot:
    """A joint along gravity that carries an oblique one; bodies that can exist."""
    joints = [
        dynid.robot.Joint(
            name=f"j{k + 1}",
            kind="revolute",
            parent=k - 1,
            before=Frame(rotation_x(0.9 * k), (0.2 * k, 0, 0)),
            limits=LIMITS,
            coulomb=COULOMB[k],
            viscous=0.5,
        )
        for k in range(2)
    ]
    body = dynid.spatial.parameters_from_com(3.0, (0.15, 0.1, 0.05), np.diag([0.03, 0.04, 0.05]))
    links = tuple(dynid.robot.Link(name=f"l{k}", parameters=body) for k in range(2))
    return Robot(name="two", joints=tuple(joints), links=links, gravity=np.array([0, 0, -9.81]))


def holding(load: np.ndarray, coulomb: float, rng: np.random.Generator) -> np.ndarray:
    """The effort of a joint that friction holds: it changes only where the load would move the joint."""
    effort = np.empty_like(load)
    last = load[0] + coulomb * rng.uniform(-1, 1)
    for k, need in enumerate(load):
        last = min(max(last, need - coulomb), need + coulomb)
        effort[k] = last
    return effort


def recorded(rng: np.random.Generator, repeats: int = 1, back: bool = True) -> list[Samples]:
    """The plan's experiments with noise, and friction that holds whatever stands."""
    robot = upright_and_oblique()
    bench = bench_of(robot, ("Fv", "Fc"))
    found = []
    for one in algorithm_2(bench):
        motion = bench.trajectory(one.moves, one.posture)
        keep = np.arange(20, len(motion.times) - 20, 5)
        keep = keep if back else keep[motion.qd[keep, one.moves] > 0.0]
        q, qd, qdd = (np.concatenate([x[keep]] * repeats) for x in (motion.q, motion.qd, motion.qdd))
        tau = robot.inverse_dynamics(q, qd, qdd)
        for j in range(2):
            if j == one.moves:
                tau[:, j] += 0.5 * qd[:, j] + COULOMB[j] * np.tanh(qd[:, j] / 0.05)
            else:
                tau[:, j] = holding(tau[:, j], COULOMB[j], rng)
        tau += 0.02 * rng.normal(size=tau.shape)
        found.append(samples_from_arrays(robot, q, qd, qdd, tau, rate_hz=20.0))
    return found


@cache
def holding_system():
    terms = dynid.fit.system.Terms(armature=False, friction=("Fv", "Fc"), width=0.05)
    return dynid.fit.system.system_of(upright_and_oblique(), terms)


def held_fit(seed: int, **how: object) -> Found:
    return one_joint(holding_system(), recorded(np.random.default_rng(seed), **how)).fit()


def deviations(found: Found) -> np.ndarray:
    robot, system = upright_and_oblique(), holding_system()
    drives = [0.5, 0.5, *COULOMB]
    truth = system.base.values(np.concatenate([robot.parameters, drives]))
    return (found.solution.values - truth) / found.uncertainty.std


def test_intervals_know_that_friction_holds_what_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without friction at rest in the equations the same data would mislead by many deviations."""
    z = np.array([deviations(held_fit(seed)) for seed in range(6)])
    assert np.abs(z).max() < 4.5
    assert np.sqrt(np.mean(z**2)) < 1.5
    monkeypatch.setattr(estimator, "_friction_at_rest", lambda *_: 0.0)
    blind = np.array([deviations(held_fit(seed)) for seed in range(2)])
    assert np.sqrt(np.mean(blind**2)) > 3.0


def test_opposite_directions_halve_the_variance_and_repetitions_do_not() -> None:
    """Of the tensor of body 2, as joint 2 tells it while it stands."""
    rows = [k for k, name in enumerate(holding_system().names) if name.startswith(("XX", "XY", "XZ", "YZ"))]
    once = held_fit(0, back=False).uncertainty.std[rows]
    again = held_fit(0, back=False, repeats=4).uncertainty.std[rows]
    both = held_fit(0).uncertainty.std[rows]
    np.testing.assert_allclose(again / once, 1.0, rtol=0.05)
    np.testing.assert_allclose(both / once, np.sqrt(0.5), rtol=0.2)


# --- logs -----------------------------------------------------------------------------------------------


def planned_logs(known: Arm, folder: Path, seed: int) -> tuple[list[Log], Path]:
    """Logs of a plan's experiments with friction, noise, and whatever holds the joints that stand."""
    rng = np.random.default_rng(seed)
    bench = bench_of(known.robot, DRIVES)
    experiments = algorithm_2(bench)
    write_plan(folder / "plan.json", known.robot, experiments)
    logs = [_log(known, bench, number, one, rng) for number, one in enumerate(experiments, start=1)]
    return logs, folder / "plan.json"


def _log(known: Arm, bench, number: int, one: Experiment, rng: np.random.Generator) -> Log:
    motion = bench.trajectory(one.moves, one.posture)
    tau = known.model.efforts(motion.q, motion.qd, motion.qdd)
    for j in range(known.robot.dof):
        if j != one.moves:
            tau[:, j] = holding(tau[:, j], float(known.model.friction.coulomb[j]), rng)
    tau += 0.01 * np.std(tau, axis=0) * rng.normal(size=tau.shape)
    return Log(
        joint_names=known.robot.joint_names,
        stamp_ns=np.round(motion.times * 1e9).astype(np.int64),
        epoch_ns=0,
        position=motion.q + 1e-6 * rng.normal(size=motion.q.shape),
        velocity=None,
        effort=tau,
        provenance=Provenance(file_name(number, known.robot, one.moves), ""),
    )


@pytest.mark.parametrize("name", ["stanford", "puma560"])
def test_logs_of_a_plan_give_the_arm_within_its_intervals(name: str, tmp_path: Path) -> None:
    known = arm(name)
    logs, plan = planned_logs(known, tmp_path, seed=0)
    estimate = identify(
        known.robot,
        logs[::-1],
        method="one-joint",
        plan=plan,
        cutoff_hz=8.0,
        width=0.05,
        presliding=0.0,
        delay=0.0,
    )
    z = (estimate.values - known.truth) / estimate.std
    assert np.abs(z).max() < 5.0
    assert np.sqrt(np.mean(z**2)) < 1.6
    assert estimate.status == "trusted", estimate.advice
    friction = [k for k, n in enumerate(estimate.names) if n.startswith(("Fv", "Fc"))]
    np.testing.assert_allclose(estimate.values[friction], known.truth[friction], rtol=0.1)


def test_a_plan_is_for_this_method_only(tmp_path: Path) -> None:
    known = arm("planar2")
    logs, plan = planned_logs(known, tmp_path, seed=0)
    with pytest.raises(ArgumentError, match="a plan is for the method 'one-joint', not for 'wls'"):
        identify(known.robot, logs, plan=plan)
    with pytest.raises(ArgumentError, match=r"1 logs for a plan of 3 experiments; missing: '02_elbow\.csv'"):
        identify(known.robot, logs[:1], method="one-joint", plan=plan)


def test_terms_and_priors_the_method_does_not_know() -> None:
    known = arm("planar2")
    logs, _ = planned_logs_without_plan(known)
    settled = {"method": "one-joint", "cutoff_hz": 8.0, "width": 0.05, "delay": 0.0}
    with pytest.raises(
        ArgumentError, match="knows viscous and Coulomb friction, offsets and motor inertias, not Fs"
    ):
        identify(known.robot, logs, friction="viscous,coulomb,stribeck", **settled)
    with pytest.raises(ArgumentError, match="takes no prior"):
        identify(known.robot, logs, prior="cad", prior_weight=0.1, **settled)


def planned_logs_without_plan(known: Arm) -> tuple[list[Log], list[Experiment]]:
    rng = np.random.default_rng(0)
    bench = bench_of(known.robot, DRIVES)
    experiments = algorithm_2(bench)
    return [_log(known, bench, k, one, rng) for k, one in enumerate(experiments, start=1)], experiments


def test_a_log_in_which_nothing_moves_does_no_harm() -> None:
    known = arm("planar2")
    logs, _ = planned_logs_without_plan(known)
    settled = {"method": "one-joint", "cutoff_hz": 8.0, "width": 0.05, "presliding": 0.0, "delay": 0.0}
    q = np.tile(logs[0].position[:1], (len(logs[0]), 1))
    noise = 0.01 * np.random.default_rng(0).normal(size=q.shape)
    still = replace(logs[0], position=q, effort=known.robot.gravity_torque(q) + noise)
    one = identify(known.robot, logs, **settled)
    two = identify(known.robot, [*logs, still], **settled)
    np.testing.assert_allclose(one.values, two.values, atol=1e-9 * np.abs(one.values).max())


def test_trees_are_refused() -> None:
    robot = small()
    tree = replace(robot, joints=(*robot.joints[:2], replace(robot.joints[2], parent=0)))
    with pytest.raises(RobotError, match="serial"):
        unknowns_of(tree)


# --- a real arm -----------------------------------------------------------------------------------------


@needs_recordings
def test_joint_by_joint_logs_of_a_real_arm_agree_with_a_motion_of_all_joints() -> None:
    """All of bodies and motors within what both intervals allow; friction within what days make of it.

    The logs come from no plan, so many intervals are wide.
    """
    robot = ur10e()
    single = [ur10e_log(robot, f"01_22-joint_{k}") for k in range(1, 7)]
    together = rows_of(ur10e_log(robot, "02_10-30sec_12harm"), 635, 3510)
    settled = {"cutoff_hz": 8.0, "width": 0.02, "presliding": 0.0, "delay": 0.0, "prior": "none"}
    one = identify(robot, single, method="one-joint", **settled)
    all_ = identify(robot, together, **settled)
    assert one.names == all_.names
    z = (one.values - all_.values) / np.hypot(one.std, all_.std)
    rigid = z[[not name.startswith("F") for name in one.names]]
    assert np.abs(rigid).max() < 4.0
    assert np.sqrt(np.mean(rigid**2)) < 1.5
    told = [name for name, v, s in zip(one.names, one.values, one.std, strict=True) if abs(v) > 5.0 * s]
    assert {"MZR2", "MZR3", *(f"Fc{k}" for k in range(1, 7)), *(f"Fv{k}" for k in range(1, 7))} <= set(told)
    for name in ("MZR2", "MZR3", *(f"{letter}{k}" for letter in ("Fv", "Fc") for k in range(1, 7))):
        assert one.value(name) == pytest.approx(all_.value(name), rel=0.25), name
