"""Which sign to compute each node with, so that the code needs as few negations as possible.

A node whose value is wanted negated can often be computed negated for nothing: a - b becomes b - a, and in
a * b one factor may already be negated. Every node gets a *polarity*: what is stored is polarity * node.
A stored sum must have one term with a plus sign, a stored product the sign of its stored factors, an output
its own sign; each exception is one negation in the code.
"""

from __future__ import annotations

from collections.abc import Mapping

from dynid.program import ODD, Expr, Node, Program, operands

_PATIENCE = 40  # nodes that may turn with one output before the attempt is given up


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
    """A polarity for every live node: greedy, output by output, keeping each turn that saves a negation."""
    nodes = program.graph.nodes
    users: dict[int, list[int]] = {}
    for k in program.live:
        for operand in set(operands(nodes[k])):
            users.setdefault(operand, []).append(k)
    polarity = dict.fromkeys(program.live, 1)
    wanted: dict[int, list[int]] = {}
    for out in program.outputs:
        if isinstance(out, Expr):
            wanted.setdefault(out.node, []).append(out.sign)

    def cost(k: int) -> int:
        return needs_negation(nodes[k], polarity, polarity[k]) + any(
            sign != polarity[k] for sign in wanted.get(k, ())
        )

    for k, signs in wanted.items():
        if all(sign == polarity[k] for sign in signs):
            continue
        touched = _turn(k, nodes, users, polarity)
        affected = {user for t in touched for user in (t, *users.get(t, ()))}
        after = sum(cost(t) for t in affected)
        for t in touched:
            polarity[t] = -polarity[t]
        if len(touched) > _PATIENCE or sum(cost(t) for t in affected) <= after:
            continue
        for t in touched:
            polarity[t] = -polarity[t]
    return polarity


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
