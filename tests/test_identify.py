"""Identification as a whole: logs whose truth is known, real recordings, and logs that nobody can use."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy.signal import lfilter

from dynid import ArgumentError, Log, identify, load_robot
from dynid.estimate import Estimate
from dynid.fit.methods import METHODS
from helpers_fit import Arm, arm, log_of, waves
from helpers_recordings import needs_recordings, panda_log, rows_of, ur10e, ur10e_log
from helpers_signals import with_column

PLAIN = {"cutoff_hz": 6.0, "width": 0.05, "delay": 0.0, "prior": "none"}  # nothing is left to choose


@cache
def known() -> Arm:
    return arm("gk3", seed=3)


def recorded(seconds: float = 20.0, seed: int = 1, **noise: float) -> Log:
    motion = waves(known().robot, seconds=seconds, seed=seed, size=0.6)
    return log_of(known(), motion, **noise)


def errors(estimate: Estimate) -> np.ndarray:
    """Of the values, in their standard deviations."""
    return (estimate.values - known().truth) / estimate.std


# --- the truth is found ------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_truth_where_there_is_no_noise(method: str) -> None:
    """What is left is the bias of filters and derivatives, above all where friction changes its sign.

    The energy and power models have one equation for all joints, and a condition ten times worse; total least
    squares takes the filter's bias for noise in the columns.
    """
    estimate = identify(known().robot, recorded(), method=method, **{**PLAIN, "cutoff_hz": 12.0})
    share = {"tls": 2e-2, "energy": 1e-2, "power": 1e-2}.get(method, 1e-3)
    scale = np.abs(known().truth).max()
    assert np.abs(estimate.values - known().truth).max() < share * scale
    assert estimate.status == "trusted"


def test_with_all_defaults() -> None:
    log = recorded(position_noise=2e-5, effort_noise=0.02)
    estimate = identify(known().robot, log, validate=recorded(seed=9, effort_noise=0.02))
    assert estimate.status == "trusted"
    assert estimate.names == known().system.names
    assert np.abs(errors(estimate)).max() < 5.0
    assert 0.02 <= estimate.choices["width"] <= 0.1  # the truth is 0.05, and the grid has it
    scores = estimate.validation["made for a test"]
    assert max(score.percent for score in scores.values()) < 2.0
    assert all(score.percent < score.percent_raw < 4.0 for score in scores.values())
    assert all(score["rmse"] == score.rmse for score in scores.values())


def test_several_logs_are_better_than_one() -> None:
    logs = [recorded(10.0, seed, effort_noise=0.02) for seed in (1, 2, 3)]
    one = identify(known().robot, logs[0], **PLAIN)
    all_three = identify(known().robot, logs, **PLAIN)
    assert np.median(all_three.std / one.std) < 3**-0.5  # the motions differ, too
    assert len(all_three.logs) == 3


def test_a_delay_is_found_and_taken_out() -> None:
    log = recorded(effort_noise=0.005)
    late = 0.012
    effort = np.stack([np.interp(log.time - late, log.time, tau) for tau in log.effort.T], axis=1)
    estimate = identify(known().robot, replace(log, effort=effort), width=0.05)
    assert estimate.choices["delay_s"] == pytest.approx(late, abs=1e-3)
    assert np.abs(errors(estimate)).max() < 6.0
    blind = identify(known().robot, replace(log, effort=effort), **PLAIN)
    assert np.abs(errors(blind)).max() > 10.0
    sound = identify(known().robot, log, width=0.05)
    assert sound.choices["delay_s"] == 0.0


def test_a_lag_of_one_joint_is_no_delay() -> None:
    log = recorded(effort_noise=0.005)
    effort = log.effort.copy()
    effort[:, 2] = np.interp(log.time - 0.012, log.time, effort[:, 2])
    estimate = identify(known().robot, replace(log, effort=effort), width=0.05)
    assert estimate.choices["delay_s"] == 0.0


def test_an_extra_column_is_one_more_unknown() -> None:
    """A spring on the second joint, whose effort is linear in the angle as that of no mass is."""
    log = recorded(effort_noise=0.01)
    column = np.zeros_like(log.position)
    column[:, 1] = log.position[:, 1]
    log = replace(log, effort=log.effort + 7.5 * column, extra={"spring": column})
    estimate = identify(known().robot, log, **PLAIN)
    assert estimate.names[-1] == "spring"
    assert estimate.value("spring") == pytest.approx(7.5, abs=5.0 * estimate.std[-1])
    with pytest.raises(ArgumentError, match="spring"):
        estimate.validate(recorded())


def test_an_extra_column_that_a_mass_explains_as_well_is_left_to_the_prior() -> None:
    """A counterbalance by the sine of an angle acts as MY2 does: nobody can tell them apart."""
    log = recorded(effort_noise=0.01)
    column = np.zeros_like(log.position)
    column[:, 1] = np.sin(log.position[:, 1])
    estimate = identify(known().robot, replace(log, extra={"counterbalance": column}), cutoff_hz=6.0)
    assert estimate.choices["prior_weight"] > 0.0
    assert abs(estimate.value("counterbalance")) < 10.0
    assert abs(estimate.value("MY2")) < 10.0
    assert estimate.status == "weak"
    assert any("condition" in advice for advice in estimate.advice)


def test_friction_on_the_motors_of_a_coupled_wrist() -> None:
    T = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -0.5, 0.8]])
    coupled = arm(replace(known().robot, transmission=T, friction_side="motor"), seed=4)
    log = log_of(coupled, waves(coupled.robot, seconds=20.0, size=0.6), effort_noise=0.01)
    found = identify(replace(coupled.robot, friction_side="joint"), log, friction_side="motor", **PLAIN)
    assert found.choices["friction_side"] == "motor"
    assert np.abs((found.values - coupled.truth) / found.std).max() < 5.0


# --- what values are worth -----------------------------------------------------------------------------


def coloured(log: Log, seed: int, share: float = 0.02, memory: float = 0.95) -> Log:
    """The log with noise of a first-order process on its efforts, 20 samples long."""
    rng = np.random.default_rng(seed)
    white = rng.normal(size=(len(log) + 500, log.effort.shape[1]))
    noise = lfilter([np.sqrt(1.0 - memory**2)], [1.0, -memory], white, axis=0)[500:]
    return replace(log, effort=log.effort + share * np.sqrt(np.mean(log.effort**2, axis=0)) * noise)


def test_intervals_contain_the_truth_as_often_as_they_say() -> None:
    """200 logs with coloured noise through the whole chain: 95 % intervals, pooled and one by one.

    By chance alone the pooled share scatters by some 0.5 %, that of one parameter by 1.5 %.
    """
    exact = recorded(position_noise=0.0)
    inside, white = [], []
    for seed in range(200):
        estimate = identify(known().robot, coloured(exact, seed), **PLAIN)
        low, high = estimate.interval().T
        inside.append((low <= known().truth) & (known().truth <= high))
        white.append(np.abs(estimate.values - known().truth) <= 1.96 * estimate.white_std)
    share = np.mean(inside, axis=0)
    print(f"intervals: {share.mean():.1%} pooled, {share.min():.1%} least; white noise: {np.mean(white):.1%}")
    assert 0.92 <= share.mean() <= 0.97
    assert share.min() >= 0.85
    assert np.mean(white) < 0.8  # what the papers' formula would have promised


# --- real arms ---------------------------------------------------------------------------------------


@needs_recordings
def test_ur10e_with_all_defaults() -> None:
    robot = ur10e()
    motion = {"02_12-40sec_12harm": (683, 4436), "02_12-50sec_12harm": (382, 5078)}
    estimate = identify(robot, ur10e_log(robot, "02_10-30sec_12harm"))
    assert estimate.status == "trusted"
    for name, (first, last) in motion.items():  # at rest, stiction is any effort below Coulomb's
        scores = estimate.validate(rows_of(ur10e_log(robot, name), first, last))
        percent = [score.percent for score in scores.values()]
        assert np.all(np.array(percent) <= (10.0, 10.0, 10.0, 10.0, 16.0, 10.0)), (name, percent)


@needs_recordings
@pytest.mark.slow
def test_panda_in_four_folds(tmp_path) -> None:
    robot = load_robot("panda")
    log = panda_log(robot, tmp_path)
    edges = np.linspace(0, len(log), 5).astype(int)
    found = []
    for held, (a, b) in enumerate(pairwise(edges)):
        parts = [rows_of(log, 0, a)] * (held > 0) + [rows_of(log, b, len(log))] * (held < 3)
        scores = identify(robot, parts).validate(rows_of(log, a, b))
        found.append([score.rmse for score in scores.values()])
    mean = np.mean(found, axis=0)
    assert np.all(mean <= (0.16, 0.18, 0.14, 0.17, 0.09, 0.04, 0.06)), mean


# --- logs that do not tell enough --------------------------------------------------------------------


def test_a_joint_that_never_moves_is_named() -> None:
    log = recorded(effort_noise=0.01)
    still = with_column(log, "position", 1, lambda q: np.full_like(q, 0.3))
    estimate = identify(known().robot, still, cutoff_hz=6.0)
    assert estimate.status == "weak"
    assert any("never moving in these logs: j2" in advice for advice in estimate.advice)
    assert any("not determined by these logs" in advice for advice in estimate.advice)
    open_ = {name for name, std in zip(estimate.names, estimate.std, strict=True) if np.isinf(std)}
    assert {"Fv2", "Fc2", "Fo2", "XZR2", "YZ2"} < open_
    assert np.abs(estimate.values).max() < 100.0  # what is open stays at its prior value


def test_nothing_moves() -> None:
    log = recorded(5.0)
    rest = replace(log, position=np.full_like(log.position, 0.1))
    with pytest.raises(ArgumentError, match="no joint moves"):
        identify(known().robot, rest, cutoff_hz=6.0)


def test_a_dead_effort_channel_is_named() -> None:
    dead = with_column(recorded(effort_noise=0.01), "effort", 2, np.zeros_like)
    estimate = identify(known().robot, dead, cutoff_hz=6.0)
    assert estimate.status != "trusted"
    assert any("effort of j3 does not change" in advice for advice in estimate.advice)


def test_efforts_that_have_nothing_to_do_with_the_motion() -> None:
    log = recorded()
    noise = np.random.default_rng(0).normal(size=log.effort.shape)
    estimate = identify(known().robot, replace(log, effort=noise), cutoff_hz=6.0)
    assert estimate.status in ("weak", "failed")


def test_logs_that_are_too_short() -> None:
    with pytest.raises(ArgumentError, match="no piece without a gap is long enough"):
        identify(known().robot, recorded(0.2), cutoff_hz=6.0)
    estimate = identify(known().robot, recorded(2.0, effort_noise=0.01), cutoff_hz=6.0)
    assert estimate.status == "weak"


def test_logs_that_do_not_belong_together() -> None:
    log = recorded(5.0)
    current = replace(log, provenance=replace(log.provenance, options={"effort": "current"}))
    with pytest.raises(ArgumentError, match="must mean the same"):
        identify(known().robot, [log, current])
    other = replace(log, joint_names=("a", "b", "c"))
    with pytest.raises(ArgumentError, match="different robots"):
        identify(known().robot, [log, other])
    with pytest.raises(ArgumentError, match="extra columns"):
        identify(known().robot, [log, replace(log, extra={"spring": log.position})])
    with pytest.raises(ArgumentError, match="at least one log"):
        identify(known().robot, [])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metod": "ols"}, "Did you mean 'method'"),
        ({"method": "magic"}, "Valid: 'wls'"),
        ({"friction": "viscous,sticky"}, "'sticky' is unknown"),
        ({"friction": ["viscous", "sticky"]}, "'sticky' is unknown"),
        ({"friction_side": "left"}, "'joint', 'motor'"),
        ({"cutoff_hz": -1.0}, "cutoff_hz must be positive"),
        ({"cutoff_hz": 1e4}, "does not suit samples"),
        ({"prior": "hope"}, "'auto', 'none', 'ridge', 'cad'"),
        ({"width": float("nan")}, "width must be a finite number"),
        ({"prior_weight": -0.1}, "prior_weight must be 0 or more"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        identify(known().robot, recorded(5.0), **options)


@pytest.mark.parametrize("words", ["viscous,coulomb", ["coulomb", "viscous"], ("viscous", "coulomb")])
def test_friction_terms_are_a_text_or_a_list(words: str | list[str]) -> None:
    estimate = identify(known().robot, recorded(5.0), friction=words, **PLAIN)
    assert {name[:2] for name in estimate.names if name.startswith("F")} == {"Fv", "Fc"}


def test_an_effort_that_never_changes_is_left_out() -> None:
    """A channel of zeros must not be fitted as if no effort were needed."""
    log = recorded(effort_noise=0.01)
    dead = with_column(log, "effort", 1, np.zeros_like)
    estimate = identify(known().robot, dead)
    others = [k for k, name in enumerate(estimate.names) if np.isfinite(estimate.std[k]) and name[0] != "F"]
    assert np.abs(errors(estimate)[others]).max() < 5.0
    assert "j2" not in estimate.train
    with pytest.raises(ArgumentError, match="no efforts that change"):
        identify(known().robot, replace(log, effort=np.zeros_like(log.effort)))


@pytest.mark.parametrize("fault", ["effort_sign", "swapped_joints", "degrees"])
def test_a_log_that_was_misread_is_not_trusted(fault: str) -> None:
    log = recorded(effort_noise=0.01)
    spoilt = {
        "effort_sign": with_column(log, "effort", 1, np.negative),
        "swapped_joints": replace(log, effort=log.effort[:, [1, 0, 2]]),
        "degrees": replace(log, position=np.degrees(log.position)),
    }
    estimate = identify(known().robot, spoilt[fault], cutoff_hz=6.0)
    assert estimate.status == "weak"
    assert any(advice.startswith(fault) for advice in estimate.advice)


def test_two_signs_of_one_fault_name_its_joints_once() -> None:
    """Velocities that follow the other joint's position, and efforts that do."""
    log = recorded(effort_noise=0.01)
    velocity = np.gradient(log.position, log.time, axis=0)
    swapped = replace(log, position=log.position[:, [1, 0, 2]], velocity=velocity)
    advice = identify(known().robot, swapped, cutoff_hz=6.0).advice
    assert any(text.startswith("swapped_joints (j1, j2): the velocity") for text in advice)


def test_efforts_that_may_be_currents_are_named() -> None:
    """They fit as well as torques do, so only the robot's file speaks against them: a hint, not a verdict."""
    log = recorded(effort_noise=0.01)
    estimate = identify(known().robot, replace(log, effort=log.effort / 10.0), cutoff_hz=6.0)
    assert any("effort_scale" in text and "--effort current" in text for text in estimate.advice)


def test_what_no_robot_can_be_is_not_trusted() -> None:
    """All efforts turned round, of a robot whose file says nothing of its bodies."""
    log = recorded(effort_noise=0.01)
    links = tuple(replace(link, parameters=np.full(10, np.nan)) for link in known().robot.links)
    blind = replace(known().robot, links=links)
    assert identify(blind, log, cutoff_hz=6.0).status == "trusted"
    turned = identify(blind, replace(log, effort=-log.effort), cutoff_hz=6.0)
    assert turned.status == "weak"
    assert any("inertia below zero beyond doubt at j1, j2, j3" in advice for advice in turned.advice)


def test_a_prior_leaves_friction_to_the_data() -> None:
    """Friction of a file is that of another day: three times too large, it must not spoil the values."""
    robot = known().robot
    joints = tuple(replace(joint, viscous=2.0, coulomb=2.0, offset=1.0) for joint in robot.joints)
    log = recorded(effort_noise=0.01)
    estimate = identify(replace(robot, joints=joints), log, **{**PLAIN, "prior": "cad", "prior_weight": 0.3})
    drives = [k for k, name in enumerate(estimate.names) if name[:2] in ("Fv", "Fc")]
    assert np.abs(errors(estimate)[drives]).max() < 5.0
