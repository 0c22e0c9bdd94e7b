"""The arm in space: where its links are, and the ellipsoid that would move as each of them does.

A uniform ellipsoid with the link's mass and with semi-axes squared five times the link's second moments per
mass has the link's inertia. Where a second moment is negative there is none: no body has such parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.report.data import Bodies
from dynid.robot import Joint, Robot
from dynid.spatial import Array, Frame, is_physical, parameters_to_com, pseudo_inertia, rotation_about

WIDEST = np.pi  # rad or m; limits further apart do not tell where the middle is


@dataclass(frozen=True, eq=False, kw_only=True)
class Body:
    """One link, lengths in m: `spread` is the matrix of an ellipsoid's squared semi-axes, in world axes."""

    name: str
    parent: int
    joint: Array  # (3,) where its joint sits
    axis: Array  # (3,) unit vector
    prismatic: bool
    mass: float
    com: Array  # (3,) in world axes; of a link without mass its joint
    local_com: Array  # (3,) in the link's frame
    principal: Array  # (3,) moments of inertia about the centre of mass, kg m²
    spread: Array | None  # (3, 3); None where there is no such ellipsoid
    physical: bool
    origins: str  # such as "6 measured, 4 prior"


def arm(robot: Robot, bodies: Bodies) -> list[Body]:
    """All links of the robot in one posture."""
    posture = usual_posture(robot) if bodies.posture is None else bodies.posture
    phi = bodies.parameters.reshape(-1, 10)
    found: list[Body] = []
    for number, (joint, (seat, pose)) in enumerate(zip(robot.joints, poses(robot, posture), strict=True)):
        mass, local, inertia = parameters_to_com(phi[number])
        found.append(
            Body(
                name=robot.links[number].name,
                parent=joint.parent,
                joint=seat.translation,
                axis=seat.rotation @ joint.axis,
                prismatic=joint.prismatic,
                mass=mass,
                com=pose.apply(local),
                local_com=local,
                principal=np.asarray(np.linalg.eigvalsh(inertia), dtype=np.float64),
                spread=_spread(phi[number], pose),
                physical=is_physical(phi[number]),
                origins=_origins(bodies.origins[10 * number : 10 * number + 10]),
            )
        )
    return found


def usual_posture(robot: Robot) -> Array:
    """Half-way between the limits, zero where these are far away, (n,)."""
    limits = [robot.joints[j].limits for j in robot.free]
    middles = [0.5 * (limit.lower + limit.upper) for limit in limits]
    return np.array([m if np.isfinite(m) and abs(m) < WIDEST else 0.0 for m in middles])


def poses(robot: Robot, q: Array) -> list[tuple[Frame, Frame]]:
    """Of every link, in the base's frame: the place of its joint, and its own frame; q is (n,)."""
    coordinate = dict(zip(robot.free, q.tolist(), strict=True))
    found: list[tuple[Frame, Frame]] = []
    for number, joint in enumerate(robot.joints):
        carrier = found[joint.parent][1] if joint.parent >= 0 else Frame()
        mimic = joint.mimic
        value = (
            coordinate[number] if mimic is None else mimic.multiplier * coordinate[mimic.joint] + mimic.offset
        )
        seat = carrier @ joint.before
        found.append((seat, seat @ _moved(joint, value) @ joint.after))
    return found


def _moved(joint: Joint, value: float) -> Frame:
    if joint.prismatic:
        return Frame(translation=value * joint.axis)
    return Frame(rotation_about(joint.axis, value))


def _spread(phi: Array, pose: Frame) -> Array | None:
    mass = float(phi[9])
    if not mass > 0.0:
        return None
    S = pseudo_inertia(phi)
    c = S[:3, 3] / mass
    second = S[:3, :3] / mass - np.outer(c, c)
    if np.linalg.eigvalsh(second)[0] < -1e-9 * np.trace(S[:3, :3]) / mass:
        return None
    return pose.rotation @ (5.0 * second) @ pose.rotation.T


def _origins(ten: tuple[str, ...]) -> str:
    counts = {name: ten.count(name) for name in dict.fromkeys(ten)}
    return ", ".join(f"{count} {name}" for name, count in counts.items())
