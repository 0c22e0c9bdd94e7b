"""A desired motion: positions, velocities and accelerations of all joints over time.

Between its samples the motion is the quintic polynomial that meets position, velocity and acceleration at
both ends, so that all three are continuous.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline

from dynid.errors import ArgumentError, choices, quote
from dynid.files import whole_file
from dynid.robot import Robot
from dynid.spatial import Array, frozen

QUANTITIES = ("position", "velocity", "acceleration")

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
    def _coefficients(self) -> Array:
        """Of each interval's quintic in u = 0 .. 1, (N - 1, 6, n)."""
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
        return rates @ self._coefficients[k]


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
    return frozen(make_interp_spline(times, values, k=degree, axis=0).derivative(order)(times))


# --- files --------------------------------------------------------------------------------------


def read_trajectory(path: str | os.PathLike[str], robot: Robot) -> Trajectory:
    """A trajectory of the robot's joints, in the robot's order, from CSV.

    Columns: `time` (s), then `<joint>.position` and, for all joints or for none, `<joint>.velocity` and
    `<joint>.acceleration`.
    """
    place = quote(path)
    header, lines, table = _read_table(Path(path), place)
    names = robot.joint_names
    columns = {name: number for number, name in enumerate(header)}
    arrays: dict[str, Array | None] = {}
    for quantity in QUANTITIES:
        wanted = [f"{name}.{quantity}" for name in names]
        missing = [name for name in wanted if name not in columns]
        if len(missing) == len(wanted) and quantity != "position":
            arrays[quantity] = None
        elif missing:
            raise ArgumentError(f"{place}: column {choices(missing[0], header)} {robot.name} needs it")
        else:
            arrays[quantity] = table[:, [columns[name] for name in wanted]]
    ours = {"time", *(f"{name}.{quantity}" for name in names for quantity in QUANTITIES)}
    others = [quote(name, 40) for name in header if name not in ours]
    notes = [f"{place}: columns left out: {', '.join(others)}"] if others else []
    notes += [
        f"{place}: no {quantity} columns; taken from a spline"
        for quantity, values in arrays.items()
        if values is None
    ]
    times = table[:, columns["time"]]
    late = np.flatnonzero(np.diff(times) <= 0.0)
    if len(late):
        raise ArgumentError(f"{place}, line {lines[late[0] + 1]}: time must increase from row to row")
    position = arrays["position"]
    assert position is not None
    return make_trajectory(names, times, position, arrays["velocity"], arrays["acceleration"], notes)


def _read_table(path: Path, place: str) -> tuple[list[str], list[int], Array]:
    """Names of the columns, the line of each row, and the numbers, (rows, columns)."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise ArgumentError(f"{place} cannot be read as CSV: {problem}") from problem
    if not rows:
        raise ArgumentError(f"{place} is empty; a header and at least two rows are needed")
    header = [cell.strip() for cell in rows[0][1]]
    if "time" not in header:
        raise ArgumentError(f"{place}: there is no column 'time', only {', '.join(map(quote, header[:20]))}")
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise ArgumentError(f"{place}: the column {quote(repeated[0])} occurs more than once")
    if len(rows) < 3:
        raise ArgumentError(f"{place} has {len(rows) - 1} rows of numbers; at least two are needed")
    table = np.array([_numbers(row, header, f"{place}, line {line}") for line, row in rows[1:]])
    return header, [line for line, _ in rows[1:]], table


def _numbers(row: Sequence[str], header: Sequence[str], place: str) -> list[float]:
    if len(row) != len(header):
        raise ArgumentError(f"{place}: {len(row)} cells, but the header has {len(header)}")
    numbers: list[float] = []
    for name, cell in zip(header, row, strict=True):
        try:
            number = float(cell)
        except ValueError:
            number = float("nan")
        if not np.isfinite(number):
            raise ArgumentError(f"{place}, column {quote(name)}: {quote(cell)} is not a finite number")
        numbers.append(number)
    return numbers


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
