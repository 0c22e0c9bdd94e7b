"""Section 6 of [Izaguirre1992]: from 78 to 52 parameters of the PUMA 260, name by name.

A. Izaguirre, M. Hashimoto, R. Paul, V. Hayward, A new computational structure for real-time dynamics, Int. J.
Robotics Research 11(4), 1992. The paper's elimination, columns in its order, is run on sampled torques and
set beside Table 1 and beside the structural answer, which samples nothing. Exit status 0 if all agree.

Run it with:  python papers/izaguirre_1992_dependencies.py
"""

from __future__ import annotations

import sys

import numpy as np

from dynid import load_robot
from dynid.base import BaseParameters, base_parameters
from dynid.base.compare import compare
from dynid.robot import Robot

# Table 1: the names of the 52 parameters in the order of the paper.
TABLE_1_LINES = (
    "ia1 ia2 ia3 ia4 ia5 ia6",
    "m6 x6 y6 z6 a6 b6 c6 d6 e6 f6",
    "x5 y5 a5 c5 d5 e5 f5",
    "x4 y4 a4 c4 d4 e4 f4",
    "x3 y3 a3 d3 e3 f3",
    "x2 y2 d2 e2",
    "fs1 fs2 fs3 fs4 fs5 fs6",
    "ds1 ds2 ds3 ds4 ds5 ds6",
)
TABLE_1 = [name for line in TABLE_1_LINES for name in line.split()]

# The paper's letters and ours: moments about the distal frame, a b c = XX YY ZZ, d e f = XY YZ XZ.
LETTERS = {
    "m": "M",
    "x": "MX",
    "y": "MY",
    "z": "MZ",
    "a": "XX",
    "b": "YY",
    "c": "ZZ",
    "d": "XY",
    "e": "YZ",
    "f": "XZ",
    "ia": "Ia",
    "fs": "Fc",
    "ds": "Fv",
}
GIVEN, INDEPENDENT, INERTIAL = 78, 52, 34
MERGED_WITH_MOMENTS = ("Ia1", "Ia2")
POINTS = 100  # random points of the paper's matrix D

REMARKS = (
    "the experiments' text says 53 parameters: there are 52, as the tables and the rest of the text have it",
    "Table 1, row ds4: average .087686 with the largest .045901 and the smallest .146658: permuted columns",
    "d, e, f are XY, YZ, XZ: of link 2, YZ stays and XZ goes, and Table 1 has e2 and no f2",
)


def main() -> int:
    """Print the report; 0 if everything agrees."""
    robot = load_robot("puma260")
    numeric = base_parameters(robot, method="numeric", armature=True, friction=True, order="paper")
    exact = base_parameters(robot, method="exact", armature=True, friction=True)
    verdicts = [
        print_kept(numeric),
        print_dropped(numeric, exact),
        print_counts(numeric, exact),
        print_singular_values(robot, numeric),
    ]
    print("\nKnown misprints and readings")
    for remark in REMARKS:
        print(f"  {remark}")
    agree = all(verdicts)
    print("\nEverything agrees." if agree else "\nNot everything agrees.")
    return 0 if agree else 1


def print_kept(numeric: BaseParameters) -> bool:
    """Table 1 beside the parameters that elimination keeps; whether they are the same, in the same order."""
    print("Table 1 beside the elimination in the paper's order\n")
    print("   no  paper  dynid  what it stands for")
    same = len(TABLE_1) == numeric.count
    rows = zip(TABLE_1, numeric.kept, numeric.expressions, strict=False)
    for number, (printed, kept, expression) in enumerate(rows, start=1):
        agrees = our_name(printed) == kept
        same &= agrees
        print(f"  {number:3d}  {printed:5}  {kept:5}  {expression}{'' if agrees else '   DIFFERS'}")
    return same


def print_dropped(numeric: BaseParameters, exact: BaseParameters) -> bool:
    """Where the other parameters went; whether the structure finds the same ones without effect."""
    print("\nDropped by the elimination")
    print(f"  without effect: {' '.join(numeric.no_effect)}")
    for name, takers in numeric.regrouped.items():
        print(f"  {name:4} went to {' '.join(takers)}")
    return numeric.no_effect == exact.no_effect


def print_counts(numeric: BaseParameters, exact: BaseParameters) -> bool:
    """The counts of the text, and of the structure."""
    moments = [name for name in numeric.kept if name[0] in "MXYZ"]
    motors = tuple(name for name in exact.columns if name.startswith("Ia") and name not in exact.kept)
    comparison = compare(exact, numeric)
    checks = (
        ("parameters to begin with", GIVEN, len(numeric.columns)),
        ("independent, by elimination", INDEPENDENT, numeric.count),
        ("independent, by structure", INDEPENDENT, exact.count),
        ("of these, moments of the links", INERTIAL, len(moments)),
        ("motor inertias that moments depend on", MERGED_WITH_MOMENTS, motors),
        ("the two sets determine each other", True, comparison.equivalent),
    )
    print("\nCounts                                     paper  dynid")
    for what, printed, ours in checks:
        print(f"  {what:39}  {text(printed):>5}  {text(ours):>5}{'' if printed == ours else '   DIFFERS'}")
    return all(printed == ours for _, printed, ours in checks)


def print_singular_values(robot: Robot, numeric: BaseParameters) -> bool:
    """The paper's matrix D at random points: how clear the rank is. The paper drops what is about 1e-10."""
    D = torques_of_unit_parameters(robot)
    sizes = np.linalg.svd(D, compute_uv=False)
    of_kept = np.linalg.svd(D[:, [numeric.columns.index(name) for name in numeric.kept]], compute_uv=False)
    kept, dropped = sizes[INDEPENDENT - 1], sizes[INDEPENDENT]
    print(f"\nSingular values of D ({D.shape[0]} x {D.shape[1]}, {POINTS} random points)")
    print(f"  of all columns: number {INDEPENDENT} is {kept:.2g}, number {INDEPENDENT + 1} is {dropped:.2g}")
    print(f"  of the {numeric.count} kept columns: {of_kept[0]:.3g} to {of_kept[-1]:.2g}")
    return bool(kept > 1e-10 > dropped) and bool(of_kept[-1] > 1e-10)


def torques_of_unit_parameters(robot: Robot) -> np.ndarray:
    """D, (6 POINTS, 78): joint torques per unit of each parameter, Eq. (25)."""
    rng = np.random.default_rng(0)
    q = rng.uniform(-np.pi, np.pi, (POINTS, robot.dof))
    qd, qdd = rng.uniform(-2, 2, (2, POINTS, robot.dof))
    drives = [motion[:, :, None] * np.eye(robot.dof) for motion in (qdd, qd, np.sign(qd))]
    return np.concatenate([robot.regressor(q, qd, qdd), *drives], axis=2).reshape(-1, GIVEN)


def our_name(printed: str) -> str:
    """The name of a parameter of the paper in dynid: c4 is ZZ4."""
    return LETTERS[printed[:-1]] + printed[-1]


def text(value: int | tuple[str, ...]) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


if __name__ == "__main__":
    sys.exit(main())
