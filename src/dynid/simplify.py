"""Fewer operations for a program that will be printed as code and run for years.

Recording already folds constants and shares equal nodes. Here the nodes become sums of many terms and
products of many factors, in which more can be found:

    flatten   a sum or product used once is merged into the sum or product that uses it
    factor    a b + a c becomes a (b + c), most frequent b + c first
    share     a pair of terms or factors that occurs more than once is computed once, most frequent first

and then binary nodes again. The batch kernels do without this: they are traced in milliseconds and are as
fast as the memory they write to.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import combinations
from typing import TypeAlias

from dynid.program import EVEN, ODD, Expr, Graph, Node, Program, Scalar
from dynid.steps import arithmetic

ROUNDING = 1e-15  # of the largest constant of a sum

Signed: TypeAlias = tuple[int, int]  # (id, +1 or -1)


def simplify(program: Program, rounds: int = 4) -> Program:
    """An equal program with no more operations: the cheapest of the given one and a few rounds."""
    best, cost = program, arithmetic(program)
    latest = program
    for attempt in range(rounds):
        terms = _Terms(latest)
        terms.cancel()
        terms.flatten()
        terms.factor()
        terms.share(terms.sums)
        terms.share_factors()
        latest = terms.program()
        total = arithmetic(latest)
        if total < cost:
            best, cost = latest, total
        elif attempt > 0:
            break
    return best


class _Terms:
    """A program as sums {id: sign} and products [id, ...] over leaves; an id never changes its value."""

    def __init__(self, program: Program) -> None:
        self.inputs = program.inputs
        self.leaves: dict[int, Node] = {}
        self.sums: dict[int, dict[int, int]] = {}
        self.products: dict[int, list[int]] = {}
        self._ids: dict[object, int] = {}
        self._next = 0
        known: dict[int, Signed] = {}
        for k in program.live:
            known[k] = self._node(program.graph.nodes[k], known)
        self.outputs: list[Signed | float] = []
        for out in program.outputs:
            if isinstance(out, Expr):
                number, sign = known[out.node]
                self.outputs.append((number, sign * out.sign))
            else:
                self.outputs.append(out)

    def _node(self, node: Node, known: Mapping[int, Signed]) -> Signed:
        match node:
            case ("*", a, b):
                (x, s), (y, t) = known[a], known[b]
                return self._product([x, y]), s * t
            case ("+" | "-" as kind, a, b):
                (x, s), (y, t) = known[a], known[b]
                terms = Counter({x: s})
                terms[y] += t if kind == "+" else -t
                return self._sum(terms)
            case (kind, a) if kind in ODD or kind in EVEN:
                x, s = known[a]
                return self._leaf((kind, x)), s if kind in ODD else 1
            case _:
                return self._leaf(node), 1

    # -- making ids ------------------------------------------------------------------------------------

    def _id(self, key: object) -> tuple[int, bool]:
        """The id of this key, and whether it is new."""
        found = self._ids.get(key)
        if found is not None:
            return found, False
        self._next += 1
        self._ids[key] = self._next
        return self._next, True

    def _leaf(self, node: Node) -> int:
        number, new = self._id(node)
        if new:
            self.leaves[number] = node
        return number

    def _constant(self, k: int) -> float | None:
        node = self.leaves.get(k)
        return float(node[1]) if node is not None and node[0] == "const" else None

    def _product(self, factors: Iterable[int]) -> int:
        """The product of these ids, constants multiplied together."""
        constant, rest = 1.0, list[int]()
        for k in factors:
            value = self._constant(k)
            if value is None:
                rest.append(k)
            else:
                constant *= value
        if constant != 1.0:
            rest.append(self._leaf(("const", constant)))
        if len(rest) == 1:
            return rest[0]
        rest.sort()
        number, new = self._id(("*", *rest))
        if new:
            self.products[number] = rest
        return number

    def _units(self, terms: Mapping[int, int]) -> dict[int, int]:
        """The same sum with coefficients of +1 and -1 only."""
        units: Counter[int] = Counter()
        for k, c in terms.items():
            if abs(c) > 1:
                units[self._product([k, self._leaf(("const", float(abs(c))))])] += 1 if c > 0 else -1
            else:
                units[k] += c
        if any(abs(c) > 1 for c in units.values()):
            return self._units(units)
        return self._one_constant({k: c for k, c in units.items() if c})

    def _one_constant(self, units: dict[int, int]) -> dict[int, int]:
        """The same sum with its constants added up; what is left of constants that cancel is rounding."""
        values = {k: c * value for k, c in units.items() if (value := self._constant(k)) is not None}
        if len(values) < 2:
            return units
        total = math.fsum(values.values())
        rest = {k: c for k, c in units.items() if k not in values}
        if abs(total) > ROUNDING * max(map(abs, values.values())):
            rest[self._leaf(("const", abs(total)))] = 1 if total > 0 else -1
        return rest

    def _sum(self, terms: Mapping[int, int]) -> Signed:
        """The sum of these terms; a sum and its negative are one id."""
        units = self._units(terms)
        if not units:
            return self._leaf(("const", 0.0)), 1
        if len(units) == 1:
            return next(iter(units.items()))
        sign = units[min(units)]
        units = {k: sign * c for k, c in units.items()}
        number, new = self._id(("+", frozenset(units.items())))
        if new:
            self.sums[number] = units
        return number, sign

    # -- passes ----------------------------------------------------------------------------------------

    def _uses(self) -> Counter[int]:
        """How often each id is used; what nothing uses is dropped."""
        uses: Counter[int] = Counter(out[0] for out in self.outputs if isinstance(out, tuple))
        stack = list(uses)
        seen = set(stack)
        while stack:
            for child in self._children(stack.pop()):
                uses[child] += 1
                if child not in seen:
                    seen.add(child)
                    stack.append(child)
        for table in (self.sums, self.products):
            for dead in [k for k in table if k not in seen]:
                del table[dead]
        self._ids = {key: k for key, k in self._ids.items() if k in seen or k in self.leaves}
        return uses

    def _children(self, k: int) -> Iterable[int]:
        if k in self.sums:
            return self.sums[k]
        if k in self.products:
            return self.products[k]
        node = self.leaves[k]
        return (node[1],) if node[0] in ODD or node[0] in EVEN else ()

    def flatten(self) -> None:
        """Merge sums into sums and products into products where they have one use."""
        while self._flatten_once(self._uses()):
            pass

    def _flatten_once(self, uses: Counter[int]) -> bool:
        """Merge wherever these counts allow it. Merging keeps them right, unless terms meet and cancel."""
        changed = False
        for k, terms in list(self.sums.items()):
            while inner := [t for t in terms if t in self.sums and uses[t] == 1]:
                merged = Counter({t: c for t, c in terms.items() if t not in inner})
                for t in inner:
                    for child, c in self.sums[t].items():
                        merged[child] += terms[t] * c
                terms = self.sums[k] = self._units(merged)
                changed = True
        for k, factors in list(self.products.items()):
            while inner := [t for t in factors if t in self.products and uses[t] == 1]:
                rest = [t for t in factors if t not in inner]
                factors = self.products[k] = sorted([*rest, *(x for t in inner for x in self.products[t])])
                changed = True
        return changed

    def cancel(self) -> None:
        """Write out the sums inside a sum, shared or not, where so much cancels that fewer terms remain."""
        for k, terms in list(self.sums.items()):
            merged: Counter[int] = Counter()
            for t, c in terms.items():
                for child, d in self.sums.get(t, {t: 1}).items():
                    merged[child] += c * d
            units = self._units(merged)
            if len(units) < len(terms):
                self.sums[k] = units

    def factor(self) -> None:
        """Take common factors out of sums, the pair of cofactors that saves most first."""
        while found := self._cofactors():
            best = max(found, key=lambda pair: self._saving(pair, found[pair]))
            k, factor, first, second = found[best][0]
            terms = dict(self.sums[k])
            c1, c2 = terms.pop(first), terms.pop(second)
            (a, b, _) = best
            left, right = self._cofactor(first, factor), self._cofactor(second, factor)
            assert {left, right} == {a, b}
            pair = Counter({self._product(left): c1})
            pair[self._product(right)] += c2
            inner, sign = self._sum(pair)
            merged = Counter(terms)
            merged[self._product([factor, inner])] += sign
            self.sums[k] = self._units(merged)

    def _cofactor(self, product: int, factor: int) -> tuple[int, ...]:
        rest = list(self.products[product])
        rest.remove(factor)
        return tuple(rest)

    def _cofactors(
        self,
    ) -> dict[tuple[tuple[int, ...], tuple[int, ...], int], list[tuple[int, int, int, int]]]:
        """For each (b, c, relative sign): the sums with a b + a c, as (sum, a, a b, a c)."""
        uses = self._uses()
        found: dict[tuple[tuple[int, ...], tuple[int, ...], int], list[tuple[int, int, int, int]]] = {}
        for k, terms in self.sums.items():
            by_factor: dict[int, list[int]] = {}
            for t in terms:
                if t in self.products and uses[t] == 1:
                    for factor in set(self.products[t]):
                        by_factor.setdefault(factor, []).append(t)
            for factor, members in by_factor.items():
                for first, second in combinations(members, 2):
                    left, right = self._cofactor(first, factor), self._cofactor(second, factor)
                    key = (min(left, right), max(left, right), terms[first] * terms[second])
                    found.setdefault(key, []).append((k, factor, first, second))
        return found

    def _saving(
        self,
        pair: tuple[tuple[int, ...], tuple[int, ...], int],
        places: list[tuple[int, int, int, int]],
    ) -> tuple[int, int]:
        left, right, sign = pair
        exists = len(left) == len(right) == 1 and (
            ("+", frozenset({(left[0], 1), (right[0], sign)})) in self._ids
        )
        return len({(k, factor) for k, factor, _, _ in places}) + exists, len({place[0] for place in places})

    def share(self, sums: dict[int, dict[int, int]]) -> None:
        """Give a pair of terms that several sums contain an id of its own."""
        self._uses()
        while True:
            places: dict[tuple[int, int, int], list[int]] = {}
            for k, terms in sums.items():
                for (a, s), (b, t) in combinations(sorted(terms.items()), 2):
                    places.setdefault((a, b, s * t), []).append(k)
            if not places or len(places[pair := max(places, key=lambda p: len(places[p]))]) < 2:
                return
            a, b, relative = pair
            shared, sign = self._sum({a: 1, b: relative})
            for k in places[pair]:
                if k != shared:
                    terms = Counter(sums[k])
                    own = terms.pop(a)
                    terms.pop(b)
                    terms[shared] += own * sign
                    sums[k] = self._units(terms)

    def share_factors(self) -> None:
        """Give a pair of factors that several products contain an id of its own."""
        self._uses()
        while True:
            places: dict[tuple[int, int], list[int]] = {}
            for k, factors in self.products.items():
                for pair in set(combinations(factors, 2)):
                    places.setdefault(pair, []).append(k)
            if not places or len(places[pair := max(places, key=lambda p: len(places[p]))]) < 2:
                return
            shared = self._product(pair)
            for k in places[pair]:
                if k != shared:
                    rest = list(self.products[k])
                    rest.remove(pair[0])
                    rest.remove(pair[1])
                    self.products[k] = sorted([*rest, shared])

    # -- back to binary nodes --------------------------------------------------------------------------

    def program(self) -> Program:
        graph = Graph()
        value: dict[int, Scalar] = {}

        def build(k: int) -> Scalar:
            if k in value:
                return value[k]
            result: Scalar
            if k in self.sums:
                result = 0.0
                for t, c in sorted(self.sums[k].items(), key=lambda item: -item[1]):
                    result = result + (build(t) if c > 0 else -build(t))
            elif k in self.products:
                result = 1.0
                for t in self.products[k]:
                    result = result * build(t)
            else:
                result = self._build_leaf(graph, k, build)
            value[k] = result
            return result

        def signed(out: Signed | float) -> Scalar:
            if not isinstance(out, tuple):
                return out
            return build(out[0]) if out[1] > 0 else -build(out[0])

        outputs = tuple(signed(out) for out in self.outputs)
        return Program(graph, self.inputs, outputs)

    def _build_leaf(self, graph: Graph, k: int, build: Callable[[int], Scalar]) -> Scalar:
        match self.leaves[k]:
            case ("const", c):
                return float(c)
            case ("input", name):
                return graph.input(str(name))
            case (kind, angle):
                x = build(int(angle))
                assert isinstance(x, Expr)
                return x.of(str(kind))
            case node:
                raise AssertionError(node)
