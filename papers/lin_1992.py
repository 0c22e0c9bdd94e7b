"""The Stanford arm of [Lin1992]: Tables I and II beside what dynid derives from Figure 2.

S.-K. Lin, An identification method for estimating the inertia parameters of a manipulator, J. Robotic Systems
9(4), 1992. Figure 2 gives geometry and inertia, Table I the direction of joint 1 seen from the links in the
exciting configurations, Table II the set of Theorem 2 as the paper's own simulation identified it. Section 4
is then repeated as printed: joint 1 makes the step of Eqs. (64) to (66) in each configuration, three samples
of each go through Algorithm 2, once with exact torques and once with torques of five decimals. Exit status 0
if all agree to the printed digit, known misprints and the identification's noise corrected.

Run it with:  python papers/lin_1992.py
"""

from __future__ import annotations

import sys
from math import radians

import numpy as np

from dynid import load_robot
from dynid.base import base_parameters
from dynid.base.composite import chain_of, velocities_of_frames
from dynid.base.lin import inertia_matrix_and_gravity
from dynid.base.modified_dh import modified_dh
from dynid.fit.one_joint import Block, recursion
from dynid.fit.unknowns import Unknowns, unknowns_of
from dynid.plan.motions import critically_damped
from dynid.robot import Robot
from dynid.spatial import parameters_from_com

# --- what the paper prints ----------------------------------------------------------------------------

# Figure 2: type, theta (deg), beta (deg), b, d, mass, centre of mass, inertia about it (diagonal).
FIGURE_2 = (
    ("R", 0, 0, 0.0, 0.0, 9.29, (0.0, 0.1105, 0.0175), (0.276, 0.255, 0.71)),
    ("R", 90, 90, 0.0, 0.1529, 5.01, (0.0, 0.0, -0.1054), (0.108, 0.018, 0.1)),
    ("T", 0, 90, 0.0, 0.6447, 4.25, (0.0, 0.0, -0.6447), (2.51, 2.51, 0.006)),
    ("R", 0, 0, 0.0, 0.0, 1.08, (0.0092, 0.0054, 0.0), (0.002, 0.001, 0.001)),
    ("R", -90, 90, 0.0, 0.0, 0.63, (0.0, -0.0566, 0.0), (0.003, 0.003, 0.0004)),
    ("R", 0, 90, 0.0, 0.0, 0.51, (0.0, 0.0, 0.1554), (0.013, 0.013, 0.0003)),
)

# Eqs. (62) and (63): the first configuration, and the joint that another one puts elsewhere. Table I has
# -0.7 in its second row and -0.6 in its third; the text names them in the other order.
CONFIGURATION = (0.7, 0.7, 0.0, 0.7, 0.7, 0.7)
MOVED_TO = (0.7, -0.7, -0.6)
MOVED_JOINT = {2: 2, 3: 2, 4: 4, 5: 5, 6: 6}

TABLE_I = {
    2: ("0.7648 -0.6442 0.", "0.7648 0.6442 0.", "0.8253 0.5646 0."),
    3: ("0.7648 0. 0.6442", "0.7648 0. -0.6442"),
    4: ("0.5850 -0.4927 0.6442", "0.5850 0.4927 0.6442", "0.6313 0.4319 0.6442"),
    5: ("-0.1159 0.8624 0.4927", "-0.8696 0.0324 0.4927", "-0.8620 0.1190 0.4927"),
    6: ("0.2288 0.4515 -0.8624", "-0.4060 0.3022 -0.8624", "-0.3738 0.3412 -0.8264"),
}

TABLE_II = {
    "m3^": "6.4700",
    "k2x": "-0.00001", "k2y": "2.7400",
    "k3x": "0.", "k3y": "0.", "k3z": "-2.7400",
    "k4x": "0.0099", "k4y": "0.0058",
    "k5x": "0.", "k5y": "-0.1149",
    "k6x": "0.", "k6y": "0.",
    "U2_11-22": "4.3850", "U4_11-22": "-0.0235", "U5_11-22": "0.0270", "U6_11-22": "0.",
    "U1_33": "1.0144", "U2_33": "4.4053", "U4_33": "0.0044", "U5_33": "0.0277", "U6_33": "0.0003",
    "U2_12": "0.00003", "U4_12": "-0.00005", "U5_12": "0.", "U6_12": "0.",
    "U2_13": "0.", "U4_13": "0.", "U5_13": "0.", "U6_13": "0.",
    "U2_23": "-0.00003", "U4_23": "0.", "U5_23": "0.", "U6_23": "0.",
}  # fmt: skip

# Eqs. (64) to (66) and what the text says around them.
STEP = (0.7, np.pi / 6, 10.0)  # start, size (rad), sigma (1/s)
INSTANTS = (0.2, 0.3, 0.4)  # s
DECIMALS = 5  # of the torques; the deviations of Table II are of the size that these cost
NOISE = 2e-4  # at the most

# What should stand there: in Table I 0.11906 rounded down and two digits swapped, in Table II noise of the
# paper's identification.
CORRECTED = {
    "u1 in 5, row 3": "-0.8620 0.1191 0.4927",
    "u1 in 6, row 3": "-0.3738 0.3412 -0.8624",
    "k2x": "0.",
    "U2_11-22": "4.3849",
    "U2_12": "0.",
    "U2_23": "0.",
}

REMARKS = (
    "Theorem 2: delta_j must look at all joints k <= j, not k < j",
    "Algorithm 1, step 2: +m_n d_n b_n sin(theta_n) in (V)_23, printed with a minus sign",
    "Eq. (39): the second vector is +(s_x, s_y, 0) with s from joint m to joint i",
)

# --- comparison -----------------------------------------------------------------------------------------


def main() -> int:
    """Print the tables beside ours; 0 if everything agrees."""
    robot = load_robot("stanford")
    agrees = [figure_2(robot), table_1(robot), table_2(robot), from_the_set_alone(robot), section_4(robot)]
    print("\nKnown misprints that touch no table")
    for remark in REMARKS:
        print(f"  {remark}")
    print("\nEverything agrees." if all(agrees) else "\nNot everything agrees.")
    return 0 if all(agrees) else 1


def figure_2(robot: Robot) -> bool:
    """Figure 2 and the built-in robot."""
    print("Figure 2 and the built-in robot")
    good = True
    for j, (kind, theta, beta, b, d, mass, com, inertia) in enumerate(FIGURE_2):
        row = modified_dh(robot).rows[j]
        frame = (row.prismatic, row.theta, row.alpha, row.d, row.r)
        same = np.allclose(frame, (kind == "T", radians(theta), radians(beta), b, d), rtol=0, atol=1e-12)
        printed = parameters_from_com(mass, com, np.diag(inertia))
        if j == 0:  # the robot's are larger by 0.1, or no body could have them; neither has any effect
            printed[[0, 3]] += 0.1
        same &= np.allclose(robot.links[j].parameters, printed, rtol=0, atol=1e-12)
        good &= bool(same)
        print(f"  link {j + 1} ({kind})  {verdict(bool(same))}")
    return good


def table_1(robot: Robot) -> bool:
    """The direction of joint 1 in the frames of the links."""
    print("\nTable I: u_1 in the frame of each link")
    good = True
    for link, rows in TABLE_I.items():
        for number, printed in enumerate(rows):
            q = np.array(CONFIGURATION)
            q[MOVED_JOINT[link] - 1] = MOVED_TO[number]
            u = velocities_of_frames(chain_of(robot), q)[link - 1][1, :3]
            good &= line(f"u1 in {link}, row {number + 1}", printed, u)
    return good


def table_2(robot: Robot) -> bool:
    """The set of Theorem 2 and its values."""
    print("\nTable II: the set of Theorem 2")
    found = base_parameters(robot, method="lin")
    values = dict(zip(found.names, found.values(robot.parameters), strict=True))
    good = sorted(values) == sorted(TABLE_II)
    print(f"  {len(TABLE_II)} constants, these and no others  {verdict(good)}")
    for name, printed in TABLE_II.items():
        good &= line(name, printed, [values.get(name, np.nan)])
    return good


def from_the_set_alone(robot: Robot) -> bool:
    """Section 4: inertia matrix and gravity load with all other constants zero, by Eqs. (9), (11) to (13)."""
    print("\nInertia matrix and gravity load from the set alone: largest error")
    found = base_parameters(robot, method="lin")
    printed = [float(CORRECTED.get(name, TABLE_II[name])) for name in found.names]
    q = np.random.default_rng(0).uniform(-1.5, 1.5, (100, robot.dof))
    good = True
    for what, values, tolerance in (
        ("our values", found.values(robot.parameters), 1e-10),
        (
            "the printed ones",
            printed,
            2e-3,
        ),  # entries are off by up to 5e-5, times g and a few of them at once
    ):
        H, load = inertia_matrix_and_gravity(robot, values, q)
        errors = np.abs(H - robot.mass_matrix(q)).max(), np.abs(load - robot.gravity_torque(q)).max()
        same = max(errors) < tolerance
        good &= bool(same)
        print(f"  {what:17} {errors[0]:.1e} kg m^2, {errors[1]:.1e} Nm  {verdict(bool(same))}")
    return good


def section_4(robot: Robot) -> bool:
    """The identification of the paper: Algorithm 2 without its step 1, from three samples of each motion."""
    print(f"\nSection 4: Table II identified, torques exact and with {DECIMALS} decimals")
    unknowns = unknowns_of(robot, ())
    truth = unknowns.base.values(robot.parameters)
    exact = recursion(unknowns, equations(robot, unknowns)).values
    rounded = recursion(unknowns, equations(robot, unknowns, DECIMALS)).values
    good = True
    for name, value, found, noisy in zip(unknowns.names, truth, exact, rounded, strict=True):
        printed = TABLE_II[name]
        same = abs(found - value) < 1e-12 and agree(printed, [noisy], NOISE)
        good &= same
        print(
            f"  {name:9} paper {printed:9} exact {found + 0.0:10.5f} (error {abs(found - value):.0e}), "
            f"rounded {noisy + 0.0:10.5f} (error {abs(noisy - value):.0e})  {verdict(same)}"
        )
    return good


def equations(robot: Robot, unknowns: Unknowns, decimals: int | None = None) -> list[Block]:
    """Eqs. (56), (57) and (61) for bodies 6 to 2 while joint 1 moves, and (58) for joints 2 and 1 alone."""
    found: list[Block] = []
    for link in (6, 5, 4, 3, 2):
        for place in MOVED_TO[: len(TABLE_I[link])]:
            posture = np.array(CONFIGURATION)
            posture[MOVED_JOINT[link] - 1] = place
            found.append(small_problem(robot, unknowns, 1, link, posture, decimals))
    for joint in (2, 1):
        found.append(small_problem(robot, unknowns, joint, joint, np.array(CONFIGURATION), decimals))
    return found


def small_problem(
    robot: Robot, unknowns: Unknowns, moves: int, reads: int, posture: np.ndarray, decimals: int | None
) -> Block:
    """Three samples of the torque of one joint while one moves; joints are counted from 1."""
    q, qd, qdd = np.tile(posture, (3, 1)), np.zeros((3, 6)), np.zeros((3, 6))
    motion = critically_damped(INSTANTS, *STEP)
    for values, wanted in zip((q, qd, qdd), motion, strict=True):
        values[:, moves - 1] = wanted
    tau = robot.inverse_dynamics(q, qd, qdd)[:, reads - 1]
    if decimals is not None:
        tau = np.round(tau, decimals)
    return Block(reads - 1, unknowns.efforts(q, qd, qdd)[:, reads - 1], tau, 3)


def line(name: str, printed: str, ours: np.ndarray | list[float]) -> bool:
    """Print one entry beside ours; whether they agree to the printed digit, a misprint corrected."""
    corrected = CORRECTED.get(name)
    same = agree(corrected or printed, ours) and not (corrected and agree(printed, ours))
    shown = " ".join(f"{round(float(x), 5) + 0.0:.5f}" for x in ours)
    said = f", corrected {corrected}" if corrected else ""
    print(f"  {name:15} paper {printed:23} dynid {shown:27} {verdict(same)}{said}")
    return same


def agree(printed: str, ours: np.ndarray | list[float], noise: float = 0.0) -> bool:
    """Whether the numbers are ours to the printed digit; '0.' is zero to the five digits the paper has.

    `noise` is what both may have besides.
    """
    entries = printed.split()
    return all(
        abs(float(text) - x) <= 0.5000001 * 10.0 ** -(len(text.partition(".")[2]) or 5) + noise
        for text, x in zip(entries, ours, strict=True)
    )


def verdict(same: bool) -> str:
    return "agrees" if same else "DIFFERS"


if __name__ == "__main__":
    sys.exit(main())
