"""Inverse dynamics by d'Alembert's principle in world axes: slow, plain, and written apart from the package.

It shares with the package the data of `Robot` and no formula, so that it can serve as an oracle: every link's
inertial force and moment are projected on the motions of the free joints (mimic joints included), instead of
being passed down the tree. One sample at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.robot import Robot


@dataclass
class Motion:
    """A link's frame in world axes: pose, rates, accelerations and Jacobians, (3, n) each."""

    R: np.ndarray
    p: np.ndarray
    w: np.ndarray
    wd: np.ndarray
    a: np.ndarray  # acceleration of the origin
    Jw: np.ndarray
    Jv: np.ndarray


def rnea(robot: Robot, parameters, q, qd, qdd) -> np.ndarray:
    """Joint efforts, (n,), of one sample; `parameters` is (10 * links,) or None for the robot's own."""
    phi = np.asarray(robot.parameters if parameters is None else parameters, dtype=float).reshape(-1, 10)
    tau = np.zeros(robot.dof)
    for link, motion in zip(phi, motions(robot, q, qd, qdd), strict=True):
        xx, xy, xz, yy, yz, zz, *first_moment, m = link
        I = motion.R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ motion.R.T  # noqa: E741
        h = motion.R @ first_moment
        a, w, wd = motion.a - robot.gravity, motion.w, motion.wd
        force = m * a + np.cross(wd, h) + np.cross(w, np.cross(w, h))
        moment = I @ wd + np.cross(w, I @ w) + np.cross(h, a)
        tau += motion.Jv.T @ force + motion.Jw.T @ moment
    return tau


def motions(robot: Robot, q, qd, qdd) -> list[Motion]:
    """How every link moves, in the robot's order."""
    n = robot.dof
    column = {joint: k for k, joint in enumerate(robot.free)}
    zero = np.zeros(3)
    base = Motion(np.eye(3), zero, zero, zero, zero, np.zeros((3, n)), np.zeros((3, n)))
    done: list[Motion] = []
    for number, joint in enumerate(robot.joints):
        ratio, shift, master = 1.0, 0.0, number
        if joint.mimic is not None:
            ratio, shift, master = joint.mimic.multiplier, joint.mimic.offset, joint.mimic.joint
        k = column[master]
        share = np.zeros(n)
        share[k] = ratio
        carrier = base if joint.parent < 0 else done[joint.parent]
        done.append(_next(carrier, joint, ratio * q[k] + shift, ratio * qd[k], ratio * qdd[k], share))
    return done


def _next(carrier: Motion, joint, q: float, qd: float, qdd: float, share: np.ndarray) -> Motion:
    """The link behind a joint; `share`, (n,), is the joint's rate per unit rate of the free joints."""
    R = carrier.R @ joint.before.rotation
    origin = carrier.p + carrier.R @ joint.before.translation
    e = R @ joint.axis
    w, wd, Jw = carrier.w, carrier.wd, carrier.Jw
    if joint.prismatic:
        p = origin + e * q + R @ joint.after.translation
        r = p - carrier.p
        a = carrier.a + np.cross(wd, r) + np.cross(w, np.cross(w, r)) + e * qdd + 2 * np.cross(w, e * qd)
        Jv = carrier.Jv + np.cross(Jw, r, axis=0) + np.outer(e, share)
        return Motion(R @ joint.after.rotation, p, w, wd, a, Jw, Jv)
    R = R @ rodrigues(joint.axis, q)
    r, s = origin - carrier.p, R @ joint.after.translation
    a = carrier.a + np.cross(wd, r) + np.cross(w, np.cross(w, r))
    wd = wd + e * qdd + np.cross(w, e * qd)
    w = w + e * qd
    a = a + np.cross(wd, s) + np.cross(w, np.cross(w, s))
    Jv = carrier.Jv + np.cross(Jw, r + s, axis=0) + np.outer(np.cross(e, s), share)
    return Motion(R @ joint.after.rotation, origin + s, w, wd, a, Jw + np.outer(e, share), Jv)


def rodrigues(axis, angle: float) -> np.ndarray:
    """Rotation about a unit vector, entry by entry."""
    x, y, z = axis
    c, s = np.cos(angle), np.sin(angle)
    v = 1 - c
    return np.array(
        [
            [c + x * x * v, x * y * v - z * s, x * z * v + y * s],
            [y * x * v + z * s, c + y * y * v, y * z * v - x * s],
            [z * x * v - y * s, z * y * v + x * s, c + z * z * v],
        ]
    )
