"""Stamps, gaps and the uniform clock, against analytic signals and the error bound of cubic splines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynid import ArgumentError
from dynid.signals import clock as clocks

PERIOD = 0.01
LINES_HZ = (0.7, 2.9, 6.1)


def lines(time: np.ndarray, derivative: int = 0) -> np.ndarray:
    """A sine of each frequency in its own column, or its derivative."""
    w = 2.0 * np.pi * np.array(LINES_HZ)
    return w**derivative * np.sin(np.outer(time, w) + 0.3 + derivative * np.pi / 2)


def jittered(count: int, share: float, seed: int = 0) -> np.ndarray:
    """Stamps off a uniform clock by up to `share` of a period either way."""
    off = np.random.default_rng(seed).uniform(-share, share, count)
    return PERIOD * (np.arange(count) + off)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.2, 0.45])
def test_irregular_stamps_are_resampled_within_the_bound_of_cubic_splines(share: float) -> None:
    """5/384 h^4 max |x''''| on any mesh of steps up to h: Hall and Meyer, J. Approx. Theory 16 (1976)."""
    time = jittered(500, share)
    inner = PERIOD * (np.arange(20, 480) + 0.37)  # the ends have no slopes given: they decay in a few steps
    error = np.abs(clocks.resample(time, lines(time), inner) - lines(inner)).max(axis=0)
    bound = 5 / 384 * np.diff(time).max() ** 4 * (2.0 * np.pi * np.array(LINES_HZ)) ** 4
    assert (error <= bound).all()
    if share == 0.0:  # between the instants of a uniform clock splines do as well as splines can: 1/384
        expected = bound / 5 * (16 * 0.37**2 * 0.63**2)  # the error's shape within a step, 1 at its middle
        assert error == pytest.approx(expected, rel=0.05)


def test_the_error_falls_with_the_fourth_power_of_the_period() -> None:
    errors = []
    for finer in (1, 2, 4, 8):
        time = jittered(300, 0.2, seed=1) / finer
        inner = PERIOD / finer * (np.arange(20, 280) + 0.5)
        errors.append(np.sqrt(np.mean((clocks.resample(time, lines(time), inner) - lines(inner)) ** 2)))
    slopes = np.diff(np.log2(errors))
    assert slopes == pytest.approx(-4.0, abs=0.4)


def test_cubics_and_regular_stamps_are_left_as_they_were() -> None:
    time = jittered(50, 0.4)
    clock = clocks.uniform(time, PERIOD)
    cubic = np.polynomial.Polynomial([1.0, -2.0, 3.0, -4.0])
    assert clocks.resample(time, cubic(time), clock) == pytest.approx(cubic(clock), abs=1e-13)
    regular = PERIOD * np.arange(50)
    values = np.random.default_rng(0).normal(size=(50, 2))
    assert clocks.resample(regular, values, clocks.uniform(regular, PERIOD)) is values


def test_a_few_samples_are_no_signal() -> None:
    with pytest.raises(ArgumentError, match="3 samples cannot be resampled: at least 4"):
        clocks.resample(np.array([0.0, 1.0, 2.5]), np.zeros((3, 1)), np.array([0.0, 1.0]))


@given(st.integers(2, 400), st.floats(0.0, 0.3), st.integers(0, 2**32 - 1))
def test_the_uniform_clock_begins_with_the_first_stamp_and_stays_within_the_last(
    count: int, share: float, seed: int
) -> None:
    time = 7.0 + jittered(count, share, seed)
    clock = clocks.uniform(time, PERIOD)
    assert clock[0] == time[0]
    assert np.diff(clock) == pytest.approx(PERIOD, rel=1e-9)
    late = (clock[-1] - time[-1]) / PERIOD
    assert -1.0 < late <= clocks.REGULAR * (1.0 + 1e-6)


# --- nanoseconds


@given(
    st.lists(st.integers(1, 10**9), min_size=1, max_size=50),
    st.integers(-(2**62), 2**62 - 50 * 10**9),
)
def test_no_nanosecond_is_lost_wherever_the_epoch_is(steps: list[int], start: int) -> None:
    stamps = np.array([start, *(start + np.cumsum(steps)).tolist()], dtype=np.int64)
    time = clocks.seconds(stamps)
    assert np.round(time * 1e9).astype(np.int64).tolist() == [0, *np.cumsum(steps).tolist()]
    assert clocks.in_order(stamps).all()


def test_a_float_of_epoch_seconds_would_have_lost_them() -> None:
    """Why stamps are whole numbers: today's epoch in seconds has 0.2 us between one float and the next."""
    stamps = 1_700_000_000_000_000_000 + np.arange(5)
    assert len(set((stamps / 1e9).tolist())) == 1
    assert clocks.seconds(stamps).tolist() == [0.0, 1e-9, 2e-9, 3e-9, 4e-9]


# --- order, period and gaps


def test_duplicates_and_stamps_that_go_back_are_out_of_order() -> None:
    time = np.array([0, 1, 1, 2, 5, 3, 4, 5, 6], dtype=np.int64)
    expected = [True, True, False, True, True, False, False, False, True]
    assert clocks.in_order(time).tolist() == expected
    assert clocks.in_order(time[:0]).tolist() == []


@given(st.lists(st.integers(-20, 20), max_size=30))
def test_order_is_that_of_a_running_maximum(stamps: list[int]) -> None:
    expected = [all(stamp > before for before in stamps[:k]) for k, stamp in enumerate(stamps)]
    assert clocks.in_order(np.array(stamps, dtype=np.int64)).tolist() == expected


def test_the_nominal_period_is_not_moved_by_gaps_and_steps_back() -> None:
    time = PERIOD * np.array([0, 1, 2, 3, 40, 41, 42, 10, 43, 44, 44, 45])
    assert clocks.nominal_period(time) == pytest.approx(PERIOD)
    with pytest.raises(ArgumentError, match="never advance"):
        clocks.nominal_period(np.array([1.0, 1.0, 0.5]))


def test_a_step_of_more_than_one_and_a_half_periods_is_a_gap() -> None:
    time = np.cumsum([0.0, 2.0, 3.0, 2.0, 3.5, 2.0])  # periods of 2: a step of 3 is 1.5 to the digit
    assert clocks.gaps(time, 2.0).tolist() == [3]
    assert clocks.split(time, 3.0) == ((0, 4), (4, 6))
    assert clocks.split(time, 3.0, np.array([2])) == ((0, 2), (2, 4), (4, 6))


@given(st.lists(st.floats(0.1, 3.0), max_size=40))
def test_pieces_hold_every_sample_once_and_no_long_step(steps: list[float]) -> None:
    time = np.cumsum([0.0, *steps])
    pieces = clocks.split(time, 1.5)
    assert [k for first, last in pieces for k in range(first, last)] == list(range(len(time)))
    assert all((np.diff(time[first:last]) <= 1.5).all() for first, last in pieces)
    assert all(time[first] - time[first - 1] > 1.5 for first, _ in pieces[1:])


def test_instants_within_a_gap_are_known() -> None:
    time = np.array([0.0, 1.0, 2.0, 6.0, 7.0])
    clock = np.array([0.0, 1.5, 2.0, 2.0005, 3.0, 5.9, 5.9995, 6.0, 6.5, 7.0])
    expected = [False, False, False, False, True, True, False, False, False, False]  # stamps are that close
    assert clocks.inside_gaps(clock, time, 1.0).tolist() == expected


# --- rows that repeat


def test_a_copied_state_is_told_from_a_robot_at_rest() -> None:
    time = PERIOD * np.arange(400)
    q = np.stack([np.sin(time), np.cos(time)], axis=1)
    q[200:300] = q[200]  # comes to rest, and creeps away
    q[300:] = q[200] + 0.01 * PERIOD * np.arange(1, 101)[:, None]
    copied = [50, 51, 120]
    for row in copied:
        q[row] = q[row - 1]
    assert np.flatnonzero(clocks.repeated(q)).tolist() == [*copied, *range(201, 300)]
    assert np.flatnonzero(clocks.stale(q)).tolist() == copied


def test_an_encoder_that_steps_now_and_then_repeats_nothing() -> None:
    time = PERIOD * np.arange(1000)
    q = np.round(0.1 * np.sin(0.5 * time) / 1e-3)[:, None] * 1e-3  # 0.5 steps per sample at most
    assert clocks.repeated(q).mean() > 0.5
    assert not clocks.stale(q).any()
