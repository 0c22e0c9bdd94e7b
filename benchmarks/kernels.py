"""The array interface against Pinocchio's Python calls, and against what the processor can do at all."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin

import dynid
from benchmarks.measure import Row, fastest
from benchmarks.pinocchio_models import pinocchio_model
from dynid.backends.kernel import host
from dynid.backends.sincos import emit_sincos
from dynid.dynamics import Dynamics
from dynid.program import Program
from dynid.robot import Joint, Link, Robot
from dynid.spatial import Frame, frozen, parameters_from_com, rotation_about
from dynid.steps import count

SAMPLES = 200_000


def motion(dof: int, samples: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-2, 2, (3, samples, dof))


def pinocchio_seconds(function: Callable[..., object], robot: Robot, calls: int = 500) -> float:
    """Per sample, in a Python loop over samples."""
    model = pinocchio_model(robot)
    data = model.createData()
    triples = list(zip(*motion(robot.dof, calls), strict=True))

    def loop() -> None:
        for q, qd, qdd in triples:
            function(model, data, q, qd, qdd)

    return fastest(loop) / calls


def regressor_seconds(robot: Robot, samples: int) -> float:
    """Per sample, on one core, every column computed and none stored beyond its tile."""
    dynamics = Dynamics(robot)
    q, qd, qdd = motion(robot.dof, samples)

    def stream() -> None:
        for _ in dynamics.regressor_tiles(q, qd, qdd):
            pass

    return fastest(stream) / samples


def trace_and_compile_seconds(robot: Robot) -> float:
    """From the robot to a regressor kernel that has run once, nothing cached."""
    os.environ["DYNID_CACHE"] = ""
    one = motion(robot.dof, 1)
    begin = time.perf_counter()
    next(Dynamics(robot).regressor_tiles(*one))
    return time.perf_counter() - begin


def tree(joints: int) -> Robot:
    """A binary tree of revolute joints in all directions."""
    rng = np.random.default_rng(1)
    made: list[Joint] = []
    links: list[Link] = []
    for k in range(joints):
        turn = rotation_about((1, 0, 0), rng.choice([-1, 1]) * np.pi / 2)
        before = Frame(turn, rng.uniform(-0.3, 0.3, 3))
        made.append(Joint(name=f"j{k}", kind="revolute", parent=(k - 1) // 2, before=before))
        phi = parameters_from_com(rng.uniform(0.5, 2), rng.uniform(-0.1, 0.1, 3), np.diag([2.0, 3.0, 4.0]))
        links.append(Link(name=f"l{k}", parameters=frozen(phi)))
    return Robot(name=f"tree{joints}", joints=tuple(made), links=tuple(links))


def dgemm_flops(size: int = 512) -> float:
    """Floating-point operations per second of a matrix product on one core."""
    a, b = np.random.default_rng(0).random((2, size, size))
    return 2.0 * size**3 / fastest(lambda: a @ b)


def floating_point_operations(program: Program) -> int:
    """Per sample: the equations' own, and those that the kernel spends on sines and cosines."""
    operations = count(program)
    emitted: list[str] = []

    def note(instruction: str) -> str:
        emitted.append(instruction)
        return "%x"

    emit_sincos(note, "%x", host().lanes, host().fma)
    # fused multiply-adds are two
    cost = sum(2 * ("llvm.fma" in line) + line.startswith(("fadd", "fsub", "fmul")) for line in emitted)
    return operations.total + cost * operations.sincos


def against_pinocchio(what: str, ours: float, theirs: float, goal: int) -> Row:
    """A row for the seconds a sample takes here and there."""
    text = f"{what}: {ours * 1e9:.0f} ns a sample, Pinocchio from Python {theirs * 1e9:.0f} ns"
    return Row(text, f"{theirs / ours:.0f}x", f">= {goal}x", theirs / ours >= goal)


def regressor_rows(robot: Robot) -> list[Row]:
    """The regressor against Pinocchio's, and against what the processor can do."""
    theirs = pinocchio_seconds(pin.computeJointTorqueRegressor, robot)
    ours = regressor_seconds(robot, 20_000)
    goal = 45 if host().lanes == 8 else 25
    program, _, _ = Dynamics(robot).regressor_program()
    rate, peak = floating_point_operations(program) / ours, dgemm_flops()
    operations = count(program)
    return [
        against_pinocchio("regressor, 7 joints, 70 columns, one core", ours, theirs, goal),
        Row(
            f"... its {operations.mul} + {operations.add} operations and those of {operations.sincos} sines "
            f"and cosines: {rate / 1e9:.1f} GFLOP/s, dgemm {peak / 1e9:.1f}",
            f"{100 * rate / peak:.0f} %",
            "70 %",
            rate / peak >= 0.7,
        ),
    ]


def inverse_dynamics_row(robot: Robot) -> Row:
    theirs = pinocchio_seconds(pin.rnea, robot)
    q, qd, qdd = motion(robot.dof, SAMPLES)
    ours = fastest(lambda: robot.inverse_dynamics(q, qd, qdd)) / SAMPLES
    return against_pinocchio(f"inverse dynamics of {SAMPLES} samples, all cores", ours, theirs, 40)


def compile_row(what: str, robot: Robot, runs: int, goal: float) -> Row:
    seconds = min(trace_and_compile_seconds(robot) for _ in range(runs))
    return Row(what, f"{seconds:.2f} s", f"< {goal:g} s", seconds < goal)


def rows() -> list[Row]:
    panda, branches = dynid.load_robot("panda"), tree(32)
    theirs = pinocchio_seconds(pin.computeJointTorqueRegressor, branches, 100)
    ours = regressor_seconds(branches, 4_000)
    return [
        *regressor_rows(panda),
        inverse_dynamics_row(panda),
        compile_row("trace and compile the 7-joint regressor", panda, 5, 0.3),
        compile_row("... of a 32-joint tree", branches, 2, 3.0),
        against_pinocchio("regressor of the tree, 320 columns, one core", ours, theirs, 40),
    ]
