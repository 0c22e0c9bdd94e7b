"""The functions in languages that need no compiler: Python (with NumPy, CasADi or JAX) and MATLAB."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dynid.codegen.function import Function
from dynid.codegen.listing import Listing, about
from dynid.steps import Step, steps_of

Write = Callable[[Step, str, str], str]  # a step and its operands' texts


def python_module(listing: Listing) -> str:
    """A module without dependencies; with NumPy arrays of samples in each q[k], give it `library=numpy`."""
    head = [
        '"""',
        *about(listing),
        "",
        "Arguments are sequences of numbers, results are lists; matrices are flat, row by row. With arrays",
        "of samples, q[k] of shape (N,), pass library=numpy.",
        '"""',
        "",
        "import math",
        "",
    ]
    body = [_python_function(function, "library", ", library=math", "[{}]") for function in listing.functions]
    return "\n".join([*head, *body])


def jax_module(listing: Listing) -> str:
    """Functions of JAX arrays (n,), for jit, grad and vmap."""
    head = [
        '"""',
        *about(listing),
        "",
        "Arguments and results are JAX arrays, matrices flat, row by row; every function may be jitted,",
        "differentiated and mapped.",
        'For double precision: jax.config.update("jax_enable_x64", True).',
        '"""',
        "",
        "import jax.numpy as jnp",
        "",
    ]
    body = [_python_function(function, "jnp", "", "jnp.array([{}])") for function in listing.functions]
    return "\n".join([*head, *body])


def casadi_module(listing: Listing) -> str:
    """`FUNCTIONS`: casadi.Function objects by name."""
    head = [
        '"""',
        *about(listing),
        "",
        "FUNCTIONS holds casadi.Function objects by name; matrices are flat, row by row.",
        '"""',
        "",
        "import casadi",
        "",
    ]
    body = [_python_function(function, "casadi", "", "casadi.vertcat({})") for function in listing.functions]
    made = ["", "def _function(name, code, lengths):"]
    made += [
        "    inputs = [casadi.SX.sym(stem, length) for stem, length in lengths]",
        "    outputs = code(*inputs)",
        "    return casadi.Function(name, inputs, outputs if isinstance(outputs, tuple) else (outputs,))",
        "",
        "",
        "FUNCTIONS = {",
    ]
    for function in listing.functions:
        lengths = ", ".join(f'("{stem}", {width})' for stem, width in function.inputs)
        made.append(f'    "{function.name}": _function("{function.name}", {function.name}, [{lengths}]),')
    return "\n".join([*head, *body, *made, "}", ""])


def matlab_function(listing: Listing, function: Function) -> str:
    """One function as the text of an .m file, also for MATLAB Function blocks."""
    arguments = ", ".join(stem for stem, _ in function.inputs)
    results = ", ".join(stem for stem, _ in function.outputs)
    places = {f"{stem}{k + 1}": f"{stem}({k + 1})" for stem, width in function.inputs for k in range(width)}
    lines = [
        f"function [{results}] = {listing.name(function)}({arguments}) %#codegen",
        f"% {function.purpose}",
        *(f"% {line}".rstrip() for line in about(listing)),
    ]
    steps, outputs = _statements(function, places, _matlab)
    lines += [f"{line};" for line in steps]
    for stem, width in function.outputs:
        lines.append(f"{stem} = zeros({width}, 1);")
        lines += [f"{stem}({k + 1}) = {outputs.pop(0)};" for k in range(width)]
    if function.name == "inertia_gravity":
        lines.append(f"M = reshape(M, {listing.dof}, {listing.dof});")
    if function.name == "regressor":
        lines.append(f"Y = reshape(Y, [], {listing.dof})';")
    return "\n".join([*lines, "end", ""])


# --- the text of steps --------------------------------------------------------------------------------


def _python_function(function: Function, library: str, last: str, made: str) -> str:
    arguments = ", ".join(stem for stem, _ in function.inputs)
    places = {f"{stem}{k + 1}": f"{stem}[{k}]" for stem, width in function.inputs for k in range(width)}
    steps, outputs = _statements(function, places, lambda step, a, b: _python(step, a, b, library))
    results: list[str] = []
    for _, width in function.outputs:
        results.append(made.format(", ".join(outputs[:width])))
        outputs = outputs[width:]
    lines = ["", f"def {function.name}({arguments}{last}):", f'    """{_sentence(function.purpose)}"""']
    lines += [f"    {line}" for line in steps]
    return "\n".join([*lines, f"    return {', '.join(results)}", ""])


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _statements(function: Function, places: Mapping[str, str], write: Write) -> tuple[list[str], list[str]]:
    """Assignments, and the texts of the outputs."""
    code = steps_of(function.program)
    text: dict[int, str] = {}
    lines: list[str] = []
    for step in code.steps:
        if step.kind == "const":
            text[step.target] = repr(float(step.what))
        elif step.kind == "input":
            text[step.target] = places[str(step.what)]
        else:
            text[step.target] = f"x{step.target}"
            lines.append(f"x{step.target} = {write(step, text.get(step.a, ''), text.get(step.b, ''))}")
    outputs: Sequence[int | float] = code.outputs
    return lines, [text[out] if isinstance(out, int) else repr(float(out)) for out in outputs]


def _python(step: Step, a: str, b: str, library: str) -> str:
    match step.kind:
        case "sin" | "cos" | "tanh":
            return f"{library}.{step.kind}({a})"
        case "abs":
            return f"abs({a})" if library != "casadi" else f"casadi.fabs({a})"
        case "root":
            return f"{library}.sqrt({_python(Step('abs', 0), a, '', library)})"
        case "bell":
            return f"{library}.exp(-({a} * {a}))"
        case "sign":
            return f"1.0 * ({a} > 0.0) - 1.0 * ({a} < 0.0)"
        case _:
            return _arithmetic(step, a, b)


def _matlab(step: Step, a: str, b: str) -> str:
    match step.kind:
        case "sin" | "cos" | "tanh" | "sign" | "abs":
            return f"{step.kind}({a})"
        case "root":
            return f"sqrt(abs({a}))"
        case "bell":
            return f"exp(-({a} * {a}))"
        case _:
            return _arithmetic(step, a, b)


def _arithmetic(step: Step, a: str, b: str) -> str:
    match step.kind:
        case "neg":
            return f"-{a}"
        case "double":
            return f"{a} + {a}"
        case _:
            return f"{a} {step.kind} {b}"
