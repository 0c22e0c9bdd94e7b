"""Whether experiments determine all unknowns, and how well: of the plan, or of postures that a user gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.fit.solve import condition
from dynid.plan.bench import Bench
from dynid.plan.rank import undetermined
from dynid.spatial import Array


@dataclass(frozen=True)
class Body:
    """What the equations of one joint, all experiments together, tell about its body and drive."""

    joint: int
    names: tuple[str, ...]  # the joint's unknowns, and what joints behind it left open
    condition: float  # 2-norm, unscaled, of what is determined
    undetermined: tuple[str, ...]


def judge(bench: Bench, motions: Sequence[tuple[int, Array]]) -> list[Body]:
    """Judgements of all joints, the last one first, of motions: which joint moves, and the posture (n,).

    What one joint's equation leaves open stays unknown in those of the joints before it, which may tell it.
    """
    unknowns = bench.unknowns
    found: list[Body] = []
    left = np.zeros(0, dtype=np.intp)
    for joint in reversed(range(unknowns.robot.dof)):
        own = np.union1d(unknowns.of_joint(joint), left)
        rows = [bench.rows(moving, joint, posture) for moving, posture in motions]
        left = undetermined(rows, own)
        told = np.setdiff1d(own, left)
        size = condition(np.concatenate(rows)[:, told]) if len(told) else float("inf")
        found.append(Body(joint, unknowns.named(own), size, unknowns.named(left)))
    return found


def open_at_last(bodies: Sequence[Body]) -> tuple[str, ...]:
    """Names of what all experiments together leave undetermined."""
    return bodies[-1].undetermined
