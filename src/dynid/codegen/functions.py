"""The functions that are generated: what each computes, as the cheapest program found for one model.

The two-rate structure of [Izaguirre1992]: `inertia_gravity` and `velocity_torque` run in the background, as
often as time allows; `synchronous` runs in the control loop and needs n multiplications and n additions a
joint. `inverse_dynamics` does everything at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from dynid import equations
from dynid.base import base_parameters
from dynid.codegen.drives import armature_entries, combined, friction_efforts
from dynid.codegen.function import Function, Shapes, Signature
from dynid.codegen.runtime import FIXED, Runtime
from dynid.codegen.trials import EXACT, error_of
from dynid.dynamics import Dynamics
from dynid.formulation import (
    EFFORT,
    Choice,
    Trace,
    as_given,
    cheapest,
    compound_starts,
    deciding_rows,
    recursion_starts,
)
from dynid.mechanism import Mechanism, mechanism
from dynid.model import DynamicModel
from dynid.program import Expr, Graph, Program, Scalar
from dynid.simplify import simplify
from dynid.spatial import Array
from dynid.steps import Operations
from dynid.vectors import ZERO, Vector, rotate_back

Report: TypeAlias = Callable[[str, Operations], None]  # name of a function, and what it costs so far


@dataclass(frozen=True, eq=False)
class Generated:
    """All functions of one model, and how far the worst of them is from it, of its largest magnitude."""

    model: DynamicModel
    runtime: Runtime
    functions: tuple[Function, ...]
    error: float

    def function(self, name: str) -> Function:
        return next(function for function in self.functions if function.name == name)


@dataclass(frozen=True, eq=False)
class _Wanted:
    """What the functions are for, and how they are searched."""

    model: DynamicModel
    runtime: Runtime
    report: Report | None
    effort: int


def generate(
    model: DynamicModel, runtime: Runtime = FIXED, report: Report | None = None, effort: int = EFFORT
) -> Generated:
    """The functions of a model, each as the cheapest program that a search finds.

    `effort` ends the search of each: see `formulation.cheapest`.
    """
    wanted = _Wanted(model, runtime, report, effort)
    functions = (
        _inverse_dynamics(wanted),
        _inertia_gravity(wanted),
        _velocity_torque(wanted),
        _synchronous(model.robot.dof),
        _regressor(model),
    )
    error = max(error_of(function, model, runtime) for function in functions)
    return Generated(model, runtime, functions, error)


# --- the functions ------------------------------------------------------------------------------------


def _inverse_dynamics(wanted: _Wanted) -> Function:
    model, runtime = wanted.model, wanted.runtime
    n = model.robot.dof
    signature = Signature(
        "inverse_dynamics",
        "efforts tau on the joints for positions q, velocities qd and accelerations qdd",
        (("q", n), ("qd", n), ("qdd", n), *runtime.inputs),
        (("tau", n),),
    )

    def trace(mech: Mechanism, values: Array, style: Any) -> Program:
        graph, (q, qd, qdd), numbers = _recording(signature.inputs, values, runtime)
        body, armature = numbers[:-n], numbers[-n:]
        rigid = equations.inverse_dynamics(
            mech, without_effect(mech, q, mech.gravity), qd, qdd, body, None, style
        )
        motors = combined(armature_entries(armature, model.robot.transmission), qdd)
        rubbing = friction_efforts(model.friction, qd, rigid)
        efforts = [a + b + c for a, b, c in zip(rigid, motors, rubbing, strict=True)]
        return Program(graph, signature.input_names, tuple(efforts))

    starts = recursion_starts(len(model.robot.links))
    return _searched(signature, trace, starts, wanted)


def _inertia_gravity(wanted: _Wanted) -> Function:
    model, runtime = wanted.model, wanted.runtime
    n = model.robot.dof
    signature = Signature(
        "inertia_gravity",
        "inertia matrix M (row by row) and gravity torque g at positions q",
        (("q", n), *runtime.inputs),
        (("M", n * n), ("g", n)),
    )

    def trace(mech: Mechanism, values: Array, style: Any) -> Program:
        graph, (q,), numbers = _recording(signature.inputs, values, runtime)
        body, armature = numbers[:-n], numbers[-n:]
        felt = without_effect(mech, q, mech.gravity)
        M, g = equations.inertia_matrix_and_gravity(mech, felt, body, None, style)
        motors = armature_entries(armature, model.robot.transmission)
        entries = [M[i][j] + motors[i][j] for i in range(n) for j in range(n)]
        return Program(graph, signature.input_names, (*entries, *g))

    starts = compound_starts(len(model.robot.links))
    return _searched(signature, trace, starts, wanted)


def _velocity_torque(wanted: _Wanted) -> Function:
    model, runtime = wanted.model, wanted.runtime
    n = model.robot.dof
    signature = Signature(
        "velocity_torque",
        "efforts c of velocities: Coriolis and centrifugal torque and friction",
        (("q", n), ("qd", n), *runtime.inputs),
        (("c", n),),
    )

    def trace(mech: Mechanism, values: Array, style: Any) -> Program:
        graph, (q, qd), body = _recording(signature.inputs, values, runtime)
        rigid = equations.velocity_torque(mech, without_effect(mech, q, ZERO), qd, body, style)
        rubbing = friction_efforts(model.friction, qd)
        return Program(
            graph, signature.input_names, tuple(a + b for a, b in zip(rigid, rubbing, strict=True))
        )

    starts = recursion_starts(len(model.robot.links))
    return _searched(signature, trace, starts, wanted)


def _synchronous(n: int) -> Function:
    signature = Signature(
        "synchronous",
        "efforts tau = M qdd + c + g from the latest M, c and g: all that the control loop computes",
        (("M", n * n), ("c", n), ("g", n), ("qdd", n)),
        (("tau", n),),
    )
    graph = Graph()
    M, c, g, qdd = (graph.inputs(stem, width) for stem, width in signature.inputs)
    products = combined([M[n * i : n * i + n] for i in range(n)], qdd)
    tau = [product + a + b for product, a, b in zip(products, c, g, strict=True)]
    return signature.by(Program(graph, signature.input_names, tuple(tau)))


def _regressor(model: DynamicModel) -> Function:
    n, size = model.robot.dof, model.robot.dof * len(model.robot.parameter_names)
    signature = Signature(
        "regressor",
        "Y (row by row) with Y times the standard parameters = rigid bodies' part of inverse_dynamics",
        (("q", n), ("qd", n), ("qdd", n)),
        (("Y", size),),
    )
    recorded, _, places = Dynamics(model.robot).regressor_program()
    simple = simplify(recorded)
    entries: list[Scalar] = [0.0] * size
    for place, entry in zip(places, simple.outputs, strict=True):
        entries[place] = entry
    return signature.by(Program(simple.graph, recorded.inputs, tuple(entries)))


def without_effect(mech: Mechanism, q: Sequence[Expr], gravity: Vector) -> list[Scalar]:
    """The positions, with zero for joints on the base whose position nothing depends on.

    Turning or sliding all that a base carries changes nothing but the direction of gravity, and that only
    where it is not along the axis.
    """
    found: list[Scalar] = list(q)
    for body in mech.bodies:
        x, y, _ = rotate_back(body.placement.rotation, gravity)
        alone = sum(other.coordinate == body.coordinate for other in mech.bodies) == 1
        if body.parent < 0 and alone and (body.prismatic or x == y == 0.0):
            found[body.coordinate] = 0.0
    return found


# --- how they are found -------------------------------------------------------------------------------


def _searched(signature: Signature, trace: Trace, starts: Sequence[Choice], wanted: _Wanted) -> Function:
    """The cheapest program of the search or, should that be inexact, the one with the parameters as given."""
    model, runtime = wanted.model, wanted.runtime
    mech = mechanism(model.robot)
    moving = signature.name == "velocity_torque"  # no gravity and no motors
    base = base_parameters(model.robot, model="inertia" if moving else "torque", armature=not moving)
    rows = deciding_rows(model.robot, base)
    parameters = runtime.columns(model, armature=not moving)

    def tell(so_far: Operations) -> None:
        if wanted.report is not None:
            wanted.report(signature.name, so_far)

    found = signature.by(cheapest(mech, rows, parameters, trace, starts, tell, wanted.effort)[0])
    if error_of(found, model, runtime) <= EXACT:
        return found
    return signature.by(simplify(trace(mech, as_given(mech, parameters), starts[0].style)))


def _recording(
    inputs: Shapes, values: Array, runtime: Runtime
) -> tuple[Graph, list[list[Expr]], list[Scalar]]:
    """A graph, its inputs but the runtime ones, and the parameters: numbers plus what comes at runtime."""
    graph = Graph()
    motion = len(inputs) - len(runtime.inputs)
    given = [graph.inputs(stem, width) for stem, width in inputs]
    late = [x for array in given[motion:] for x in array]
    if values.ndim == 1:
        return graph, given[:motion], list(values.tolist())
    numbers = [row[0] + combined([row[1:]], late)[0] for row in values.tolist()]
    return graph, given[:motion], numbers
