"""Enclosures: what a recorded function can be at most over a whole piece of a motion.

Over a piece of time of length h every scalar x is known by an interval that holds x and one that holds its
rate dx/dt. Both follow the recorded operations, so the result is a bound and no sample:

    f(t) in f(middle) +- h / 2 * largest |df/dt|, and in the interval itself, whichever is the smaller
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.excite.recorded import STEMS, Recorded
from dynid.spatial import Array

TILE = 2048  # pieces at once: every step of the recorded function keeps four numbers of each of them


@dataclass(frozen=True, eq=False)
class Interval:
    """lower <= x <= upper for M pieces at once, (M,) each or one number."""

    lower: Array
    upper: Array

    @property
    def size(self) -> Array:
        """Largest |x|."""
        return np.maximum(np.abs(self.lower), np.abs(self.upper))

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.lower + other.lower, self.upper + other.upper)

    def __neg__(self) -> Interval:
        return Interval(-self.upper, -self.lower)

    def __mul__(self, other: Interval) -> Interval:
        products = (
            self.lower * other.lower,
            self.lower * other.upper,
            self.upper * other.lower,
            self.upper * other.upper,
        )
        low, high = np.minimum(products[0], products[1]), np.maximum(products[0], products[1])
        for product in products[2:]:
            low, high = np.minimum(low, product), np.maximum(high, product)
        return Interval(low, high)

    def cos(self) -> Interval:
        """Ends, and 1 or -1 where a multiple of 2 pi, or one shifted by pi, lies between them."""
        ends = np.cos(self.lower), np.cos(self.upper)
        turn = 2.0 * np.pi
        crest = np.floor(self.upper / turn) >= np.ceil(self.lower / turn)
        trough = np.floor((self.upper - np.pi) / turn) >= np.ceil((self.lower - np.pi) / turn)
        return Interval(
            np.where(trough, -1.0, np.minimum(*ends)),
            np.where(crest, 1.0, np.maximum(*ends)),
        )

    def sin(self) -> Interval:
        return Interval(self.lower - 0.5 * np.pi, self.upper - 0.5 * np.pi).cos()


@dataclass(frozen=True, eq=False)
class Moving:
    """A scalar over M pieces: an interval of its value and one of its rate."""

    value: Interval
    rate: Interval

    def __add__(self, other: Moving | float) -> Moving:
        if not isinstance(other, Moving):
            return Moving(self.value + _point(other), self.rate)
        return Moving(self.value + other.value, self.rate + other.rate)

    def __neg__(self) -> Moving:
        return Moving(-self.value, -self.rate)

    def __sub__(self, other: Moving | float) -> Moving:
        return self + (-other)

    def __rsub__(self, other: float) -> Moving:
        return (-self) + other

    def __mul__(self, other: Moving | float) -> Moving:
        if not isinstance(other, Moving):
            return Moving(self.value * _point(other), self.rate * _point(other))
        if other is self:  # a square is not negative
            size = self.value.size**2
            inside = (self.value.lower < 0.0) & (self.value.upper > 0.0)
            least = np.where(inside, 0.0, np.minimum(self.value.lower**2, self.value.upper**2))
            return Moving(Interval(least, size), self.rate * self.value * _point(2.0))
        return Moving(self.value * other.value, self.rate * other.value + self.value * other.rate)

    __radd__ = __add__
    __rmul__ = __mul__


def sin(x: Moving) -> Moving:
    return Moving(x.value.sin(), x.rate * x.value.cos())


def cos(x: Moving) -> Moving:
    return Moving(x.value.cos(), -(x.rate * x.value.sin()))


def _point(x: float) -> Interval:
    number = np.asarray(x, dtype=np.float64)
    return Interval(number, number)


def enclose(function: Recorded, pieces: list[Interval], middles: list[Array], lengths: Array) -> Interval:
    """Bounds of the m outputs over M pieces of a motion, (M, m) each.

    pieces: of q, qd, qdd, .., one more than the function needs, (M, n) each; middles: q, qd, .. in the middle
    of each piece, (M, n) each; lengths: of the pieces in s, (M,).
    """
    found = [
        _enclose(
            function,
            [Interval(piece.lower[tile], piece.upper[tile]) for piece in pieces],
            [middle[tile] for middle in middles],
            lengths[tile],
        )
        for tile in (slice(first, first + TILE) for first in range(0, len(lengths), TILE))
    ]
    return Interval(np.concatenate([x.lower for x in found]), np.concatenate([x.upper for x in found]))


def _enclose(function: Recorded, pieces: list[Interval], middles: list[Array], lengths: Array) -> Interval:
    values = {
        f"{stem}{k + 1}": Moving(_column(pieces[at], k), _column(pieces[at + 1], k))
        for at, stem in enumerate(STEMS[: function.width])
        for k in range(function.dof)
    }
    found = function.program.replay(values, sin, cos)
    middle = function.values(middles)
    lower, upper = np.empty_like(middle), np.empty_like(middle)
    for k, output in enumerate(found):
        if not isinstance(output, Moving):
            lower[:, k] = upper[:, k] = output
            continue
        reach = 0.5 * lengths * output.rate.size
        lower[:, k] = np.maximum(output.value.lower, middle[:, k] - reach)
        upper[:, k] = np.minimum(output.value.upper, middle[:, k] + reach)
    return Interval(lower, upper)


def _column(of: Interval, k: int) -> Interval:
    return Interval(np.ascontiguousarray(of.lower[:, k]), np.ascontiguousarray(of.upper[:, k]))
