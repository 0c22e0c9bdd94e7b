"""The C99 header and source of a listing."""

from __future__ import annotations

from collections.abc import Iterable

from dynid.backends.ccode import c_function, c_heading, literal
from dynid.codegen.function import Function
from dynid.codegen.listing import Listing, about
from dynid.codegen.names import comment, identifiers
from dynid.spatial import Array


def header(listing: Listing) -> str:
    """`<prefix>.h`: the functions, the order of the joints, and what everything means."""
    upper = listing.prefix.upper()
    guard = f"{upper}_GENERATED_DYNAMICS_H"
    joints = identifiers(listing.generated.model.robot.joint_names, "joint")
    order = [f"{upper}_JOINT_{name.upper()}" for name in unique_upper(joints)]
    lines = [
        *block_comment([*about(listing), "", *conventions(listing)]),
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        f"enum {{ {upper}_DOF = {listing.dof} }};",
        "",
        f"enum {listing.prefix}_joint_order {{",
        *enumerators(order),
        "};",
        "",
        *_runtime_names(listing),
    ]
    for function in listing.functions:
        lines += [f"/* {function.purpose} */", f"{heading(listing, function)};", ""]
    lines += ["#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
    return "\n".join(lines)


def source(listing: Listing) -> str:
    """`<prefix>.c`: straight-line functions without branches, memory of their own, or calls but of math.h."""
    real = "float" if listing.real == "float" else "double"
    lines = [*block_comment(about(listing)), f'#include "{listing.prefix}.h"', "", "#include <math.h>", ""]
    for function in listing.functions:
        n = function.operations
        lines += [
            f"/* {function.purpose}",
            f"   {n.mul} multiplications, {n.add} additions, {n.neg} negations, {n.sincos} pairs of sine and "
            "cosine */",
            c_function(function.program, listing.name(function), function.inputs, function.outputs, real),
        ]
    return "\n".join(lines)


def heading(listing: Listing, function: Function) -> str:
    real = "float" if listing.real == "float" else "double"
    return c_heading(listing.name(function), function.inputs, function.outputs, real)


def conventions(listing: Listing) -> list[str]:
    """How the functions belong together."""
    prefix = listing.prefix
    return [
        "Matrices are row by row. Outputs may share memory with inputs. No function keeps anything or calls",
        "more than math.h, so all may run at once, in any thread and in interrupts.",
        "",
        "Two rates: in the background, as often as time allows,",
        f"  {prefix}_inertia_gravity and {prefix}_velocity_torque;",
        f"in the control loop {prefix}_synchronous with the latest M, c and g.",
        f"Or everything at once: {prefix}_inverse_dynamics.",
    ]


def _runtime_names(listing: Listing) -> list[str]:
    runtime = listing.generated.runtime
    if not runtime.names:
        return []
    upper = listing.prefix.upper()
    names = unique_upper(identifiers(runtime.names, "value"))
    values = numbers(runtime.defaults, listing.real)
    return [
        f"/* the order of the argument {runtime.stem}, and its values in the model */",
        f"enum {listing.prefix}_{runtime.stem}_order {{",
        *enumerators([f"{upper}_{runtime.stem.upper()}_{name}" for name in names]),
        "};",
        f"#define {upper}_{runtime.stem.upper()}_VALUES {{ {values} }}",
        "",
    ]


def unique_upper(names: Iterable[str]) -> list[str]:
    """The names in capitals, numbered where only their cases differed."""
    return [name.upper() for name in identifiers((name.upper() for name in names), "N")]


def enumerators(names: list[str]) -> list[str]:
    return [f"    {name} = {k}{',' if k + 1 < len(names) else ''}" for k, name in enumerate(names)]


def block_comment(lines: Iterable[str]) -> list[str]:
    return ["/*", *(f" * {line}".rstrip() for line in lines), " */", ""]


def numbers(values: Array, real: str) -> str:
    """Values as the inside of an initialiser."""
    kind = "float" if real == "float" else "double"
    return ", ".join(literal(x, kind) for x in values.tolist())


def provenance(listing: Listing) -> list[str]:
    """A short comment for the further files."""
    return block_comment([f"Belongs to {listing.prefix}.c, from {comment(listing.origin)}."])
