"""Families of motions: exact derivatives, rest at both ends, periodicity, sizes."""

import numpy as np
import pytest

from dynid.errors import ArgumentError
from dynid.excite.bases import fourier, spline

PERIOD = 3.0
BASES = {
    "fourier": fourier(PERIOD, 5),
    "spline": spline(PERIOD, 9),
    "closed spline": spline(PERIOD, 9, closed=True),
    "periodic spline": spline(PERIOD, 9, periodic=True),
}


@pytest.mark.parametrize("name", BASES)
def test_derivatives_are_those_of_the_functions(name):
    basis = BASES[name]
    times = np.linspace(0.05, PERIOD - 0.05, 41)
    h = 1e-4
    before, values, after = (basis.at(times + shift) for shift in (-h, 0.0, h))
    for order in range(3):
        slope = (after[order] - before[order]) / (2.0 * h)
        scale = np.abs(values[order + 1]).max()
        # central differences: h^2 / 6 times the third derivative, which is at most (wave number)^2 larger
        assert np.allclose(slope, values[order + 1], rtol=0.0, atol=1e-4 * max(scale, 1.0)), order


@pytest.mark.parametrize("name", BASES)
def test_motions_start_and_end_at_rest(name):
    ends = BASES[name].at(np.array([0.0, PERIOD]))
    size = np.abs(BASES[name].at(np.linspace(0.0, PERIOD, 50))).max(axis=(1, 2))
    assert np.abs(ends[1]).max() < 1e-10 * size[1]
    assert np.abs(ends[2]).max() < 1e-10 * size[2]
    assert np.array_equal(BASES[name].at(np.array([1.0]))[:, 0, 0], [1.0, 0.0, 0.0, 0.0])


def test_what_is_closed_ends_where_it_started_and_what_is_periodic_can_be_repeated():
    for name, orders in (("closed spline", 1), ("fourier", 4), ("periodic spline", 4)):
        first, last = np.swapaxes(BASES[name].at(np.array([0.0, PERIOD])), 0, 1)
        size = np.abs(BASES[name].at(np.linspace(0.0, PERIOD, 50))).max(axis=(1, 2))
        for order in range(orders):
            assert np.abs(first[order] - last[order]).max() < 1e-9 * size[order], (name, order)
    first, last = np.swapaxes(BASES["spline"].at(np.array([0.0, PERIOD])), 0, 1)
    assert np.abs(first[0] - last[0]).max() > 0.1


def test_sizes_are_the_free_functions():
    # 2 x 5 waves and a constant less 2 conditions of rest; 9 + 5 splines less 4, and 1 or 3 more
    sizes = {name: basis.size for name, basis in BASES.items()}
    assert sizes == {"fourier": 9, "spline": 10, "closed spline": 9, "periodic spline": 7}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: fourier(0.0, 5), "positive number of seconds"),
        (lambda: fourier(np.nan, 5), "positive number of seconds"),
        (lambda: fourier(1.0, 1), "2 or more"),
        (lambda: fourier(1.0, 1000), "at most 100"),
        (lambda: spline(1.0, 2), "3 to 200 pieces"),
        (lambda: spline(1.0, 5, periodic=True), "6 to 200 pieces"),
    ],
)
def test_impossible_families_are_named(make, said):
    with pytest.raises(ArgumentError, match=said):
        make()
