"""Why experiments excite: what one joint's effort tells while one joint moves, by [Lin1992], Properties 1, 2.

Joint i moves, all others are locked, so composite body j behind it is rigid, and the effort of joint j is a
row times the body's ten constants J^ = U + V, c^ = k + l and m^, Eqs. (56) to (61).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynid.base.composite import Chain, velocities_of_frames
from dynid.base.composite_sets import PARALLEL, parallel, perpendicular
from dynid.errors import ArgumentError
from dynid.spatial import Array

TENSOR = ("J11-J22", "J12", "J13", "J23")
MOMENTS = ("cx", "cy")
Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Case:
    """A case of Property 1 or 2: constants of the body whose coefficients are independent, and why."""

    number: str  # 1.1(a) ... 2.2(a)
    equation: int
    seen: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        return f"{self.reason}: Eq. ({self.equation}), Property {self.number}"


def case_of(chain: Chain, moving: int, joint: int, q: ArrayLike) -> Case:
    """The case of joint j >= i while joint i alone moves, from the axes at the posture q (n,).

    Independent means: over velocities and accelerations of joint i, and positions of joints i and j. Lengths
    of the chain and its gravity are about one. Joints are counted from 0, in texts from 1.
    """
    if not 0 <= moving <= joint < chain.dof:
        raise ArgumentError(f"joint {moving + 1} does not carry the body of joint {joint + 1}")
    velocities = velocities_of_frames(chain, q)[joint]
    g = velocities[0, 3:]
    u, a_u = velocities[1 + moving, :3], velocities[1 + moving, 3:]
    i, j = f"joint {moving + 1}", f"joint {joint + 1}"
    if chain.prismatic[moving]:
        return _while_sliding(chain, moving, joint, a_u, g)
    if moving == joint:
        if parallel(Z, g):
            return Case("1.3(a)", 58, ("J33",), f"{i} turns along gravity and feels its inertia alone")
        return Case("1.3(a)", 58, ("J33", *MOMENTS), f"{i} is not along gravity")
    if chain.prismatic[joint]:
        if parallel(u, Z):
            return Case("1.2(a)", 57, (), f"slide {joint + 1} is parallel to {i}, its k has no effect")
        return Case("1.2(b)", 57, ("kappa1", "kappa2"), f"slide {joint + 1} is not parallel to {i}")
    if perpendicular(u, Z):
        return Case("1.1(b)", 56, (*TENSOR, *MOMENTS), f"{j} is perpendicular to {i}")
    if not parallel(u, Z):
        return Case("1.1(a)", 56, ("J33", *TENSOR, *MOMENTS), f"{j} is oblique to {i}")
    if not parallel(u, g):
        return Case("1.1(d)", 56, ("J33", *MOMENTS), f"{j} is parallel to {i}, not along gravity")
    if np.linalg.norm(a_u) < PARALLEL:
        return Case("1.1(c)", 56, ("J33",), f"{j} is on one line with {i}, along gravity")
    return Case("1.1(d)", 56, ("J33", *MOMENTS), f"{j} is parallel to {i}, not on one line with it")


def _while_sliding(chain: Chain, moving: int, joint: int, u: Array, g: Array) -> Case:
    i, j = f"slide {moving + 1}", f"joint {joint + 1}"
    if moving == joint:
        return Case("2.2(a)", 60, ("m",), f"{i} carries its own body")
    if chain.prismatic[joint]:  # not in the paper: tau_j = m^_j (u q'' - g)_z
        seen = () if perpendicular(u, Z) and perpendicular(g, Z) else ("m",)
        return Case("2.2(a)", 60, seen, f"{i} moves slide {joint + 1}")
    if parallel(Z, g) and parallel(Z, u):
        return Case("2.1(b)", 59, (), f"{j} is along gravity and along {i}: nothing acts on it")
    return Case("2.1(a)", 59, MOMENTS, f"{j} is not along both gravity and {i}")
