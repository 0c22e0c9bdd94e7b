"""Estimates made physical and exported, by function and by command."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dynid import load_robot
from dynid.cli import main
from dynid.errors import ArgumentError, DynidError
from dynid.estimate import Estimate
from dynid.estimate_file import load_estimate
from dynid.export.exported import motions
from dynid.export.source import read_source
from dynid.export.write import FORMATS, export
from dynid.fit.identify import source_of
from dynid.fit.reduction import total
from dynid.fit.solve import weighted
from dynid.fit.system import Terms, system_of
from dynid.formats.urdf import parse_urdf
from dynid.model import DynamicModel, model_of
from dynid.physical import Bounds, LinkBounds
from dynid.physical.completion import nearest_completion
from dynid.physical.estimate import make_physical
from dynid.robot import Link, Robot
from dynid.spatial import is_physical, pseudo_inertia
from helpers_estimate import as_estimate, estimate_of, random_samples, reductions_of
from helpers_export import by_pinocchio
from helpers_mjcf import random_mjcf
from helpers_urdf import random_urdf

PANDA = load_robot("panda")
RNG = np.random.default_rng(8)
NOISE = 0.1  # Nm


def with_drives(robot: Robot) -> DynamicModel:
    rng = np.random.default_rng(8)
    armature, viscous, coulomb, offset = rng.uniform(0.1, 2.0, (4, robot.dof))
    own = model_of(robot)
    friction = replace(own.friction, viscous=viscous, coulomb=coulomb, offset=offset)
    return replace(own, armature=armature, friction=friction)


TRUTH = with_drives(PANDA)


@pytest.fixture(scope="module")
def free() -> Estimate:
    return estimate_of(TRUTH, 1, noise=NOISE)


@pytest.fixture(scope="module")
def physical(free: Estimate) -> Estimate:
    return make_physical(free)


# --- make_physical -----------------------------------------------------------------------------------


def test_a_physical_estimate_predicts_as_well_and_is_consistent(free: Estimate, physical: Estimate) -> None:
    assert physical.physical is True
    assert physical.status == "trusted"
    bodies = pseudo_inertia(physical.parameters.reshape(-1, 10))
    assert (np.linalg.eigvalsh(bodies)[:, 0] > 0.0).all()
    fresh = random_samples(TRUTH, 77, noise=0.0)
    errors = [e.predict(fresh.q, fresh.qd, fresh.qdd) - fresh.tau for e in (free, physical)]
    size = np.linalg.norm(fresh.tau)
    assert np.linalg.norm(errors[1]) / size <= np.linalg.norm(errors[0]) / size + 0.01
    base = physical.base
    values = base.values(np.concatenate([physical.parameters, physical.model.armature, drives(physical)]))
    assert values == pytest.approx(physical.values[: base.count], rel=1e-9, abs=1e-9)


def drives(estimate: Estimate) -> np.ndarray:
    friction = estimate.friction
    return np.concatenate([friction.viscous, friction.coulomb, friction.offset])


def test_its_cost_is_said(physical: Estimate, free: Estimate) -> None:
    """The distances are those of the values themselves."""
    said = physical.choices["physical"]
    count = free.base.count
    moved = np.linalg.norm(physical.values[:count] - free.values[:count]) / np.linalg.norm(
        free.values[:count]
    )
    assert said["base_distance_percent"] == pytest.approx(100.0 * moved, rel=1e-6)
    R, r = free.information[:, :-1], free.information[:, -1]
    costs = [np.sum((R @ e.values - r) ** 2) + free.residual for e in (free, physical)]
    assert said["residual_rise_percent"] == pytest.approx(
        100.0 * (np.sqrt(costs[1] / costs[0]) - 1.0), rel=1e-3, abs=1e-9
    )
    counts = [said[f"{origin}_parameters"] for origin in ("measured", "grouped", "prior")]
    assert sum(counts) == len(physical.origins) == 70
    assert min(counts) > 0


def test_bodies_are_near_the_values_of_methods_that_do_not_minimise(free: Estimate) -> None:
    """Total least squares has values off the minimum of the triangle: two deviations of noise here."""
    R = free.information[:, :-1]
    moved = free.values + np.linalg.solve(R, 2.0 * RNG.normal(size=len(free.values)))
    for method, near in (("tls", moved), ("wls", free.values)):
        found = make_physical(replace(free, values=moved, choices={**free.choices, "method": method}))
        distances = [np.linalg.norm(R @ (found.values - values)) for values in (near, free.values, moved)]
        assert distances[0] == min(distances)
        assert found.choices["physical"]["distance_standard_deviations"] == pytest.approx(
            distances[0], rel=1e-6
        )


def test_a_bad_prior_hardly_moves_what_the_data_decide(free: Estimate) -> None:
    """Bodies of three times the mass: values within the noise of those without."""
    robot = replace(
        PANDA, links=tuple(replace(link, parameters=3.0 * link.parameters) for link in PANDA.links)
    )
    system = system_of(robot, Terms(width=0.0))
    reductions = reductions_of(TRUTH, system, 1, NOISE)
    solution = weighted(total(reductions))
    estimate = as_estimate(system, solution, total(reductions))
    found = make_physical(estimate, folds=[fold.joined(solution.sigma) for fold in reductions])
    assert found.physical
    assert found.choices["physical"]["weight"] < 100.0
    R = free.information[:, :-1]
    assert np.linalg.norm(R @ (found.values - free.values)) < 2.0 * np.sqrt(len(free.values))


def test_neutral_bodies_stand_in_for_what_the_file_lacks() -> None:
    gap = replace(
        PANDA, links=tuple(Link(name=k.name) if i in (2, 4) else k for i, k in enumerate(PANDA.links))
    )
    none = replace(PANDA, links=tuple(Link(name=link.name) for link in PANDA.links))
    for robot, words in ((gap, "neutral bodies for"), (none, "neutral bodies of")):
        estimate = estimate_of(TRUTH, 1, robot=robot)
        found = make_physical(estimate)
        assert found.physical
        assert words in found.choices["physical"]["prior"]
        assert found.choices["physical"]["prediction_change_percent"] < 1.0
    with pytest.raises(ArgumentError, match=f"{PANDA.links[2].name!r}, {PANDA.links[4].name!r}"):
        make_physical(estimate_of(TRUTH, 1, robot=gap), prior="cad")


def test_bounds_that_contradict_leave_the_values_and_say_so(free: Estimate) -> None:
    bounds = Bounds(total_mass=(1.0, 2.0), links={PANDA.links[1].name: LinkBounds(mass=(3.0, 4.0))})
    found = make_physical(free, bounds=bounds)
    assert found.physical is False
    assert found.status == "weak"
    assert found.parameters is None
    assert np.array_equal(found.values, free.values)
    assert any("total mass" in advice for advice in found.advice)


def test_a_physical_estimate_is_saved_with_its_bodies(physical: Estimate, tmp_path: Path) -> None:
    physical.save(tmp_path / "estimate.json")
    back = load_estimate(tmp_path / "estimate.json")
    assert np.array_equal(back.parameters, physical.parameters)
    assert back.origins == physical.origins
    assert back.choices["physical"]["weight"] == physical.choices["physical"]["weight"]


def test_the_nearest_completion_has_the_base_values_and_the_prior_s_masses(free: Estimate) -> None:
    model = nearest_completion(free)
    rigid = np.concatenate([model.parameters, model.armature, drives(free)])
    assert free.base.values(rigid) == pytest.approx(free.values, rel=1e-9, abs=1e-9)
    assert model.parameters[9::10] == pytest.approx(PANDA.parameters[9::10], rel=0.2)
    q, qd, qdd = RNG.uniform(-1.0, 1.0, (3, 20, 7))
    assert model.efforts(q, qd, qdd) == pytest.approx(free.predict(q, qd, qdd), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", [1, 5, 6])
def test_weights_and_offsets_that_cannot_be_told_apart_are_counted_once(seed: int) -> None:
    """Vertical slides: the offset of friction is in the base value of the masses."""
    robot = parse_urdf(
        random_urdf(np.random.default_rng(seed), 4, mimic=False, kinds=("prismatic", "revolute")), "x.urdf"
    )
    free = estimate_of(with_drives(robot), seed, noise=0.0)
    assert len([name for name in free.names if name.startswith("Fo")]) < robot.dof
    found = make_physical(free)
    for estimate, model in ((free, nearest_completion(free)), (found, found.model)):
        assert np.linalg.norm(estimate.values - free.values) <= 1e-3 * np.linalg.norm(free.values)
        assert_same_efforts(model, with_drives(robot), 1e-3)


def assert_same_efforts(a: DynamicModel, b: DynamicModel, tolerance: float = 1e-9) -> None:
    state = np.random.default_rng(9).uniform(-1.0, 1.0, (3, 20, a.robot.dof))
    efforts = a.efforts(*state), b.efforts(*state)
    assert np.abs(efforts[0] - efforts[1]).max() <= tolerance * np.abs(efforts[1]).max()


# --- export ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def urdf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A URDF with fixed links, and beside it the estimate of the robot, not yet physical."""
    folder = tmp_path_factory.mktemp("arm")
    text = random_urdf(np.random.default_rng(3), 4, mimic=False, tree=False).replace(
        "\n", "\n<!-- mine -->\n"
    )
    (folder / "arm.urdf").write_bytes(text.encode())
    robot = load_robot(folder / "arm.urdf")
    estimate = estimate_of(with_drives(robot), 2, noise=0.01, source=source_of(robot))
    estimate.save(folder / "free.json")
    make_physical(estimate).save(folder / "physical.json")
    return folder


def run(capsys, *arguments: object) -> tuple[int, str, str]:
    status = main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_written(capsys, urdf: Path, tmp_path: Path, format: str) -> None:
    target = tmp_path / "out"
    status, out, _ = run(capsys, "export", urdf / "physical.json", "--format", format, "-o", target, "--json")
    assert status == 0
    printed = json.loads(out)
    assert printed["format"] == format
    assert printed["physical"] is True
    assert target.stat().st_size > 0


def test_the_user_s_urdf_comes_back_with_new_numbers(capsys, urdf: Path, tmp_path: Path) -> None:
    assert run(capsys, "export", urdf / "physical.json", "-o", tmp_path / "new.urdf")[0] == 0
    text = (tmp_path / "new.urdf").read_bytes().decode()
    assert text.count("<!-- mine -->") == (urdf / "arm.urdf").read_text().count("<!-- mine -->")
    estimate = load_estimate(urdf / "physical.json")
    robot = estimate.robot
    expected = robot.inverse_dynamics(*motions(robot), estimate.parameters)
    assert by_pinocchio(text, robot) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_base_values_alone_are_refused_until_asked_for(capsys, urdf: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.urdf"
    status, out, err = run(capsys, "export", urdf / "free.json", "--format", "urdf", "-o", target)
    assert (status, out) == (2, "")
    assert "--physical" in err
    assert "--allow-impossible" in err
    assert not target.exists()
    assert run(capsys, "export", urdf / "free.json", "-o", target, "--allow-impossible")[0] == 0
    free = load_estimate(urdf / "free.json")
    back = load_robot(target)
    model = replace(free.model, parameters=back.parameters, armature=nearest_completion(free).armature)
    assert_same_efforts(model, free.model)
    assert run(capsys, "export", urdf / "free.json", "-o", target, "--physical", "--force")[0] == 0
    assert all(is_physical(link.parameters) for link in load_robot(target).links)


def test_impossible_numbers_in_a_file_are_refused(physical: Estimate) -> None:
    bodies = np.array(physical.parameters)
    bodies[15] *= -1.0
    with pytest.raises(DynidError, match="no bodies and drives"):
        export(replace(physical, parameters=bodies), "urdf")


def test_tables_hold_what_was_found(free: Estimate, physical: Estimate, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(export(physical, "csv").text)
    with (tmp_path / "t.csv").open() as file:
        rows = list(csv.DictReader(file))
    identified = [row for row in rows if row["set"] == "identified"]
    standard = [row for row in rows if row["set"] == "standard"]
    assert [float(row["value"]) for row in identified] == physical.values.tolist()
    assert [float(row["std"]) for row in identified] == physical.std.tolist()
    assert [row["origin"] for row in standard] == list(physical.origins)
    latex = export(free, "latex").text
    assert latex.count(r"\\") == len(free.names) + 1
    assert r"\(ZZ_{R1}\)" in latex


def test_another_file_is_not_the_one_that_was_identified(capsys, urdf: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.urdf"
    other.write_bytes((urdf / "arm.urdf").read_bytes() + b"<!-- edited -->")
    target = tmp_path / "out.urdf"
    arguments = ("export", urdf / "physical.json", "-o", target, "--original")
    status, _, err = run(capsys, *arguments, other)
    assert status == 2
    assert "SHA-256" in err
    assert str(other) in err
    assert not target.exists()
    assert run(capsys, *arguments, urdf / "arm.urdf")[0] == 0


def test_a_text_changed_inside_of_the_estimate_is_noticed(capsys, urdf: Path, tmp_path: Path) -> None:
    record = json.loads((urdf / "physical.json").read_text())
    record["source"]["text"] = record["source"]["text"].replace("mine", "yours")
    (tmp_path / "e.json").write_text(json.dumps(record))
    status, _, err = run(capsys, "export", tmp_path / "e.json", "-o", tmp_path / "out.urdf")
    assert status == 2
    assert "hash" in err


@pytest.mark.parametrize("name", ["arm.xml", "arm.xacro"])
def test_urdf_under_other_names_is_patched_too(tmp_path: Path, name: str) -> None:
    """A xacro file cannot be patched itself; the URDF it expands to is."""
    text = random_urdf(np.random.default_rng(3), 3, mimic=False, tree=False)
    if name.endswith("xacro"):
        pytest.importorskip("xacrodoc")
        end = parse_urdf(text, "arm.urdf").links[-1].name
        text = text.replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ')
        more = (
            '<xacro:property name="camera" value="eye"/><link name="${camera}"/>'
            f'<joint name="mount" type="fixed"><parent link="{end}"/><child link="${{camera}}"/></joint>'
        )
        text = text.replace("</robot>", f"{more}</robot>")
    (tmp_path / name).write_text(text.replace("</robot>", "<!-- mine --></robot>"))
    robot = load_robot(tmp_path / name)
    estimate = make_physical(estimate_of(with_drives(robot), 2, noise=0.01, source=source_of(robot)))
    exported = export(estimate, "urdf").text
    assert "<!-- mine -->" in exported
    assert "xacro:property" not in exported
    expected = robot.inverse_dynamics(*motions(robot), estimate.parameters)
    assert by_pinocchio(exported, robot) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_other_formats_have_no_text_to_patch(tmp_path: Path) -> None:
    (tmp_path / "m.xml").write_text(export(make_physical(estimate_of(TRUTH)), "mjcf").text)
    assert source_of(load_robot(tmp_path / "m.xml")) is None
    assert source_of(PANDA) is None
    latin = tmp_path / "latin.urdf"
    text = random_urdf(np.random.default_rng(3), 2)
    latin.write_bytes(f'<?xml version="1.0" encoding="iso-8859-1"?><!-- \xe9 -->{text}'.encode("latin-1"))
    assert source_of(load_robot(latin)) is None


BAD = {
    "format": (("--format", "step", "-o", "x.step"), "'step' is unknown"),
    "suffix": (("-o", "x.what"), "--format is needed"),
    "folder": (("-o", "no/such/folder/x.urdf"), "no directory"),
    "urdf option": (("-o", "x.mjcf", "--urdf", "a.urdf"), "pinocchio"),
    "original option": (("-o", "x.mjcf", "--original", "a.urdf"), "format urdf only"),
    "original missing": (("-o", "x.urdf", "--original", "a.urdf"), "no such file"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_end_in_one_message(capsys, urdf: Path, tmp_path: Path, monkeypatch, case: str) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, message = BAD[case]
    status, out, err = run(capsys, "export", urdf / "physical.json", *arguments)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten_without_force(capsys, urdf: Path, tmp_path: Path) -> None:
    target = tmp_path / "x.urdf"
    target.write_text("precious")
    status, _, err = run(capsys, "export", urdf / "physical.json", "-o", target)
    assert status == 2
    assert "--force" in err
    assert target.read_text() == "precious"


def test_texts_that_are_not_utf_8_are_refused(tmp_path: Path) -> None:
    latin = tmp_path / "latin.urdf"
    text = random_urdf(np.random.default_rng(3), 2)
    latin.write_bytes(f'<?xml version="1.0" encoding="iso-8859-1"?><!-- \xe9 -->{text}'.encode("latin-1"))
    with pytest.raises(DynidError, match="not UTF-8"):
        read_source(latin)


# --- every robot ---------------------------------------------------------------------------------------


SOURCES = ["stanford", "puma560", "panda", "scara", "planar2", "mjcf", "urdf", "some joints", "no gravity"]


def robot_from(source: str, folder: Path) -> Robot:
    """A robot of each kind of file: DH tables of both conventions, MJCF, URDF, parts, weightless ones."""
    rng = np.random.default_rng(12)
    match source:
        case "mjcf":
            (folder / "arm.xml").write_text(random_mjcf(5))
            return load_robot(folder / "arm.xml")
        case "urdf" | "some joints":
            text = random_urdf(rng, 5, mimic=False, tree=False)
            (folder / "arm.urdf").write_text(text)
            names = load_robot(folder / "arm.urdf").joint_names
            return load_robot(folder / "arm.urdf", joints=None if source == "urdf" else names[1:4])
        case "no gravity":
            return load_robot("panda", gravity=(0.0, 0.0, 0.0))
        case _:
            return load_robot(source)


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_written_is_loaded_again_with_its_drives(source: str, tmp_path: Path) -> None:
    """As far as a format has places for drives; a note names what it has none for."""
    robot = robot_from(source, tmp_path)
    estimate = make_physical(estimate_of(with_drives(robot), 3, noise=0.01, source=source_of(robot)))
    state = np.random.default_rng(9).uniform(-1.0, 1.0, (3, 20, robot.dof))
    lost = {"toml": (), "xml": ("Fo",), "urdf": ("Ia", "Fo")}
    for suffix, letters in lost.items():
        if suffix == "toml" and source == "mjcf":
            continue  # a tree, which has no DH table
        exported = export(estimate, {"xml": "mjcf"}.get(suffix, suffix))
        path = tmp_path / f"out.{suffix}"
        path.write_bytes(exported.text.encode())
        back = load_robot(path, gravity=robot.gravity, joints=robot.joint_names)
        at = [robot.joint_names.index(name) for name in back.joint_names]
        model = estimate.model
        model = replace(
            model,
            armature=model.armature * ("Ia" not in letters),
            friction=replace(model.friction, offset=model.friction.offset * ("Fo" not in letters), width=0.0),
        )
        expected = model.efforts(*state)[:, at]
        found = model_of(back).efforts(*(values[:, at] for values in state))
        assert np.abs(found - expected).max() <= 1e-9 * max(np.abs(expected).max(), 1.0)
        assert all(letter in " ".join(exported.notes) for letter in letters)
        assert ("a new file" in " ".join(exported.notes)) == (source == "mjcf" and suffix == "xml")


# --- what a user sees of it ------------------------------------------------------------------------------


def test_whose_word_each_parameter_is_is_seen(free: Estimate, physical: Estimate) -> None:
    """In the JSON by name, in the summary a letter each."""
    assert free.as_dict()["standard"] is None
    assert "bodies" not in free.summary()
    rows = physical.as_dict()["standard"]
    assert [row["name"] for row in rows] == list(PANDA.parameter_names)
    assert [row["value"] for row in rows] == physical.parameters.tolist()
    assert [row["origin"] for row in rows] == list(physical.origins)
    page = physical.summary()
    lines = page[page.index("bodies that can exist:") :].splitlines()[2 : 2 + len(PANDA.links)]
    letters = "".join(line.replace(" ", "")[-10:] for line in lines)
    assert letters == "".join(origin[0] for origin in physical.origins)
    assert f"{physical.origins.count('measured')} measured" in page


def test_a_file_with_other_parameters_is_no_estimate(physical: Estimate, tmp_path: Path) -> None:
    physical.save(tmp_path / "e.json")
    for change in ({"name": "XX9"}, {"origin": "guessed"}, {"value": "heavy"}):
        record = json.loads((tmp_path / "e.json").read_text())
        record["standard"][3] |= change
        (tmp_path / "bad.json").write_text(json.dumps(record))
        with pytest.raises(ArgumentError, match="no estimate of dynid"):
            load_estimate(tmp_path / "bad.json")
