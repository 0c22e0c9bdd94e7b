"""Instrumental variables: noise in positions biases least squares, and does not bias these."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from statsmodels.sandbox.regression.gmm import IV2SLS

from dynid.errors import ArgumentError
from dynid.fit.instrumental import along, follow, instrumental, projected_runs, smoothed
from dynid.fit.reduction import reduce
from dynid.fit.solve import Prior, ordinary, weighted
from dynid.friction import friction_of
from dynid.log.prepare import prepare
from dynid.plant.plant import Plant
from dynid.plant.simulation import ClosedLoop, Setup, move
from dynid.trajectory import make_trajectory
from helpers_fit import arm, log_of, samples_of, stacked, waves

NOISE = 2e-3  # rad, of the encoders
RUNS = 12


@pytest.fixture(scope="module")
def noisy():
    """Samples of the same motion with ever new noise, in a band far wider than the motion's."""
    robot = arm("planar2")
    motion = waves(robot.robot, seconds=20.0, rate_hz=500.0, size=0.5)
    logs = [log_of(robot, motion, position_noise=NOISE, effort_noise=0.02, seed=seed) for seed in range(RUNS)]
    return robot, motion, [prepare(log, robot.robot, cutoff_hz=10.0, standstill_speed=0.0) for log in logs]


def bias_and_chance(robot, found):
    """The mean error, and its standard error."""
    errors = np.array(found) - robot.truth
    return errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(len(errors))


def test_the_bias_of_least_squares_goes(noisy):
    """OLS is off by many standard errors; what is left is of second order in the noise."""
    robot, motion, logs = noisy
    least = [ordinary(reduce(robot.system, samples)).values for samples in logs]
    bias, chance = bias_and_chance(robot, least)
    inertial = [robot.system.names.index(name) for name in ("ZZR1", "ZZ2", "MX2", "Ia2")]
    assert (np.abs(bias[inertial]) > 8.0 * chance[inertial]).all()
    for references in (None, [motion]):
        values = [
            instrumental(robot.system, [samples], start, references=references).solution.values
            for samples, start in zip(logs, least, strict=True)
        ]
        freed, by_chance = bias_and_chance(robot, values)
        assert (np.abs(freed[inertial]) < 0.1 * np.abs(bias[inertial])).all()
        assert (np.abs(freed) < 3.5 * by_chance + 0.1 * np.abs(bias)).all()


def test_values_do_not_depend_on_the_start(noisy):
    robot, _, logs = noisy
    one = instrumental(robot.system, logs[:1], robot.truth)
    other = instrumental(robot.system, logs[:1], 3.0 * robot.truth)
    assert one.solution.values == pytest.approx(other.solution.values, rel=1e-4, abs=1e-6)
    assert one.rounds > 1


def test_it_is_two_stage_least_squares():
    """With the weights it ends with, statsmodels finds the same values and the same covariance."""
    robot = arm("planar2")
    motion = waves(robot.robot, seconds=5.0, rate_hz=50.0)
    exact = samples_of(robot, motion, effort_noise=0.1)
    rng = np.random.default_rng(5)
    shaken = replace(
        exact,
        q=exact.q + 0.01 * rng.normal(size=exact.q.shape),
        qdd=exact.qdd + rng.normal(size=exact.q.shape),
    )
    found = instrumental(robot.system, [shaken], robot.truth, references=[motion])
    W, tau = stacked(robot, shaken)
    Z, _ = stacked(robot, exact)
    by_row = np.tile(found.solution.sigma, len(W) // 2)
    fit = IV2SLS(tau / by_row, W / by_row[:, None], Z / by_row[:, None]).fit()
    assert found.solution.values == pytest.approx(fit.params, rel=1e-7, abs=1e-9)
    assert found.solution.inverse * fit.mse_resid == pytest.approx(np.asarray(fit.cov_params()), rel=1e-6)
    # P W = Z projection, row by row
    Z, W = Z / by_row[:, None], W / by_row[:, None]
    PW = Z @ np.linalg.lstsq(Z, W, rcond=None)[0]
    assert Z @ found.projection == pytest.approx(PW, abs=1e-8 * np.abs(PW).max())
    assert found.strength == pytest.approx(np.linalg.norm(PW, axis=0) / np.linalg.norm(W, axis=0), rel=1e-7)


def test_without_noise_it_is_weighted_least_squares():
    robot = arm("scara")
    motion = waves(robot.robot, seconds=5.0, rate_hz=50.0)
    samples = samples_of(robot, motion, effort_noise=0.1)
    found = instrumental(robot.system, [samples], robot.truth, references=[motion])
    assert found.solution.values == pytest.approx(
        weighted(reduce(robot.system, samples)).values, rel=1e-3, abs=1e-3
    )
    assert found.strength == pytest.approx(np.ones(len(robot.truth)))


def test_two_logs_are_one(noisy):
    robot, _, logs = noisy
    found = instrumental(robot.system, logs[:2], robot.truth)
    once = instrumental(robot.system, logs[:1], robot.truth)
    assert len(found.instruments) == 2
    std, alone = (np.sqrt(np.diag(one.solution.inverse)) for one in (found, once))
    assert std == pytest.approx(alone / np.sqrt(2.0), rel=0.1)


def test_rows_without_weight_have_no_part(noisy):
    robot, _, logs = noisy
    weights = np.ones_like(logs[0].weights)
    weights[100:200, 1] = 0.0
    spoiled = replace(logs[0], weights=weights)
    rows = spoiled.rows[100:200]
    tau = spoiled.tau.copy()
    reach = spoiled.parallel.half
    tau[rows[0] + reach : rows[-1] - reach, 1] += 1e3
    one, other = (
        instrumental(robot.system, [samples], robot.truth).solution.values
        for samples in (spoiled, replace(spoiled, tau=tau))
    )
    assert one == pytest.approx(other, rel=1e-9)


def test_rows_for_the_covariance(noisy):
    robot, _, logs = noisy
    found = instrumental(robot.system, logs[:1], robot.truth)
    runs = projected_runs(robot.system, found.instruments[0], found.projection)
    product = np.zeros((len(robot.truth),) * 2)
    for panels in runs.read():
        for panel, sigma in zip(panels, found.solution.sigma, strict=True):
            product += panel[:-1] @ panel[:-1].T / sigma**2
    factor = found.solution.factor
    assert product == pytest.approx(factor.T @ factor, rel=1e-6, abs=1e-6 * np.abs(product).max())


# --- motions ------------------------------------------------------------------------------------------------


def test_smoothing_leaves_less_noise_in_accelerations(noisy):
    _, motion, logs = noisy
    samples = logs[0]
    known = along(samples, motion)
    inner = slice(100, -100)
    before, after = (np.std((s.qdd - known.qdd)[inner]) for s in (samples, smoothed(samples)))
    assert after < 0.1 * before
    assert np.std((smoothed(samples).q - known.q)[inner]) < np.std((samples.q - known.q)[inner])


class Servo:
    """A spring and a damper per joint towards a trajectory."""

    def __init__(self, reference):
        self.reference = reference

    def effort(self, t, theta, theta_rate):
        q, qd, _ = self.reference.at(t)
        return np.array([60.0, 20.0]) * (q - theta) + np.array([15.0, 5.0]) * (qd - theta_rate)


@pytest.fixture(scope="module")
def tracked():
    """What MuJoCo makes of a soft servo: the arm is far from its reference."""
    robot = arm("planar2")
    reference = waves(robot.robot, seconds=2.5, rate_hz=100.0, size=0.3, base_hz=0.4, harmonics=3)
    real = robot.model.as_robot()
    law = Servo(reference)
    loop = ClosedLoop(
        Plant(real, friction_of(real, robot.system.widths), None), law, np.full(2, np.inf), sampled=False
    )
    truth = move(loop, reference, np.round(reference.times * 1e9).astype(np.int64), Setup())
    return robot, reference, law, truth


def test_the_fitted_model_under_the_robots_law_moves_as_mujoco_does(tracked):
    robot, reference, law, truth = tracked
    samples = along(samples_of(robot, reference), reference)
    motion = follow(robot.system.model(robot.truth), samples, law)
    assert np.abs(truth.q - reference.q).max() > 0.1
    assert motion.q == pytest.approx(truth.q, abs=1e-4)
    assert motion.qd == pytest.approx(truth.qd, abs=1e-3)
    assert motion.qdd == pytest.approx(truth.qdd, abs=3e-2)


def test_a_known_law_gives_stronger_instruments(tracked):
    robot, reference, law, truth = tracked
    rng = np.random.default_rng(0)
    motion = make_trajectory(reference.joint_names, reference.times, truth.q, truth.qd, truth.qdd)
    samples = samples_of(robot, motion)
    samples = replace(samples, tau=truth.effort, qdd=truth.qdd + 0.3 * rng.normal(size=truth.q.shape))
    start = 1.1 * robot.truth
    alone = instrumental(robot.system, [samples], start, references=[reference])
    under = instrumental(robot.system, [samples], start, references=[reference], laws=[law])
    inertia = [robot.system.names.index(name) for name in ("ZZR1", "ZZ2", "Fc1")]
    assert (under.strength[inertia] > alone.strength[inertia]).all()
    assert under.strength.min() > 0.9
    std = np.sqrt(np.diag(under.solution.inverse))
    assert (np.abs(under.solution.values - robot.truth) < 4.0 * std).all()
    assert (std < np.sqrt(np.diag(alone.solution.inverse))).all()


def test_a_model_that_cannot_move_is_named(tracked):
    robot, reference, law, _ = tracked
    with pytest.raises(ArgumentError, match="cannot be simulated"):
        instrumental(
            robot.system, [samples_of(robot, reference)], -robot.truth, references=[reference], laws=[law]
        )


# --- what cannot be used ------------------------------------------------------------------------------------


def test_unknowns_without_motion_are_marked():
    robot = arm("planar2")
    motion = waves(robot.robot, seconds=5.0, rate_hz=50.0)
    one = [1.0, 0.0]
    half = make_trajectory(
        motion.joint_names, motion.times, motion.q * one, motion.qd * one, motion.qdd * one
    )
    found = instrumental(robot.system, [samples_of(robot, half)], robot.truth, references=[half])
    names = {robot.system.names[k] for k in np.flatnonzero(found.solution.undetermined)}
    assert {"Fv2", "Fc2"} <= names
    assert "Fv1" not in names
    held = instrumental(
        robot.system,
        [samples_of(robot, half)],
        robot.truth,
        references=[half],
        prior=Prior(robot.truth, 1e-3),
    )
    assert held.solution.values == pytest.approx(robot.truth, abs=1e-6)


def test_references_must_suit_the_logs(noisy):
    robot, motion, logs = noisy
    with pytest.raises(ArgumentError, match="1 logs and 2 references"):
        instrumental(robot.system, logs[:1], robot.truth, references=[motion, motion])
    elsewhere = make_trajectory(("a", "b"), motion.times, motion.q)
    with pytest.raises(ArgumentError, match="the reference has the joints"):
        instrumental(robot.system, logs[:1], robot.truth, references=[elsewhere])
    later = make_trajectory(motion.joint_names, motion.times + 1e3, motion.q)
    with pytest.raises(ArgumentError, match="on the log's clock"):
        instrumental(robot.system, logs[:1], robot.truth, references=[later])
    with pytest.raises(ArgumentError, match="band_hz"):
        instrumental(robot.system, logs[:1], robot.truth, band_hz=1e4)
