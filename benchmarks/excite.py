"""How long an exciting trajectory takes: in all, and beside finite differences over Pinocchio.

Both sides seek the same kind of motion of the Panda (5 harmonics, 10 s) from the same random start by the
same quasi-Newton method until the condition number at the same samples is the same. They differ in where
values and slopes come from: our compiled equations and their adjoint, or Pinocchio's regressor, called
sample by sample, and as many differences as there are coefficients.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.optimize import minimize

import dynid
from benchmarks.measure import Row
from benchmarks.pinocchio_models import pinocchio_model
from dynid.blas import single_thread
from dynid.conventions import to_pinocchio
from dynid.excite.bases import fourier
from dynid.excite.criteria import Criterion, condition_number
from dynid.excite.limits import bounds_of
from dynid.excite.observation import observe
from dynid.excite.smooth import Smooth

Array = NDArray[np.float64]

WANTED = 20.0  # condition number that both must reach
SHARPNESS = 30.0  # of the penalty
SEEDS = 3


def rows() -> list[Row]:
    robot = dynid.load_robot("panda")
    whole = dynid.exciting_trajectory(robot)
    with single_thread():
        ratio, ours, theirs = gradients_by_differences()
    return [
        Row(
            "exciting trajectory of the Panda, default search: condition, seconds",
            f"{whole.condition:.2f}, {whole.seconds:.1f} s",
            "<= 20, 30 s",
            whole.condition <= 20.0 and whole.seconds <= 30.0,
        ),
        Row(
            f"to condition {WANTED:g}, beside SciPy with finite differences over Pinocchio",
            f"{ratio:.0f} x ({ours:.2f} s, {theirs:.1f} s)",
            ">= 15 x",
            ratio >= 15.0,
        ),
    ]


def gradients_by_differences() -> tuple[float, float, float]:
    """Ratio of the times to the wanted condition, all seeds together, and the times."""
    robot = dynid.load_robot("panda")
    observation = observe(robot)
    search = Smooth(observation, Criterion(), fourier(10.0, 5), bounds_of(robot), 100.0)
    search.prepare()
    model = pinocchio_model(robot)
    data = model.createData()
    kept = [robot.parameter_names.index(name) for name in observation.base.kept]
    order = np.kron(np.eye(robot.dof), to_pinocchio(np.eye(10)).T)[:, kept]

    def by_pinocchio(x: Array) -> float:
        motion = search.motion(x)
        samples = zip(*motion[:3], strict=True)
        Y = np.vstack([pin.computeJointTorqueRegressor(model, data, *sample) for sample in samples])
        value, _ = search.criterion(Y @ order)
        slopes = [np.zeros_like(motion[0]) for _ in motion]
        return value + search.penalty(motion, slopes, SHARPNESS)

    def ours_at(x: Array) -> tuple[float, Array]:
        return search.objective(x, SHARPNESS)

    total = [0.0, 0.0]
    for seed in range(SEEDS):
        x = search.first(np.random.default_rng([0, seed]))
        assert np.isclose(by_pinocchio(x), ours_at(x)[0], rtol=1e-9)
        total[0] += seconds_until(search, ours_at, x, jac=True)
        total[1] += seconds_until(search, by_pinocchio, x, jac="2-point")
    return total[1] / total[0], total[0], total[1]


def seconds_until(search: Smooth, objective: Callable[[Array], object], x: Array, jac: bool | str) -> float:
    """Until a condition number below the wanted one, by L-BFGS."""

    def enough(intermediate_result: object) -> None:
        W = search.observation.matrix(search.motion(intermediate_result.x))  # type: ignore[attr-defined]
        if condition_number(W) <= WANTED:
            raise StopIteration

    began = time.perf_counter()
    options = {"maxiter": 2000, "maxfun": 10**7, "maxcor": 30, "ftol": 1e-12}
    minimize(objective, x, jac=jac, method="L-BFGS-B", callback=enough, options=options)
    return time.perf_counter() - began
