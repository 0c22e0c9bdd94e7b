"""Robust fits: outliers do not spoil them, and without outliers they cost little."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.integrate import quad
from scipy.stats import norm

from dynid.errors import ArgumentError
from dynid.fit.reduction import Reduction, reduce
from dynid.fit.robust import (
    TUNING,
    loss_slopes,
    loss_weights,
    overconfidence,
    robust,
    row_residuals,
    spreads,
)
from dynid.fit.solve import Prior, weighted
from dynid.log.prepare import prepare
from helpers_fit import arm, log_of, samples_of, stacked, waves

NORMS = {"huber": sm.robust.norms.HuberT(1.345), "tukey": sm.robust.norms.TukeyBiweight(4.685)}


@pytest.fixture(scope="module")
def spoiled():
    """One row in ten has an effort that is far off, in one direction."""
    robot = arm("planar2")
    samples = samples_of(robot, waves(robot.robot, seconds=20.0, rate_hz=50.0), effort_noise=0.2)
    rng = np.random.default_rng(1)
    hits = rng.random(samples.tau.shape) < 0.1
    return (
        robot,
        samples,
        replace(samples, tau=samples.tau + np.where(hits, 15.0 + 5.0 * rng.random(hits.shape), 0.0)),
        hits,
    )


@pytest.mark.parametrize("loss", TUNING)
def test_weights_are_those_of_statsmodels(loss):
    u = np.linspace(-10.0, 10.0, 401)
    assert loss_weights(u, loss) == pytest.approx(NORMS[loss].weights(u), abs=1e-12)


@pytest.mark.parametrize("loss", TUNING)
def test_slopes_are_those_of_statsmodels(loss):
    u = np.linspace(-10.0, 10.0, 402)
    found = loss_slopes(loss_weights(u, loss), loss)
    assert found == pytest.approx(NORMS[loss].psi_deriv(u), abs=1e-9)


def test_deviations_know_that_weights_were_chosen():
    """Of normal residuals Huber's weights keep .96 of the rows' weight, but only .82 of their pull."""
    u = np.random.default_rng(0).normal(size=200_000)
    inner = 2.0 * norm.cdf(1.345) - 1.0
    outer = 1.345 * quad(lambda x: 2.0 * norm.pdf(x) / x, 1.345, np.inf)[0]
    expected = (inner + outer) / inner
    assert overconfidence([loss_weights(u, "huber")], "huber") == pytest.approx(expected, rel=0.01)
    assert overconfidence([np.ones((5, 2)), np.zeros((3, 2))], "huber") == 1.0


@pytest.mark.parametrize("loss", TUNING)
def test_a_single_joint_is_fitted_as_by_statsmodels(loss):
    """The other joint has no effort to speak of; the spread is the median about zero, as there."""
    robot = arm("planar2")
    samples = samples_of(robot, waves(robot.robot, seconds=10.0, rate_hz=50.0), effort_noise=0.2)
    rng = np.random.default_rng(2)
    samples = replace(samples, tau=samples.tau + np.where(rng.random(samples.tau.shape) < 0.05, 10.0, 0.0))
    samples = replace(samples, weights=np.stack([np.zeros(500), np.ones(500)], axis=1))
    found = robust(robot.system, samples, loss)
    columns = robot.system.columns[1]
    W, tau = stacked(robot, samples)
    model = sm.RLM(tau[1::2], W[1::2][:, columns], M=NORMS[loss])
    fit = model.fit(maxiter=500, tol=1e-12)
    assert found.solution.values[columns] == pytest.approx(fit.params, rel=2e-3, abs=2e-3)
    others = np.setdiff1d(np.arange(len(robot.truth)), columns)
    assert found.solution.undetermined[others].all()


def test_outliers_do_not_spoil_the_values(spoiled):
    robot, clean, dirty, hits = spoiled
    wanted = weighted(reduce(robot.system, clean))
    std = np.sqrt(np.diag(wanted.inverse))
    least = np.abs(weighted(reduce(robot.system, dirty)).values - robot.truth) / std
    for loss, allowed in (("huber", 0.2), ("tukey", 0.02)):
        found = robust(robot.system, dirty, loss)
        errors = np.abs(found.solution.values - robot.truth) / std
        assert errors.max() < allowed * least.max()
    assert np.linalg.norm(errors) < 3.0 * np.linalg.norm((wanted.values - robot.truth) / std)
    weights = found.weights[0]
    assert weights[hits].max() < 0.01
    assert weights[~hits].mean() > 0.85
    assert found.solution.sigma == pytest.approx([0.2, 0.2], rel=0.15)


def test_normal_noise_costs_five_percent():
    """The tuning constants stand for an efficiency of 95 %: variances 1 / 0.95 of those of least squares."""
    robot = arm("planar2")
    motion = waves(robot.robot, seconds=5.0, rate_hz=50.0)
    losses: dict[str, list[np.ndarray]] = {"least": [], "huber": [], "tukey": []}
    for seed in range(40):
        samples = samples_of(robot, motion, effort_noise=0.2, seed=seed)
        losses["least"].append(weighted(reduce(robot.system, samples)).values)
        for loss in TUNING:
            losses[loss].append(robust(robot.system, samples, loss).solution.values)
    variances = {loss: np.var(np.array(values) - robot.truth, axis=0) for loss, values in losses.items()}
    for loss in TUNING:
        ratio = np.exp(np.mean(np.log(variances[loss] / variances["least"])))
        assert 0.97 < ratio < 1.15


def test_several_logs_share_their_spread(spoiled):
    robot, _, dirty, _ = spoiled
    half = len(dirty.time) // 2
    parts = [
        replace(
            dirty,
            **{name: getattr(dirty, name)[rows] for name in ("time", "q", "qd", "qdd", "tau", "weights")},
            segments=((0, rows.stop - rows.start),),
        )
        for rows in (slice(0, half), slice(half, 2 * half))
    ]
    together, one = robust(robot.system, parts, "tukey"), robust(robot.system, dirty, "tukey")
    assert together.solution.values == pytest.approx(one.solution.values, rel=1e-6, abs=1e-9)
    assert np.concatenate(together.weights) == pytest.approx(one.weights[0], abs=1e-6)
    assert [len(w) for w in together.weights] == [half, half]


def test_residuals_are_those_of_the_filtered_equations():
    robot = arm("planar2")
    log = log_of(robot, waves(robot.robot, rate_hz=200.0), position_noise=1e-4, effort_noise=0.02)
    samples = prepare(log, robot.robot, cutoff_hz=10.0)
    found = row_residuals(robot.system, samples, robot.truth)
    efforts = robot.model.efforts(samples.q, samples.qd, samples.qdd)
    assert found == pytest.approx(samples.filtered(samples.tau - efforts), abs=1e-9)


def test_spreads_know_what_to_leave_out():
    rng = np.random.default_rng(3)
    residuals = rng.normal(size=(20000, 2)) * [1.0, 3.0]
    weights = np.ones_like(residuals)
    residuals[:4000, 0], weights[:4000, 0] = 1e6, 0.0
    assert spreads(residuals, weights) == pytest.approx([1.0, 3.0], rel=0.05)
    assert spreads(np.zeros((3, 1)), np.ones((3, 1))) == pytest.approx([1.0])
    assert spreads(np.ones((3, 1)), np.zeros((3, 1))) == pytest.approx([1.0])


def test_a_prior_counts_as_in_other_fits(spoiled):
    robot, _, dirty, _ = spoiled
    free = robust(robot.system, dirty, "tukey").solution.values
    held = robust(robot.system, dirty, "tukey", prior=Prior(np.zeros_like(free), 100.0)).solution.values
    assert np.abs(held).max() < 0.05 * np.abs(free).max()


def test_an_unknown_loss_is_named(spoiled):
    with pytest.raises(ArgumentError, match="huber"):
        robust(spoiled[0].system, spoiled[1], "hubert")


def test_a_reduction_is_left_as_it_was(spoiled):
    """Fits share samples: weights that a robust fit chose belong to it alone."""
    robot, _, dirty, _ = spoiled
    before: Reduction = reduce(robot.system, dirty)
    robust(robot.system, dirty, "huber")
    assert reduce(robot.system, dirty).efforts == pytest.approx(before.efforts)
    assert dirty.weights.min() == 1.0
