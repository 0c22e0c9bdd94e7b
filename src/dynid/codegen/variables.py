"""The variables of a robot's file in the format of 1992: what may stay an argument of generated code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from dynid.codegen.runtime import FIXED, Runtime
from dynid.formats.dyn import GEOMETRY, read_table
from dynid.spatial import Array, frozen


def read_variables(path: Path) -> Runtime:
    """The variables that moments or motor inertias depend on linearly, and nothing else does."""
    table = read_table(path)
    fixed = {word.lstrip("+-") for row in (*GEOMETRY, "fs", "ds") for word in table.rows.get(row, ())}
    free = [name for name in table.variables if name not in fixed]
    if not free or not table.moment:
        return FIXED
    nothing = {**table.values, **dict.fromkeys(free, 0.0)}

    def parameters(values: Mapping[str, float]) -> Array:
        motors = table.numbers("ia", values) if "ia" in table.rows else [0.0] * table.links
        return np.concatenate([table.parameters(values).ravel(), motors])

    offset = parameters(nothing)
    slopes = np.stack([parameters({**nothing, name: 1.0}) - offset for name in free], axis=1)
    return Runtime(
        "variables",
        tuple(free),
        frozen([table.variables[name] for name in free]),
        frozen(slopes),
        "what the robot's file calls variable",
    )
