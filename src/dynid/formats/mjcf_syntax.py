"""How an MJCF file says things: compiler settings, default classes, names and poses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import atan2, pi
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import choices
from dynid.formats.xml_source import XmlElement
from dynid.spatial import (
    Array,
    Frame,
    rotation_about,
    rotation_quaternion,
    rotation_x,
    rotation_y,
    rotation_z,
    snap,
)

ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")

# What MuJoCo's schema allows on the elements read here: a misspelt 'damping' must not vanish unnoticed.
ATTRIBUTES: Mapping[str, frozenset[str]] = {
    tag: frozenset(names.split())
    for tag, names in {
        "compiler": """alignfree angle assetdir autolimits balanceinertia boundinertia boundmass conflict
            convexhull coordinate discardvisual eulerseq exactmeshinertia fitaabb fusestatic inertiafromgeom
            inertiagrouprange meshdir passthrough savecanonical savecompiled saveinertial settotalmass
            strippath texturedir usethread""",
        "body": """axisangle childclass euler fuse gravcomp mocap name pos quat simple sleep user xyaxes
            zaxis""",
        "frame": "axisangle childclass euler name pos quat xyaxes zaxis",
        "inertial": "axisangle diaginertia euler fullinertia mass pos quat xyaxes zaxis",
        "joint": """actuatorfrclimited actuatorfrcrange actuatorgravcomp armature axis class damping
            frictionloss group limited margin name pos range ref solimpfriction solimplimit solreffriction
            solreflimit springdamper springref springyield stiffness type user""",
        "freejoint": "align group name",
        "geom": """adhesion axisangle castshadow class conaffinity condim contype density euler fitscale
            fluidcoef fluidshape friction fromto gap group hfield margin mass material mesh name pos priority
            quat rgba shellinertia size solimp solmix solref surfacevel type user xyaxes zaxis""",
    }.items()
}


def slips(root: XmlElement) -> Iterator[str]:
    """Notes on attributes that MJCF does not have; they may be slips of the pen."""
    for part in ("compiler", "default", "worldbody"):
        for element in walk(section(root, part)):
            valid = ATTRIBUTES.get(element.tag, frozenset(element.attributes))
            for name in sorted(set(element.attributes) - valid):
                known = choices(name, sorted(valid))
                yield f"{element.where}: <{element.tag}>: ignored attribute {known}"


def keyword(element: XmlElement, name: str, valid: tuple[str, ...], default: str) -> str:
    """An attribute that is one of a few words."""
    value = element.text(name, default)
    if value not in valid:
        raise element.error(choices(value, valid), name)
    return value


def flag(element: XmlElement, name: str, default: bool) -> bool:
    return keyword(element, name, ("true", "false"), "true" if default else "false") == "true"


def walk(element: XmlElement) -> Iterator[XmlElement]:
    """The element and all below it, in file order."""
    yield element
    for child in element:
        yield from walk(child)


def section(root: XmlElement, tag: str) -> XmlElement:
    """All top-level sections called `tag` as one: of an attribute given twice, the last one counts."""
    attributes: dict[str, str] = {}
    children: list[XmlElement] = []
    line = root.line
    for part in root.all(tag):
        attributes |= part.attributes
        children += part.children
        line = part.line
    return XmlElement(tag, MappingProxyType(attributes), tuple(children), line, root.source)


# --- <compiler> --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Placed:
    """An element of a body, and the frame of the body in which it counts (a <frame> may lie between)."""

    element: XmlElement
    frame: Frame


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What <compiler> says about how to read the rest."""

    degrees: bool
    eulerseq: str
    autolimits: bool
    inertia_from_geom: str  # "auto": where there is no <inertial>; "true": always; "false": never
    geom_groups: tuple[int, int]
    balance_inertia: bool
    least_mass: float
    least_inertia: float
    total_mass: float | None

    @property
    def angle(self) -> float:
        """One unit of angle of the file in radians."""
        return pi / 180.0 if self.degrees else 1.0


def read_settings(root: XmlElement) -> Settings:
    compiler = section(root, "compiler")
    if keyword(compiler, "coordinate", ("local", "global"), "local") == "global":
        raise compiler.error("global coordinates are not read; MuJoCo itself dropped them: valid is 'local'")
    eulerseq = compiler.text("eulerseq", "xyz")
    if len(eulerseq) != 3 or not set(eulerseq) <= set("xyzXYZ"):
        raise compiler.error("expected three letters of x, y, z, X, Y, Z", "eulerseq")
    first, last = compiler.numbers("inertiagrouprange", 2, default=(0, 5))
    total = compiler.number("settotalmass", "kg", -1.0)
    return Settings(
        degrees=keyword(compiler, "angle", ("degree", "radian"), "degree") == "degree",
        eulerseq=eulerseq,
        autolimits=flag(compiler, "autolimits", True),
        inertia_from_geom=keyword(compiler, "inertiafromgeom", ("auto", "true", "false"), "auto"),
        geom_groups=(int(first), int(last)),
        balance_inertia=flag(compiler, "balanceinertia", False),
        least_mass=compiler.number("boundmass", "kg", 0.0),
        least_inertia=compiler.number("boundinertia", "kg m^2", 0.0),
        total_mass=total if total > 0.0 else None,
    )


# --- <default> ---------------------------------------------------------------------------------

MAIN = "main"
_Attributes = Mapping[str, str]


@dataclass(frozen=True)
class Classes:
    """Default classes: for each, the attributes that an element of some tag starts from."""

    attributes: Mapping[str, Mapping[str, _Attributes]]  # class, then tag

    def complete(self, element: XmlElement, inherited: str, tag: str | None = None) -> XmlElement:
        """The element with what it leaves unsaid taken from its class, or else from the `inherited` one."""
        name = element.text("class", inherited)
        if name not in self.attributes:
            raise element.error(f"the default class {choices(name, self.attributes)}")
        defaults = self.attributes[name].get(tag or element.tag, {})
        return replace(element, attributes=MappingProxyType(_overlay(defaults, element.attributes)))


def read_classes(root: XmlElement) -> Classes:
    """All default classes, each with what it inherits from the classes around it."""
    found: dict[str, dict[str, _Attributes]] = {MAIN: {}}

    def collect(block: XmlElement, name: str, inherited: Mapping[str, _Attributes]) -> None:
        found[name] = dict(inherited)
        for child in block:
            if child.tag != "default":
                found[name][child.tag] = _overlay(found[name].get(child.tag, {}), child.attributes)
        for child in block.all("default"):
            inner = child.text("class")
            if inner in found:
                raise child.error("this default class exists already", "class")
            collect(child, inner, found[name])

    for block in root.all("default"):
        collect(block, MAIN, found[MAIN])
        found[block.text("class", MAIN)] = found[MAIN]  # older files may give the outermost class a name
    return Classes(found)


def _overlay(defaults: _Attributes, own: _Attributes) -> dict[str, str]:
    """`own` over `defaults`: any orientation replaces any other, a short size keeps the other's rest."""
    if any(name in own for name in ORIENTATIONS):
        defaults = {name: text for name, text in defaults.items() if name not in ORIENTATIONS}
    merged = {**defaults, **own}
    if "size" in defaults and "size" in own:
        size = own["size"].split()
        merged["size"] = " ".join(size + defaults["size"].split()[len(size) :])
    return merged


# --- names -------------------------------------------------------------------------------------


@dataclass
class Names:
    """Names of one kind of element: those of the file, and unique ones for what has none."""

    prefix: str
    taken: set[str] = field(default_factory=set[str])
    count: int = 0

    def of(self, element: XmlElement) -> str:
        """The element's own name, or the prefix with its number among all elements of its kind."""
        self.count += 1
        return element.text("name", "") or self.unique(f"{self.prefix}{self.count}")

    def unique(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name


def names_in(root: XmlElement, prefix: str, tags: tuple[str, ...]) -> Names:
    """A source of names for the elements `tags` inside <worldbody>."""
    bodies = section(root, "worldbody")
    return Names(prefix, {element.text("name", "") for element in walk(bodies) if element.tag in tags})


# --- poses -------------------------------------------------------------------------------------


def read_pose(element: XmlElement, settings: Settings) -> Frame:
    """The frame that `pos` and one of the five kinds of orientation describe."""
    return Frame(read_rotation(element, settings), element.numbers("pos", 3, "metres", (0, 0, 0)))


def read_rotation(element: XmlElement, settings: Settings) -> Array:
    """Rotation (3, 3) of an element; the identity where it gives none."""
    given = [name for name in ORIENTATIONS if name in element.attributes]
    if len(given) > 1:
        raise element.error(f"has {' and '.join(given)}; one orientation is valid")
    match given:
        case ["quat"]:
            quat = element.numbers("quat", 4)
            unit_vector(element, "quat", quat)
            return rotation_quaternion(*quat.tolist())
        case ["axisangle"]:
            *axis, angle = element.numbers("axisangle", 4).tolist()
            return rotation_about(unit_vector(element, "axisangle", axis), angle * settings.angle)
        case ["xyaxes"]:
            six = element.numbers("xyaxes", 6)
            x = unit_vector(element, "xyaxes", six[:3])
            y = unit_vector(element, "xyaxes", six[3:] - x * (x @ six[3:]))
            return snap(np.column_stack([x, y, np.cross(x, y)]))
        case ["zaxis"]:
            return shortest_rotation_of_z(unit_vector(element, "zaxis", element.numbers("zaxis", 3)))
        case ["euler"]:
            return _euler(settings.eulerseq, element.numbers("euler", 3) * settings.angle)
        case _:
            return np.eye(3)


def _euler(sequence: str, angles: Array) -> Array:
    """Three turns in order: about the axes as they have turned (lower case) or as they were (upper case)."""
    about = {"x": rotation_x, "y": rotation_y, "z": rotation_z}
    rotation = np.eye(3)
    for letter, angle in zip(sequence, angles.tolist(), strict=True):
        turn = about[letter.lower()](angle)
        rotation = rotation @ turn if letter.islower() else turn @ rotation
    return snap(rotation)


def unit_vector(element: XmlElement, name: str, vector: ArrayLike) -> Array:
    """The direction of a vector read from the attribute `name`, which must not be zero."""
    v = np.asarray(vector, dtype=np.float64)
    length = float(np.linalg.norm(v))
    if length < 1e-14:
        raise element.error("has no direction: vectors that are not zero (nor parallel) are valid", name)
    return v / length


def shortest_rotation_of_z(direction: Array) -> Array:
    """The rotation by the smallest angle that takes z to the unit vector `direction`."""
    x, y, z = direction.tolist()
    across = float(np.hypot(x, y))
    axis = (-y / across, x / across, 0.0) if across > 1e-10 else (1.0, 0.0, 0.0)
    return rotation_about(axis, atan2(across, z))


def motion(prismatic: bool, axis: Array, q: float) -> Frame:
    """What a joint does: a slide along, or a rotation about, the unit vector `axis` (3,)."""
    return Frame(translation=q * axis) if prismatic else Frame(rotation_about(axis, q))


def refuse_includes(root: XmlElement) -> None:
    """A file is read alone: no name in it is ever used as a path."""
    for element in walk(root):
        if element.tag == "include":
            raise element.error(
                "is not followed, a file is read alone; expand it first (MuJoCo's mj_saveLastXML does)"
            )
