"""Frames and units that are free to choose: no choice changes a torque, but a good one makes code cheaper.

The frame of a body may slide along its joint's axis, the frame of a last body may turn about it, and lengths
may be measured in any unit: with a unit of 0.4318 m all products with that length vanish.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np

from dynid.mechanism import Body, Mechanism
from dynid.spatial import Array, Frame, frozen, rotation_x, rotation_z

ROUNDING = 1e-14  # lengths that differ less than this, relatively, are the same


def slid(mech: Mechanism, amounts: list[float]) -> Mechanism:
    """The mechanism with the frame of each body slid along its joint's axis."""
    shifts = [Frame(None, (0.0, 0.0, amount)) for amount in amounts]
    bodies: list[Body] = []
    for body, shift in zip(mech.bodies, shifts, strict=True):
        placement = body.placement @ shift
        if body.parent >= 0:
            placement = shifts[body.parent].inverse() @ placement
        bodies.append(replace(body, placement=placement, link=shift.inverse() @ body.link))
    return replace(mech, bodies=tuple(bodies))


def slides_to(mech: Mechanism, slides: tuple[int, ...]) -> list[float]:
    """How far each frame slides: 0 stays; 1 cancels the offset of its first child along its axis; 2 its own
    offset from its parent along its axis."""
    amounts = [0.0] * len(slides)
    for j in reversed(range(len(slides))):
        body = mech.bodies[j]
        if slides[j] == 2:
            amounts[j] = -float(body.placement.rotation[:, 2] @ body.placement.translation)
        elif slides[j] == 1:
            children = [k for k, other in enumerate(mech.bodies) if other.parent == j]
            if children:
                child = mech.bodies[children[0]].placement
                along = child.rotation[2, 2]
                amounts[j] = float(child.translation[2] + along * amounts[children[0]])
    return amounts


def aligned(mech: Mechanism) -> Mechanism:
    """The mechanism with frames turned about their joints' axes so that a twist of axes is one about x.

    Any rotation from a body to the next is Rz(before) Rx(twist) Rz(after). The frame of the body takes the
    first turn, for the sake of its first child, and the joint's variable of the next body the last one. What
    remains is a modified Denavit-Hartenberg twist, or nothing where axes are parallel.
    """
    bodies = list(mech.bodies)
    for j in range(len(bodies)):
        before, twist, after = _about_zxz(bodies[j].placement.rotation)
        p = bodies[j].parent
        first = p >= 0 and not bodies[p].prismatic and all(other.parent != p for other in bodies[:j])
        if first:
            for k, other in enumerate(bodies):
                if other.parent == p:
                    bodies[k] = replace(other, placement=Frame(rotation_z(-before)) @ other.placement)
            own = bodies[p]
            link = Frame(rotation_z(-before)) @ own.link
            bodies[p] = replace(own, offset=own.offset + before, link=link)
        if not bodies[j].prismatic and (first or p < 0):
            R = rotation_x(twist) if first else rotation_z(before) @ rotation_x(twist)
            placement = Frame(R, bodies[j].placement.translation)
            bodies[j] = replace(bodies[j], placement=placement, offset=bodies[j].offset + after)
    return replace(mech, bodies=tuple(bodies))


def _about_zxz(R: Array) -> tuple[float, float, float]:
    """Angles with Rz(before) Rx(twist) Rz(after) = R; no turn before where the axes are parallel."""
    twist = math.atan2(math.hypot(R[0, 2], R[1, 2]), R[2, 2])
    if math.hypot(R[0, 2], R[1, 2]) == 0.0:
        return 0.0, twist, math.atan2(R[1, 0] * R[2, 2], R[0, 0])
    return math.atan2(R[0, 2], -R[1, 2]), twist, math.atan2(R[2, 0], R[2, 1])


def turned(mech: Mechanism, values: Array) -> Mechanism:
    """The mechanism with the frames of its last bodies turned about their axes so that hy vanishes."""
    parents = {body.parent for body in mech.bodies}
    bodies = list(mech.bodies)
    for j, body in enumerate(bodies):
        (hx, *hx_runtime), (hy, *hy_runtime) = np.reshape(values[10 * j + 1 : 10 * j + 3], (2, -1)).tolist()
        if j in parents or body.prismatic or hy == 0.0 or any((*hx_runtime, *hy_runtime)):
            continue
        angle = math.atan2(hy, hx)
        link = Frame(rotation_z(-angle)) @ body.link
        bodies[j] = replace(body, offset=body.offset + angle, link=link)
    return replace(mech, bodies=tuple(bodies))


# --- units of length ----------------------------------------------------------------------------------


def worthy_units(mech: Mechanism, values: Array) -> list[float]:
    """Units in which some number of the equations is one, m; those that serve most numbers come first.

    These are the lengths of the mechanism, the length over which gravity would be 1 per second squared, and
    the inverses of first moments.
    """
    serves: Counter[float] = Counter()
    lengths = [abs(x) for body in mech.bodies for x in body.placement.translation.tolist()]
    lengths += [abs(x) for x in mech.gravity]
    if values.ndim == 1:
        first = values[: 10 * len(mech.bodies)].reshape(-1, 10)[:, 1:4]
        lengths += [1.0 / abs(x) for x in first.ravel().tolist() if x]
    for length in lengths:
        known = [other for other in serves if abs(other - length) <= ROUNDING * length]
        if length > 0.0:
            serves[known[0] if known else length] += 1
    return [length for length, _ in serves.most_common()]


def measured_in(mech: Mechanism, values: Array, unit: float) -> tuple[Mechanism, Array]:
    """The mechanism and its body parameters with lengths in this unit, and torques as they were.

    With lengths r / u forces are u f, first moments u h and masses u^2 m, so that every moment r x f, h x a
    and J U remains. What slides does so by q / u and feels f = (u f) / u: both are its multiplier's doing.
    """
    bodies = tuple(
        replace(
            body,
            placement=Frame(body.placement.rotation, _shares(body.placement.translation, unit)),
            multiplier=body.multiplier / unit if body.prismatic else body.multiplier,
            offset=body.offset / unit if body.prismatic else body.offset,
        )
        for body in mech.bodies
    )
    scaled = np.array(values)
    for k in range(0, 10 * len(bodies), 10):
        scaled[k] *= unit * unit
        scaled[k + 1 : k + 4] = _shares(scaled[k + 1 : k + 4], 1.0 / unit)
    x, y, z = _shares(np.array(mech.gravity), unit).tolist()
    return replace(mech, bodies=bodies, gravity=(x, y, z)), scaled


def _shares(x: Array, unit: float) -> Array:
    """x / unit, exactly one where it is but for rounding."""
    shares = x / unit
    return frozen(np.where(np.abs(np.abs(shares) - 1.0) <= ROUNDING, np.sign(shares), shares))
