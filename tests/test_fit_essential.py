"""Essential parameters, statistics over trajectories, and the bounds that condition numbers give."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from dynid.errors import ArgumentError
from dynid.fit.essential import (
    by_contribution,
    by_elimination,
    contributions,
    errors,
    restricted,
)
from dynid.fit.perturbation import column_error, condition_number, effort_error, scaling
from dynid.fit.reduction import Reduction, reduce, triangle
from dynid.fit.solve import weighted
from dynid.fit.trajectories_table import trajectories_table
from helpers_fit import arm, samples_of, stacked, waves


@pytest.fixture(scope="module")
def noisy():
    """The arm's zero parameters are known: MY1 and MY2 (rods along x)."""
    robot = arm("planar2")
    motion = waves(robot.robot, seconds=20.0, rate_hz=50.0)
    return robot, samples_of(robot, motion, effort_noise=0.3)


def single(X: np.ndarray, y: np.ndarray) -> Reduction:
    """A reduction of rows of one joint."""
    names = tuple(f"x{k}" for k in range(X.shape[1]))
    R = triangle(np.column_stack([X, y]))
    return Reduction(names, (np.arange(len(names)),), (R,), np.array([float(len(y))]))


# --- Izaguirre's rule -------------------------------------------------------------------------------------


def test_contributions_are_those_of_the_definition(noisy):
    robot, samples = noisy
    W, tau = stacked(robot, samples)
    n, p = robot.robot.dof, len(robot.truth)
    parts = np.abs(W.reshape(-1, n, p) * robot.truth).max(axis=0)
    expected = parts / np.abs(tau.reshape(-1, n)).max(axis=0)[:, None]
    assert contributions(robot.system, [samples], robot.truth) == pytest.approx(expected, rel=1e-12)


def test_one_trajectory_that_shows_it_is_enough(noisy):
    """At rest nothing but weight and offsets acts; the log in motion makes the others significant."""
    robot, samples = noisy
    still = samples_of(robot, waves(robot.robot, seconds=2.0, rate_hz=50.0, size=1e-6))
    at_rest = contributions(robot.system, [still], robot.truth).max(axis=0)
    both = contributions(robot.system, [still, samples], robot.truth).max(axis=0)
    inertia = robot.system.names.index("ZZ2")
    assert at_rest[inertia] < 0.01 < both[inertia]


def test_small_contributions_go(noisy):
    robot, samples = noisy
    reduction = reduce(robot.system, samples)
    found = by_contribution(robot.system, [samples], reduction)
    names = {one.name for one in found.dropped}
    assert {"MY1", "MY2"} <= names
    largest = contributions(robot.system, [samples], found.full.values).max(axis=0)
    assert {robot.system.names[k] for k in np.flatnonzero(largest < 0.01)} == names
    assert all(one.because < 0.01 for one in found.dropped)
    assert 0.0 < found.cost.max() < 0.01
    assert (found.gain > 0.99).all()
    assert found.gain.max() > 1.5
    assert "MY1" in found.summary()


# --- elimination ------------------------------------------------------------------------------------------


def test_the_first_step_is_the_f_test_of_statsmodels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5)) @ rng.normal(size=(5, 5))
    y = X[:, :3] @ [3.0, -2.0, 4.0] + rng.normal(size=80)
    fit = sm.OLS(y, X).fit()
    statistics = fit.tvalues**2
    found = by_elimination(single(X, y))
    first = found.dropped[0]
    assert first.name == f"x{np.argmin(statistics)}"
    assert first.because == pytest.approx(statistics.min(), rel=1e-9)
    kept = [f"x{k}" for k in range(5) if k not in found.kept]
    test = fit.f_test(np.eye(5)[[int(name[1:]) for name in kept]])
    assert found.joint_test == pytest.approx(float(test.fvalue), rel=1e-9)


def test_elimination_is_that_of_statsmodels_step_by_step():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 8))
    y = X[:, [0, 5]] @ [1.0, 0.5] + rng.normal(size=60)
    kept, order = list(range(8)), []
    while True:
        fit = sm.OLS(y, X[:, kept]).fit()
        least = int(np.argmax(fit.pvalues))
        if fit.pvalues[least] < 0.05:
            break
        order.append(kept.pop(least))
    found = by_elimination(single(X, y))
    assert [one.name for one in found.dropped] == [f"x{k}" for k in order]
    assert found.kept.tolist() == kept
    assert found.solution.values == pytest.approx(np.asarray(fit.params), rel=1e-9)


def test_the_level_is_the_share_of_idle_unknowns_that_stay():
    """With orthogonal columns tests do not influence each other: 5 % of 600 idle ones, within 3 sigma."""
    stayed = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = np.linalg.qr(rng.normal(size=(60, 7)))[0] * 8.0
        y = X[:, 0] * 5.0 + rng.normal(size=60)
        stayed += len(by_elimination(single(X, y)).kept) - 1
    assert stayed / 600.0 == pytest.approx(0.05, abs=3.0 * np.sqrt(0.05 * 0.95 / 600.0))


def test_correlated_rows_count_as_fewer():
    """Every row four times: with a quarter of the rows independent, tests are as they were."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 4))
    y = X @ [1.0, 0.0, 0.1, 0.2] + 0.5 * rng.normal(size=50)
    once = by_elimination(single(X, y))
    repeated = by_elimination(single(np.repeat(X, 4, axis=0), np.repeat(y, 4)), independent=0.25)
    assert [one.name for one in once.dropped] == [one.name for one in repeated.dropped]
    assert [d.because for d in repeated.dropped] == pytest.approx([d.because for d in once.dropped], rel=1e-9)


def test_an_arm_without_its_idle_parameters(noisy):
    robot, _ = noisy
    motion = waves(robot.robot, seconds=20.0, rate_hz=50.0)
    reduction = reduce(robot.system, samples_of(robot, motion, effort_noise=0.02))
    found = by_elimination(reduction)
    assert {one.name for one in found.dropped} == {"MY1", "MY2"}
    assert found.joint_test < found.joint_limit
    assert found.cost.max() < 0.002
    idle = [robot.system.names.index(one.name) for one in found.dropped]
    assert not found.values[idle].any()
    # the values of the essential ones come nearer to the truth on the whole
    near = np.linalg.norm((found.values - robot.truth)[found.kept] / robot.truth[found.kept])
    before = np.linalg.norm((found.full.values - robot.truth)[found.kept] / robot.truth[found.kept])
    assert near < before


def test_unknowns_that_nothing_determines_go_first():
    robot = arm("planar2")
    motion = waves(robot.robot, seconds=5.0, rate_hz=50.0)
    still = samples_of(
        robot,
        type(motion)(
            joint_names=motion.joint_names,
            times=motion.times,
            q=motion.q * [1.0, 0.0],
            qd=motion.qd * [1.0, 0.0],
            qdd=motion.qdd * [1.0, 0.0],
        ),
        effort_noise=0.1,
    )
    reduction = reduce(robot.system, still)
    assert weighted(reduction).undetermined.any()
    found = by_elimination(reduction)
    assert not found.solution.undetermined.any()
    assert np.isfinite(found.solution.condition)
    assert "Fv2" in {one.name for one in found.dropped}


def test_a_restricted_reduction_is_that_of_fewer_columns(noisy):
    robot, samples = noisy
    kept = np.array([0, 2, 5, 9, 12])
    W, tau = stacked(robot, samples)
    small = restricted(reduce(robot.system, samples), kept)
    values = np.linalg.lstsq(W[:, kept], tau, rcond=None)[0]
    sums = np.sum((W[:, kept] @ values - tau).reshape(-1, 2) ** 2, axis=0)
    assert small.residuals(values) == pytest.approx(sums, rel=1e-10)
    assert errors(small, values) == pytest.approx(
        np.sqrt(sums / np.sum(tau.reshape(-1, 2) ** 2, axis=0)), rel=1e-10
    )


@pytest.mark.parametrize(("level", "independent"), [(0.0, 1.0), (1.0, 1.0), (0.05, 0.0), (0.05, 1.5)])
def test_impossible_tests(level, independent):
    with pytest.raises(ArgumentError, match="level must be"):
        by_elimination(single(np.eye(3), np.ones(3)), level, independent)


def test_nothing_essential_is_an_error():
    X = np.random.default_rng(3).normal(size=(40, 2))
    y = np.random.default_rng(4).normal(size=40)
    y -= X @ np.linalg.lstsq(X, y, rcond=None)[0]
    with pytest.raises(ArgumentError, match="no unknown is essential"):
        by_elimination(single(X, y))


# --- statistics over trajectories -------------------------------------------------------------------------


def test_the_table_over_trajectories():
    values = np.random.default_rng(5).normal(size=(10, 3))
    table = trajectories_table(("a", "b", "c"), values)
    described = sm.stats.DescrStatsW(values)
    assert table.mean == pytest.approx(described.mean)
    assert table.deviation_of_mean == pytest.approx(described.std_mean)
    assert (table.smallest <= table.mean).all()
    assert (table.mean <= table.largest).all()
    text = table.text(marked=["b"])
    assert len(text.splitlines()) == 4
    assert "2 * b" in text
    assert f"{values[:, 2].max():.6f}" in text


@pytest.mark.parametrize("values", [np.zeros((1, 3)), np.zeros((5, 2)), np.zeros(3)])
def test_a_table_needs_several_fits(values):
    with pytest.raises(ArgumentError, match="at least 2 fits"):
        trajectories_table(("a", "b", "c"), values)


# --- perturbations ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("norm", "order"), [("1", 1), ("2", 2), ("inf", np.inf)])
def test_condition_numbers_of_square_matrices_are_numpys(norm, order):
    A = np.random.default_rng(6).normal(size=(5, 5))
    assert condition_number(A, norm) == pytest.approx(float(np.linalg.cond(A, order)), rel=1e-9)


@pytest.mark.parametrize("norm", ["1", "2", "inf"])
def test_bounds_hold_and_are_attained(norm):
    rng = np.random.default_rng(7)
    ratios = []
    for _ in range(200):
        W = rng.normal(size=(6, 6)) * 10.0 ** rng.uniform(-2, 2, size=6)
        Y = W @ rng.normal(size=6)
        of_effort = effort_error(W, Y, 1e-6 * rng.normal(size=6), norm)
        of_columns = column_error(W, Y, 1e-6 * rng.normal(size=(6, 6)), norm)
        assert of_effort.error <= of_effort.bound * (1.0 + 1e-6)
        assert of_columns.error <= of_columns.bound * (1.0 + 1e-6)
        ratios.append(of_effort.ratio)
    U, s, Vt = np.linalg.svd(rng.normal(size=(6, 6)))
    worst = effort_error(U * s @ Vt, U[:, 0], 1e-6 * U[:, -1], "2")
    assert worst.ratio == pytest.approx(1.0, rel=1e-6)
    assert min(ratios) > 1.0


def test_columns_that_depend_on_each_other():
    assert condition_number(np.ones((4, 2))) == np.inf
    assert condition_number(np.ones((1, 2))) == np.inf
    assert scaling([[1.0, -4.0], [0.5, 2.0]]) == 8.0
    assert scaling([[1.0, 0.0]]) == np.inf
    with pytest.raises(ArgumentError, match="norm"):
        condition_number(np.eye(2), "3")
