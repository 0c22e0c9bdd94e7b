"""The ten inertial parameters as other programs write them, and back.

A pair of functions per program: `to_x` takes parameters in our order (`PARAMETER_LETTERS`, tensor entries
about the origin of the body's frame), `from_x` returns them. Three things differ between programs:

    program     order                                     inertia about    frame
    ----------  ----------------------------------------  ---------------  ----------------------
    Pinocchio   m  mx my mz  Ixx Ixy Iyy Ixz Iyz Izz      frame origin     joint frame
    iDynTree    m  mx my mz  Ixx Ixy Ixz Iyy Iyz Izz      frame origin     link frame
    SYMORO      XX XY XZ YY YZ ZZ  MX MY MZ  M  Ia        frame origin     modified DH frame
    Drake       m  com  (Gxx Gyy Gzz) (Gxy Gxz Gyz)       frame origin     body frame, I = m G
    MuJoCo      mass ipos iquat inertia                   centre of mass   principal axes
    MJCF        mass pos (Ixx Iyy Izz Ixy Ixz Iyz)        centre of mass   body frame

Everywhere the products are entries of the tensor, minus the integrals. Where a program keeps the frame of
a link on its joint, while ours sits further out (distal Denavit-Hartenberg frames), `to_joint_frames`
moves the parameters there first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import ArgumentError
from dynid.robot import Robot
from dynid.spatial import (
    Array,
    Frame,
    cross_matrix,
    parameter_transform,
    parameters_from_com,
    parameters_to_com,
    six,
    tensor,
)

# Where our parameters stand in a program's vector: theirs = ours[..., order].
_PINOCCHIO = (9, 6, 7, 8, 0, 1, 3, 2, 4, 5)
_IDYNTREE = (9, 6, 7, 8, 0, 1, 2, 3, 4, 5)

_MOMENTS, _PRODUCTS = (0, 3, 5), (1, 2, 4)  # XX YY ZZ and XY XZ YZ among our parameters


def _stack(values: ArrayLike, width: int, what: str) -> Array:
    """An array whose last axis has `width` entries."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] != width:
        raise ArgumentError(f"{what} has shape {array.shape}; the last axis must have {width} entries")
    return array


# --- Pinocchio ----------------------------------------------------------------------------------


def to_pinocchio(parameters: ArrayLike) -> Array:
    """Vectors for `pinocchio.Inertia.FromDynamicParameters`, (..., 10), from parameters (..., 10)."""
    return _stack(parameters, 10, "parameters")[..., list(_PINOCCHIO)]


def from_pinocchio(vector: ArrayLike) -> Array:
    """Parameters (..., 10) from vectors of `pinocchio.Inertia.toDynamicParameters`, (..., 10)."""
    return _stack(vector, 10, "a Pinocchio vector")[..., np.argsort(_PINOCCHIO)]


# --- iDynTree -----------------------------------------------------------------------------------


def to_idyntree(parameters: ArrayLike) -> Array:
    """Vectors for `iDynTree::SpatialInertia::fromVector`, (..., 10), from parameters (..., 10)."""
    return _stack(parameters, 10, "parameters")[..., list(_IDYNTREE)]


def from_idyntree(vector: ArrayLike) -> Array:
    """Parameters (..., 10) from vectors of `iDynTree::SpatialInertia::asVector`, (..., 10)."""
    return _stack(vector, 10, "an iDynTree vector")[..., np.argsort(_IDYNTREE)]


# --- SYMORO -------------------------------------------------------------------------------------


def to_symoro(parameters: ArrayLike, armature: ArrayLike = 0.0) -> Array:
    """SYMORO's XX XY XZ YY YZ ZZ MX MY MZ M Ia, (..., 11), from parameters (..., 10) and Ia (...).

    Our order is SYMORO's. Its frames are the modified Denavit-Hartenberg ones, so parameters given in
    other frames are carried over first, by `dynid.spatial.parameter_transform`.
    """
    phi = _stack(parameters, 10, "parameters")
    Ia = np.broadcast_to(np.asarray(armature, dtype=np.float64), phi.shape[:-1])
    return np.concatenate([phi, Ia[..., None]], axis=-1)


def from_symoro(vector: ArrayLike) -> tuple[Array, Array]:
    """Parameters (..., 10) and motor inertias Ia (...) from SYMORO's rows, (..., 11)."""
    row = _stack(vector, 11, "a SYMORO row")
    return row[..., :10].copy(), row[..., 10].copy()


# --- Drake --------------------------------------------------------------------------------------


class DrakeInertia(NamedTuple):
    """The arguments of Drake's `SpatialInertia(mass, p_PScm_E, UnitInertia(*moments, *products))`.

    Point P is the origin of the body's frame and E its axes; the moments Gxx Gyy Gzz and the products
    Gxy Gxz Gyz are those about P (not about the centre of mass), divided by the mass.
    """

    mass: Array  # (...)
    com: Array  # (..., 3)
    moments: Array  # (..., 3)
    products: Array  # (..., 3)


def to_drake(parameters: ArrayLike) -> DrakeInertia:
    """Drake's mass, centre of mass and unit inertia of parameters (..., 10)."""
    phi = _stack(parameters, 10, "parameters")
    mass = phi[..., 9]
    if np.any(mass == 0.0):
        raise ArgumentError("a body without mass has no unit inertia; Drake needs a mass that is not zero")
    per_mass = phi / mass[..., None]
    return DrakeInertia(
        mass.copy(), per_mass[..., 6:9], per_mass[..., list(_MOMENTS)], per_mass[..., list(_PRODUCTS)]
    )


def from_drake(mass: ArrayLike, com: ArrayLike, moments: ArrayLike, products: ArrayLike) -> Array:
    """Parameters (..., 10) from Drake's mass (...), centre of mass, moments and products (..., 3)."""
    m = np.asarray(mass, dtype=np.float64)[..., None]
    phi = np.empty((*m.shape[:-1], 10))
    phi[..., list(_MOMENTS)] = m * _stack(moments, 3, "moments")
    phi[..., list(_PRODUCTS)] = m * _stack(products, 3, "products")
    phi[..., 6:9] = m * _stack(com, 3, "com")
    phi[..., 9] = m[..., 0]
    return phi


# --- MuJoCo -------------------------------------------------------------------------------------


class MujocoInertia(NamedTuple):
    """A body as a compiled MuJoCo model holds it: the row of each `body_...` array of that name."""

    mass: float
    ipos: Array  # (3,), centre of mass in the body's frame
    iquat: Array  # (4,), scalar first: principal axes in the body's frame
    inertia: Array  # (3,), principal moments about the centre of mass, largest first


class MjcfInertial(NamedTuple):
    """The attributes of an MJCF element `inertial` that has no orientation of its own."""

    mass: float
    pos: Array  # (3,), centre of mass in the body's frame
    fullinertia: Array  # (6,), Ixx Iyy Izz Ixy Ixz Iyz about it


def to_mujoco(parameters: ArrayLike) -> MujocoInertia:
    """Mass, centre of mass, principal axes and principal moments of one body's parameters, (10,)."""
    mass, com, inertia = parameters_to_com(_one_body(parameters))
    moments, axes = np.linalg.eigh(inertia)
    moments, axes = moments[::-1], axes[:, ::-1]
    axes = axes * np.sign(np.linalg.det(axes))  # a rotation: turning all three axes round is allowed
    return MujocoInertia(mass, com, _quaternion(axes), moments)


def from_mujoco(mass: float, ipos: ArrayLike, iquat: ArrayLike, inertia: ArrayLike) -> Array:
    """Parameters (10,) of one body from its rows of the arrays `body_mass`, `body_ipos`, ...."""
    R = _rotation(_stack(iquat, 4, "iquat"))
    return parameters_from_com(mass, ipos, R @ np.diag(_stack(inertia, 3, "inertia")) @ R.T)


def to_mjcf(parameters: ArrayLike) -> MjcfInertial:
    """Attributes `mass`, `pos` and `fullinertia` of one body's parameters, (10,)."""
    mass, com, inertia = parameters_to_com(_one_body(parameters))
    xx, xy, xz, yy, yz, zz = six(inertia)
    return MjcfInertial(mass, com, np.array([xx, yy, zz, xy, xz, yz]))


def from_mjcf(mass: float, pos: ArrayLike, fullinertia: ArrayLike) -> Array:
    """Parameters (10,) of one body from the attributes `mass`, `pos` and `fullinertia` (6,)."""
    xx, yy, zz, xy, xz, yz = _stack(fullinertia, 6, "fullinertia")
    return parameters_from_com(mass, pos, tensor([xx, xy, xz, yy, yz, zz]))


def _one_body(parameters: ArrayLike) -> Array:
    phi = _stack(parameters, 10, "parameters")
    if phi.ndim != 1 or not np.isfinite(phi).all():
        raise ArgumentError(f"needed are the ten finite parameters of one body, not {phi}")
    return phi


def _quaternion(R: Array) -> Array:
    """Unit quaternion (w, x, y, z) of a rotation, from the best conditioned column of 4 q q'."""
    trace = np.trace(R)
    outer = np.empty((4, 4))
    outer[0, 0] = 1.0 + trace
    outer[0, 1:] = outer[1:, 0] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    outer[1:, 1:] = R + R.T + (1.0 - trace) * np.eye(3)
    column = outer[:, np.argmax(np.diag(outer))]
    return column / np.linalg.norm(column)


def _rotation(quaternion: Array) -> Array:
    """Rotation of a quaternion, to the last digit: what a simulator computed is not snapped as files are."""
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    v = np.array([x, y, z])
    return (w * w - v @ v) * np.eye(3) + 2.0 * (np.outer(v, v) + w * cross_matrix(v))


# --- frames -------------------------------------------------------------------------------------


def to_joint_frames(robot: Robot, parameters: ArrayLike) -> Array:
    """Parameters of all links, (links, 10), about and in the frame on each link's joint.

    That frame moves with the link, but comes before the joint's constant `after`. Without one (URDF,
    MJCF, modified Denavit-Hartenberg) it is the link's own frame, and nothing changes.
    """
    return _move(parameters, [joint.after for joint in robot.joints])


def from_joint_frames(robot: Robot, parameters: ArrayLike) -> Array:
    """Inverse of `to_joint_frames`: back to each link's own frame, (links, 10)."""
    return _move(parameters, [joint.after.inverse() for joint in robot.joints])


def _move(parameters: ArrayLike, frames: list[Frame]) -> Array:
    phi = np.asarray(parameters, dtype=np.float64)
    if phi.size != 10 * len(frames):
        raise ArgumentError(
            f"parameters have shape {phi.shape}; needed are ten for each of {len(frames)} links"
        )
    X = np.array([parameter_transform(frame) for frame in frames]).reshape(-1, 10, 10)
    return np.einsum("lij,lj->li", X, phi.reshape(-1, 10))
