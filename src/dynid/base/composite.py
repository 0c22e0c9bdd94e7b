"""Inertia constants of composite bodies: section 2 of [Lin1992].

Composite body i is link i with all it carries. Its ten parameters about and in frame E_i, whose z axis
is the axis of joint i, are a constant part and one that varies with the joints behind, Eqs. (12), (13):

    J^_i = U_i + V_i        c^_i = k_i + l_i        m^_i constant

Written as ten parameters (a tensor, a first moment, a mass), Lemma 1 is one rule. A joint hands on to
the body before it the part of its own body's constants that its motion leaves alone: of a rotation
about z diag(U22, U22, U33), (0, 0, kz) and m^, Eqs. (18) and (20); of a slide everything, at the place
where d = 0, Eqs. (22) and (24). The rest, and what varied before, makes the varying part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynid.base.modified_dh import modified_dh
from dynid.robot import Robot
from dynid.spatial import PARAMETER_LETTERS, Array, Frame, cross_matrix, frozen, parameter_transform

XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = range(len(PARAMETER_LETTERS))
ABOUT_Z, ALONG_Z = frozen((0, 0, 1, 0, 0, 0)), frozen((0, 0, 0, 0, 0, 1))  # (angular, linear) velocity


def _left_alone_by_a_turn() -> Array:
    """The constants (U22, U22, U33), kz and m^ that a rotation about z does not change, (10, 10)."""
    keep = np.zeros((10, 10))
    keep[[XX, YY, ZZ, MZ, M], [YY, YY, ZZ, MZ, M]] = 1.0
    return keep


LEFT_ALONE_BY_A_TURN = _left_alone_by_a_turn()


@dataclass(frozen=True, eq=False)
class Chain:
    """A serial robot in Lin's normal driving-axis frames: joint i acts about or along z of frame i."""

    prismatic: tuple[bool, ...]
    poses: tuple[Frame, ...]  # at q = 0: of each frame in the one before
    links: tuple[Frame, ...]  # of each link's own frame, in which its parameters are, in frame i
    gravity: Array  # (3,), in the frame before the first

    @property
    def dof(self) -> int:
        return len(self.poses)

    def scaled(self, length: float, acceleration: float) -> Chain:
        """The chain with lengths and gravity counted in these units."""
        poses, links = (
            tuple(Frame(frame.rotation, frame.translation / length) for frame in frames)
            for frames in (self.poses, self.links)
        )
        return Chain(self.prismatic, poses, links, self.gravity / acceleration)

    def pose(self, i: int, q: float) -> Frame:
        """Frame i in the frame before at the joint position q."""
        R, p = self.poses[i].rotation, self.poses[i].translation
        if self.prismatic[i]:
            return Frame(R, p + q * R[:, 2])
        c, s = np.cos(q), np.sin(q)
        return Frame(R @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), p)

    def pose_of_constants(self, i: int) -> Frame:
        """Where frame i stands when its constants are handed on: any angle will do, and d = 0."""
        R, p = self.poses[i].rotation, self.poses[i].translation
        return Frame(R, p - (p @ R[:, 2]) * R[:, 2]) if self.prismatic[i] else self.poses[i]


def chain_of(robot: Robot) -> Chain:
    """The chain of a serial robot in its modified Denavit-Hartenberg frames; others raise a RobotError."""
    table = modified_dh(robot)
    poses = tuple(row.frame() for row in table.rows)
    return Chain(tuple(row.prismatic for row in table.rows), poses, table.links, table.gravity)


# --- Lemma 1 and Algorithm 1 --------------------------------------------------------------------------


def composite_constants(chain: Chain) -> Array:
    """(U, k, m^) of each composite body as linear maps of all links' parameters, (n, 10, 10 n).

    Eqs. (14), (16), (18), (20), (22) and (24) of Lemma 1.
    """
    n = chain.dof
    maps = np.zeros((n, 10, 10 * n))
    for i in reversed(range(n)):
        maps[i, :, 10 * i : 10 * i + 10] = parameter_transform(chain.links[i])
        if i + 1 < n:
            maps[i] += parameter_transform(chain.pose_of_constants(i + 1)) @ left_alone(
                chain, i + 1, maps[i + 1]
            )
    return maps


def left_alone(chain: Chain, i: int, constants: Array) -> Array:
    """The part of the constants (10, ...) of body i that joint i leaves alone."""
    return constants if chain.prismatic[i] else LEFT_ALONE_BY_A_TURN @ constants


def varying_parts(chain: Chain, constants: Array, q: ArrayLike) -> Array:
    """(V, l, 0) of each composite body at the posture q (n,), from its constants: (n, 10, ...) both.

    Algorithm 1, that is Eqs. (15), (17), (19), (21), (23) and (25). Extra axes of `constants` are carried
    along, so that whole sets of constants go through at once. Only what a joint does not leave alone
    enters, so constants outside the set of Theorem 2 may be anything.
    """
    angles = np.asarray(q, dtype=np.float64)
    parts = np.zeros_like(constants)
    for i in reversed(range(1, chain.dof)):
        shared = left_alone(chain, i, constants[i])
        turned = parameter_transform(chain.pose(i, float(angles[i])))
        parts[i - 1] = turned @ (parts[i] + constants[i] - shared)
        if chain.prismatic[i]:
            parts[i - 1] += (turned - parameter_transform(chain.pose_of_constants(i))) @ shared
    return parts


# --- inertia matrix and gravity -----------------------------------------------------------------------


def inertia_and_gravity(chain: Chain, constants: Array, q: ArrayLike) -> tuple[Array, Array]:
    """H (n, n, ...) and gravity load (n, ...) at q (n,) from constants (n, 10, ...), by Eqs. (9) and (11)."""
    bodies = constants + varying_parts(chain, constants, q)
    n, extra = chain.dof, constants.shape[2:]
    H, load = np.zeros((n, n, *extra)), np.zeros((n, *extra))
    for i, velocities in enumerate(velocities_of_frames(chain, q)):
        efforts = effort_rows(chain.prismatic[i], velocities) @ bodies[i]
        load[i] = efforts[0]
        H[i, : i + 1] = H[: i + 1, i] = efforts[1:]
    return H, load


def velocities_of_frames(chain: Chain, q: ArrayLike) -> list[Array]:
    """For each frame i, in its axes, what moves it: rows (angular, linear), (i + 2, 6).

    First the upward acceleration -g that stands for gravity, then (u_m, a_im) or (0, u_m) for the joints
    m = 0 ... i, with a_im = u_m x s of Eq. (10).
    """
    angles = np.asarray(q, dtype=np.float64)
    rows = np.concatenate([np.zeros(3), -chain.gravity])[None]
    found: list[Array] = []
    for i, prismatic in enumerate(chain.prismatic):
        pose = chain.pose(i, float(angles[i]))
        angular = rows[:, :3] @ pose.rotation
        linear = (rows[:, 3:] + rows[:, :3] @ cross_matrix(pose.translation)) @ pose.rotation
        rows = np.vstack([np.hstack([angular, linear]), ALONG_Z if prismatic else ABOUT_Z])
        found.append(rows)
    return found


def effort_rows(prismatic: bool, velocities: Array) -> Array:
    """Effort of the joint per unit of the ten parameters of its body, (k, 10), for velocities (k, 6).

    The z component of J w + c x v for a rotation, of m v + w x c for a slide: with the velocities above
    these are the four terms of Eq. (9) and, for -g, the two of Eq. (11).
    """
    angular, linear = velocities[:, :3], velocities[:, 3:]
    rows = np.zeros((len(velocities), 10))
    if prismatic:
        rows[:, MX], rows[:, MY], rows[:, M] = -angular[:, 1], angular[:, 0], linear[:, 2]
    else:
        rows[:, [XZ, YZ, ZZ]] = angular
        rows[:, MX], rows[:, MY] = linear[:, 1], -linear[:, 0]
    return rows
