"""Derivatives: exact where they must be, and elsewhere off by the order that theory gives."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from dynid import ArgumentError
from dynid.signals.derivatives import (
    DERIVATIVES,
    Derivative,
    central,
    differentiate,
    izaguirre_differences,
    savitzky_golay,
    smoothing_spline,
)

STEP = 0.01
COUNT = 401
INNER = slice(40, -40)  # beyond what any end reaches here

Pair = tuple[np.ndarray, np.ndarray]
METHODS = {
    "central2": lambda q, h: central(q, h, 2),
    "central4": lambda q, h: central(q, h, 4),
    "central6": lambda q, h: central(q, h, 6),
    "izaguirre1992": izaguirre_differences,
    # a cut-off at a fixed share of the sampling rate keeps the window's number of samples
    "savitzky-golay": lambda q, h: savitzky_golay(q, h, 0.2 / h),
}
# method -> degree of the polynomials whose velocity and acceleration are exact
DEGREES = {
    "central2": (2, 3),
    "central4": (4, 5),
    "central6": (6, 7),
    "izaguirre1992": (2, 3),
    "savitzky-golay": (4, 5),  # 5 and not 4: an even filter has no share in odd powers
}
# method -> order in the step of both errors on a smooth signal
ORDERS = {"central2": 2, "central4": 4, "central6": 6, "izaguirre1992": 2, "savitzky-golay": 4}


def polynomial(degree: int) -> Polynomial:
    """Coefficients that make every power matter on -1..1."""
    return Polynomial(np.random.default_rng(degree).uniform(1.0, 2.0, degree + 1))


def errors(method: str, degree: int) -> tuple[float, float]:
    time = np.linspace(-1.0, 1.0, 81)
    p = polynomial(degree)
    qd, qdd = METHODS[method](p(time)[:, None], time[1] - time[0])
    velocity, acceleration = p.deriv()(time), p.deriv(2)(time)
    inner = slice(20, -20)
    return np.abs(qd[:, 0] - velocity)[inner].max(), np.abs(qdd[:, 0] - acceleration)[inner].max()


@pytest.mark.parametrize("method", METHODS)
def test_polynomials_up_to_the_degree_are_exact_and_beyond_are_not(method: str) -> None:
    """Rounding of q, up to 4 here, is multiplied by about 6 / h^2: 4 * 1e-16 * 1e4 = 4e-12.

    That is for simple weights; those of Savitzky and Golay are solved for, with an error of some 1e-15.
    """
    first, second = DEGREES[method]
    assert errors(method, first)[0] < 1e-12
    assert errors(method, second)[1] < 3e-10
    # the next power that a symmetric filter sees: odd for velocities, even for accelerations
    assert errors(method, first + 1)[0] > 1e-9
    assert errors(method, second + 1)[1] > 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_errors_on_a_sine_fall_with_the_order_in_the_step(method: str) -> None:
    w = 2.0 * np.pi
    steps = STEP * 2.0 ** np.arange(3, -1, -1)
    found = []
    for h in steps:
        time = h * np.arange(COUNT)
        qd, qdd = METHODS[method](np.sin(w * time)[:, None], h)
        off = qd[:, 0] - w * np.cos(w * time), qdd[:, 0] + w**2 * np.sin(w * time)
        found.append([np.sqrt(np.mean(e[INNER] ** 2)) for e in off])
    slopes = np.polyfit(np.log(steps), np.log(found), 1)[0]
    # the next term is (w h)^2 of the leading one, times about 1/3: 8 % at the largest step
    assert slopes == pytest.approx(ORDERS[method], abs=0.15)


@pytest.mark.parametrize("wh", [0.05, 0.3, 1.0, 2.0])
def test_the_differences_of_1992_pass_sines_as_their_formula_says(wh: float) -> None:
    """sin(w tau) / tau of the velocity and sin(w tau)^2 / tau^2 of the acceleration: Taylor's terms aside."""
    h = STEP
    time = h * np.arange(COUNT)
    w = wh / h
    v, a = izaguirre_differences(np.sin(w * time)[:, None], h)
    assert v[INNER, 0] == pytest.approx(np.sin(wh) / h * np.cos(w * time)[INNER], abs=1e-9 / h)
    assert a[INNER, 0] == pytest.approx(-(np.sin(wh) ** 2) / h**2 * np.sin(w * time)[INNER], abs=1e-9 / h**2)


@pytest.mark.parametrize("accuracy", [2, 4, 6])
def test_central_differences_are_those_of_the_interpolating_polynomial(accuracy: int) -> None:
    """The weights, solved for from the moments with which differences must agree."""
    half = accuracy // 2
    nodes = np.arange(-half, half + 1.0)
    moments = np.vander(nodes, increasing=True).T
    impulse = np.zeros((21, 1))
    impulse[10] = 1.0
    for order, found in enumerate(central(impulse, 1.0, accuracy), start=1):
        right = np.zeros(len(nodes))
        right[order] = order  # of x^k at 0: order! where k = order, else 0; 1! = 1 and 2! = 2
        weights = np.linalg.solve(moments, right)
        assert found[10 - half : 11 + half, 0][::-1] == pytest.approx(weights, abs=1e-13)
        assert np.count_nonzero(found) <= len(nodes)


def passed(method: Derivative, frequency: float, cutoff: float, rate: float = 1000.0) -> Pair:
    """Shares of the velocity's and the acceleration's amplitude that a sine keeps."""
    time = np.arange(0.0, 30.0 / cutoff + 8.0 / frequency, 1.0 / rate)
    w = 2.0 * np.pi * frequency
    qd, qdd = differentiate(np.sin(w * time)[:, None], 1.0 / rate, method, cutoff)
    edge = int(8.0 * rate / cutoff)
    middle = slice(edge, -edge)
    wave = np.cos(w * time)[middle], -np.sin(w * time)[middle]
    return tuple(
        float(x[middle, 0] @ y / (y @ y)) / w**k
        for k, (x, y) in enumerate(zip((qd, qdd), wave, strict=True), start=1)
    )


@pytest.mark.parametrize("frequency", [1.0, 3.0, 10.0, 20.0])
def test_smoothing_splines_pass_what_their_formula_says(frequency: float) -> None:
    """1 / (1 + (f / f_c)^4): a half at the cut-off, and an error of the fourth order below it.

    The formula is of the continuous problem; its samples differ by terms of (w h)^2 / 12: 0.1 % at 20 Hz.
    """
    share = 1.0 / (1.0 + (frequency / 10.0) ** 4)
    velocity, acceleration = passed("spline", frequency, 10.0)
    assert velocity == pytest.approx(share, rel=4e-3)
    assert acceleration == pytest.approx(share, rel=4e-3)


def test_smoothing_splines_keep_straight_lines() -> None:
    time = STEP * np.arange(COUNT)
    qd, qdd = smoothing_spline((3.0 - 2.0 * time)[:, None], STEP, 5.0)
    assert qd == pytest.approx(-2.0, abs=1e-8)
    assert qdd == pytest.approx(0.0, abs=1e-6)


def test_savitzky_golay_errs_with_the_fourth_power_of_the_frequency() -> None:
    """The window is of the cut-off and not of the step, so it is the frequency that the error falls with."""
    frequencies = np.array([0.5, 1.0, 2.0])
    off = np.array([1.0 - np.array(passed("savitzky-golay", f, 10.0)) for f in frequencies])
    slopes = np.polyfit(np.log(frequencies), np.log(np.abs(off)), 1)[0]
    assert slopes == pytest.approx(4.0, abs=0.15)


@pytest.mark.parametrize("cutoff", [4.0, 10.0, 25.0])
def test_savitzky_golay_smooths_by_half_at_its_cut_off(cutoff: float) -> None:
    """The window is seen by the reach of an impulse; two samples more in it are up to 3 % here."""
    rate = 1000.0
    velocity, _ = savitzky_golay(np.eye(2001)[:, [1000]], 1.0 / rate, cutoff)
    reach = np.flatnonzero(np.abs(velocity) > 1e-12)
    x = np.arange(reach[0], reach[-1] + 1.0) - 1000.0
    assert x[0] == -x[-1]
    taps = np.linalg.pinv(np.polynomial.polynomial.polyvander(x / x[-1], 4))[0]  # the polynomial's value at 0
    assert taps @ np.cos(2.0 * np.pi * cutoff / rate * x) == pytest.approx(0.5, abs=0.03)


def test_constants_and_single_columns_keep_their_shape() -> None:
    q = np.full((COUNT, 3), 1.25)
    for method in DERIVATIVES:
        for d in differentiate(q, STEP, method, 10.0):
            assert d.shape == q.shape
            assert d == pytest.approx(0.0, abs=1e-9)
    assert get_args(Derivative) == DERIVATIVES


def test_what_cannot_be_done_is_said() -> None:
    few = np.zeros((4, 1))
    with pytest.raises(ArgumentError, match=r"derivative .*centrl.*central"):
        differentiate(few, STEP, "centrl", 5.0)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="accuracy"):
        central(few, STEP, 3)
    with pytest.raises(ArgumentError, match="4 samples are too few for a window of"):
        savitzky_golay(few, STEP, 5.0)
    with pytest.raises(ArgumentError, match="at least 5"):
        smoothing_spline(few, STEP, 5.0)
