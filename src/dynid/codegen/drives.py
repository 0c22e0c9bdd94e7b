"""Friction and motor inertia as expressions: what `dynid.friction` computes, recorded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid.friction import Friction, motor_rates
from dynid.program import Expr, Scalar, friction
from dynid.spatial import Array


def friction_efforts(
    given: Friction, qd: Sequence[Expr], rigid: Sequence[Scalar] | None = None
) -> list[Scalar]:
    """Efforts of friction on the joints; that which depends on the load needs the `rigid` efforts."""
    R: list[list[float]] = given.rates.tolist()
    on_drives = None if rigid is None else combined(np.linalg.inv(given.rates).T.tolist(), rigid)
    on_motors: list[Scalar] = []
    for k, row in enumerate(R):
        constants = {letter: float(values[k]) for letter, values in given.constants.items() if values[k]}
        v = combined([row], qd)[0] if constants else 0.0
        load = None if on_drives is None else on_drives[k]
        on_motors.append(_of_drive(constants, v, _of(given.width, k), _of(given.stribeck_speed, k), load))
    return combined(np.transpose(R).tolist(), on_motors)


def _of_drive(
    constants: dict[str, float], v: Scalar, width: float, stribeck_speed: float, load: Scalar | None
) -> Scalar:
    """Friction of one drive at velocity v: the terms of `dynid.friction.term`."""
    s: Scalar = 0.0
    if any(letter in constants for letter in ("Fc", "Fs", "Fr", "Fl")):
        s = friction("tanh", v * (1.0 / width)) if width > 0.0 else friction("sign", v)
    total: Scalar = 0.0
    for letter, constant in constants.items():
        match letter:
            case "Fv":
                total = total + constant * v
            case "Fc":
                total = total + constant * s
            case "Fo":
                total = total + constant
            case "Fa":
                total = total + constant * friction("abs", v)
            case "Fs":
                total = total + constant * (s * friction("bell", v * (1.0 / stribeck_speed)))
            case "Fr":
                total = total + constant * (s * friction("root", v))
            case "Fl" if load is not None:
                total = total + constant * (s * friction("abs", load))
            case _:
                pass
    return total


def armature_entries(armature: Sequence[Scalar], transmission: Array | None) -> list[list[Scalar]]:
    """T^-T diag(Ia) T^-1: what motors add to the inertia matrix."""
    n = len(armature)
    R: list[list[float]] = motor_rates(transmission, n).tolist()
    entries: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            entries[i][j] = combined([[R[k][i] * R[k][j] for k in range(n)]], armature)[0]
    return entries


def combined(matrix: Sequence[Sequence[Scalar]], vector: Sequence[Scalar]) -> list[Scalar]:
    """matrix @ vector."""
    found: list[Scalar] = []
    for row in matrix:
        total: Scalar = 0.0
        for factor, x in zip(row, vector, strict=True):
            total = total + factor * x
        found.append(total)
    return found


def _of(value: float | Array, k: int) -> float:
    return float(np.broadcast_to(value, k + 1)[k]) if np.ndim(value) == 0 else float(np.asarray(value)[k])
