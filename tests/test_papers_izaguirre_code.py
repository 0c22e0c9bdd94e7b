"""The script about generated code of the 1992 paper: it agrees, and notices when it should not."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

PAPERS = Path(__file__).parents[1] / "papers"
MODULES = ("izaguirre_1992_code", "izaguirre_1992_listing", "bandwidths")
SHORT = 2_000  # of effort


@pytest.fixture
def script():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PAPERS))
        yield import_module("izaguirre_1992_code")
        for name in MODULES:
            sys.modules.pop(name, None)


def test_it_agrees_with_the_paper(script, capsys):
    assert script.main(SHORT) == 0
    shown = capsys.readouterr().out
    assert "98 multiplications, 70 additions" in shown
    assert "Not everything" not in shown


def test_the_dropped_terms_make_the_listing_exact_and_each_is_needed(script):
    arm = script.rigid(script.model_of(script.load_robot("puma260")))
    assert max(script.differences(arm, complete=True).values()) < 1e-14
    listing = import_module("izaguirre_1992_listing")
    for name, term in list(listing.DROPPED.items()):
        del listing.DROPPED[name]
        assert max(script.differences(arm, complete=True).values()) > 1e-4, name
        listing.DROPPED[name] = term


def test_a_formula_changed_is_noticed(script, capsys, monkeypatch):
    listing = import_module("izaguirre_1992_listing")
    arm = script.rigid(script.model_of(script.load_robot("puma260")))
    monkeypatch.setattr(listing, "PRINTED", listing.PRINTED.replace("BS31 * A2", "BS32 * A2"))
    assert not script.print_listing(arm)
    assert "D23" in capsys.readouterr().out


def test_the_bandwidth_of_a_sine_is_its_frequency(script):
    bandwidths = import_module("bandwidths")
    t = np.arange(0.0, 20.0, 0.01)
    for hz in (0.5, 3.0, 12.0):
        assert bandwidths.bandwidth(np.sin(2 * np.pi * hz * t), 100.0) == pytest.approx(hz, abs=0.1)
    q, qd, qdd = bandwidths.simulated()
    middle = (q[2:] - q[:-2]) * 50.0
    assert np.abs(middle - qd[1:-1]).max() < 0.1  # rectangles of 10 ms, at 8 rad/s^2
    assert np.abs(qdd).max() < 8.5
