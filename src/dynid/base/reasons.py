"""Why a parameter has no effect, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dynid.base.columns import turning
from dynid.base.floating import THRESHOLD, Floating
from dynid.base.geometry import geometry_of
from dynid.base.rational import Exact
from dynid.base.structure import Arithmetic, Motion, motions
from dynid.robot import Robot
from dynid.spatial import PARAMETER_LETTERS, Array


@dataclass(frozen=True, eq=False)
class Freedom:
    """How a link can move as far as words need it, in its own frame."""

    axes: Array  # (k, 3): what it can turn about
    origin_moves: bool


def freedoms(moves: Sequence[Motion], arithmetic: Arithmetic) -> list[Freedom]:
    """The links' freedoms, from the motions of the joints alone."""
    return [
        Freedom(
            turning(motion, arithmetic),
            any(
                np.abs(velocity[3:].astype(float)).max() > THRESHOLD
                for velocity in (*motion.still.values(), *motion.swept)
            ),
        )
        for motion in moves
    ]


def no_effect_reasons(robot: Robot, model: str, names: Iterable[str]) -> dict[str, str]:
    """A sentence for each of the given parameters without effect on the model."""
    geometry = geometry_of(robot)
    arithmetic = Exact() if geometry.exact else Floating()
    links = freedoms(motions(geometry, arithmetic, inertia=True, gravity=False), arithmetic)
    gravity = bool(np.any(robot.gravity)) and model != "inertia"
    return {name: reason(name, model, links, gravity) for name in names}


def reason(name: str, model: str, links: Sequence[Freedom], gravity: bool) -> str:
    """Why the parameter `name` has no effect on the model."""
    letters, number = (
        name.rstrip("0123456789"),
        name.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
    )
    if letters not in PARAMETER_LETTERS:
        return "it belongs to motion, and the gravity torque is what the joints bear at rest"
    link = links[int(number) - 1]
    if len(letters) == 2 and letters[0] != "M":
        return inertia_reason(letters, number, model, link)
    if model == "gravity":
        return gravity_reason(letters, number)
    if letters == "M":
        return f"the origin of frame {number} never moves, so a mass placed there is never felt"
    return moment_reason(letters, number, link, gravity)


def inertia_reason(letters: str, number: str, model: str, link: Freedom) -> str:
    """About an entry of the inertia tensor."""
    if model == "gravity":
        return "gravity pulls on masses and first moments, not on moments of inertia"
    if len(link.axes) == 0:
        return f"link {number} slides and never turns, so its inertia tensor is never felt"
    return (
        f"link {number} only turns about {axis_text(link.axes[0])} of its frame, "
        f"and {letters}{number} is no part of the moment of inertia about that direction"
    )


def moment_reason(letters: str, number: str, link: Freedom, gravity: bool) -> str:
    """About a first moment."""
    if len(link.axes) == 0:
        return f"link {number} never turns, so where its mass sits makes no difference"
    along = link.axes[0] / np.linalg.norm(link.axes[0])
    if len(link.axes) == 1 and abs(along["XYZ".index(letters[1])]) > 1 - THRESHOLD:
        return (
            f"link {number} only turns about {axis_text(link.axes[0])} of its frame, "
            "and shifting its mass along that direction changes no motion"
        )
    weight = "gravity does no work when it turns" if gravity else "there is no gravity"
    return (
        f"the origin of frame {number} is never accelerated across the first moment, and {weight}: "
        "where the mass sits only shows in the moments of inertia, which count on their own"
    )


def gravity_reason(letters: str, number: str) -> str:
    """About a mass or first moment in the gravity torque."""
    what = (
        f"the origin of frame {number}"
        if letters == "M"
        else f"a point shifted along {letters[1].lower()} of frame {number}"
    )
    return f"as far as gravity can tell, {what} neither rises nor falls when the joints move"


def axis_text(axis: Array) -> str:
    """A direction in words: 'the z axis', or its components."""
    unit = axis / np.linalg.norm(axis)
    along = int(np.argmax(np.abs(unit)))
    if abs(unit[along]) > 1 - THRESHOLD:
        return f"the {'xyz'[along]} axis"
    x, y, z = unit * np.sign(unit[along])
    return f"the direction ({x:.3g}, {y:.3g}, {z:.3g})"
