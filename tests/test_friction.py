"""Friction and motor inertia against the formulas written out drive by drive, and against their power."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynid import ArgumentError, RobotError, load_robot
from dynid.friction import (
    Friction,
    armature_columns,
    armature_matrix,
    armature_of,
    direction,
    friction_of,
    motor_rates,
)

T = np.array([[1.0, 0.0, 0.0], [-0.5, 2.0, 0.0], [0.25, 0.0, -1.0]])  # entries that floats hold exactly


def friction(seed: int, side: str = "joint", width: float = 0.0) -> Friction:
    rng = np.random.default_rng(seed)
    viscous, coulomb, offset = rng.uniform(0.1, 2.0, (3, 3)) * [[1], [1], [-1]]
    return Friction(viscous=viscous, coulomb=coulomb, offset=offset, side=side, transmission=T, width=width)


def velocities(seed: int, count: int = 50) -> np.ndarray:
    """Joint velocities of which some are exactly zero."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, 3)) * (rng.random((count, 3)) < 0.7)


def by_hand(terms: Friction, qd: np.ndarray) -> np.ndarray:
    """The efforts of one sample, drive by drive; those of motors reach the joints through T^-T."""
    v = np.linalg.solve(T, qd) if terms.side == "motor" else qd
    own = np.zeros(3)
    for k in range(3):
        if terms.width:
            sign = np.tanh(v[k] / terms.width)
        else:
            sign = 1.0 if v[k] > 0.0 else -1.0 if v[k] < 0.0 else 0.0
        own[k] = terms.viscous[k] * v[k] + terms.coulomb[k] * sign + terms.offset[k]
    return np.linalg.solve(T.T, own) if terms.side == "motor" else own


@pytest.mark.parametrize("side", ["joint", "motor"])
@pytest.mark.parametrize("width", [0.0, 0.3])
def test_efforts_are_the_formula(side: str, width: float) -> None:
    terms, qd = friction(1, side, width), velocities(2)
    expected = np.array([by_hand(terms, row) for row in qd])
    np.testing.assert_allclose(terms.efforts(qd), expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(terms.efforts(qd[3]), expected[3], rtol=0, atol=1e-13)


def test_the_sign_of_zero_is_zero() -> None:
    terms = friction(3)
    np.testing.assert_array_equal(direction([-2.0, -0.0, 0.0, 1e-300]), [-1, 0, 0, 1])
    np.testing.assert_array_equal(terms.efforts(np.zeros(3)), terms.offset)


@pytest.mark.parametrize("side", ["joint", "motor"])
@pytest.mark.parametrize("width", [0.0, 0.3])
def test_columns_times_constants_are_efforts(side: str, width: float) -> None:
    terms, qd = friction(4, side, width), velocities(5)
    constants = np.concatenate([terms.viscous, terms.coulomb, terms.offset])
    columns = terms.columns(qd)
    assert columns.shape == (50, 3, 9)
    assert terms.names == ("Fv1", "Fv2", "Fv3", "Fc1", "Fc2", "Fc3", "Fo1", "Fo2", "Fo3")
    np.testing.assert_allclose(columns @ constants, terms.efforts(qd), rtol=0, atol=1e-13)
    np.testing.assert_array_equal(terms.columns(qd[7]), columns[7])


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-3, 1e-2, 1.0]))
def test_the_power_lost_is_the_same_on_both_sides_and_never_gained(seed: int, width: float) -> None:
    terms = friction(seed, "motor", width)
    terms = Friction(**{**vars(terms), "offset": np.zeros(3)})
    qd = velocities(seed + 1)
    motors = qd @ np.linalg.inv(T).T
    lost = np.sum(motors * (terms.viscous * motors + terms.coulomb * np.tanh(motors / width)), axis=1)
    np.testing.assert_allclose(np.sum(qd * terms.efforts(qd), axis=1), lost, rtol=1e-12, atol=1e-13)
    assert np.all(lost >= 0.0)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["joint", "motor"]))
def test_near_rest_damping_is_the_chord_from_there(seed: int, side: str) -> None:
    terms = friction(seed, side, width=30.0)
    qd = velocities(seed + 1)
    chords = terms.damping(qd)
    reached = np.einsum("nij,nj->ni", chords, qd) + terms.efforts(np.zeros(3))
    np.testing.assert_allclose(reached, terms.efforts(qd), rtol=1e-11, atol=1e-12)
    assert np.linalg.eigvalsh(chords).min() > 0.0  # what an integrator relies on


@given(st.integers(0, 2**32 - 1), st.sampled_from(["joint", "motor"]))
def test_damping_of_what_slides_is_the_slope(seed: int, side: str) -> None:
    """Against tanh's derivative; a secant over w / 4 errs by at most w^2 f''' / 384, f''' <= 2 Fc / w^3."""
    width = 0.05
    terms = friction(seed, side, width)
    qd = velocities(seed + 1)
    v = qd @ terms.rates.T
    slope = terms.viscous + terms.coulomb / (width * np.cosh(v / width) ** 2)
    sliding = np.all(np.abs(v) > 3.0 * width, axis=1)
    assert sliding.any()
    exact = np.einsum("ki,nk,kj->nij", terms.rates, slope, terms.rates)
    margin = np.abs(terms.rates).sum() ** 2 * terms.coulomb.max() / width / 192.0
    np.testing.assert_allclose(terms.damping(qd)[sliding], exact[sliding], rtol=0, atol=margin)


def test_damping_at_rest_is_the_slope_there() -> None:
    terms = friction(8, width=1e-3)
    np.testing.assert_allclose(terms.damping(np.zeros(3)), np.diag(terms.viscous + terms.coulomb / 1e-3))


def test_damping_leaves_load_dependent_friction_out() -> None:
    terms = friction(8, width=1e-3)
    loaded = Friction(**{**vars(terms), "further": {"Fl": np.ones(3)}})
    np.testing.assert_array_equal(loaded.damping(velocities(2)), terms.damping(velocities(2)))


def test_motor_inertia_has_the_motors_kinetic_energy() -> None:
    Ia = np.array([0.5, 0.25, 2.0])
    qd = velocities(9)
    motors = qd @ np.linalg.inv(T).T
    energy = 0.5 * np.einsum("ni,ij,nj->n", qd, armature_matrix(Ia, T), qd)
    np.testing.assert_allclose(energy, 0.5 * motors**2 @ Ia, rtol=1e-13)
    np.testing.assert_array_equal(armature_matrix(Ia), np.diag(Ia))


def test_columns_of_motor_inertia() -> None:
    Ia, qdd = np.array([0.5, 0.25, 2.0]), velocities(10)
    columns = armature_columns(qdd, T)
    assert columns.shape == (50, 3, 3)
    np.testing.assert_allclose(columns @ Ia, qdd @ armature_matrix(Ia, T), rtol=0, atol=1e-14)


def test_what_a_robot_says() -> None:
    robot = load_robot("scara")
    terms = friction_of(robot)
    np.testing.assert_array_equal(terms.viscous, [joint.viscous for joint in robot.joints])
    np.testing.assert_array_equal(terms.coulomb, [joint.coulomb for joint in robot.joints])
    np.testing.assert_array_equal(armature_of(robot), [joint.armature for joint in robot.joints])


def test_transmissions_that_cannot_be() -> None:
    with pytest.raises(RobotError, match="singular"):
        motor_rates(np.zeros((2, 2)), 2)
    with pytest.raises(ArgumentError, match=r"shape \(3, 3\)"):
        armature_matrix([1.0, 2.0], T)
