"""An estimate of base values made a full physical set, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from dynid.base import BaseParameters
from dynid.errors import ArgumentError, choices, quote
from dynid.estimate import Estimate
from dynid.fit.judge import listed
from dynid.physical.bounds import Bounds
from dynid.physical.fit import NEUTRAL_WEIGHT, PRIOR_WEIGHT, PhysicalFit, physical_fit
from dynid.physical.prior import NEUTRAL_MASS, Metric, neutral_parameters
from dynid.physical.problem import MARGIN
from dynid.physical.weight import choose_prior_weight
from dynid.robot import Robot
from dynid.spatial import Array

PriorSource = Literal["auto", "cad", "none"]
PRIOR_SOURCES: tuple[PriorSource, ...] = ("auto", "cad", "none")

# Methods whose values are not the minimum of |R beta - r|: bodies are to be near the values all the same.
OFF_THE_MINIMUM = ("tls", "one-joint")
CONTRADICTED = 0.1  # of the predicted efforts: a set that changes more is not what the data say


def make_physical(
    estimate: Estimate,
    *,
    prior: PriorSource | Array = "auto",
    prior_weight: float | None = None,
    folds: Sequence[Array] = (),
    metric: Metric = "pullback",
    bounds: Bounds | None = None,
) -> Estimate:
    """The estimate with bodies that can exist: `.parameters`, `.origins`, `.physical`, and values that agree.

    prior: what the data do not decide. "cad" is the robot file's, "none" neutral bodies of the links' size,
    "auto" the file's with neutral bodies where it gives none; or standard parameters (10 L,).
    prior_weight: None chooses it by cross-validation where there are `folds`, triangles [R r] (m, p + 1) of
    unit noise from separate stretches of the logs.

    Values of what the data decide hardly move, so covariance and deviations stay those of the data alone.
    Scores on logs belong to the values before: whoever has the logs computes them again. Where there is no
    such set the estimate comes back weak, `physical` False, its values untouched.
    """
    robot, system = estimate.robot, estimate.system
    bodies, said = prior_bodies(robot, prior)
    weight, how = _weight(estimate, bodies, prior_weight, folds)
    R, r = estimate.information[:, :-1], estimate.information[:, -1]
    if estimate.choices.get("method") in OFF_THE_MINIMUM:
        r = R @ estimate.values
    found = physical_fit(
        robot,
        _without_grouped_friction(system.base),
        estimate.names,
        R,
        r,
        prior=bodies,
        prior_weight=weight,
        metric=metric,
        bounds=bounds,
        residual=estimate.residual,
    )
    costs = {
        "prior": said,
        "bounded_links": 0 if bounds is None else len(bounds.links),
        "weight": weight,
        "weight_chosen": how,
        **_costs(found),
    }
    chosen = MappingProxyType({**estimate.choices, "physical": costs})
    return _with_bodies(replace(estimate, choices=chosen, seconds=estimate.seconds + found.seconds), found)


def _with_bodies(estimate: Estimate, found: PhysicalFit) -> Estimate:
    """The estimate with the bodies found, or why there are none."""
    if not found.physical or found.parameters is None or found.values is None:
        return replace(
            estimate,
            physical=False,
            status="failed" if estimate.status == "failed" else "weak",
            advice=(
                *estimate.advice,
                f"no physically consistent set was found ({found.status})",
                *found.advice,
            ),
        )
    doubtful = estimate.status == "trusted" and found.prediction_change > CONTRADICTED
    return replace(
        estimate,
        values=found.values,
        parameters=found.parameters,
        origins=found.origins,
        physical=True,
        status="weak" if doubtful else estimate.status,
        advice=(*estimate.advice, *found.advice),
    )


def prior_bodies(robot: Robot, prior: PriorSource | Array = "auto") -> tuple[Array | None, str]:
    """Standard parameters (10 L,) to stay close to, None for neutral bodies; and what they are, in words."""
    if not isinstance(prior, str):
        return np.asarray(prior, dtype=np.float64), "given"
    if prior not in PRIOR_SOURCES:
        raise ArgumentError(f"prior {choices(prior, PRIOR_SOURCES)}")
    own = robot.parameters.reshape(-1, 10)
    unknown = np.asarray(np.isnan(own).any(axis=1))
    names = [link.name for link in robot.links if np.isnan(link.parameters).any()]
    if prior == "cad" and names:
        raise ArgumentError(
            f"the prior 'cad' needs the inertias of the robot's file, which {robot.name} lacks for "
            f"{', '.join(map(quote, names))}: complete the file, or let neutral bodies stand in ('auto')"
        )
    if prior == "none" or unknown.all():
        return None, "neutral bodies of the links' size"
    if not names:
        return robot.parameters, "the robot's file"
    mass = float(np.median(own[~unknown, 9])) or NEUTRAL_MASS
    neutral = neutral_parameters(robot).reshape(-1, 10) * (mass / NEUTRAL_MASS)
    bodies = np.where(unknown.reshape(-1, 1), neutral, own).ravel()
    return bodies, f"the robot's file, and neutral bodies for {listed(names)}"


def _without_grouped_friction(base: BaseParameters) -> BaseParameters:
    """The same base values as if friction that nothing tells from weights (Fo of a vertical slide) were zero.

    A model has friction constants for base values of their own alone: the bodies must account for the rest.
    """
    gone = [k for k, name in enumerate(base.columns) if name.startswith("F") and name not in base.kept]
    kept = [k for k in range(len(base.columns)) if k not in gone]
    return replace(base, columns=tuple(base.columns[k] for k in kept), matrix=base.matrix[:, np.array(kept)])


def _weight(
    estimate: Estimate, bodies: Array | None, given: float | None, folds: Sequence[Array]
) -> tuple[float, str]:
    """The prior's weight and how it was found."""
    if given is not None:
        return given, "given"
    if len(folds) < 2:
        return (NEUTRAL_WEIGHT if bodies is None else PRIOR_WEIGHT), "not compared: nothing was held out"
    halves = [(fold[:, :-1], fold[:, -1]) for fold in folds]
    choice = choose_prior_weight(estimate.robot, estimate.base, estimate.names, halves, bodies)
    return choice.weight, str(choice)


def _costs(found: PhysicalFit) -> dict[str, Any]:
    """The set's distance from the unconstrained values, and how much of it is whose word."""
    counts = {
        f"{origin}_parameters": found.origins.count(origin) for origin in ("measured", "grouped", "prior")
    }
    return {
        "solver": found.status,
        "metric": found.metric,
        "distance_standard_deviations": found.distance,
        "base_distance_percent": 100.0 * found.base_distance,
        "prediction_change_percent": 100.0 * found.prediction_change,
        "residual_rise_percent": 100.0 * found.loss,
        "least_eigenvalue_ratio": found.eigenvalue_ratio,
        "margin": MARGIN,  # every body keeps this share of its prior in every direction
        **counts,
    }
