"""The parallel filter on many columns at once, which runs as products, against plain convolution."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.signals.filters import Decimator


def convolved(filter: Decimator, values: np.ndarray) -> np.ndarray:
    """NumPy's convolution of every column, thinned out."""
    flat = values.reshape(len(values), -1)
    columns = [np.convolve(column, filter.taps, mode="valid")[:: filter.factor] for column in flat.T]
    return np.array(columns).T.reshape(-1, *values.shape[1:])


@pytest.mark.parametrize("factor", [1, 3, 5])
@pytest.mark.parametrize("columns", [(7,), (31,), (32,), (4, 10), (90,)])
@pytest.mark.parametrize("length", [61, 62, 400, 1234])
def test_every_output_is_a_convolution(factor: int, columns: tuple[int, ...], length: int) -> None:
    filter = Decimator(200.0, 10.0, factor)
    values = np.random.default_rng(length).normal(size=(length, *columns))
    assert filter.apply(values) == pytest.approx(convolved(filter, values), abs=1e-14)


@pytest.mark.parametrize("columns", [8, 60])
def test_any_strides_will_do(columns: int) -> None:
    """Columns that follow on each other in memory, as panels have them, and a part of a wider array."""
    filter = Decimator(200.0, 10.0, 5)
    wide = np.random.default_rng(0).normal(size=(columns, 1000))[:, 50:950].T
    assert filter.apply(wide) == pytest.approx(convolved(filter, wide), abs=1e-14)
    part = np.random.default_rng(1).normal(size=(900, 2 * columns))[:, ::2]
    assert filter.apply(part) == pytest.approx(convolved(filter, part), abs=1e-14)


def test_too_few_samples_have_no_output() -> None:
    filter = Decimator(200.0, 10.0, 5)
    assert filter.apply(np.zeros((60, 40))).shape == (0, 40)
