"""The script about sections 6 and 7 of the 1992 paper: it agrees, draws, and notices when it should not."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

PAPERS = Path(__file__).parents[1] / "papers"


@pytest.fixture(scope="module")
def script():
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PAPERS))
        yield import_module("izaguirre_1992_identification")
        for name in set(sys.modules) - before:
            if str(PAPERS) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]


@pytest.fixture(scope="module")
def study(script):
    model = script.model_of(script.nearest_bodies(script.model_of(script.load_robot("puma260"))))
    system = script.paper_system(model.robot)
    motions = script.trajectories(system)
    return script.Study(system, [script.recorded(model, one, k) for k, one in enumerate(motions)])


def test_it_agrees_with_the_paper_and_draws_the_fits(script, capsys, tmp_path):
    assert script.main(str(tmp_path / "figures")) == 0
    shown = capsys.readouterr().out
    assert "DIFFERS" not in shown
    assert shown.count("  agrees\n") == 10
    assert "The 1 % rule: 52 -> 25, in the paper 52 -> 23" in shown
    for number, count in ((4, 52), (5, 25)):
        root = ElementTree.parse(tmp_path / "figures" / f"figure_{number}.svg").getroot()
        texts = [element.text for element in root.iter() if element.tag.endswith("text")]
        assert f"Torques of one trajectory, {count} parameters" in texts
        curves = [element for element in root.iter() if element.tag.endswith("polyline")]
        assert len(curves) == 12  # measured and estimated, six joints
        assert all(np.isfinite(float(x)) for x in curves[0].get("points", "").replace(",", " ").split())


def test_ten_trajectories_every_28_ms_with_their_ends_cut_off(script, study):
    assert len(study.logs) == 10
    assert all(one.rate_hz == pytest.approx(1.0 / 0.028) for one in study.logs)
    moving = [np.abs(one.qd[[0, -1]]).max() for one in study.logs]
    assert min(moving) > 0.1  # at rest at their ends, which are gone


def test_the_unknowns_are_the_papers(script, study):
    assert {script.our_name(row.name) for row in script.TABLE_1} == set(study.system.names)
    stars = [row.name for row in script.TABLE_1 if row.significant]
    assert stars == [row.name for row in script.TABLE_2]


def test_fits_are_those_of_numpy(script, study):
    """One trajectory, its weights as found, all columns stacked without dynid's panels."""
    samples, reduction = study.logs[3], study.reductions[3]
    robot, names = study.system.robot, study.system.names
    eye = np.eye(6)
    drives = [samples.qdd, samples.qd, np.sign(samples.qd)]
    Y = np.concatenate(
        [robot.regressor(samples.q, samples.qd, samples.qdd), *(x[:, :, None] * eye for x in drives)], axis=2
    )
    columns = [
        *robot.parameter_names,
        *(f"{letter}{k + 1}" for letter in ("Ia", "Fv", "Fc") for k in range(6)),
    ]
    found = script.weighted(reduction)
    W = (Y[:, :, [columns.index(name) for name in names]] / found.sigma[:, None]).reshape(-1, 52)
    values = np.linalg.lstsq(W, (samples.tau / found.sigma).ravel(), rcond=None)[0]
    assert found.values == pytest.approx(values, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("wrong", ["MX4", "YZ2"])
def test_another_significant_set_does_not_agree(script, study, monkeypatch, capsys, wrong):
    """A parameter that the simulated robot does not have."""
    paper = next(row for row in script.TABLE_1 if script.our_name(row.name) == wrong)
    monkeypatch.setattr(script, "TABLE_2", (*script.TABLE_2, paper))
    assert not script.print_significant(study, dict.fromkeys(study.system.names, 1.0))
    assert "DIFFERS" in capsys.readouterr().out


def test_biased_averages_do_not_agree(script, study, capsys):
    truth = dict(
        zip(study.system.names, (study.first.mean + 5.0 * study.first.deviation).tolist(), strict=True)
    )
    assert not script.print_table("", study.first, truth, script.TABLE_1)
    assert not script.print_friction(study.second, truth)
    assert capsys.readouterr().out.count("DIFFERS") == 2
