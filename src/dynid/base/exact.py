"""Base parameters by structure alone: any tree, any axes, any gravity, no sampling.

What the joints can tell comes from `dynid.base.structure`; this module adds the drives, chooses the
parameters that stay and writes the result. The rows are

* everything that varies with q, which rests on the links alone, and
* the constant parts: the entries of the inertia matrix at q = 0, to which motor inertias add
  T^-T diag(Ia) T^-1, and the gravity torque at q = 0, to which offsets add themselves.

Viscous and Coulomb friction are functions of velocity that nothing else produces.
"""

from __future__ import annotations

import numpy as np

from dynid.base.columns import Columns, preference, units
from dynid.base.drives import constant_terms, friction_columns
from dynid.base.floating import Floating, without_rounding
from dynid.base.geometry import Geometry, floating_geometry, geometry_of
from dynid.base.rational import Exact, Numbers
from dynid.base.result import BaseParameters, from_pivots
from dynid.base.structure import Arithmetic, Sight, composite_rows, motions, sights, stack
from dynid.robot import Robot
from dynid.spatial import Array


def exact(robot: Robot, model: str, columns: Columns) -> BaseParameters:
    """Base parameters of the robot for a model: torque, inertia, gravity or energy.

    The energy determines the same combinations as the torque, its derivative; an energy that is
    constant is seen by neither. Joints that share a coordinate (mimic joints) couple branches that
    the structure takes as free: for them the rows are sampled.
    """
    shared = robot.dof < len(robot.joints)
    geometry = floating_geometry(robot) if shared else geometry_of(robot)
    arithmetic = Exact() if geometry.exact else Floating()
    turns = motions(geometry, arithmetic, inertia=True, gravity=False)
    order = preference(geometry, turns, columns, arithmetic)
    if shared:
        from dynid.base.sampling import sampled_rows  # needs the equations of motion; structure does not

        rows = sampled_rows(robot, model, columns)
    else:
        rows = structural_rows(robot, geometry, model, columns, arithmetic)
    reduced, pivots = arithmetic.reduce(rows, order)
    scale = np.array(units(robot, geometry, columns), dtype=reduced.dtype)
    matrix = in_si(reduced, scale, pivots) if geometry.exact else without_rounding(reduced, scale, pivots)
    rows_in_order = sorted(range(len(pivots)), key=pivots.__getitem__)
    return from_pivots(
        method="exact",
        model=model,
        columns=columns.names,
        matrix=matrix[rows_in_order],
        pivots=sorted(pivots),
        gap=(arithmetic.kept, arithmetic.dropped) if isinstance(arithmetic, Floating) else None,
        notes=("joints share a coordinate (mimic): decided from sampled torques",) if shared else (),
    )


def structural_rows(
    robot: Robot, geometry: Geometry, model: str, columns: Columns, arithmetic: Arithmetic
) -> Numbers:
    """Rows that span all that is identifiable, (rows, columns), in the geometry's units."""
    moves = motions(geometry, arithmetic, inertia=model != "gravity", gravity=model != "inertia")
    terms = constant_terms(robot, geometry, model, columns)
    blocks: list[Numbers] = []
    for joint, sight in enumerate(sights(geometry, moves, arithmetic)):
        added = {label: row for (label, at), row in terms.items() if at == joint}
        blocks += joint_rows(geometry, joint, sight, added, len(columns), arithmetic)
    friction = friction_columns(model, columns)
    units_of_friction = np.zeros((len(friction), len(columns)), dtype=blocks[0].dtype)
    units_of_friction[range(len(friction)), friction] = 1
    return np.concatenate([*blocks, units_of_friction])


def joint_rows(
    geometry: Geometry,
    joint: int,
    sight: Sight,
    added: dict[int, Numbers],
    width: int,
    arithmetic: Arithmetic,
) -> list[Numbers]:
    """What one joint tells: of links alone, and constants to which its drive's terms are `added`."""
    alone = [row[None] for label, row in sight.constant.items() if label not in added]
    functionals = arithmetic.span(stack([sight.varying, *alone], 10))
    nothing = np.zeros(10, dtype=functionals.dtype)
    shared = np.array([sight.constant.get(label, nothing) for label in added], dtype=functionals.dtype)
    shared_rows = composite_rows(geometry, joint, shared.reshape(-1, 10), width)
    for row, term in zip(shared_rows, added.values(), strict=True):
        row += term
    return [composite_rows(geometry, joint, functionals, width), shared_rows]


def in_si(reduced: Numbers, scale: Numbers, pivots: list[int]) -> Array:
    """The reduced rows for parameters in SI units; `scale` turns these into the units of the rows."""
    return np.asarray(reduced * scale / scale[pivots][:, None], dtype=np.float64)
