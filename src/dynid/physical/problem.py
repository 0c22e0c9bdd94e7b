"""The program of a physical fit in well-scaled unknowns: coordinates of all links, then constants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynid.base import BaseParameters
from dynid.errors import ArgumentError
from dynid.friction import armature_of, friction_of
from dynid.physical.bounds import Bounds, bound_rows
from dynid.physical.prior import Prior, prior_of, scaled
from dynid.physical.program import ConeSolution, solve_cone_program
from dynid.robot import Robot
from dynid.spatial import Array

RIDGE = 1e-8  # on constants of drives, in units of the data's own information: decides only where they do not
MARGIN = 1e-5  # every body keeps this share of its prior in every direction, so that no file makes it flat

_NON_NEGATIVE = re.compile(r"(Ia|Fv|Fc|Fl)\d+")


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """The data in well-scaled unknowns x: coordinates of all links, then scaled constants."""

    base: BaseParameters
    links: tuple[str, ...]
    names: tuple[str, ...]
    R: Array
    r: Array
    to_values: Array  # (p, columns): names' values per standard column
    columns: tuple[str, ...]
    prior: Prior
    weight: float
    scale: Array  # (columns - 10 L,): constant = scale * x
    ridge: Array  # rows (columns - 10 L, columns) that hold what data do not decide
    ridge_target: Array
    G: Array  # bounds on x
    h: Array

    @property
    def blocks(self) -> list[slice]:
        return [slice(10 * k, 10 * k + 10) for k in range(len(self.links))]

    @property
    def data(self) -> Array:
        """R in the unknowns, (m, columns)."""
        return scaled_columns(self.R @ self.to_values, self.prior, self.scale)

    def solve(self, rows: Array, target: Array) -> ConeSolution:
        """The program with the prior's term weight |rows x - target|^2."""
        root = np.sqrt(self.weight)
        A = np.concatenate([self.data, root * rows, self.ridge])
        b = np.concatenate([self.r, root * target, self.ridge_target])
        return solve_cone_program(A, b, self.blocks, self.G, self.h, MARGIN)

    def standard(self, x: Array) -> Array:
        """Values of all standard columns, (columns,)."""
        width = 10 * len(self.links)
        return np.concatenate([self.prior.standard(x[:width]), self.scale * x[width:]])


def checked_data(
    base: BaseParameters, names: Sequence[str], R: ArrayLike, r: ArrayLike
) -> tuple[Array, Array]:
    """R (m, p) and r (m,) as finite arrays that fit the names."""
    rows, right = np.asarray(R, dtype=np.float64), np.asarray(r, dtype=np.float64)
    if tuple(names[: base.count]) != base.names:
        raise ArgumentError("the names must begin with those of the base parameters")
    if rows.ndim != 2 or rows.shape[1] != len(names) or right.shape != rows.shape[:1]:
        raise ArgumentError(
            f"R has shape {rows.shape} and r {right.shape}; needed are (m, {len(names)}) and (m,) "
            "for the names given"
        )
    if not (np.isfinite(rows).all() and np.isfinite(right).all()):
        raise ArgumentError("the least squares data must be finite numbers")
    return rows, right


def problem_of(
    robot: Robot,
    base: BaseParameters,
    names: Sequence[str],
    R: Array,
    r: Array,
    given: ArrayLike | None,
    weight: float,
    bounds: Bounds | None,
) -> Problem:
    """The program of data |R values - r|^2 with the prior `given`, or neutral bodies where it is None."""
    width = 10 * len(robot.links)
    columns = (*base.columns, *names[base.count :])
    to_values = np.zeros((len(names), len(columns)))
    to_values[: base.count, : len(base.columns)] = base.matrix
    to_values[base.count :, len(base.columns) :] = np.eye(len(names) - base.count)
    data = R @ to_values
    prior = prior_of(robot, given)
    if not prior.known:
        prior = scaled(prior, _size(data, r, prior))
    sizes = np.linalg.norm(data[:, width:], axis=0)
    scale = np.divide(1.0, sizes, out=np.ones_like(sizes), where=sizes > 0.0)
    ridge = np.zeros((len(scale), len(columns)))
    ridge[:, width:] = np.sqrt(RIDGE) * np.eye(len(scale))
    G, h = _rows(robot, columns, bounds, prior, scale)
    return Problem(
        base=base,
        links=tuple(link.name for link in robot.links),
        names=tuple(names),
        R=R,
        r=r,
        to_values=to_values,
        columns=columns,
        prior=prior,
        weight=weight,
        scale=scale,
        ridge=ridge,
        ridge_target=np.sqrt(RIDGE) * _own_constants(robot, columns[width:]) / scale,
        G=G,
        h=h,
    )


def _size(data: Array, r: Array, prior: Prior) -> float:
    """By what neutral bodies must be multiplied so that the efforts have about the size of the data's."""
    width = len(prior.parameters)
    terms = np.column_stack([data[:, :width] @ prior.parameters, data[:, width:]])
    factor = float(np.linalg.lstsq(terms, r, rcond=None)[0][0])
    return float(np.clip(factor, 1e-3, 1e4))


def _own_constants(robot: Robot, names: Sequence[str]) -> Array:
    """What the robot's file says of constants of drives, zero where it says nothing."""
    friction = friction_of(robot)
    known = {f"{letter}{k + 1}": c[k] for letter, c in friction.constants.items() for k in range(robot.dof)}
    known |= {f"Ia{k + 1}": value for k, value in enumerate(armature_of(robot).tolist())}
    return np.array([known.get(name, 0.0) for name in names])


def _rows(
    robot: Robot, columns: Sequence[str], bounds: Bounds | None, prior: Prior, scale: Array
) -> tuple[Array, Array]:
    """G x >= h in the unknowns: bounds on bodies, and constants that cannot be negative."""
    on_links, h = bound_rows(robot, bounds)
    width = 10 * len(robot.links)
    standard = np.zeros((len(h), len(columns)))
    standard[:, :width] = on_links
    G = scaled_columns(standard, prior, scale)
    sizes = np.linalg.norm(G, axis=1)
    held = [k for k, name in enumerate(columns) if k >= width and _NON_NEGATIVE.fullmatch(name)]
    return (
        np.concatenate([G / sizes[:, None], np.eye(len(columns))[held]]),
        np.concatenate([h / sizes, np.zeros(len(held))]),
    )


def scaled_columns(rows: Array, prior: Prior, scale: Array) -> Array:
    """Rows (k, columns) on standard parameters as rows on the unknowns."""
    width = 10 * prior.links
    links = np.einsum("kli,lij->klj", rows[:, :width].reshape(-1, prior.links, 10), prior.to_parameters)
    return np.concatenate([links.reshape(-1, width), rows[:, width:] * scale], axis=1)
