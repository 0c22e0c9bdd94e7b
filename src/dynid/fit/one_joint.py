"""One joint after the other, from the tip to the base: the estimator of Algorithm 2 of [Lin1992].

In the equation of joint j stand the constants of composite body j and of its drive, and those of the bodies
behind it, which are known by then: least squares of that equation alone gives the former. Errors of what is
known pass on,

    x_j = A+ (y - B z)      cov(x_j) = A+ S A+' + G cov(z) G',      cov(x_j, z) = G cov(z),      G = - A+ B

with A+ the pseudo-inverse, S the noise of the equations and z what is known. What one equation leaves open
stays unknown in those of the joints before.

Of the friction of a joint that stands still nothing is known but bounds: it holds with any effort up to
Coulomb's, and follows what it has to hold as if there were none of it. So equations of such a joint have an
error that may be any function of time with the variance of what is evenly distributed between the bounds,
s^2 = Fc^2 / 3. The worst of these for an unknown is alike its column, and then all rows of a log tell no more
than a single one: each of N rows gets the variance N s^2. A log with motion in both directions has two such
parts, with friction of its own in each. No number of rows, and no repetition of a motion, does better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.fit.reduction import triangle
from dynid.fit.solve import DEPENDENT, INVOLVED
from dynid.fit.unknowns import Unknowns
from dynid.spatial import Array, frozen

Flags = NDArray[np.bool_]

ROUNDS = 4  # of Coulomb's constant and what rests on it
SURE = 2.0  # standard deviations by which Coulomb friction must differ from none
ROUNDING = 1e-12  # of the efforts; noise is never taken for less


@dataclass(frozen=True, eq=False)
class Block:
    """Equations of one joint in one log, or a triangle that stands for them."""

    joint: int
    rows: Array  # (m, p) of all unknowns
    efforts: Array  # (m,)
    count: float  # of equations
    parts: int | None = None  # of a joint that stands still: how many have friction of their own


@dataclass(frozen=True, eq=False)
class Recursion:
    """Values of p unknowns and their covariance; zero and infinite for what is not determined."""

    values: Array  # (p,)
    covariance: Array  # (p, p), infinite on the diagonal of what is not determined
    undetermined: Flags  # (p,)
    sigma: Array  # (n,) of each joint's equations; 1 where there are none
    standing: Array  # (n,) deviation allowed for the friction of a joint that stands still


@dataclass(frozen=True, eq=False)
class _Stage:
    """The solution of one joint's equations."""

    values: Array  # (own,)
    known: Array  # (own, known): G
    covariance: Array  # (own, own) of these equations' noise
    left: Flags  # (own,) not determined


def recursion(unknowns: Unknowns, blocks: Sequence[Block], colour: Array | None = None) -> Recursion:
    """Values of all unknowns from the equations of all joints.

    `colour` (n,): by how much the noise of each joint's equations exceeds at low frequencies, where rows
    live, what their scatter shows, because it is correlated in time; 1 for white noise.
    """
    p, n = unknowns.count, unknowns.robot.dof
    x, P = np.zeros(p), np.zeros((p, p))
    known: Flags = np.zeros(p, dtype=np.bool_)
    sigma, standing = np.ones(n), np.zeros(n)
    left = np.zeros(0, dtype=np.intp)
    for joint in reversed(range(n)):
        mine = [block for block in blocks if block.joint == joint and block.count]
        own = np.union1d(unknowns.of_joint(joint), left)
        if not mine:
            left = own
            continue
        sigma[joint] = _noise(mine)
        root = 1.0 if colour is None else float(np.sqrt(colour[joint]))
        stage, standing[joint] = _settle(unknowns, mine, own, known, x, root * sigma[joint])
        determined, behind = own[~stage.left], np.flatnonzero(known)
        G = stage.known[~stage.left]
        x[determined] = stage.values[~stage.left]
        P[np.ix_(determined, behind)] = G @ P[np.ix_(behind, behind)]
        P[np.ix_(behind, determined)] = P[np.ix_(determined, behind)].T
        C = stage.covariance[np.ix_(~stage.left, ~stage.left)]
        P[np.ix_(determined, determined)] = C + G @ P[np.ix_(behind, behind)] @ G.T
        known[determined] = True
        left = own[stage.left]
    P[left, left] = np.inf
    return Recursion(frozen(x), frozen(P), ~known, frozen(sigma), frozen(standing))


def _noise(mine: Sequence[Block]) -> float:
    """Deviation of the equations: what no values of any unknowns explain.

    Those with friction at rest are asked only if there are no others.
    """
    used = [block for block in mine if block.parts is None] or mine
    T = triangle(np.concatenate([np.column_stack([block.rows, block.efforts]) for block in used]))
    A, y = T[:, :-1], T[:, -1]
    lengths = np.linalg.norm(A, axis=0)
    U, s, _ = np.linalg.svd(A / np.where(lengths > 0.0, lengths, 1.0))
    rank = int(np.sum(s > DEPENDENT * s[0]))
    count = sum(block.count for block in used)
    unexplained = float(np.linalg.norm(U[:, rank:].T @ y)) / np.sqrt(max(count - rank, 1.0))
    return max(unexplained, ROUNDING * float(np.linalg.norm(y)) / np.sqrt(count), 1e-300)


def _settle(
    unknowns: Unknowns, mine: Sequence[Block], own: NDArray[np.intp], known: Flags, x: Array, sigma: float
) -> tuple[_Stage, float]:
    """The stage, and the friction of the joint at rest, found together."""
    stage, standing = _solve(_whitened(mine, sigma, 0.0), own, known, x), 0.0
    if all(block.parts is None for block in mine):
        return stage, standing
    for _ in range(ROUNDS):
        standing = _friction_at_rest(unknowns, mine[0].joint, own, stage)
        stage = _solve(_whitened(mine, sigma, standing), own, known, x)
    return stage, standing


def _friction_at_rest(unknowns: Unknowns, joint: int, own: NDArray[np.intp], stage: _Stage) -> float:
    """Deviation of the friction that holds a joint, from Coulomb's constants of the drives that move it.

    A constant that the equations do not tell is taken from the robot's file.
    """
    total = 0.0
    rates = unknowns.rates("Fc")
    for drive in range(unknowns.robot.dof):
        if rates[drive, joint] == 0.0:
            continue
        told = [k for k, number in enumerate(own.tolist()) if unknowns.drives[number] == ("Fc", drive)]
        constant = float(np.nan_to_num(unknowns.robot.joints[drive].coulomb, nan=0.0))
        if told and not stage.left[told[0]]:
            deviation = float(np.sqrt(stage.covariance[told[0], told[0]]))
            found = float(stage.values[told[0]])
            constant = found if found > SURE * deviation else 0.0
        total += abs(rates[drive, joint]) * constant
    return total / np.sqrt(3.0)


def _whitened(mine: Sequence[Block], sigma: float, standing: float) -> Array:
    """The triangle (p + 1, p + 1) of all rows [A y] with noise of unit size."""
    scaled: list[Array] = []
    for block in mine:
        extra = 0.0 if block.parts is None else standing**2 * block.count / block.parts
        scaled.append(np.column_stack([block.rows, block.efforts]) / np.sqrt(sigma**2 + extra))
    return triangle(np.concatenate(scaled))


def _solve(T: Array, own: NDArray[np.intp], known: Flags, x: Array) -> _Stage:
    """Least squares for the unknowns `own` of a triangle [A y], with others known to be x."""
    X, K, y = T[:, own], T[:, :-1][:, known], T[:, -1]
    lengths = np.linalg.norm(X, axis=0)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    U, s, Vt = np.linalg.svd(X / lengths, full_matrices=True)
    rank = int(np.sum(s > DEPENDENT * s[0])) if len(s) and s[0] > 0.0 else 0
    inverse = (Vt[:rank].T / s[:rank]) @ U[:, :rank].T / lengths[:, None]
    target = y - K @ x[known]
    values = inverse @ target
    left = np.asarray(np.abs(Vt[rank:]).max(axis=0, initial=0.0) > INVOLVED, dtype=np.bool_)
    return _Stage(values, -inverse @ K, inverse @ inverse.T, left)
