"""The possible body that is nearest to what data say of its ten parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.physical.fit import ADVICE
from dynid.physical.program import ENTRIES, smat, solve_cone_program
from dynid.spatial import Array, from_pseudo_inertia, frozen

LENGTH = 0.1  # m, of a load, where its moments say nothing better
MARGIN = 1e-9  # that every body keeps, as a share of one of its mass and size
RIDGE = 1e-6  # in standard deviations per such body: decides where data do not
LEAST_MASS = 1e-3  # kg


@dataclass(frozen=True, eq=False)
class Body:
    """Ten standard parameters, and advice where the solver has not found them."""

    parameters: Array
    advice: tuple[str, ...]


def nearest_body(R: Array, r: Array, mass: float | None = None) -> Body:
    """The body with the least |R phi - r|, R (10, 10), of a given mass (kg) if there is one."""
    sizes = np.linalg.norm(R, axis=0)
    free = np.linalg.lstsq(R / np.where(sizes > 0.0, sizes, 1.0), r, rcond=1e-8)[0] / np.where(
        sizes > 0.0, sizes, 1.0
    )
    scale = max(abs(float(free[9])) if mass is None else mass, LEAST_MASS)
    C = np.sqrt(scale) * np.diag([LENGTH, LENGTH, LENGTH, 1.0])
    to_parameters = np.column_stack([from_pseudo_inertia(C @ unit @ C.T) for unit in smat(np.eye(ENTRIES))])
    start = np.linalg.solve(to_parameters, from_pseudo_inertia(C @ C.T))
    A = np.concatenate([R @ to_parameters, RIDGE * np.eye(10)])
    b = np.concatenate([r, RIDGE * start])
    row = to_parameters[9:] / scale
    held = [] if mass is None else [mass / scale]  # from both sides
    solution = solve_cone_program(
        np.asarray(A),
        np.asarray(b, dtype=np.float64),
        [slice(0, ENTRIES)],
        np.concatenate([sign * row for _ in held for sign in (1.0, -1.0)] or [row[:0]]),
        np.array([sign * value for value in held for sign in (1.0, -1.0)]),
        MARGIN,
    )
    if solution.x is None:
        return Body(frozen(free), (ADVICE[solution.status],))
    advice = () if solution.status == "solved" else (ADVICE[solution.status],)
    return Body(frozen(to_parameters @ solution.x), advice)
