"""A program as the list of steps that code consists of: what every printer of code prints, and what counts.

Signs are settled here (`signs`), so a step is exactly one operation of the code and counting steps is
counting what runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from dynid.program import Expr, Node, Program
from dynid.signs import needs_negation, polarities, term_signs

Kind: TypeAlias = Literal[
    "const", "input", "sin", "cos", "*", "+", "-", "double", "neg", "sign", "tanh", "abs", "bell", "root"
]


class Step(NamedTuple):
    """value[target] = kind of value[a] (and value[b]); "const" and "input" carry what they are instead."""

    kind: Kind
    target: int
    a: int = -1
    b: int = -1
    what: float | str = ""


@dataclass(frozen=True)
class Steps:
    """Steps in order of execution; `outputs` are values, or constants that need no step at all."""

    steps: tuple[Step, ...]
    outputs: tuple[int | float, ...]


@dataclass(frozen=True)
class Operations:
    """What code costs: doublings are additions, the sine and cosine of one angle are one.

    A negative constant as an output is a negation, since C has no negative literals. Of friction: exp(-x^2)
    is a product and a negation; the sign of x costs no arithmetic (see `backends.ccode`).
    """

    mul: int
    add: int
    neg: int
    sincos: int

    @property
    def total(self) -> int:
        return self.mul + self.add + self.neg


def steps_of(program: Program) -> Steps:
    """The code of a program; values are numbered like its nodes, negations behind them."""
    nodes = program.graph.nodes
    polarity = polarities(program)
    steps: list[Step] = []
    fresh = len(nodes)
    for k in program.live:
        node = nodes[k]
        if needs_negation(node, polarity, polarity[k]):
            # its opposite costs nothing extra, so compute that and negate it
            steps += [_step(nodes, node, fresh, polarity, -polarity[k]), Step("neg", k, fresh)]
            fresh += 1
        else:
            steps.append(_step(nodes, node, k, polarity, polarity[k]))
    negated: dict[int, int] = {}
    outputs: list[int | float] = []
    for out in program.outputs:
        if not isinstance(out, Expr):
            outputs.append(out + 0.0)  # zero without a sign
        elif out.sign == polarity[out.node]:
            outputs.append(out.node)
        else:
            if out.node not in negated:
                negated[out.node] = fresh
                steps.append(Step("neg", fresh, out.node))
                fresh += 1
            outputs.append(negated[out.node])
    return Steps(tuple(steps), tuple(outputs))


def _step(nodes: list[Node], node: Node, target: int, polarity: Mapping[int, int], own: int) -> Step:
    """The step that stores own * node, which needs no negation."""
    match node:
        case ("const" | "input" as kind, what):
            return Step(kind, target, what=what)
        case ("*", a, b):
            return Step("double", target, b) if nodes[a] == ("const", 2.0) else Step("*", target, a, b)
        case ("+" | "-", a, b):
            match term_signs(node, polarity, own):
                case (1, 1):
                    return Step("+", target, a, b)
                case (1, -1):
                    return Step("-", target, a, b)
                case _:
                    return Step("-", target, b, a)
        case (kind, a):
            return Step(kind, target, a)
        case _:
            raise AssertionError(node)


def arithmetic(program: Program) -> int:
    """Multiplications and additions of a program, without the negations that a choice of signs may leave."""
    nodes = program.graph.nodes
    return sum(nodes[k][0] in ("*", "+", "-") for k in program.live)


def count(program: Program) -> Operations:
    """Operations of a program's code."""
    code = steps_of(program)
    steps = code.steps
    kinds = [step.kind for step in steps]
    constants = [out for out in code.outputs if isinstance(out, float)]
    return Operations(
        mul=kinds.count("*") + kinds.count("bell"),
        add=kinds.count("+") + kinds.count("-") + kinds.count("double"),
        neg=kinds.count("neg") + kinds.count("bell") + sum(out < 0.0 for out in constants),
        sincos=len({step.a for step in steps if step.kind in ("sin", "cos")}),
    )
