"""Friction that remembers: against Dahl's differential equation, and from logs made with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from dynid import identify
from dynid.friction import Friction
from dynid.presliding import sliding_sense
from helpers_fit import arm, log_of, waves
from helpers_recordings import needs_recordings, rows_of, ur10e, ur10e_log

REACH = np.array([0.1, 0.5])


def way(t: np.ndarray) -> np.ndarray:
    return np.stack([np.sin(3.0 * t) + 0.2 * np.sin(11.0 * t), np.cos(2.0 * t)], axis=-1)


def rate(t: float) -> np.ndarray:
    return np.array([3.0 * np.cos(3.0 * t) + 2.2 * np.cos(11.0 * t), -2.0 * np.sin(2.0 * t)])


def test_it_solves_dahls_equation() -> None:
    """dz/dt = (v - z |v|) / reach by an integrator; reversals lie up to half a step from the samples."""
    t = np.linspace(0.0, 4.0, 20_001)
    start = np.array([0.3, -0.8])
    exact = solve_ivp(
        lambda s, z: (rate(s) - z * np.abs(rate(s))) / REACH,
        (0.0, 4.0),
        start,
        t_eval=t,
        rtol=1e-9,
        atol=1e-9,
    )
    found = sliding_sense(way(t), start, REACH)
    assert np.abs(found - exact.y.T).max() < 1e-4


@given(st.integers(0, 2**32 - 1))
def test_speed_has_no_part_in_it(seed: int) -> None:
    """The same way in other steps, with rests: the same friction at the same places."""
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.normal(size=(50, 2)), axis=0)
    found = sliding_sense(x, np.zeros(2), REACH)
    assert np.abs(found).max() <= 1.0
    slow = np.repeat(x, 3, axis=0)
    slow[1:-2:3] = x[:-1] + (x[1:] - x[:-1]) / 3.0  # at rest for a sample, and one on the way
    slow[2:-2:3] = slow[1:-2:3]
    assert sliding_sense(slow, np.zeros(2), REACH)[::3] == pytest.approx(found, abs=1e-12)


def test_a_short_distance_is_the_sign() -> None:
    t = np.linspace(0.0, 4.0, 2001)
    found = sliding_sense(way(t), np.zeros(2), np.full(2, 1e-9))
    steps = np.sign(np.diff(way(t), axis=0))
    assert np.array_equal(np.round(found[1:], 12), steps)


def test_nothing_moves() -> None:
    found = sliding_sense(np.full((5, 2), 0.7), np.array([0.2, -1.0]), REACH)
    assert found == pytest.approx(np.tile([0.2, -1.0], (5, 1)))


def test_identification_finds_the_distance_and_predicts_better_with_it() -> None:
    """A log whose Coulomb friction turns over 3 mrad, which a function of speed alone cannot follow."""
    known = arm("planar2", seed=2)
    motion = waves(known.robot, seconds=24.0, size=0.6)
    dahl = replace(known.model.friction, presliding=3e-3)
    turning = dahl.efforts(motion.qd, sliding=dahl.sliding(motion.q, motion.qd))
    log = log_of(known, motion, effort_noise=0.01)
    log = replace(log, effort=log.effort + turning - known.model.friction.efforts(motion.qd))
    with_memory = identify(known.robot, log, cutoff_hz=8.0)
    without = identify(known.robot, log, cutoff_hz=8.0, presliding=0.0)
    assert 1e-3 <= with_memory.choices["presliding"] <= 5e-3
    coulomb = [known.system.names.index(f"Fc{k + 1}") for k in range(2)]
    assert with_memory.values[coulomb] == pytest.approx(known.truth[coulomb], rel=0.05)
    for joint, score in with_memory.validate(log).items():
        assert score.percent < 0.7 * without.validate(log)[joint].percent


def test_a_step_of_speed_is_left_alone() -> None:
    known = arm("planar2", seed=2)
    log = log_of(known, waves(known.robot, seconds=24.0, size=0.6), effort_noise=0.01, position_noise=1e-5)
    assert identify(known.robot, log, cutoff_hz=8.0).choices["presliding"] == 0.0


def test_efforts_of_samples_by_themselves_have_no_memory() -> None:
    friction = Friction(
        viscous=np.zeros(1), coulomb=np.ones(1), offset=np.zeros(1), presliding=0.1, width=0.01
    )
    q, qd = np.array([[0.0], [0.1], [0.05]]), np.array([[1.0], [1.0], [-1.0]])
    assert friction.efforts(qd).ravel() == pytest.approx([1.0, 1.0, -1.0])
    turned = -1.0 + 2.0 * np.exp(-0.5)
    assert friction.efforts(qd, sliding=friction.sliding(q, qd)).ravel() == pytest.approx([1.0, 1.0, turned])


@needs_recordings
def test_a_real_arm_remembers() -> None:
    """The UR10e's wrist, on a recording that had no part in the fit: better by a sixth at least."""
    robot = ur10e()
    training = ur10e_log(robot, "02_10-30sec_12harm")
    unseen = rows_of(ur10e_log(robot, "02_12-40sec_12harm"), 683, 4436)
    chosen = identify(robot, training)
    given = {"cutoff_hz": chosen.choices["cutoff_hz"], "width": chosen.choices["width"], "prior": "none"}
    step = identify(robot, training, presliding=0.0, delay=0.0, **given)
    assert 1e-4 <= chosen.choices["presliding"] <= 5e-4
    for joint in robot.joint_names[3:]:
        assert chosen.validate(unseen)[joint].percent < step.validate(unseen)[joint].percent / 1.2


def test_a_delay_is_not_taken_for_memory() -> None:
    """Late efforts turn late, too; but so do those of gravity and inertia."""
    known = arm("planar2", seed=2)
    motion = waves(known.robot, seconds=24.0, size=0.6)
    steep = replace(known.model.friction, width=1e-3)
    log = log_of(replace(known, model=replace(known.model, friction=steep)), motion, effort_noise=0.01)
    late = np.stack([np.interp(log.time - 0.015, log.time, tau) for tau in log.effort.T], axis=1)
    found = identify(known.robot, replace(log, effort=late), cutoff_hz=8.0)
    assert found.choices["delay_s"] == pytest.approx(0.015, abs=2e-3)
    assert found.choices["presliding"] == 0.0
