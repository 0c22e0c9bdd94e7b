"""Which sign to compute each node with, so that the code needs as few negations as possible.

A node whose value is wanted negated can often be computed negated for nothing: a - b becomes b - a, and in
a * b one factor may already be negated. Every node gets a *polarity*: what is stored is polarity * node.
A stored sum must have one term with a plus sign, a stored product the sign of its stored factors, an output
its own sign; each exception is one negation in the code.

These are constraints on signs, some of them (products) exact, most of them (sums) loose. A greedy pass meets
nearly all; a random walk, always the same one, looks for turns that meet the rest.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from dynid.program import ODD, Expr, Node, Program, operands

_PATIENCE = 40  # nodes that may turn with one output before the attempt is given up
_WALK = 400  # turns of the random walk
_NOISE = 0.1  # share of the turns that need not be the best ones
_LARGE = 1500  # nodes of programs whose negations are too few to matter


def term_signs(node: Node, polarity: Mapping[int, int], own: int) -> tuple[int, int]:
    """Signs with which the stored operands of a sum enter the stored sum."""
    _, a, b = node
    return own * polarity[a], own * polarity[b] * (1 if node[0] == "+" else -1)


def needs_negation(node: Node, polarity: Mapping[int, int], own: int) -> bool:
    """Whether this node cannot be stored with polarity `own` without a negation."""
    match node:
        case ("*", a, b):
            return own != polarity[a] * polarity[b]
        case ("+" | "-", _, _):
            return term_signs(node, polarity, own) == (-1, -1)
        case (kind, a) if kind in ODD:
            return own != polarity[a]
        case _:  # constants, inputs and even functions are what they are
            return own < 0


def polarities(program: Program) -> dict[int, int]:
    """A polarity for every live node, with few exceptions."""
    signs = _Signs(program)
    signs.settle_outputs()
    if len(program.live) <= _LARGE:
        signs.walk()
    return signs.polarity


class _Signs:
    """Polarities of a program while they are being chosen."""

    def __init__(self, program: Program) -> None:
        self.nodes = program.graph.nodes
        self.polarity = dict.fromkeys(program.live, 1)
        self.users: dict[int, list[int]] = {}
        for k in program.live:
            for operand in set(operands(self.nodes[k])):
                self.users.setdefault(operand, []).append(k)
        self.wanted: dict[int, set[int]] = {}
        for out in program.outputs:
            if isinstance(out, Expr):
                self.wanted.setdefault(out.node, set()).add(out.sign)

    def cost(self, k: int) -> int:
        """Negations at node k and behind it."""
        own = self.polarity[k]
        return needs_negation(self.nodes[k], self.polarity, own) + (-own in self.wanted.get(k, ()))

    def turn(self, *turned: int) -> None:
        for k in turned:
            self.polarity[k] = -self.polarity[k]

    def settle_outputs(self) -> None:
        """Output by output, keep each turn that saves a negation."""
        for k, signs in self.wanted.items():
            if -self.polarity[k] not in signs:
                continue
            touched = _turn(k, self.nodes, self.users, self.polarity)
            affected = {user for t in touched for user in (t, *self.users.get(t, ()))}
            after = sum(self.cost(t) for t in affected)
            self.turn(*touched)
            if len(touched) <= _PATIENCE and sum(self.cost(t) for t in affected) > after:
                self.turn(*touched)

    def walk(self) -> None:
        """Turn nodes at and below exceptions, mostly those that save most, and keep the best state."""
        rng = random.Random(0)
        broken = {k: cost for k in self.polarity if (cost := self.cost(k))}
        total = fewest = sum(broken.values())
        best = dict(self.polarity)
        for _ in range(_WALK):
            if not broken:
                break
            k = rng.choice(list(broken))
            candidates = [c for c in (k, *operands(self.nodes[k])) if self._may_turn(c)]
            if not candidates:
                continue
            at_random = rng.random() < _NOISE
            chosen = rng.choice(candidates) if at_random else min(candidates, key=self._gain)
            self.turn(chosen)
            for t in (chosen, *self.users.get(chosen, ())):
                total += (cost := self.cost(t)) - broken.pop(t, 0)
                if cost:
                    broken[t] = cost
            if total < fewest:
                fewest, best = total, dict(self.polarity)
        self.polarity = best

    def _may_turn(self, k: int) -> bool:
        return self.nodes[k][0] in ("*", "+", "-") or self.nodes[k][0] in ODD

    def _gain(self, k: int) -> int:
        """By how much turning node k changes the number of negations."""
        affected = (k, *self.users.get(k, ()))
        before = sum(self.cost(t) for t in affected)
        self.turn(k)
        after = sum(self.cost(t) for t in affected)
        self.turn(k)
        return after - before


def _turn(
    start: int, nodes: list[Node], users: Mapping[int, list[int]], polarity: dict[int, int]
) -> list[int]:
    """Turn a node and then what has to turn with it; returns the nodes turned."""
    turned = [start]
    polarity[start] = -polarity[start]
    queue = [start, *users.get(start, ())]
    while queue and len(turned) <= _PATIENCE:
        k = queue.pop()
        if not needs_negation(nodes[k], polarity, polarity[k]):
            continue
        candidates = [c for c in (*operands(nodes[k]), k) if c not in turned]
        free = [c for c in candidates if _turns_freely(c, nodes, polarity)]
        alone = [c for c in free if c == k or len(users[c]) == 1]
        if not (alone or free):
            continue
        chosen = (alone or free)[0]
        turned.append(chosen)
        polarity[chosen] = -polarity[chosen]
        queue += [chosen, *users.get(chosen, ())]
    return turned


def _turns_freely(k: int, nodes: list[Node], polarity: Mapping[int, int]) -> bool:
    """Whether a node can be stored with the other sign without a negation of its own."""
    return not needs_negation(nodes[k], polarity, -polarity[k])
