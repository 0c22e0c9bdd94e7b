"""The energy model and the power model of [GK1992]: one equation for all joints, and no acceleration.

What the efforts do beyond friction becomes energy, Eqs. (1) - (10) of [GK1992]:

    integral tau' qd dt  =  [h(t_b) - h(t_a)] X  +  integral qd' F dt  friction constants

h are kinetic and potential energy per unit of each inertial parameter and motor inertia, F the columns of
friction, and of what else acts beside the bodies. The power model is the derivative, through the parallel
filter of the samples.

On logs all intervals are as long as `interval_s` says, in whole samples: by default one and a half periods of
the cut-off. Shorter ones drown in the noise of h at their ends, longer ones give fewer equations. The paper
uses its points twice, t_a of one interval being t_b of the one before; here four chains of such intervals run
side by side, each a quarter of an interval later. A periodic motion repeats itself, and one chain would see
only as many different equations as intervals fit into its period. What is left at the end of a segment is
lost, and so is an interval in which a moving joint's effort cannot be used. Both integrals are the
trapezoidal rule with Gregory's corrections at the ends, of order 4: it weighs all samples of an interval but
three on each side alike, and takes no sample outside.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dynid.errors import ArgumentError
from dynid.fit.reduction import Reduction, triangle
from dynid.fit.stretches import motor_unknowns, still_panels, stretches
from dynid.fit.system import TILE, Indices, System
from dynid.friction import motor_rates
from dynid.log.samples import Samples
from dynid.signals.clock import Flags
from dynid.signals.masks import STANDSTILL_SPEED
from dynid.spatial import Array, frozen

PERIODS = 1.5  # of the cut-off: the default interval
CHAINS = 4  # of intervals, side by side
GREGORY = np.array([9.0, 28.0, 23.0]) / 24.0  # weights of the first samples of a trapezoidal rule
SHORTEST = 6  # steps of an interval


class EnergyModel:
    """Energies and powers per unit of the p unknowns of a system, and of the efforts."""

    def __init__(self, system: System) -> None:
        self.system = system
        motors = motor_unknowns(system)
        rates = motor_rates(system.robot.transmission, system.robot.dof)
        self._motors = rates[list(motors.values())]
        # the unknowns whose work can be had back: inertial parameters and inertias of motors
        self.stored: Indices = np.array([*range(len(system.rigid)), *motors], np.intp)

    def energies(self, q: Array, qd: Array) -> Array:
        """h per unit of the `stored` unknowns at N samples (N, n): (N, stored), Eqs. (4) and (6)."""
        bodies = self.system.robot.energy_regressor(q, qd)[:, self.system.rigid]
        return np.column_stack([bodies, 0.5 * (qd @ self._motors.T) ** 2])

    def powers(self, samples: Samples, where: slice) -> Array:
        """qd' columns and qd' tau at m samples, (p + 1, m), with zero for the `stored` unknowns."""
        p = len(self.system.names)
        powers = np.zeros((p + 1, where.stop - where.start))
        panels = still_panels(self.system, samples, where)
        for joint, columns in enumerate(self.system.columns):
            powers[[*columns, p]] += samples.qd[where, joint] * panels[self.system.panels[joint]]
        powers[self.stored] = 0.0
        return powers


def energy_rows(
    system: System, samples: Samples, *, interval_s: float | None = None
) -> Iterator[tuple[Array, Array]]:
    """Blocks of rows: middles of intervals (s), (r,), and [W y], (r, p + 1): Eqs. (7) - (10) of [GK1992]."""
    model = EnergyModel(system)
    steps = interval_steps(samples, interval_s)
    stride = max(steps // CHAINS, 1)
    weights = interval_weights(steps)
    broken = np.concatenate([[0], np.cumsum(_broken(samples))])
    at_once = max(4 * TILE // stride, 1)
    for first, last in samples.segments:
        starts = np.arange(first, last - steps, stride)
        for k in range(0, len(starts), at_once):
            a = starts[k : k + at_once]
            b = a + steps
            powers = model.powers(samples, slice(int(a[0]), int(b[-1]) + 1))
            spans = np.lib.stride_tricks.sliding_window_view(powers, steps + 1, axis=1)[:, ::stride]
            rows = (spans @ (weights / samples.rate_hz)).T
            ends = [model.energies(samples.q[at], samples.qd[at]) for at in (a, b)]
            rows[:, model.stored] = ends[1] - ends[0]
            sound = broken[b + 1] == broken[a]
            yield samples.time[a + steps // 2][sound], rows[sound]


def power_rows(system: System, samples: Samples) -> Iterator[tuple[Array, Array]]:
    """Blocks of rows of the filtered power model: times (s), (r,), and [W y], (r, p + 1)."""
    model, broken = EnergyModel(system), _broken(samples)
    for stretch in stretches(samples):
        rows = model.powers(samples, stretch.inner).T
        energies = model.energies(samples.q[stretch.outer], samples.qd[stretch.outer])
        rows[:, model.stored] = stretch.derivative(energies)
        middles = samples.rows[stretch.rows]
        sound = ~broken[middles]
        yield samples.time[middles][sound], samples.parallel.apply(rows)[sound]


def reduce_energy(system: System, samples: Samples, *, interval_s: float | None = None) -> Reduction:
    """The energy model's equations as a reduction: all unknowns, one joint that stands for all."""
    return reduced(system, energy_rows(system, samples, interval_s=interval_s))


def reduce_power(system: System, samples: Samples) -> Reduction:
    """The power model's equations as a reduction: all unknowns, one joint that stands for all."""
    return reduced(system, power_rows(system, samples))


def reduced(system: System, blocks: Iterator[tuple[Array, Array]]) -> Reduction:
    """The reduction of blocks of rows [W y] (r, p + 1) that belong to no joint in particular."""
    p = len(system.names)
    factor, count = np.zeros((p + 1, p + 1)), 0
    for _, rows in blocks:
        factor = triangle(np.concatenate([factor, rows]))
        count += len(rows)
    if count == 0:
        raise ArgumentError(
            "no interval of the samples is long enough, with all efforts known, for an equation"
        )
    return Reduction(system.names, (np.arange(p),), (frozen(factor),), frozen([float(count)]))


def interval_steps(samples: Samples, interval_s: float | None = None) -> int:
    """Steps of the clock from t_a to t_b."""
    wanted = PERIODS / samples.cutoff_hz if interval_s is None else interval_s
    if not (np.isfinite(wanted) and wanted > 0.0):
        raise ArgumentError(f"the interval must be a positive time in s, not {wanted:g}")
    return max(round(wanted * samples.rate_hz), SHORTEST)


def interval_weights(steps: int) -> Array:
    """Weights (steps + 1,) of Gregory's rule of order 4 with unit step."""
    weights = np.ones(steps + 1)
    weights[:3] += GREGORY - 1.0
    weights[-3:] += GREGORY[::-1] - 1.0
    return weights


def _broken(samples: Samples) -> Flags:
    """Samples (N,) at which a joint moves whose effort must not be used: its power is not known."""
    rows = samples.rows
    moving = np.abs(samples.qd[rows]) >= STANDSTILL_SPEED
    unusable = (moving & (samples.weights == 0.0)).any(axis=1)
    nearest = np.searchsorted(rows, np.arange(len(samples.time)))
    return unusable[np.clip(nearest, 0, len(rows) - 1)]
