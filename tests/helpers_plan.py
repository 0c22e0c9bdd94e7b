"""Serial robots in a few letters, and the equations that experiments with exact efforts give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dynid.excite.limits import Bounds, bounds_of
from dynid.fit.one_joint import Block, recursion
from dynid.fit.unknowns import unknowns_of
from dynid.plan.bench import Bench
from dynid.plan.experiments import Experiment
from dynid.robot import Joint, Limits, Link, Robot
from dynid.spatial import Frame, rotation_x
from helpers_rank import random_robot

LIMITS = Limits(lower=-2.5, upper=2.5, velocity=2.0, acceleration=8.0)
DOWN = (0.0, 0.0, -9.81)


def serial(*steps: tuple[str, float, float], gravity: Sequence[float] = DOWN) -> Robot:
    """A robot of (R or P, alpha, a) in modified DH frames, with limits and any parameters."""
    rng = np.random.default_rng(len(steps))
    joints = tuple(
        Joint(
            name=f"j{k}",
            kind="prismatic" if letter == "P" else "revolute",
            parent=k - 2,
            before=Frame(rotation_x(alpha), (a, 0, 0)),
            limits=LIMITS,
        )
        for k, (letter, alpha, a) in enumerate(steps, start=1)
    )
    links = tuple(Link(name=f"l{k}", parameters=rng.normal(size=10)) for k in range(1, len(steps) + 1))
    return Robot(name="serial", joints=joints, links=links, gravity=np.array(gravity, dtype=float))


def heavy(seed: int, joints: int = 4) -> Robot:
    """A random serial robot with limits, joints that turn or slide, and gravity in one of four directions."""
    directions = 9.81 * np.array([(0, 0, -1), (0, 1, 0), (0, 0.6, -0.8), (0.3, -0.5, 0.81)])
    robot = random_robot(seed, serial=True, kind=("right", "rational", "oblique")[seed % 3], joints=joints)
    limited = tuple(replace(joint, limits=LIMITS) for joint in robot.joints)
    return replace(robot, joints=limited, gravity=directions[seed // 3 % 4])


def bench_of(robot: Robot, letters: Sequence[str] = (), **options: object) -> Bench:
    bounds: Bounds = bounds_of(robot)
    return Bench(unknowns_of(robot, letters), bounds, **options)


def truth_of(bench: Bench, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Standard parameters and constants of the drives, all of them different, and the unknowns' values."""
    base, links = bench.unknowns.base, 10 * len(bench.unknowns.robot.links)
    drives = np.random.default_rng(seed).uniform(0.1, 0.9, len(base.columns) - links)
    standard = np.concatenate([bench.unknowns.robot.parameters, drives])
    return standard, base.values(standard)


def equations(
    bench: Bench, experiments: Sequence[Experiment], *, every: int = 20, own: bool = True
) -> list[Block]:
    """Rows and exact efforts of experiments: of the joint that each reads, or of all joints."""
    standard, _ = truth_of(bench)
    robot = bench.unknowns.robot
    links = 10 * len(robot.links)
    found: list[Block] = []
    for one in experiments:
        motion = bench.trajectory(one.moves, one.posture)
        q, qd, qdd = motion.q[::every], motion.qd[::every], motion.qdd[::every]
        rows = bench.unknowns.efforts(q, qd, qdd)
        rows[:, :, bench.unknowns.at_rest([one.moves])] = 0.0
        tau = robot.inverse_dynamics(q, qd, qdd, standard[:links])
        drives = bench.unknowns.base.matrix[:, links:] @ standard[links:]
        tau = tau + rows @ drives
        for joint in [one.reads] if own else range(robot.dof):
            found.append(Block(joint, rows[:, joint], tau[:, joint], len(q)))
    return found


def error_of(bench: Bench, experiments: Sequence[Experiment]) -> float:
    """Largest error of what the backward recursion finds in exact efforts, by the largest value."""
    found = recursion(bench.unknowns, equations(bench, experiments))
    truth = truth_of(bench)[1]
    assert not found.undetermined.any(), np.array(bench.unknowns.names)[found.undetermined]
    return float(np.abs(found.values - truth).max() / np.abs(truth).max())
