"""From the links and joints of a file to a `Robot`: one tree, fixed links lumped, joints numbered.

Readers collect `LinkRecord` and `JointRecord` and call `assemble`; what is common to all formats
(tree checks, order, lumping, locked joints, mimic joints) is done here, once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dynid.robot import NAN, JointKind, Limits
from dynid.spatial import Array, Frame, frozen


@dataclass(frozen=True, eq=False, kw_only=True)
class LinkRecord:
    """A link of a file; `parameters` are about and in the link's own frame, None where not given."""

    name: str
    parameters: Array | None = None
    where: str = ""  # place in the file, such as "line 12", for messages


@dataclass(frozen=True, eq=False, kw_only=True)
class JointRecord:
    """A joint of a file; the geometry is that of `dynid.robot`."""

    name: str
    kind: JointKind | Literal["fixed"]
    parent: str
    child: str
    before: Frame = field(default_factory=Frame)
    axis: Array = field(default_factory=lambda: frozen((0, 0, 1)))
    after: Frame = field(default_factory=Frame)
    limits: Limits = field(default_factory=Limits)
    mimic: tuple[str, float, float] | None = None  # joint, multiplier, offset
    armature: float = NAN
    viscous: float = NAN
    coulomb: float = NAN
    offset: float = NAN
    where: str = ""
