"""From a log to samples on an arm whose truth is known: ends, gaps, stamps, rates and weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid import ArgumentError
from dynid.log.clean import clean
from dynid.log.prepare import prepare
from dynid.log.samples import condition
from helpers_samples import (
    AMPLITUDES,
    ARM,
    RATE,
    STEP_NS,
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
from helpers_signals import with_rows, with_stamps

# --- ends, gaps and stamps


def test_ends_are_cut_where_filters_start() -> None:
    log = exact(20.0)
    samples = samples_of(log, 3.0)
    trim = int(np.ceil(0.5 * RATE / 3.0))
    assert samples.time[[0, -1]] == pytest.approx(log.time[[trim, -1 - trim]], abs=1e-6)
    assert samples.segments == ((0, len(log) - 2 * trim),)
    half = samples.parallel.half
    assert samples.rows[0] == half
    assert len(samples.q) - half - samples.parallel.factor <= samples.rows[-1] < len(samples.q) - half
    assert len(samples.filtered(samples.tau)) == len(samples.rows) == len(samples.weights)


def test_where_a_log_ends_hardly_matters_to_its_rows() -> None:
    """The same instants of a log and of a part of it: of the start there is left below 2e-4 of a signal."""
    log = exact(20.0)
    whole = samples_of(log, 5.0)
    factor = whole.parallel.factor
    part = samples_of(with_rows(log, np.arange(100 * factor, 200 * factor)), 5.0)
    at = np.searchsorted(whole.time[whole.rows], part.time[part.rows] - 1e-4)
    assert whole.time[whole.rows][at] == pytest.approx(part.time[part.rows], abs=1e-5)
    for name in ("q", "qd", "qdd", "tau"):
        signal = getattr(whole, name)
        error = part.filtered(getattr(part, name)) - whole.filtered(signal)[at]
        assert np.abs(error).max() < 2e-4 * rms(signal).max()


def test_a_gap_is_cut_and_what_follows_knows_nothing_of_what_was_before() -> None:
    log = exact(20.0)
    parts = np.arange(0, 1200), np.arange(1290, 3000)  # 0.6 s apart
    both = samples_of(with_rows(log, np.concatenate(parts)), 4.0)
    assert len(both.segments) == 2
    for part, (first, last) in zip(parts, both.segments, strict=True):
        alone = samples_of(with_rows(log, part), 4.0)
        assert both.time[first:last] == pytest.approx(alone.time, abs=1e-9)
        for name in ("q", "qd", "qdd", "tau"):
            mine, own = getattr(both, name)[first:last], getattr(alone, name)
            assert mine == pytest.approx(own, abs=1e-6 * np.abs(own).max())
    gap = (both.time > log.time[1199]) & (both.time < log.time[1290])
    assert not gap.any()


def test_no_row_lies_in_a_gap_however_short() -> None:
    log = exact(20.0)
    whole = samples_of(log, 4.0)
    at = whole.rows[30] + 19  # 19 instants are trimmed
    holed = samples_of(with_rows(log, np.delete(np.arange(len(log)), [at - 1, at, at + 1])), 4.0)
    assert holed.rows.tolist() == whole.rows.tolist()
    assert whole.weights[30].tolist() == [1.0, 1.0]
    assert holed.weights[30].tolist() == [0.0, 0.0]
    others = np.arange(len(whole.rows)) != 30
    assert holed.weights[others].tolist() == whole.weights[others].tolist()
    # rows beside it see four periods of a spline: 5 / 384 h^4 times the largest fourth derivative
    bound = 5 / 384 * (4 / RATE) ** 4 * np.sum(AMPLITUDES * W**4, axis=1)
    assert (np.abs(holed.filtered(holed.q) - whole.filtered(whole.q)).max(axis=0) < bound).all()


def test_rows_twice_or_late_are_left_out_and_counted() -> None:
    log = exact(20.0)
    order = np.arange(len(log)).tolist()
    order.insert(500, 499)  # twice
    order.insert(901, 300)  # from long before
    spoilt = with_rows(log, np.array(order))
    rows = clean(spoilt, ARM)
    assert rows.notes == ("left out 2 rows whose stamps do not advance",)
    np.testing.assert_array_equal(rows.position, clean(log, ARM).position)
    np.testing.assert_array_equal(condition(rows, 4.0).qdd, samples_of(log, 4.0).qdd)


@pytest.mark.parametrize("garbage", [np.nan, np.inf, 1e293, -1e293])
def test_rows_with_garbage_are_left_out_and_counted(garbage: float) -> None:
    log = exact(20.0)
    position, effort = log.position.copy(), log.effort.copy()
    position[700, 0], effort[[701, 1500], 1] = garbage, garbage
    rows = clean(replace(log, position=position, effort=effort), ARM)
    assert rows.notes == ("left out 3 rows with values that are not finite",)
    np.testing.assert_array_equal(rows.position, np.delete(log.position, [700, 701, 1500], axis=0))
    assert np.isfinite(condition(rows, 4.0).qdd).all()


def test_a_joint_without_efforts_is_told_and_has_no_weight() -> None:
    log = exact(20.0)
    effort = log.effort.copy()
    effort[:, 1] = 3.0
    rows = clean(replace(log, effort=effort), ARM)
    assert rows.notes == ("no effort that changes on elbow",)
    assert rows.measured.tolist() == [True, False]
    samples = condition(rows, 4.0)
    assert samples.weights[:, 0].any()
    assert not samples.weights[:, 1].any()
    with pytest.raises(ArgumentError, match="no efforts that change, so there is nothing to fit"):
        prepare(replace(log, effort=None), ARM)


def test_samples_do_not_depend_on_the_epoch() -> None:
    log = exact(20.0)
    start = 1_700_000_000_123_456_789
    late = replace(with_stamps(log, log.stamp_ns + start), epoch_ns=start)
    for name in ("time", "q", "qdd", "tau", "weights"):
        np.testing.assert_array_equal(
            getattr(samples_of(late, 4.0), name), getattr(samples_of(log, 4.0), name)
        )


def test_irregular_stamps_make_the_same_samples() -> None:
    """Jitter of a fifth of a period; splines err by (1.4 w h)^4 5 / 384 of the fastest line: 3e-7 rad."""
    log = exact(20.0)
    off = np.random.default_rng(5).integers(-STEP_NS // 5, STEP_NS // 5, len(log))
    off[[0, -1]] = 0
    stamps = log.stamp_ns + off
    shaken = log_of(stamps, *motion(stamps / 1e9))
    rows = replace(clean(shaken, ARM), period=STEP_NS / 1e9)  # the median of the steps is a little off
    found, expected = condition(rows, 4.0), samples_of(log, 4.0)
    inner = slice(300, -300)
    assert found.time == pytest.approx(expected.time, abs=1e-9)
    assert found.qdd[inner] == pytest.approx(expected.qdd[inner], abs=1e-3)
    assert np.linalg.norm(fitted(found) - TRUE) < 1e-5


# --- rates


def test_nothing_above_the_band_folds_into_it() -> None:
    """From 1 kHz to 100 Hz to 20 Hz: of a sine beyond twice the cut-off 0.4 % is left, wherever it is."""
    stamps = 1_000_000 * np.arange(8000, dtype=np.int64)
    time = stamps / 1e9
    frequencies = [*np.arange(10.5, 120.0, 2.3), 195.0, 201.0, 205.0, 299.0, 401.0, 499.0]
    still = log_of(stamps, *motion(time))
    for pair in np.array(frequencies).reshape(-1, 2):
        log = replace(still, effort=np.sin(2.0 * np.pi * pair * time[:, None] + 1.0))
        samples = samples_of(log, 5.0)
        assert samples.rate_hz == pytest.approx(100.0)
        assert np.abs(samples.filtered(samples.tau)).max() < 4e-3


@pytest.mark.parametrize(("cutoff", "rate"), [(2.0, 100.0), (5.0, 100.0), (20.0, 500.0), (40.0, 1000.0)])
def test_products_are_formed_at_twenty_times_the_cut_off_or_more(cutoff: float, rate: float) -> None:
    stamps = 1_000_000 * np.arange(8000, dtype=np.int64)
    samples = samples_of(log_of(stamps, *motion(stamps / 1e9)), cutoff)
    assert samples.rate_hz == pytest.approx(rate)
    between = np.floor(0.25 / cutoff * rate) / rate  # a quarter of a period, or a little less: whole samples
    assert np.diff(samples.time[samples.rows]) == pytest.approx(between, rel=1e-6)


def test_both_sides_of_the_equation_pass_one_filter() -> None:
    """Efforts that are the regressor of the samples times parameters stay so, to rounding."""
    samples = samples_of(noisy(20.0), 4.0)
    model = ARM.inverse_dynamics(samples.q, samples.qd, samples.qdd)
    columns, tau = equations(replace(samples, tau=model))
    assert columns @ TRUE == pytest.approx(tau, abs=1e-12)


# --- weights


def test_only_the_joint_at_its_limit_loses_its_weight_and_only_nearby() -> None:
    log = exact(20.0)
    limit = np.array([np.inf, 0.98 * np.abs(log.effort[:, 1]).max()])
    cut = replace(log, effort=np.clip(log.effort, -limit, limit))
    samples = samples_of(cut, 4.0, effort_limit=limit, standstill_speed=0.0)
    assert samples.weights[:, 0].all()
    instants = samples.time[samples.rows]
    events = log.time[np.abs(cut.effort[:, 1]) >= 0.995 * limit[1]]
    reach = samples.parallel.half / samples.rate_hz
    near = (np.abs(instants[:, None] - events) <= reach).any(axis=1)
    assert 0.0 < near.mean() < 0.5
    assert (samples.weights[:, 1] == 0.0).tolist() == near.tolist()


def test_excluded_intervals_are_left_out_with_all_that_filters_smear_into_them() -> None:
    log = exact(20.0)
    samples = samples_of(log, 4.0, exclude=[(5.0, 6.0), (12.0, 12.1)], standstill_speed=0.0)
    instants = samples.time[samples.rows]
    reach = samples.parallel.half / samples.rate_hz
    out = np.zeros(len(instants), dtype=bool)
    for first, last in ((5.0, 6.0), (12.0, 12.1)):
        out |= (instants > first - reach) & (instants < last + reach)
    assert (samples.weights == 0.0).all(axis=1).tolist() == out.tolist()
    assert (samples.weights == 0.0).any(axis=1).tolist() == out.tolist()


def test_reversals_are_no_rest() -> None:
    samples = samples_of(exact(20.0), 4.0)
    assert (np.abs(samples.qd[samples.rows]) < 0.01).any()
    assert samples.weights.all()


def test_a_joint_at_rest_has_no_weight() -> None:
    log = exact(20.0)
    q = log.position.copy()
    q[1500:2300, 1] = q[1500, 1]
    q[2300:, 1] += q[1500, 1] - q[2300, 1]
    samples = samples_of(replace(log, position=q), 4.0)
    instants = samples.time[samples.rows]
    rest = (instants > log.time[1500] + 1.0) & (instants < log.time[2300] - 1.0)
    assert not samples.weights[rest, 1].any()
    assert samples.weights[:, 0].mean() > 0.97
    assert samples.weights[instants < log.time[1500] - 1.0, 1].mean() > 0.97
