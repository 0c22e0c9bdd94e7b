"""A run: the plant under control along a trajectory, looked at through sensors.

    log = simulate(load_robot("puma560"), trajectory, Setup(sensors=Sensors(encoder_bits=17)), seed=1)

`run` also gives the truth behind the log. Where a controller has a clock, the effort at one of its ticks is
the one it has just commanded, and the acceleration the one that follows from it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from dynid.errors import ArgumentError, RobotError, quote
from dynid.friction import friction_of
from dynid.log.log import Log, Provenance, Stamps
from dynid.plant.control import Control, Law, make_law
from dynid.plant.integrate import Precision, State, advance
from dynid.plant.model import SMALLEST
from dynid.plant.plant import Plant
from dynid.plant.sensors import Recording, Sensors, recorded, sampling
from dynid.robot import Robot
from dynid.spatial import Array
from dynid.trajectory import Trajectory

FRICTION_WIDTH = (
    1e-3  # rad/s or m/s: Coulomb friction is Fc tanh(v / width), so that a joint at rest can stay
)

Progress = Callable[[float], None]  # told the share that is done


@dataclass(frozen=True, eq=False, kw_only=True)
class Setup:
    """All about a run but robot, trajectory and luck."""

    control: Control = field(default_factory=Control)
    sensors: Sensors = field(default_factory=Sensors)
    rate_hz: float | None = None  # of the samples; None: taken at the trajectory's own times
    gear_stiffness: Sequence[float] | Array | None = None  # (n,), Nm/rad or N/m per joint; None: rigid gears
    friction_width: float = FRICTION_WIDTH
    precision: Precision = field(default_factory=Precision)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.friction_width) and self.friction_width > 0.0):
            raise ArgumentError(f"friction_width must be a positive number, not {self.friction_width:g}")


@dataclass(frozen=True, eq=False)
class Truth:
    """The motion itself at N instants; arrays are (N, n), motors in the coordinates of the joints."""

    stamp_ns: Stamps  # (N,)
    q: Array  # joints
    qd: Array
    qdd: Array
    theta: Array  # motors: with rigid gears the same as the joints
    theta_rate: Array
    theta_acceleration: Array
    effort: Array  # of the motors, seen from the joints

    def at(self, stamps: Stamps) -> Truth:
        """The motion at some of its own instants."""
        rows = np.searchsorted(self.stamp_ns, stamps)
        return Truth(**{name: values[rows] for name, values in vars(self).items()})


@dataclass(frozen=True, eq=False)
class Run:
    """A log and what it is a log of."""

    log: Log
    truth: Truth  # at the instants of the positions, lost samples included
    remarks: tuple[str, ...]  # what to know before using the log


def simulate(
    robot: Robot,
    trajectory: Trajectory,
    setup: Setup | None = None,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> Log:
    """A recording of the robot as it follows the trajectory; the same seed gives the same log."""
    return run(robot, trajectory, setup, seed=seed, progress=progress).log


def run(
    robot: Robot,
    trajectory: Trajectory,
    setup: Setup | None = None,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> Run:
    """The log of `simulate` with the truth behind it."""
    setup = setup or Setup()
    if trajectory.joint_names != robot.joint_names:
        raise ArgumentError(
            f"the trajectory is of the joints {_listed(trajectory.joint_names)}, "
            f"{robot.name} has {_listed(robot.joint_names)}"
        )
    loop = _closed_loop(robot, trajectory, setup)
    instants = sampling(setup.sensors, _nominal_stamps(trajectory, setup.rate_hz), seed)
    everything = move(loop, trajectory, np.union1d(instants.position_at, instants.effort_at), setup, progress)
    truth, late = everything.at(instants.position_at), everything.at(instants.effort_at)
    recording = recorded(
        setup.sensors, robot, truth.stamp_ns, truth.theta, truth.theta_rate, late.effort, seed
    )
    log = _log(robot, setup, seed, recording)
    return Run(log, truth, (*log.notes, *_remarks(robot, trajectory, setup, truth)))


# --- the motion ---------------------------------------------------------------------------------


class ClosedLoop:
    """Plant and controller as one system; `hold` freezes the efforts, as a controller with a clock does."""

    def __init__(self, plant: Plant, law: Law, limits: Array, sampled: bool) -> None:
        self.plant, self._law, self._limits, self._sampled = plant, law, limits, sampled
        self._held = np.zeros(plant.dof)

    def hold(self, t: float, p: Array, v: Array) -> None:
        """Compute the efforts that act from now on."""
        self._held = self._demanded(t, p, v)

    def effort(self, t: float, p: Array, v: Array) -> Array:
        """Efforts of the motors, (n,)."""
        return self._held if self._sampled else self._demanded(t, p, v)

    def _demanded(self, t: float, p: Array, v: Array) -> Array:
        wanted = self._law.effort(t, self.plant.motor_part(p), self.plant.motor_part(v))
        return np.clip(wanted, -self._limits, self._limits)

    def inertia_and_forces(self, t: float, p: Array, v: Array) -> tuple[Array, Array]:
        H, h = self.plant.inertia_and_bias(p, v)
        forces = -h
        forces[: self.plant.dof] += self.effort(t, p, v)
        return H, forces

    def stiffness_and_damping(self, p: Array, v: Array) -> tuple[Array, Array]:
        return self.plant.stiffness, self.plant.damping(v)


def move(
    loop: ClosedLoop, trajectory: Trajectory, stamps: Stamps, setup: Setup, progress: Progress | None = None
) -> Truth:
    """The motion at increasing instants, (N,) in ns."""
    plant = loop.plant
    start, end = int(stamps[0]), int(stamps[-1])
    ticks = _ticks(start, end, setup.control.rate_hz)
    p, v = plant.at_rest(*trajectory.at(start * 1e-9))
    state = State(start * 1e-9, p, v)
    rows: list[tuple[Array, ...]] = []
    looked_at, commanded = set(stamps.tolist()), set(ticks.tolist())
    for count, stamp in enumerate(events := np.union1d(stamps, ticks).tolist()):
        state = advance(loop, state, stamp * 1e-9, setup.precision)
        if stamp in commanded:
            loop.hold(state.t, state.p, state.v)
        if stamp in looked_at:
            rows.append(_row(loop, state))
        if progress is not None and count % 100 == 0:
            progress(count / len(events))
    return Truth(stamps, *(np.array(column) for column in zip(*rows, strict=True)))


def _row(loop: ClosedLoop, state: State) -> tuple[Array, ...]:
    """The fields of `Truth` at one instant, without the stamp."""
    plant = loop.plant
    H, F = loop.inertia_and_forces(state.t, state.p, state.v)
    acceleration: Array = np.linalg.solve(H, F).astype(np.float64, copy=False)
    motion = (state.p, state.v, acceleration)
    joints = [plant.joint_part(x) for x in motion]
    motors = [plant.motor_part(x) for x in motion]
    return (*joints, *motors, loop.effort(state.t, state.p, state.v))


def _ticks(start: int, end: int, rate_hz: float | None) -> Stamps:
    """Instants at which a controller with a clock works, in ns; none for a continuous one."""
    if rate_hz is None:
        return np.zeros(0, dtype=np.int64)
    count = int((end - start) * 1e-9 * rate_hz) + 1
    return start + np.round(np.arange(count) * (1e9 / rate_hz)).astype(np.int64)


def _nominal_stamps(trajectory: Trajectory, rate_hz: float | None) -> Stamps:
    """When samples are due, in ns."""
    if rate_hz is None:
        return np.round(trajectory.times * 1e9).astype(np.int64)
    first, last = float(trajectory.times[0]), float(trajectory.times[-1])
    if not (np.isfinite(rate_hz) and (last - first) * rate_hz > 1.0 and rate_hz <= 1e6):
        raise ArgumentError(
            f"a rate of {rate_hz:g} Hz gives no log of {last - first:g} s; more than one period in that time "
            "and at most 1e6 Hz are valid"
        )
    count = int((last - first) * rate_hz * (1.0 + 1e-12)) + 1
    return np.round((first + np.arange(count) / rate_hz) * 1e9).astype(np.int64)


def _closed_loop(robot: Robot, trajectory: Trajectory, setup: Setup) -> ClosedLoop:
    control = setup.control
    stiffness = None if setup.gear_stiffness is None else np.array(setup.gear_stiffness, dtype=np.float64)
    plant = Plant(robot, friction_of(robot, setup.friction_width), stiffness)
    _refuse_weightless(robot, plant, trajectory.q[0])
    known = control.nominal or robot
    if known.joint_names != robot.joint_names:
        raise ArgumentError(
            f"the nominal model has the joints {_listed(known.joint_names)}, "
            f"{robot.name} has {_listed(robot.joint_names)}"
        )
    law = make_law(control, Plant(known, friction_of(known, setup.friction_width)), trajectory)
    limits = np.array([robot.joints[k].limits.effort for k in robot.free])
    if not control.saturate:
        limits = np.full(robot.dof, np.inf)
    elif not np.isfinite(limits).any():
        raise ArgumentError(
            f"{robot.name} has no effort limits to saturate at; give them in the robot's file"
        )
    return ClosedLoop(plant, law, limits, sampled=control.rate_hz is not None)


def _refuse_weightless(robot: Robot, plant: Plant, q: Array) -> None:
    """Raise where a joint moves nothing: no effort could tell its acceleration."""
    M, _ = plant.bodies.inertia_and_bias(q, np.zeros_like(q))
    inertia = M if plant.elastic else M + plant.motors
    if np.linalg.eigvalsh(inertia)[0] < 1e3 * SMALLEST:
        light = robot.joint_names[int(np.argmin(np.diag(inertia)))]
        raise RobotError(
            f"{robot.name}: some joints, perhaps {quote(light, 40)}, can move without moving any inertia; "
            "every one needs a link or a motor (Ia) with some"
        )


# --- the log ------------------------------------------------------------------------------------


def _log(robot: Robot, setup: Setup, seed: int, recording: Recording) -> Log:
    arrays = (recording.stamp_ns, recording.position, recording.velocity, recording.effort)
    for array in arrays:
        array.setflags(write=False)
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays))
    control = setup.control
    options: Mapping[str, str] = {
        "effort": "torque",
        "seed": str(seed),
        "controller": control.kind,
        **setup.sensors.faults,
    }
    asked = len(recording.stamp_ns) + recording.lost
    return Log(
        joint_names=robot.joint_names,
        stamp_ns=recording.stamp_ns,
        epoch_ns=0,
        position=recording.position,
        velocity=recording.velocity,
        effort=recording.effort,
        provenance=Provenance(f"simulation of {robot.name}", digest.hexdigest(), MappingProxyType(options)),
        notes=(f"{recording.lost} of {asked} samples dropped",) if recording.lost else (),
    )


def _remarks(robot: Robot, trajectory: Trajectory, setup: Setup, truth: Truth) -> list[str]:
    """Where the motion went further than the robot could."""
    joints = [robot.joints[k] for k in robot.free]
    remarks: list[str] = []
    for k, joint in enumerate(joints):
        limits, q = joint.limits, truth.q[:, k]
        beyond = max(limits.lower - float(q.min()), float(q.max()) - limits.upper)
        if beyond > 0.0:
            remarks.append(
                f"joint {quote(joint.name)} passed its position limits by {beyond:.3g}: nothing stops it"
            )
        most = float(np.abs(truth.effort[:, k]).max())
        if most > limits.effort and not setup.control.saturate:
            remarks.append(
                f"joint {quote(joint.name)} needed an effort of {most:.4g}, its limit is {limits.effort:g}: "
                "--saturate (saturate=True) keeps to it"
            )
    return remarks


def _listed(names: Sequence[str]) -> str:
    return ", ".join(quote(name, 40) for name in names)
