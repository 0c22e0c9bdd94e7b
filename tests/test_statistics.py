"""What values are worth: coloured noise against its definition, intervals, and what a choice leaves open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.linalg import toeplitz
from scipy.signal import lfilter
from scipy.stats import t as student

from dynid.fit.reduction import Reduction, triangle
from dynid.fit.runs import Runs
from dynid.fit.solve import Prior, ordinary, weighted
from dynid.fit.spread import spread
from dynid.statistics import correlation, interval_factor, noise_of, spectral_product, uncertainty

ROWS, MEMORY = 1500, 0.8


@dataclass(frozen=True)
class Equations:
    """Rows W beta = y of one joint, as a reduction and as a run."""

    W: np.ndarray
    y: np.ndarray

    @property
    def reduction(self) -> Reduction:
        names = tuple(f"x{k}" for k in range(self.W.shape[1]))
        R = triangle(np.column_stack([self.W, self.y]))
        return Reduction(names, (np.arange(len(names)),), (R,), np.array([float(len(self.y))]))

    @property
    def runs(self) -> Runs:
        panel = np.column_stack([self.W, self.y]).T
        return Runs((np.arange(self.W.shape[1]),), len(self.y), lambda: iter([[panel]]))


def columns(rows: int = ROWS) -> np.ndarray:
    """Smooth and rough ones, and a constant."""
    t = np.linspace(0.0, 1.0, rows)
    rng = np.random.default_rng(0)
    return np.column_stack(
        [np.sin(40.0 * t), np.sign(np.cos(25.0 * t)), rng.normal(size=rows), np.ones(rows)]
    )


def coloured(rng: np.random.Generator, rows: int = ROWS, memory: float = MEMORY) -> np.ndarray:
    """Of variance 1 / (1 - memory^2)."""
    return lfilter([1.0], [1.0, -memory], rng.normal(size=rows + 200))[200:]


# --- the noise --------------------------------------------------------------------------------------------


def test_a_sum_over_frequencies_is_the_product_with_the_covariance():
    rng = np.random.default_rng(1)
    X, gamma = rng.normal(size=(3, 60)), 0.7 ** np.arange(12) * np.linspace(1.0, 0.0, 12)
    omega = toeplitz(np.concatenate([gamma, np.zeros(48)]))
    assert spectral_product(X, gamma) == pytest.approx(X @ omega @ X.T, rel=1e-10)


def test_noise_is_found_behind_what_a_fit_leaves():
    """A first-order process: the covariance at lag l is memory^l / (1 - memory^2)."""
    rng, W = np.random.default_rng(2), columns(20_000)
    equations = Equations(W, W @ [1.0, 2.0, 3.0, 4.0] + coloured(rng, 20_000))
    noise = noise_of([equations.runs], ordinary(equations.reduction))
    expected = MEMORY ** np.arange(10) / (1.0 - MEMORY**2)
    assert noise.autocovariance[0][:10] == pytest.approx(expected, abs=0.08 * expected[0])
    share = (1.0 - MEMORY**2) / (1.0 + MEMORY**2)  # g0^2 by the sum of all squares
    assert noise.independent[0] == pytest.approx(share, rel=0.1)


def test_a_fit_that_takes_much_of_the_noise_does_not_hide_it():
    """40 columns in 200 rows: what is left has a fifth less variance, the noise has not."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        W = rng.normal(size=(200, 40))
        equations = Equations(W, rng.normal(size=200))
        found.append(noise_of([equations.runs], ordinary(equations.reduction)).autocovariance[0][0])
    assert np.mean(found) == pytest.approx(1.0, abs=4.0 * np.std(found) / np.sqrt(40.0) + 0.02)


# --- covariances ------------------------------------------------------------------------------------------


def test_covariances_are_those_of_many_draws():
    """400 fits with the same columns and new noise; a deviation of 400 is known to 3.5 %."""
    W, values, predicted, white = columns(), [], [], []
    for seed in range(400):
        equations = Equations(W, W @ [1.0, 2.0, 3.0, 4.0] + coloured(np.random.default_rng(seed)))
        solution = ordinary(equations.reduction)
        worth = uncertainty(solution, [equations.runs], noise_of([equations.runs], solution), float(ROWS))
        values.append(solution.values)
        predicted.append(worth.std**2)
        white.append(np.diag(worth.white))
    scatter = np.std(values, axis=0)
    assert np.sqrt(np.mean(predicted, axis=0)) == pytest.approx(scatter, rel=0.12)
    of_white = np.sqrt(np.mean(white, axis=0))
    assert (of_white[[0, 1, 3]] < 0.5 * scatter[[0, 1, 3]]).all()  # columns as slow as the noise
    assert of_white[2] == pytest.approx(scatter[2], rel=0.12)  # a column without memory feels no colour


def test_white_noise_is_the_formula_of_statsmodels():
    W = columns()
    equations = Equations(W, W @ np.ones(4) + np.random.default_rng(3).normal(size=ROWS))
    solution = ordinary(equations.reduction)
    worth = uncertainty(solution, [equations.runs], noise_of([equations.runs], solution), float(ROWS))
    fit = sm.OLS(equations.y, W).fit()
    assert np.sqrt(np.diag(worth.white)) == pytest.approx(fit.bse, rel=1e-2)
    assert worth.std == pytest.approx(fit.bse, rel=0.25)
    assert 0.7 * ROWS < worth.freedom <= ROWS


def test_intervals_are_students():
    assert interval_factor(7.0) == pytest.approx(student.ppf(0.975, 7.0))
    assert interval_factor(1e6, 0.9) == pytest.approx(1.6448536, rel=1e-5)


def test_correlation_of_what_is_not_determined_is_none():
    found = correlation(np.array([[4.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, np.inf]]))
    assert found == pytest.approx(np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]))


# --- what a choice leaves open ------------------------------------------------------------------------------

WIDTHS = np.geomspace(0.05, 0.8, 5)


def with_width(v: np.ndarray, y: np.ndarray, width: float) -> Equations:
    """Coulomb and viscous friction."""
    return Equations(np.column_stack([np.tanh(v / width), v]), y)


def rubbing(seed: int, noise: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    v = np.sin(np.linspace(0.0, 20.0, 150))
    return v, np.tanh(v / 0.2) + 0.5 * v + noise * rng.normal(size=150)


def chosen_of(candidates: list[Reduction]) -> int:
    return int(np.argmin([one.triangles[0][-1, -1] ** 2 for one in candidates]))  # of what each leaves


def test_intervals_know_that_a_width_was_chosen():
    """The truth is inside at least as often as they say; without the spread, less often."""
    inside, narrow = [], []
    for seed in range(150):
        v, y = rubbing(seed)
        equations = [with_width(v, y, width) for width in WIDTHS]
        candidates = [one.reduction for one in equations]
        k = chosen_of(candidates)
        solution = weighted(candidates[k])
        runs = equations[k].runs
        noise = noise_of([runs], solution)
        worth = uncertainty(solution, [runs], noise, 150.0)
        wide = worth.widened(spread(candidates, k, noise.independent, None, candidates[0].names))
        errors = np.abs(solution.values - [1.0, 0.5])
        inside.append(errors < interval_factor(wide.freedom) * wide.std)
        narrow.append(errors < interval_factor(worth.freedom) * worth.std)
    assert np.mean(narrow, axis=0).max() < 0.88
    assert np.mean(inside, axis=0).min() > 0.92


def test_the_spread_is_a_mean_over_models():
    v, y = rubbing(1)
    candidates = [with_width(v, y, width).reduction for width in WIDTHS]
    fits = [sm.OLS(y, with_width(v, y, width).W).fit() for width in WIDTHS]
    weights = np.exp(
        [-0.5 * 0.4 * 150 * np.log(fit.ssr) for fit in fits]
        - np.max([-0.5 * 0.4 * 150 * np.log(fit.ssr) for fit in fits])
    )
    apart = np.array([fit.params - fits[2].params for fit in fits])
    expected = np.einsum("k,ki,kj->ij", weights / weights.sum(), apart, apart)
    found = spread(candidates, 2, np.array([0.4]), None, ("a", "x0", "x1"))
    assert found[1:, 1:] == pytest.approx(expected, rel=1e-6)
    assert not found[0].any()


def test_candidates_that_agree_leave_nothing_open():
    v, y = rubbing(2)
    same = [with_width(v, y, 0.2).reduction] * 3
    assert not spread(same, 0, np.ones(1), None, same[0].names).any()


def test_a_strong_prior_leaves_nothing_open_either():
    v, y = rubbing(3)
    candidates = [with_width(v, y, width).reduction for width in WIDTHS]
    free = spread(candidates, 2, np.ones(1), None, candidates[0].names)
    held = spread(candidates, 2, np.ones(1), Prior(np.array([1.0, 0.5]), 100.0), candidates[0].names)
    assert np.diag(held).max() < 1e-6 * np.diag(free).max()


def test_data_that_tell_the_width_leave_little_open():
    v, noisy = rubbing(4)
    exact = rubbing(4, noise=0.005)[1]
    loud, quiet = (
        spread(
            [with_width(v, y, width).reduction for width in (0.1, 0.2, 0.4)],
            1,
            np.ones(1),
            None,
            ("x0", "x1"),
        )
        for y in (noisy, exact)
    )
    assert np.diag(quiet).max() < 1e-3 * np.diag(loud).max()
