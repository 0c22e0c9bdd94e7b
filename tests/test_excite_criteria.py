"""Criteria and their slopes, and the adjoint of the observation, against finite differences and NumPy."""

import numpy as np
import pytest

from dynid import base_parameters, load_robot
from dynid.errors import ArgumentError
from dynid.excite.criteria import (
    CRITERIA,
    Criterion,
    Known,
    condition_number,
    frobenius_condition,
    qr_condition,
    scaling_measure,
)
from dynid.excite.observation import observe
from helpers_robots import random_robot

RNG = np.random.default_rng(7)
W = RNG.normal(size=(30, 5))
W = (W + 0.3 * np.sign(W)) * [1.0, 3.0, 0.3, 1.0, 2.0]  # no entry near zero, where S has a pole
KNOWN = Known(np.diag([3.0, 0.0, 0.0, 5.0, 0.0]), 2.0, 1)


def slope_by_differences(f, x, h=1e-6):
    found = np.empty_like(x)
    for k in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[k] = h
        found[k] = (f(x + step) - f(x - step)) / (2.0 * h)
    return found


@pytest.mark.parametrize("known", [None, KNOWN])
@pytest.mark.parametrize("kind", CRITERIA)
def test_slopes_are_those_of_the_values(kind, known):
    criterion = Criterion(kind, known=known)
    value, slope = criterion(W)
    assert value == criterion(W)[0]
    expected = slope_by_differences(lambda x: criterion(x)[0], W)
    assert np.allclose(slope, expected, rtol=0.0, atol=1e-7 * np.abs(expected).max())


def test_the_smoothed_criteria_bound_the_true_ones_and_approach_them():
    for kind in ("condition", "e-optimal"):
        gaps = [Criterion(kind, power=p)(W)[0] - Criterion(kind).measure(W) for p in (1.0, 4.0, 60.0)]
        assert gaps[0] > gaps[1] > gaps[2] > 0.0
        assert gaps[2] < 0.03  # log 5 / 60, once or twice
    singular = np.linalg.svd(W, compute_uv=False)
    assert np.isclose(Criterion("condition").measure(W), np.log(singular[0] / singular[-1]))
    assert np.isclose(Criterion("e-optimal").measure(W), -np.log(singular[-1]))
    assert np.isclose(Criterion("d-optimal").measure(W), -0.1 * np.linalg.slogdet(W.T @ W)[1])
    assert np.isclose(Criterion("d-optimal")(W)[0], Criterion("d-optimal").measure(W))


def test_measures_of_1992_are_their_definitions():
    assert np.isclose(condition_number(W), np.linalg.cond(W))
    A = W.T @ W
    assert np.isclose(frobenius_condition(W), np.linalg.norm(A) * np.linalg.norm(np.linalg.inv(A)))
    assert condition_number(W) / 3.0 < qr_condition(W) <= condition_number(W)
    with_zero = W.copy()
    with_zero[3, 2] = 0.0
    sizes = np.sort(np.abs(with_zero).ravel())
    assert scaling_measure(with_zero) == sizes[-1] / sizes[1]
    assert condition_number(np.hstack([W, W[:, :1]])) == np.inf
    assert condition_number(W[:3]) == np.inf


def test_what_is_known_counts_as_rows_of_its_own():
    # 30 samples in 2 s: every one stands for 1 / 15 s
    stacked = np.vstack([W / np.sqrt(15.0), np.sqrt(KNOWN.information)])
    assert np.isclose(condition_number(W, KNOWN), np.linalg.cond(stacked))
    assert np.isclose(np.exp(Criterion("condition", known=KNOWN).measure(W)), np.linalg.cond(stacked))


def test_the_combined_criterion_is_their_sum():
    criterion = Criterion("combined", condition_weight=2.0, scaling_weight=0.5)
    assert np.isclose(
        np.exp(criterion.measure(W)), 2.0 * np.linalg.cond(W) + 0.5 * np.abs(W).max() / np.abs(W).min()
    )


def test_bad_criteria_are_named():
    for make, said in (
        (lambda: Criterion("nice"), "Valid: 'condition'"),
        (lambda: Criterion(scaling_weight=-1.0), "must not be negative"),
        (lambda: Criterion(condition_weight=0.0, scaling_weight=0.0), "must be positive"),
    ):
        with pytest.raises(ArgumentError, match=said):
            make()


# --- the observation -------------------------------------------------------------------------------------

CASES = [
    ("torque", {}),
    ("torque", {"armature": True, "friction": True, "offset": True}),
    ("torque", {"weights": np.array([1.0, 2.0, 0.5])}),
    ("energy", {}),
    ("energy", {"armature": True}),
    ("gravity", {}),
]


@pytest.mark.parametrize(("model", "options"), CASES)
def test_W_is_the_base_regressor_and_its_adjoint_is_exact(model, options):
    robot = random_robot(np.random.default_rng(3), 3, mimic=0.0, prismatic=0.3)
    observation = observe(robot, model, **options)
    motion = list(np.random.default_rng(4).uniform(-1.0, 1.0, (3, 6, robot.dof)))[: observation.width]
    width = 0.3
    W = observation.matrix(motion, width)
    if not options:
        base = base_parameters(robot, model)
        # beta = matrix @ phi for every phi, so W @ matrix is the regressor itself
        whole = {
            "torque": lambda: robot.regressor(*motion).reshape(-1, 10 * len(robot.links)),
            "gravity": lambda: robot.regressor(motion[0], 0 * motion[0], 0 * motion[0]).reshape(
                -1, 10 * len(robot.links)
            ),
            "energy": lambda: np.diff(robot.energy_regressor(*motion), axis=0),
        }[model]()
        assert np.allclose(W @ base.matrix, whole, atol=1e-12 * np.abs(whole).max())
    G = np.random.default_rng(5).normal(size=W.shape)
    slopes = observation.pull_back(motion, G, width)
    for at in range(observation.width):

        def total(x, at=at):
            return float((G * observation.matrix([*motion[:at], x, *motion[at + 1 :]], width)).sum())

        expected = slope_by_differences(total, motion[at])
        scale = max(np.abs(expected).max(), 1.0)
        assert np.allclose(slopes[at], expected, rtol=0.0, atol=1e-7 * scale), at


def test_the_first_joint_of_the_paper_does_not_matter():
    observation = observe(load_robot("gk3"), "energy")
    assert observation.matters.tolist() == [[False, True, True], [True, True, True]]
    assert observation.base.count == 15


def test_columns_that_a_model_cannot_have_are_named():
    robot = load_robot("planar2")
    for model, options, said in (
        ("energy", {"friction": True}, "no columns of friction"),
        ("gravity", {"armature": True}, "at rest"),
        ("work", {}, "Valid: 'torque'"),
        ("torque", {"weights": np.array([1.0])}, "2 positive numbers"),
    ):
        with pytest.raises(ArgumentError, match=said):
            observe(robot, model, **options)
