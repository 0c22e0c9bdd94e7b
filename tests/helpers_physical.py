"""Least squares data of simulated arms, and the physical fit once more as CVXPY sees it."""

from __future__ import annotations

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from dynid.base import BaseParameters, base_parameters
from dynid.friction import armature_columns
from dynid.robot import Robot

TENSOR = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))  # XX XY XZ YY YZ ZZ


@dataclass(frozen=True)
class Data:
    """Rows of unit noise for base values, and the truth they were made from."""

    base: BaseParameters
    R: np.ndarray
    r: np.ndarray
    truth: np.ndarray  # (columns,)

    @property
    def free(self) -> np.ndarray:
        return np.linalg.lstsq(self.R, self.r, rcond=None)[0]


def simulated_data(
    robot: Robot,
    seed: int,
    *,
    noise: float = 0.5,
    samples: int = 300,
    truth: np.ndarray | None = None,
    armature: bool = True,
    whole: bool = False,
) -> Data:
    """Efforts of random states with white noise, reduced by QR; `whole` keeps the residual's row, too."""
    rng = np.random.default_rng(seed)
    base = base_parameters(robot, armature=armature)
    q, qd, qdd = rng.uniform(-2.0, 2.0, (3, samples, robot.dof))
    W = robot.regressor(q, qd, qdd)
    if armature:
        W = np.concatenate([W, armature_columns(qdd, robot.transmission)], axis=2)
    W = W.reshape(-1, W.shape[2])
    own = np.concatenate([robot.parameters, rng.uniform(0.1, 0.5, robot.dof * armature)])
    truth = own if truth is None else truth
    tau = W @ truth + noise * rng.normal(size=len(W))
    triangle = np.linalg.qr(np.column_stack([W @ np.linalg.pinv(base.matrix), tau]) / noise, mode="r")
    rows = len(triangle) if whole else base.count
    return Data(base, triangle[:rows, :-1], triangle[:rows, -1], truth)


def pseudo(ten: object) -> list[list[object]]:
    """Entries of the pseudo-inertia of ten parameters, numbers or CVXPY's variables alike."""
    xx, xy, xz, yy, yz, zz, mx, my, mz, m = (ten[k] for k in range(10))
    return [
        [0.5 * (yy + zz - xx), -xy, -xz, mx],
        [-xy, 0.5 * (xx + zz - yy), -yz, my],
        [-xz, -yz, 0.5 * (xx + yy - zz), mz],
        [mx, my, mz, m],
    ]


@dataclass(frozen=True)
class Reference:
    parameters: np.ndarray
    values: np.ndarray
    cost: float


def by_cvxpy(
    data: Data,
    prior: np.ndarray,
    roots: np.ndarray,
    weight: float,
    margin: float,
    metric: str = "pullback",
) -> Reference:
    """The program in standard parameters, stated afresh; `roots` (L, 4, 4) measure deviations."""
    columns = data.base.matrix.shape[1]
    links = len(prior) // 10
    # scaled unknowns, without which the oracle stops early: moments are smaller than masses
    size = np.concatenate([np.tile([0.1] * 6 + [0.3] * 3 + [1.0], links), np.full(columns - 10 * links, 0.1)])
    x = cp.Variable(columns)
    phi = cp.multiply(size, x)
    constraints, deviation = [], 0.0
    for k in range(links):
        P = cp.bmat(pseudo(phi[10 * k : 10 * k + 10]))
        inverse = np.linalg.inv(roots[k])
        X = inverse @ P @ inverse.T
        centre = inverse @ np.array(pseudo(prior[10 * k : 10 * k + 10]), dtype=float) @ inverse.T
        constraints.append(0.5 * (X + X.T) >> margin * np.eye(4))
        if metric == "pullback":
            deviation += cp.sum_squares(X - centre)
        else:
            deviation += 2.0 * (cp.trace(X) - cp.log_det(0.5 * (X + X.T)) - 4.0)
    if columns > 10 * links:
        constraints.append(phi[10 * links :] >= 0.0)
    values = (data.base.matrix * size) @ x
    cost = cp.sum_squares(data.R @ values - data.r) + weight * deviation
    problem = cp.Problem(cp.Minimize(cost), constraints)
    problem.solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-11, tol_feas=1e-11, reduced_tol_gap_rel=1e-9
    )
    assert problem.status in ("optimal", "optimal_inaccurate")
    return Reference(size * x.value, values.value, float(problem.value))
