"""Priors on bodies, measured so that neither the frame nor the units matter.

A body's pseudo-inertia P is compared with that of its prior, P0, after the change of coordinates that makes
the prior the identity: X = C^-1 P C^-T with P0 = C C'. Two measures agree to second order near the prior:

    pullback   |X - 1|^2                              the metric of positive matrices at P0, held constant
    entropic   2 (trace X - log det X - 4)            twice the log-det divergence; infinite for flat bodies

Neither changes when frame, units or both bodies' scale change ([Lee2018], [Lee2019]). A deviation of 1 is
one of the size of the prior itself. The program runs in the coordinates svec(X), which condition it well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dynid.errors import ArgumentError, quote
from dynid.physical.program import ENTRIES, smat, svec
from dynid.robot import Robot
from dynid.spatial import Array, Frame, frozen, parameters_from_com, pseudo_inertia

Metric = Literal["pullback", "entropic"]
METRICS: tuple[Metric, ...] = ("pullback", "entropic")

THINNEST = 1e-3  # least eigenvalue of a prior's shape, as a share of the largest
LEAST_LENGTH = 0.05  # m, of a link whose geometry says nothing
LEAST_MASS = 1e-3  # kg, of a prior that gives none
NEUTRAL_MASS = 1.0  # kg

_PSEUDO = pseudo_inertia(np.eye(10))  # (10, 4, 4), of the units of all parameters


@dataclass(frozen=True, eq=False, kw_only=True)
class Prior:
    """Bodies of L links to stay close to, and coordinates in which each of them is the identity."""

    parameters: Array  # (10 L,), as given: they need not be physical
    known: bool  # False where nobody gave them, and a neutral body stands in
    roots: Array  # (L, 4, 4), C of every link
    to_parameters: Array  # (L, 10, 10), parameters of a link per coordinate

    @property
    def links(self) -> int:
        return len(self.roots)

    @property
    def centre(self) -> Array:
        """Coordinates of the prior itself, (10 L,): svec(1) where it is physical."""
        return self.coordinates(self.parameters)

    def coordinates(self, parameters: ArrayLike) -> Array:
        """svec(X) of every link, (10 L,), from standard parameters (10 L,)."""
        P = pseudo_inertia(np.reshape(np.asarray(parameters, dtype=np.float64), (-1, 10)))
        inverse = np.linalg.inv(self.roots)
        return svec(inverse @ P @ np.swapaxes(inverse, -1, -2)).ravel()

    def standard(self, coordinates: Array) -> Array:
        """Standard parameters (10 L,) of coordinates (10 L,)."""
        return np.einsum("lij,lj->li", self.to_parameters, coordinates.reshape(-1, 10)).ravel()


def prior_of(robot: Robot, parameters: ArrayLike | None = None) -> Prior:
    """The prior of given parameters (10 L,); without any, neutral bodies of the links' size."""
    known = parameters is not None
    phi = neutral_parameters(robot) if parameters is None else np.asarray(parameters, dtype=np.float64)
    if phi.shape != (10 * len(robot.links),):
        raise ArgumentError(
            f"the prior has shape {phi.shape}; {robot.name} needs ({10 * len(robot.links)},), "
            "in the order of robot.parameter_names"
        )
    missing = [
        link.name
        for link, ten in zip(robot.links, phi.reshape(-1, 10), strict=True)
        if not np.isfinite(ten).all()
    ]
    if missing:
        raise ArgumentError(
            f"the prior has no parameters for {', '.join(map(quote, missing))}: complete them or leave it"
        )
    roots = np.array(
        [
            _root(ten, length)
            for ten, length in zip(phi.reshape(-1, 10), link_lengths(robot).tolist(), strict=True)
        ]
    )
    return Prior(parameters=frozen(phi), known=known, roots=frozen(roots), to_parameters=frozen(_maps(roots)))


def scaled(prior: Prior, factor: float) -> Prior:
    """The prior with all masses multiplied by a positive factor."""
    roots = np.sqrt(factor) * prior.roots
    return Prior(
        parameters=frozen(factor * prior.parameters),
        known=prior.known,
        roots=frozen(roots),
        to_parameters=frozen(_maps(roots)),
    )


def _maps(roots: Array) -> Array:
    """Parameters per coordinate, (L, 10, 10): the inverse of P = C smat(u) C' read entry by entry."""
    units = smat(np.eye(ENTRIES))
    P = np.einsum("lab,kbc,ldc->lkad", roots, units, roots)
    entries = np.linalg.inv(svec(_PSEUDO).T)  # parameters per entry of svec(P)
    return np.einsum("pe,lke->lpk", entries, svec(P))


def _root(ten: Array, length: float) -> Array:
    """C with C C' = the pseudo-inertia, its shape made no thinner than `THINNEST` and its mass positive."""
    scale = np.array([length, length, length, 1.0])
    P = pseudo_inertia(ten) / np.outer(scale, scale)
    values, axes = np.linalg.eigh(P)
    largest = max(float(values[-1]), LEAST_MASS)
    values = np.maximum(values, THINNEST * largest)
    return scale[:, None] * np.linalg.cholesky((axes * values) @ axes.T)


# --- bodies where nobody knows any ----------------------------------------------------------------


def link_lengths(robot: Robot) -> Array:
    """A length typical of each link, (L,): to the farthest joint it carries, or as the link before."""
    lengths = np.full(len(robot.links), 0.0)
    for joint in robot.joints:
        if joint.parent >= 0:
            reach = float(np.linalg.norm(joint.before.translation))
            lengths[joint.parent] = max(lengths[joint.parent], reach)
    for number, joint in enumerate(robot.joints):
        lengths[number] = max(lengths[number], float(np.linalg.norm(joint.after.translation)))
        if lengths[number] < LEAST_LENGTH:
            before = lengths[joint.parent] / 2.0 if joint.parent >= 0 else 0.0
            lengths[number] = max(before, LEAST_LENGTH)
    return lengths


def neutral_parameters(robot: Robot) -> Array:
    """Round bodies of `NEUTRAL_MASS` halfway between the joints of each link, (10 L,)."""
    bodies: list[Array] = []
    for number, length in enumerate(link_lengths(robot).tolist()):
        joint = robot.joints[number]
        seat = joint.after.inverse()  # the link's own joint, seen from the link
        ends = [seat, *(other.before for other in robot.joints if other.parent == number)]
        com = np.mean([_place(end) for end in ends], axis=0)
        moment = NEUTRAL_MASS * (0.4 * length) ** 2
        bodies.append(parameters_from_com(NEUTRAL_MASS, com, moment * np.eye(3)))
    return np.concatenate(bodies)


def _place(frame: Frame) -> Array:
    return frame.translation
