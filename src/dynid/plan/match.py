"""Logs and the experiments of a plan: one log each, of the same name, in which the right joint moves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dynid.errors import ArgumentError, choices, quote
from dynid.log.log import Log
from dynid.plan.plan_file import Planned
from dynid.robot import Robot

MOVED = 0.02  # rad or m from the lowest to the highest position
ELSEWHERE = 0.05  # rad or m


def match(plan: Sequence[Planned], robot: Robot, logs: Sequence[Log]) -> tuple[list[Log], list[str]]:
    """The logs in the order of the plan, and what is not as planned.

    A log may have another format than the trajectory: its name counts up to the last dot.
    """
    by_name = {one.stem: one for one in plan}
    found: dict[str, Log] = {}
    for log in logs:
        stem = Path(log.provenance.source).stem
        if stem not in by_name:
            raise ArgumentError(
                f"{log.provenance.source}: no experiment of the plan: {choices(stem, by_name)}"
            )
        if stem in found:
            raise ArgumentError(f"two logs of the experiment {quote(stem)}: the plan needs one of each")
        found[stem] = log
    missing = [one.file for one in plan if one.stem not in found]
    if missing:
        more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
        raise ArgumentError(
            f"{len(found)} logs for a plan of {len(plan)} experiments; missing: "
            f"{', '.join(quote(name, 40) for name in missing[:8])}{more}"
        )
    remarks: list[str] = []
    for stem, one in by_name.items():
        remarks += _differences(one, robot, found[stem])
    return [found[stem] for stem in by_name], remarks


def _differences(planned: Planned, robot: Robot, log: Log) -> list[str]:
    """Joints that move or stand otherwise than planned; the wrong joint moving is an error."""
    names = robot.joint_names
    with np.errstate(invalid="ignore"):
        way = np.nan_to_num(np.nanmax(log.position, axis=0) - np.nanmin(log.position, axis=0))
        place = np.nanmedian(log.position, axis=0)
    source, moves = log.provenance.source, planned.moves
    if way[moves] < MOVED:
        others = [name for name, far in zip(names, way.tolist(), strict=True) if far >= MOVED]
        seen = f"{', '.join(others)} moves" if others else "nothing moves"
        raise ArgumentError(f"{source}: the plan moves {names[moves]} in this experiment, but {seen}")
    remarks: list[str] = []
    for j, name in enumerate(names):
        if j == moves:
            continue
        if way[j] >= MOVED:
            remarks.append(f"{source}: {name} moves too, by {way[j]:.2g}; what its friction does is fitted")
        elif abs(place[j] - planned.posture[j]) > ELSEWHERE:
            remarks.append(
                f"{source}: {name} stands at {place[j]:.3g}, not at {planned.posture[j]:.3g} as planned"
            )
    return remarks
