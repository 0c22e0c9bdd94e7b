"""The physically consistent fit against CVXPY on the same program, and what it must do whatever the data."""

import time
from dataclasses import replace

import numpy as np
import pytest

from dynid import load_robot
from dynid.errors import ArgumentError
from dynid.physical import Bounds, Box, Ellipsoid, LinkBounds, choose_prior_weight, physical_fit
from dynid.physical.prior import prior_of
from dynid.physical.problem import MARGIN
from dynid.robot import Joint, Link, Robot
from dynid.spatial import Frame, parameter_transform, pseudo_inertia
from helpers_physical import Data, by_cvxpy, simulated_data
from helpers_robots import random_body, random_robot

PANDA = load_robot("panda")


def robot_called(name: str) -> Robot:
    if name.startswith("tree"):
        return random_robot(np.random.default_rng(int(name[4:])), 5, serial=False)
    return load_robot(name)


def impossible(robot: Robot, seed: int) -> np.ndarray:
    """Parameters near the robot's that no bodies have."""
    rng = np.random.default_rng(seed)
    own = robot.parameters
    return np.concatenate([own + 0.3 * np.abs(own) * rng.normal(size=len(own)), np.full(robot.dof, 0.1)])


def fit(robot: Robot, data: Data, **options):
    return physical_fit(robot, data.base, data.base.names, data.R, data.r, **options)


@pytest.mark.parametrize("metric", ["pullback", "entropic"])
@pytest.mark.parametrize("possible", [True, False])
@pytest.mark.parametrize("name", ["panda", "puma560", "stanford", "scara", "tree0", "tree1"])
def test_the_same_program_in_cvxpy_has_the_same_minimum(name: str, possible: bool, metric: str) -> None:
    robot = robot_called(name)
    data = simulated_data(robot, 1, truth=None if possible else impossible(robot, 5), whole=True)
    prior = 1.2 * robot.parameters
    found = fit(robot, data, prior=prior, prior_weight=1.0, metric=metric)
    roots = prior_of(robot, prior).roots
    theirs = by_cvxpy(data, prior, roots, 1.0, MARGIN, metric)
    assert found.status == "solved"
    assert found.cost == pytest.approx(theirs.cost, rel=1e-6)
    assert np.linalg.norm(found.values - theirs.values) <= 1e-6 * np.linalg.norm(theirs.values)
    assert found.eigenvalue_ratio >= -1e-9


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("name", ["panda", "puma560", "stanford", "scara", "tree2"])
def test_possible_arms_are_predicted_as_well_as_without_constraints(name: str, given: bool) -> None:
    robot = robot_called(name)
    data = simulated_data(robot, 2)
    found = fit(robot, data, prior=0.8 * robot.parameters if given else None)
    assert found.physical
    bodies = pseudo_inertia(found.parameters.reshape(-1, 10))
    assert (np.linalg.eigvalsh(bodies)[:, 0] > 0.0).all()
    assert found.further.min() >= -1e-9
    assert found.prediction_change < 0.01


def test_mass_and_centre_come_back_where_they_can_be_told() -> None:
    """A gantry's hand: three slides, then a wrist. Its mass and first moments are base parameters."""
    rng = np.random.default_rng(4)
    kinds = ["prismatic"] * 3 + ["revolute"] * 2
    axes = [*np.eye(3), np.eye(3)[0], np.eye(3)[1]]
    joints = tuple(
        Joint(name=f"q{k}", kind=kind, parent=k - 1, axis=axis)
        for k, (kind, axis) in enumerate(zip(kinds, axes, strict=True))
    )
    links = tuple(Link(name=f"l{k}", parameters=random_body(rng)) for k in range(5))
    robot = Robot(name="gantry", joints=joints, links=links)
    data = simulated_data(robot, 3, noise=0.05, armature=False)
    found = fit(robot, data, prior=1.3 * robot.parameters)
    total = robot.parameters[9::10].sum()
    assert found.parameters[9::10].sum() != pytest.approx(1.3 * total, rel=0.01)
    hand, own = found.parameters[40:], robot.parameters[40:]
    told = [name in data.base.names for name in ("MX5", "MZ5")]
    assert told == [True, True]
    assert np.abs(hand[[6, 8]] - own[[6, 8]]).max() < 0.005
    slides = found.parameters[9::10]
    sums = [slides[k:].sum() for k in range(3)]
    assert sums == pytest.approx([robot.parameters[9::10][k:].sum() for k in range(3)], rel=0.01)
    assert [found.origins[k] for k in (9, 19, 29)] == ["measured", "measured", "grouped"]


@pytest.mark.parametrize("metric", ["pullback", "entropic"])
def test_neither_frames_nor_masses_in_other_units_matter(metric: str) -> None:
    """The same arm with each link frame elsewhere gives the same bodies."""
    rng = np.random.default_rng(6)
    robot = random_robot(rng, 4, distal=0.0, mimic=0.0)
    moved, shifts = moved_frames(robot, rng)
    data, again = (simulated_data(r, 7, armature=False, noise=2.0) for r in (robot, moved))
    a = fit(robot, data, prior=1.3 * robot.parameters, metric=metric)
    b = fit(moved, again, prior=1.3 * moved.parameters, metric=metric)
    back = [X @ ten for X, ten in zip(shifts, b.parameters.reshape(-1, 10), strict=True)]
    assert np.concatenate(back) == pytest.approx(a.parameters, abs=2e-6 * np.abs(a.parameters).max())
    assert b.cost == pytest.approx(a.cost, rel=1e-6)


def moved_frames(robot: Robot, rng: np.random.Generator) -> tuple[Robot, list[np.ndarray]]:
    """The robot with link frames moved by random poses, and the maps of parameters back."""
    offsets = []
    for _ in robot.links:
        Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        offsets.append(Frame(Q * np.sign(np.linalg.det(Q)), rng.uniform(-0.3, 0.3, 3)))
    joints = tuple(
        replace(
            joint,
            before=offsets[joint.parent].inverse() @ joint.before if joint.parent >= 0 else joint.before,
            after=offset,
        )
        for joint, offset in zip(robot.joints, offsets, strict=True)
    )
    links = tuple(
        replace(link, parameters=parameter_transform(offset.inverse()) @ link.parameters)
        for link, offset in zip(robot.links, offsets, strict=True)
    )
    return replace(robot, joints=joints, links=links), [parameter_transform(offset) for offset in offsets]


def test_without_data_the_prior_remains() -> None:
    data = simulated_data(PANDA, 1)
    base = data.base
    found = physical_fit(
        PANDA, base, base.names, np.zeros((1, base.count)), np.zeros(1), prior=PANDA.parameters
    )
    assert found.parameters == pytest.approx(PANDA.parameters, abs=1e-4)
    assert set(found.origins) == {"prior"}


def test_origins_say_what_the_prior_decides() -> None:
    """Bodies half as heavy in the prior move what is not measured, and nothing else."""
    data = simulated_data(PANDA, 3, noise=0.002)
    a = fit(PANDA, data, prior=PANDA.parameters, prior_weight=1e-3)
    b = fit(PANDA, data, prior=0.9 * PANDA.parameters, prior_weight=1e-3)
    move = np.abs(a.parameters - b.parameters)
    size = np.abs(0.1 * PANDA.parameters) + 1e-3
    by_origin = {kind: [k for k, o in enumerate(a.origins) if o == kind] for kind in set(a.origins)}
    assert set(by_origin) == {"measured", "grouped", "prior"}
    assert (move[by_origin["measured"]] < 0.1 * size[by_origin["measured"]]).all()
    assert np.median(move[by_origin["prior"]] / size[by_origin["prior"]]) > 0.5
    assert found_names(PANDA, by_origin["prior"]) >= {"XX1", "M1", "MZ1"}
    assert found_names(PANDA, by_origin["measured"]) >= {"MX7", "MY7"}


def found_names(robot: Robot, numbers: list[int]) -> set[str]:
    return {robot.parameter_names[k] for k in numbers}


def test_seven_joints_take_less_than_a_fifth_of_a_second() -> None:
    data = simulated_data(PANDA, 3)
    fit(PANDA, data, prior=PANDA.parameters)  # imports the solver
    start = time.process_time()
    found = fit(PANDA, data, prior=PANDA.parameters)
    assert time.process_time() - start < 0.2
    assert found.seconds > 0.0


def test_the_loss_is_that_of_the_residual() -> None:
    data = simulated_data(PANDA, 9, truth=impossible(PANDA, 3), whole=True)
    found = fit(PANDA, data, prior=PANDA.parameters)
    rms = [np.linalg.norm(data.R @ values - data.r) for values in (data.free, found.values)]
    assert found.loss == pytest.approx(rms[1] / rms[0] - 1.0, rel=1e-6)
    R, r = data.R[:-1], data.r[:-1]
    residual = float(np.sum((data.R @ data.free - data.r) ** 2))
    split = physical_fit(PANDA, data.base, data.base.names, R, r, prior=PANDA.parameters, residual=residual)
    assert split.loss == pytest.approx(found.loss, rel=1e-6)


# --- bounds ---------------------------------------------------------------------------------------


def test_bounds_hold() -> None:
    data = simulated_data(PANDA, 2)
    name = PANDA.links[6].name
    bounds = Bounds(
        links={
            name: LinkBounds(mass=(0.2, 0.3), com=((-0.01, -0.01, 0.0), (0.01, 0.01, 0.05))),
            PANDA.links[4].name: LinkBounds(shapes=[Ellipsoid((0.1, 0.1, 0.2))]),
            PANDA.links[3].name: LinkBounds(shapes=[Box((-0.1,) * 3, (0.1,) * 3)]),
        },
        total_mass=(10.0, 12.0),
    )
    found = fit(PANDA, data, prior=PANDA.parameters, bounds=bounds)
    free = fit(PANDA, data, prior=PANDA.parameters)
    ten = found.parameters.reshape(-1, 10)
    assert free.parameters[69] > 0.31
    assert 0.2 - 1e-6 <= ten[6, 9] <= 0.3 + 1e-6
    com = ten[6, 6:9] / ten[6, 9]
    assert (com >= np.array([-0.01, -0.01, 0.0]) - 1e-6).all()
    assert (com <= np.array([0.01, 0.01, 0.05]) + 1e-6).all()
    assert 10.0 - 1e-6 <= ten[:, 9].sum() <= 12.0 + 1e-6
    P = pseudo_inertia(ten)
    assert P[4, 3, 3] - np.trace(np.diag([100.0, 100.0, 25.0]) @ P[4, :3, :3]) >= -1e-6
    assert (0.01 * P[3, 3, 3] - np.diag(P[3])[:3] >= -1e-6).all()


@pytest.mark.parametrize("seed", range(20))
def test_masses_inside_of_a_shape_meet_its_bound_and_some_outside_do_not(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    frame = Frame(Q * np.sign(np.linalg.det(Q)), rng.normal(size=3))
    half = rng.uniform(0.1, 0.5, 3)
    inside = rng.uniform(-1.0, 1.0, (5, 3))
    ball = inside / np.maximum(1.0, np.linalg.norm(inside, axis=1))[:, None]
    for shape, points in ((Box(-half, half, frame), inside), (Ellipsoid(half, frame), ball)):
        for factor, holds in ((1.0, True), (3.0, False)):
            on_rim = points / np.abs(points).max() if not holds else points
            r = np.column_stack([frame.translation + (factor * half * on_rim) @ frame.rotation.T, np.ones(5)])
            single = [np.einsum("kab,a,b->k", shape.forms, point, point).min() for point in r]
            assert (min(single) >= -1e-12) == holds
            masses = rng.uniform(0.1, 1.0, 5)
            P = (r.T * masses) @ r
            if holds:
                assert np.einsum("kab,ab->k", shape.forms, P).min() >= -1e-12


APART = [Box((1, 1, 1), (2, 2, 2)), Box((-1, -1, -1), (0, 0, 0))]


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"links": {"link3": LinkBounds(mass=(1.0, 2.0), shapes=APART)}}, "'link3'"),
        ({"total_mass": (1.0, 2.0), "links": {"link2": LinkBounds(mass=(3.0, 4.0))}}, "total mass"),
    ],
)
def test_bounds_that_contradict_are_a_status_that_names_them(bounds: dict, message: str) -> None:
    data = simulated_data(PANDA, 2)
    found = fit(PANDA, data, prior=PANDA.parameters, bounds=Bounds(**bounds))
    assert found.status == "infeasible"
    assert found.parameters is None
    assert found.values is None
    assert not found.physical
    assert message in found.advice[0]


def on_link3(**known) -> dict[str, Bounds]:
    return {"bounds": Bounds(links={"link3": LinkBounds(**known)})}


HOLE = np.where(np.arange(70) == 25, np.nan, PANDA.parameters)
BAD = {
    "unknown link": ({"bounds": Bounds(links={"link33": LinkBounds()})}, "Did you mean 'link3'"),
    "reversed masses": (on_link3(mass=(2.0, 1.0)), "lower <= upper"),
    "reversed box": (on_link3(shapes=[Box((1, 1, 1), (0, 2, 2))]), "corners"),
    "flat ellipsoid": (on_link3(shapes=[Ellipsoid((1, 0, 1))]), "half axes"),
    "reversed centre": (on_link3(com=((1, 1, 1), (0, 2, 2))), "centre of mass"),
    "prior with gaps": ({"prior": HOLE}, "no parameters for 'link3'"),
    "short prior": ({"prior": np.ones(60)}, r"needs \(70,\)"),
    "weight": ({"prior_weight": 0.0}, "positive"),
    "metric": ({"metric": "euclidean"}, "pullback"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_named(case: str) -> None:
    options, message = BAD[case]
    with pytest.raises(ArgumentError, match=message):
        fit(PANDA, simulated_data(PANDA, 2), **options)


def test_data_that_do_not_fit_the_names_are_refused() -> None:
    data = simulated_data(PANDA, 2)
    names = data.base.names
    for R, r, found in (
        (data.R[:, :-1], data.r, names),
        (data.R, data.r[:-1], names),
        (np.where(data.R[0, 0] == data.R, np.nan, data.R), data.r, names),
        (data.R, data.r, names[::-1]),
    ):
        with pytest.raises(ArgumentError, match=r"shape|finite|begin"):
            physical_fit(PANDA, data.base, found, R, r)


# --- the prior's weight -----------------------------------------------------------------------------


def test_the_weight_follows_the_prior_s_worth() -> None:
    """A prior that is the truth gets a large weight, one that is far off a small one."""
    truth = np.concatenate([PANDA.parameters, np.zeros(7)])
    folds = [simulated_data(PANDA, s, samples=12, noise=0.5, truth=truth, whole=True) for s in range(20, 26)]
    base = folds[0].base
    triangles = [(fold.R, fold.r) for fold in folds]
    good = choose_prior_weight(PANDA, base, base.names, triangles, prior=PANDA.parameters)
    bad = choose_prior_weight(PANDA, base, base.names, triangles, prior=4.0 * PANDA.parameters)
    wide = 10.0 ** np.arange(-4.0, 6.5, 0.5)
    trusting = choose_prior_weight(
        PANDA, base, base.names, triangles, PANDA.parameters, weights=wide.tolist()
    )
    assert good.weight == 100.0
    assert bad.weight <= 0.1 * good.weight
    assert trusting.weight > 1e3
    assert good.losses.shape == (len(good.weights), 6)
    assert "held-out loss" in str(bad)


def test_a_small_loss_is_what_the_choice_promises() -> None:
    """The loss of each weight, once more by predicting rows that were left out."""
    folds = [simulated_data(PANDA, seed, samples=40, whole=True) for seed in range(3)]
    base = folds[0].base
    choice = choose_prior_weight(
        PANDA, base, base.names, [(f.R, f.r) for f in folds], PANDA.parameters, weights=(1e-8,)
    )
    R, r = (
        np.concatenate([x, y])
        for x, y in zip((folds[1].R, folds[1].r), (folds[2].R, folds[2].r), strict=True)
    )
    free = np.linalg.lstsq(R, r, rcond=None)[0]
    assert choice.losses[0, 0] == pytest.approx(np.sum((folds[0].R @ free - folds[0].r) ** 2), rel=1e-4)
    with pytest.raises(ArgumentError, match="two folds"):
        choose_prior_weight(PANDA, base, base.names, [(R, r)])
