"""Filters, spectra and masks, against the textbook's formulas and plain sums."""

from __future__ import annotations

import numpy as np
import pytest

from dynid import ArgumentError, load_robot
from dynid.signals.filters import (
    VALIDATION_TRIM_S,
    Decimator,
    butterworth,
    check_cutoff,
    thinning,
    validation_filter,
    validation_span,
)
from dynid.signals.masks import inside, near_standstill, saturated, widened
from dynid.signals.spectrum import motion_bandwidth

RATE = 200.0
# the ripple on either side: 53 dB of long low-passes by this window (Oppenheim and Schafer), less of short
RIPPLE = 10.0 ** (-49.5 / 20)


def squared_butterworth(f: np.ndarray | float, cutoff: float, rate: float, order: int = 4) -> np.ndarray:
    """|H|^2 of the digital filter: the analog 1 / (1 + (W / Wc)^2n) at W = tan(pi f / rate)."""
    warped = np.tan(np.pi * np.asarray(f) / rate) / np.tan(np.pi * cutoff / rate)
    return 1.0 / (1.0 + warped ** (2 * order))


def response(filter: Decimator, f: np.ndarray) -> np.ndarray:
    """Gain of a symmetric filter: the sum of its taps times cosines."""
    k = np.arange(-filter.half, filter.half + 1)
    return np.cos(2.0 * np.pi / filter.rate_hz * np.outer(f, k)) @ filter.taps


# --- zero-phase Butterworth


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1.0, 1.5, 3.0])
@pytest.mark.parametrize("cutoff", [2.0, 12.0])
def test_a_sine_keeps_its_phase_and_the_squared_magnitude_of_its_amplitude(
    order: int, share: float, cutoff: float
) -> None:
    """Ten periods of the cut-off from the ends, poles at -sin(pi / 8) w_c have let go: exp(-24) = 4e-11."""
    f = share * cutoff
    time = np.arange(0.0, 30.0 / cutoff, 1.0 / RATE)
    wave = np.sin(2.0 * np.pi * f * time + 0.4)
    gain = squared_butterworth(f, cutoff, RATE, order)
    inner = slice(int(10.0 / cutoff * RATE), -int(10.0 / cutoff * RATE))
    assert butterworth(wave, RATE, cutoff, order)[inner] == pytest.approx(gain * wave[inner], abs=1e-9)


def test_the_amplitude_is_halved_at_the_cut_off() -> None:
    assert squared_butterworth(5.0, 5.0, RATE) == 0.5


def test_columns_are_filtered_apart_and_constants_and_lines_stay() -> None:
    time = np.arange(400) / RATE
    values = np.stack([np.ones(400), 2.0 - 3.0 * time, np.random.default_rng(0).normal(size=400)], axis=1)
    filtered = butterworth(values, RATE, 5.0)
    assert filtered[:, 0] == pytest.approx(1.0, abs=1e-12)
    # an odd continuation keeps a line but for the start: its lag of 2.6 / w_c, forgotten over two periods
    lag, forgotten = 2.6 / (2.0 * np.pi * 5.0), np.exp(-np.sin(np.pi / 8) * 2.0 * np.pi * 2.0)
    assert filtered[:, 1] == pytest.approx(values[:, 1], abs=3.0 * lag * forgotten)
    assert filtered[:, 2] == pytest.approx(butterworth(values[:, 2], RATE, 5.0), abs=1e-14)


@pytest.mark.parametrize("cutoff", [0.0, -1.0, 100.0, 250.0, float("nan")])
def test_cut_offs_beyond_half_the_rate_are_refused(cutoff: float) -> None:
    with pytest.raises(ArgumentError, match="must lie between 0 and 100 Hz"):
        butterworth(np.zeros(50), RATE, cutoff)
    with pytest.raises(ArgumentError, match="must lie between 0 and 100 Hz"):
        Decimator(RATE, cutoff)
    check_cutoff(99.9, RATE)


def test_one_sample_is_left_as_it_is_and_none_too() -> None:
    assert butterworth(np.ones((1, 2)), RATE, 5.0).tolist() == [[1.0, 1.0]]
    assert butterworth(np.ones((0, 2)), RATE, 5.0).shape == (0, 2)


def test_the_validation_filter_is_butterworth_at_5_hz_without_its_ends() -> None:
    time = np.arange(1000) / RATE
    wave = np.sin(2.0 * np.pi * 4.0 * time)
    trim = round(VALIDATION_TRIM_S * RATE)
    assert validation_span(1000, RATE) == (trim, 1000 - trim) == (60, 940)
    filtered = validation_filter(wave, RATE)
    assert len(filtered) == 880
    far = slice(340, -340)  # 2 s, ten periods of 5 Hz, from the ends
    expected = squared_butterworth(4.0, 5.0, RATE) * wave[60:940]
    assert filtered[far] == pytest.approx(expected[far], abs=1e-9)
    with pytest.raises(ArgumentError, match=r"0.60 s of samples are too short .* 0.3 s are cut"):
        validation_span(120, RATE)


# --- the parallel decimation filter


@pytest.mark.parametrize(("rate", "cutoff"), [(200.0, 10.0), (100.0, 5.0), (250.0, 40.0), (1000.0, 3.0)])
def test_the_parallel_filter_halves_at_its_cut_off_and_stops_beyond(rate: float, cutoff: float) -> None:
    filter = Decimator(rate, cutoff)
    passed, stopped = np.linspace(0.0, 0.4 * cutoff, 50), np.linspace(1.6 * cutoff, 0.5 * rate, 500)
    assert response(filter, np.array([0.0])) == pytest.approx(1.0, abs=1e-14)
    assert response(filter, np.array([cutoff])) == pytest.approx(0.5, abs=0.01)
    assert response(filter, passed) == pytest.approx(1.0, abs=RIPPLE)
    assert np.abs(response(filter, stopped)).max() < RIPPLE


@pytest.mark.parametrize("factor", [1, 5, 7])  # the filter's half is a multiple of 5 and not of 7
def test_a_sine_passes_without_delay_and_as_the_sum_of_cosines_says(factor: int) -> None:
    filter = Decimator(RATE, 10.0, factor)
    time = np.arange(700) / RATE
    for f in (1.0, 7.0, 10.0, 13.0, 40.0):
        wave = np.cos(2.0 * np.pi * f * time + 0.2)
        expected = response(filter, np.array([f])) * wave[filter.middles(700)]
        assert filter.apply(wave) == pytest.approx(expected, abs=1e-13)


def test_decimation_folds_nothing_back() -> None:
    """Thinned out to four samples per period of the cut-off, what lies above the new half rate is stopped.

    Of white noise, the power that folds is below that share; what stays is the sum of the squared taps.
    """
    filter = Decimator(RATE, 10.0, thinning(RATE, 40.0))
    new_half = 0.5 * RATE / filter.factor
    above = np.linspace(new_half, 0.5 * RATE, 400)
    assert np.abs(response(filter, above)).max() < RIPPLE
    time = np.arange(8000) / RATE
    for f in (new_half + 0.5, 33.0, 39.0, 40.0, 71.0, 97.0):
        assert np.abs(filter.apply(np.sin(2.0 * np.pi * f * time + 1.0))).max() < RIPPLE
    noise = np.random.default_rng(0).normal(size=(8000, 20))
    kept = filter.apply(noise)
    # 20 times 1590 rows, every second of which is new: the variance is known to 1.1 %
    assert kept.var() == pytest.approx(filter.taps @ filter.taps, rel=0.04)


def test_an_output_knows_nothing_beyond_its_filter() -> None:
    filter = Decimator(RATE, 10.0, 5)
    rng = np.random.default_rng(1)
    values = rng.normal(size=(400, 2))
    middle = np.arange(400)[filter.middles(400)]
    assert middle[0] == filter.half
    assert middle[-1] < 400 - filter.half <= middle[-1] + filter.factor
    other = values.copy()
    other[: middle[3] - filter.half] = 1e6
    other[middle[7] + filter.half + 1 :] = -1e6
    assert filter.apply(other)[3:8] == pytest.approx(filter.apply(values)[3:8], abs=1e-13)
    assert np.abs(filter.apply(other)[[2, 8]]).min() > 1.0  # and the next ones do


@pytest.mark.parametrize("factor", [1, 4])
def test_the_filter_commutes_with_the_linear_model(factor: int) -> None:
    """Filtered efforts are the filtered regressor times the parameters: to the rounding of two sums."""
    robot = load_robot("scara")
    rng = np.random.default_rng(2)
    q, qd, qdd = rng.normal(size=(3, 500, robot.dof))
    W = robot.regressor(q, qd, qdd).reshape(500, robot.dof, -1)
    theta = rng.normal(size=W.shape[-1])
    filter = Decimator(RATE, 10.0, factor)
    size = np.abs(W) @ np.abs(theta)
    error = filter.apply(W @ theta) - filter.apply(W) @ theta
    assert np.abs(error).max() < 1e-14 * size.max()


@pytest.mark.parametrize(
    ("rate", "lowest", "factor"), [(200.0, 40.0, 5), (200.0, 41.0, 4), (100.0, 100.0, 1), (50.0, 100.0, 1)]
)
def test_thinning_leaves_the_rate_that_is_asked_for(rate: float, lowest: float, factor: int) -> None:
    assert thinning(rate, lowest) == factor
    assert thinning(1.0 / (1.0 / rate), lowest) == factor


# --- the spectrum


@pytest.mark.parametrize("edge", [0.8, 2.0, 5.0])
@pytest.mark.parametrize("noise", [0.0, 1e-4, 1e-2])
def test_the_bandwidth_of_a_motion_is_that_of_its_velocity(edge: float, noise: float) -> None:
    """Lines up to `edge`, white noise beside them: known to two bins of the spectrum, each of 0.2 Hz."""
    time = np.arange(0.0, 60.0, 1.0 / RATE)
    lines = np.linspace(0.2, 1.0, 5) * edge
    q = sum(0.3 * np.sin(2.0 * np.pi * f * time + 3.0 * f) for f in lines)
    rng = np.random.default_rng(3)
    q = np.stack([q + noise * rng.normal(size=len(time)), noise * rng.normal(size=len(time))], axis=1)
    found = motion_bandwidth(q, RATE)
    assert edge - 0.2 <= found <= edge + 0.4
    assert motion_bandwidth(q, RATE) == found


def test_rest_has_no_bandwidth() -> None:
    noise = 1e-3 * np.random.default_rng(4).normal(size=(2000, 2))
    assert motion_bandwidth(noise, RATE) == 0.0
    assert motion_bandwidth(np.linspace(0, 1, 10)[:, None], RATE) == 0.0


# --- masks


def test_standstill_is_slowness_for_a_while_and_not_a_reversal() -> None:
    qd = np.array([[1.0, 0.0], [0.005, 0.0], [-1.0, 0.0], [0.0, 0.02], [0.0, 0.0], [0.0, 0.0]])
    plain = near_standstill(qd)
    assert plain.tolist() == (np.abs(qd) < 0.01).tolist()
    assert near_standstill(qd, around=1)[:, 0].tolist() == [False, False, False, False, True, True]
    assert near_standstill(qd, around=1)[:, 1].tolist() == [True, True, False, False, False, True]
    assert not near_standstill(qd, speed=0.0).any()


def test_efforts_at_their_limits_are_saturated() -> None:
    tau = np.array([[9.9, 5.0, 3.0, 1.0], [-9.96, 5.0, -3.0, 1.0], [10.0, 12.0, 0.0, 1.0]])
    limit = np.array([10.0, 10.0, np.inf, np.nan])
    flags = saturated(tau, limit)
    assert flags[:, 0].tolist() == [False, True, True]
    assert not flags[:, 1:].any()  # plainly exceeded, infinite, unknown
    assert saturated(tau[:0], limit).shape == (0, 4)


def test_intervals_are_closed_and_joined() -> None:
    time = np.arange(10.0)
    assert np.flatnonzero(inside(time, [(1.0, 3.0), (2.5, 4.0), (8.2, 8.8), (9.0, 99.0)])).tolist() == [
        *(1, 2, 3, 4),
        9,
    ]
    assert not inside(time, []).any()


def test_flags_are_widened_to_both_sides() -> None:
    flags = np.zeros((9, 2), dtype=bool)
    flags[[0, 5], [0, 1]] = True
    assert [np.flatnonzero(column).tolist() for column in widened(flags, 2).T] == [
        [0, 1, 2],
        [3, 4, 5, 6, 7],
    ]
    assert widened(flags, 0).tolist() == flags.tolist()
