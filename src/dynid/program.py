"""Straight-line programs: the physics, recorded once and ready for every back end.

The equations are plain Python over scalars. Given numbers they compute; given `Expr` they record
themselves in a `Graph`, whose nodes are

    const c (c > 0) | input name | sin a | cos a | a * b | a + b | a - b

and, for friction alone, the functions of `FRICTION`. An `Expr` is a node *with a sign*, so that -x, x and
every sum or product that differs only in sign are one node: negation costs nothing and hides no common
subexpression. Numbers stay Python floats until they meet an `Expr`, and vanish there where they can: 0 * x
is the float 0.0, 1 * x is x. What a robot's geometry makes zero is therefore never recorded.

A `Program` is a graph with named inputs and some of its expressions as outputs. It can be counted,
differentiated, specialised to known inputs and replayed on any other kind of scalar (`replay`), which is
all that a back end does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias

Scalar: TypeAlias = "float | Expr"

# A node is (kind, ...): ("const", c), ("input", name), ("sin", a), ("cos", a), ("*", a, b), ("+", a, b),
# ("-", a, b), or (kind, a) with a kind of FRICTION, where a and b are the numbers of earlier nodes.
Node: TypeAlias = tuple[Any, ...]

# What friction needs besides: the sign (0 at 0), tanh, |x|, exp(-x^2) and the root of |x|.
FRICTION: Mapping[str, Callable[[float], float]] = MappingProxyType(
    {
        "sign": lambda x: float((x > 0.0) - (x < 0.0)),
        "tanh": math.tanh,
        "abs": abs,
        "bell": lambda x: math.exp(-(x * x)),
        "root": lambda x: math.sqrt(abs(x)),
    }
)
ODD = frozenset({"sin", "sign", "tanh"})
EVEN = frozenset({"cos", "abs", "bell", "root"})


class Graph:
    """A growing list of nodes, each stored once (hash-consing)."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.constants: dict[int, float] = {}
        self._numbers: dict[Node, int] = {}

    def number(self, *node: str | float) -> int:
        """The number of this node, which is added if it is new."""
        found = self._numbers.get(node)
        if found is None:
            found = self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return found

    def input(self, name: str) -> Expr:
        return Expr(self, self.number("input", name), 1)

    def inputs(self, stem: str, count: int) -> list[Expr]:
        """`count` inputs called stem1, stem2, ..."""
        return [self.input(f"{stem}{k + 1}") for k in range(count)]

    def const(self, value: float) -> Expr:
        node = self.number("const", abs(value))
        self.constants[node] = abs(value)
        return Expr(self, node, -1 if value < 0 else 1)

    def scaled(self, k: int) -> tuple[float, int] | None:
        """(c, x) if node k is the product of a constant c and node x."""
        node = self.nodes[k]
        if node[0] != "*" or node[1] not in self.constants:
            return None
        return self.constants[node[1]], int(node[2])


class Expr:
    """A signed reference to a node. Arithmetic with floats and other `Expr` records new nodes."""

    __slots__ = ("graph", "node", "sign")

    def __init__(self, graph: Graph, node: int, sign: int) -> None:
        self.graph = graph
        self.node = node
        self.sign = sign

    def __neg__(self) -> Expr:
        return Expr(self.graph, self.node, -self.sign)

    def __add__(self, other: Scalar) -> Scalar:
        if not isinstance(other, Expr):
            if other == 0.0:
                return self
            other = self.graph.const(float(other))
        a, b = (self, other) if self.node <= other.node else (other, self)
        if a.node == b.node:
            return 2.0 * a if a.sign == b.sign else 0.0
        kind = "+" if a.sign == b.sign else "-"
        return Expr(a.graph, a.graph.number(kind, a.node, b.node), a.sign)

    def __mul__(self, other: Scalar) -> Scalar:
        graph = self.graph
        if isinstance(other, Expr):
            a, b = self.node, other.node
            return Expr(graph, graph.number("*", min(a, b), max(a, b)), self.sign * other.sign)
        if other == 0.0:
            return 0.0
        if abs(other) == 1.0:
            return self if other > 0 else -self
        scaled = graph.scaled(self.node)
        if scaled is not None:  # c (k x) = (c k) x
            return Expr(graph, scaled[1], self.sign) * (scaled[0] * float(other))
        factor = graph.const(float(other))
        # constants come first in a product, so that the rule above finds them
        return Expr(graph, graph.number("*", factor.node, self.node), self.sign * factor.sign)

    def __sub__(self, other: Scalar) -> Scalar:
        return self + (-other)

    def __rsub__(self, other: Scalar) -> Scalar:
        return (-self) + other

    __radd__ = __add__
    __rmul__ = __mul__

    def of(self, kind: str) -> Expr:
        """A function of one argument, of `ODD` or `EVEN`."""
        return Expr(self.graph, self.graph.number(kind, self.node), self.sign if kind in ODD else 1)

    def sin(self) -> Expr:
        return self.of("sin")

    def cos(self) -> Expr:
        return self.of("cos")


def sin(x: Scalar) -> Scalar:
    return x.sin() if isinstance(x, Expr) else math.sin(x)


def cos(x: Scalar) -> Scalar:
    return x.cos() if isinstance(x, Expr) else math.cos(x)


def friction(kind: str, x: Scalar) -> Scalar:
    """A function of `FRICTION`."""
    return x.of(kind) if isinstance(x, Expr) else FRICTION[kind](x)


def operands(node: Node) -> tuple[int, ...]:
    """Numbers of the nodes that this one is computed from."""
    return () if node[0] in ("const", "input") else node[1:]


@dataclass(frozen=True, eq=False)
class Program:
    """Named inputs, and expressions of one graph as outputs."""

    graph: Graph
    inputs: tuple[str, ...]
    outputs: tuple[Scalar, ...]

    @property
    def text(self) -> tuple[object, ...]:
        """What was recorded, to tell whether two programs are the same step by step."""
        outputs = tuple((out.node, out.sign) if isinstance(out, Expr) else out for out in self.outputs)
        return (self.inputs, outputs, *self.graph.nodes)

    @cached_property
    def live(self) -> tuple[int, ...]:
        """Nodes the outputs depend on, in order of creation; all others are dead code."""
        nodes = self.graph.nodes
        seen: set[int] = set()
        stack = [out.node for out in self.outputs if isinstance(out, Expr)]
        while stack:
            k = stack.pop()
            if k not in seen:
                seen.add(k)
                stack.extend(operands(nodes[k]))
        return tuple(sorted(seen))

    def replay(
        self,
        values: Mapping[str, Any],
        sin: Callable[[Any], Any] = sin,
        cos: Callable[[Any], Any] = cos,
        friction: Callable[[str, Any], Any] = friction,
    ) -> list[Any]:
        """The outputs for inputs of any kind that adds and multiplies: arrays, fractions, other `Expr`."""
        nodes = self.graph.nodes
        value: dict[int, Any] = {}
        for k in self.live:
            match nodes[k]:
                case ("const", c):
                    value[k] = c
                case ("input", name):
                    value[k] = values[name]
                case ("*", a, b):
                    value[k] = value[a] * value[b]
                case ("+", a, b):
                    value[k] = value[a] + value[b]
                case ("-", a, b):
                    value[k] = value[a] - value[b]
                case ("sin", a):
                    value[k] = sin(value[a])
                case ("cos", a):
                    value[k] = cos(value[a])
                case (kind, a):
                    value[k] = friction(kind, value[a])
                case _:
                    raise AssertionError(nodes[k])
        return [
            (value[out.node] if out.sign > 0 else -value[out.node]) if isinstance(out, Expr) else out
            for out in self.outputs
        ]

    def specialise(self, known: Mapping[str, float]) -> Program:
        """The program with some inputs fixed; everything they decide is folded away."""
        graph = Graph()
        rest = tuple(name for name in self.inputs if name not in known)
        values: dict[str, Scalar] = {name: graph.input(name) for name in rest}
        return Program(graph, rest, tuple(self.replay({**values, **known})))


def gradient(output: Scalar, wrt: Sequence[Expr]) -> list[Scalar]:
    """Derivatives of one expression by reverse accumulation, recorded in the same graph."""
    if not isinstance(output, Expr):
        return [0.0] * len(wrt)
    graph = output.graph
    adjoint: dict[int, Scalar] = {output.node: float(output.sign)}

    def accumulate(k: int, x: Scalar) -> None:
        adjoint[k] = adjoint[k] + x if k in adjoint else x

    for k in reversed(Program(graph, (), (output,)).live):
        bar = adjoint.get(k, 0.0)
        match graph.nodes[k]:
            case ("*", a, b):
                accumulate(a, bar * Expr(graph, b, 1))
                accumulate(b, bar * Expr(graph, a, 1))
            case ("+", a, b):
                accumulate(a, bar)
                accumulate(b, bar)
            case ("-", a, b):
                accumulate(a, bar)
                accumulate(b, -bar)
            case ("sin", a):
                accumulate(a, bar * Expr(graph, a, 1).cos())
            case ("cos", a):
                accumulate(a, -(bar * Expr(graph, a, 1).sin()))
            case ("tanh", a):
                t = Expr(graph, k, 1)
                accumulate(a, bar * (1.0 - t * t))
            case ("abs", a):
                accumulate(a, bar * Expr(graph, a, 1).of("sign"))
            case ("bell", a):
                accumulate(a, -2.0 * (bar * Expr(graph, a, 1) * Expr(graph, k, 1)))
            case ("root", _):
                raise ValueError("the root of |x| has no slope at 0")
            case _:  # constants and inputs depend on nothing, and a sign is constant in pieces
                pass
    return [x.sign * adjoint.get(x.node, 0.0) for x in wrt]
