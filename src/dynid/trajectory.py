"""A desired motion: positions, velocities and accelerations of all joints over time.

Between its samples the motion is the quintic polynomial that meets position, velocity and acceleration at
both ends, so that all three are continuous.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import ArgumentError, choices, quote, quote_path
from dynid.files import whole_file
from dynid.log.delimited import open_delimited
from dynid.log.table import Rows, Table
from dynid.robot import Robot
from dynid.spatial import Array, frozen

QUANTITIES = ("position", "velocity", "acceleration")
_CHUNK = 1 << 15  # rows read at once
_interpolate: Any = import_module("scipy.interpolate")  # it has no types

# Coefficients of 1, u, .. u^5 from (q, h qd, h^2 qdd) at u = 0 and then at u = 1.
_QUINTIC = np.array(
    [
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.5, 0.0, 0.0, 0.0],
        [-10.0, -6.0, -1.5, 10.0, -4.0, 0.5],
        [15.0, 8.0, 1.5, -15.0, 7.0, -1.0],
        [-6.0, -3.0, -0.5, 6.0, -3.0, 0.5],
    ]
)
_EXPONENTS = np.arange(6)


@dataclass(frozen=True, eq=False, kw_only=True)
class Trajectory:
    """N samples of n joints; all arrays but `times`, (N,), are (N, n) and read-only."""

    joint_names: tuple[str, ...]
    times: Array  # s, increasing
    q: Array
    qd: Array
    qdd: Array
    notes: tuple[str, ...] = ()  # what was left out or worked out by the reader

    @cached_property
    def coefficients(self) -> Array:
        """Of 1, u .. u^5 in each interval, u = 0 .. 1 from one sample to the next, (N - 1, 6, n)."""
        h = np.diff(self.times)[:, None]
        first = (self.q[:-1], h * self.qd[:-1], h * h * self.qdd[:-1])
        last = (self.q[1:], h * self.qd[1:], h * h * self.qdd[1:])
        return np.einsum("ab,bkj->kaj", _QUINTIC, np.stack([*first, *last]))

    def at(self, time: float) -> Array:
        """Position, velocity and acceleration at a time, (3, n); held still outside of the trajectory."""
        if not self.times[0] <= time <= self.times[-1]:
            still = np.zeros((3, len(self.joint_names)))
            still[0] = self.q[0 if time < self.times[0] else -1]
            return still
        k = min(int(np.searchsorted(self.times, time, side="right")) - 1, len(self.times) - 2)
        h = self.times[k + 1] - self.times[k]
        powers = ((time - self.times[k]) / h) ** _EXPONENTS
        rates = np.zeros((3, 6))
        rates[0] = powers
        rates[1, 1:] = _EXPONENTS[1:] * powers[:-1] / h
        rates[2, 2:] = _EXPONENTS[2:] * _EXPONENTS[1:-1] * powers[:-2] / (h * h)
        return rates @ self.coefficients[k]


def make_trajectory(
    joint_names: Sequence[str],
    times: ArrayLike,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    notes: Sequence[str] = (),
) -> Trajectory:
    """A trajectory from times (N,) and arrays (N, n); rates that are not given come from quintic splines."""
    t = frozen(times)
    if t.ndim != 1 or len(t) < 2:
        raise ArgumentError(f"times have shape {t.shape}; a trajectory needs (N,), at least two samples")
    given = {"positions": q, "velocities": qd, "accelerations": qdd}
    arrays = {what: frozen(values) for what, values in given.items() if values is not None}
    for what, array in arrays.items():
        if array.shape != (len(t), len(joint_names)):
            raise ArgumentError(f"{what} have shape {array.shape}; needed is {(len(t), len(joint_names))}")
    for what, array in {"times": t, **arrays}.items():
        if not np.isfinite(array).all():
            row = int(np.argmin(np.isfinite(array.reshape(len(t), -1)).all(axis=1)))
            raise ArgumentError(f"{what} must be finite numbers; sample {row + 1} is not")
    if not np.all(np.diff(t) > 0.0):
        row = int(np.argmax(np.diff(t) <= 0.0)) + 1
        raise ArgumentError(f"times must increase; sample {row + 1} ({t[row]:g} s) follows {t[row - 1]:g} s")
    position = arrays["positions"]
    velocity = arrays.get("velocities", _rates(t, position, 1))
    from_velocity = _rates(t, velocity, 1) if qd is not None else _rates(t, position, 2)
    return Trajectory(
        joint_names=tuple(joint_names),
        times=t,
        q=position,
        qd=velocity,
        qdd=arrays.get("accelerations", from_velocity),
        notes=tuple(notes),
    )


def _rates(times: Array, values: Array, order: int) -> Array:
    """A derivative of the quintic spline through the samples, of lower degree if they are few, (N, n)."""
    degree = min(5, 2 * ((len(times) - 2) // 2) + 1)
    if order > degree:
        return frozen(np.zeros_like(values))
    spline = _interpolate.make_interp_spline(times, values, k=degree, axis=0)
    return frozen(spline.derivative(order)(times))


# --- files --------------------------------------------------------------------------------------


def read_trajectory(path: str | os.PathLike[str], robot: Robot) -> Trajectory:
    """A trajectory of the robot's joints, in the robot's order, from CSV.

    Columns: `time` (s), then `<joint>.position` and, for all joints or for none, `<joint>.velocity` and
    `<joint>.acceleration`. So the log of a motion is a trajectory, too.
    """
    try:
        table = open_delimited(Path(path), None)
        wanted = {"time": ["time"]}
        for quantity in QUANTITIES:
            names = [f"{joint}.{quantity}" for joint in robot.joint_names]
            if quantity == "position" or any(name in table.names for name in names):
                wanted[quantity] = names
        columns = [name for group in wanted.values() for name in group]
        _check_names(table, columns, robot)
        blocks = list(table.blocks(columns, _CHUNK))
    except OSError as problem:
        raise ArgumentError(f"{quote_path(path)} cannot be read: {problem.strerror or problem}") from problem
    rows = np.concatenate([block.rows for block in blocks])
    arrays = {
        group: np.column_stack([np.concatenate([block.columns[name] for block in blocks]) for name in names])
        for group, names in wanted.items()
    }
    _check_rows(table, rows, arrays)
    others = [quote(name, 40) for name in table.names if name not in columns]
    notes = [f"{table.source}: columns left out: {', '.join(others)}"] if others else []
    absent = [quantity for quantity in QUANTITIES if quantity not in arrays]
    notes += [f"{table.source}: {quantity} taken from a spline" for quantity in absent]
    motion = [arrays.get(quantity) for quantity in QUANTITIES[1:]]
    return make_trajectory(robot.joint_names, arrays["time"][:, 0], arrays["position"], *motion, notes=notes)


def _check_names(table: Table, columns: Sequence[str], robot: Robot) -> None:
    """Every column that is needed must be there, once."""
    for name in columns:
        if name not in table.names:
            raise table.error(
                f"no column {quote(name)}, which {robot.name} needs: {choices(name, table.names)}"
            )
        if table.names.count(name) > 1:
            raise table.error(f"the column {quote(name)} occurs more than once")


def _check_rows(table: Table, rows: Rows, arrays: Mapping[str, Array]) -> None:
    """At least two rows of finite numbers, in the order of time."""
    if len(rows) < 2:
        raise table.error("one row is no trajectory; at least two are needed")
    for group, array in arrays.items():
        finite = np.isfinite(array).all(axis=1)
        if not finite.all():
            raise table.error(
                f"{table.place(rows[np.argmin(finite)])}: every {group} must be a finite number"
            )
    increasing = np.diff(arrays["time"][:, 0]) > 0.0
    if not increasing.all():
        raise table.error(
            f"{table.place(rows[np.argmin(increasing) + 1])}: time must increase from row to row"
        )


def write_trajectory(trajectory: Trajectory, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """CSV as `read_trajectory` reads it, every digit kept."""
    header = ["time"]
    columns = [trajectory.times[:, None]]
    for quantity, values in zip(QUANTITIES, (trajectory.q, trajectory.qd, trajectory.qdd), strict=True):
        header += [f"{name}.{quantity}" for name in trajectory.joint_names]
        columns.append(values)
    with (
        whole_file(path, force=force) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(np.hstack(columns).tolist())
