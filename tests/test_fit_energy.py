"""Energy, power and momentum models: the same parameters as the torque model, and no acceleration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.errors import ArgumentError
from dynid.fit.energy import (
    SHORTEST,
    energy_rows,
    interval_steps,
    interval_weights,
    power_rows,
    reduce_energy,
    reduce_power,
)
from dynid.fit.momentum import reduce_momentum
from dynid.fit.reduction import reduce
from dynid.fit.solve import ordinary, weighted
from dynid.log.prepare import prepare
from helpers_fit import arm, log_of, samples_of, waves

MODELS = {"energy": reduce_energy, "power": reduce_power, "momentum": reduce_momentum}


@pytest.fixture(scope="module", params=["planar2", "scara"])
def exact(request):
    """An arm and exact samples of it: with turning joints alone, and with a sliding one."""
    robot = arm(request.param)
    return robot, samples_of(robot, waves(robot.robot, rate_hz=400.0))


def test_the_rule_integrates_cubics_exactly():
    for steps in (SHORTEST, 7, 20):
        x = np.arange(steps + 1.0)
        for power in range(4):
            found = interval_weights(steps) @ x**power
            assert found == pytest.approx(steps ** (power + 1) / (power + 1), rel=1e-13)


def test_work_becomes_energy(exact):
    """Row by row, with energies of the model itself; the rule's error falls as the step's 4th power."""
    robot, _ = exact
    n, count = robot.robot.dof, len(robot.truth)
    worst = []
    for rate_hz in (100.0, 200.0, 400.0):
        samples = samples_of(robot, waves(robot.robot, rate_hz=rate_hz))
        (times, rows) = (
            np.concatenate(part)
            for part in zip(*energy_rows(robot.system, samples, interval_s=0.4), strict=True)
        )
        assert rows.shape == (len(times), count + 1)
        starts = np.round((times - 0.2) * rate_hz).astype(int)
        ends = starts + round(0.4 * rate_hz)
        q, qd = samples.q, samples.qd
        model = robot.model
        energy = model.robot.kinetic_energy(q, qd, model.parameters)
        energy += model.robot.potential_energy(q, model.parameters) + 0.5 * qd**2 @ model.armature
        # the offset of a sliding joint is a force like a weight, and has no parameter of its own
        alone = [f"Fo{k + 1}" in robot.system.names for k in range(n)]
        energy += q @ np.where(alone, 0.0, model.friction.offset)
        stored = [k for k, name in enumerate(robot.system.names) if name[:2] not in ("Fv", "Fc", "Fo")]
        change = rows[:, stored] @ robot.truth[stored]
        assert change == pytest.approx(energy[ends] - energy[starts], abs=1e-12 * np.abs(energy).max())
        worst.append(np.abs(rows[:, :-1] @ robot.truth - rows[:, -1]).max())
    assert worst[0] > 8.0 * worst[1] > 64.0 * worst[2]


@pytest.mark.parametrize("model", MODELS)
def test_exact_samples_give_the_truth_without_acceleration(exact, model):
    robot, samples = exact
    blind = replace(samples, qdd=np.full_like(samples.qdd, np.nan))
    found = ordinary(MODELS[model](robot.system, blind)).values
    assert found == pytest.approx(robot.truth, abs=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_a_log_gives_the_truth(model):
    """Positions alone, through all filters: what these change at the efforts' steps is all that is left."""
    robot = arm("planar2")
    samples = prepare(
        log_of(robot, waves(robot.robot, seconds=20.0, rate_hz=500.0)),
        robot.robot,
        cutoff_hz=8.0,
        standstill_speed=0.0,
    )
    found = weighted(MODELS[model](robot.system, samples)).values
    assert found == pytest.approx(robot.truth, abs=5e-3 if model == "energy" else 1e-4)


def test_a_period_of_whole_intervals_is_no_trap(exact):
    """10 intervals of 0.5 s are a period of this motion: one chain of them would give 10 different rows."""
    robot, _ = exact
    samples = samples_of(robot, waves(robot.robot, seconds=20.0, rate_hz=200.0))
    solution = ordinary(reduce_energy(robot.system, samples, interval_s=0.5))
    assert len(robot.truth) > 10
    assert not solution.undetermined.any()
    assert solution.values == pytest.approx(robot.truth, abs=1e-4)


def test_white_noise_of_the_efforts_alone_leaves_no_bias():
    """Means over runs differ from the truth by no more than chance, joint by joint and in one equation."""
    robot = arm("planar2")
    motion = waves(robot.robot, rate_hz=100.0)
    for reduced in MODELS.values():
        found = [
            ordinary(reduced(robot.system, samples_of(robot, motion, effort_noise=0.1, seed=seed))).values
            for seed in range(20)
        ]
        chance = np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
        assert np.abs(np.mean(found, axis=0) - robot.truth).max() < 4.0 * chance.max()
        assert (np.abs(np.mean(found, axis=0) - robot.truth) < 4.5 * chance).all()


def test_momentum_bears_noise_of_positions_better_than_the_torque_model():
    robot = arm("planar2")
    motion = waves(robot.robot, seconds=20.0, rate_hz=500.0)
    errors = {"torque": [], "momentum": []}
    for seed in range(4):
        log = log_of(robot, motion, position_noise=1e-3, seed=seed)
        samples = prepare(log, robot.robot, cutoff_hz=10.0, standstill_speed=0.0)
        for name, reduced in (("torque", reduce), ("momentum", reduce_momentum)):
            errors[name].append(weighted(reduced(robot.system, samples)).values - robot.truth)
    inertial = [k for k, name in enumerate(robot.system.names) if name[0] in "ZI"]
    bias = {name: np.abs(np.mean(e, axis=0))[inertial].max() for name, e in errors.items()}
    assert bias["momentum"] < bias["torque"]


# --- what cannot be used ------------------------------------------------------------------------------------


def test_intervals_with_an_unknown_effort_of_a_moving_joint_are_left_out(exact):
    robot, samples = exact
    weights = samples.weights.copy()
    weights[1000:1100, 0] = 0.0
    spoiled = replace(samples, weights=weights, tau=np.where(weights > 0.0, samples.tau, 1e6))
    for rows in (energy_rows, power_rows):
        times = np.concatenate([t for t, _ in rows(robot.system, spoiled)])
        kept = np.concatenate([t for t, _ in rows(robot.system, samples)])
        assert 0 < len(times) < len(kept)
    found = ordinary(reduce_energy(robot.system, spoiled, interval_s=0.1)).values
    assert found == pytest.approx(robot.truth, abs=1e-5)


def test_too_few_samples_are_named(exact):
    robot, samples = exact
    with pytest.raises(ArgumentError, match="no interval of the samples is long enough"):
        reduce_energy(robot.system, samples, interval_s=1e3)


@pytest.mark.parametrize("interval_s", [0.0, -1.0, float("nan")])
def test_an_interval_must_be_a_time(exact, interval_s):
    with pytest.raises(ArgumentError, match="interval"):
        interval_steps(exact[1], interval_s)


def test_several_segments_do_not_mix(exact):
    """A log in two pieces gives the same equations as both pieces, and none across the gap."""
    robot, samples = exact
    half = len(samples.time) // 2
    cut = replace(samples, segments=((0, half), (half, len(samples.time))))
    for reduced in MODELS.values():
        found = ordinary(reduced(robot.system, cut)).values
        assert found == pytest.approx(robot.truth, abs=2e-5)
        assert reduced(robot.system, cut).rows.sum() < reduced(robot.system, samples).rows.sum()
