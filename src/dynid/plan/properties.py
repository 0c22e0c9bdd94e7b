"""What one joint's effort tells when one joint moves: Eqs. (51) to (61), Properties 1 and 2 of [Lin1992].

Joint i moves, all others are locked, so composite body j behind it is rigid, and the effort of joint j is a
row times the body's ten constants J^ = U + V, c^ = k + l and m^.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynid.base.composite import MX, MY, MZ, XX, XY, XZ, YY, YZ, ZZ, Chain, M, velocities_of_frames
from dynid.base.composite_sets import parallel, perpendicular
from dynid.errors import ArgumentError
from dynid.spatial import Array

# --- the equations ------------------------------------------------------------------------------------


def turning_row(w: Array, wd: Array, a: Array) -> Array:
    """Effort of a rotational joint per unit of its body's constants, (..., 10), Eq. (51).

    w, wd, a (..., 3): angular velocity, angular acceleration and acceleration less gravity of frame j, in its
    axes. In print the coefficient of J_23 has a minus sign; it is wd_y + w_x w_z.
    """
    row = np.zeros((*w.shape[:-1], 10))
    wx, wy, wz = np.moveaxis(w, -1, 0)
    row[..., XX], row[..., YY] = -wx * wy, wx * wy
    row[..., ZZ] = wd[..., 2]
    row[..., XY] = wx**2 - wy**2
    row[..., XZ] = wd[..., 0] - wy * wz
    row[..., YZ] = wd[..., 1] + wx * wz
    row[..., MX], row[..., MY] = a[..., 1], -a[..., 0]
    return row


def sliding_row(w: Array, wd: Array, a: Array) -> Array:
    """Effort of a translational joint per unit of its body's constants, (..., 10), Eq. (52).

    In print the coefficient of c_y is wd_x + w_x w_z; it is wd_x + w_y w_z.
    """
    row = np.zeros((*w.shape[:-1], 10))
    wx, wy, wz = np.moveaxis(w, -1, 0)
    row[..., MX] = -wd[..., 1] + wx * wz
    row[..., MY] = wd[..., 0] + wy * wz
    row[..., MZ] = -(wx**2 + wy**2)
    row[..., M] = a[..., 2]
    return row


def effort_row(chain: Chain, moving: int, joint: int, q: ArrayLike, qd: float, qdd: float) -> Array:
    """Effort of joint j >= i per unit of its body's constants while joint i alone moves, (10,).

    Eqs. (56) to (61): the velocities of Eqs. (53) to (55) in (51) and (52), or the acceleration alone where
    joint i slides. `q` (n,) is the posture, qd and qdd are those of joint i. Joints are counted from 0.
    """
    if not 0 <= moving <= joint < chain.dof:
        raise ArgumentError(f"joint {moving + 1} does not carry the body of joint {joint + 1}")
    velocities = velocities_of_frames(chain, q)[joint]
    u, a_u = velocities[1 + moving, :3], velocities[1 + moving, 3:]
    a = velocities[0, 3:] + a_u * qdd + np.cross(u, a_u) * qd**2
    row = sliding_row if chain.prismatic[joint] else turning_row
    return row(u * qd, u * qdd, a)


# --- the properties -----------------------------------------------------------------------------------

TENSOR = ("J11-J22", "J33", "J12", "J13", "J23")
MOMENTS = ("cx", "cy")


@dataclass(frozen=True)
class Case:
    """A case of Property 1 or 2: constants of the body whose coefficients are independent, and why."""

    number: str  # 1.1(a) ... 2.2(a)
    seen: tuple[str, ...]
    reason: str


def case_of(chain: Chain, moving: int, joint: int, q: ArrayLike) -> Case:
    """The case of joint j >= i while joint i alone moves, from the axes at the posture q (n,).

    Independent means: over velocities and accelerations of joint i and positions of joints i and j.
    """
    if not 0 <= moving <= joint < chain.dof:
        raise ArgumentError(f"joint {moving + 1} does not carry the body of joint {joint + 1}")
    velocities = velocities_of_frames(chain, q)[joint]
    g = velocities[0, 3:]
    z = np.array([0.0, 0.0, 1.0])
    if chain.prismatic[moving]:
        return _sliding(chain, moving, joint, velocities[1 + moving, 3:], g, z)
    u, a_u = velocities[1 + moving, :3], velocities[1 + moving, 3:]
    if moving == joint:
        return _itself(g, z)
    if chain.prismatic[joint]:
        return _slide_while_turning(u, g, z)
    if perpendicular(u, z):
        return Case(
            "1.1(b)", ("J11-J22", "J12", "J13", "J23", *MOMENTS), "joint j is perpendicular to joint i"
        )
    if not parallel(u, z):
        return Case("1.1(a)", (*TENSOR, *MOMENTS), "joint j is neither parallel nor perpendicular to joint i")
    if parallel(u, g) and not a_u.any():
        return Case("1.1(c)", ("J33",), "joints i and j are on one line, along gravity")
    if parallel(u, g) and np.linalg.norm(a_u) < 1e-9 * max(_length(chain), 1e-300):
        return Case("1.1(c)", ("J33",), "joints i and j are on one line, along gravity")
    apart = "not on one line" if parallel(u, g) else "not along gravity"
    return Case("1.1(d)", ("J33", *MOMENTS), f"joints i and j are parallel, {apart}")


def _itself(g: Array, z: Array) -> Case:
    if parallel(z, g):
        return Case("1.3(a)", ("J33",), "joint i turns along gravity: only its inertia is felt")
    return Case("1.3(a)", ("J33", *MOMENTS), "joint i is not along gravity")


def _slide_while_turning(u: Array, g: Array, z: Array) -> Case:
    mass = () if perpendicular(g, z) else ("m",)
    if parallel(u, z):
        return Case("1.2(a)", mass, "the slide is parallel to joint i: its first moment has no effect")
    return Case("1.2(b)", ("kappa1", "kappa2", *mass), "the slide is not parallel to joint i")


def _sliding(chain: Chain, moving: int, joint: int, u: Array, g: Array, z: Array) -> Case:
    if moving == joint:
        return Case("2.2(a)", ("m",), "the slide carries its own body")
    if chain.prismatic[joint]:  # the paper has no equation for it: tau_j = m^_j (u q'' - g)_z
        seen = () if perpendicular(u, z) and perpendicular(g, z) else ("m",)
        return Case("2.2(a)", seen, "a slide moved by another one")
    if parallel(z, g) and parallel(z, u):
        return Case("2.1(b)", (), "joint j is along gravity and along the slide: nothing acts on it")
    return Case("2.1(a)", MOMENTS, "joint j is not along both gravity and the slide")


def _length(chain: Chain) -> float:
    return max(float(np.abs(pose.translation).max()) for pose in chain.poses)
