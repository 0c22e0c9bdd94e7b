"""Estimates from simulated motions without noise filters, for tests of what is done with estimates."""

from __future__ import annotations

import numpy as np

from dynid.estimate import Estimate, RobotSource
from dynid.fit.arrays import samples_from_arrays
from dynid.fit.reduction import Reduction, reduce_blocks, total
from dynid.fit.solve import Solution, weighted
from dynid.fit.system import System, Terms, system_of
from dynid.log.samples import Samples
from dynid.model import DynamicModel
from dynid.robot import Robot
from dynid.spatial import frozen

FOLDS = 4


def estimate_of(
    model: DynamicModel,
    seed: int = 0,
    *,
    noise: float = 0.1,
    samples: int = 1500,
    terms: Terms | None = None,
    source: RobotSource | None = None,
    robot: Robot | None = None,
) -> Estimate:
    """What weighted least squares makes of random states of the model; `robot`, if it differs, is fitted."""
    system = system_of(robot or model.robot, terms or Terms(width=0.0))
    reduction = total(reductions_of(model, system, seed, noise, samples))
    return as_estimate(system, weighted(reduction), reduction, source)


def reductions_of(
    model: DynamicModel, system: System, seed: int, noise: float = 0.1, samples: int = 1500
) -> list[Reduction]:
    """Triangles of random states, in `FOLDS` stretches."""
    data = random_samples(model, seed, noise, samples)
    edges = np.linspace(0.0, samples, FOLDS + 1)[1:-1] - 0.5
    return reduce_blocks(system, data, edges.tolist())


def random_samples(model: DynamicModel, seed: int, noise: float = 0.1, samples: int = 1500) -> Samples:
    """Efforts of random states with white noise in Nm and N."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-2.0, 2.0, (3, samples, model.robot.dof))
    tau = model.efforts(q, qd, qdd) + noise * rng.normal(size=q.shape)
    return samples_from_arrays(model.robot, q, qd, qdd, tau)


def as_estimate(
    system: System, solution: Solution, reduction: Reduction, source: RobotSource | None = None
) -> Estimate:
    p = len(system.names)
    return Estimate(
        system=system,
        values=solution.values,
        covariance=frozen(solution.inverse),
        white_std=frozen(np.sqrt(np.diag(solution.inverse))),
        information=frozen(solution.data[:p]),
        residual=float(solution.data[p, p] ** 2),
        freedom=float(reduction.rows.sum() - p),
        condition=solution.condition,
        scaled_condition=solution.scaled_condition,
        samples=int(reduction.rows.max()),
        status="trusted",
        advice=(),
        choices={"cutoff_hz": 5.0},
        train={},
        held_out={},
        source=source,
    )
