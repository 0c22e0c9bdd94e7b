"""Programs as C99: one straight-line function that calls nothing but sin and cos."""

from __future__ import annotations

from collections.abc import Sequence

from dynid.program import Program
from dynid.steps import Step, steps_of


def c_function(program: Program, name: str, inputs: Sequence[tuple[str, int]], output: str = "out") -> str:
    """`void name(const double stem[width], ..., double output[n])` for a program with these inputs.

    `inputs` are (stem, width) pairs: program inputs stem1 .. stem<width> become stem[0] .. stem[width-1].
    Names must be C identifiers.
    """
    where = {f"{stem}{k + 1}": f"{stem}[{k}]" for stem, width in inputs for k in range(width)}
    code = steps_of(program)
    text: dict[int, str] = {}
    lines: list[str] = []
    for step in code.steps:
        if step.kind == "const":
            text[step.target] = literal(float(step.what))
        elif step.kind == "input":
            text[step.target] = where[str(step.what)]
        else:
            text[step.target] = f"x{step.target}"
            lines.append(f"    const double x{step.target} = {_operation(step, text)};")
    for k, out in enumerate(code.outputs):
        lines.append(f"    {output}[{k}] = {text[out] if isinstance(out, int) else literal(out)};")
    arguments = [f"const double {stem}[{width}]" for stem, width in inputs]
    arguments.append(f"double {output}[{len(code.outputs)}]")
    return "\n".join([f"void {name}({', '.join(arguments)})", "{", *lines, "}", ""])


def _operation(step: Step, text: dict[int, str]) -> str:
    a, b = text.get(step.a, ""), text.get(step.b, "")
    match step.kind:
        case "sin" | "cos":
            return f"{step.kind}({a})"
        case "neg":
            return f"-{a}"
        case "double":
            return f"{a} + {a}"
        case _:
            return f"{a} {step.kind} {b}"


def literal(value: float) -> str:
    """The shortest C literal of type double with this value."""
    return repr(float(value))
