"""The script about section 6 of the 1992 paper: it agrees, and it notices when it should not."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "papers" / "izaguirre_1992_dependencies.py"


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location(SCRIPT.stem, SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_agrees_with_the_paper(script, capsys):
    assert script.main() == 0
    shown = capsys.readouterr().out
    assert "DIFFERS" not in shown
    assert shown.count("\n") > 90
    assert "53 parameters: there are 52" in shown


def test_table_1_has_52_names_of_which_34_are_moments(script):
    assert len(set(script.TABLE_1)) == len(script.TABLE_1) == 52
    assert sum(len(name) == 2 for name in script.TABLE_1) == 34  # one letter, one number


@pytest.mark.parametrize("wrong", ["f2", "b5", "y3"])
def test_another_name_in_table_1_does_not_agree(script, capsys, wrong):
    at = script.TABLE_1.index("e2")
    script.TABLE_1[at] = wrong
    assert script.main() == 1
    assert "DIFFERS" in capsys.readouterr().out


def test_a_missing_name_does_not_agree(script, capsys):
    script.TABLE_1.pop()
    assert script.main() == 1


def test_singular_values_leave_no_doubt_about_the_rank(script, capsys):
    """The errata's figures for another draw of points are 3.8 and 3e-14."""
    robot = script.load_robot("puma260")
    sizes = script.np.linalg.svd(script.torques_of_unit_parameters(robot), compute_uv=False)
    assert sizes[51] > 1.0
    assert sizes[52] < 1e-12
