"""Bounds from collision geometry as Pinocchio and Coal see it, from files, and on the command line."""

import json
import re
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from dynid import load_robot
from dynid.cli import main
from dynid.errors import DynidError
from dynid.estimate import RobotSource
from dynid.estimate_file import load_estimate
from dynid.fit.identify import identify, source_of
from dynid.formats.urdf import parse_urdf
from dynid.log.write import write_log
from dynid.model import model_of
from dynid.physical.bounds import bound_rows
from dynid.physical.bounds_file import bounds_called, read_bounds
from dynid.physical.collision import collision_bounds
from dynid.robot import Robot
from dynid.spatial import is_physical, parameters_from_com
from helpers_estimate import estimate_of
from helpers_load import quick_logs
from helpers_urdf import random_urdf

SHAPES = {
    "box": '<box size="0.2 0.3 0.4"/>',
    "sphere": '<sphere radius="0.25"/>',
    "cylinder": '<cylinder radius="0.1" length="0.5"/>',
}


def with_shapes(text: str, rng: np.random.Generator, share: float = 1.0) -> str:
    """The URDF with a simple collision shape in `share` of the links."""

    def shape() -> str:
        xyz, rpy = (" ".join(f"{x:.3f}" for x in rng.uniform(-0.3, 0.3, 3)) for _ in range(2))
        form = SHAPES[str(rng.choice(list(SHAPES)))]
        return f'<collision><origin xyz="{xyz}" rpy="{rpy}"/><geometry>{form}</geometry></collision>'

    text = re.sub(r'(<link name="[^"]*")/>', r"\1></link>", text)
    return re.sub(
        r'<link name="[^"]*">', lambda link: link[0] + (shape() if rng.random() < share else ""), text
    )


def solids(text: str, robot: Robot) -> dict[int, list[np.ndarray]]:
    """By link, solid bodies of all its collision shapes, as Pinocchio places them: parameters (10,) each."""
    model = pin.buildModelFromXML(text)
    found: dict[int, list[np.ndarray]] = {}
    for shape in pin.buildGeomFromUrdfString(model, text, pin.COLLISION).geometryObjects:
        name = model.names[shape.parentJoint]
        if shape.parentJoint == 0:
            continue
        link = [joint.name for joint in robot.joints].index(name)
        volume = shape.geometry.computeVolume()
        R, p = shape.placement.rotation, shape.placement.translation
        inertia = R @ shape.geometry.computeMomentofInertiaRelatedToCOM() @ R.T
        com = R @ shape.geometry.computeCOM() + p
        found.setdefault(link, []).append(parameters_from_com(volume, com, inertia))
    return found


@pytest.mark.parametrize("seed", range(8))
def test_solid_shapes_meet_their_bounds_and_far_ones_do_not(seed: int) -> None:
    rng = np.random.default_rng(seed)
    text = with_shapes(random_urdf(rng, 4, mimic=False), rng)
    robot = parse_urdf(text, "arm.urdf")
    bounds, without = collision_bounds(robot, text, "arm.urdf")
    assert without == ()
    G, h = bound_rows(robot, bounds)
    bodies = solids(text, robot)
    assert sorted(bodies) == list(range(len(robot.links)))
    for link, own in bodies.items():
        block = slice(10 * link, 10 * link + 10)
        rows = G[:, block].any(axis=1)
        for body in own:
            assert (G[rows, block] @ body - h[rows]).min() >= -1e-12
            mass, com = body[9], body[6:9] / body[9]
            away = com + 3.0 * np.array([1.0, -1.0, 1.0])
            point = parameters_from_com(mass, away, np.zeros((3, 3)))
            assert (G[rows, block] @ point - h[rows]).min() < 0.0


def test_links_with_meshes_or_nothing_are_named() -> None:
    text = random_urdf(np.random.default_rng(2), 3, mimic=False, fixed=False)
    mesh = '<collision><geometry><mesh filename="/etc/passwd"/></geometry></collision>'
    robot = parse_urdf(text, "arm.urdf")
    names = [link.name for link in robot.links]
    own = f'<link name="{names[1]}">'
    text = text.replace(own, own + mesh)
    bounds, without = collision_bounds(robot, text, "arm.urdf")
    assert bounds.links == {}
    assert without == tuple(names)
    with pytest.raises(DynidError, match="meshes do not count"):
        bounds_called("collision", robot, RobotSource("urdf", text, ""))


# --- files ---------------------------------------------------------------------------------------------


def test_a_file_says_masses_centres_and_boxes(tmp_path: Path) -> None:
    path = tmp_path / "bounds.toml"
    path.write_text(
        "total_mass = [10, 14.5]\n[link.link3]\nmass = [1.0, 3.0]\n"
        "com = [[-0.05, -0.05, 0.0], [0.05, 0.05, 0.3]]\nbox = [[-1, -1, -1], [1, 1, 1]]\n"
        '[link."link4"]\nmass = [0, 2]\n'
    )
    bounds = read_bounds(path)
    assert bounds.total_mass == (10.0, 14.5)
    assert list(bounds.links) == ["link3", "link4"]
    assert bounds.links["link3"].mass == (1.0, 3.0)
    assert len(bounds.links["link3"].shapes) == 1
    G, h = bound_rows(load_robot("panda"), bounds)
    assert G.shape == (2 + 2 + 6 + 3 + 1, 70)
    assert len(h) == len(G)


BAD = {
    "toml": ("total_mass = [", "not valid TOML"),
    "key": ("weight = 3", "'weight' is unknown"),
    "link key": ("[link.link3]\nmas = [1, 2]", "Did you mean 'mass'"),
    "shape": ("[link.link3]\nbox = [[1, 2], [3, 4]]", "2 x 3 numbers"),
    "reversed": ("[link.link3]\nbox = [[1, 1, 1], [0, 2, 2]]", "lower < upper"),
    "masses": ("[link.link3]\nmass = [2, 1]", "lower <= upper"),
    "unknown link": ("[link.link33]\nmass = [1, 2]", "Did you mean 'link3'"),
    "a number": ("link = 3", "must be an object"),
    "not finite": ("total_mass = [1, inf]", "finite numbers"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_named(tmp_path: Path, case: str) -> None:
    text, message = BAD[case]
    path = tmp_path / "bounds.toml"
    path.write_text(text)
    with pytest.raises(DynidError, match=message):
        bounds_called(str(path), load_robot("panda"), None)


# --- the command ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arm")
    rng = np.random.default_rng(5)
    text = with_shapes(random_urdf(rng, 4, mimic=False, tree=False), rng)
    (folder / "arm.urdf").write_text(text)
    robot = load_robot(folder / "arm.urdf")
    estimate_of(model_of(robot), 1, noise=0.01, source=source_of(robot)).save(folder / "free.json")
    return folder


def run(capsys, *arguments: object) -> tuple[int, str, str]:
    status = main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_an_export_keeps_to_the_collision_geometry(capsys, arm: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.urdf"
    arguments = ("export", arm / "free.json", "-o", target, "--physical", "--bounds", "collision", "--json")
    status, out, _ = run(capsys, *arguments)
    assert status == 0
    assert json.loads(out)["physical"] is True
    robot = load_robot(target)
    text = (arm / "arm.urdf").read_text()
    bounds, _ = collision_bounds(load_robot(arm / "arm.urdf"), text, "arm.urdf")
    G, h = bound_rows(robot, bounds)
    own = load_estimate(arm / "free.json").robot.parameters
    assert (G @ own < h).any()  # so the bounds have something to do
    assert (G @ robot.parameters - h).min() >= -1e-6
    assert all(is_physical(link.parameters) for link in robot.links)


def test_bounds_that_cannot_be_met_end_in_one_message(capsys, arm: Path, tmp_path: Path) -> None:
    name = load_robot(arm / "arm.urdf").links[1].name
    (tmp_path / "b.toml").write_text(
        f"[link.{name}]\nbox = [[0, 0, 0], [1, 1, 1]]\ncom = [[2, 2, 2], [3, 3, 3]]\nmass = [1, 2]\n"
    )
    target = tmp_path / "out.urdf"
    status, out, err = run(
        capsys, "export", arm / "free.json", "-o", target, "--physical", "--bounds", tmp_path / "b.toml"
    )
    assert (status, out) == (2, "")
    assert f"no body meets the bounds of link '{name}'" in err
    assert "widen them" in err
    assert err.count("\n") == 1
    assert not target.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--bounds", "collision"), "go with --physical"),
        (("--physical", "--bounds", "gone.toml"), "no such file"),
        (("--physical", "--metric", "euclidean"), "pullback"),
        (("--physical", "--body-weight", "-1"), "must be positive"),
    ],
)
def test_bad_options_end_in_one_message(capsys, arm: Path, tmp_path, arguments: tuple, message: str) -> None:
    status, out, err = run(capsys, "export", arm / "free.json", "-o", tmp_path / "x.urdf", *arguments)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


def test_both_metrics_and_weights_are_taken(capsys, arm: Path, tmp_path: Path) -> None:
    masses = []
    for k, options in enumerate((("--metric", "entropic"), ("--body-weight", "1e6"))):
        target = tmp_path / f"{k}.urdf"
        assert run(capsys, "export", arm / "free.json", "-o", target, "--physical", *options)[0] == 0
        masses.append(load_robot(target).parameters[9::10])
    assert masses[1] == pytest.approx(load_robot(arm / "arm.urdf").parameters[9::10], rel=1e-2)


# --- identify ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def log(arm: Path) -> Path:
    robot = load_robot(arm / "arm.urdf")
    path = arm / "log.csv"
    write_log(quick_logs(robot, 3)[0], path)
    return path


def test_identify_keeps_to_bounds(capsys, arm: Path, log: Path, tmp_path: Path) -> None:
    name = load_robot(arm / "arm.urdf").links[3].name
    (tmp_path / "b.toml").write_text(f"[link.{name}]\nmass = [0.05, 0.06]\n")
    arguments = ("identify", arm / "arm.urdf", log, "-o", tmp_path / "out", "--physical", "--quiet")
    run(capsys, *arguments, "--bounds", tmp_path / "b.toml", "--metric", "entropic")
    estimate = load_estimate(tmp_path / "out" / "estimate.json")
    assert 0.05 - 1e-6 <= estimate.parameters[39] <= 0.06 + 1e-6
    assert estimate.choices["physical"]["bounded_links"] == 1
    assert estimate.choices["physical"]["metric"] == "entropic"
    assert (tmp_path / "out" / "identified.urdf").exists()


def test_identify_refuses_bounds_that_nothing_meets(capsys, arm: Path, log: Path, tmp_path: Path) -> None:
    name = load_robot(arm / "arm.urdf").links[1].name
    (tmp_path / "b.toml").write_text(f"total_mass = [1, 2]\n[link.{name}]\nmass = [3, 4]\n")
    arguments = ("identify", arm / "arm.urdf", log, "--quiet", "--bounds", tmp_path / "b.toml")
    for more, message in (
        (("--physical",), "not together with that of the total mass"),
        ((), "with physical"),
    ):
        status, out, err = run(capsys, *arguments, *more)
        assert (status, out) == (2, "")
        assert err.count("\n") == 1
        assert message in err


def test_a_prior_that_the_file_lacks_is_named(capsys, arm: Path, log: Path, tmp_path: Path) -> None:
    text = (arm / "arm.urdf").read_text()
    bare = re.sub(r"<inertial>.*?</inertial>", "", text, flags=re.DOTALL)
    (tmp_path / "bare.urdf").write_text(bare)
    arguments = ("identify", tmp_path / "bare.urdf", log, "--quiet", "--physical", "--prior", "cad")
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert all(link.name in err for link in load_robot(arm / "arm.urdf").links)


@pytest.mark.parametrize("method", ["energy", "momentum"])
def test_methods_without_torques_get_bodies_as_well(arm: Path, log: Path, method: str) -> None:
    robot = load_robot(arm / "arm.urdf")
    given = {"cutoff_hz": 8.0, "width": 0.01, "presliding": 0.0, "delay": 0.0}
    estimate = identify(robot, log, method=method, physical=True, **given)
    assert estimate.physical
    assert "held-out loss" in estimate.choices["physical"]["weight_chosen"]
