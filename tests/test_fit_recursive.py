"""The filter for samples as they come: the batch's values, whatever the order and the steps."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dynid.errors import ArgumentError
from dynid.fit.recursive import follow, nothing_known, prior_knowledge
from dynid.fit.reduction import reduce
from dynid.fit.solve import solve
from dynid.log.prepare import prepare
from helpers_fit import arm, log_of, samples_of, waves


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    W = rng.normal(size=(300, 6)) * 10.0 ** np.arange(-3, 3)
    return W, W @ rng.normal(size=6) + 0.1 * rng.normal(size=300)


def test_one_row_after_the_other_gives_the_batch(problem):
    W, y = problem
    known = nothing_known(6)
    for row, effort in zip(W, y, strict=True):
        known = known.updated(row, effort, 0.1)
    batch, squares, *_ = np.linalg.lstsq(W, y, rcond=None)
    assert known.values == pytest.approx(batch, rel=1e-10)
    assert known.covariance == pytest.approx(0.01 * np.linalg.inv(W.T @ W), rel=1e-9)
    assert known.residual == pytest.approx(float(squares[0]) / 0.01, rel=1e-10)
    assert known.rows == 300


def test_steps_and_their_order_do_not_matter(problem):
    W, y = problem
    one, other = nothing_known(6), nothing_known(6)
    for part in np.split(np.arange(300), [1, 2, 50, 51, 200]):
        one = one.updated(W[part], y[part])
    for part in np.split(np.random.default_rng(1).permutation(300), 30):
        other = other.updated(W[part], y[part])
    assert one.values == pytest.approx(other.values, rel=1e-10)


def test_an_ill_conditioned_problem_keeps_its_digits():
    """cond(W)^2 is far beyond 1 / eps: the covariance form of the filter would have nothing left."""
    rng = np.random.default_rng(2)
    W = np.vander(np.linspace(0.0, 1.0, 60), 13)
    truth = rng.integers(-5, 6, 13).astype(float)
    y = np.array([float(sum(Fraction(w) * Fraction(b) for w, b in zip(r, truth, strict=True))) for r in W])
    known = nothing_known(13)
    for row, effort in zip(W, y, strict=True):
        known = known.updated(row, effort)
    cond = np.linalg.cond(W)
    assert cond**2 * np.finfo(float).eps > 50.0
    bound = 10.0 * cond * np.finfo(float).eps * np.linalg.norm(truth)
    assert np.linalg.norm(known.values - truth) < bound


def test_forgetting_weighs_rows_by_their_age(problem):
    W, y = problem
    known = nothing_known(6, forgetting=0.97)
    for row, effort in zip(W, y, strict=True):
        known = known.updated(row, effort)
    root = np.sqrt(0.97 ** np.arange(299, -1, -1.0))
    expected = np.linalg.lstsq(W * root[:, None], y * root, rcond=None)[0]
    assert known.values == pytest.approx(expected, rel=1e-10)
    assert known.rows == pytest.approx(np.sum(root**2))


def test_a_change_is_followed():
    rng = np.random.default_rng(3)
    W = rng.normal(size=(2000, 2))
    truth = np.where(np.arange(2000)[:, None] < 1000, [1.0, 2.0], [3.0, -1.0])
    y = np.sum(W * truth, axis=1) + 0.01 * rng.normal(size=2000)
    forgetful, stubborn = nothing_known(2, forgetting=0.98), nothing_known(2)
    for row, effort in zip(W, y, strict=True):
        forgetful, stubborn = forgetful.updated(row, effort), stubborn.updated(row, effort)
    assert forgetful.values == pytest.approx([3.0, -1.0], abs=0.01)
    assert np.abs(stubborn.values - [3.0, -1.0]).max() > 0.5


def test_a_prior_is_rows_of_its_own(problem):
    W, y = problem
    mean = np.arange(6.0)
    root = np.random.default_rng(4).normal(size=(6, 6))
    C = root @ root.T + np.eye(6)
    known = prior_knowledge(mean, C)
    assert known.values == pytest.approx(mean)
    assert known.covariance == pytest.approx(C, rel=1e-9)
    known = known.updated(W[:3], y[:3], 0.1)
    information = np.linalg.inv(C) + 100.0 * W[:3].T @ W[:3]
    expected = np.linalg.solve(information, np.linalg.solve(C, mean) + 100.0 * W[:3].T @ y[:3])
    assert known.values == pytest.approx(expected, rel=1e-8)


def test_what_no_row_has_decided_is_marked(problem):
    W, y = problem
    known = nothing_known(6).updated(W[:4], y[:4])
    assert known.solution.undetermined.all()
    assert np.isinf(np.diag(known.covariance)).all()
    assert not known.updated(W[4:20], y[4:20]).solution.undetermined.any()


def test_samples_through_their_filter_give_the_reduction():
    """The sequential estimate of a log equals the batch one to 1e-10."""
    robot = arm("planar2")
    motion = waves(robot.robot, rate_hz=200.0, seconds=8.0)
    log = log_of(robot, motion, position_noise=1e-4, effort_noise=0.02)
    samples = prepare(log, robot.robot, cutoff_hz=10.0)
    sigma = np.array([0.3, 0.1])
    steps = list(follow(robot.system, samples, sigma))
    batch = solve(reduce(robot.system, samples), sigma)
    assert steps[-1][1].values == pytest.approx(batch.values, rel=1e-10)
    assert steps[-1][1].rows == samples.weights.sum()
    times = np.array([time for time, _ in steps])
    assert times == pytest.approx(samples.time[samples.rows])


def test_following_may_go_on_where_another_log_ended():
    robot = arm("planar2")
    logs = [
        samples_of(
            robot, waves(robot.robot, seconds=3.0, rate_hz=50.0, seed=seed), effort_noise=0.1, seed=seed
        )
        for seed in (1, 2)
    ]
    known = None
    for samples in logs:
        *_, (_, known) = follow(robot.system, samples, start=known)
    batch = solve(reduce(robot.system, logs[0]) + reduce(robot.system, logs[1]), np.ones(2))
    assert known.values == pytest.approx(batch.values, rel=1e-10)


@pytest.mark.parametrize("forgetting", [0.0, -0.5, 1.01, float("nan")])
def test_impossible_forgetting(forgetting):
    with pytest.raises(ArgumentError, match="forgetting factor"):
        nothing_known(3, forgetting=forgetting)


def test_bad_rows_are_refused():
    known = nothing_known(3)
    with pytest.raises(ArgumentError, match="2 columns"):
        known.updated([1.0, 2.0], 1.0)
    with pytest.raises(ArgumentError, match="finite"):
        known.updated([1.0, np.nan, 2.0], 1.0)
    with pytest.raises(ArgumentError, match="finite"):
        known.updated([1.0, 1.0, 2.0], 1.0, 0.0)


@pytest.mark.parametrize("C", [np.eye(2), -np.eye(3), np.zeros((3, 3))])
def test_a_prior_needs_a_covariance(C):
    with pytest.raises(ArgumentError, match="covariance"):
        prior_knowledge(np.zeros(3), C)
