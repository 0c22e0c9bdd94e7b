"""Converters, proven by torques: a cloud of particles has one motion, whatever program computes it.

The efforts come from Newton's law for point masses. The parameters reach the other program through our
converter, and its efforts must be the same; or the other program's numbers come back through our
converter, and the efforts of what we get must be the same.
"""

from types import SimpleNamespace

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dynid import conventions
from dynid.errors import ArgumentError
from dynid.spatial import PARAMETER_LETTERS, tensor
from helpers_particles import newton_euler_torque, particle_torque, random_chain, random_cloud

SEEDS = range(6)

# Six joints, ten products and sums each: rounding stays below some hundred units in the last place.
RELATIVE = 1e-12

vectors = arrays(np.float64, 10, elements=st.floats(-10, 10, allow_subnormal=False))


def case(seed):
    """A chain of six joints, a cloud on each link, a state and the true efforts."""
    rng = np.random.default_rng(seed)
    robot = random_chain(rng)
    clouds = [random_cloud(rng) for _ in robot.links]
    state = rng.uniform(-2.0, 2.0, (3, robot.dof))
    return SimpleNamespace(
        robot=robot,
        clouds=clouds,
        state=state,
        torque=particle_torque(robot, clouds, *state),
        parameters=np.array([cloud.parameters() for cloud in clouds]),
    )


def assert_same_torque(found, true, relative=RELATIVE):
    assert np.max(np.abs(found - true)) <= relative * np.max(np.abs(true))


def torque_of(c, parameters):
    """Efforts of parameters about and in the link frames, (links, 10), in our own order."""
    bodies = [(phi[9], phi[6:9], tensor(phi[:6])) for phi in parameters]
    return newton_euler_torque(c.robot, bodies, *c.state)


# --- the oracle itself ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_particles_and_rigid_bodies_agree(seed):
    c = case(seed)
    assert_same_torque(torque_of(c, c.parameters), c.torque)


@pytest.mark.parametrize("k", range(10), ids=PARAMETER_LETTERS)
def test_every_parameter_of_the_last_link_is_felt(k):
    """One per cent of any of them changes the efforts by a million times what the tests forgive."""
    c = case(0)
    wrong = c.parameters.copy()
    wrong[-1, k] *= 1.01
    changed = np.max(np.abs(torque_of(c, wrong) - c.torque))
    assert changed > 1e6 * RELATIVE * np.max(np.abs(c.torque))


# --- Pinocchio ------------------------------------------------------------------------------------


def pinocchio_torque(c, inertias):
    model = pin.Model()
    model.gravity.linear = np.array(c.robot.gravity)
    carrier = 0
    for j, joint in enumerate(c.robot.joints):
        placement = c.robot.joints[j - 1].after @ joint.before if j else joint.before
        kind = pin.JointModelPrismaticUnaligned if joint.prismatic else pin.JointModelRevoluteUnaligned
        carrier = model.addJoint(
            carrier, kind(joint.axis), pin.SE3(placement.rotation, placement.translation), joint.name
        )
        model.appendBodyToJoint(carrier, inertias[j], pin.SE3.Identity())
    return pin.rnea(model, model.createData(), *c.state)


@pytest.mark.parametrize("seed", SEEDS)
def test_to_pinocchio(seed):
    c = case(seed)
    theirs = conventions.to_pinocchio(conventions.to_joint_frames(c.robot, c.parameters))
    inertias = [pin.Inertia.FromDynamicParameters(vector) for vector in theirs]
    assert_same_torque(pinocchio_torque(c, inertias), c.torque)


@pytest.mark.parametrize("seed", SEEDS)
def test_from_pinocchio(seed):
    c = case(seed)
    inertias = [pin.Inertia.Random() for _ in c.robot.joints]
    phi = conventions.from_pinocchio([inertia.toDynamicParameters() for inertia in inertias])
    ours = torque_of(c, conventions.from_joint_frames(c.robot, phi))
    assert_same_torque(ours, pinocchio_torque(c, inertias))


# --- MuJoCo ---------------------------------------------------------------------------------------


def numbers(values):
    return " ".join(repr(float(x)) for x in np.ravel(values))


def mujoco_model(robot, inertials):
    """A compiled model whose bodies have the given attributes of `inertial`."""
    body, end = "", ""
    for j, (joint, attributes) in enumerate(zip(robot.joints, inertials, strict=True)):
        placement = robot.joints[j - 1].after @ joint.before if j else joint.before
        axes = numbers(placement.rotation[:, :2].T)
        written = " ".join(f'{name}="{numbers(value)}"' for name, value in attributes.items())
        body += f"""
            <body pos="{numbers(placement.translation)}" xyaxes="{axes}">
              <inertial {written}/>
              <joint type="{"slide" if joint.prismatic else "hinge"}" axis="{numbers(joint.axis)}"/>"""
        end += "</body>"
    return mujoco.MjModel.from_xml_string(f"""
        <mujoco>
          <compiler angle="radian" balanceinertia="false"/>
          <option gravity="{numbers(robot.gravity)}"/>
          <worldbody>{body}{end}</worldbody>
        </mujoco>""")


def mujoco_torque(c, inertials):
    model = mujoco_model(c.robot, inertials)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qacc[:] = c.state
    mujoco.mj_inverse(model, data)
    return data.qfrc_inverse.copy()


@pytest.mark.parametrize("seed", SEEDS)
def test_to_mujoco(seed):
    c = case(seed)
    bodies = map(conventions.to_mujoco, conventions.to_joint_frames(c.robot, c.parameters))
    inertials = [{"mass": b.mass, "pos": b.ipos, "quat": b.iquat, "diaginertia": b.inertia} for b in bodies]
    assert_same_torque(mujoco_torque(c, inertials), c.torque)


@pytest.mark.parametrize("seed", SEEDS)
def test_to_mjcf(seed):
    c = case(seed)
    bodies = map(conventions.to_mjcf, conventions.to_joint_frames(c.robot, c.parameters))
    assert_same_torque(mujoco_torque(c, [b._asdict() for b in bodies]), c.torque)


@pytest.mark.parametrize("seed", SEEDS)
def test_from_mujoco_and_from_mjcf(seed):
    c = case(seed)
    at_joints = [cloud.seen_from(joint.after) for cloud, joint in zip(c.clouds, c.robot.joints, strict=True)]
    inertials = [
        {
            "mass": cloud.mass,
            "pos": cloud.com,
            "fullinertia": [
                cloud.moment(i, j, about=cloud.com)
                for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
            ],
        }
        for cloud in at_joints
    ]
    model = mujoco_model(c.robot, inertials)
    compiled = [
        conventions.from_mujoco(*row)
        for row in zip(
            model.body_mass[1:],
            model.body_ipos[1:],
            model.body_iquat[1:],
            model.body_inertia[1:],
            strict=True,
        )
    ]
    written = [conventions.from_mjcf(**attributes) for attributes in inertials]
    assert_same_torque(torque_of(c, conventions.from_joint_frames(c.robot, compiled)), c.torque)
    assert_same_torque(torque_of(c, conventions.from_joint_frames(c.robot, written)), c.torque)


# --- Drake, iDynTree and SYMORO, by the definitions in their manuals ---------------------------------


def drake_by_definition(phi):
    b = conventions.to_drake(phi)
    (xx, yy, zz), (xy, xz, yz) = b.moments, b.products
    G = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return b.mass, b.mass * b.com, b.mass * G


def idyntree_by_definition(phi):
    m, mx, my, mz, xx, xy, xz, yy, yz, zz = conventions.to_idyntree(phi)
    return m, np.array([mx, my, mz]), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def symoro_by_definition(phi):
    XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M, Ia = conventions.to_symoro(phi)
    assert Ia == 0.0
    return M, np.array([MX, MY, MZ]), np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("defined", [drake_by_definition, idyntree_by_definition, symoro_by_definition])
def test_definitions(defined, seed):
    c = case(seed)
    bodies = [defined(phi) for phi in c.parameters]
    assert_same_torque(newton_euler_torque(c.robot, bodies, *c.state), c.torque)


def test_symoro_keeps_the_motor_inertia_apart():
    c = case(0)
    Ia = np.arange(1.0, 7.0)
    rows = conventions.to_symoro(c.parameters, Ia)
    phi, armature = conventions.from_symoro(rows)
    qdd = c.state[2]
    assert_same_torque(torque_of(c, phi) + armature * qdd, c.torque + Ia * qdd)
    assert rows[:, 10].tolist() == Ia.tolist()


# --- the programs themselves, where they are installed ------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_drake(seed):
    pytest.importorskip("pydrake", reason="Drake is not part of the development lock (pip install drake)")
    from pydrake.math import RigidTransform, RotationMatrix
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import (
        FixedOffsetFrame,
        MultibodyForces,
        PrismaticJoint,
        RevoluteJoint,
        SpatialInertia,
        UnitInertia,
    )

    def transform(frame):
        return RigidTransform(RotationMatrix(frame.rotation), frame.translation)

    c = case(seed)
    plant = MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector(c.robot.gravity)
    carrier = plant.world_body()
    for joint, phi in zip(c.robot.joints, c.parameters, strict=True):
        b = conventions.to_drake(phi)
        inertia = SpatialInertia(float(b.mass), b.com, UnitInertia(*b.moments, *b.products))
        back = inertia.get_unit_inertia()
        assert conventions.from_drake(
            inertia.get_mass(), inertia.get_com(), back.get_moments(), back.get_products()
        ) == pytest.approx(phi, rel=1e-13)
        body = plant.AddRigidBody(f"body of {joint.name}", inertia)
        base = plant.AddFrame(
            FixedOffsetFrame(f"before {joint.name}", carrier.body_frame(), transform(joint.before))
        )
        tip = plant.AddFrame(
            FixedOffsetFrame(f"after {joint.name}", body.body_frame(), transform(joint.after.inverse()))
        )
        kind = PrismaticJoint if joint.prismatic else RevoluteJoint
        plant.AddJoint(kind(joint.name, base, tip, joint.axis))
        carrier = body
    plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, c.state[0])
    plant.SetVelocities(context, c.state[1])
    without_gravity = plant.CalcInverseDynamics(context, c.state[2], MultibodyForces(plant))
    assert_same_torque(without_gravity - plant.CalcGravityGeneralizedForces(context), c.torque)


@pytest.mark.parametrize("seed", SEEDS)
def test_idyntree(seed):
    idyntree = pytest.importorskip(
        "idyntree.bindings", reason="iDynTree is not part of the development lock (pip install idyntree)"
    )
    c = case(seed)
    model = idyntree.Model()

    def add_link(name, vector):
        inertia = idyntree.SpatialInertia()
        inertia.fromVector(idyntree.Vector10.FromPython(list(vector)))
        assert conventions.from_idyntree(inertia.asVector().toNumPy()) == pytest.approx(
            conventions.from_idyntree(vector), rel=1e-13
        )
        link = idyntree.Link()
        link.setInertia(inertia)
        return model.addLink(name, link)

    carrier = add_link("base", np.zeros(10))
    for joint, vector in zip(c.robot.joints, conventions.to_idyntree(c.parameters), strict=True):
        link = add_link(f"link of {joint.name}", vector)
        at_zero, axis = joint.before @ joint.after, joint.before.rotation @ joint.axis
        kind = idyntree.PrismaticJoint if joint.prismatic else idyntree.RevoluteJoint
        moving = kind(
            carrier,
            link,
            idyntree.Transform(
                idyntree.Rotation(*at_zero.rotation.ravel().tolist()),
                idyntree.Position(*at_zero.translation.tolist()),
            ),
            idyntree.Axis(
                idyntree.Direction(*axis.tolist()), idyntree.Position(*joint.before.translation.tolist())
            ),
        )
        model.addJoint(joint.name, moving)
        carrier = link
    computer = idyntree.KinDynComputations()
    assert computer.loadRobotModel(model)
    q, qd, qdd = c.state
    assert computer.setRobotState(q, qd, np.array(c.robot.gravity))
    effort = idyntree.FreeFloatingGeneralizedTorques(model)
    assert computer.inverseDynamics(
        idyntree.Vector6.FromPython([0.0] * 6),
        idyntree.VectorDynSize.FromPython(qdd.tolist()),
        idyntree.LinkWrenches(model),
        effort,
    )
    assert_same_torque(effort.jointTorques().toNumPy(), c.torque)


# --- there and back -----------------------------------------------------------------------------------


@given(vectors)
def test_round_trips_of_orders_are_exact(phi):
    assert conventions.from_pinocchio(conventions.to_pinocchio(phi)).tolist() == phi.tolist()
    assert conventions.from_idyntree(conventions.to_idyntree(phi)).tolist() == phi.tolist()
    assert conventions.from_symoro(conventions.to_symoro(phi, 2.0))[0].tolist() == phi.tolist()


@given(vectors, st.floats(0.1, 10))
def test_round_trips_with_a_mass(phi, mass):
    phi[9] = mass
    # Shifting to the centre of mass and back: the terms that cancel are as large as |h|^2 / m.
    rounding = 1e-14 * (np.abs(phi).max() + phi[6:9] @ phi[6:9] / mass)
    for to, back in (
        (conventions.to_drake, conventions.from_drake),
        (conventions.to_mujoco, conventions.from_mujoco),
        (conventions.to_mjcf, conventions.from_mjcf),
    ):
        assert back(*to(phi)) == pytest.approx(phi, rel=0, abs=rounding)


def test_stacks_are_converted_row_by_row():
    stack = np.arange(1.0, 61.0).reshape(2, 3, 10)
    assert conventions.from_drake(*conventions.to_drake(stack)) == pytest.approx(stack, rel=1e-15)
    for to in (conventions.to_pinocchio, conventions.to_idyntree, conventions.to_symoro):
        assert np.array_equal(to(stack)[1, 2], to(stack[1, 2]))


def test_principal_axes_are_a_rotation_and_sorted():
    body = conventions.to_mujoco(case(3).parameters[0])
    assert np.linalg.norm(body.iquat) == pytest.approx(1.0, rel=1e-15)
    assert sorted(body.inertia, reverse=True) == list(body.inertia)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: conventions.to_pinocchio(np.zeros(9)), "10 entries"),
        (lambda: conventions.from_symoro(np.zeros(10)), "11 entries"),
        (lambda: conventions.to_drake(np.zeros(10)), "without mass"),
        (lambda: conventions.to_mujoco(np.zeros((2, 10))), "one body"),
        (lambda: conventions.to_mjcf(np.full(10, np.nan)), "finite"),
        (lambda: conventions.to_joint_frames(case(0).robot, np.zeros(10)), "6 links"),
    ],
)
def test_wrong_shapes_are_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
