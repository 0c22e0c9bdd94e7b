"""Bounds from a URDF's collision geometry: the mass of a link lies inside of its shapes.

Boxes, spheres, cylinders and capsules count. A link with a mesh stays unbounded, since names of files that
come from a file are not opened.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from dynid.formats.assembly import link_seats
from dynid.formats.urdf import urdf_origin, urdf_records
from dynid.formats.xml_source import XmlElement, parse_xml
from dynid.physical.bounds import Bounds, Box, Ellipsoid, LinkBounds
from dynid.robot import Robot
from dynid.spatial import Array, Frame

_CORNERS = np.array(list(product((-1.0, 1.0), repeat=3)))


def collision_bounds(robot: Robot, text: str, source: str) -> tuple[Bounds, tuple[str, ...]]:
    """Bounds of all links whose shapes are simple, and the names of the links left without.

    `text` is the URDF that the robot was read from, `source` names it in messages. Several shapes of a link,
    those of links fixed to it included, count as the box with the link's axes around all of them.
    """
    root = parse_xml(text, source)
    seats = link_seats(*urdf_records(root), robot, source)
    shapes: dict[int, list[Box | Ellipsoid | None]] = {k: [] for k in range(-1, len(robot.links))}
    for link in root.all("link"):
        seat = seats[link.text("name")]
        shapes[seat.carrier] += [_shape(element, seat.pose) for element in link.all("collision")]
    bounded: dict[str, LinkBounds] = {}
    for number, link in enumerate(robot.links):
        known = [shape for shape in shapes[number] if shape is not None]
        if known and len(known) == len(shapes[number]):
            bounded[link.name] = LinkBounds(shapes=known if len(known) == 1 else [_around(known)])
    unbounded = tuple(link.name for link in robot.links if link.name not in bounded)
    return Bounds(links=bounded), unbounded


def _shape(collision: XmlElement, seat: Frame) -> Box | Ellipsoid | None:
    """The shape in the moving link, None where it is not a simple one."""
    frame = seat @ urdf_origin(collision)
    geometry = collision.only("geometry")
    for form in geometry or ():
        match form.tag:
            case "box":
                half = form.numbers("size", 3, "metres") / 2.0
            case "sphere":
                return Ellipsoid(np.full(3, form.number("radius", "metres")), frame)
            case "cylinder" | "capsule":
                radius, length = form.number("radius", "metres"), form.number("length", "metres")
                half = np.array([radius, radius, length / 2.0 + radius * (form.tag == "capsule")])
            case _:
                return None
        return Box(-half, half, frame)
    return None


def _around(shapes: list[Box | Ellipsoid]) -> Box:
    points = np.concatenate([_corners(shape) for shape in shapes])
    return Box(points.min(axis=0), points.max(axis=0))


def _corners(shape: Box | Ellipsoid) -> Array:
    """Corners of the shape, or of the box around an ellipsoid, in the link, (8, 3)."""
    half = np.asarray(shape.half_axes if isinstance(shape, Ellipsoid) else shape.upper, dtype=np.float64)
    return shape.frame.translation + (_CORNERS * half) @ shape.frame.rotation.T
