"""How often intervals contain the truth when all is chosen from the log: few runs of the whole study."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RUNS = 24


@pytest.fixture(scope="module")
def coverage():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        yield import_module("benchmarks.coverage")


@pytest.mark.slow
def test_intervals_cover_with_all_defaults(coverage):
    """Pooled, chance makes 24 runs scatter by some 1.4 %, a single parameter's share by 4.5 %."""
    found = coverage.study(coverage.CASES["three joints"](), RUNS)
    print(found.summary())
    assert 0.92 - 0.014 <= found.pooled <= 0.97 + 0.014
    assert found.least >= 0.85 - 2.0 * 0.045
    assert found.white.mean() < 0.8  # what the papers' formula would have promised


@pytest.mark.slow
def test_intervals_cover_where_the_file_is_wrong(coverage):
    """A prior towards values that are off by 20 % must not be trusted."""
    found = coverage.study(coverage.CASES["wrong file"](), RUNS // 3)
    print(found.summary())
    assert found.pooled >= 0.92 - 0.024


def test_a_log_of_the_study_is_what_it_says(coverage):
    """Noise of the wanted size and memory on efforts that the motion needs."""
    case = coverage.three_joints()
    path = coverage.motion(case.robot, 20.0)
    exact = case.model.efforts(path.q, path.qd, path.qdd)
    noise = coverage.noisy_log(path, exact, 0).effort - exact
    size = coverage.EFFORT_NOISE * (exact**2).mean(axis=0) ** 0.5
    spread = (2.0 / (1.0 - coverage.MEMORY) / len(noise)) ** 0.5  # of a variance, relative, one sigma
    assert (noise**2).mean(axis=0) == pytest.approx(size**2, rel=4.0 * spread)
    memory = (noise[1:] * noise[:-1]).mean(axis=0) / (noise**2).mean(axis=0)
    assert memory == pytest.approx(coverage.MEMORY, abs=0.03)
