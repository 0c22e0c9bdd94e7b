"""An oracle of last resort: rigid bodies as clouds of point masses, and Newton's law for each particle.

Nothing here knows an inertia tensor. The joint efforts follow from d'Alembert's principle,

    tau_k = sum over particles of m (a - g) . dp/dq_k

and the positions and accelerations from products of matrix exponentials and their time derivatives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from dynid.robot import Joint, Link, Robot
from dynid.spatial import Frame


@dataclass(frozen=True)
class Cloud:
    """Point masses fixed to a link, at `points` (k, 3) in the link's frame."""

    masses: np.ndarray
    points: np.ndarray

    @property
    def mass(self):
        return self.masses.sum()

    @property
    def com(self):
        return self.masses @ self.points / self.mass

    def moment(self, i, j, about=(0.0, 0.0, 0.0)):
        """Entry (i, j) of the inertia tensor, straight from its definition."""
        r = self.points - np.asarray(about)
        distances = np.sum(r * r, axis=1) if i == j else 0.0
        return float(self.masses @ (distances - r[:, i] * r[:, j]))

    def parameters(self):
        """XX XY XZ YY YZ ZZ MX MY MZ M."""
        entries = [self.moment(i, j) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
        return np.array([*entries, *(self.masses @ self.points), self.mass])

    def seen_from(self, frame: Frame):
        """The same particles, in the coordinates of the frame that `frame` is given in."""
        return Cloud(self.masses, self.points @ frame.rotation.T + frame.translation)


def random_cloud(rng, particles=5):
    return Cloud(rng.uniform(0.1, 2.0, particles), rng.normal(0.0, 0.3, (particles, 3)))


def random_frame(rng):
    return Frame(Rotation.random(rng=rng).as_matrix(), rng.normal(0.0, 0.4, 3))


def random_chain(rng, kinds=("revolute", "prismatic", "revolute", "revolute", "prismatic", "revolute")):
    """A serial robot in general position, its link frames off the joints."""
    joints = []
    for j, kind in enumerate(kinds):
        axis = rng.normal(size=3)
        joints.append(
            Joint(
                name=f"j{j + 1}",
                kind=kind,
                parent=j - 1,
                before=random_frame(rng),
                axis=axis / np.linalg.norm(axis),
                after=random_frame(rng),
            )
        )
    links = tuple(Link(name=f"l{j + 1}") for j in range(len(kinds)))
    return Robot(name="chain", joints=tuple(joints), links=links, gravity=rng.normal(0.0, 6.0, 3))


def homogeneous(frame: Frame):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = frame.rotation, frame.translation
    return T


def poses(robot, q, qd, qdd):
    """For every link: its pose in the base (4, 4), and the first and second time derivatives of it."""
    found = []
    for joint, x, xd, xdd in zip(robot.joints, q, qd, qdd, strict=True):
        S = np.zeros((4, 4))
        if joint.prismatic:
            S[:3, 3] = joint.axis
        else:
            S[:3, :3] = np.cross(np.eye(3), joint.axis)
        E = expm(S * x)
        before, after = homogeneous(joint.before), homogeneous(joint.after)
        B0 = before @ E @ after
        B1 = before @ S @ E @ after * xd
        B2 = before @ (S @ S * xd**2 + S * xdd) @ E @ after
        still = (np.eye(4), np.zeros((4, 4)), np.zeros((4, 4)))
        A0, A1, A2 = found[joint.parent] if joint.parent >= 0 else still
        found.append((A0 @ B0, A1 @ B0 + A0 @ B1, A2 @ B0 + 2.0 * A1 @ B1 + A0 @ B2))
    return found


def directions(robot, q):
    """For every joint: the derivative of every link's pose with respect to it, (links, 4, 4)."""
    zero = np.zeros(len(q))
    return [np.array([T1 for _, T1, _ in poses(robot, q, e, zero)]) for e in np.eye(len(q))]


def particle_torque(robot, clouds, q, qd, qdd):
    """Joint efforts, (n,), of clouds of particles carried by the links."""
    moved = poses(robot, q, qd, qdd)
    tau = np.zeros(len(q))
    for k, partial in enumerate(directions(robot, q)):
        for cloud, (_, _, T2), T1 in zip(clouds, moved, partial, strict=True):
            r = np.column_stack([cloud.points, np.ones(len(cloud.masses))])
            acceleration, direction = (r @ T2.T)[:, :3], (r @ T1.T)[:, :3]
            tau[k] += cloud.masses @ np.sum((acceleration - robot.gravity) * direction, axis=1)
    return tau


def newton_euler_torque(robot, bodies, q, qd, qdd):
    """Joint efforts, (n,), of rigid bodies (mass, first moment, tensor), about and in the link frames."""
    moved = poses(robot, q, qd, qdd)
    tau = np.zeros(len(q))
    for k, partial in enumerate(directions(robot, q)):
        for (mass, h, inertia), (T0, T1, T2), P in zip(bodies, moved, partial, strict=True):
            R = T0[:3, :3].T  # from base axes to link axes
            W = R @ T1[:3, :3]
            w, wd = vee(W), vee(R @ T2[:3, :3] - W @ W)
            a = R @ (T2[:3, 3] - robot.gravity)
            force = mass * a + np.cross(wd, h) + np.cross(w, np.cross(w, h))
            moment = inertia @ wd + np.cross(w, inertia @ w) + np.cross(h, a)
            tau[k] += force @ (R @ P[:3, 3]) + moment @ vee(R @ P[:3, :3])
    return tau


def vee(W):
    return np.array([W[2, 1], W[0, 2], W[1, 0]])
