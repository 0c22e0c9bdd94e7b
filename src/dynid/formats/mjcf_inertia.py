"""The inertial parameters of an MJCF body: stated by <inertial>, or inferred from its geoms.

Inference follows MuJoCo: each geom is a homogeneous solid with its `mass`, or with its `density` (1000
where it has none). Solids given by a mesh, and shells, cannot be inferred here; a body that depends on
one has unknown parameters, which are NaN, never a guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import numpy as np

from dynid.formats.mjcf_syntax import (
    Placed,
    Settings,
    flag,
    keyword,
    read_pose,
    read_rotation,
    shortest_rotation_of_z,
)
from dynid.formats.xml_source import XmlElement
from dynid.spatial import Array, Frame, parameters_from_com, parameters_to_com, tensor

WATER = 1000.0  # kg/m^3, MuJoCo's default density

_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
_MESHES = ("mesh", "sdf")
_MASSLESS = ("plane", "hfield")


def body_parameters(inertial: Placed | None, geoms: Sequence[Placed], settings: Settings) -> Array | None:
    """Ten parameters in the body's frame: NaN where a mesh or a shell decides, None where not given."""
    solids: list[Array] = []
    if settings.inertia_from_geom == "true" or (settings.inertia_from_geom == "auto" and inertial is None):
        solids = [_geom_parameters(geom, settings) for geom in geoms if _counts(geom.element, settings)]
    if solids:
        parameters = np.sum(solids, axis=0)
        body = parameters_to_com(parameters) if np.isfinite(parameters).all() else None
    elif inertial is not None:
        body = _stated(inertial, settings)
    elif settings.least_mass > 0.0 or settings.least_inertia > 0.0:
        body = 0.0, np.zeros(3), np.zeros((3, 3))  # an empty body: what the bounds add sits at its origin
    else:
        return None
    return np.full(10, np.nan) if body is None else parameters_from_com(*_corrected(*body, settings))


def _stated(placed: Placed, settings: Settings) -> tuple[float, Array, Array]:
    """(mass, centre of mass, tensor about it) that <inertial> gives, in the body's frame."""
    inertial, frame = placed.element, placed.frame
    turned = [
        name
        for name in ("diaginertia", "quat", "axisangle", "xyaxes", "zaxis", "euler")
        if name in inertial.attributes
    ]
    if "fullinertia" in inertial.attributes and turned:
        raise inertial.error(f"fullinertia and {turned[0]} exclude each other", "fullinertia")
    if "fullinertia" in inertial.attributes:
        xx, yy, zz, xy, xz, yz = inertial.numbers("fullinertia", 6, "kg m^2").tolist()
        moments = tensor([xx, xy, xz, yy, yz, zz])
    else:
        moments = np.diag(inertial.numbers("diaginertia", 3, "kg m^2", (0, 0, 0)))
    R = frame.rotation @ read_rotation(inertial, settings)
    com = frame.apply(inertial.numbers("pos", 3, "metres"))
    return inertial.number("mass", "kg"), com, R @ moments @ R.T


def _corrected(mass: float, com: Array, inertia: Array, settings: Settings) -> tuple[float, Array, Array]:
    """A body after <compiler boundmass boundinertia balanceinertia>."""
    moments, axes = np.linalg.eigh(inertia)
    bounded = np.maximum(moments, settings.least_inertia)
    if settings.balance_inertia and bounded[0] + bounded[1] < bounded[2]:
        bounded = np.full(3, bounded.sum() / 3.0)
    if settings.least_inertia > 0.0 or settings.balance_inertia:
        inertia = axes @ np.diag(bounded) @ axes.T
    return max(mass, settings.least_mass) if settings.least_mass > 0.0 else mass, com, inertia


# --- geoms -------------------------------------------------------------------------------------


def _counts(geom: XmlElement, settings: Settings) -> bool:
    """Whether a geom adds to the inertia of its body: it must have mass and be of a group that counts."""
    first, last = settings.geom_groups
    group = geom.numbers("group", 1, default=[0])[0]
    return first <= group <= last and _kind(geom) not in _MASSLESS and _mass_or_density(geom)[1] > 0.0


def _geom_parameters(placed: Placed, settings: Settings) -> Array:
    """Ten parameters of one geom in the body's frame, NaN where they cannot be inferred."""
    geom = placed.element
    kind = _kind(geom)
    if kind in _MESHES or "mesh" in geom.attributes or flag(geom, "shellinertia", False):
        return np.full(10, np.nan)
    stated, amount = _mass_or_density(geom)
    size, pose = _size_and_pose(geom, kind, settings)
    volume, moments = _solid(kind, size)
    mass = amount if stated == "mass" else amount * volume
    where = placed.frame @ pose
    R = where.rotation
    return parameters_from_com(mass, where.translation, mass * (R * moments) @ R.T)


def _kind(geom: XmlElement) -> str:
    return keyword(geom, "type", (*_SIZES, *_MESHES, *_MASSLESS), "sphere")


def _mass_or_density(geom: XmlElement) -> tuple[str, float]:
    """Which of the two decides (the mass, if it is given), and its value."""
    stated = "mass" if "mass" in geom.attributes else "density"
    amount = geom.number(stated, "kg" if stated == "mass" else "kg/m^3", WATER)
    if amount < 0.0:
        raise geom.error("must not be negative", stated)
    return stated, amount


def _size_and_pose(geom: XmlElement, kind: str, settings: Settings) -> tuple[list[float], Frame]:
    """Half sizes of a solid and the frame of its centre; `fromto` gives the pose and the last half size."""
    size = geom.numbers("size", range(1, 4), "metres").tolist()
    if "fromto" in geom.attributes:
        ends = geom.numbers("fromto", 6, "metres")
        along = ends[3:] - ends[:3]
        length = float(np.linalg.norm(along))
        if kind == "sphere":
            raise geom.error("a sphere has no ends: valid are capsule, cylinder, ellipsoid and box", "fromto")
        if length < 1e-14:
            raise geom.error("the two ends coincide", "fromto")
        size = [*[size[0]] * (_SIZES[kind] - 1), length / 2.0]
        pose = Frame(shortest_rotation_of_z(along / length), (ends[:3] + ends[3:]) / 2.0)
    else:
        pose = read_pose(geom, settings)
    needed = size[: _SIZES[kind]]
    if len(needed) < _SIZES[kind] or min(needed) <= 0.0:
        raise geom.error(f"a {kind} needs {_SIZES[kind]} positive sizes", "size")
    return needed, pose


def _solid(kind: str, size: list[float]) -> tuple[float, Array]:
    """Volume of a homogeneous solid and its principal moments per unit of mass, (3,), about its centre."""
    match kind, size:
        case "sphere", [r]:
            return 4 / 3 * pi * r**3, np.full(3, 0.4 * r * r)
        case "cylinder", [r, h]:
            across = r * r / 4 + h * h / 3
            return 2 * pi * r * r * h, np.array([across, across, r * r / 2])
        case "capsule", [r, h]:
            ball, tube = 4 / 3 * pi * r**3, 2 * pi * r * r * h
            share = ball / (ball + tube)  # the two half balls, with centres 3/8 r beyond the tube's ends
            across = share * (0.4 * r * r + h * h + 0.75 * r * h) + (1 - share) * (r * r / 4 + h * h / 3)
            return ball + tube, np.array([across, across, share * 0.4 * r * r + (1 - share) * r * r / 2])
        case _, [a, b, c]:
            full, part = (8.0, 3.0) if kind == "box" else (4 / 3 * pi, 5.0)
            squares = np.array([b * b + c * c, a * a + c * c, a * a + b * b])
            return full * a * b * c, squares / part
        case _:
            raise AssertionError(f"{len(size)} sizes of a {kind}")
