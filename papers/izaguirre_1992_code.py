"""Sections 3 to 5 and Appendix A of [Izaguirre1992]: generated code, its operations and its two rates.

A. Izaguirre, M. Hashimoto, R. Paul, V. Hayward, A new computational structure for real-time dynamics, Int. J.
Robotics Research 11(4), 1992. The paper's counts are beside those of the code generated here, without and
with a load; the printed program is counted and run, and the terms that it lacks are shown in numbers. Then
what a fully general arm costs, what regrouping and identification save (section VI of [GK1990]), and the
bandwidths that justify two rates. The paper counts a change of sign as an addition; so do "add" columns here.
Exit status 0 if the listing is as expected and nothing costs more than in the paper.

Run it with:  python papers/izaguirre_1992_code.py
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np
from bandwidths import QUANTITIES, RATE_HZ, bandwidth, recorded, simulated
from izaguirre_1992_listing import DROPPED, MOTORS, VALUES, counted, evaluated

from dynid import base_parameters, equations, load_robot
from dynid.codegen.functions import Generated, generate
from dynid.codegen.runtime import FIXED, Runtime, payload
from dynid.formulation import EFFORT, as_given
from dynid.mechanism import mechanism
from dynid.model import DynamicModel, model_of
from dynid.program import Graph, Program
from dynid.robot import Joint, Link, Robot
from dynid.simplify import simplify
from dynid.spatial import Array, Frame, frozen, rotation_about
from dynid.steps import Operations, count

LISTING = (98, 70)
WITHOUT_LOAD = {"inertia_gravity": LISTING, "velocity_torque": (140, 110)}
WITH_LOAD = {"inertia_gravity": (190, 150), "velocity_torque": (200, 170)}
GENERAL_ARM = {"Luh 1980": (800, 600), "Megahed 1984": (1000, 700), "Khalil 1986": (540, 480)}
POSTURES = 50
ROUNDING = 1e-14  # kg m^2 and Nm


def main(effort: int = EFFORT) -> int:
    """Print the report; 0 if everything holds. `effort` ends the searches: see `formulation.cheapest`."""
    arm = rigid(model_of(load_robot("puma260")))
    without, loaded = generate(arm, effort=effort), generate(arm, payload(arm.robot), effort=effort)
    verdicts = [
        print_listing(arm),
        print_counts("Without a load", WITHOUT_LOAD, without),
        print_counts("With an arbitrary load, an argument of the code", WITH_LOAD, loaded),
        print_synchronous(without),
        print_general_arm(effort),
        print_sets_of_parameters(effort),
        print_bandwidths(),
    ]
    print("\nEverything holds." if all(verdicts) else "\nNot everything holds.")
    return 0 if all(verdicts) else 1


def rigid(model: DynamicModel) -> DynamicModel:
    """The model without friction, which the paper's counts leave out."""
    zero = np.zeros(model.robot.dof)
    none = replace(model.friction, viscous=zero, coulomb=zero, offset=zero)
    return replace(model, friction=none)


# --- the listing --------------------------------------------------------------------------------------


def print_listing(arm: DynamicModel) -> bool:
    """The printed program, counted and run, as it stands and with the terms that it lacks."""
    mul, add = counted()
    printed, complete, gravity = differences(arm, complete=False), differences(arm, complete=True), 0.0
    gravity = max(printed.pop("gravity"), complete.pop("gravity"))
    print(f"The program of Appendix A: {mul} multiplications, {add} additions; the paper says 98 and 70")
    print("  terms that it lacks: " + "; ".join(f"{name} += {term}" for name, term in DROPPED.items()))
    print("  largest difference from the model     as printed   with these terms")
    for name, error in printed.items():
        if error > ROUNDING:
            print(f"    {name} {'':32}  {error:10.1e}   {complete[name]:10.1e}")
    print(f"    all others {max(x for x in printed.values() if x <= ROUNDING):34.1e}")
    print(f"    gravity terms {gravity:31.1e}")
    wrong = {name for name, error in printed.items() if error > ROUNDING}
    right = max(complete.values()) <= ROUNDING and gravity <= ROUNDING
    return (mul, add) == LISTING and wrong == {"D11", "D12", "D13"} and right


def differences(arm: DynamicModel, complete: bool) -> dict[str, float]:
    """Largest differences between the listing's entries and our model's, over random postures."""
    robot = arm.robot
    parameters = np.array(robot.parameters)
    parameters[robot.parameter_names.index("MZ6")] = VALUES["Z6"]  # Table 2 has a digit more
    found: dict[str, float] = {}
    for q in np.random.default_rng(0).uniform(-np.pi, np.pi, (POSTURES, robot.dof)):
        D, gravity = evaluated(q.tolist(), complete)
        off = np.abs(np.array(D) - robot.mass_matrix(q, parameters) - np.diag(MOTORS))
        entries = {f"D{i + 1}{j + 1}": float(off[i, j]) for i in range(6) for j in range(i, 6)}
        entries["gravity"] = float(np.abs(gravity - robot.gravity_torque(q, parameters)).max())
        found = {name: max(error, found.get(name, 0.0)) for name, error in entries.items()}
    return found


# --- counts -------------------------------------------------------------------------------------------


def print_counts(title: str, paper: Mapping[str, tuple[int, int]], ours: Generated) -> bool:
    """The functions of the background task beside the paper's."""
    print(f"\n{title} {'':{max(0, 48 - len(title))}} paper       dynid")
    found = {name: as_the_paper(ours.function(name).operations) for name in paper}
    for name, printed in paper.items():
        print(f"  {name:46} {pair(printed)}   {pair(found[name])}")
    return all(at_most(found[name], printed) for name, printed in paper.items())


def print_synchronous(ours: Generated) -> bool:
    """The control loop: six multiplications and six additions a joint, if c + g come as one vector."""
    n, size = ours.function("synchronous").operations, ours.model.robot.dof
    print(f"\nThe synchronous task, a joint: {n.mul / size:g} multiplications, {n.add / size:g} additions;")
    print(f"  {n.add / size - 1:g} additions where the background hands over the sum c + g. The paper: 6, 6")
    return (n.mul, n.add - size) == (size * size, size * size)


def print_general_arm(effort: int) -> bool:
    """Six rotary joints in no special position, beside the figures that the paper cites."""
    generated = generate(model_of(general_arm()), effort=effort)
    ours = as_the_paper(generated.function("inverse_dynamics").operations)
    print("\nInverse dynamics of a fully general arm of six rotary joints")
    for name, cited in GENERAL_ARM.items():
        print(f"  {name:46} {pair(cited)}")
    print(f"  {'dynid':46} {pair(ours)}   (error {generated.error:.0e} of the largest)")
    return all(at_most(ours, cited) for cited in GENERAL_ARM.values())


def general_arm() -> Robot:
    """Every twist, offset and body oblique."""
    rng = np.random.default_rng(0)
    joints: list[Joint] = []
    links: list[Link] = []
    for k in range(6):
        axis = rng.normal(size=3)
        turn = rotation_about(axis / np.linalg.norm(axis), rng.uniform(0.5, 2.0))
        before = Frame(turn, rng.uniform(-0.5, 0.5, 3))
        joints.append(Joint(name=f"j{k + 1}", kind="revolute", parent=k - 1, before=before))
        links.append(Link(name=f"l{k + 1}", parameters=frozen(rng.uniform(0.1, 1.0, 10))))
    return Robot(name="general", joints=tuple(joints), links=tuple(links))


def print_sets_of_parameters(effort: int) -> bool:
    """Section VI of [GK1990]: what the minimal set saves, and what identification saves beyond it."""
    robot = load_robot("puma260")
    base = base_parameters(robot)
    values = np.random.default_rng(0).uniform(0.1, 1.0, len(robot.parameters))
    full = replace(rigid(model_of(robot)), parameters=frozen(values), armature=frozen(np.zeros(6)))
    some = replace(full, parameters=robot.parameters)
    identified = np.count_nonzero(np.abs(base.matrix @ robot.parameters) > 1e-9)
    rows = {
        f"the {len(values)} standard parameters, equations as they are": plain(full),
        f"the {base.count} base parameters": generated_counts(full, FIXED, effort),
        f"the {identified} base parameters that are not zero, identified": generated_counts(
            some, FIXED, effort
        ),
    }
    print("\nInverse dynamics of the PUMA 260 by sets of parameters [GK1990], motors and friction apart")
    found = [as_the_paper(n) for n in rows.values()]
    for name, ours in zip(rows, found, strict=True):
        print(f"  {name:58} {pair(ours)}")
    return all(at_most(b, a) for a, b in pairwise(found))


def generated_counts(model: DynamicModel, runtime: Runtime, effort: int) -> Operations:
    return generate(model, runtime, effort=effort).function("inverse_dynamics").operations


def plain(model: DynamicModel) -> Operations:
    """Recursive Newton-Euler with all parameters as they are, zeros of the geometry used, no search."""
    mech, n = mechanism(model.robot), model.robot.dof
    graph = Graph()
    q, qd, qdd = (graph.inputs(stem, n) for stem in ("q", "qd", "qdd"))
    body = as_given(mech, np.asarray(model.parameters)).tolist()
    efforts = equations.inverse_dynamics(mech, q, qd, qdd, body)
    names = tuple(f"{stem}{k + 1}" for stem in ("q", "qd", "qdd") for k in range(n))
    return count(simplify(Program(graph, names, tuple(efforts))))


def as_the_paper(n: Operations) -> tuple[int, int]:
    return n.mul, n.add + n.neg


def at_most(ours: tuple[int, int], theirs: tuple[int, int]) -> bool:
    return ours[0] <= theirs[0] and ours[1] <= theirs[1]


def pair(counts: tuple[int, int]) -> str:
    return f"{counts[0]:4} / {counts[1]:<4}"


# --- bandwidths ---------------------------------------------------------------------------------------


def print_bandwidths() -> bool:
    """Why M, c and g may be computed more slowly than accelerations are commanded."""
    motions = {"simulated, trapezoidal velocities": (RATE_HZ, simulated()), **recorded()}
    print("\nBandwidths in Hz (95 % of the power)      " + "  ".join(f"{what:>12}" for what in QUANTITIES))
    found: list[Array] = []
    for name, (rate, motion) in motions.items():
        widths = np.array([bandwidth(values, rate) for values in motion])
        found.append(widths)
        print(f"  {name:39} " + "  ".join(f"{width:12.2f}" for width in widths))
    ratio = found[0][2] / found[0][1]
    print(
        f"  Simulated accelerations vary {ratio:.1f} times faster than velocities; the paper says about five."
    )
    print("  Excitation by a few harmonics has accelerations nearly as slow as velocities.")
    return all(widths[2] > widths[0] for widths in found) and bool(ratio > 3.0)


if __name__ == "__main__":
    sys.exit(main())
