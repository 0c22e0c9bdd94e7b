"""Properties 1 and 2 of [Lin1992]: every case, against the rank of rows from other kinematics."""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement

import numpy as np
import pytest

import dynid
from dynid.base.composite import Chain, chain_of
from dynid.base.modified_dh import modified_dh
from dynid.errors import ArgumentError
from dynid.plan.properties import MOMENTS, TENSOR, Case, case_of
from dynid.robot import Robot
from dynid.spatial import parameter_transform
from helpers_plan import heavy, serial
from helpers_rank import _link_rows
from helpers_rnea import motions

XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = range(10)
COLUMNS = {"J11-J22": XX, "J12": XY, "J13": XZ, "J23": YZ, "J33": ZZ, "cx": MX, "cy": MY, "cz": MZ, "m": M}
SAMPLES = 16
CASES = {"1.1(a)", "1.1(b)", "1.1(c)", "1.1(d)", "1.2(a)", "1.2(b)", "1.3(a)"}
CASES |= {"2.1(a)", "2.1(b)", "2.2(a)"}


def unit_chain(robot: Robot) -> Chain:
    chain = chain_of(robot)
    return chain.scaled(1.0, float(np.linalg.norm(chain.gravity)))


def rows_of(robot: Robot, moving: int, joint: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Efforts of joint j per unit of its body's ten constants while joint i moves, joint j anywhere, (N, 10).

    All behind joint j is at rest on it, so its link's own parameters act as its body's do. From world-frame
    kinematics, turned into the frame on the joint's axis. With them the posture of the others.
    """
    rng = np.random.default_rng(seed)
    posture = rng.choice([0.0, 0.7, -1.1], robot.dof)
    found = []
    for _ in range(SAMPLES):
        q, qd, qdd = posture.copy(), np.zeros(robot.dof), np.zeros(robot.dof)
        q[[moving, joint]] = rng.uniform(-2, 2, 2)
        if joint == moving:
            q[joint] = rng.uniform(-2, 2)
        qd[moving], qdd[moving] = rng.uniform(-2, 2, 2)
        motion = motions(robot, q, qd, qdd)[joint]
        found.append(_link_rows(motion, robot.gravity)[joint])
    own_frame = parameter_transform(modified_dh(robot).links[joint])
    return np.array(found) @ np.linalg.inv(own_frame), posture


def rank(columns: np.ndarray) -> int:
    lengths = np.linalg.norm(columns, axis=0)
    s = np.linalg.svd(columns / np.where(lengths > 1e-9, lengths, np.inf), compute_uv=False)
    return int(np.sum(s > 1e-6))


def check(case: Case, rows: np.ndarray) -> None:
    """The constants `seen` are told apart, and the others have no effect where the property says so."""
    scale = max(float(np.abs(rows).max()), 1.0)
    np.testing.assert_allclose(rows[:, YY], -rows[:, XX], atol=1e-9 * scale)
    if case.seen[:1] == ("kappa1",):
        assert rank(rows[:, [MX, MY, MZ]]) == len(case.seen) == 2
        return
    columns = rows[:, [COLUMNS[name] for name in case.seen]]
    assert rank(columns) == len(case.seen), case
    silent = {
        "1.1(b)": ["J33"],
        "1.1(c)": [*TENSOR, *MOMENTS],
        "1.1(d)": list(TENSOR),
        "1.2(a)": ["cx", "cy", "cz"],
        "1.3(a)": [*TENSOR, *(name for name in MOMENTS if name not in case.seen)],
        "2.1(a)": [*TENSOR, "J33"],
        "2.1(b)": [*TENSOR, "J33", *MOMENTS],
        "2.2(a)": ["cx", "cy", "cz"],
    }.get(case.number, [])
    assert np.abs(rows[:, [COLUMNS[name] for name in silent]]).max(initial=0.0) < 1e-8 * scale, case


def robots() -> list[Robot]:
    """Random ones, and some for the cases that these hardly ever meet."""
    half = np.pi / 2
    return [
        *(heavy(seed) for seed in range(60)),
        serial(("R", 0, 0), ("R", 0, 0), ("P", 0, 0.2), ("R", half, 0.0)),
        serial(("P", 0, 0), ("R", 0, 0.1), ("P", half, 0), ("R", -half, 0.3)),
        serial(("P", 0, 0), ("R", 0, 0.0), ("R", 0, 0.0), ("P", 0.4, 0.0), ("R", 0, 0)),
        serial(("R", 0, 0), ("R", np.pi, 0.3), ("R", half, 0.0)),
    ]


def test_every_case_is_what_the_rank_says() -> None:
    met: Counter[str] = Counter()
    for number, robot in enumerate(robots()):
        chain = unit_chain(robot)
        for moving, joint in combinations_with_replacement(range(robot.dof), 2):
            rows, posture = rows_of(robot, moving, joint, number)
            case = case_of(chain, moving, joint, posture)
            check(case, rows)
            met[case.number] += 1
    assert set(met) == CASES
    assert min(met.values()) >= 5, met


def test_reasons_name_joints_equation_and_property() -> None:
    stanford = unit_chain(dynid.load_robot("stanford"))
    q = np.array([0.7, 0.7, 0.0, 0.7, 0.7, 0.7])
    said = {j + 1: str(case_of(stanford, 0, j, q)) for j in range(6)}
    assert said[1].endswith("Eq. (58), Property 1.3(a)")
    assert said[2] == "joint 2 is perpendicular to joint 1: Eq. (56), Property 1.1(b)"
    assert said[3] == "slide 3 is not parallel to joint 1: Eq. (57), Property 1.2(b)"
    assert said[6] == "joint 6 is oblique to joint 1: Eq. (56), Property 1.1(a)"
    assert case_of(stanford, 2, 3, q).number == "2.1(a)"
    assert case_of(stanford, 2, 2, q).number == "2.2(a)"


def test_a_joint_tells_nothing_of_bodies_before_it() -> None:
    with pytest.raises(ArgumentError, match="joint 3 does not carry the body of joint 2"):
        case_of(unit_chain(dynid.load_robot("stanford")), 2, 1, np.zeros(6))
