"""The expression graph: what it folds, shares, differentiates and counts, against exact arithmetic."""

from __future__ import annotations

import math
import random
import re
import shutil
import subprocess
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynid.backends.ccode import c_function
from dynid.program import FRICTION, Expr, Graph, Program, cos, friction, gradient, sin
from dynid.signs import needs_negation, polarities
from dynid.simplify import simplify
from dynid.steps import Operations, count, steps_of

seeds = st.integers(0, 2**32 - 1)


def polynomial(seed: int, size: int = 40, inputs: int = 4, outputs: int = 5) -> Program:
    """A random program of sums and products with integer constants: exact over fractions."""
    rng = random.Random(seed)
    graph = Graph()
    pool: list = graph.inputs("x", inputs)
    steps = (
        lambda a, b: a * b,
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, _: rng.choice((-3.0, -1.0, 0.5, 2.0)) * a,
        lambda a, _: a + rng.choice((-1.0, 4.0)),
        lambda a, _: -a,
    )
    for _ in range(size):
        pool.append(rng.choice(steps)(rng.choice(pool), rng.choice(pool)))
        if isinstance(pool[-1], Expr) and len(Program(graph, (), (pool[-1],)).live) > 30:
            pool.pop()  # degrees would explode
    chosen = tuple(rng.choice(pool) for _ in range(outputs))
    return Program(graph, tuple(f"x{k + 1}" for k in range(inputs)), chosen)


def values(seed: int, inputs: int = 4) -> dict[str, Fraction]:
    rng = random.Random(seed)
    return {f"x{k + 1}": Fraction(rng.randint(-7, 7), rng.randint(1, 5)) for k in range(inputs)}


def exactly(program: Program, at: dict[str, Fraction]) -> list[Fraction]:
    """Outputs in exact arithmetic; the constants of these programs are floats with exact values."""
    graph = program.graph
    value: dict[int, Fraction] = {}
    for k in program.live:
        match graph.nodes[k]:
            case ("const", c):
                value[k] = Fraction(c)
            case ("input", name):
                value[k] = at[name]
            case ("*", a, b):
                value[k] = value[a] * value[b]
            case ("+", a, b):
                value[k] = value[a] + value[b]
            case ("-", a, b):
                value[k] = value[a] - value[b]
    return [out.sign * value[out.node] if isinstance(out, Expr) else Fraction(out) for out in program.outputs]


# --- recording ----------------------------------------------------------------------------------------


def test_numbers_fold_before_they_are_recorded():
    x = Graph().input("x")
    assert 0.0 * x == 0.0
    assert (1.0 * x).node == x.node
    assert (x + 0.0).node == x.node
    assert x - x == 0.0
    assert math.isclose(sin(0.25) ** 2 + cos(0.25) ** 2, 1.0)


def test_equal_up_to_sign_is_one_node():
    graph = Graph()
    x, y = graph.inputs("x", 2)
    size = len(graph.nodes)
    first = x * y
    assert (y * x).node == first.node
    assert ((-x) * y).node == first.node
    assert ((-x) * y).sign == -first.sign
    difference = x - y
    assert (y - x).node == difference.node
    assert (y - x).sign == -difference.sign
    assert ((-x) - y).node == (x + y).node
    assert cos(-x).node == cos(x).node
    assert sin(-x).sign == -1
    assert len(graph.nodes) == size + 3 + 2  # x y, x - y, x + y, sin, cos


def test_constants_of_a_product_are_one_constant():
    graph = Graph()
    x = graph.input("x")
    scaled = 2.0 * (3.0 * (x * 5.0))
    assert graph.nodes[scaled.node] == ("*", graph.const(30.0).node, x.node)
    undone = -0.5 * (2.0 * x)
    assert (undone.node, undone.sign) == (x.node, -1)


def test_dead_code_is_not_live():
    graph = Graph()
    x, y = graph.inputs("x", 2)
    _ = sin(x * y)
    program = Program(graph, ("x1", "x2"), (x + 1.0,))
    assert {graph.nodes[k][0] for k in program.live} == {"input", "const", "+"}


@given(seeds)
def test_specialising_is_substituting(seed):
    program, at = polynomial(seed), values(seed)
    fixed = {"x2": float(at["x2"].numerator), "x4": 0.0}
    at = {**at, "x2": Fraction(at["x2"].numerator), "x4": Fraction(0)}
    special = program.specialise(fixed)
    assert special.inputs == ("x1", "x3")
    assert exactly(special, at) == exactly(program, at)
    assert len(special.live) <= len(program.live)


# --- derivatives --------------------------------------------------------------------------------------


@given(seeds)
def test_gradient_of_a_polynomial_is_exact(seed):
    """Against central differences in exact arithmetic, extrapolated until the polynomial is used up."""
    program, at = polynomial(seed, size=12, outputs=1), values(seed)
    output = program.outputs[0]
    wrt = [program.graph.input(name) for name in program.inputs]
    slopes = exactly(Program(program.graph, program.inputs, tuple(gradient(output, wrt))), at)
    for name, slope in zip(program.inputs, slopes, strict=True):
        assert slope == derivative(lambda x, name=name: exactly(program, {**at, name: x})[0], at[name])


def derivative(f, x: Fraction, degree: int = 40) -> Fraction:
    """f'(x) of a polynomial of at most this degree, by interpolation on integer offsets (Neville)."""
    nodes = [Fraction(k) for k in range(-degree // 2, degree // 2 + 1)]
    table = [f(x + t) for t in nodes]
    slopes = [Fraction(0)] * len(nodes)
    for level in range(1, len(nodes)):
        for i in range(len(nodes) - level):
            left, right = nodes[i], nodes[i + level]
            width = left - right
            slopes[i] = ((table[i] - table[i + 1]) - right * slopes[i] + left * slopes[i + 1]) / width
            table[i] = (left * table[i + 1] - right * table[i]) / width
    return slopes[0]


def test_gradient_through_sine_and_cosine():
    graph = Graph()
    x, y = graph.inputs("x", 2)
    f = sin(x * y) * cos(x + y) - cos(2.0 * y)
    at = {"x1": 0.7, "x2": -1.3}
    slopes = Program(graph, ("x1", "x2"), tuple(gradient(f, [x, y]))).replay(at)
    (a, b), h = at.values(), 1e-20

    def complex_step(dx, dy):
        u, v = a + 1j * h * dx, b + 1j * h * dy
        return (np.sin(u * v) * np.cos(u + v) - np.cos(2 * v)).imag / h

    assert slopes == pytest.approx([complex_step(1, 0), complex_step(0, 1)], rel=1e-14)


@pytest.mark.parametrize("kind", sorted(set(FRICTION) - {"root"}))
@pytest.mark.parametrize("at", [-1.3, -0.2, 0.4, 2.1])
def test_gradient_through_friction(kind: str, at: float):
    """Against central differences; their error is of the order h^2 + eps / h, below 1e-9 for h = 1e-5."""
    graph = Graph()
    (x,) = graph.inputs("x", 1)
    f = x * friction(kind, 2.0 * x)
    (slope,) = Program(graph, ("x1",), tuple(gradient(f, [x]))).replay({"x1": at})
    ahead, behind = (y * FRICTION[kind](2.0 * y) for y in (at + 1e-5, at - 1e-5))
    assert slope == pytest.approx((ahead - behind) / 2e-5, abs=1e-8)


def test_a_root_has_no_slope():
    graph = Graph()
    (x,) = graph.inputs("x", 1)
    with pytest.raises(ValueError, match="root"):
        gradient(friction("root", x), [x])


# --- simplification, signs, steps ---------------------------------------------------------------------


@given(seeds)
def test_simplifying_changes_no_value_and_adds_no_operation(seed):
    program, at = polynomial(seed), values(seed)
    simple = simplify(program)
    assert exactly(simple, at) == exactly(program, at)
    assert count(simple).total <= count(program).total


def test_simplifying_finds_what_it_is_for():
    graph = Graph()
    a, b, c, d = graph.inputs("x", 4)
    factored = simplify(Program(graph, ("x1", "x2", "x3", "x4"), (a * b + a * c + a * d,)))
    assert count(factored) == Operations(mul=1, add=2, neg=0, sincos=0)
    shared = simplify(Program(graph, ("x1", "x2", "x3", "x4"), ((a + b) + c, (c + b) + d, b + c)))
    assert count(shared) == Operations(mul=0, add=3, neg=0, sincos=0)
    products = simplify(Program(graph, ("x1", "x2", "x3", "x4"), ((a * b) * c, (c * b) * d)))
    assert count(products) == Operations(mul=3, add=0, neg=0, sincos=0)


def test_doubling_is_an_addition_and_a_pair_of_sines_is_one():
    graph = Graph()
    x, y = graph.inputs("x", 2)
    program = Program(graph, ("x1", "x2"), (x + x, sin(x) * cos(x), cos(y), 3.0 * y))
    assert count(program) == Operations(mul=2, add=1, neg=0, sincos=2)


def test_signs_are_chosen_so_that_nothing_is_negated():
    graph = Graph()
    x, y, z = graph.inputs("x", 3)
    program = Program(graph, ("x1", "x2", "x3"), (y - x, -((x - z) * y), (y - x) * z))
    assert count(program).neg == 0
    assert count(Program(graph, ("x1",), (-x,))).neg == 1


@given(seeds)
def test_polarities_say_what_needs_a_negation(seed):
    program = polynomial(seed)
    polarity = polarities(program)
    nodes = program.graph.nodes
    wanted = sum(needs_negation(nodes[k], polarity, polarity[k]) for k in program.live)
    negated = {o.node for o in program.outputs if isinstance(o, Expr) and o.sign != polarity[o.node]}
    constants = sum(o < 0 for o in program.outputs if isinstance(o, float))
    assert count(program).neg == wanted + len(negated) + constants
    naive = {o.node for o in program.outputs if isinstance(o, Expr) and o.sign < 0}
    assert count(program).neg <= len(naive) + constants


@given(seeds)
def test_steps_compute_the_outputs(seed):
    program, at = polynomial(seed), values(seed)
    code = steps_of(program)
    value: dict[int, Fraction] = {}
    for kind, k, a, b, what in code.steps:
        value[k] = {
            "const": lambda what=what: Fraction(what),
            "input": lambda what=what: at[what],
            "*": lambda a=a, b=b: value[a] * value[b],
            "+": lambda a=a, b=b: value[a] + value[b],
            "-": lambda a=a, b=b: value[a] - value[b],
            "double": lambda a=a: value[a] + value[a],
            "neg": lambda a=a: -value[a],
        }[kind]()
    assert [value[out] if isinstance(out, int) else out for out in code.outputs] == exactly(program, at)


# --- C text -------------------------------------------------------------------------------------------


def count_text(text: str) -> Operations:
    """Operations of C code by the contract's rule, read from the text alone."""
    body = text[text.index("{") :]
    body = re.sub(r"\b\d+\.?\d*(e[-+]?\d+)?", "1", body)  # signs of exponents are not operations
    binary = re.findall(r"[\w\])]\s*([-+*])\s*[\w(]", body)
    unary = re.findall(r"(?:=|\()\s*-\s*[\w(]", body)
    angles = set(re.findall(r"\b(?:sin|cos)\(([^)]*)\)", body))
    return Operations(binary.count("*"), binary.count("+") + binary.count("-"), len(unary), len(angles))


@given(seeds)
def test_the_count_is_that_of_the_printed_code(seed):
    program = polynomial(seed)
    assert count_text(c_function(program, "f", [("x", 4)])) == count(program)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_printed_code_computes(tmp_path):
    graph = Graph()
    x, y, z = graph.inputs("x", 3)
    program = Program(
        graph, ("x1", "x2", "x3"), (sin(x * y) - 1e-300 * z, -(x + y), 2.0 * cos(z), 0.1 * x - z, -4.5)
    )
    text = "#include <math.h>\n#include <stdio.h>\n" + c_function(program, "f", [("x", 3)])
    text += "int main(void) { double x[3] = {0.3, -1.7, 2.9}, out[5]; f(x, out);\n"
    text += 'for (int k = 0; k < 5; k++) { printf("%.17g\\n", out[k]); }\nreturn 0; }\n'
    (tmp_path / "f.c").write_text(text)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic"]
    subprocess.run(["cc", *flags, "f.c", "-o", "f", "-lm"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "f"], capture_output=True, text=True, check=True).stdout.split()
    expected = program.replay({"x1": 0.3, "x2": -1.7, "x3": 2.9})
    assert [float(p) for p in printed] == pytest.approx(expected, rel=1e-15)
