"""Faults of a simulated recording: each does what it says, by its statistics, and nothing else."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dynid import ArgumentError, load_robot
from dynid.log.write import WRITERS, write_log
from dynid.plant import Run, Setup, run, simulate
from dynid.plant.integrate import Precision
from dynid.plant.sensors import Recording, Sensors, recorded, sampling
from dynid.robot import Robot
from dynid.trajectory import Trajectory, make_trajectory

COUNT = 20000
T = np.array([[0.02, 0.0], [-0.01, 0.01]])  # two gears of 50 and 100, the second joint coupled to the first
PLAIN = load_robot("planar2")
COUPLED = replace(PLAIN, transmission=T)
MS = 1_000_000


def record(sensors: Sensors, robot: Robot = PLAIN, seed: int = 0) -> tuple[Recording, dict[str, np.ndarray]]:
    """A synthetic motion of many samples through the sensors, and the motion."""
    t = np.arange(COUNT) * 1e-3
    motion = {
        "theta": np.column_stack([np.sin(t), np.cos(0.7 * t)]),
        "rate": np.column_stack([np.cos(t), -0.7 * np.sin(0.7 * t)]),
        "effort": np.column_stack([10.0 * np.sin(3 * t), np.cos(2 * t) - 3.0]),
    }
    stamps = np.arange(COUNT) * MS
    return recorded(sensors, robot, stamps, **motion, seed=seed), motion


def swing() -> Trajectory:
    t = np.arange(41) / 100.0
    phase = np.pi * t[:, None] / 0.4
    return make_trajectory(PLAIN.joint_names, t, np.array([0.2, -0.3]) + 0.1 * (1 - np.cos(phase)))


@pytest.fixture(scope="module")
def perfect() -> Run:
    return run(PLAIN, swing(), Setup())


def through(sensors: Sensors, seed: int = 0) -> Run:
    return run(PLAIN, swing(), Setup(sensors=sensors), seed=seed)


# --- positions and velocities -----------------------------------------------------------------------


def test_without_faults_the_truth_is_recorded() -> None:
    found, motion = record(Sensors())
    for name, values in (("theta", found.position), ("rate", found.velocity), ("effort", found.effort)):
        np.testing.assert_array_equal(values, motion[name])
    assert found.lost == 0
    assert Sensors().faults == {}


@pytest.mark.parametrize("robot", [PLAIN, COUPLED], ids=["direct", "geared"])
def test_an_encoder_counts_turns_of_the_motor(robot: Robot) -> None:
    found, motion = record(Sensors(encoder_bits=12), robot)
    to_motors = np.eye(2) if robot is PLAIN else np.linalg.inv(T)
    counts = found.position @ to_motors.T * 4096 / (2.0 * np.pi)
    np.testing.assert_allclose(counts, np.round(counts), rtol=0, atol=1e-8)
    errors = counts - motion["theta"] @ to_motors.T * 4096 / (2.0 * np.pi)
    assert np.abs(errors).max() <= 0.5 + 1e-8
    # Uniform within a count: variance 1/12, whose estimate has a standard deviation of 0.075 / sqrt(N).
    np.testing.assert_allclose(errors.var(axis=0), 1.0 / 12.0, rtol=0.05)


def test_velocities_of_an_encoder_are_its_differences() -> None:
    found, motion = record(Sensors(encoder_bits=14, velocity="encoder"))
    expected = np.diff(found.position, axis=0) * 1000.0
    np.testing.assert_allclose(found.velocity[1:], expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(found.velocity[0], found.velocity[1])
    late = found.velocity[1:] - motion["rate"][1:]  # half a period late, and one count per period coarse
    assert np.abs(late).max() < 2.0 * np.pi / 2**14 * 1000.0 + 1e-3
    assert len(np.unique(np.round(found.velocity * 2**14 / (2.0 * np.pi * 1000.0)))) < 8


# --- efforts ------------------------------------------------------------------------------------------


def test_noise_is_white_normal_and_a_fraction_of_the_rms() -> None:
    found, motion = record(Sensors(torque_noise=0.05))
    noise = found.effort - motion["effort"]
    sigma = 0.05 * np.sqrt(np.mean(motion["effort"] ** 2, axis=0))
    noise = noise / sigma
    bound = 4.0 / np.sqrt(COUNT)
    assert np.all(np.abs(noise.mean(axis=0)) < bound)
    assert np.all(np.abs(noise.std(axis=0) - 1.0) < bound)
    for lag in (1, 2, 7):
        assert np.all(np.abs(np.mean(noise[lag:] * noise[:-lag], axis=0)) < bound)
    assert abs(np.mean(noise[:, 0] * noise[:, 1])) < bound
    assert np.all(np.abs(np.mean(noise**4, axis=0) - 3.0) < 4.0 * np.sqrt(96.0 / COUNT))


@pytest.mark.parametrize("robot", [PLAIN, COUPLED], ids=["direct", "geared"])
def test_currents_have_steps(robot: Robot) -> None:
    """Efforts on the motors are tau_motor = T' tau_joint."""
    found, motion = record(Sensors(torque_step=0.004), robot)
    to_motors = np.eye(2) if robot is PLAIN else T.T
    steps = found.effort @ to_motors.T / 0.004
    np.testing.assert_allclose(steps, np.round(steps), rtol=0, atol=1e-9)
    assert np.abs(steps - motion["effort"] @ to_motors.T / 0.004).max() <= 0.5 + 1e-9


@pytest.mark.parametrize("delay", [0.03, -0.02])
def test_efforts_are_late(perfect: Run, delay: float) -> None:
    found, steps = through(Sensors(delay=delay)), round(delay * 100)
    places = np.clip(np.arange(41) - steps, 0, 40)
    np.testing.assert_array_equal(found.log.effort, perfect.log.effort[places])
    np.testing.assert_array_equal(found.log.position, perfect.log.position)


def test_a_delay_between_samples_is_exact() -> None:
    """Two runs take different steps; a servo's stiffness, some 1e3 Nm/rad, multiplies their local errors."""
    precise = Precision(tolerance=1e-9)
    late = run(PLAIN, swing(), Setup(sensors=Sensors(delay=0.0037), precision=precise)).log
    fine = run(PLAIN, swing(), Setup(rate_hz=10000.0, precision=precise)).log
    places = np.searchsorted(fine.stamp_ns, np.maximum(late.stamp_ns - 3_700_000, 0))
    np.testing.assert_allclose(late.effort, fine.effort[places], rtol=0, atol=1e-5)
    assert np.abs(late.effort - fine.effort[np.maximum(places - 1, 0)]).max() > 1e-3  # 0.1 ms too late


# --- the clock ----------------------------------------------------------------------------------------


def test_jitter_has_its_rms_and_keeps_the_order() -> None:
    nominal = np.arange(COUNT) * 10 * MS
    instants = sampling(Sensors(clock_jitter=0.0005), nominal, 0)
    wander = (instants.position_at - nominal)[1:-1] * 1e-9
    assert abs(wander.mean()) < 4.0 * 0.0005 / np.sqrt(COUNT)
    assert wander.std() == pytest.approx(0.0005, rel=4.0 / np.sqrt(2 * COUNT))
    wild = sampling(Sensors(clock_jitter=0.1), nominal, 0)
    assert np.all(np.diff(wild.position_at) > 0)


def test_stamps_of_a_jittered_clock_are_true(perfect: Run) -> None:
    """The controller follows exactly, so that positions are those of the trajectory at the stamps."""
    log, trajectory = through(Sensors(clock_jitter=0.002)).log, swing()
    wanted = np.array([trajectory.at(t)[0] for t in log.time])
    np.testing.assert_allclose(log.position, wanted, rtol=0, atol=1e-6)
    assert np.abs(log.position - perfect.log.position).max() > 1e-3


def test_samples_are_lost_at_random() -> None:
    found, motion = record(Sensors(dropped=0.1))
    kept = found.stamp_ns // MS
    assert found.lost == COUNT - len(kept)
    assert found.lost == pytest.approx(0.1 * COUNT, abs=4.0 * np.sqrt(0.09 * COUNT))
    np.testing.assert_array_equal(found.position, motion["theta"][kept])
    gaps = np.diff(kept)  # geometric: of those left out, one in ten has a neighbour that is
    assert np.mean(gaps > 2) / np.mean(gaps > 1) == pytest.approx(0.1, abs=0.03)
    log = through(Sensors(dropped=0.3)).log
    assert log.notes == (f"{41 - len(log)} of 41 samples dropped",)


# --- seeds --------------------------------------------------------------------------------------------


ALL = Sensors(
    encoder_bits=16,
    velocity="encoder",
    torque_noise=0.02,
    torque_step=0.01,
    delay=0.002,
    clock_jitter=0.0003,
    dropped=0.05,
)


@pytest.mark.parametrize("suffix", list(WRITERS))
def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    contents = []
    for k, seed in enumerate((1, 1, 2)):
        path = tmp_path / f"{k}{suffix}"
        write_log(simulate(PLAIN, swing(), Setup(sensors=ALL), seed=seed), path)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1] != contents[2]


def test_faults_do_not_share_their_random_numbers() -> None:
    """Losing samples changes neither the noise nor the instants of those that are left."""
    noisy, _ = record(Sensors(torque_noise=0.1), seed=3)
    both, _ = record(Sensors(torque_noise=0.1, dropped=0.2), seed=3)
    kept = both.stamp_ns // MS
    np.testing.assert_array_equal(both.effort, noisy.effort[kept])


def test_a_log_says_what_was_done_to_it() -> None:
    log = simulate(PLAIN, swing(), Setup(sensors=ALL), seed=7)
    options = log.provenance.options
    assert (options["seed"], options["encoder_bits"], options["delay"]) == ("7", "16", "0.002")
    assert len(log.provenance.sha256) == 64
    for array in (log.stamp_ns, log.position, log.velocity, log.effort):
        assert not array.flags.writeable


@pytest.mark.parametrize(
    "options",
    [
        {"encoder_bits": 0},
        {"velocity": "tacho"},
        {"torque_noise": -0.1},
        {"torque_step": float("nan")},
        {"delay": float("inf")},
        {"clock_jitter": -1.0},
        {"dropped": 1.0},
    ],
)
def test_faults_that_cannot_be(options: dict) -> None:
    with pytest.raises(ArgumentError, match=next(iter(options)).split("_")[0]):
        Sensors(**options)
