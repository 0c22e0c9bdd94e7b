"""The estimators by their names: from one problem to one answer, the values and what these are worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from dynid.errors import ArgumentError, choices
from dynid.fit import runs
from dynid.fit.energy import reduce_energy, reduce_power
from dynid.fit.momentum import reduce_momentum
from dynid.fit.reduction import Reduction, reduce, total
from dynid.fit.solve import Prior, Solution, hat_traces, ordinary, weighted
from dynid.fit.system import System
from dynid.log.samples import Samples
from dynid.statistics import Noise, Uncertainty, noise_of, uncertainty


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be fitted: the samples of one log or several, and the prior's values if there are any."""

    system: System
    logs: Sequence[Samples]
    prior: Prior | None = None

    def reduced(self, one: Callable[[System, Samples], Reduction] = reduce) -> Reduction:
        """All equations of a model, by default the torque model."""
        return total([one(self.system, samples) for samples in self.logs])


@dataclass(frozen=True, eq=False)
class Answer:
    """Values of p unknowns, and how sure they are."""

    solution: Solution
    noise: Noise
    uncertainty: Uncertainty
    remarks: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def fit(problem: Problem, method: str) -> Answer:
    """The answer of a method to a problem."""
    if method not in METHODS:
        raise ArgumentError(f"method {choices(method, METHODS)}")
    return METHODS[method](problem)


def _answer(
    reduction: Reduction,
    solution: Solution,
    equations: Sequence[runs.Runs],
    remarks: Mapping[str, str] = MappingProxyType({}),
) -> Answer:
    """A solution with its uncertainty, from the residuals of the equations it solves."""
    taken = hat_traces(reduction, solution) / np.maximum(reduction.rows, 1.0)
    noise = noise_of([one.residuals(solution.values) for one in equations], taken)
    found = uncertainty(solution, equations, noise, float(reduction.rows.sum()))
    return Answer(solution, noise, found, remarks)


def _ols(problem: Problem) -> Answer:
    reduction = problem.reduced()
    return _answer(reduction, ordinary(reduction, problem.prior), _torque(problem))


def _wls(problem: Problem) -> Answer:
    reduction = problem.reduced()
    return _answer(reduction, weighted(reduction, problem.prior), _torque(problem))


def _torque(problem: Problem) -> list[runs.Runs]:
    return [runs.torque_runs(problem.system, samples) for samples in problem.logs]


def _momentum(problem: Problem) -> Answer:
    reduction = problem.reduced(reduce_momentum)
    equations = [runs.momentum_runs(problem.system, samples) for samples in problem.logs]
    return _answer(reduction, weighted(reduction, problem.prior), equations)


def _energy(problem: Problem) -> Answer:
    reduction = problem.reduced(reduce_energy)
    equations = [runs.energy_runs(problem.system, samples) for samples in problem.logs]
    return _answer(reduction, ordinary(reduction, problem.prior), equations)


def _power(problem: Problem) -> Answer:
    reduction = problem.reduced(reduce_power)
    equations = [runs.power_runs(problem.system, samples) for samples in problem.logs]
    return _answer(reduction, ordinary(reduction, problem.prior), equations)


METHODS: Mapping[str, Callable[[Problem], Answer]] = MappingProxyType(
    {
        "ols": _ols,
        "wls": _wls,
        "momentum": _momentum,
        "energy": _energy,
        "power": _power,
    }
)
