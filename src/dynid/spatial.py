"""Frames and the ten inertial parameters of a body: the conventions, and how to change them.

A body's standard parameters are, in this order,

    XX XY XZ YY YZ ZZ MX MY MZ M

the entries of the inertia *tensor* about the origin of the body's frame (so ``XY`` is minus the
integral of x y dm), the first moment and the mass. Everything is linear in them; a change of frame
is one 10 x 10 matrix.

The *pseudo-inertia* is the 4 x 4 matrix [[J, h], [h', m]] with J the integral of r r' dm: it is
positive semidefinite exactly when some distribution of mass has these parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

PARAMETER_LETTERS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")

# Files write right angles with nine decimals or more; anything closer than this to a right angle is one.
SNAP = 1e-9
ROUNDING = 1e-15  # of products of rotations

_TENSOR_INDEX = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def frozen(values: ArrayLike, shape: tuple[int, ...] | None = None) -> Array:
    """A read-only float64 copy, of the given shape if one is given."""
    array = np.array(values, dtype=np.float64)
    if shape is not None:
        array = array.reshape(shape)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame seen from another one: x_outer = rotation @ x_inner + translation."""

    rotation: Array
    translation: Array

    def __init__(self, rotation: ArrayLike | None = None, translation: ArrayLike = (0, 0, 0)) -> None:
        object.__setattr__(self, "rotation", frozen(np.eye(3) if rotation is None else rotation, (3, 3)))
        object.__setattr__(self, "translation", frozen(translation, (3,)))

    def __matmul__(self, inner: Frame) -> Frame:
        return Frame(
            snap(self.rotation @ inner.rotation),
            self.translation + self.rotation @ inner.translation,
        )

    def inverse(self) -> Frame:
        return Frame(self.rotation.T, -self.rotation.T @ self.translation)

    def apply(self, point: ArrayLike) -> Array:
        return self.translation + self.rotation @ np.asarray(point, dtype=np.float64)

    @property
    def is_identity(self) -> bool:
        return bool(np.all(self.rotation == np.eye(3)) and not self.translation.any())


def snap(rotation: ArrayLike) -> Array:
    """A rotation matrix whose rows and columns that are unit vectors up to rounding are exactly so.

    Files round right angles to nine digits or more, so such a row is off by at most `SNAP`. Entries that
    are small without making a unit vector are figures and stay, unless they are rounding of ours.
    """
    R = np.array(rotation, dtype=np.float64)
    cleared = np.where(np.abs(R) < SNAP, 0.0, R)
    unit = (np.count_nonzero(cleared, axis=1, keepdims=True) == 1) | (
        np.count_nonzero(cleared, axis=0, keepdims=True) == 1
    )
    R[unit] = np.sign(cleared[unit])
    R[np.abs(R) < ROUNDING] = 0.0
    return R


def cross_matrix(v: ArrayLike) -> Array:
    """[v x], so that [v x] u = v x u."""
    x, y, z = np.asarray(v, dtype=np.float64)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def rotation_about(axis: ArrayLike, angle: float) -> Array:
    """Rotation by `angle` (rad) about the unit vector `axis`."""
    K = cross_matrix(axis)
    return snap(np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K))


def rotation_x(angle: float) -> Array:
    return rotation_about((1, 0, 0), angle)


def rotation_y(angle: float) -> Array:
    return rotation_about((0, 1, 0), angle)


def rotation_z(angle: float) -> Array:
    return rotation_about((0, 0, 1), angle)


def rotation_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """URDF's fixed-axis angles: first about x, then y, then z of the outer frame."""
    return snap(rotation_z(yaw) @ rotation_y(pitch) @ rotation_x(roll))


def rotation_quaternion(w: float, x: float, y: float, z: float) -> Array:
    """Rotation of a quaternion, scalar first; any non-zero length is accepted."""
    q = np.array([w, x, y, z], dtype=np.float64)
    w, x, y, z = q / np.linalg.norm(q)
    return snap(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def rotation_from_z(axis: ArrayLike) -> Array:
    """A rotation R with R e_z = axis, a signed permutation whenever `axis` is a coordinate axis."""
    z = np.asarray(axis, dtype=np.float64)
    z = z / np.linalg.norm(z)
    x = np.eye(3)[(int(np.argmax(np.abs(z))) + 1) % 3]
    x = x - z * (z @ x)
    x = x / np.linalg.norm(x)
    return snap(np.column_stack([x, np.cross(z, x), z]))


# --- the ten parameters -------------------------------------------------------------------------


def tensor(six: ArrayLike) -> Array:
    """Symmetric matrix of the entries XX XY XZ YY YZ ZZ."""
    xx, xy, xz, yy, yz, zz = np.asarray(six, dtype=np.float64)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def six(matrix: ArrayLike) -> Array:
    """The entries XX XY XZ YY YZ ZZ of a symmetric matrix."""
    A = np.asarray(matrix, dtype=np.float64)
    return np.array([A[i, j] for i, j in _TENSOR_INDEX])


def parameters_from_com(mass: float, com: ArrayLike, inertia: ArrayLike) -> Array:
    """Standard parameters from mass, centre of mass and the tensor (3 x 3) about that centre."""
    c = np.asarray(com, dtype=np.float64)
    C = cross_matrix(c)
    about_origin = np.asarray(inertia, dtype=np.float64) - mass * (C @ C)
    return np.concatenate([six(about_origin), mass * c, [mass]])


def parameters_to_com(parameters: ArrayLike) -> tuple[float, Array, Array]:
    """(mass, centre of mass, tensor about it); a body without mass has its centre at the origin."""
    phi = np.asarray(parameters, dtype=np.float64)
    mass = float(phi[9])
    if mass == 0.0:
        return 0.0, np.zeros(3), tensor(phi[:6])
    c = phi[6:9] / mass
    C = cross_matrix(c)
    return mass, c, tensor(phi[:6]) + mass * (C @ C)


def parameter_transform(frame: Frame) -> Array:
    """The 10 x 10 matrix X with phi_outer = X @ phi_inner for a body fixed in both frames."""
    R, p = frame.rotation, frame.translation
    X = np.zeros((10, 10))
    for k, (i, j) in enumerate(_TENSOR_INDEX):
        unit = np.zeros((3, 3))
        unit[i, j] = unit[j, i] = 1.0
        X[:6, k] = six(R @ unit @ R.T)
    P = cross_matrix(p)
    for k in range(3):
        H = cross_matrix(R[:, k])
        X[:6, 6 + k] = six(-(P @ H + H @ P))
    X[:6, 9] = six(-(P @ P))
    X[6:9, 6:9] = R
    X[6:9, 9] = p
    X[9, 9] = 1.0
    return X


def pseudo_inertia(parameters: ArrayLike) -> Array:
    """The 4 x 4 pseudo-inertia of ten parameters (or a stack of them, last axis 10)."""
    phi = np.asarray(parameters, dtype=np.float64)
    out = np.zeros((*phi.shape[:-1], 4, 4))
    xx, yy, zz = phi[..., 0], phi[..., 3], phi[..., 5]
    out[..., 0, 0] = 0.5 * (yy + zz - xx)
    out[..., 1, 1] = 0.5 * (xx + zz - yy)
    out[..., 2, 2] = 0.5 * (xx + yy - zz)
    for k, (i, j) in ((1, (0, 1)), (2, (0, 2)), (4, (1, 2))):
        out[..., i, j] = out[..., j, i] = -phi[..., k]
    for i in range(3):
        out[..., i, 3] = out[..., 3, i] = phi[..., 6 + i]
    out[..., 3, 3] = phi[..., 9]
    return out


def from_pseudo_inertia(matrix: ArrayLike) -> Array:
    """Ten parameters of a 4 x 4 pseudo-inertia."""
    S = np.asarray(matrix, dtype=np.float64)
    J = S[:3, :3]
    return np.concatenate([six(np.trace(J) * np.eye(3) - J), S[:3, 3], [S[3, 3]]])


def is_physical(parameters: ArrayLike, tolerance: float = 1e-12) -> bool:
    """Whether some mass distribution has these parameters: smallest eigenvalue >= -tolerance * trace."""
    S: Any = pseudo_inertia(parameters)
    return bool(np.isfinite(S).all() and np.linalg.eigvalsh(S)[0] >= -tolerance * max(np.trace(S), 0.0))
