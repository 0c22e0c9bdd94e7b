"""The log doctor: every fault it knows, injected into simulated logs; and silence on healthy ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from dynid import ArgumentError, load_robot
from dynid.log.channel_levels import resolution, white_noise
from dynid.log.check import LONGEST_S, Report, check
from dynid.log.clean import clean
from dynid.log.findings import Finding
from dynid.log.log import Log
from dynid.plant import Setup, simulate
from dynid.plant.integrate import Precision
from dynid.plant.sensors import Sensors
from dynid.robot import Link, Robot
from dynid.trajectory import make_trajectory
from helpers_signals import fourier, healthy, log_of, truth, with_column, with_rows, with_stamps

RATE = 200.0
ARM = load_robot("puma560")
NAMES = ARM.joint_names
K = np.array([10.0, 11.0, 8.5, 9.0, 9.5, 10.0])  # Nm/A

Fault = Callable[[Log], Log]


@pytest.fixture(scope="module")
def simulated() -> Log:
    """Ten seconds of an arm in MuJoCo under a servo, through sensors of everyday quality."""
    t = np.arange(0.0, 10.0, 0.01)
    trajectory = make_trajectory(NAMES, t, *fourier(ARM, t, seed=0, harmonics=4))
    sensors = Sensors(
        encoder_bits=17, velocity="encoder", torque_noise=0.01, torque_step=0.002, clock_jitter=1e-5
    )
    setup = Setup(sensors=sensors, rate_hz=RATE, precision=Precision(tolerance=1e-4))
    return simulate(ARM, trajectory, setup, seed=1)


def kinds(report: Report) -> list[tuple[str, str | None]]:
    return [(finding.kind, finding.joint) for finding in report.findings]


def found(report: Report, kind: str) -> list[Finding]:
    return [finding for finding in report.findings if finding.kind == kind]


# --- healthy logs -----------------------------------------------------------------------------------


def test_a_simulated_log_is_good(simulated: Log) -> None:
    report = check(ARM, simulated)
    assert report.findings == ()
    assert report.verdict == "good"


def with_other_parameters(robot: Robot, seed: int) -> Robot:
    """All off by up to 30 %, as those of a file often are."""
    factors = 1.0 + np.random.default_rng(seed).uniform(-0.3, 0.3, (len(robot.links), 10))
    links = zip(robot.links, factors, strict=True)
    return replace(robot, links=tuple(replace(link, parameters=link.parameters * f) for link, f in links))


def without_parameters(robot: Robot) -> Robot:
    return replace(robot, links=tuple(Link(name=link.name) for link in robot.links))


@pytest.mark.parametrize("name", ["panda", "puma560", "puma260", "scara", "stanford", "gk3", "planar2"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_false_alarms_whatever_the_robot_rate_noise_and_knowledge(name: str, seed: int) -> None:
    robot = load_robot(name)
    rate, noise, speed = [(100.0, 0.03, 0.05), (250.0, 0.01, 0.005), (1000.0, 0.06, 0.05)][seed - 1]
    t = np.arange(0.0, 15.0, 1.0 / rate)
    log = log_of(robot, truth(robot, t, seed, coulomb_speed=speed), seed, noise=noise, resolution=1e-4)
    for known in (robot, with_other_parameters(robot, seed), without_parameters(robot)):
        report = check(known, log)
        assert not found(report, "poor_excitation") or name == "planar2"
        assert [f for f in report.findings if f.severity != "hint"] == []


def test_rest_is_no_fault_but_is_told(simulated: Log) -> None:
    """A robot that stands for as long as it moves, with every encoder count the same."""
    still = int(1.5 * len(simulated))
    rows = np.concatenate([np.zeros(still, dtype=int), np.arange(len(simulated))])
    log = replace(
        with_rows(simulated, rows),
        stamp_ns=(np.arange(len(rows)) * (1e9 / RATE)).astype(np.int64),
        velocity=np.concatenate([np.zeros((still, ARM.dof)), simulated.velocity]),
    )
    report = check(ARM, log)
    (finding,) = found(report, "standstill")
    assert finding.severity == "hint"
    assert report.excitation.standstill_share == pytest.approx(0.6, abs=0.05)
    assert not {"frozen_channel", "repeated_rows", "effort_constant"} & {kind for kind, _ in kinds(report)}


# --- faults -----------------------------------------------------------------------------------------


def column(what: str, joint: int, change: Callable[[np.ndarray], np.ndarray]) -> Fault:
    return lambda log: with_column(log, what, joint, change)


def all_of(**changes: Callable[[np.ndarray], np.ndarray]) -> Fault:
    return lambda log: replace(log, **{what: f(getattr(log, what)) for what, f in changes.items()})


def without_rows(first: float, count: int) -> Fault:
    """Rows lost, the first at a share of the log."""
    return lambda log: with_rows(
        log, np.delete(np.arange(len(log)), slice(k := int(first * len(log)), k + count))
    )


def stamps(change: Callable[[np.ndarray], np.ndarray]) -> Fault:
    return lambda log: with_stamps(log, change(log.stamp_ns.copy()))


def shaken(stamp_ns: np.ndarray) -> np.ndarray:
    step = 1e9 / RATE * np.clip(np.random.default_rng(0).normal(0.0, 0.1, len(stamp_ns)), -0.4, 0.4)
    return stamp_ns + step.astype(np.int64)


def exchanged(stamp_ns: np.ndarray) -> np.ndarray:
    stamp_ns[[500, 501]] = stamp_ns[[501, 500]]
    return stamp_ns


def set_back(stamp_ns: np.ndarray) -> np.ndarray:
    stamp_ns[1000:] -= 2_000_000_000
    return stamp_ns


def same(stamp_ns: np.ndarray) -> np.ndarray:
    stamp_ns[501] = stamp_ns[500]
    return stamp_ns


def copied(log: Log) -> Log:
    """One row in twenty is the row before."""
    rows = np.arange(len(log))
    rows[20::20] -= 1
    return replace(with_rows(log, rows), stamp_ns=log.stamp_ns)


def held(values: np.ndarray, first: float = 0.4, last: float = 0.5) -> np.ndarray:
    a, b = int(first * len(values)), int(last * len(values))
    values[a:b] = values[a]
    return values


def to_the_end(values: np.ndarray) -> np.ndarray:
    return held(values, 0.8, 1.0)


def clipped(values: np.ndarray) -> np.ndarray:
    return np.clip(values, -0.7 * np.abs(values).max(), 0.7 * np.abs(values).max())


def in_steps(step: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda values: np.round(values / step) * step


def late(seconds: float) -> Callable[[np.ndarray], np.ndarray]:
    rows = round(seconds * RATE)

    def shifted(values: np.ndarray) -> np.ndarray:
        out = np.roll(values, rows, axis=0)
        if rows > 0:
            out[:rows] = values[0]
        else:
            out[rows:] = values[-1]
        return out

    return shifted


def swapped(i: int, j: int) -> Callable[[np.ndarray], np.ndarray]:
    order = np.arange(ARM.dof)
    order[[i, j]] = order[[j, i]]
    return lambda values: values[:, order]


def spoiled(value: float) -> Callable[[np.ndarray], np.ndarray]:
    def change(values: np.ndarray) -> np.ndarray:
        values[100:120] = value
        return values

    return change


FAULTS: dict[str, tuple[Fault, str, str | None]] = {
    "a hole of 0.5 s": (without_rows(0.5, 100), "clock_gap", None),
    "three rows lost": (without_rows(0.5, 3), "clock_gap", None),
    "a clock that jitters": (stamps(shaken), "clock_jitter", None),
    "two stamps exchanged": (stamps(exchanged), "clock_backwards", None),
    "a clock set back": (stamps(set_back), "clock_backwards", None),
    "a stamp twice": (stamps(same), "clock_duplicate", None),
    "rows copied": (copied, "repeated_rows", None),
    "positions frozen for 1 s": (column("position", 1, held), "frozen_channel", NAMES[1]),
    "positions frozen to the end": (column("position", 2, to_the_end), "frozen_channel", NAMES[2]),
    "positions never change": (column("position", 1, lambda v: 0 * v + 0.3), "frozen_channel", NAMES[1]),
    "velocities frozen for 1 s": (column("velocity", 1, held), "frozen_channel", NAMES[1]),
    "velocities not reported": (column("velocity", 3, np.zeros_like), "frozen_channel", NAMES[3]),
    "efforts frozen for 1 s": (column("effort", 2, held), "frozen_channel", NAMES[2]),
    "efforts frozen to the end": (column("effort", 1, to_the_end), "frozen_channel", NAMES[1]),
    "efforts not reported": (column("effort", 4, np.zeros_like), "effort_constant", NAMES[4]),
    "efforts clipped": (column("effort", 1, clipped), "saturated_channel", NAMES[1]),
    "velocities clipped": (column("velocity", 0, clipped), "saturated_channel", NAMES[0]),
    "coarse positions": (column("position", 1, in_steps(0.005)), "quantised_channel", NAMES[1]),
    "coarse efforts": (column("effort", 2, in_steps(1.0)), "quantised_channel", NAMES[2]),
    "all in degrees": (all_of(position=np.degrees, velocity=np.degrees), "degrees", None),
    "positions in degrees": (all_of(position=np.degrees), "degrees", None),
    "half a turn off, out of reach": (column("position", 1, lambda v: v + np.pi), "position_limit", NAMES[1]),
    "velocities in degrees": (all_of(velocity=np.degrees), "velocity_unit", NAMES[0]),
    "a velocity in rpm": (column("velocity", 5, lambda v: v * 30 / np.pi), "velocity_unit", NAMES[5]),
    "a velocity of the motor": (column("velocity", 1, lambda v: 100 * v), "velocity_unit", NAMES[1]),
    "a velocity turned round": (column("velocity", 2, np.negative), "velocity_sign", NAMES[2]),
    "all velocities turned round": (all_of(velocity=np.negative), "velocity_sign", NAMES[5]),
    "velocities 20 ms late": (all_of(velocity=late(0.02)), "delay", None),
    "a velocity 50 ms late": (column("velocity", 1, late(0.05)), "delay", NAMES[1]),
    "efforts 20 ms late": (all_of(effort=late(0.02)), "delay", None),
    "efforts 20 ms early": (all_of(effort=late(-0.02)), "delay", None),
    "efforts 0.1 s early": (all_of(effort=late(-0.1)), "delay", None),
    "an effort 50 ms late": (column("effort", 0, late(0.05)), "delay", NAMES[0]),
    **{
        f"effort {j + 1} turned round": (column("effort", j, np.negative), "effort_sign", NAMES[j])
        for j in range(ARM.dof)
    },
    "all efforts turned round": (all_of(effort=np.negative), "effort_sign", NAMES[0]),
    "a gear 100 too low": (column("effort", 1, lambda v: 0.01 * v), "effort_scale", NAMES[1]),
    "a gear 100 too high": (column("effort", 1, lambda v: 100 * v), "effort_scale", NAMES[1]),
    "a gear 3 too high": (column("effort", 2, lambda v: 3 * v), "effort_scale", NAMES[2]),
    "current taken for torque": (all_of(effort=lambda v: v / K), "effort_scale", NAMES[2]),
    "efforts swapped": (all_of(effort=swapped(1, 2)), "swapped_joints", f"{NAMES[1]}, {NAMES[2]}"),
    "efforts swapped far": (all_of(effort=swapped(0, 4)), "swapped_joints", f"{NAMES[0]}, {NAMES[4]}"),
    "velocities swapped": (all_of(velocity=swapped(3, 5)), "swapped_joints", f"{NAMES[3]}, {NAMES[5]}"),
    "positions swapped": (all_of(position=swapped(1, 2)), "swapped_joints", f"{NAMES[1]}, {NAMES[2]}"),
    "joints swapped": (
        all_of(position=swapped(0, 1), velocity=swapped(0, 1), effort=swapped(0, 1)),
        "swapped_joints",
        f"{NAMES[0]}, {NAMES[1]}",
    ),
    "efforts not finite": (column("effort", 1, spoiled(np.nan)), "not_finite", NAMES[1]),
    "velocities infinite": (column("velocity", 1, spoiled(np.inf)), "not_finite", NAMES[1]),
    "positions absurd": (column("position", 1, spoiled(1e11)), "not_finite", NAMES[1]),
    "no efforts": (lambda log: replace(log, effort=None), "not_finite", None),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(simulated: Log, fault: str) -> None:
    inject, kind, joint = FAULTS[fault]
    report = check(ARM, inject(simulated))
    assert (kind, joint) in kinds(report)
    for finding in report.findings:
        assert finding.evidence
        assert finding.advice


# What is said besides the fault itself; all else is about the fault alone.
@pytest.mark.parametrize(
    "fault",
    [
        "a hole of 0.5 s",
        "a clock that jitters",
        "rows copied",
        "velocities frozen for 1 s",
        "efforts frozen for 1 s",
        "efforts not reported",
        "velocities clipped",
        "coarse efforts",
        "all in degrees",
        "a velocity of the motor",
        "a velocity turned round",
        "velocities 20 ms late",
        "efforts 20 ms late",
        "efforts 0.1 s early",
        "effort 2 turned round",
        "a gear 100 too low",
        "efforts swapped",
        "velocities swapped",
        "efforts not finite",
    ],
)
def test_a_fault_is_all_that_is_found(simulated: Log, fault: str) -> None:
    inject, kind, joint = FAULTS[fault]
    others = [f for f in check(ARM, inject(simulated)).findings if (f.kind, f.joint) != (kind, joint)]
    assert [f for f in others if f.severity != "hint"] == []


def test_every_kind_of_the_contract_is_injected() -> None:
    apart = {"poor_excitation", "standstill"}  # the two are of the motion, and have tests of their own
    every = (
        "clock_gap clock_jitter clock_backwards clock_duplicate repeated_rows frozen_channel "
        "saturated_channel quantised_channel degrees position_limit velocity_unit velocity_sign delay "
        "effort_sign effort_scale effort_constant swapped_joints poor_excitation standstill not_finite"
    )
    assert {kind for _, kind, _ in FAULTS.values()} | apart == set(every.split())


def test_evidence_has_the_figure_that_was_injected(simulated: Log) -> None:
    """Lags and factors are measured, not only noticed."""

    def evidence(fault: str) -> str:
        inject, kind, joint = FAULTS[fault]
        return next(
            f.evidence for f in check(ARM, inject(simulated)).findings if (f.kind, f.joint) == (kind, joint)
        )

    words = evidence("efforts 20 ms late").split()
    assert words[4] == "later"
    assert float(words[2]) == pytest.approx(
        20.0, abs=4.0
    )  # 40 columns on 10 s can follow most of a small lag
    words = evidence("efforts 0.1 s early").split()
    assert words[4] == "earlier"
    assert float(words[2]) == pytest.approx(100.0, abs=4.0)
    words = evidence("velocities 20 ms late").split()
    assert float(words[2]) == pytest.approx(22.5, abs=1.0)  # differences of positions are half a sample late
    assert float(evidence("a gear 100 too high").split()[2]) == pytest.approx(100.0, rel=0.05)
    assert float(evidence("a velocity of the motor").split()[2]) == pytest.approx(100.0, rel=0.02)
    assert "degrees per second" in evidence("velocities in degrees")
    assert "adding -180 deg would bring all inside" in evidence("half a turn off, out of reach")


@pytest.mark.parametrize("name", ["panda", "scara", "stanford"])
def test_signs_and_swaps_without_the_robots_parameters(name: str) -> None:
    """Of any one effort, by the couplings and by friction alone."""
    robot = load_robot(name)
    blind, log = without_parameters(robot), healthy(robot, seed=4, seconds=15.0)
    for joint in range(robot.dof):
        report = check(blind, with_column(log, "effort", joint, np.negative))
        assert ("effort_sign", robot.joint_names[joint]) in kinds(report)
    order = np.arange(robot.dof)
    order[:2] = 1, 0
    report = check(blind, replace(log, effort=log.effort[:, order]))
    assert ("swapped_joints", ", ".join(robot.joint_names[:2])) in kinds(report)


def test_a_zero_off_within_the_limits_is_seen_by_gravity() -> None:
    robot = load_robot("puma560")
    free = replace(robot, joints=tuple(replace(j, limits=type(j.limits)()) for j in robot.joints))
    log = healthy(robot, seed=2, seconds=15.0)
    report = check(free, with_column(log, "position", 1, lambda v: v + 0.5 * np.pi))
    (finding,) = found(report, "position_limit")
    assert finding.joint == NAMES[1]
    assert "+270 deg on the position" in finding.evidence


# --- excitation -------------------------------------------------------------------------------------


def test_one_moving_joint_leaves_most_undetermined() -> None:
    robot = load_robot("panda")
    true = truth(robot, np.arange(0.0, 20.0, 0.004))
    one = np.arange(robot.dof) == 3
    q, qd, qdd = np.where(one, true.q, true.q[0]), true.qd * one, true.qdd * one
    friction = true.friction[:, 0] * qd + true.friction[:, 1] * np.tanh(qd / 0.05)
    tau = robot.inverse_dynamics(q, qd, qdd) + friction
    report = check(robot, log_of(robot, replace(true, q=q, qd=qd, qdd=qdd, tau=tau)))
    (finding,) = found(report, "poor_excitation")
    assert finding.severity == "warning"
    excitation = report.excitation
    assert {"ZZR1", "ZZ7"} <= set(excitation.undetermined)
    assert len(excitation.undetermined) > 20
    assert not np.isfinite(excitation.condition)
    assert {joint for kind, joint in kinds(report) if kind == "standstill"} == {
        name for name, moves in zip(robot.joint_names, one, strict=True) if not moves
    }


def test_condition_and_determined_parameters_are_those_of_the_regressor(simulated: Log) -> None:
    """Against the singular values of the base regressor at the clean rows, without any filter."""
    from dynid.base import base_parameters

    excitation = check(ARM, simulated).excitation
    base = base_parameters(ARM)
    t = simulated.time
    W = ARM.regressor(*fourier(ARM, t, seed=0, harmonics=4)) @ np.linalg.pinv(base.matrix)
    s = np.linalg.svd(W.reshape(-1, base.count), compute_uv=False)
    assert excitation.condition == pytest.approx(s[0] / s[-1], rel=0.1)
    named = (*excitation.determined, *excitation.weak, *excitation.undetermined)
    assert sorted(named) == sorted(base.names)


def test_two_logs_together_determine_more_than_each(simulated: Log) -> None:
    robot = load_robot("gk3")
    true = truth(robot, np.arange(0.0, 15.0, 0.01))
    logs = []
    for moving in ([True, False, False], [False, True, True]):
        q, qd, qdd = np.where(moving, true.q, 0.3), true.qd * moving, true.qdd * moving
        motion = replace(true, q=q, qd=qd, qdd=qdd, tau=robot.inverse_dynamics(q, qd, qdd) + 0.1 * qd)
        logs.append(log_of(robot, motion))
    each = [check(robot, log).excitation.undetermined for log in logs]
    both = check(robot, logs)
    assert all(each)
    assert set(both.excitation.undetermined) < set(each[0])
    assert [log.source for log in both.logs] == ["made.csv", "made.csv"]


# --- the clock --------------------------------------------------------------------------------------


def test_counts_are_exact(simulated: Log) -> None:
    rows = np.delete(np.arange(len(simulated)), [100, 400, 401, 900])
    log = with_rows(simulated, np.insert(rows, 50, rows[49]))
    clock = check(ARM, log).clock
    assert (clock["samples"], clock["gaps"], clock["duplicates"], clock["repeated_rows"]) == (
        len(log),
        3,
        1,
        1,
    )
    assert clock["rate_hz"] == pytest.approx(RATE, rel=1e-3)
    assert clock["longest_gap_s"] == pytest.approx(3 / RATE, rel=0.02)
    assert clock["lost_s"] == pytest.approx(4 / RATE, rel=0.02)


def test_nothing_runs_on_over_a_clock_that_was_set_back(simulated: Log) -> None:
    """Rows 1000 to 1399 are left out, and what comes after is two seconds further on."""
    rows = clean(with_stamps(simulated, set_back(simulated.stamp_ns.copy())), ARM)
    assert rows.breaks.tolist() == [1000]
    assert np.abs(np.diff(rows.position, axis=0)[999]).max() > 0.1
    lone = clean(with_stamps(simulated, exchanged(simulated.stamp_ns.copy())), ARM)
    assert lone.breaks.size == 0


# --- levels -----------------------------------------------------------------------------------------


def test_noise_and_steps_of_channels_are_measured() -> None:
    robot = load_robot("scara")
    true = truth(robot, np.arange(0.0, 20.0, 0.002))
    log = log_of(robot, true, noise=0.02, resolution=1e-3)
    levels = {(level.joint, level.quantity): level for level in check(robot, log).logs[0].levels}
    assert len(levels) == 3 * robot.dof
    for j, name in enumerate(robot.joint_names):
        rms = np.sqrt(np.mean(true.tau[:, j] ** 2))
        assert levels[name, "effort"].noise == pytest.approx(0.02 * rms, rel=0.05)  # of 10000 values
        assert levels[name, "velocity"].noise == pytest.approx(2e-3, rel=0.05)
        assert levels[name, "position"].step == pytest.approx(1e-3, rel=1e-6)
        assert levels[name, "position"].low == log.position[:, j].min()


def test_white_noise_is_told_from_motion_and_from_outliers() -> None:
    rng = np.random.default_rng(0)
    t = np.arange(20000) * 1e-3
    values = np.sin(3.0 * t) + rng.normal(0.0, 1e-3, len(t))
    values[::100] += 5.0  # one in a hundred, which spoils four third differences
    assert white_noise(values) == pytest.approx(1e-3, rel=0.1)
    assert white_noise(np.round(np.sin(3.0 * t), 2)) < 1e-2
    assert resolution(np.round(np.sin(3.0 * t), 2)) == (pytest.approx(0.01), 201)
    assert resolution(np.full(10, 3.0)) == (0.0, 1)


# --- what cannot be checked -------------------------------------------------------------------------


def test_a_long_log_is_looked_at_in_pieces() -> None:
    robot = load_robot("planar2")
    log = healthy(robot, seconds=3.0 * LONGEST_S, rate_hz=100.0)
    assert check(robot, log).verdict == "good"
    late_fault = with_column(log, "effort", 1, lambda v: np.where(np.arange(len(v)) > 45000, -v, v))
    assert ("effort_sign", robot.joint_names[1]) not in kinds(check(robot, log))
    assert check(robot, late_fault).verdict in ("bad", "usable", "good")


def test_a_log_too_short_for_any_filter_is_bad_but_not_an_error(simulated: Log) -> None:
    report = check(ARM, with_rows(simulated, np.arange(30)))
    assert report.verdict == "bad"
    assert ("poor_excitation", None) in kinds(report)
    assert report.excitation is None


def test_logs_of_other_robots_and_no_logs_are_errors(simulated: Log) -> None:
    with pytest.raises(ArgumentError, match="was not read for"):
        check(load_robot("panda"), simulated)
    with pytest.raises(ArgumentError, match="no log"):
        check(ARM, [])
    frozen_clock = with_stamps(simulated, np.zeros(len(simulated), dtype=np.int64))
    with pytest.raises(ArgumentError, match="never advance"):
        check(ARM, frozen_clock)


def test_the_same_log_gives_the_same_report(simulated: Log) -> None:
    assert check(ARM, simulated).as_dict() == check(ARM, simulated).as_dict()
