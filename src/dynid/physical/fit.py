"""From least squares in base parameters to bodies that can exist.

The data arrive as a triangle: the cost of base values beta (and of drive constants) is |R beta - r|^2 in
units of the noise. The fit chooses standard parameters of all links with

    minimise  |R beta - r|^2 + weight * (deviation from the prior)^2
    subject to  every pseudo-inertia positive semidefinite; Ia, Fv, Fc, Fl >= 0; bounds, if any

where beta = base.matrix @ parameters. Where the data decide, their term outweighs a prior of moderate weight;
where they say nothing, only the prior speaks, and the result is the completion nearest to it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynid.base import BaseParameters
from dynid.errors import ArgumentError, choices
from dynid.physical.bounds import Bounds
from dynid.physical.feasible import contradiction
from dynid.physical.metrics import entropic, pullback
from dynid.physical.prior import METRICS, Metric
from dynid.physical.problem import Problem, checked_data, problem_of
from dynid.physical.program import ConeSolution, Status
from dynid.physical.provenance import Origin, origins
from dynid.robot import Robot
from dynid.spatial import Array, frozen, pseudo_inertia

PRIOR_WEIGHT = 1.0  # a given prior: a body's deviation by all of itself counts as one standard deviation
NEUTRAL_WEIGHT = 1e-2  # where nobody gave one
SUSPICIOUS = 0.02  # of the predicted efforts: if constraints change more, the data contradict them

ADVICE = {
    "inaccurate": "the solver stopped short of full accuracy: check the set's prediction before using it",
    "infeasible": "widen the bounds of masses, centres of mass or shapes",
    "failed": "the solver found no solution: raise the prior's weight, or give a prior nearer to the robot",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class PhysicalFit:
    """A physically consistent set, or why there is none; p base values and constants, L links."""

    parameters: Array | None  # (10 L,), in the order of robot.parameter_names
    further_names: tuple[str, ...]  # constants of drives and whatever else was fitted
    further: Array | None  # their values
    values: Array | None  # (p,), in the order of the names that were given
    origins: tuple[Origin, ...]  # of every entry of `parameters`
    status: Status
    advice: tuple[str, ...]
    prior_weight: float
    metric: Metric
    distance: float  # from the unconstrained values, in standard deviations (the data's metric)
    base_distance: float  # |change of the base values| / |base values|
    prediction_change: float  # RMS change of the predicted efforts / their RMS, both weighted
    loss: float  # relative rise of the RMS residual; NaN where the residual is not known
    eigenvalue_ratio: float  # smallest eigenvalue / trace over all pseudo-inertias
    cost: float  # of the whole program, at the minimum
    seconds: float

    @property
    def physical(self) -> bool:
        """Whether there is a set, and all of its bodies can exist."""
        return self.parameters is not None and self.eigenvalue_ratio >= -1e-9


def physical_fit(
    robot: Robot,
    base: BaseParameters,
    names: Sequence[str],
    R: ArrayLike,
    r: ArrayLike,
    *,
    prior: ArrayLike | None = None,
    prior_weight: float | None = None,
    metric: Metric = "pullback",
    bounds: Bounds | None = None,
    residual: float = float("nan"),
) -> PhysicalFit:
    """The physically consistent set nearest to least squares data R (m, p), r (m,).

    names: of all p columns, those of `base` first. The rows are weighted to unit variance of the noise.
    prior: standard parameters (10 L,) to stay close to; without any, neutral bodies as large as the links.
    residual: sum of squares that no values can take away, if the triangle does not hold it.
    """
    start = time.perf_counter()
    rows, right = checked_data(base, names, R, r)
    weight = (NEUTRAL_WEIGHT if prior is None else PRIOR_WEIGHT) if prior_weight is None else prior_weight
    if not (np.isfinite(weight) and weight > 0.0):
        raise ArgumentError(f"the prior's weight must be positive, not {weight:g}")
    if metric not in METRICS:
        raise ArgumentError(f"metric {choices(metric, METRICS)}")
    problem = problem_of(robot, base, names, rows, right, prior, weight, bounds)
    solution = pullback(problem) if metric == "pullback" else entropic(problem)
    return _result(problem, solution, metric, residual, time.perf_counter() - start)


# --- the result -------------------------------------------------------------------------------------


def _result(
    problem: Problem, solution: ConeSolution, metric: Metric, residual: float, seconds: float
) -> PhysicalFit:
    width = 10 * len(problem.links)
    advice = [ADVICE[solution.status]] if solution.status != "solved" else []
    if solution.status == "infeasible":
        advice.insert(0, contradiction(problem.links, problem.prior.centre, problem.G, problem.h))
    parameters = further = values = None
    distance = base_distance = change = loss = ratio = float("nan")
    if solution.x is not None:
        standard = problem.standard(solution.x)
        parameters, further = frozen(standard[:width]), frozen(standard[width:])
        values = frozen(problem.to_values @ standard)
        distance, base_distance, change, loss = _distances(problem, values, residual)
        P = pseudo_inertia(parameters.reshape(-1, 10))
        ratio = float(np.min(np.linalg.eigvalsh(P)[:, 0] / np.trace(P, axis1=1, axis2=2)))
        if change > SUSPICIOUS:
            advice.append(
                f"the nearest bodies that can exist change the predicted efforts by {100 * change:.1f} %: "
                "check gains, signs and the friction model, or whether the motion excites all links"
            )
    return PhysicalFit(
        parameters=parameters,
        further_names=problem.columns[width:],
        further=further,
        values=values,
        origins=origins(problem.base, problem.data, problem.prior, problem.scale, problem.weight),
        status=solution.status,
        advice=tuple(advice),
        prior_weight=problem.weight,
        metric=metric,
        distance=distance,
        base_distance=base_distance,
        prediction_change=change,
        loss=loss,
        eigenvalue_ratio=ratio,
        cost=solution.cost,
        seconds=seconds,
    )


def _distances(problem: Problem, values: Array, residual: float) -> tuple[float, float, float, float]:
    """Distances from the unconstrained values, as `PhysicalFit` has them."""
    R, r, count = problem.R, problem.r, problem.base.count
    free = np.linalg.lstsq(R, r, rcond=None)[0]
    moved = float(np.linalg.norm(R @ (values - free)))
    base = float(np.linalg.norm(values[:count] - free[:count]) / (np.linalg.norm(free[:count]) or 1.0))
    change = moved / (float(np.linalg.norm(R @ free)) or 1.0)
    left = float(np.sum((R @ free - r) ** 2)) + (0.0 if np.isnan(residual) else residual)
    known = left > 1e-20 * float(r @ r)
    return moved, base, change, float(np.sqrt(1.0 + moved**2 / left)) - 1.0 if known else float("nan")
