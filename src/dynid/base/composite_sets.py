"""Which constants of composite bodies a model needs: Theorems 4 and 5 of [Lin1994].

r is the first rotational joint, s the first one behind it that is not parallel to it; u_i is the axis of
joint i. Directions that the theorems compare keep their angle in every posture, so q = 0 decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from dynid.base.composite import MX, MY, MZ, XX, XY, XZ, YY, YZ, ZZ, Chain, M
from dynid.spatial import Array, Frame

PARALLEL = 1e-9  # sines and cosines below this, and offsets beside the longest one, are rounding


@dataclass(frozen=True, eq=False)
class Element:
    """A combination of the constants (U, k, m^) of one composite body.

    Names give the body's number after the letter: U2_33, U2_11-22, k2x, m2^, and kappa1_2 and kappa2_2.
    """

    name: str
    body: int
    weights: Array  # (10,)

    @property
    def lead(self) -> int:
        """The first of the ten constants that takes part; it has the element's unit."""
        return int(np.flatnonzero(self.weights)[0])

    @property
    def carrier(self) -> Array:
        """Constants (10,) that give this element the value one; (U)22 and all that can be are zero."""
        weights = np.where(np.arange(10) == YY, 0.0, self.weights)
        return weights / (weights @ weights)


@dataclass(frozen=True, eq=False)
class Axes:
    """The joints at q = 0, seen from the base, and the joints r and s (n if there is none)."""

    prismatic: tuple[bool, ...]
    directions: Array  # u_i, (n, 3)
    origins: Array  # of the frames E_i, (n, 3)
    frames: tuple[Frame, ...]
    gravity: Array
    r: int
    s: int

    def parallel(self, i: int, j: int) -> bool:
        return parallel(self.directions[i], self.directions[j])

    def along_gravity(self, i: int) -> bool:
        """Whether u_i // g; every direction is, if there is no gravity."""
        return parallel(self.directions[i], self.gravity)


def axes_of(chain: Chain) -> Axes:
    """The axes of a chain in units in which its offsets and gravity are about one."""
    frames = tuple(accumulate(chain.poses, Frame.__matmul__))
    directions = np.array([frame.rotation[:, 2] for frame in frames])
    n = chain.dof
    turning = [i for i in range(n) if not chain.prismatic[i]]
    r = turning[0] if turning else n
    s = next((i for i in turning if not parallel(directions[i], directions[r])), n)
    origins = np.array([frame.translation for frame in frames])
    return Axes(chain.prismatic, directions, origins, frames, chain.gravity, r, s)


def torque_set(chain: Chain) -> list[Element]:
    """The set of Theorem 5 (Theorem 2 of [Lin1992]): it determines the joint efforts.

    Of the two readings of delta_j, that of 1994 with k <= j is the right one. Without gravity some
    elements are redundant.
    """
    axes = axes_of(chain)
    found: list[Element] = []
    for j, prismatic in enumerate(axes.prismatic):
        if prismatic:
            found += [mass(j), *slide_moments(axes, j)]
        elif j >= axes.s:
            found += [*tensor_elements(j), *first_moments(j)]
        else:
            found += [inertia_about_axis(j), *(first_moments(j) if delta(axes, j) else ())]
    return found


def gravity_set(chain: Chain) -> list[Element]:
    """The set of Theorem 4: it determines the gravity load; empty without gravity."""
    axes = axes_of(chain)
    if not axes.gravity.any():
        return []
    found: list[Element] = []
    for i, prismatic in enumerate(axes.prismatic):
        if prismatic:
            found += [mass(i)] if lifts(axes, i) else []
        elif i >= axes.s or not axes.along_gravity(axes.r):
            found += first_moments(i)
    return found


# --- the theorems' conditions -------------------------------------------------------------------------


def delta(axes: Axes, j: int) -> bool:
    """delta_j of Theorem 5, for rotational j with r <= j < s: whether k_jx and k_jy have an effect.

    They have none if all joints up to j lie along u_r and gravity, and the rotational ones on one line.
    """
    along = axes.along_gravity(axes.r) and all(axes.parallel(k, axes.r) for k in range(j + 1))
    offsets = (axes.origins[j] - axes.origins[m] for m in range(axes.r, j) if not axes.prismatic[m])
    return not (along and all(parallel(s, axes.directions[axes.r]) for s in offsets))


def lifts(axes: Axes, i: int) -> bool:
    """sigma_i of Theorem 4, for translational i: whether u_i is not perpendicular to g in all postures.

    Between r and s the printed condition u_i // g must read u_r // g and u_i _|_ u_r, behind s u_r // g.
    """
    u, r, s = axes.directions, axes.r, axes.s
    if i < r:
        return not perpendicular(u[i], axes.gravity)
    if i < s:
        level = axes.along_gravity(r) and perpendicular(u[i], u[r])
        return not (level or (perpendicular(u[r], axes.gravity) and axes.parallel(i, r)))
    turning = [j for j in range(s, i) if not axes.prismatic[j]]
    upright = axes.along_gravity(r) and perpendicular(u[s], u[r])
    return not (upright and all(axes.parallel(j, s) for j in (*turning, i)))


def parallel(a: Array, b: Array) -> bool:
    """Whether the vectors are parallel or one of them is zero."""
    return bool(np.linalg.norm(np.cross(a, b)) < PARALLEL)


def perpendicular(a: Array, b: Array) -> bool:
    return bool(abs(a @ b) < PARALLEL)


# --- the elements -------------------------------------------------------------------------------------


def mass(i: int) -> Element:
    """m^_i."""
    return element(f"m{i + 1}^", i, {M: 1.0})


def first_moments(i: int, letters: str = "xy") -> list[Element]:
    """(k_i)_x, (k_i)_y and, if asked for, (k_i)_z."""
    return [element(f"k{i + 1}{letter}", i, {MX + "xyz".index(letter): 1.0}) for letter in letters]


def inertia_about_axis(j: int) -> Element:
    """(U_j)_33."""
    return element(f"U{j + 1}_33", j, {ZZ: 1.0})


def tensor_elements(j: int) -> list[Element]:
    """(U_j)_11 - (U_j)_22, (U_j)_33, (U_j)_12, (U_j)_13 and (U_j)_23."""
    products = [
        element(f"U{j + 1}_{label}", j, {k: 1.0}) for label, k in (("12", XY), ("13", XZ), ("23", YZ))
    ]
    return [element(f"U{j + 1}_11-22", j, {XX: 1.0, YY: -1.0}), inertia_about_axis(j), *products]


def slide_moments(axes: Axes, i: int) -> list[Element]:
    """What a slide needs of k_i: all behind s, kappa_1 and kappa_2 between r and s unless it is // u_r.

    With z the slide's axis and u = u_r, both in frame i, kappa_1 = (z x u) k, Eq. (53), and
    kappa_2 = (z - (u z) u) k, Eq. (54): k perpendicular to u_r.
    """
    if i > axes.s:
        return first_moments(i, "xyz")
    if i < axes.r or axes.parallel(i, axes.r):
        return []
    u = axes.frames[i].rotation.T @ axes.directions[axes.r]
    z = np.array([0.0, 0.0, 1.0])
    weights = (np.cross(z, u), z - (u @ z) * u)
    moments = [dict(zip((MX, MY, MZ), w, strict=True)) for w in weights]
    return [element(f"kappa{k + 1}_{i + 1}", i, terms) for k, terms in enumerate(moments)]


def element(name: str, body: int, terms: dict[int, float]) -> Element:
    """The element with these weights, by number of the constant; rounding is cleared."""
    weights = np.zeros(10)
    for k, weight in terms.items():
        weights[k] = 0.0 if abs(weight) < PARALLEL else weight
    return Element(name, body, weights)
