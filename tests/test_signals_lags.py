"""Lags between signals, against shifts that are known to a fraction of a sample."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.log.lags import correlation_peak, delay_text, later_than, vertex

STEP = 0.01


def wave(time: np.ndarray) -> np.ndarray:
    return np.sin(2.0 * np.pi * 0.7 * time) + 0.5 * np.sin(2.0 * np.pi * 1.9 * time + 1.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("lag", [-7.0, -2.6, 0.0, 0.3, 1.5, 11.2])
def test_the_lag_of_a_shifted_signal_is_found_within_samples(lag: float, sign: float) -> None:
    """A parabola through the cosine-like peak errs by less than (w h)^2 / 12 of a sample: 0.1 %."""
    time = STEP * np.arange(3000)
    found, correlation = correlation_peak(wave(time), 3.0 + 2.0 * sign * wave(time - lag * STEP), 20)
    assert found == pytest.approx(lag, abs=5e-3)
    assert correlation == pytest.approx(sign, abs=1e-3)


def test_noise_moves_a_lag_little() -> None:
    time, rng = STEP * np.arange(3000), np.random.default_rng(0)
    late = wave(time - 4.0 * STEP) + 0.1 * rng.normal(size=3000)
    lag, correlation = correlation_peak(wave(time), late, 20)
    # standard deviation of a delay: noise / (rms of the slope per sample, sqrt(3000)) = 0.03 samples
    assert lag == pytest.approx(4.0, abs=0.15)
    assert 0.98 < correlation < 1.0


def test_a_constant_is_like_nothing() -> None:
    assert correlation_peak(wave(STEP * np.arange(100)), np.ones(100), 5)[1] == 0.0


def test_the_vertex_of_a_parabola_is_exact_and_stays_within_half_a_sample() -> None:
    x = np.arange(5.0)
    assert vertex(3.0 - (x - 2.3) ** 2, 2) == pytest.approx(0.3, abs=1e-14)
    assert vertex(x**2, 3) == -0.5
    assert vertex(np.zeros(5), 2) == 0.0
    assert vertex(x, 0) == vertex(x, 4) == 0.0


def test_lags_of_most_joints_that_agree_are_one_lag() -> None:
    assert later_than({0: 0.010, 1: 0.011, 2: 0.012, 3: 0.0110}, 0.002) == {None: pytest.approx(0.011)}
    apart = {0: 0.010, 1: -0.010, 2: 0.030}
    assert later_than(apart, 0.002) == apart
    assert later_than({0: 0.010, 1: 0.001, 2: 0.0}, 0.002) == {0: 0.010}
    assert later_than({0: 0.010, 1: 0.011, 2: 0.0, 3: 0.0}, 0.002) == {0: 0.010, 1: 0.011}
    assert later_than({}, 0.002) == {}


def test_a_lag_is_said_in_milliseconds() -> None:
    assert (delay_text(0.005), delay_text(-0.0123)) == ("5 ms later", "12.3 ms earlier")
