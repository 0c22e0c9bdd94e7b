"""A C program that checks the generated functions where they will run, against values of the model."""

from __future__ import annotations

import numpy as np

from dynid.codegen.c_library import numbers, provenance
from dynid.codegen.function import Function
from dynid.codegen.listing import Listing
from dynid.codegen.trials import reference, trial_arguments

SAMPLES = 3
TOLERANCE = {"double": "1e-12", "float": "1e-4"}  # of the largest magnitude


def self_test(listing: Listing) -> str:
    """The text of the program: exit status 0 if every function gives what the model gives."""
    real = listing.real
    tested = [function for function in listing.functions if function.name != "regressor"]
    lines = [
        *provenance(listing),
        f'#include "{listing.prefix}.h"',
        "",
        "#include <math.h>",
        "#include <stdio.h>",
        "",
        f"enum {{ SAMPLES = {SAMPLES} }};",
        "",
        f"static int compare(const char *what, const {real} *ours, const {real} *truth, int count)",
        "{",
        "    double worst = 0.0;",
        "    double largest = 0.0;",
        "    for (int k = 0; k < count; ++k) {",
        "        const double error = fabs((double)ours[k] - (double)truth[k]);",
        "        const double size = fabs((double)truth[k]);",
        "        if (!(error <= worst)) {",
        "            worst = error;",
        "        }",
        "        if (size > largest) {",
        "            largest = size;",
        "        }",
        "    }",
        f"    const int right = worst <= {TOLERANCE[real]} * (largest > 0.0 ? largest : 1.0);",
        '    printf("%-18s largest error %.2e of %.3g: %s\\n", what, worst, largest,',
        '           right ? "ok" : "WRONG");',
        "    return right ? 0 : 1;",
        "}",
        "",
    ]
    for function in tested:
        lines += _tables(listing, function)
    lines += ["int main(void)", "{", "    int wrong = 0;"]
    for function in tested:
        lines += _check(listing, function)
    lines += ["    return wrong == 0 ? 0 : 1;", "}", ""]
    return "\n".join(lines)


def _tables(listing: Listing, function: Function) -> list[str]:
    """Arguments and expected values of one function as constant arrays."""
    generated = listing.generated
    arguments = trial_arguments(function, SAMPLES, seed=1)
    if listing.real == "float":  # what the controller will be given, so that only its own rounding counts
        arguments = [array.astype(np.float32).astype(np.float64) for array in arguments]
    model, late = generated.model, generated.runtime
    if function.name in late.functions:
        values = late.trials()[-1]
        if listing.real == "float":
            values = values.astype(np.float32).astype(np.float64)
        arguments[-1] = np.tile(values, (SAMPLES, 1))
        model = late.model_with(model, values)
    truth = reference(function.name, model, arguments)
    shapes = [*function.inputs, *((f"true_{stem}", width) for stem, width in function.outputs)]
    lines: list[str] = []
    for (stem, width), array in zip(shapes, [*arguments, *truth], strict=True):
        lines += [f"static const {listing.real} {function.name}_{stem}[SAMPLES][{width}] = {{"]
        rows = (f"    {{ {numbers(row, listing.real)} }}" for row in array)
        lines += ",\n".join(rows).splitlines()
        lines += ["};", ""]
    return lines


def _check(listing: Listing, function: Function) -> list[str]:
    arguments = [f"{function.name}_{stem}[k]" for stem, _ in function.inputs]
    arguments += [f"{stem}[k]" for stem, _ in function.outputs]
    lines = ["    {"]
    lines += [f"        {listing.real} {stem}[SAMPLES][{width}];" for stem, width in function.outputs]
    lines += ["        for (int k = 0; k < SAMPLES; ++k) {"]
    lines += [f"            {listing.name(function)}({', '.join(arguments)});", "        }"]
    for stem, width in function.outputs:
        what = function.name if len(function.outputs) == 1 else f"{function.name} {stem}"
        truth = f"&{function.name}_true_{stem}[0][0]"
        lines.append(f'        wrong += compare("{what}", &{stem}[0][0], {truth}, SAMPLES * {width});')
    return [*lines, "    }"]
