"""Values from reductions: digits beside exact solutions, weights, priors, what data do not decide."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import statsmodels.api as sm

from dynid.errors import ArgumentError
from dynid.fit.reduction import reduce, triangle
from dynid.fit.solve import Prior, least_squares, ordinary, solve, solve_triangle, weighted
from helpers_fit import arm, samples_of, stacked, waves

EPS = np.finfo(float).eps


# --- digits -----------------------------------------------------------------------------------------------


def exact_solution(X: np.ndarray, y: np.ndarray) -> list[Fraction]:
    """Of the normal equations, in rational numbers."""
    rows = [[Fraction(float(v)) for v in row] for row in np.column_stack([X, y])]
    k = X.shape[1]
    A = [[sum(row[i] * row[j] for row in rows) for j in range(k + 1)] for i in range(k)]
    for i in range(k):
        pivot = next(r for r in range(i, k) if A[r][i] != 0)
        A[i], A[pivot] = A[pivot], A[i]
        A[i] = [a / A[i][i] for a in A[i]]
        for r in range(k):
            if r != i:
                A[r] = [a - A[r][i] * b for a, b in zip(A[r], A[i], strict=True)]
    return [A[i][k] for i in range(k)]


def digits(found: np.ndarray, exact: list[Fraction]) -> float:
    """Correct digits of the worst coefficient, 16 at the most."""
    errors = [abs(Fraction(float(b)) - x) / (abs(x) or 1) for b, x in zip(found, exact, strict=True)]
    return min(-float(np.log10(max(float(max(errors)), 1e-16))), 16.0)


def statsmodels_digits(X: np.ndarray, y: np.ndarray, exact: list[Fraction]) -> float:
    return digits(np.asarray(sm.OLS(y, X).fit(method="qr").params), exact)


def wampler(degree: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Polynomials at 0 .. 20: coefficients of 1 and no residual, of 0.1^k, or with a large residual."""
    X = np.vander(np.arange(21.0), degree + 1, increasing=True)
    if kind == "decreasing":
        return X, X @ 0.1 ** np.arange(degree + 1)
    half = [759.0, -2048.0, 2048.0, -2048.0, 2523.0, -2048.0, 2048.0, -2048.0, 1838.0, -2048.0]
    residual = np.array([*half, 2048.0, *half[::-1]])
    return X, X.sum(axis=1) + (residual if kind == "residual" else 0.0)


@pytest.mark.parametrize("kind", ["exact", "decreasing", "residual"])
@pytest.mark.parametrize("degree", range(1, 11))
def test_digits_of_polynomials(degree, kind):
    X, y = wampler(degree, kind)
    exact = exact_solution(X, y)
    assert digits(least_squares(X, y), exact) >= statsmodels_digits(X, y, exact) - 0.5


def longley() -> tuple[np.ndarray, np.ndarray]:
    data = sm.datasets.longley.load()
    return sm.add_constant(np.asarray(data.exog, dtype=float)), np.asarray(data.endog, dtype=float)


def test_digits_of_longleys_data():
    X, y = longley()
    exact = exact_solution(X, y)
    assert digits(least_squares(X, y), exact) >= statsmodels_digits(X, y, exact) - 0.5
    constant = max(least_squares(X, y), key=abs)
    assert constant == pytest.approx(-3482258.63459582, rel=1e-13)  # as NIST certifies it


@pytest.mark.parametrize("seed", range(6))
def test_digits_with_columns_of_very_different_size(seed):
    rng = np.random.default_rng(seed)
    for X, y in (longley(), wampler(6, "exact"), wampler(8, "residual")):
        scaled = X * 10.0 ** rng.permutation(np.linspace(-8.0, 8.0, X.shape[1]))
        exact = exact_solution(scaled, y)
        assert digits(least_squares(scaled, y), exact) >= statsmodels_digits(scaled, y, exact) - 0.5


@pytest.mark.parametrize("degree", range(1, 11))
def test_a_triangle_alone_keeps_the_digits_of_a_stable_method(degree):
    """Without the rows nothing can be refined: errors of columns' shares are condition * eps times a few."""
    X, y = wampler(degree, "decreasing")
    exact = np.array([float(x) for x in exact_solution(X, y)])
    solution = solve_triangle(triangle(np.column_stack([X, y])), 21.0, np.ones(1))
    lengths = np.linalg.norm(X, axis=0)
    errors = np.linalg.norm((solution.values - exact) * lengths) / np.linalg.norm(exact * lengths)
    assert errors < 30.0 * solution.scaled_condition * EPS


# --- methods ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def noisy():
    robot = arm("planar2")
    noise = np.array([0.5, 0.05])
    return robot, samples_of(robot, waves(robot.robot, rate_hz=50.0), effort_noise=noise)


def test_ordinary_least_squares_is_statsmodels(noisy):
    robot, samples = noisy
    W, tau = stacked(robot, samples)
    fit = sm.OLS(tau, W).fit()
    found = ordinary(reduce(robot.system, samples))
    assert found.values == pytest.approx(fit.params, rel=1e-9, abs=1e-11)
    assert np.sqrt(np.diag(found.inverse)) == pytest.approx(fit.bse, rel=1e-9)
    assert found.sigma == pytest.approx(np.full(2, np.sqrt(fit.mse_resid)), rel=1e-9)
    assert found.condition == pytest.approx(np.linalg.cond(W), rel=1e-9)
    scaled = W / np.linalg.norm(W, axis=0)
    assert found.scaled_condition == pytest.approx(np.linalg.cond(scaled), rel=1e-9)


def test_weighted_least_squares_finds_each_joints_noise(noisy):
    robot, samples = noisy
    W, tau = stacked(robot, samples)
    found = weighted(reduce(robot.system, samples))
    rows = len(tau) // 2
    assert found.sigma == pytest.approx([0.5, 0.05], rel=4.0 / np.sqrt(2.0 * rows))
    fit = sm.WLS(tau, W, weights=1.0 / np.tile(found.sigma, rows) ** 2).fit()
    assert found.values == pytest.approx(fit.params, rel=1e-9, abs=1e-11)
    assert np.sqrt(np.diag(found.inverse)) == pytest.approx(fit.bse / np.sqrt(fit.scale), rel=1e-9)
    # a fixed point: residuals by freedom give the sigmas again
    residuals = (W @ found.values - tau).reshape(-1, 2)
    hat = np.einsum("ij,jk,ik->i", W, found.inverse, W) / np.tile(found.sigma, rows) ** 2
    freedom = rows - hat.reshape(-1, 2).sum(axis=0)
    assert np.sqrt(np.sum(residuals**2, axis=0) / freedom) == pytest.approx(found.sigma, rel=1e-5)


def test_exact_data_have_deviations_of_rounding():
    robot = arm("planar2")
    found = weighted(reduce(robot.system, samples_of(robot, waves(robot.robot, rate_hz=50.0))))
    assert found.values == pytest.approx(robot.truth, abs=1e-11)
    assert np.isfinite(found.inverse).all()
    assert (found.sigma < 1e-10).all()


# --- priors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [1e-3, 0.1, 10.0])
def test_a_prior_is_a_ridge_about_its_values(noisy, weight):
    robot, samples = noisy
    W, tau = stacked(robot, samples)
    sigma = np.array([0.5, 0.05])
    rows = 1.0 / np.tile(sigma, len(tau) // 2)
    W, tau = W * rows[:, None], tau * rows
    target = 1.2 * robot.truth
    pull = np.diag(weight * np.linalg.norm(W, axis=0))
    expected = np.linalg.lstsq(np.concatenate([W, pull]), np.concatenate([tau, pull @ target]), rcond=None)[0]
    found = solve(reduce(robot.system, samples), sigma, Prior(target, weight))
    assert found.values == pytest.approx(expected, rel=1e-9, abs=1e-10)
    assert found.inverse == pytest.approx(np.linalg.inv(W.T @ W + pull.T @ pull), rel=1e-8, abs=1e-12)
    assert found.condition == pytest.approx(np.linalg.cond(W), rel=1e-9)  # of the data alone


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_an_impossible_weight(weight):
    with pytest.raises(ArgumentError, match="prior's weight"):
        Prior(np.zeros(2), weight)


# --- what data do not decide ------------------------------------------------------------------------------


def undecided():
    """x0 and x1 always together, x3 never: three columns of five directions."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 40))
    X = np.column_stack([a, 2.0 * a, b, np.zeros(40)])
    return X, X @ [1.0, 1.0, -2.0, 5.0] + 0.1 * rng.normal(size=40)


def test_undetermined_unknowns_are_marked_and_nothing_else():
    X, y = undecided()
    found = solve_triangle(triangle(np.column_stack([X, y])), 40.0, np.ones(1))
    assert found.undetermined.tolist() == [True, True, False, True]
    assert found.condition == np.inf
    assert found.scaled_condition == np.inf
    fit = np.linalg.lstsq(X[:, [0, 2]], y, rcond=None)[0]
    assert found.values[2] == pytest.approx(fit[1], rel=1e-12)
    assert found.values[0] + 2.0 * found.values[1] == pytest.approx(fit[0], rel=1e-12)
    variances = np.diag(found.inverse)
    assert np.isinf(variances[[0, 1, 3]]).all()
    a, b = X[:, 0] / np.linalg.norm(X[:, 0]), X[:, 2]
    assert variances[2] == pytest.approx(1.0 / (b @ b - (a @ b) ** 2), rel=1e-10)


def test_a_prior_decides_what_data_leave_open():
    X, y = undecided()
    R = triangle(np.column_stack([X, y]))
    target = np.array([3.0, 0.0, 7.0, 4.0])
    kept = solve_triangle(R, 40.0, np.ones(1), Prior(target, 0.0))
    assert kept.undetermined.tolist() == [True, True, False, True]
    assert kept.values[3] == 4.0
    # of all answers that fit equally well, the nearest to the prior, with columns of one length
    lengths = np.linalg.norm(X[:, :2], axis=0)
    free = solve_triangle(R, 40.0, np.ones(1)).values
    along = np.array([2.0, -1.0]) * lengths
    moved = (kept.values - free)[:2] * lengths
    assert along[0] * moved[1] == pytest.approx(along[1] * moved[0], abs=1e-9)
    assert along @ ((kept.values - target)[:2] * lengths) == pytest.approx(0.0, abs=1e-9)
    held = solve_triangle(R, 40.0, np.ones(1), Prior(target, 1e-4))
    assert not held.undetermined[:3].any()
    assert held.values[:3] == pytest.approx(kept.values[:3], rel=1e-5)


def test_fewer_rows_than_unknowns():
    X = np.random.default_rng(1).normal(size=(3, 5))
    found = solve_triangle(triangle(np.column_stack([X, X @ np.ones(5)])), 3.0, np.ones(1))
    assert found.undetermined.all()
    assert X @ found.values == pytest.approx(X @ np.ones(5))


def test_a_joint_that_never_moves_leaves_its_own_unknowns_open():
    robot = arm("planar2")
    motion = waves(robot.robot, rate_hz=50.0)
    still = type(motion)(
        joint_names=motion.joint_names,
        times=motion.times,
        **{name: getattr(motion, name) * [1.0, 0.0] for name in ("q", "qd", "qdd")},
    )
    found = weighted(reduce(robot.system, samples_of(robot, still, effort_noise=0.01)))
    open_ones = {robot.system.names[k] for k in np.flatnonzero(found.undetermined)}
    assert open_ones >= {"Fv2", "Fc2", "Ia2"}
    assert not open_ones & {"Fv1", "Fc1"}
    assert np.isfinite(found.values).all()
