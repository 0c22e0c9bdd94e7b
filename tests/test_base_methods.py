"""The four methods beside each other: one row space for one robot, in metres, millimetres and kilometres."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid import base_parameters
from dynid.base.compare import compare
from dynid.robot import Robot
from dynid.spatial import Frame
from helpers_rank import random_robot

GRAVITY = 9.81 * np.array([(0, 0, -1), (0, 1, 0), (0, 0.6, -0.8), (0.3, -0.5, 0.81), (0, 0, 0)])
UNITS = {"m": 1.0, "mm": 1e3, "km": 1e-3}


def robot_of(seed: int) -> Robot:
    """Every fourth robot is a tree, every fifth weightless."""
    kind = ("right", "rational", "oblique")[seed % 3]
    return replace(
        random_robot(seed, serial=seed % 4 != 0, kind=kind, joints=5), gravity=GRAVITY[seed % len(GRAVITY)]
    )


def in_units(robot: Robot, factor: float) -> Robot:
    def scaled(frame: Frame) -> Frame:
        return Frame(frame.rotation, frame.translation * factor)

    joints = tuple(replace(j, before=scaled(j.before), after=scaled(j.after)) for j in robot.joints)
    return replace(robot, joints=joints, gravity=robot.gravity * factor)


@pytest.mark.parametrize("seed", [*range(1000, 1010), 1018, 1042, 1052, 1058])
def test_all_methods_agree_in_any_unit_of_length(seed: int) -> None:
    """In km the coefficients of the last four span 16 digits; rows and columns have units of their own."""
    robot = robot_of(seed)
    methods = ["exact", "numeric"] if seed % 4 == 0 else ["exact", "numeric", "lin", "gautier-khalil"]
    names: dict[str, set[tuple[str, ...]]] = {method: set() for method in methods}
    for factor in UNITS.values():
        exact = base_parameters(in_units(robot, factor))
        for method in methods:
            found = base_parameters(in_units(robot, factor), method=method)
            names[method].add(found.names)
            assert found.count == exact.count, method
            result = compare(exact, found)
            assert result.equivalent, (method, factor, result.explain())
    assert all(len(of_method) == 1 for of_method in names.values())
