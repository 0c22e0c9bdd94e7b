"""The input file of 1992 as a robot format, against the program that the paper printed for it."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import dynid
from dynid.codegen.variables import read_variables
from dynid.errors import RobotError

PAPERS = Path(__file__).parents[1] / "papers"
VARIABLES = {
    "m6": 2.768114,
    "z6": 0.01401,
    "y4": -0.38219,
    "ad4": 0.079781,
    "cd4": 0.077761,
    "ia1": 0.091631,
    "ia2": 0.136312,
    "ia3": 0.030843,
    "ia4": 0.001781,
    "ia5": 0.006759,
    "ia6": 0.001262,
}
# As the paper prints it: sigma and bdyna have five zeros for six links, and the motors' line no name.
TEXT = "\n".join(
    [
        "number_links 6",
        "mass 0 0 0 0 0 m6 % initial link masses",
        "sigma 0 0 0 0 0",
        "alpha 90 0 -90 90 -90 0",
        "dpar 0 0 d3 d4 0 0",
        "apar 0 a2 0 0 0 0",
        "adyna 0 0 0 ad4 0 0",
        "bdyna 0 0 0 0 0",
        "cdyna 0 0 0 cd4 0 0",
        "ygrav 0 0 0 y4 0 0",
        "zgrav 0 0 0 0 0 z6",
        "ia1 ia2 ia3 ia4 ia5 ia6",
        "option moment",
        "option.update moment",
        *(f"variable {name} {value}" for name, value in VARIABLES.items()),
        "constant a2 0.20320",
        "constant d3 0.12624",
        "constant d4 0.20320",
        "stop",
        "what follows is not read",
    ]
)


@pytest.fixture(scope="module")
def listing():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PAPERS))
        yield import_module("izaguirre_1992_listing")
        sys.modules.pop("izaguirre_1992_listing", None)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "puma260.dyn"
    path.write_text(TEXT, encoding="ascii")
    return path


def test_it_is_the_robot_whose_program_the_paper_prints(file, listing):
    robot = dynid.load_robot(file)
    assert [joint.armature for joint in robot.joints] == list(listing.MOTORS)
    for q in np.random.default_rng(0).uniform(-3, 3, (10, 6)):
        D, gravity = listing.evaluated(q.tolist(), complete=True)
        assert np.abs(robot.mass_matrix(q) + np.diag(listing.MOTORS) - D).max() < 1e-14
        assert np.abs(robot.gravity_torque(q) - gravity).max() < 1e-14


def test_rows_that_are_too_short_are_noted(file):
    notes = " ".join(dynid.load_robot(file).notes)
    assert "sigma has 5 zeros for 6 links" in notes
    assert "bdyna" in notes


def test_without_option_moment_moments_are_about_the_centre_of_mass(tmp_path):
    text = "number_links 1\nsigma 0\nalpha 0\ndpar 0\napar 0\nmass 2\nxgrav 0.5\ncdyna 0.1\n"
    for option, expected in (("", 0.1 + 2 * 0.5**2), ("option moment\n", 0.1)):
        path = tmp_path / "one.dyn"
        path.write_text(text + option, encoding="ascii")
        assert dynid.load_robot(path).mass_matrix(np.zeros(1))[0, 0] == pytest.approx(expected, abs=1e-15)


def test_variables_change_the_model_linearly(file):
    robot, late = dynid.load_robot(file), read_variables(file)
    assert dict(zip(late.names, late.defaults, strict=True)) == VARIABLES
    changed = dict(VARIABLES, m6=3.5, ad4=0.2)
    path = file.with_name("changed.dyn")
    path.write_text(
        "\n".join(
            f"variable {line.split()[1]} {changed[line.split()[1]]}" if line.startswith("variable") else line
            for line in TEXT.splitlines()
        ),
        encoding="ascii",
    )
    difference = late.slopes @ (np.array(list(changed.values())) - late.defaults)
    assert np.abs(dynid.load_robot(path).parameters - robot.parameters - difference[:60]).max() < 1e-15


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("number_links 6", "number_links six", "number_links"),
        ("alpha 90 0 -90 90 -90 0", "", "alpha"),
        ("alpha 90 0 -90", "alpha 90 0", "alpha has 5 entries"),
        ("alpha 90 0", "alpha 90 nine", "nine"),
        ("sigma 0 0 0 0 0", "sigma 0 0 0 0 0 2", "sigma of link 6"),
        ("option moment", "options moment", "line 13"),
        ("constant a2 0.20320", "constant a2 1e999", "too large"),
        ("constant a2 0.20320", "constant m6 1", "m6"),
        ("constant a2 0.20320", "constant a2", "constant"),
        ("constant a2 0.20320", "", "a2"),
    ],
)
def test_what_is_wrong_is_named(file, old, new, said):
    assert old in TEXT
    file.write_text(TEXT.replace(old, new), encoding="ascii")
    with pytest.raises(RobotError, match=said):
        dynid.load_robot(file)
