"""Random robots of every kind `Robot` can describe, and the same robots built in Pinocchio and in MuJoCo.

Neither library knows mimic joints in the form used here, so both get one free joint per link; `Twin` drives
those through the coupling and projects the results back. What is taken from a `Robot` is its data alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import mujoco
import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from dynid.formats.urdf import parse_urdf
from dynid.robot import Joint, Link, Mimic, Robot
from dynid.spatial import Frame
from helpers_urdf import random_urdf

TENSOR = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))  # XX XY XZ YY YZ ZZ
GRAVITIES = ("down", "along x", "oblique", "none")


# --- random robots --------------------------------------------------------------------------------


def any_robot(seed: int, most: int = 6) -> Robot:
    """One robot in four comes through the URDF reader, fixed links and all; the others are made directly."""
    rng = np.random.default_rng(seed)
    moving = int(rng.integers(1, most + 1))
    if rng.random() < 0.25:
        return parse_urdf(random_urdf(rng, moving), "random.urdf", gravity=gravity(rng))
    return random_robot(rng, moving, serial=bool(rng.random() < 0.5))


def random_robot(
    rng: np.random.Generator,
    moving: int,
    *,
    serial: bool = True,
    mimic: float = 0.15,
    distal: float = 0.3,
    prismatic: float | None = None,
    right: bool = False,
) -> Robot:
    """A robot with `moving` links and physical inertias.

    Some axes are parallel to the axis before, as in most arms, and all others anything; a share `mimic` of
    the joints follows another one, a share `distal` of the links has its frame elsewhere than on its joint.
    `right` allows only right angles, which floats hold exactly.
    """
    prismatic = float(rng.choice([0.0, 0.3, 1.0], p=[0.4, 0.5, 0.1])) if prismatic is None else prismatic
    joints: list[Joint] = []
    for number in range(moving):
        parent = number - 1 if serial else int(rng.integers(-1, number))
        free = [k for k, joint in enumerate(joints) if joint.mimic is None]
        follows = bool(free) and rng.random() < mimic
        joint = Joint(
            name=f"joint {number}",
            kind="prismatic" if rng.random() < prismatic else str(rng.choice(["revolute", "continuous"])),
            parent=parent,
            before=random_frame(rng, right),
            axis=random_axis(rng, right),
            after=random_frame(rng, right) if rng.random() < distal else Frame(),
            mimic=random_mimic(rng, int(rng.choice(free)), right) if follows else None,
        )
        if parent >= 0 and rng.random() < 0.4:
            joint = parallel(rng, joint, joints[parent])
        joints.append(joint)
    links = tuple(Link(name=f"link {k}", parameters=random_body(rng)) for k in range(moving))
    return Robot(name="random", joints=tuple(joints), links=links, gravity=gravity(rng))


def parallel(rng: np.random.Generator, joint: Joint, carrier: Joint) -> Joint:
    """The joint with its axis parallel to the one that carries it, up to rounding if angles are oblique."""
    R = carrier.after.rotation.T
    return replace(joint, before=Frame(R, random_lengths(rng)), axis=carrier.axis)


def random_mimic(rng: np.random.Generator, master: int, right: bool) -> Mimic:
    if right:
        return Mimic(master, float(rng.choice([-2.0, -1.0, 1.0, 2.0])), 0.0)
    return Mimic(master, float(rng.uniform(-2, 2)), float(rng.uniform(-1, 1)))


def random_frame(rng: np.random.Generator, right: bool = False) -> Frame:
    if right or rng.random() < 0.4:
        turns = Rotation.from_euler("xyz", 90 * rng.integers(0, 4, 3), degrees=True)
        return Frame(np.round(turns.as_matrix()), random_lengths(rng))
    return Frame(Rotation.random(random_state=rng).as_matrix(), random_lengths(rng))


def random_lengths(rng: np.random.Generator) -> np.ndarray:
    """Some of them zero, all of them fractions that floats hold exactly."""
    return rng.integers(-64, 65, 3) / 128 * (rng.random(3) < 0.6)


def random_axis(rng: np.random.Generator, right: bool) -> np.ndarray:
    if right or rng.random() < 0.5:
        return np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def random_body(rng: np.random.Generator) -> np.ndarray:
    """Ten parameters of six point masses: physical, with no plane or axis of symmetry."""
    masses, points = rng.uniform(0.1, 1.0, 6), rng.uniform(-0.4, 0.4, (6, 3))
    inertia = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points, strict=True))
    return np.array([*(inertia[at] for at in TENSOR), *(masses @ points), masses.sum()])


def gravity(rng: np.random.Generator) -> np.ndarray:
    kind = rng.choice(GRAVITIES)
    oblique = rng.normal(size=3)
    return {
        "down": np.array([0.0, 0.0, -9.81]),
        "along x": np.array([9.81, 0.0, 0.0]),
        "oblique": 9.81 * oblique / np.linalg.norm(oblique),
        "none": np.zeros(3),
    }[str(kind)]


def random_motion(rng: np.random.Generator, robot: Robot, samples: int = 4) -> tuple[np.ndarray, ...]:
    """q, qd and qdd, (samples, n) each."""
    return tuple(rng.uniform(-3, 3, (3, samples, robot.dof)))


# --- oracles --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answers:
    """One sample as another library computes it, for the free joints; energies as in `Robot`."""

    inverse_dynamics: np.ndarray  # (n,)
    mass_matrix: np.ndarray  # (n, n)
    gravity_torque: np.ndarray  # (n,)
    velocity_torque: np.ndarray  # (n,)
    kinetic_energy: float
    potential_energy: float


class Twin:
    """A robot in another library, with one free joint per link."""

    def __init__(self, robot: Robot) -> None:
        count = len(robot.joints)
        self.robot, self.count = robot, count
        self.G, self.g = np.zeros((count, robot.dof)), np.zeros(count)
        for number, joint in enumerate(robot.joints):
            mimic = joint.mimic or Mimic(number)
            self.G[number, robot.free.index(mimic.joint)] = mimic.multiplier
            self.g[number] = mimic.offset

    def at(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Answers:
        G = self.G
        full = self.of_all_joints(G @ q + self.g, G @ qd, G @ qdd)
        return Answers(
            G.T @ full.inverse_dynamics,
            G.T @ full.mass_matrix @ G,
            G.T @ full.gravity_torque,
            G.T @ full.velocity_torque,
            full.kinetic_energy,
            full.potential_energy,
        )

    def of_all_joints(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Answers:
        raise NotImplementedError


def children_of(robot: Robot) -> dict[int, list[int]]:
    """Joints carried by each link, and by the base, -1."""
    found: dict[int, list[int]] = {k: [] for k in range(-1, len(robot.joints))}
    for number, joint in enumerate(robot.joints):
        found[joint.parent].append(number)
    return found


def depth_first(robot: Robot) -> list[int]:
    children, waiting, found = children_of(robot), [-1], []
    while waiting:
        number = waiting.pop()
        found.append(number)
        waiting += reversed(children[number])
    return found[1:]


class PinocchioTwin(Twin):
    """Joint by joint, with the link's inertia behind the joint's `after`; any parameters, also impossible."""

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self.model = pin.Model()
        self.model.gravity.linear = np.array(robot.gravity)
        numbers: dict[int, int] = {-1: 0}
        behind: dict[int, pin.SE3] = {-1: pin.SE3.Identity()}
        for k in depth_first(robot):  # its algorithms need subtrees to be consecutive
            joint = robot.joints[k]
            kind = pin.JointModelPrismaticUnaligned if joint.prismatic else pin.JointModelRevoluteUnaligned
            place = behind[joint.parent] * pin.SE3(
                np.array(joint.before.rotation), np.array(joint.before.translation)
            )
            numbers[k] = self.model.addJoint(
                numbers[joint.parent], kind(np.array(joint.axis)), place, joint.name
            )
            behind[k] = pin.SE3(np.array(joint.after.rotation), np.array(joint.after.translation))
            xx, xy, xz, yy, yz, zz, mx, my, mz, m = robot.links[k].parameters
            inertia = pin.Inertia.FromDynamicParameters(np.array([m, mx, my, mz, xx, xy, yy, xz, yz, zz]))
            self.model.appendBodyToJoint(numbers[k], inertia, behind[k])
        self.order = np.array([self.model.joints[numbers[k]].idx_v for k in range(self.count)])
        self.weightless = self.model.copy()
        self.weightless.gravity.linear = np.zeros(3)

    def of_all_joints(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Answers:
        model, order = self.model, self.order
        q, qd, qdd = (x[np.argsort(order)] for x in (q, qd, qdd))

        def fresh() -> pin.Data:  # `crba` fills all of M only in data that was never used
            return model.createData()

        return Answers(
            pin.rnea(model, fresh(), q, qd, qdd)[order],
            np.array(pin.crba(model, fresh(), q))[np.ix_(order, order)],
            pin.computeGeneralizedGravity(model, fresh(), q)[order],
            pin.nonLinearEffects(self.weightless, self.weightless.createData(), q, qd)[order],
            pin.computeKineticEnergy(model, fresh(), q, qd),
            pin.computePotentialEnergy(model, fresh(), q),
        )


class MujocoTwin(Twin):
    """One body per link, its frame on the joint; principal inertias, so that it need find none itself."""

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        children = children_of(robot)

        def body(number: int) -> str:
            joint = robot.joints[number]
            carrier = robot.joints[joint.parent].after if joint.parent >= 0 else Frame()
            kind = "slide" if joint.prismatic else "hinge"
            return (
                f"<body {_pose(carrier @ joint.before)}>{_inertial(joint.after, robot.links[number])}"
                f'<joint name="{number}" type="{kind}" axis="{_numbers(joint.axis)}"/>'
                + "".join(map(body, children[number]))
                + "</body>"
            )

        self.model = mujoco.MjModel.from_xml_string(
            f'<mujoco><compiler angle="radian"/><option gravity="{_numbers(robot.gravity)}"/>'
            f"<worldbody>{''.join(map(body, children[-1]))}</worldbody></mujoco>"
        )
        self.order = np.array([self.model.joint(str(k)).dofadr[0] for k in range(self.count)])

    def of_all_joints(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Answers:
        data = mujoco.MjData(self.model)
        data.qpos[self.order], data.qvel[self.order] = q, qd
        mujoco.mj_forward(self.model, data)
        M = np.zeros((self.count, self.count))
        mujoco.mj_fullM(self.model, data, M)
        mujoco.mj_energyPos(self.model, data)
        mujoco.mj_energyVel(self.model, data)
        potential, kinetic = data.energy
        rest = np.zeros(self.count)
        return Answers(
            self._inverse(q, qd, qdd),
            M[np.ix_(self.order, self.order)],
            self._inverse(q, rest, rest),
            self._inverse(q, qd, rest, weight=0.0),
            float(kinetic),
            float(potential),
        )

    def _inverse(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, weight: float = 1.0) -> np.ndarray:
        data = mujoco.MjData(self.model)
        data.qpos[self.order], data.qvel[self.order], data.qacc[self.order] = q, qd, qdd
        self.model.opt.gravity[:] = weight * self.robot.gravity
        mujoco.mj_inverse(self.model, data)
        self.model.opt.gravity[:] = self.robot.gravity
        return data.qfrc_inverse[self.order]


def _numbers(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in np.ravel(values))


def _pose(frame: Frame) -> str:
    quaternion = Rotation.from_matrix(frame.rotation).as_quat()[[3, 0, 1, 2]]
    return f'pos="{_numbers(frame.translation)}" quat="{_numbers(quaternion)}"'


def _inertial(after: Frame, link: Link) -> str:
    xx, xy, xz, yy, yz, zz, *first, mass = link.parameters
    c = np.array(first) / mass
    about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    central = about_origin - mass * (c @ c * np.eye(3) - np.outer(c, c))
    moments, axes = np.linalg.eigh(central)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    place = Frame(after.rotation @ axes, after.translation + after.rotation @ c)
    return f'<inertial mass="{_numbers(mass)}" {_pose(place)} diaginertia="{_numbers(moments)}"/>'
