"""A Rosenbrock method of order 3 for mechanical systems with stiff friction, servos and gears.

Coulomb friction that turns within a thousandth of a rad/s is far too stiff for explicit methods. A
Rosenbrock-W method solves one linear system per step and keeps its order with *any* matrix in the place of
the Jacobian. Ours has only what is stiff, stiffness K and damping D of  H p'' = F(t, p, p'),

    dF/dp ~ -K    dF/dp' ~ -D

with friction's D as `Friction.damping` has it: the slope, but the chord near rest. The coefficients are those
of ROS34PW2 by Rang and Angermann (BIT 45, 2005): L-stable, order 3, with an embedded method of order 2 for
the error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dynid.errors import DynidError
from dynid.spatial import Array

GAMMA = 0.43586652150845900
ALPHA = np.array(
    [
        [0.0, 0.0, 0.0, 0.0],
        [0.87173304301691801, 0.0, 0.0, 0.0],
        [0.84457060015369423, -0.11299064236484185, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
    ]
)
GAMMAS = np.array(
    [
        [GAMMA, 0.0, 0.0, 0.0],
        [-0.87173304301691801, GAMMA, 0.0, 0.0],
        [-0.90338057013044082, 0.054180672388095326, GAMMA, 0.0],
        [0.24212380706095346, -1.2232505839045147, 0.54526025533510214, GAMMA],
    ]
)
WEIGHTS = np.array([0.24212380706095346, -1.2232505839045147, 1.5452602553351020, GAMMA])
EMBEDDED = np.array([0.37810903145819369, -0.096042292212423178, 0.5, 0.21793326075422950])

# The same method in the variables u = GAMMAS k, which need no product with the Jacobian.
_INVERSE = np.linalg.inv(GAMMAS)
_A = ALPHA @ _INVERSE
_C = np.diag(np.diag(_INVERSE)) - _INVERSE
_M = WEIGHTS @ _INVERSE
_E = (WEIGHTS - EMBEDDED) @ _INVERSE
_TIMES = ALPHA.sum(axis=1)

SHORTEST_STEP = 1e-10  # s
FASTEST = 1e3  # rad/s or m/s; what moves faster is no robot any more, and costs ever more steps to follow
_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 3.0


class System(Protocol):
    """What can be integrated; p and v are (m,)."""

    def inertia_and_forces(self, t: float, p: Array, v: Array) -> tuple[Array, Array]:
        """H, (m, m), and F, (m,), at a time and a state."""
        ...

    def stiffness_and_damping(self, p: Array, v: Array) -> tuple[Array, Array]:
        """K and D, (m, m) each, near a state; any matrices will do, the stiff part should be right."""
        ...


class DivergedError(DynidError):
    """A simulated motion that cannot be followed any further."""


@dataclass(frozen=True)
class Precision:
    """How finely to integrate: local errors per step relative to 1 + |state|, and the longest step in s."""

    tolerance: float = 1e-6  # infinity for steps of fixed length
    longest_step: float = float("inf")


@dataclass(frozen=True, eq=False)
class State:
    """Coordinates and rates, (m,) each, at a time, and the step that seems right there."""

    t: float
    p: Array
    v: Array
    step: float = 1e-3


def advance(system: System, state: State, end: float, precision: Precision) -> State:
    """The state at time `end`."""
    t, p, v, preferred = state.t, state.p, state.v, state.step
    while t < end:
        if np.abs(v).max() > FASTEST or preferred < SHORTEST_STEP:
            raise DivergedError(
                f"the motion runs away at t = {t:.6g} s: the controller is unstable, or a link is far too "
                "light for what acts on it"
            )
        wanted = min(preferred, precision.longest_step)
        count = np.ceil((end - t) / wanted * (1.0 - 1e-12))
        h = (end - t) / max(count, 1.0)
        p_next, v_next, error_p, error_v = one_step(system, t, p, v, h)
        scale_p, scale_v = 1.0 + np.abs(p), 1.0 + np.abs(v)
        error = max(float(np.max(np.abs(error_p) / scale_p)), float(np.max(np.abs(error_v) / scale_v)))
        error /= precision.tolerance
        if np.isfinite(error) and error <= 1.0:
            t = end if count <= 1.0 else t + h
            p, v = p_next, v_next
            # A step cut short by `end` says nothing against the longer one that was wanted.
            preferred = max(preferred if count <= 1.0 else h, h * _factor(error))
        else:
            preferred = h * (_factor(error) if np.isfinite(error) else _SHRINK)
    return State(end, p, v, preferred)


def _factor(error: float) -> float:
    """By which to change a step of order 3 whose error is `error` times what is allowed."""
    return float(np.clip(_SAFETY * max(error, 1e-12) ** (-1.0 / 3.0), _SHRINK, _GROW))


def one_step(system: System, t: float, p: Array, v: Array, h: float) -> tuple[Array, Array, Array, Array]:
    """Coordinates and rates, (m,), a step of h later, and the estimated errors of both."""
    H, F = system.inertia_and_forces(t, p, v)
    K, D = system.stiffness_and_damping(p, v)
    g = GAMMA * h
    inverse = np.linalg.inv(H / g + D + g * K)
    u_p, u_v = np.zeros((2, 4, len(p)))
    p_stage, v_stage, moved = p, v, F  # H times the acceleration
    for i in range(4):
        if i > 0:
            p_stage, v_stage = p + _A[i, :i] @ u_p[:i], v + _A[i, :i] @ u_v[:i]
            H_stage, F_stage = system.inertia_and_forces(t + _TIMES[i] * h, p_stage, v_stage)
            moved = H @ (np.linalg.solve(H_stage, F_stage) + _C[i, :i] @ u_v[:i] / h)
        r = v_stage + _C[i, :i] @ u_p[:i] / h
        u_v[i] = inverse @ (moved - g * (K @ r))
        u_p[i] = g * (r + u_v[i])
    return p + _M @ u_p, v + _M @ u_v, _E @ u_p, _E @ u_v
