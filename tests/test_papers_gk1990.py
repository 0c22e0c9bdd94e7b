"""The script about the 1990 paper: it agrees, formula by formula, and it notices when it should not."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from dynid.base.symbolic import poly, symbol

SCRIPT = Path(__file__).parents[1] / "papers" / "gautier_khalil_1990.py"


@pytest.fixture
def script(monkeypatch):
    spec = importlib.util.spec_from_file_location(SCRIPT.stem, SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, SCRIPT.stem, module)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_it_agrees_with_the_paper(script, capsys):
    assert script.main() == 0
    shown = capsys.readouterr().out
    assert "DIFFERS" not in shown
    assert shown.count("[agrees]") == 22 + 28  # lines of the relations and of the example
    assert shown.count("misprint]") == 1
    assert "36 base parameters, 24 fewer than 60: agrees" in shown


@pytest.mark.parametrize(
    ("link", "name", "right", "wrong"),
    [
        (6, "MYR5", "+ MZ6", "- MZ6"),
        (4, "XYR3", "D4 R4", "D4"),
        (3, "XXR3", "R4^2 - D4^2", "R4^2 + D4^2"),
        (3, "XXR2", "R3^2 (M3+M4+M5+M6)", "R3^2 (M4+M5+M6)"),
        (2, "ZZR1", "YYR3", "YY3"),
    ],
)
def test_another_formula_does_not_agree(script, capsys, link, name, right, wrong):
    printed = script.REGROUPINGS[link]
    assert right in printed[name]
    printed[name] = printed[name].replace(right, wrong)
    assert script.main() == 1
    assert "DIFFERS" in capsys.readouterr().out


def test_a_missing_formula_does_not_agree(script, capsys):
    del script.REGROUPINGS[3]["MZR2"]
    assert script.main() == 1


@pytest.mark.parametrize("relation", ["RELATION_15", "RELATION_16", "RELATION_19", "RELATION_20"])
def test_general_relations_are_compared_term_by_term(script, capsys, relation):
    printed = getattr(script, relation)
    name = next(iter(printed))
    printed[name] += " + MX1"
    assert script.main() == 1


def test_the_misprint_is_one(script, capsys):
    """As it stands, the third term of YYR in (16) has no S(alpha)."""
    corrected = script.MISPRINTS["(16)", "YYR1"]
    script.RELATION_16["YYR1"] = corrected
    assert script.main() == 1  # the line would then be no misprint


def test_formulas_are_read_as_they_are_written(script):
    R3, M3, M4 = map(symbol, ("R3", "M3", "M4"))
    assert script.parse("2 R3^2 (M3 - M4) - M3") == 2 * R3 * R3 * (M3 - M4) - M3
    assert script.parse("-(R3 + 3) M3") == -1 * (R3 + 3) * M3
    assert script.parse("Sa^2 + Ca^2") == poly(1)
