"""The estimators by their names: from one problem to one answer, the values and what these are worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from dynid.errors import ArgumentError, choices
from dynid.fit import runs
from dynid.fit.energy import reduce_energy, reduce_power
from dynid.fit.instrumental import instrumental, projected_runs
from dynid.fit.momentum import reduce_momentum
from dynid.fit.one_joint_logs import one_joint
from dynid.fit.reduction import Reduction, reduce, total
from dynid.fit.robust import Loss, overconfidence, robust
from dynid.fit.solve import Prior, Solution, ordinary, weighted
from dynid.fit.system import System
from dynid.fit.total import fit_total
from dynid.log.samples import Samples
from dynid.statistics import Noise, Uncertainty, noise_of, uncertainty


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be fitted: the samples of one log or several, and the prior's values if there are any.

    Of logs too long to be loaded, `logs` are an excerpt, and all their equations have been reduced already.
    """

    system: System
    logs: Sequence[Samples]
    prior: Prior | None = None
    reduction: Reduction | None = None
    share: float = 1.0  # that the samples of `logs` are of all

    def equations(self, of: Callable[[System, Samples], runs.Runs]) -> list[runs.Runs]:
        """Equations of a model that follow on each other, which stand for all there are."""
        return [of(self.system, samples).standing_for(self.share) for samples in self.logs]

    def reduced(self, one: Callable[[System, Samples], Reduction] = reduce) -> Reduction:
        """All equations of a model, by default the torque model."""
        if self.reduction is not None:
            return self.reduction
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
    noise = noise_of(equations, solution)
    found = uncertainty(solution, equations, noise, float(reduction.rows.sum()))
    return Answer(solution, noise, found, remarks)


def _ols(problem: Problem) -> Answer:
    reduction = problem.reduced()
    return _answer(reduction, ordinary(reduction, problem.prior), _torque(problem))


def _wls(problem: Problem) -> Answer:
    reduction = problem.reduced()
    return _answer(reduction, weighted(reduction, problem.prior), _torque(problem))


def _torque(problem: Problem) -> list[runs.Runs]:
    return problem.equations(runs.torque_runs)


def _robust(loss: Loss) -> Callable[[Problem], Answer]:
    def estimator(problem: Problem) -> Answer:
        system = problem.system
        found = robust(system, problem.logs, loss, prior=problem.prior)
        pairs = list(zip(problem.logs, found.weights, strict=True))
        reduction = total([reduce(system, samples, weights=weights) for samples, weights in pairs])
        equations = [runs.torque_runs(system, samples, weights) for samples, weights in pairs]
        answer = _answer(reduction, found.solution, equations, {"rounds": str(found.rounds)})
        more = overconfidence(found.weights, loss)
        return replace(answer, uncertainty=answer.uncertainty.scaled(more))

    return estimator


def _total(problem: Problem) -> Answer:
    if problem.prior is not None and problem.prior.weight > 0.0:
        raise ArgumentError("total least squares takes no prior: prior='none' leaves it out")
    reduction = problem.reduced()
    solution, _ = fit_total(problem.system, problem.logs, reduction)
    return _answer(reduction, solution, _torque(problem))


def _instrumental(problem: Problem) -> Answer:
    """Noise comes from the measured motion, its way to the values from the instruments'."""
    system, reduction = problem.system, problem.reduced()
    found = instrumental(system, problem.logs, weighted(reduction).values, prior=problem.prior)
    noise = noise_of(_torque(problem), found.solution)
    projected = [projected_runs(system, motion, found.projection) for motion in found.instruments]
    worth = uncertainty(found.solution, projected, noise, float(reduction.rows.sum()))
    return Answer(found.solution, noise, worth, {"rounds": str(found.rounds)})


def _momentum(problem: Problem) -> Answer:
    reduction = problem.reduced(reduce_momentum)
    return _answer(reduction, weighted(reduction, problem.prior), problem.equations(runs.momentum_runs))


def _of_all_joints(
    reducer: Callable[[System, Samples], Reduction], rows: Callable[[System, Samples], runs.Runs]
) -> Callable[[Problem], Answer]:
    """Of a model with one equation for all joints."""

    def estimator(problem: Problem) -> Answer:
        reduction = problem.reduced(reducer)
        return _answer(reduction, ordinary(reduction, problem.prior), problem.equations(rows))

    return estimator


def _one_joint(problem: Problem) -> Answer:
    """Backwards from the last joint, each from its own equation."""
    if problem.prior is not None and problem.prior.weight > 0.0:
        raise ArgumentError("the method 'one-joint' takes no prior: prior='none' leaves it out")
    found = one_joint(problem.system, problem.logs).fit()
    return Answer(found.solution, found.noise, found.uncertainty, found.remarks)


METHODS: Mapping[str, Callable[[Problem], Answer]] = MappingProxyType(
    {
        "wls": _wls,
        "ols": _ols,
        "irls": _robust("huber"),
        "tukey": _robust("tukey"),
        "iv": _instrumental,
        "tls": _total,
        "energy": _of_all_joints(reduce_energy, runs.energy_runs),
        "power": _of_all_joints(reduce_power, runs.power_runs),
        "momentum": _momentum,
        "one-joint": _one_joint,
    }
)
