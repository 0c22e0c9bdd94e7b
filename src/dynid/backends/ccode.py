"""Programs as C99: one straight-line function that calls nothing but sin and cos.

Where a program holds friction it also compares, or calls tanh, fabs, exp or sqrt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from dynid.errors import ArgumentError
from dynid.program import Program
from dynid.steps import Step, Steps, steps_of

Real: TypeAlias = Literal["double", "float"]


def c_function(
    program: Program,
    name: str,
    inputs: Sequence[tuple[str, int]],
    output: str | Sequence[tuple[str, int]] = "out",
    real: Real = "double",
) -> str:
    """`void name(const double stem[width], ..., double output[n])` for a program with these inputs.

    `inputs` are (stem, width) pairs: program inputs stem1 .. stem<width> become stem[0] .. stem[width-1].
    `output` is the name of one array of all outputs, or (stem, width) pairs that they fill one after the
    other. All outputs are written at the end, so that they may share memory with inputs. Names must be C
    identifiers.
    """
    outputs = [(output, len(program.outputs))] if isinstance(output, str) else list(output)
    code = steps_of(program)
    lines = [*_unused(inputs, code), *_statements(code, inputs, outputs, real)]
    heading = c_heading(name, inputs, outputs, real)
    return "\n".join([heading, "{", *(f"    {line}" for line in lines), "}", ""])


def c_heading(
    name: str, inputs: Sequence[tuple[str, int]], outputs: Sequence[tuple[str, int]], real: Real = "double"
) -> str:
    """The function without its body and without a semicolon."""
    arguments = [f"const {real} {stem}[{width}]" for stem, width in inputs]
    arguments += [f"{real} {stem}[{width}]" for stem, width in outputs]
    return f"void {name}({', '.join(arguments)})"


def _unused(inputs: Sequence[tuple[str, int]], code: Steps) -> list[str]:
    """Arguments that nothing depends on, said to be so: compilers warn otherwise."""
    used = {str(step.what) for step in code.steps if step.kind == "input"}
    return [
        f"(void){stem};" for stem, width in inputs if not any(f"{stem}{k + 1}" in used for k in range(width))
    ]


def _statements(
    code: Steps, inputs: Sequence[tuple[str, int]], outputs: Sequence[tuple[str, int]], real: Real
) -> list[str]:
    where = {f"{stem}{k + 1}": f"{stem}[{k}]" for stem, width in inputs for k in range(width)}
    text: dict[int, str] = {}
    lines: list[str] = []
    for step in code.steps:
        if step.kind == "const":
            text[step.target] = literal(float(step.what), real)
        elif step.kind == "input":
            text[step.target] = where[str(step.what)]
        else:
            text[step.target] = f"x{step.target}"
            lines.append(f"const {real} x{step.target} = {_operation(step, text, real)};")
    places = [f"{stem}[{k}]" for stem, width in outputs for k in range(width)]
    for place, out in zip(places, code.outputs, strict=True):
        lines.append(f"{place} = {text[out] if isinstance(out, int) else literal(out, real)};")
    return lines


def _operation(step: Step, text: Mapping[int, str], real: Real) -> str:
    a, b = text.get(step.a, ""), text.get(step.b, "")
    f = "f" if real == "float" else ""
    zero = literal(0.0, real)
    match step.kind:
        case "sin" | "cos" | "tanh":
            return f"{step.kind}{f}({a})"
        case "abs":
            return f"fabs{f}({a})"
        case "root":
            return f"sqrt{f}(fabs{f}({a}))"
        case "bell":
            return f"exp{f}(-({a} * {a}))"
        case "sign":
            return f"copysign{f}(({real})({a} != {zero}), {a})"  # 0 at 0, without an addition
        case "neg":
            return f"-{a}"
        case "double":
            return f"{a} + {a}"
        case _:
            return f"{a} {step.kind} {b}"


def literal(value: float, real: Real = "double") -> str:
    """The shortest C literal of this type with this value, and without an exponent unless it is extreme."""
    if real == "double":
        return _digits(np.float64(value))
    with np.errstate(over="ignore"):
        single = np.float32(value)
    if not np.isfinite(single):
        raise ArgumentError(f"the constant {value:g} is too large for float; double can hold it")
    return f"{_digits(single)}f"


def _digits(value: np.floating[Any]) -> str:
    if value == 0.0 or 1e-20 < abs(value) < 1e20:
        return np.format_float_positional(value, trim="0")
    return np.format_float_scientific(value, trim="0")
