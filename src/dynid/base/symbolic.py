"""Linear combinations of parameters whose coefficients are formulas in a robot's lengths and angles.

A `Poly` is a polynomial with whole coefficients in symbols such as D3 (a length), Calpha3 and Salpha3
(cosine and sine of an oblique angle). Squares of sines are kept as 1 - cosine^2, so equal formulas are
equal objects; they are turned back where they shorten the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from typing import TypeAlias

Monomial: TypeAlias = tuple[tuple[str, int], ...]  # symbols with their powers, sorted by name
Combination: TypeAlias = "Mapping[str, float | Poly]"  # coefficients of parameters by name

ONE: Monomial = ()


@dataclass(frozen=True)
class Poly:
    """A sum of monomials with non-zero whole coefficients; numbers mix with it in sums and products."""

    terms: Mapping[Monomial, int]

    def __add__(self, other: Poly | float) -> Poly:
        return collected([*self.terms.items(), *poly(other).terms.items()])

    def __mul__(self, other: Poly | float) -> Poly:
        return collected(
            term
            for a, x in self.terms.items()
            for b, y in poly(other).terms.items()
            for term in without_squared_sines(multiplied(a, b), x * y)
        )

    def __neg__(self) -> Poly:
        return self * -1

    def __sub__(self, other: Poly | float) -> Poly:
        return self + poly(other) * -1

    def __rsub__(self, other: Poly | float) -> Poly:
        return poly(other) - self

    __radd__ = __add__
    __rmul__ = __mul__

    def __bool__(self) -> bool:
        return bool(self.terms)


def symbol(name: str) -> Poly:
    """A length such as D3; names in S and C are sine and cosine of one angle: Salpha3, Calpha3."""
    return Poly({((name, 1),): 1})


def poly(value: Poly | float) -> Poly:
    """The value as a polynomial; numbers must be whole."""
    if isinstance(value, Poly):
        return value
    if value != int(value):
        raise ValueError(f"{value} is not a whole number")
    return Poly({ONE: int(value)} if value else {})


def collected(terms: Iterable[tuple[Monomial, int]]) -> Poly:
    """The sum of terms."""
    total: dict[Monomial, int] = {}
    for monomial, coefficient in terms:
        total[monomial] = total.get(monomial, 0) + coefficient
    return Poly({monomial: coefficient for monomial, coefficient in total.items() if coefficient})


def multiplied(a: Monomial, b: Monomial) -> Monomial:
    """The product of two monomials."""
    powers = dict(a)
    for name, power in b:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def without_squared_sines(monomial: Monomial, coefficient: int) -> list[tuple[Monomial, int]]:
    """The term with S^2 = 1 - C^2 put in."""
    for name, power in monomial:
        if name.startswith("S") and power >= 2:
            rest = multiplied(monomial, ((name, -2),))
            return [
                *without_squared_sines(rest, coefficient),
                *without_squared_sines(multiplied(rest, ((cosine(name), 2),)), -coefficient),
            ]
    return [(monomial, coefficient)]


def with_squared_sines(terms: Mapping[Monomial, int]) -> dict[Monomial, int]:
    """The terms with S^2 in place of each 1 - C^2 that can be found."""
    for monomial in sorted(terms, key=degree):
        for name, power in monomial:
            if not name.startswith("C") or power < 2:
                continue
            rest = multiplied(monomial, ((name, -2),))
            if terms.get(rest) == -terms[monomial]:
                squares = {multiplied(rest, ((sine(name), 2),)): terms[rest]}
                others = {m: c for m, c in terms.items() if m not in (monomial, rest)}
                return with_squared_sines({**others, **squares})
    return dict(terms)


def degree(monomial: Monomial) -> int:
    return sum(power for _, power in monomial)


def cosine(name: str) -> str:
    """The cosine of the angle of this sine."""
    return "C" + name[1:]


def sine(name: str) -> str:
    """The sine of the angle of this cosine."""
    return "S" + name[1:]


# --- text -------------------------------------------------------------------------------------------


def combination_text(combination: Combination, names: Sequence[str], lead: str) -> str:
    """A combination as text, parameters that share a factor collected: 'ZZ1 + D4^2 (M4+M5+M6)'.

    The parameter `lead` comes first, then those without a factor, then the others in the order of `names`.
    """
    number = {name: k for k, name in enumerate(names)}
    number[lead] = -1
    by_monomial: dict[Monomial, list[tuple[str, int]]] = {}
    for name in sorted(combination, key=number.__getitem__):
        for monomial, coefficient in with_squared_sines(poly(combination[name]).terms).items():
            by_monomial.setdefault(monomial, []).append((name, coefficient))
    plain = by_monomial.pop(ONE, [])
    signed = [(coefficient, whole(coefficient, name)) for name, coefficient in plain]
    groups: dict[tuple[tuple[str, int], ...], dict[Monomial, int]] = {}
    for monomial, shares in by_monomial.items():
        common = gcd(*(coefficient for _, coefficient in shares)) * (1 if shares[0][1] > 0 else -1)
        group = tuple((name, coefficient // common) for name, coefficient in shares)
        groups.setdefault(group, {})[monomial] = common
    for group in sorted(groups, key=lambda shares: number[shares[0][0]]):
        signed.append(product_text(groups[group], group))
    return joined(signed)


def product_text(factor: Mapping[Monomial, int], group: tuple[tuple[str, int], ...]) -> tuple[int, str]:
    """Sign and text of a factor times a sum of parameters."""
    sign = 1 if max(factor.values()) > 0 else -1
    ordered = sorted(factor.items(), key=lambda term: (term[1] * sign < 0, term[0]))
    terms = [(sign * coefficient, monomial_text(coefficient, monomial)) for monomial, coefficient in ordered]
    outer = joined(terms) if len(terms) == 1 else f"({joined(terms)})"
    inner = joined([(c, whole(c, name)) for name, c in group], space="")
    many = len(group) > 1
    gap = "" if many and len(terms) > 1 else " "
    return sign, f"{outer}{gap}({inner})" if many else f"{outer} {inner}"


def monomial_text(coefficient: int, monomial: Monomial) -> str:
    """A term without its sign: '2 R3', 'D3^2'."""
    symbols = " ".join(name if power == 1 else f"{name}^{power}" for name, power in monomial)
    return whole(coefficient, symbols)


def whole(coefficient: int, name: str) -> str:
    """A name with a whole factor, without its sign."""
    return name if abs(coefficient) == 1 else f"{abs(coefficient)} {name}"


def joined(terms: Sequence[tuple[int, str]], space: str = " ") -> str:
    """Terms with signs in between; a leading plus is left out, no terms are zero."""
    text = "".join(f"{space}{'-' if sign < 0 else '+'}{space}{term}" for sign, term in terms).strip()
    return text.removeprefix("+").lstrip().replace("- ", "-", text.startswith("- ")) or "0"
