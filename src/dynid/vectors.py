"""Three-vectors over scalars that may be numbers or expressions."""

from __future__ import annotations

from typing import TypeAlias

from dynid.program import Scalar
from dynid.spatial import Array

Vector: TypeAlias = tuple[Scalar, Scalar, Scalar]

ZERO: Vector = (0.0, 0.0, 0.0)
X: Vector = (1.0, 0.0, 0.0)
Y: Vector = (0.0, 1.0, 0.0)
Z: Vector = (0.0, 0.0, 1.0)


def vector(values: Array) -> Vector:
    """A constant vector as plain floats, which expressions fold."""
    x, y, z = (float(v) for v in values)
    return (x, y, z)


def add(*vectors: Vector) -> Vector:
    x, y, z = vectors[0]
    for v in vectors[1:]:
        x, y, z = x + v[0], y + v[1], z + v[2]
    return (x, y, z)


def scale(s: Scalar, v: Vector) -> Vector:
    return (s * v[0], s * v[1], s * v[2])


def dot(a: Vector, b: Vector) -> Scalar:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def rotate(R: Array, v: Vector) -> Vector:
    """R v for a constant rotation."""
    x, y, z = ((r[0] * v[0] + r[1] * v[1] + r[2] * v[2]) for r in R.tolist())
    return (x, y, z)


def rotate_back(R: Array, v: Vector) -> Vector:
    """R' v for a constant rotation."""
    return rotate(R.T, v)


def turn(c: Scalar, s: Scalar, v: Vector) -> Vector:
    """Components before a rotation about z whose cosine and sine are c and s."""
    return (c * v[0] - s * v[1], s * v[0] + c * v[1], v[2])


def unturn(c: Scalar, s: Scalar, v: Vector) -> Vector:
    """Components after a rotation about z whose cosine and sine are c and s."""
    return (c * v[0] + s * v[1], c * v[1] - s * v[0], v[2])
