"""The rigid bodies in MuJoCo, built from a robot's description alone.

Every joint of the description is a MuJoCo joint, mimic joints too. Those are then coupled rigidly, without
MuJoCo's constraint solver and its softness: with all joints q_all = G q + g of the free ones q, the inertia
matrix is G' M G and the bias G' c, exactly, because G is constant.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np
from numpy.typing import ArrayLike

from dynid.conventions import to_mujoco
from dynid.errors import MissingExtraError, RobotError, quote
from dynid.robot import Link, Mimic, Robot
from dynid.spatial import Array, Frame, is_physical

# MuJoCo refuses bodies below 1e-15 kg or kg m^2: those of massless links and point masses get this much.
SMALLEST = 1e-14


def mjcf(robot: Robot) -> str:
    """The robot as MJCF text: one body per link with its frame on the joint, joints named by their numbers.

    A second body, welded to the first, is the link's own frame: where it sits and what it does to the
    inertia is left to MuJoCo. There are no geoms, so nothing touches.
    """
    refuse_impossible(robot)
    root = Element("mujoco", model="plant")
    SubElement(root, "compiler", angle="radian")
    SubElement(root, "option", gravity=_text(robot.gravity))
    carriers = {-1: SubElement(root, "worldbody")}
    for number, (joint, link) in enumerate(zip(robot.joints, robot.links, strict=True)):
        body = SubElement(carriers[joint.parent], "body", _pose(joint.before))
        SubElement(
            body,
            "joint",
            name=f"{number}",
            type="slide" if joint.prismatic else "hinge",
            axis=_text(joint.axis),
        )
        carriers[number] = SubElement(body, "body", _pose(joint.after))
        SubElement(carriers[number], "inertial", _inertial(link))
    return tostring(root, encoding="unicode")


def refuse_impossible(robot: Robot) -> None:
    """Raise unless every link has inertial parameters that some body can have."""
    unknown = [link.name for link in robot.links if not np.isfinite(link.parameters).all()]
    if unknown:
        raise RobotError(
            f"{robot.name}: {_links(unknown)} no inertial parameters in the robot's file, so there is "
            "nothing to simulate; complete the file"
        )
    impossible = [link.name for link in robot.links if not is_physical(link.parameters)]
    if impossible:
        raise RobotError(
            f"{robot.name}: {_links(impossible)} inertial parameters that no body can have, so there is "
            "nothing to simulate; needed is a physical set, such as one found by 'dynid identify --physical'"
        )


def _links(names: list[str]) -> str:
    listed = ", ".join(quote(name, 40) for name in names)
    return f"link {listed} has" if len(names) == 1 else f"links {listed} have"


def _inertial(link: Link) -> dict[str, str]:
    """Attributes of a link's <inertial>; rounding that MuJoCo would reject is taken off the moments."""
    body = to_mujoco(link.parameters)
    moments = np.maximum(body.inertia, SMALLEST)
    moments[0] = min(moments[0], moments[1] + moments[2])
    return {
        "mass": _text(max(body.mass, SMALLEST)),
        "pos": _text(body.ipos),
        "quat": _text(body.iquat),
        "diaginertia": _text(moments),
    }


def _pose(frame: Frame) -> dict[str, str]:
    return {"pos": _text(frame.translation), "xyaxes": _text(frame.rotation.T[:2])}


def _text(numbers: ArrayLike) -> str:
    return " ".join(repr(float(number)) for number in np.ravel(numbers))


def _mujoco() -> Any:
    try:
        return import_module("mujoco")
    except ImportError:
        raise MissingExtraError("simulating", "mujoco", "sim") from None


class Bodies:
    """MuJoCo's inertia matrix and bias efforts of a robot, for its n free joints."""

    def __init__(self, robot: Robot) -> None:
        self._mujoco = _mujoco()
        self._model: Any = self._mujoco.MjModel.from_xml_string(mjcf(robot))
        self._data: Any = self._mujoco.MjData(self._model)
        place = [int(self._model.joint(str(k)).dofadr[0]) for k in range(len(robot.joints))]
        self._couplings = np.zeros((robot.dof, len(robot.joints)))  # G', rows contiguous for MuJoCo
        self._offsets = np.zeros(len(robot.joints))
        for k, joint in enumerate(robot.joints):
            mimic = joint.mimic or Mimic(k)
            self._couplings[robot.free.index(mimic.joint), place[k]] = mimic.multiplier
            self._offsets[place[k]] = mimic.offset
        self._columns = np.zeros_like(self._couplings)

    def inertia_and_bias(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """M(q), (n, n), and the Coriolis, centrifugal and gravity efforts at q and qd, (n,) each."""
        mujoco, model, data, Gt = self._mujoco, self._model, self._data, self._couplings
        data.qpos[:] = q @ Gt + self._offsets
        data.qvel[:] = qd @ Gt
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        for column, coupling in zip(self._columns, Gt, strict=True):
            mujoco.mj_mulM(model, data, column, coupling)
        return self._columns @ Gt.T, Gt @ data.qfrc_bias
