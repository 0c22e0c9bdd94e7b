"""A user's URDF with identified numbers: only those of <inertial> and <dynamics> change, byte for byte.

A moving link of the robot is all links of the file that are fixed together. Those that hang on keep their
own inertia, and the link that the joint carries takes the rest. Where the rest is not a body that can exist,
those that hang on keep half of theirs, or a quarter, and so on. The axes of <inertial> stay as the file has
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dynid.errors import RobotError, quote
from dynid.export.exported import Exported, numbers, read_back, without_gravity, without_place
from dynid.export.urdf import DYNAMICS, MOMENTS, on_urdf_joints
from dynid.export.xml_patch import Element, Patch
from dynid.formats.assembly import LinkRecord, Seat, link_seats
from dynid.formats.urdf import parse_urdf, urdf_records
from dynid.formats.xml_source import parse_xml
from dynid.model import DynamicModel
from dynid.robot import Robot
from dynid.spatial import (
    Array,
    Frame,
    is_physical,
    parameter_transform,
    parameters_to_com,
    rotation_rpy,
    six,
)

HALVINGS = 20  # of what links that hang on keep; then they keep nothing
ROUNDING = 1e-14  # of a link's own numbers: whatever differs less is left as it was written


def patch_urdf(model: DynamicModel, text: str, source: str) -> Exported:
    """The URDF `text` that the model's robot was read from, with the model's numbers in it."""
    patch = Patch(text)
    notes = _patch_links(patch, model, text, source)
    constants = _patch_joints(patch, model)
    patched = patch.done()
    robot = model.robot

    def read() -> Robot:
        return parse_urdf(patched, "exported URDF", gravity=robot.gravity.tolist(), joints=robot.joint_names)

    read_back(model, read, "URDF", constants)
    lost = (*without_place(model, "URDF", constants), *without_gravity(model, "URDF"))
    return Exported(patched, (*notes, *lost))


# --- links ------------------------------------------------------------------------------------------


def _patch_links(patch: Patch, model: DynamicModel, text: str, source: str) -> list[str]:
    root = parse_xml(text, source)
    links, joints = urdf_records(root)
    seats = link_seats(links, joints, model.robot, source)
    elements = {element.attributes["name"].strip(): element for element in patch.root.all("link")}
    notes: list[str] = []
    for number, (link, total) in enumerate(
        zip(model.robot.links, model.parameters.reshape(-1, 10), strict=True)
    ):
        aboard = [record for record in links if seats[record.name].carrier == number]
        shares, kept = _shares(link.name, aboard, seats, total)
        for record in aboard:
            if record.name in shares and not _same(record.parameters, shares[record.name]):
                _patch_inertial(patch, elements[record.name], shares[record.name])
        if kept < 1.0:
            names = ", ".join(quote(name) for name in shares if name != link.name)
            notes.append(
                f"link {quote(link.name)}: what the file hangs on it, {names}, is more than was identified "
                f"there in all, and keeps {100 * kept:.3g} % of its inertia"
            )
    return notes


def _shares(
    carrier: str, aboard: Sequence[LinkRecord], seats: Mapping[str, Seat], total: Array
) -> tuple[dict[str, Array], float]:
    """Parameters of the links of one moving link in their own frames, and the share that others keep."""
    others = {
        record.name: record.parameters
        for record in aboard
        if record.name != carrier and record.parameters is not None
    }
    aboard_in_all = np.zeros(10)
    for name, parameters in others.items():
        aboard_in_all += parameter_transform(seats[name].pose) @ parameters
    free = not is_physical(total) or not others  # nothing to be kept, or nothing to compare with
    for kept in (0.5**k for k in range(HALVINGS)):
        rest = total - kept * aboard_in_all
        if free or (rest[9] > 0.0 and is_physical(rest)):
            return {carrier: rest, **{name: kept * own for name, own in others.items()}}, kept
    return {carrier: total, **dict.fromkeys(others, np.zeros(10))}, 0.0


def _same(old: Array | None, new: Array) -> bool:
    return old is not None and bool((np.abs(new - old) <= ROUNDING * np.abs(old).max()).all())


def _patch_inertial(patch: Patch, link: Element, parameters: Array) -> None:
    mass, com, _ = parameters_to_com(parameters)
    inertial = link.only("inertial")
    if inertial is None:
        patch.insert(link, "<inertial>", _new_inertial(parameters))
        return
    origin = inertial.only("origin")
    axes = np.eye(3)
    if origin is None:
        patch.insert(inertial, f'<origin xyz="{numbers(com)}" rpy="0 0 0"/>')
    else:
        axes = rotation_rpy(*(float(angle) for angle in origin.attributes.get("rpy", "0 0 0").split()))
        patch.set(origin, {"xyz": numbers(com)})
    mass_element, inertia_element = inertial.only("mass"), inertial.only("inertia")
    if mass_element is None or inertia_element is None:
        raise RobotError("an <inertial> without mass or inertia")  # the reader has refused it before
    patch.set(mass_element, {"value": numbers(mass)})
    patch.set(inertia_element, _moments(parameters, axes, com))


def _moments(parameters: Array, axes: Array, com: Array) -> dict[str, str]:
    """Attributes of <inertia>: the tensor about the centre of mass, in the axes that the file has there."""
    there = parameter_transform(Frame(axes, com).inverse()) @ parameters
    return {key: numbers(value) for key, value in zip(MOMENTS, there[:6].tolist(), strict=True)}


def _new_inertial(parameters: Array) -> list[str]:
    mass, com, inertia = parameters_to_com(parameters)
    moments = " ".join(f'{key}="{numbers(v)}"' for key, v in zip(MOMENTS, six(inertia).tolist(), strict=True))
    return [
        f'<origin xyz="{numbers(com)}" rpy="0 0 0"/>',
        f'<mass value="{numbers(mass)}"/>',
        f"<inertia {moments}/>",
    ]


# --- joints -----------------------------------------------------------------------------------------


def _patch_joints(patch: Patch, model: DynamicModel) -> dict[str, Array]:
    """Write the free joints' friction, and return it by letter; without any, the file's own stays."""
    constants = on_urdf_joints(model)
    if not any(value.any() for value in constants.values()):
        return {}
    elements = {element.attributes["name"].strip(): element for element in patch.root.all("joint")}
    for k, name in enumerate(model.robot.joint_names):
        values = {DYNAMICS[key]: numbers(value[k]) for key, value in constants.items()}
        dynamics = elements[name].only("dynamics")
        if dynamics is not None:
            patch.set(dynamics, values)
        elif any(value[k] for value in constants.values()):
            words = " ".join(f'{key}="{value}"' for key, value in values.items())
            patch.insert(elements[name], f"<dynamics {words}/>")
    return constants
