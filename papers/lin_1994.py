"""The sets of [Lin1994] for the Stanford arm and the PUMA 560, and how they map to others.

S.-K. Lin, An approach to the identifiable parameters of a manipulator, J. Robotic Systems 11(7), 1994:
Theorem 4 (gravity load), Theorem 5 (joint efforts), the set for the inertia matrix by Eqs. (9) and (61) with
P1 and P2, Theorem 3, and Corollary 6: the constant, nonsingular M between Lin's, Gautier and Khalil's and a
numerical set. The paper prints no tables; the lists below are its theorems written out for the two robots.
Exit status 0 if all agree.

Run it with:  python papers/lin_1994.py
"""

from __future__ import annotations

import sys
from itertools import permutations

import numpy as np

from dynid import load_robot
from dynid.base import BaseParameters, base_parameters
from dynid.base.compare import compare
from dynid.base.lin import inertia_partition
from dynid.base.result import linear_text
from dynid.robot import Robot

# --- the theorems, written out ------------------------------------------------------------------------


def of_rotation(j: int) -> str:
    """What Theorem 5 takes from a rotational joint j >= s."""
    return f"U{j}_11-22 U{j}_33 U{j}_12 U{j}_13 U{j}_23 k{j}x k{j}y"


# Both have r = 1 along gravity and s = 2 across it, so delta_1 = 0; section 4 of [Lin1992] lists the first.
THEOREM_5 = {
    "stanford": ["U1_33", of_rotation(2), "m3^ k3x k3y k3z", *map(of_rotation, (4, 5, 6))],
    "puma560": ["U1_33", *map(of_rotation, range(2, 7))],
}
THEOREM_4 = {
    "stanford": ["k2x k2y", "m3^", *(f"k{j}x k{j}y" for j in (4, 5, 6))],
    "puma560": [f"k{j}x k{j}y" for j in range(2, 7)],
}

# Eq. (9). Axes 1 and 2 meet, so k2 has no effect on H but through the place of E_2 on axis 2: seen from where
# they meet, d_2 away, (U_2)_13 and (U_2)_23 lose d_2 k2x and d_2 k2y. The PUMA 560 has d_2 = 0.
UNSEEN_BY_INERTIA = {"k2x", "k2y"}
P1_TERMS = {
    "stanford": {("U2_13", "k2x"): -0.1529, ("U2_23", "k2y"): -0.1529},
    "puma560": {},
}

METHODS = ("lin", "gautier-khalil", "numeric")

REMARKS = (
    "Theorem 4, sigma_i: for 'u_i // g' read 'u_r // g and u_i _|_ u_r' between r and s, 'u_r // g' behind s",
    "Property 3: K_i c^_i with r < i < s and u_r // u_i (printed not parallel) are no components",
    "Theorems 4 and 5 need gravity: without it they count too many",
)

# --- comparison -----------------------------------------------------------------------------------------


def main() -> int:
    """Print the sets and the maps between them; 0 if everything agrees."""
    agrees = [robot_agrees(name) for name in THEOREM_5]
    print("\nKnown misprints")
    for remark in REMARKS:
        print(f"  {remark}")
    print("\nEverything agrees." if all(agrees) else "\nNot everything agrees.")
    return 0 if all(agrees) else 1


def robot_agrees(name: str) -> bool:
    """All sections for one robot."""
    robot = load_robot(name)
    print(f"\n=== {name} ===")
    return all(
        [
            set_agrees(robot, "torque", "Theorem 5, joint efforts", " ".join(THEOREM_5[name]).split()),
            set_agrees(robot, "gravity", "Theorem 4, gravity load", " ".join(THEOREM_4[name]).split()),
            partition_agrees(robot, P1_TERMS[name]),
            theorem_3_agrees(robot),
            maps_agree(robot),
        ]
    )


def set_agrees(robot: Robot, model: str, title: str, expected: list[str]) -> bool:
    """A theorem's set, name by name, with what each constant is made of."""
    found = base_parameters(robot, model, "lin")
    print(f"\n{title}: {found.count} constants of composite bodies")
    for name, text in zip(found.names, found.expressions, strict=True):
        print(f"  {name:9} = {text}")
    same = check("the theorem's list, name by name", sorted(found.names) == sorted(expected))
    structure = base_parameters(robot, model)
    return same & check(
        f"as many as the structure has, {structure.count}, with the same row space",
        compare(structure, found).equivalent,
    )


def partition_agrees(robot: Robot, expected: dict[tuple[str, str], float]) -> bool:
    """The set for the inertia matrix, w_I = [w~; 0] + [P1; P2] w_g."""
    partition = inertia_partition(robot)
    count = len(partition.rest) + len(partition.seen)
    print(f"\nEq. (9), inertia matrix: {count} of the constants, P1 and P2 of the other sets")
    print(f"  w~  = {' '.join(partition.rest)}")
    print(f"  w_g = {' '.join(partition.gravity)}")
    terms = {
        (name, other): float(value)
        for name, row in zip(partition.rest, partition.P1, strict=True)
        for other, value in zip(partition.gravity, row, strict=True)
        if value
    }
    for name, row in zip(partition.rest, partition.P1, strict=True):
        if row.any():
            print(f"  P1: {linear_text([1.0, *row], [name, *partition.gravity])}")
    print(f"  P2: {', '.join(linear_text(row, partition.gravity) for row in partition.P2)}")
    print(f"  {len(partition.rest) - len({name for name, _ in terms})} rows of P1 are zero")
    good = check("P1 as derived by hand", terms == expected)
    unseen = set(partition.gravity) - set(partition.seen)
    good &= check(f"P2 without {' '.join(sorted(UNSEEN_BY_INERTIA))}", unseen == UNSEEN_BY_INERTIA)
    torque, gravity, inertia = (
        base_parameters(robot, model, "lin") for model in ("torque", "gravity", "inertia")
    )
    rows = np.array([torque.matrix[torque.names.index(name)] for name in partition.rest])
    both = np.vstack([rows + partition.P1 @ gravity.matrix, partition.P2 @ gravity.matrix])
    good &= check("[w~; 0] + [P1; P2] w_g is the set for H", np.allclose(both, inertia.matrix, atol=1e-11))
    return good & check(
        f"as many as the structure has, {inertia.count}, with the same row space",
        compare(base_parameters(robot, "inertia"), inertia).equivalent,
    )


def theorem_3_agrees(robot: Robot) -> bool:
    """The set for the entries of H determines H qdd + C, which is sampled here, and no more than that."""
    found = base_parameters(robot, "inertia", "lin")
    sampled = base_parameters(robot, "inertia", "numeric")
    print("\nTheorem 3: one set for H and for H qdd + C")
    return check(f"sampled H qdd + C has the row space of {found.count}", compare(sampled, found).equivalent)


def maps_agree(robot: Robot) -> bool:
    """Corollary 6 for every ordered pair of methods."""
    sets = {method: base_parameters(robot, method=method) for method in METHODS}
    good = True
    for a, b in permutations(METHODS, 2):
        good &= map_agrees(sets[a], sets[b], robot, show=a == "lin")
    return good


def map_agrees(a: BaseParameters, b: BaseParameters, robot: Robot, *, show: bool) -> bool:
    """M of b = M a: square, nonsingular, the inverse of the map back; and it converts values."""
    M, back = a.map_to(b), b.map_to(a)
    print(f"\nCorollary 6: {b.method} from {a.method}, M is {M.shape[0]} x {M.shape[1]}")
    if show:
        for name, row in zip(b.names, M, strict=True):
            print(f"  {name:5} = {linear_text([float(f'{entry:.9g}') for entry in row], a.names)}")
    condition = np.linalg.cond(M)
    rounding = 1e-11 * np.linalg.norm(M, 2) * np.linalg.norm(back, 2)  # coefficients have twelve digits
    good = check(f"M is nonsingular, condition number {condition:.3g}", M.shape == (a.count, a.count))
    good &= check("M times the map back is the identity", np.abs(M @ back - np.eye(a.count)).max() < rounding)
    ours, theirs = a.values(robot.parameters), b.values(robot.parameters)
    return good & check("M times one set's values is the other's", np.allclose(M @ ours, theirs, atol=1e-9))


def check(what: str, agrees: bool) -> bool:
    """Print a verdict and hand it on."""
    print(f"  {what}: {'agrees' if agrees else 'DIFFERS'}")
    return bool(agrees)


if __name__ == "__main__":
    sys.exit(main())
