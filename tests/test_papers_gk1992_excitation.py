"""The study of exciting trajectories of 1992 runs, agrees, and would say so if it did not."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

PAPERS = Path(__file__).parents[1] / "papers"


@pytest.fixture(scope="module")
def study():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PAPERS))
        yield import_module("gk1992_excitation")
        sys.modules.pop("gk1992_excitation", None)


def test_the_quick_study_agrees_and_draws(study, tmp_path, capsys):
    assert study.main(study.QUICK, tmp_path) == 0
    said = capsys.readouterr().out
    assert "Everything agrees." in said
    for number in (2, 3, 4, 5):
        root = ElementTree.fromstring((tmp_path / f"figure-{number}.svg").read_text())
        assert root.tag.endswith("svg")
    assert len(root.findall(".//{*}circle")) == 16  # r + 1 points


def test_other_means_would_be_noticed(study, monkeypatch, capsys):
    wrong = tuple((r, a, 3.0 * b if r == 100 else b, c, d) for r, a, b, c, d in study.TABLE_2)
    monkeypatch.setattr(study, "TABLE_2", wrong)
    nothing = study.Effort((), 1, 1, 1)
    assert not study.print_table_2(nothing)[0]
    capsys.readouterr()


def test_means_of_random_sequences_are_those_of_the_errata(study):
    for r, expected in ((20, 2350.0), (50, 598.0), (200, 446.0), (500, 404.0)):
        assert np.isclose(study.random_conditions(r).mean(), expected, rtol=0.15 if r > 20 else 0.5)
