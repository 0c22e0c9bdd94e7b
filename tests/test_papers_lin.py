"""The scripts of Lin's papers run, agree, and would say so if they did not."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

PAPERS = Path(__file__).parent.parent / "papers"


def script(name: str):
    """A fresh copy of the script as a module, so that a test may change its tables."""
    spec = importlib.util.spec_from_file_location(name, PAPERS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_stanford_arm_agrees_to_the_printed_digit(capsys):
    paper = script("lin_1992")
    assert paper.main() == 0
    said = capsys.readouterr().out
    assert said.count("corrected") == len(paper.CORRECTED) == 6
    assert "DIFFERS" not in said
    assert len(paper.TABLE_II) == 33


@pytest.mark.parametrize(
    ("table", "name", "value"),
    [
        ("TABLE_II", "U1_33", "1.0145"),
        ("TABLE_II", "k5y", "0.1149"),
        ("TABLE_II", "U4_12", "0."),
        ("TABLE_I", 2, ("0.7648 -0.6443 0.",)),
        ("CORRECTED", "k2x", "-0.00001"),
    ],
)
def test_another_digit_would_be_noticed(table, name, value, capsys):
    paper = script("lin_1992")
    getattr(paper, table)[name] = value
    assert paper.main() == 1
    assert "DIFFERS" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("setting", "value"), [("DECIMALS", 3), ("NOISE", 1e-7), ("INSTANTS", (0.2, 0.2, 0.2))]
)
def test_another_identification_would_be_noticed(setting, value, capsys):
    """Torques with other errors, and samples that excite nothing."""
    paper = script("lin_1992")
    setattr(paper, setting, value)
    assert paper.main() == 1
    said = capsys.readouterr().out
    assert "DIFFERS" in said.partition("Section 4: Table II identified")[2]
    assert "DIFFERS" not in said.partition("Section 4: Table II identified")[0]


def test_printed_misprints_are_misprints(capsys):
    paper = script("lin_1992")
    paper.CORRECTED.clear()
    assert paper.main() == 1
    assert capsys.readouterr().out.count("DIFFERS") == 6


def test_sets_partition_and_maps_agree(capsys):
    paper = script("lin_1994")
    assert paper.main() == 0
    said = capsys.readouterr().out
    assert "DIFFERS" not in said
    assert "U2_13 - 0.1529 k2x" in said
    assert said.count("Corollary 6: ") == 12


@pytest.mark.parametrize("table", ["THEOREM_4", "THEOREM_5", "P1_TERMS"])
def test_another_set_would_be_noticed(table, capsys):
    """The test before shows that main() returns 0 without the change."""
    paper = script("lin_1994")
    paper.METHODS = ("lin",)  # no maps, to save time
    getattr(paper, table)["puma560"] = getattr(paper, table)["stanford"]
    assert paper.main() == 1
    assert "DIFFERS" in capsys.readouterr().out
