"""Motions of one joint: rest to rest, both ways, within limits, and the paper's step."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.errors import ArgumentError
from dynid.plan.motions import HIGHEST_HZ, KINDS, SETTLED, Reach, critically_damped, move

REACHES = (
    Reach(-2.5, 2.5, 2.0, 8.0),
    Reach(0.0, 0.3, 0.25, 1.0),
    Reach(-400.0, 400.0, 3.0, 15.0),
    Reach(-1.0, 1.0, 30.0, 0.1),
    Reach(0.2, 0.21, 2.0, 8.0),
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reach", REACHES, ids=str)
def test_motions_keep_their_limits_and_come_back(kind: str, reach: Reach) -> None:
    one = move(kind, reach, 100.0)
    assert reach.lower < one.q.min() <= one.q.max() < reach.upper
    assert np.abs(one.qd).max() <= reach.velocity
    assert np.abs(one.qdd).max() <= reach.acceleration * (1 + 1e-9)
    way = float(np.ptp(one.q))
    assert abs(one.q[-1] - one.q[0]) < 1e-6 * way
    assert max(abs(one.qd[0]), abs(one.qd[-1])) < 1e-6 * np.abs(one.qd).max()
    forth = np.sum(one.qd > 0.0) / np.sum(one.qd != 0.0)
    assert 0.4 < forth < 0.6
    assert np.allclose(np.diff(one.times), 0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_rates_are_derivatives(kind: str) -> None:
    """By differences of second order: errors go with the square of the step, at most q'''' / 12 of it."""
    for rate_hz, tolerance in ((200.0, 4e-3), (400.0, 1e-3)):
        one = move(kind, REACHES[0], rate_hz)
        inner = np.abs(np.diff(one.qdd, 2)) < 0.2 * np.abs(one.qdd).max()  # the step's acceleration jumps
        h = 1.0 / rate_hz
        qd = (one.q[2:] - 2 * one.q[1:-1] + one.q[:-2]) / h**2
        v = (one.q[2:] - one.q[:-2]) / (2 * h)
        assert np.abs(qd - one.qdd[1:-1])[inner].max() < tolerance * np.abs(one.qdd).max()
        assert np.abs(v - one.qd[1:-1])[inner].max() < tolerance * np.abs(one.qd).max()


def test_smooth_motions_have_no_high_frequencies() -> None:
    one = move("smooth", REACHES[0], 100.0)
    spectrum = np.abs(np.fft.rfft(one.qd[:-1]))
    frequencies = np.fft.rfftfreq(len(one.qd) - 1, 0.01)
    assert spectrum[frequencies > HIGHEST_HZ + 0.01].max() < 1e-9 * spectrum.max()
    assert max(abs(one.qdd[0]), abs(one.qdd[-1])) < 1e-9 * np.abs(one.qdd).max()


def test_the_step_of_the_paper() -> None:
    """Eqs. (64) to (66) by hand at sigma t = 2, 3 and 4."""
    q, qd, qdd = critically_damped((0.2, 0.3, 0.4), 0.7, np.pi / 6, 10.0)
    e = np.exp(-np.array([2.0, 3.0, 4.0]))
    np.testing.assert_allclose(q, 0.7 + np.pi / 6 * (1 - np.array([3.0, 4.0, 5.0]) * e), rtol=1e-14)
    np.testing.assert_allclose(qd, np.pi / 6 * np.array([20.0, 30.0, 40.0]) * e, rtol=1e-14)
    np.testing.assert_allclose(qdd, np.pi / 6 * 100 * np.array([-1.0, -2.0, -3.0]) * e, rtol=1e-14)


def test_the_step_is_critically_damped() -> None:
    """q'' = - 2 sigma q' - sigma^2 (q - end), and at rest where it ends."""
    one = move("step", REACHES[0], 100.0)
    half = len(one.q) // 2
    q, qd, qdd, end = one.q[:half], one.qd[:half], one.qdd[:half], one.q[half]
    columns = np.column_stack([-2.0 * qd, end - q])
    sigma, squared = np.linalg.lstsq(columns, qdd, rcond=None)[0]
    assert squared == pytest.approx(sigma**2, rel=1e-6)
    assert sigma * one.times[half - 1] == pytest.approx(SETTLED, rel=0.01)


def test_a_smaller_scale_is_gentler() -> None:
    for kind in KINDS:
        large, small = move(kind, REACHES[0], 100.0), move(kind, REACHES[0], 100.0, 0.5)
        assert np.abs(small.qdd).max() <= 0.5 * np.abs(large.qdd).max() * (1 + 1e-12)
        assert np.ptp(small.q) <= np.ptp(large.q)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("jerky", REACHES[0], 100.0), "motion 'jerky' is unknown"),
        (("smooth", REACHES[0], 1.0), "at least 16 Hz, not 1"),
        (("smooth", REACHES[0], float("nan")), "at least 16 Hz, not nan"),
        (("smooth", REACHES[0], 100.0, 0.0), "between 0 and 1, not 0"),
    ],
)
def test_what_cannot_be(arguments: tuple[object, ...], said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        move(*arguments)
