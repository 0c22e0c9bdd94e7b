"""Total least squares: against its definition, SciPy's minimum of that, and the truth behind noise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from dynid.errors import ArgumentError
from dynid.fit.reduction import reduce, triangle
from dynid.fit.solve import weighted
from dynid.fit.total import column_errors, fit_total, total_least_squares
from dynid.log.prepare import prepare
from helpers_fit import arm, log_of, waves


def made(seed: int, sizes: np.ndarray, *, rows: int = 400, mixing: np.ndarray | None = None):
    """Columns with errors of these sizes, mixed, efforts with errors of 0.1, and the truth."""
    rng = np.random.default_rng(seed)
    p = len(sizes)
    exact = rng.normal(size=(rows, p)) + rng.normal(size=p)
    truth = np.arange(1.0, p + 1.0)
    E = 0.1 * rng.normal(size=(rows, p)) * sizes
    W = exact + (E if mixing is None else E @ mixing)
    return W, exact @ truth + 0.1 * rng.normal(size=rows), truth


def cost(W, y, C, beta):
    """The sum that total least squares minimises, written as orthogonal regression."""
    return np.sum((W @ beta - y) ** 2) / (1.0 + beta @ C @ beta)


@pytest.mark.parametrize("sizes", [[1.0, 1.0, 1.0], [0.5, 0.0, 2.0], [0.0, 0.0, 1.0]])
def test_values_minimise_the_definition(sizes):
    sizes = np.array(sizes)
    W, y, _ = made(0, sizes)
    found = total_least_squares(triangle(np.column_stack([W, y])), 400.0, sizes).values
    best = cost(W, y, np.diag(sizes**2), found)
    rng = np.random.default_rng(1)
    for step in 1e-3 * rng.normal(size=(200, 3)):
        assert cost(W, y, np.diag(sizes**2), found + step) > best
    slope = [
        cost(W, y, np.diag(sizes**2), found + e) - cost(W, y, np.diag(sizes**2), found - e)
        for e in 1e-5 * np.eye(3)
    ]
    assert np.array(slope) / 2e-5 == pytest.approx(np.zeros(3), abs=1e-4 * best)


def test_scipys_minimum_agrees():
    sizes = np.array([0.5, 1.0, 2.0])
    W, y, truth = made(2, sizes)
    fit = minimize(lambda beta: cost(W, y, np.diag(sizes**2), beta), truth, method="BFGS", tol=1e-10)
    found = total_least_squares(triangle(np.column_stack([W, y])), 400.0, sizes)
    assert found.values == pytest.approx(fit.x, rel=1e-5)
    assert found.sigma == pytest.approx(0.1, rel=0.15)  # chance: 1 / sqrt(2 400) = 3.5 %


def test_without_errors_in_columns_it_is_least_squares():
    W, y, _ = made(3, np.zeros(3))
    found = total_least_squares(triangle(np.column_stack([W, y])), 400.0, np.zeros(3))
    assert found.values == pytest.approx(np.linalg.lstsq(W, y, rcond=None)[0], rel=1e-12)
    assert found.covariance == pytest.approx(found.sigma**2 * np.linalg.inv(W.T @ W), rel=1e-9)


def test_correlated_errors_are_the_same_problem_turned():
    """Errors E M of columns W are errors E of W M^-1, whose values are M beta."""
    M = np.random.default_rng(4).normal(size=(3, 3))
    sizes = np.array([1.0, 0.5, 0.0])
    W, y, _ = made(5, sizes, mixing=M)
    C = M.T @ np.diag(sizes**2) @ M
    found = total_least_squares(triangle(np.column_stack([W, y])), 400.0, C)
    turned = total_least_squares(triangle(np.column_stack([W @ np.linalg.inv(M), y])), 400.0, sizes)
    assert found.values == pytest.approx(np.linalg.solve(M, turned.values), rel=1e-7)
    best = cost(W, y, C, found.values)
    for step in 1e-3 * np.random.default_rng(6).normal(size=(100, 3)):
        assert cost(W, y, C, found.values + step) > best


def test_units_of_columns_do_not_matter():
    sizes = np.array([1.0, 0.0, 0.3])
    W, y, _ = made(7, sizes)
    units = np.array([1e-7, 1.0, 1e6])
    one = total_least_squares(triangle(np.column_stack([W, y])), 400.0, sizes).values
    other = total_least_squares(triangle(np.column_stack([W * units, y])), 400.0, sizes * units).values
    assert other * units == pytest.approx(one, rel=1e-8)


def test_neither_biased_nor_surer_than_it_is():
    sizes = np.array([3.0, 1.0, 0.0])
    found, least, covariances = [], [], []
    for seed in range(200):
        W, y, truth = made(seed, sizes)
        solution = total_least_squares(triangle(np.column_stack([W, y])), 400.0, sizes)
        found.append(solution.values)
        covariances.append(np.diag(solution.covariance))
        least.append(np.linalg.lstsq(W, y, rcond=None)[0])
    chance = np.std(found, axis=0) / np.sqrt(200.0)
    assert (np.abs(np.mean(found, axis=0) - truth) < 3.5 * chance).all()
    assert np.abs(np.mean(least, axis=0) - truth).max() > 20.0 * chance.max()
    assert np.sqrt(np.mean(covariances, axis=0)) == pytest.approx(
        np.std(found, axis=0), rel=0.18
    )  # 3.5 times 1 / sqrt(2 200)


def test_noise_of_encoders_does_not_bias_an_arm():
    """Errors of columns are taken from the samples alone; least squares on the same rows is far off."""
    robot = arm("planar2")
    motion = waves(robot.robot, seconds=20.0, rate_hz=500.0, size=0.5)
    least, total = [], []
    for seed in range(8):
        log = log_of(robot, motion, position_noise=2e-3, effort_noise=0.02, seed=seed)
        samples = prepare(log, robot.robot, cutoff_hz=10.0, standstill_speed=0.0)
        reduction = reduce(robot.system, samples)
        least.append(weighted(reduction).values - robot.truth)
        solution, whole = fit_total(robot.system, [samples], reduction)
        assert solution.values == pytest.approx(whole.values)
        total.append(whole.values - robot.truth)
    inertial = [robot.system.names.index(name) for name in ("ZZR1", "ZZ2", "MX2", "Ia2")]
    bias = np.abs(np.mean(least, axis=0))[inertial]
    assert (np.abs(np.mean(total, axis=0))[inertial] < 0.25 * bias).all()


def test_sizes_of_errors_are_those_of_the_noise():
    """Velocity is a column of its own (Fv): its error against that of the exact motion's velocity."""
    robot = arm("planar2")
    motion = waves(robot.robot, seconds=20.0, rate_hz=500.0)
    log = log_of(robot, motion, position_noise=2e-3, effort_noise=0.05)
    samples = prepare(log, robot.robot, cutoff_hz=10.0, standstill_speed=0.0)
    reduction = reduce(robot.system, samples)
    errors = column_errors(robot.system, [samples], reduction, robot.truth)
    exact = np.array([np.interp(samples.time, motion.times, column) for column in motion.qd.T]).T
    noise = samples.filtered(samples.qd - exact)
    of_rows = np.sqrt(np.sum((noise / errors.sigma) ** 2, axis=0) / reduction.rows.sum())
    at = [robot.system.names.index(name) for name in ("Fv1", "Fv2")]
    assert errors.sizes[at] == pytest.approx(of_rows, rel=0.15)
    offsets = [robot.system.names.index(name) for name in ("Fo1", "Fo2")]
    assert errors.sizes[offsets] == pytest.approx(0.0, abs=1e-12)
    clean = prepare(log_of(robot, motion), robot.robot, cutoff_hz=10.0, standstill_speed=0.0)
    least = column_errors(robot.system, [clean], reduce(robot.system, clean), robot.truth)
    assert (least.sigma < 0.05 * errors.sigma).all()


def test_what_cannot_be_answered():
    X = np.random.default_rng(8).normal(size=(30, 2))
    y = X @ [1.0, 2.0]
    R = triangle(np.column_stack([X, y]))
    with pytest.raises(ArgumentError, match="must be 2 sizes"):
        total_least_squares(R, 30.0, np.ones(3))
    with pytest.raises(ArgumentError, match="negative"):
        total_least_squares(R, 30.0, [-1.0, 1.0])
    with pytest.raises(ArgumentError, match="symmetric"):
        total_least_squares(R, 30.0, [[1.0, 2.0], [0.0, 1.0]])
    with pytest.raises(ArgumentError, match="depend on each other"):
        total_least_squares(triangle(np.column_stack([X[:, :1], X[:, :1], y])), 30.0, np.ones(2))
    with pytest.raises(ArgumentError, match="hide"):
        total_least_squares(np.eye(3), 30.0, np.ones(2))
