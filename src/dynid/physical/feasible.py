"""Whether any bodies meet given bounds, and if not, whose bounds are to blame. Data have no part in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid.errors import ArgumentError, quote
from dynid.physical.bounds import Bounds, bound_rows
from dynid.physical.prior import prior_of
from dynid.physical.problem import MARGIN, scaled_columns
from dynid.physical.program import solve_cone_program
from dynid.robot import Robot
from dynid.spatial import Array


def refuse_contradictions(robot: Robot, bounds: Bounds) -> None:
    """Raise if no bodies of the robot meet the bounds."""
    prior = prior_of(robot)
    rows, h = bound_rows(robot, bounds)
    on_coordinates = scaled_columns(rows, prior, np.ones(0))
    sizes = np.linalg.norm(on_coordinates, axis=1)
    G, least = on_coordinates / sizes[:, None], h / sizes
    count = 10 * prior.links
    blocks = [slice(k, k + 10) for k in range(0, count, 10)]
    found = solve_cone_program(np.eye(count), prior.centre, blocks, G, least, MARGIN)
    if found.status == "infeasible":
        names = tuple(link.name for link in robot.links)
        raise ArgumentError(f"bounds: {contradiction(names, prior.centre, G, least)}: widen them")


def contradiction(links: Sequence[str], centre: Array, G: Array, h: Array) -> str:
    """Which bounds G x >= h on bodies (10 coordinates each, first in x) cannot be met, link by link."""
    alone = slice(0, 10)
    impossible: list[str] = []
    for k, name in enumerate(links):
        block = slice(10 * k, 10 * k + 10)
        own = G[:, block].any(axis=1)
        own &= ~np.delete(G, np.r_[block], axis=1).any(axis=1)
        found = solve_cone_program(np.eye(10), centre[block], [alone], G[own, block], h[own], MARGIN)
        impossible += [quote(name)] if found.status == "infeasible" else []
    if impossible:
        return f"no body meets the bounds of link {', '.join(impossible)}"
    return "each link's bounds can be met, but not together with that of the total mass"
