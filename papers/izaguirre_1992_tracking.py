"""Section 7.2 of [Izaguirre1992]: the PUMA 260 follows trajectories in open loop, by computed torque alone.

A. Izaguirre, M. Hashimoto, R. Paul, V. Hayward, A new computational structure for real-time dynamics, Int. J.
Robotics Research 11(4), 1992. Figures 6 to 9: joints 1, 2 and 3, each by itself and all together, slow and
fast, without and with gravity compensation. The curves cannot be compared point by point; what the text says
of them is: errors below 10 % of a move of 90 degrees at 180 degrees/s, larger ones in slow motion, there much
reduced by gravity compensation, which makes the arm float. Exit status 0 if all of that holds.

The model is the paper's: the 23 parameters of Table 2. The robot is a simulated one, by MuJoCo, that
differs from the model as a real one would:

- Its links are bodies. No bodies have the printed values (see `robots/puma260.toml`), so it has those
  nearest to them: nearest in the efforts of random motions within the limits, with the motor inertias as
  printed.
- Its friction is not quite the model's. Table 2 has means over ten trajectories, so their standard error is
  the printed deviation over sqrt(10). The robot has Coulomb friction one standard error below the mean and
  viscous friction one above: a fit that errs on one errs the other way on the other.

Run it with:  python papers/izaguirre_1992_tracking.py
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from dynid import base_parameters, load_robot
from dynid.friction import Friction, armature_columns, armature_of, friction_of
from dynid.model import DynamicModel, model_of
from dynid.physical import physical_fit
from dynid.robot import Robot
from dynid.tracking import RATE_HZ, Tracking, move_to, track, track_floating

# Table 2, standard deviations of fs1..fs6 and ds1..ds6 over the trajectories of the identification.
COULOMB_DEVIATION = np.array([0.048752, 0.221132, 0.045556, 0.031520, 0.041190, 0.020605])
VISCOUS_DEVIATION = np.array([0.057868, 0.199482, 0.103817, 0.033318, 0.030324, 0.011697])
TRAJECTORIES = 10

START = np.radians([-45.0, -60.0, 45.0, 0.0, 0.0, 0.0])
WAY = np.radians(90.0)
SPEEDS = {"slow": np.radians(20.0), "fast": np.radians(180.0)}  # the paper gives the fast one
MOVES = {"joint 1": (0,), "joint 2": (1,), "joint 3": (2,), "together": (0, 1, 2)}
FIGURES = {False: (6, 7), True: (8, 9)}  # by gravity compensation: each joint by itself, all together
ALLOWED = 10.0  # per cent, of a fast move

NOISE = 0.01  # of each joint's RMS effort: the scale on which bodies near the printed values are compared
MOTIONS = 500
FLOATING = 1.0  # s
POSTURES = 4


def main() -> int:
    """Print the report; 0 if everything the paper says holds."""
    paper = model_of(load_robot("puma260"))
    robot = nearest_bodies(paper)
    print_bodies(paper, robot)
    arm = with_other_friction(robot)
    found = {
        (compensated, speed, move): follow(arm, paper, compensated, speed, joints)
        for compensated in FIGURES
        for speed in SPEEDS
        for move, joints in MOVES.items()
    }
    verdicts = (print_errors(found), print_claims(found), print_floating(robot, paper))
    agree = all(verdicts)
    print("\nEverything agrees." if agree else "\nNot everything agrees.")
    return 0 if agree else 1


# --- the robot ----------------------------------------------------------------------------------------


def nearest_bodies(paper: DynamicModel) -> Robot:
    """The printed robot with links that can exist, as near as possible to the printed values."""
    robot = paper.robot
    base = base_parameters(robot)
    names = (*base.names, *(f"Ia{k + 1}" for k in range(robot.dof)))
    values = np.concatenate([base.values(paper.parameters), paper.armature])
    q, qd, qdd = motions(robot)
    rigid = robot.regressor(q, qd, qdd) @ np.linalg.pinv(base.matrix)
    columns = np.concatenate([rigid, armature_columns(qdd)], axis=2)
    noise = NOISE * rms(paper.efforts(q, qd, qdd))
    rows = (columns / noise[:, None]).reshape(-1, len(names))
    motors = np.zeros((robot.dof, len(names)))
    motors[:, base.count :] = np.diag(1e3 / paper.armature)
    R = np.concatenate([rows, motors])
    fit = physical_fit(robot, base, names, R, R @ values)
    if fit.parameters is None or fit.further is None:
        raise SystemExit(f"no bodies found: {'; '.join(fit.advice)}")
    return replace(paper, parameters=fit.parameters, armature=fit.further, physical=True).as_robot()


def with_other_friction(robot: Robot) -> Robot:
    """The robot with friction a standard error off the mean of Table 2."""
    model = model_of(robot)
    friction = replace(
        model.friction,
        coulomb=model.friction.coulomb - COULOMB_DEVIATION / np.sqrt(TRAJECTORIES),
        viscous=model.friction.viscous + VISCOUS_DEVIATION / np.sqrt(TRAJECTORIES),
    )
    return replace(model, friction=friction).as_robot()


def motions(robot: Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random positions, velocities and accelerations within the limits, (MOTIONS, 6) each."""
    rng = np.random.default_rng(0)
    limits = [joint.limits for joint in robot.joints]
    shape = (MOTIONS, robot.dof)
    q = rng.uniform([limit.lower for limit in limits], [limit.upper for limit in limits], shape)
    qd = rng.uniform(-1.0, 1.0, shape) * [limit.velocity for limit in limits]
    qdd = rng.uniform(-1.0, 1.0, shape) * [limit.acceleration for limit in limits]
    return q, qd, qdd


def print_bodies(paper: DynamicModel, robot: Robot) -> None:
    """How far the simulated robot is from the printed one."""
    base = base_parameters(robot)
    printed, ours = base.values(paper.parameters), base.values(robot.parameters)
    q, qd, qdd = motions(robot)
    nearest = replace(paper, parameters=robot.parameters, armature=armature_of(robot))
    efforts = paper.efforts(q, qd, qdd)
    change = 100.0 * rms(nearest.efforts(q, qd, qdd) - efforts) / rms(efforts)
    print("The nearest bodies beside the printed parameters\n")
    print("  base parameter   printed   bodies")
    for name, a, b in zip(base.names, printed, ours, strict=True):
        if max(abs(a), abs(b)) > 1e-3:
            print(f"  {name:14} {a:9.5f} {b:8.5f}")
    distance = np.linalg.norm(ours - printed) / np.linalg.norm(printed)
    print(f"  distance of all {base.count}: {100.0 * distance:.2g} % of their norm")
    print(f"  masses (kg): {' '.join(f'{link.parameters[9]:.3g}' for link in robot.links)}")
    print(f"  change of the efforts, RMS in % per joint: {' '.join(f'{x:.2g}' for x in change)}")


def rms(efforts: np.ndarray) -> np.ndarray:
    return np.sqrt(np.mean(efforts**2, axis=0))


# --- the experiments ----------------------------------------------------------------------------------

Key = tuple[bool, str, str]


def follow(
    robot: Robot, model: DynamicModel, compensated: bool, speed: str, joints: tuple[int, ...]
) -> Tracking:
    """One experiment: 90 degrees of some joints, the others at rest."""
    end = START.copy()
    end[list(joints)] += WAY
    trajectory = move_to(robot.joint_names, START, end, SPEEDS[speed])
    return track(robot, model, trajectory, gravity_compensation=compensated, control_hz=RATE_HZ)


def print_errors(found: dict[Key, Tracking]) -> bool:
    """The largest errors, experiment by experiment; whether all are numbers."""
    print("\nLargest errors in % of 90 degrees, of the joints that move\n")
    print("  figure  gravity       move      slow                   fast")
    for (compensated, speed, move), slow in found.items():
        if speed != "slow":
            continue
        fast = found[compensated, "fast", move]
        cells = ["  ".join(f"{x:5.1f}" for x in run.percent[list(MOVES[move])]) for run in (slow, fast)]
        how = "compensated" if compensated else "computed"
        print(
            f"  {FIGURES[compensated][move == 'together']:<7} {how:12}  {move:8}  {cells[0]:21}  {cells[1]}"
        )
    return all(np.isfinite(run.actual).all() for run in found.values())


def print_claims(found: dict[Key, Tracking]) -> bool:
    """What the text says of the errors."""

    def largest(speed: str, compensated: bool | None = None) -> dict[tuple[bool, str], np.ndarray]:
        return {
            (key[0], key[2]): run.percent[list(MOVES[key[2]])]
            for key, run in found.items()
            if key[1] == speed and compensated in (None, key[0])
        }

    slow, fast = largest("slow"), largest("fast")
    computed = {move: error.max() for (_, move), error in largest("slow", False).items()}
    compensated = {move: error.max() for (_, move), error in largest("slow", True).items()}
    worst = max(error.max() for error in fast.values())
    claims = (
        (f"fast errors stay below {ALLOWED:g} % (largest: {worst:.1f} %)", worst < ALLOWED),
        ("every joint errs less in fast motion", all((fast[key] < slow[key]).all() for key in slow)),
        (
            "gravity compensation reduces the slow errors of joints 2 and 3",
            all(compensated[move] < computed[move] for move in ("joint 2", "joint 3", "together")),
        ),
    )
    print("\nWhat the paper says of them")
    return print_checks(claims)


def print_floating(robot: Robot, paper: DynamicModel) -> bool:
    """Let go at rest: with the robot's own friction, and without any, so that nothing else could hold it."""
    own = model_of(robot)
    nothing = replace(own, parameters=np.zeros_like(own.parameters))
    slippery = replace(own, friction=without_friction(robot))
    starts = np.random.default_rng(1).uniform(-1.0, 1.0, (POSTURES, robot.dof))

    def drift(arm: Robot, carried_by: DynamicModel) -> float:
        runs = [
            track_floating(arm, carried_by, start, duration=FLOATING, control_hz=RATE_HZ) for start in starts
        ]
        return max(float(np.degrees(run.largest.max())) for run in runs)

    ideal, printed, fallen = (
        drift(slippery.as_robot(), slippery),
        drift(robot, paper),
        drift(robot, nothing),
    )
    print(f"\nThe arm let go in {POSTURES} postures: largest drift in {FLOATING:g} s, degrees")
    print(f"  without friction, its weight carried by its own model     {ideal:.2g}")
    print(f"  with friction, its weight carried by the printed model    {printed:.2g}")
    print(f"  with friction, nothing carries it                         {fallen:.2g}")
    return print_checks(
        (
            ("its own model makes it float", ideal < 1e-3),
            ("so does the printed model, with friction", printed < 1e-2 * fallen),
        )
    )


def without_friction(robot: Robot) -> Friction:
    zero = np.zeros(robot.dof)
    return replace(friction_of(robot), viscous=zero, coulomb=zero, offset=zero)


def print_checks(checks: tuple[tuple[str, bool], ...]) -> bool:
    for what, holds in checks:
        print(f"  {what}: {'yes' if holds else 'NO'}")
    return all(holds for _, holds in checks)


if __name__ == "__main__":
    sys.exit(main())
