"""Whether generated functions are right: their programs on random motions, beside the model itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid.codegen.function import Function
from dynid.codegen.runtime import Runtime
from dynid.friction import armature_matrix
from dynid.model import DynamicModel
from dynid.spatial import Array

EXACT = 1e-12  # of the largest magnitude: what rearranging may cost
_TRIALS = 24  # motions on which every function is compared with the model


def evaluate(function: Function, arguments: Sequence[Array]) -> list[Array]:
    """The outputs, (N, length) each, for arguments of these shapes."""
    values = {
        f"{stem}{k + 1}": np.asarray(array)[:, k]
        for (stem, width), array in zip(function.inputs, arguments, strict=True)
        for k in range(width)
    }
    samples = len(arguments[0])
    flat = [
        np.broadcast_to(x, samples)
        for x in function.program.replay(values, np.sin, np.cos, friction=_friction_of_arrays)
    ]
    found: list[Array] = []
    for _, width in function.outputs:
        found.append(np.stack(flat[:width], axis=1))
        flat = flat[width:]
    return found


def _friction_of_arrays(kind: str, x: Array) -> Array:
    match kind:
        case "sign":
            return np.sign(x)
        case "tanh":
            return np.tanh(x)
        case "abs":
            return np.abs(x)
        case "bell":
            return np.exp(-(x * x))
        case _:
            return np.sqrt(np.abs(x))


def reference(name: str, model: DynamicModel, arguments: Sequence[Array]) -> list[Array]:
    """What the function of this name should give, from the model itself."""
    robot, parameters = model.robot, model.parameters
    match name:
        case "inverse_dynamics":
            return [model.efforts(*arguments[:3])]
        case "inertia_gravity":
            q = arguments[0]
            inertia = robot.mass_matrix(q, parameters) + armature_matrix(model.armature, robot.transmission)
            return [inertia.reshape(len(q), -1), robot.gravity_torque(q, parameters)]
        case "velocity_torque":
            q, qd = arguments[:2]
            without_load = model.friction.efforts(qd, load=np.zeros_like(q))
            return [robot.velocity_torque(q, qd, parameters) + without_load]
        case "synchronous":
            M, c, g, qdd = arguments
            n = robot.dof
            return [(M.reshape(-1, n, n) @ qdd[..., None])[..., 0] + c + g]
        case _:
            return [robot.regressor(*arguments[:3]).reshape(len(arguments[0]), -1)]


def trial_arguments(function: Function, samples: int, seed: int = 0) -> list[Array]:
    """Arguments for trials: positions within a turn or a metre, all else within 2."""
    rng = np.random.default_rng(seed)
    return [
        rng.uniform(-2.0, 2.0, (samples, width)) if stem != "q" else rng.uniform(-3.0, 3.0, (samples, width))
        for stem, width in function.inputs
    ]


def error_of(function: Function, model: DynamicModel, runtime: Runtime) -> float:
    """Largest difference from the model on random motions, of the model's largest magnitude."""
    worst = 0.0
    arguments = trial_arguments(function, _TRIALS)
    motion = len(function.inputs) - len(runtime.inputs if function.name in runtime.functions else ())
    for late in runtime.trials():
        if motion < len(arguments):
            arguments[motion] = np.tile(late, (_TRIALS, 1))
        truth = reference(function.name, runtime.model_with(model, late), arguments)
        for ours, theirs in zip(evaluate(function, arguments), truth, strict=True):
            scale = np.abs(theirs).max(initial=0.0)
            worst = max(worst, float(np.abs(ours - theirs).max(initial=0.0) / (scale or 1.0)))
    return worst
