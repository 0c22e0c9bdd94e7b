"""Instrumental variables: least squares that noise in positions, velocities and accelerations does not bias.

Least squares takes the columns W for exact. They are made of measured motions, and their noise, squared in
W'W, draws the values towards zero. Instruments Z are columns of a motion that knows nothing of that noise:

    Z' W beta = Z' tau          with  Z = W(q_s, qd_s, qdd_s)

Each joint's rows are divided by the deviation of its residual, and solved by QR of [Z W tau]: no product is
formed, and (W' P W)^-1 with P the projection on Z is the covariance for white noise.

The motion s is that of a simulation without noise ([Janot2014]): the fitted model moves along a reference.
Where the robot's control law is known, the model moves under it, and is simulated again with each new set of
values. Without a law it follows perfectly, whatever its values, and s is the reference itself. The reference
is the commanded trajectory, which has no noise at all; or else the measured motion smoothed to the band in
which it moves. Then what noise that band lets through remains: in accelerations it grows with the fifth power
of the band, so little of it does. An instrument need not be exact: what it lacks costs precision and brings
no bias.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from dynid.errors import ArgumentError, DynidError
from dynid.fit.panels import PanelWriter, chunks_of
from dynid.fit.reduction import triangle
from dynid.fit.robust import settled
from dynid.fit.runs import Runs, torque_runs
from dynid.fit.solve import DEPENDENT, Prior, Solution, solve_triangle
from dynid.fit.system import System
from dynid.friction import armature_matrix
from dynid.log.samples import Samples
from dynid.model import DynamicModel
from dynid.signals.derivatives import central
from dynid.signals.filters import butterworth
from dynid.signals.spectrum import motion_bandwidth
from dynid.spatial import Array, frozen
from dynid.trajectory import Trajectory

_linalg: Any = import_module("scipy.linalg")  # it has no types

ROUNDS = 30
BAND_MARGIN = 1.5  # times the motion's bandwidth: where its smoothing ends
LEAST_SMOOTHING = 0.4  # of the samples' rate: the highest band there can be
STEEPEST_WIDTH = 1e-3  # rad/s or m/s of Coulomb friction's step in a simulation


class Law(Protocol):
    """A robot's control law: efforts (n,) from the time on the log's clock (s), positions and velocities."""

    def effort(self, t: float, theta: Array, theta_rate: Array, /) -> Array: ...


@dataclass(frozen=True, eq=False)
class InstrumentalSolution:
    """A solution, its instruments and what they are worth."""

    solution: Solution  # factor: the triangle of P W
    instruments: tuple[Samples, ...]  # the logs with the instruments' motions
    projection: Array  # (p, p): P W = Z projection
    strength: Array  # (p,) length of P W's columns by that of W's: near 0 for an unknown without instrument
    rounds: int


def instrumental(
    system: System,
    logs: Sequence[Samples],
    start: Array,
    *,
    references: Sequence[Trajectory] | None = None,
    laws: Sequence[Law] | None = None,
    band_hz: float | None = None,
    prior: Prior | None = None,
) -> InstrumentalSolution:
    """Values from start values (p,).

    references: a log's commanded joint trajectory, on the log's clock; None: the measured motion, smoothed.
    laws: a log's control law; None: the model follows the reference perfectly.
    band_hz: up to which the measured motion is kept; None: chosen from each log.
    """
    for given, what in ((references, "references"), (laws, "laws")):
        if given is not None and len(given) != len(logs):
            raise ArgumentError(f"there are {len(logs)} logs and {len(given)} {what}: one is needed for each")
    motions = [
        along(samples, references[k]) if references else smoothed(samples, band_hz)
        for k, samples in enumerate(logs)
    ]
    values, last, rounds = np.asarray(start, dtype=np.float64), None, 0
    crossed = None if laws else _crossed(system, logs, motions)
    while True:
        if laws:
            try:
                model = system.model(values)
                followed = [follow(model, samples, law) for samples, law in zip(motions, laws, strict=True)]
                crossed = _crossed(system, logs, followed)
            except ArgumentError:  # values on the way that no robot can have: the last instruments will do
                if crossed is None:
                    raise
        assert crossed is not None
        solution, projection = _solve(system, crossed, values, prior)
        values, rounds = solution.values, rounds + 1
        if rounds == ROUNDS or (last is not None and settled(solution, last)):
            strength = _lengths(solution.data[:-1, :-1]) / _lengths(crossed.columns(solution.sigma))
            return InstrumentalSolution(
                solution, crossed.instruments, frozen(projection), frozen(strength), rounds
            )
        last = values


# --- motions without noise -----------------------------------------------------------------------------


def along(samples: Samples, reference: Trajectory) -> Samples:
    """The samples with the motion of a reference that was commanded."""
    if reference.joint_names != samples.joint_names:
        raise ArgumentError(
            f"the reference has the joints {reference.joint_names}, the log has {samples.joint_names}"
        )
    first, last = float(reference.times[0]), float(reference.times[-1])
    if samples.time[0] > last or samples.time[-1] < first:
        raise ArgumentError(
            f"the reference is from {first:g} to {last:g} s, the log from {samples.time[0]:g} to "
            f"{samples.time[-1]:g} s: both must be on the log's clock"
        )
    q, qd, qdd = np.moveaxis(np.array([reference.at(t) for t in samples.time.tolist()]), 1, 0)
    return replace(samples, q=q, qd=qd, qdd=qdd)


def smoothed(samples: Samples, band_hz: float | None = None) -> Samples:
    """The samples with their own motion smoothed to a band, by default the one in which it moves."""
    band = _motion_band(samples) if band_hz is None else band_hz
    if not (np.isfinite(band) and 0.0 < band < 0.5 * samples.rate_hz):
        raise ArgumentError(f"band_hz must be between 0 and {0.5 * samples.rate_hz:g} Hz, not {band:g}")
    parts: list[tuple[Array, Array, Array]] = []
    for first, last in samples.segments:
        q = butterworth(samples.q[first:last], samples.rate_hz, band)
        parts.append((q, *central(q, 1.0 / samples.rate_hz)))
    q, qd, qdd = (np.concatenate(part) for part in zip(*parts, strict=True))
    return replace(samples, q=q, qd=qd, qdd=qdd)


def _motion_band(samples: Samples) -> float:
    """Hz; all of the equations' band for a log in which nothing moves."""
    bands = [motion_bandwidth(samples.q[first:last], samples.rate_hz) for first, last in samples.segments]
    band = BAND_MARGIN * max(bands) or samples.cutoff_hz
    return min(band, LEAST_SMOOTHING * samples.rate_hz)


def follow(model: DynamicModel, samples: Samples, law: Law) -> Samples:
    """The samples with the motion of a model under a control law; each segment starts as the samples do."""
    from dynid.plant.integrate import Precision, State, advance

    loop, rows = _Loop(model, law), list[tuple[Array, Array, Array]]()
    try:
        for first, last in samples.segments:
            state = State(float(samples.time[first]), samples.q[first], samples.qd[first])
            for t in samples.time[first:last].tolist():
                state = advance(loop, state, t, Precision(1e-5))
                H, F = loop.inertia_and_forces(t, state.p, state.v)
                rows.append((state.p, state.v, np.asarray(np.linalg.solve(H, F), dtype=np.float64)))
    except (DynidError, np.linalg.LinAlgError) as problem:
        raise ArgumentError(
            f"the fitted model cannot be simulated under this control law ({problem}): start from values "
            "that a robot can have, or leave the law out"
        ) from problem
    q, qd, qdd = (np.array(column) for column in zip(*rows, strict=True))
    return replace(samples, q=q, qd=qd, qdd=qdd)


class _Loop:
    """A model and a control law, as `dynid.plant.integrate` wants a system."""

    def __init__(self, model: DynamicModel, law: Law) -> None:
        width = np.maximum(model.friction.width, STEEPEST_WIDTH)
        self._model = replace(model, friction=replace(model.friction, width=width))
        self._law = law
        self._motors = armature_matrix(model.armature, model.robot.transmission)
        self._none = np.zeros_like(self._motors)

    def inertia_and_forces(self, t: float, p: Array, v: Array) -> tuple[Array, Array]:
        model = self._model
        H = model.robot.mass_matrix(p, model.parameters) + self._motors
        return H, self._law.effort(t, p, v) - model.efforts(p, v, np.zeros_like(p))

    def stiffness_and_damping(self, p: Array, v: Array) -> tuple[Array, Array]:
        return self._none, self._model.friction.damping(v)


# --- the equations ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Crossed:
    """Triangles of [Z W tau] (2 k + 1, 2 k + 1) of every joint, with its k unknowns."""

    system: System
    instruments: tuple[Samples, ...]
    triangles: tuple[Array, ...]
    rows: Array  # (n,) sums of weights

    def residuals(self, values: Array) -> Array:
        """Sums of squares that values (p,) leave, per joint, (n,)."""
        found: list[float] = []
        for columns, R in zip(self.system.columns, self.triangles, strict=True):
            k = len(columns)
            found.append(float(np.sum((R[:, k:-1] @ values[columns] - R[:, -1]) ** 2)))
        return np.array(found)

    def columns(self, sigma: Array) -> Array:
        """Rows whose columns are as long as those of W, (rows, p)."""
        p = len(self.system.names)
        return self.joined(sigma)[:, p : 2 * p]

    def joined(self, sigma: Array) -> Array:
        """The triangle of all joints' rows, each divided by its joint's sigma, (2 p + 1, 2 p + 1)."""
        p = len(self.system.names)
        blocks: list[Array] = []
        for columns, R, s in zip(self.system.columns, self.triangles, sigma, strict=True):
            block = np.zeros((len(R), 2 * p + 1))
            block[:, [*columns, *(p + columns), 2 * p]] = R / s
            blocks.append(block)
        return triangle(np.concatenate(blocks))


def _crossed(system: System, logs: Sequence[Samples], instruments: Sequence[Samples]) -> _Crossed:
    """The triangles of all logs with their instruments."""
    sizes = [2 * len(columns) + 1 for columns in system.columns]
    waiting = [[np.zeros((0, size))] for size in sizes]
    for samples, motion in zip(logs, instruments, strict=True):
        measured, ideal = PanelWriter(system, samples), PanelWriter(system, motion)
        for chunk in chunks_of(samples):
            pairs = zip(measured.fill(chunk), ideal.fill(chunk), strict=True)
            for blocks, (W, Z) in zip(waiting, pairs, strict=True):
                blocks.append(np.concatenate([Z[:-1], W]).T)
                if sum(map(len, blocks)) > 8 * blocks[0].shape[1]:
                    blocks[:] = [triangle(np.concatenate(blocks))]
    triangles = tuple(frozen(triangle(np.concatenate(blocks))) for blocks in waiting)
    rows = np.sum([samples.weights.sum(axis=0) for samples in logs], axis=0)
    return _Crossed(system, tuple(instruments), triangles, frozen(rows))


def _solve(system: System, crossed: _Crossed, values: Array, prior: Prior | None) -> tuple[Solution, Array]:
    """The solution with each joint weighted by what values (p,) leave, and the projection."""
    p, rows = len(system.names), float(crossed.rows.sum())
    left = np.maximum(crossed.rows * (1.0 - p / max(rows, 1.0)), 0.1 * np.maximum(crossed.rows, 1.0))
    effort = np.sqrt(np.array([np.sum(R[:, -1] ** 2) for R in crossed.triangles]) / left)
    sigma = np.sqrt(crossed.residuals(values) / left)
    sigma = np.maximum(sigma, np.where(effort > 0.0, 1e-12 * effort, 1.0))
    R = crossed.joined(sigma)
    Z, lengths = R[:p, :p], _lengths(R[:p, :p])
    Q, U, order = _linalg.qr(Z / lengths, pivoting=True)
    sizes = np.abs(np.diag(U))
    rank = int(np.count_nonzero(sizes > DEPENDENT * max(sizes[0], np.finfo(float).tiny)))
    projected = Q[:, :rank].T @ R[:p, p:]
    projection = np.zeros((p, p))
    projection[order[:rank]] = _linalg.solve_triangular(U[:rank, :rank], projected[:, :p])
    data = np.zeros((p + 1, p + 1))
    data[:p] = triangle(np.concatenate([projected, np.zeros((p - rank, p + 1))]))[:p]
    first = solve_triangle(data, rows, sigma, prior)
    data[p, p] = np.sqrt(np.sum(crossed.residuals(first.values) / sigma**2))
    return solve_triangle(data, rows, sigma, prior), projection / lengths[:, None]


def _lengths(columns: Array) -> Array:
    lengths = np.linalg.norm(columns, axis=0)
    return np.where(lengths > 0.0, lengths, 1.0)


def projected_runs(system: System, instrument: Samples, projection: Array) -> Runs:
    """The rows of P W of one log, in a form that `statistics.uncertainty` takes; efforts below them."""
    ideal, p = torque_runs(system, instrument), len(system.names)

    def read() -> Iterator[list[Array]]:
        for panels in ideal.read():
            pairs = zip(system.columns, panels, strict=True)
            yield [np.concatenate([projection[c].T @ panel[:-1], panel[-1:]]) for c, panel in pairs]

    return Runs(tuple(np.arange(p) for _ in system.columns), ideal.rows, read, ideal.factor)
