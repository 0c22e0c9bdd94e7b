"""The script about the 1992 paper on exciting trajectories: it agrees, and notices when it should not."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

PAPERS = Path(__file__).parents[1] / "papers"
MODULES = ("gautier_khalil_1992", "gk1992_excitation", "gk1992_points", "gk1992_tables")


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PAPERS))
        yield import_module("gautier_khalil_1992")
        for name in MODULES:
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def found(script):
    """The four sequences; the search for the optimised ones takes most of the script's time."""
    return {
        (r, kind): (script.optimised if kind == "optimum" else script.random_with_condition)(
            r, script.CONDITION[r, kind]
        )
        for r, kind in script.KEYS
    }


@pytest.fixture
def at_once(script, found, monkeypatch):
    """The script with these sequences and fewer draws."""
    monkeypatch.setattr(script, "optimised", lambda r, _: found[r, "optimum"])
    monkeypatch.setattr(script, "random_with_condition", lambda r, _: found[r, "random"])
    monkeypatch.setattr(script, "print_table_2", lambda _: (True, {}))
    monkeypatch.setattr(script, "DRAWS", 24)
    return script


def test_it_agrees_with_the_paper(at_once, capsys):
    assert at_once.main() == 0
    shown = capsys.readouterr().out
    assert "DIFFERS" not in shown
    assert shown.count("agrees") == 1 + 1 + 3 * 12 + 1 + 4 + 5 + 1 + 1 + 11 + 1


def test_table_2_counts(at_once, monkeypatch, capsys):
    monkeypatch.setattr(at_once, "print_table_2", lambda _: (False, {}))
    assert at_once.main() == 1


def test_optimised_points_are_better_than_random_ones(found):
    for r in (15, 30):
        assert found[r, "optimum"].condition < 0.06 * found[r, "random"].condition


@pytest.mark.parametrize(
    ("table", "key"),
    [("OF_EFFORTS", (30, "random")), ("OF_COLUMNS", (15, "optimum")), ("OF_BOTH", (15, "random"))],
)
def test_an_error_of_another_size_does_not_agree(at_once, monkeypatch, capsys, table, key):
    printed = getattr(at_once, table)
    rows = [list(row) for row in printed[key]]
    rows[1][2 if table == "OF_BOTH" else 1] *= 0.03
    monkeypatch.setitem(printed, key, rows)
    assert at_once.main() == 1
    assert "DIFFERS" in capsys.readouterr().out


def test_deviations_of_another_size_do_not_agree(at_once, monkeypatch, capsys):
    key = (30, "optimum")
    table = at_once.IDENTIFICATIONS[key]
    larger = type(table)(table.number, table.k, table.estimates, tuple(3.0 * s for s in table.deviations))
    monkeypatch.setitem(at_once.IDENTIFICATIONS, key, larger)
    assert at_once.main() == 1
    assert "Table 6: ours by the paper's 0.3" in capsys.readouterr().out


def test_predicted_deviations_are_those_of_the_errors(script, found):
    """Of 400 estimates each; the deviation of a deviation is 1 / sqrt(800)."""
    points, rng = found[30, "optimum"], np.random.default_rng(5)
    errors = [
        script.least_squares(points.W, points.Y + points.effort_noise(0.01, rng)) - script.TRUE
        for _ in range(400)
    ]
    assert np.std(errors, axis=0) == pytest.approx(points.deviations(0.01), rel=4.0 / np.sqrt(800.0))


def test_energy_is_what_the_efforts_do(script, found):
    """A row of W times X is the work along any way between two points, here along a straight one."""
    points, robot = found[15, "random"], script.ROBOT
    s = np.linspace(0.0, 1.0, 4001)[:, None]
    a, b, va, vb = points.q[0], points.q[1], points.qd[0], points.qd[1]
    # a cubic with the given ends, in one second
    q = a + va * s + (3 * (b - a) - 2 * va - vb) * s**2 + (va + vb - 2 * (b - a)) * s**3
    qd = va + 2 * (3 * (b - a) - 2 * va - vb) * s + 3 * (va + vb - 2 * (b - a)) * s**2
    qdd = 2 * (3 * (b - a) - 2 * va - vb) + 6 * (va + vb - 2 * (b - a)) * s
    power = np.sum(robot.inverse_dynamics(q, qd, qdd) * qd, axis=1)
    assert np.trapezoid(power, s[:, 0]) == pytest.approx(float(points.W[0] @ script.TRUE), rel=1e-5)
