"""What the cut-off costs on an arm whose truth is known: errors of accelerations and of parameters, each of
the order that theory gives, and the choice that is made between them.
"""

from __future__ import annotations

from dataclasses import replace
from math import gamma

import numpy as np
import pytest

from dynid import ArgumentError
from dynid.log.clean import clean
from dynid.log.cutoff import MULTIPLES, NEARLY_BEST, choose_cutoff
from dynid.log.log import Log, LogError
from dynid.log.prepare import prepare
from dynid.log.samples import Samples, condition
from dynid.signals.derivatives import Derivative
from helpers_samples import (
    AMPLITUDES,
    ARM,
    BAND_HZ,
    BASE,
    LINES_HZ,
    RATE,
    TRUE,
    W,
    equations,
    exact,
    fitted,
    log_of,
    motion,
    noisy,
    rms,
    samples_of,
)
from helpers_signals import with_stamps


def moved(log: Log, noise: np.ndarray) -> Log:
    return replace(log, position=log.position + noise)


def slope(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def positions_gain(f: np.ndarray, samples: Samples) -> np.ndarray:
    """Of the positions' filter, Butterworth of order 4 forwards and backwards."""
    cutoff = float(samples.choices["position_cutoff_hz"])
    ratio = np.tan(np.pi * f / samples.rate_hz) / np.tan(np.pi * cutoff / samples.rate_hz)
    return 1.0 / (1.0 + ratio**8)


# --- accelerations against the cut-off


def test_the_motion_that_is_lost_falls_with_the_eighth_power_of_the_cut_off() -> None:
    """1 - gain of every line; f / f_c to the eighth once the cut-off has passed the motion's band."""
    cutoffs = np.array([0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0])
    found = []
    for cutoff in cutoffs:
        samples = samples_of(exact(), cutoff)
        inner = slice(int(10 * RATE), -int(10 * RATE))  # the ends' own error has gone
        error = rms((samples.qdd - motion(samples.time)[2])[inner])
        lost = (1.0 - positions_gain(LINES_HZ, samples)) * AMPLITUDES * W**2
        # lines beat with each other over 40 s: within 1 in 2 pi 0.3 Hz 40 s of the power of each
        assert error == pytest.approx(np.sqrt(0.5 * np.sum(lost**2, axis=1)), rel=0.015)
        found.append(error)
    passed = 2.0 * cutoffs >= 2.0 * BAND_HZ  # positions are filtered at twice the cut-off
    for joint in range(ARM.dof):
        assert (np.diff(found, axis=0)[:, joint] < 0).all()
        assert slope(cutoffs[passed], np.array(found)[passed, joint]) == pytest.approx(-8.0, abs=0.15)


def lost_by(method: str, f: np.ndarray, samples: Samples) -> np.ndarray:
    """The share of accelerations at `f` that each method's formula says is lost."""
    angle = 2.0 * np.pi * f / samples.rate_hz
    if method == "spline":  # of the positions as they are: (R + lambda Q^T Q) s'' = Q^T q of Reinsch (1967)
        h, cutoff = 1.0 / samples.rate_hz, float(samples.choices["position_cutoff_hz"])
        bend, mass = 2.0 * (1.0 - np.cos(angle)) / h, h * (2.0 + np.cos(angle)) / 3.0
        smoothing = 1.0 / (h * (2.0 * np.pi * cutoff) ** 4)
        return 1.0 - bend / (mass + smoothing * bend**2) / (2.0 * np.pi * f) ** 2
    differences = (np.sin(angle) / angle) ** 2 if method == "izaguirre1992" else 1.0
    return 1.0 - positions_gain(f, samples) * differences


@pytest.mark.parametrize("method", ["central", "izaguirre1992", "spline"])
def test_every_derivative_loses_what_its_formula_says(method: Derivative) -> None:
    for cutoff in (1.0, 1.5, 2.5):
        samples = samples_of(exact(), cutoff, derivative=method)
        inner = slice(int(10 * RATE), -int(10 * RATE))
        error = rms((samples.qdd - motion(samples.time)[2])[inner])
        lost = lost_by(method, LINES_HZ, samples) * AMPLITUDES * W**2
        assert error == pytest.approx(np.sqrt(0.5 * np.sum(lost**2, axis=1)), rel=0.015)


@pytest.mark.parametrize(("method", "order"), [("central", -8.0), ("savitzky-golay", -4.0)])
def test_the_bias_of_a_derivative_falls_with_its_order_in_the_cut_off(
    method: Derivative, order: float
) -> None:
    """That of polynomials of degree 4 is the fourth, but for windows of whole numbers of samples."""
    cutoffs = np.array([2.5, 3.0, 3.6, 4.2])
    fits = [fitted(samples_of(exact(), f, derivative=method)) for f in cutoffs]
    bias = np.linalg.norm(np.array(fits) - TRUE, axis=1)
    assert slope(cutoffs, bias) == pytest.approx(order, abs=0.4)


def test_measured_velocities_are_differentiated_once() -> None:
    log = exact()
    with pytest.raises(ArgumentError, match="the log has no velocities"):
        samples_of(log, 4.0, velocity="measured")
    rng = np.random.default_rng(6)
    velocity = motion(log.time)[1] + 1e-3 * rng.normal(size=log.position.shape)
    samples = samples_of(replace(log, velocity=velocity), 4.0, velocity="measured")
    # noise as for positions with one power of w less: s 2 pi f sqrt(2 f / f_s I), I of x^2 / (1 + x^8)^2
    f = float(samples.choices["position_cutoff_hz"])
    integral = gamma(3 / 8) * gamma(13 / 8) / 8
    foretold = 1e-3 * 2.0 * np.pi * f * np.sqrt(2.0 * f / RATE * integral)
    inner = slice(300, -300)
    error = rms((samples.qdd - motion(samples.time)[2])[inner].ravel())
    assert error == pytest.approx(foretold, rel=0.05)


@pytest.mark.parametrize("source", ["white noise", "encoder"])
def test_the_noise_of_accelerations_grows_with_the_power_five_halves(source: str) -> None:
    """White noise of variance s^2 at the rate f_s, through w^2 and the gain of the positions' filter:
    s (2 pi f)^2 sqrt(2 f / f_s I) at its cut-off f, I the integral of x^4 / (1 + x^8)^2. An encoder's steps
    d are noise of d / sqrt(12).
    """
    integral = gamma(5 / 8) * gamma(11 / 8) / 8
    log, rng = exact(), np.random.default_rng(0)
    size = 1e-4
    if source == "encoder":
        grid = size * np.sqrt(12.0)
        noises = [
            np.round((log.position + off) / grid) * grid - log.position - off for off in (0, 1e-4, 2e-4)
        ]
    else:
        noises = list(size * rng.normal(size=(3, *log.position.shape)))
    cutoffs = np.array([1.4, 2.0, 2.8, 4.0, 5.6, 7.0])
    found = []
    for cutoff in cutoffs:
        clear = samples_of(log, cutoff)
        off = [samples_of(moved(log, noise), cutoff).qdd - clear.qdd for noise in noises]
        found.append(rms(np.concatenate([o.ravel() for o in off])))
        f = float(clear.choices["position_cutoff_hz"])
        foretold = size * (2.0 * np.pi * f) ** 2 * np.sqrt(2.0 * f / RATE * integral)
        # 360 s of noise in a band of some 0.4 f: 2.5 % at the lowest cut-off, three times that allowed
        assert found[-1] == pytest.approx(foretold, rel=0.075)
    assert slope(cutoffs, np.array(found)) == pytest.approx(2.5, abs=0.08)


# --- parameters against the cut-off


def test_the_bias_of_lost_motion_falls_with_the_eighth_power_too() -> None:
    """Parameters are linear in what is lost, once it is small; with half the band lost they are far off."""
    cutoffs = np.array([0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0])
    bias = np.array([np.linalg.norm(fitted(samples_of(exact(), f)) - TRUE) for f in cutoffs])
    assert (np.diff(bias) < 0).all()
    assert bias[0] > 0.05 * np.linalg.norm(TRUE)
    assert slope(cutoffs[4:], bias[4:]) == pytest.approx(-8.0, abs=0.4)
    assert np.linalg.norm(fitted(samples_of(exact(), 8.0)) - TRUE) < 1e-6


def test_errors_are_those_of_the_efforts_noise_from_the_motions_band_on_and_far_beyond_them_below() -> None:
    """White noise s of the efforts, one row of every `factor` samples: the covariance is s^2 / factor
    (W^T W)^-1 as long as the filter passes what the regressor holds.
    """
    noise, log, rng = 0.05, exact(), np.random.default_rng(1)
    grid = 2e-5
    measured = replace(
        log,
        position=np.round(log.position / grid) * grid,
        effort=log.effort + noise * rng.normal(size=log.effort.shape),
    )

    def deviation(cutoff: float) -> float:
        """Mean square of the six errors in their standard deviations."""
        samples = samples_of(measured, cutoff)
        columns, tau = equations(samples)
        error = columns @ (np.linalg.lstsq(columns, tau, rcond=None)[0] - TRUE)
        return float(error @ error) / (noise**2 / samples.parallel.factor) / BASE.count

    # chi-squared of 6 over 6: beyond 3.74 once in a thousand
    assert [deviation(f) < 3.74 for f in (2.8, 4.0, 5.6, 8.0, 11.0)] == [True] * 5
    below = [deviation(f) for f in (0.7, 1.0, 1.4)]
    assert min(below) > 100.0


def test_the_spread_of_fits_is_the_one_foretold() -> None:
    log, rng, noise = exact(), np.random.default_rng(2), 0.05
    columns, _ = equations(samples_of(log, 4.0))
    squares = []
    for _ in range(30):
        disturbed = samples_of(replace(log, effort=noise * rng.normal(size=log.effort.shape)), 4.0)
        error = columns @ np.linalg.lstsq(columns, disturbed.filtered(disturbed.tau).ravel(), rcond=None)[0]
        squares.append(error @ error / (noise**2 / disturbed.parallel.factor))
    assert np.mean(squares) / BASE.count == pytest.approx(1.0, abs=4.0 * np.sqrt(2.0 / (30 * BASE.count)))


def test_noise_of_positions_makes_inertias_small_with_the_fifth_power_of_the_cut_off() -> None:
    """Errors in the regressor: the bias is as the power of the accelerations' noise. Pairs of a noise and its
    negative leave nothing of the first order.
    """
    log, rng = exact(30.0), np.random.default_rng(3)
    cutoffs = np.array([4.0, 5.6, 7.0])
    noises = 3e-3 * rng.normal(size=(3, *log.position.shape))
    pairs = [sign * noise for noise in noises for sign in (1.0, -1.0)]
    bias = [np.mean([fitted(samples_of(moved(log, n), f)) for n in pairs], axis=0) - TRUE for f in cutoffs]
    for name in ("ZZR1", "ZZ2"):
        off = np.array(bias)[:, BASE.names.index(name)]
        assert (off < 0).all()
        assert slope(cutoffs, -off) == pytest.approx(5.0, abs=0.5)


# --- the choice of the cut-off


def test_the_choice_is_reproducible_and_follows_the_motions_band() -> None:
    rows = clean(noisy(), ARM)
    choice = choose_cutoff(rows, ARM)
    again = choose_cutoff(clean(noisy(), ARM), ARM)
    assert (choice.cutoff_hz, choice.bandwidth_hz, str(choice)) == (
        again.cutoff_hz,
        again.bandwidth_hz,
        str(again),
    )
    np.testing.assert_array_equal(choice.errors, again.errors)
    assert BAND_HZ - 0.2 <= choice.bandwidth_hz <= BAND_HZ + 0.4
    allowed = np.array(MULTIPLES) * choice.bandwidth_hz
    assert choice.candidates == pytest.approx(np.unique(np.minimum(allowed, RATE / 8)), abs=1e-3)
    good = choice.candidates[choice.errors <= NEARLY_BEST * choice.errors.min()]
    assert choice.cutoff_hz == good[0]


@pytest.mark.parametrize("position", [1e-5, 1e-3])
def test_the_chosen_cut_off_loses_no_motion_and_lets_through_no_more_noise_than_it_must(
    position: float,
) -> None:
    rows = clean(noisy(position=position), ARM)
    choice = choose_cutoff(rows, ARM)
    errors = [np.linalg.norm(fitted(condition(rows, f)) - TRUE) for f in choice.candidates]
    chosen = errors[choice.candidates.tolist().index(choice.cutoff_hz)]
    lost = np.linalg.norm(fitted(condition(rows, 0.5 * BAND_HZ)) - TRUE)
    assert chosen < 0.5 * lost
    if position == 1e-3:
        assert choice.cutoff_hz == choice.candidates[0]
        assert chosen == min(errors)


def test_a_faint_fast_line_that_efforts_feel_raises_the_choice() -> None:
    """Of velocity's power 3 Hz have less than 1 %, of the accelerations' nearly a half."""
    stamps = exact().stamp_ns
    slow, fast, phase = 2.0 * np.pi * 0.4, 2.0 * np.pi * 3.0, np.array([0.0, 1.0])
    a, b = (w * (stamps / 1e9)[:, None] + phase for w in (slow, fast))
    q = 0.8 * np.sin(a) + 0.01 * np.sin(b)
    qd = 0.8 * slow * np.cos(a) + 0.01 * fast * np.cos(b)
    qdd = -0.8 * slow**2 * np.sin(a) - 0.01 * fast**2 * np.sin(b)
    choice = choose_cutoff(clean(log_of(stamps, q, qd, qdd), ARM), ARM)
    assert choice.bandwidth_hz < 1.0
    # positions, filtered at twice the cut-off, must hold 3 Hz: below 2 % is lost from 1.63 times on
    assert choice.cutoff_hz > 0.5 * 1.63 * 3.0 > choice.candidates[0]
    good = choice.errors <= NEARLY_BEST * choice.errors.min()
    assert choice.cutoff_hz == choice.candidates[good][0]


def test_prepare_says_whether_the_cut_off_was_chosen_or_given() -> None:
    log = noisy(20.0)
    chosen, given = prepare(log, ARM), prepare(log, ARM, cutoff_hz=6.0)
    assert chosen.choices["cutoff"].startswith(f"chosen: {chosen.cutoff_hz:.3g} Hz (motion up to 2")
    assert (given.choices["cutoff"], given.cutoff_hz) == ("given", 6.0)


def test_a_clock_in_other_units_is_told() -> None:
    slow = with_stamps(exact(20.0), exact(20.0).stamp_ns * 1000)
    with pytest.raises(LogError, match=r"6.67 s from row to row.*time in ms or ns"):
        choose_cutoff(clean(slow, ARM), ARM)
