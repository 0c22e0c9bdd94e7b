"""Frames, rotations and the ten parameters, against particles, SciPy and Pinocchio."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from dynid.spatial import (
    SNAP,
    Frame,
    cross_matrix,
    from_pseudo_inertia,
    frozen,
    is_physical,
    parameter_transform,
    parameters_from_com,
    parameters_to_com,
    pseudo_inertia,
    rotation_about,
    rotation_from_z,
    rotation_quaternion,
    rotation_rpy,
    rotation_x,
    rotation_y,
    rotation_z,
    six,
    snap,
    tensor,
)
from helpers_particles import Cloud, homogeneous, random_cloud, random_frame

UNIT = np.finfo(np.float64).eps

seeds = st.integers(0, 2**32 - 1)
angles = st.floats(-10.0, 10.0)
vectors = arrays(np.float64, 3, elements=st.floats(-10, 10))
directions = vectors.filter(lambda v: np.linalg.norm(v) > 1e-3)

# Rotations pass through `snap`, which may clear entries up to SNAP; products of two see it twice.
SNAPPED = 4 * SNAP
# Random rotations have no such entries (the seeds are fixed): only rounding is left.
ROUNDING = 32 * UNIT


def assert_close(found, expected, tolerance):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def assert_rotation(R, tolerance=ROUNDING):
    assert_close(R @ R.T, np.eye(3), tolerance)
    assert np.linalg.det(R) == pytest.approx(1.0, abs=tolerance)


# --- frames -----------------------------------------------------------------------------------------


@given(seeds)
def test_frames_form_a_group(seed):
    rng = np.random.default_rng(seed)
    a, b, c = (random_frame(rng) for _ in range(3))
    for left, right in (
        ((a @ b) @ c, a @ (b @ c)),
        (a @ Frame(), a),
        (Frame() @ a, a),
        (a @ a.inverse(), Frame()),
        (a.inverse() @ a, Frame()),
        ((a @ b).inverse(), b.inverse() @ a.inverse()),
    ):
        assert_close(homogeneous(left), homogeneous(right), ROUNDING)
    assert_close(homogeneous(a @ b), homogeneous(a) @ homogeneous(b), ROUNDING)


@given(seeds, vectors)
def test_frames_act_on_points(seed, point):
    rng = np.random.default_rng(seed)
    a, b = random_frame(rng), random_frame(rng)
    tolerance = ROUNDING * (1.0 + np.linalg.norm(point))
    assert_close((a @ b).apply(point), a.apply(b.apply(point)), tolerance)
    assert_close(a.inverse().apply(a.apply(point)), point, tolerance)


def test_frames_cannot_be_changed():
    rotation = np.eye(3)
    frame = Frame(rotation, [1, 2, 3])
    rotation[0, 0] = 5.0
    assert frame.rotation[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        frame.translation[0] = 0.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        frame.rotation = rotation


def test_identity_is_recognised():
    assert Frame().is_identity
    assert not Frame(translation=(0, 0, 1e-300)).is_identity
    assert not Frame(rotation_x(1e-3)).is_identity
    quarter = Frame(rotation_z(np.pi / 2))
    assert (quarter @ quarter @ quarter @ quarter).is_identity


def test_frozen_copies_and_reshapes():
    values = np.arange(6.0)
    copy = frozen(values, (2, 3))
    values[0] = 9.0
    assert copy.shape == (2, 3)
    assert copy[0, 0] == 0.0
    assert not copy.flags.writeable


# --- rotations --------------------------------------------------------------------------------------


@given(angles, angles, angles)
def test_rpy(roll, pitch, yaw):
    R = rotation_rpy(roll, pitch, yaw)
    assert_close(R, Rotation.from_euler("xyz", [roll, pitch, yaw]).as_matrix(), SNAPPED)
    assert_close(R, pin.rpy.rpyToMatrix(roll, pitch, yaw), SNAPPED)


@given(arrays(np.float64, 4, elements=st.floats(-5, 5)).filter(lambda q: np.linalg.norm(q) > 1e-3))
def test_quaternion(q):
    R = rotation_quaternion(*q)
    assert_close(R, Rotation.from_quat(q, scalar_first=True).as_matrix(), SNAPPED)
    w, x, y, z = q / np.linalg.norm(q)
    assert_close(R, pin.Quaternion(w, x, y, z).matrix(), SNAPPED)


@given(directions, angles)
def test_rotation_about(axis, angle):
    axis = axis / np.linalg.norm(axis)
    assert_close(rotation_about(axis, angle), Rotation.from_rotvec(angle * axis).as_matrix(), SNAPPED)


@given(seeds)
def test_rotations_without_small_entries_are_exact_to_rounding(seed):
    """The tolerance above is only for what snapping may do: where it does nothing, nothing is lost."""
    rng = np.random.default_rng(seed)
    roll, pitch, yaw = rng.uniform(0.1, 1.4, 3)
    assert_close(
        rotation_rpy(roll, pitch, yaw), Rotation.from_euler("xyz", [roll, pitch, yaw]).as_matrix(), ROUNDING
    )
    turn = Rotation.random(rng=rng)
    assert_close(rotation_quaternion(*turn.as_quat(scalar_first=True)), turn.as_matrix(), ROUNDING)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    assert_close(rotation_about(axis, roll), Rotation.from_rotvec(roll * axis).as_matrix(), ROUNDING)


@pytest.mark.parametrize("quarters", range(-4, 5))
@pytest.mark.parametrize(("rotation", "axis"), [(rotation_x, "x"), (rotation_y, "y"), (rotation_z, "z")])
@pytest.mark.parametrize("error", [0.0, 4e-10, -4e-10])
def test_right_angles_are_exact(rotation, axis, quarters, error):
    R = rotation(quarters * np.pi / 2 + error)
    assert set(R.ravel()) <= {-1.0, 0.0, 1.0}
    assert_close(R, Rotation.from_euler(axis, 90 * quarters, degrees=True).as_matrix(), 4 * UNIT)


@given(seeds, arrays(np.float64, (3, 3), elements=st.floats(-0.9 * SNAP, 0.9 * SNAP)))
def test_snap_moves_little_and_only_once(seed, noise):
    rng = np.random.default_rng(seed)
    permutation = np.eye(3)[rng.permutation(3)] * rng.choice([-1.0, 1.0], 3)
    assert np.array_equal(snap(permutation + noise), permutation)
    R = Rotation.random(rng=rng).as_matrix() + noise
    assert np.max(np.abs(snap(R) - R)) < SNAP
    assert np.array_equal(snap(snap(R)), snap(R))


def test_snap_leaves_small_angles_that_are_meant():
    assert rotation_x(1e-6)[2, 1] == np.sin(1e-6)
    assert np.count_nonzero(rotation_x(1e-6)) == 5


@given(directions)
def test_rotation_from_z(axis):
    R = rotation_from_z(axis)
    assert_rotation(R, SNAPPED)
    assert_close(R[:, 2], axis / np.linalg.norm(axis), SNAPPED)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("k", range(3))
def test_rotation_from_a_coordinate_axis_is_a_signed_permutation(k, sign):
    axis = sign * np.eye(3)[k]
    for length in (1.0, 0.1, 7.0):
        R = rotation_from_z(length * axis)
        assert set(R.ravel()) <= {-1.0, 0.0, 1.0}
        assert np.array_equal(R[:, 2], axis)
        assert np.linalg.det(R) == 1.0


@given(vectors, vectors)
def test_cross_matrix(u, v):
    assert_close(cross_matrix(u) @ v, np.cross(u, v), 4 * UNIT * np.abs(u).max() * np.abs(v).max())


# --- the ten parameters, against particles ------------------------------------------------------------


def size_of(cloud, frame=None):
    """Bound on the terms that are summed in a cloud's parameters, seen from its own frame or another."""
    distance = np.linalg.norm(cloud.points, axis=1)
    shift = np.linalg.norm(frame.translation) if frame else 0.0
    return float(cloud.masses @ (1.0 + distance + shift) ** 2)


@given(seeds)
def test_parameters_from_and_to_com(seed):
    cloud = random_cloud(np.random.default_rng(seed))
    com = cloud.com
    about_com = np.array([[cloud.moment(i, j, about=com) for j in range(3)] for i in range(3)])
    tolerance = ROUNDING * size_of(cloud)
    assert_close(parameters_from_com(cloud.mass, com, about_com), cloud.parameters(), tolerance)
    mass, centre, inertia = parameters_to_com(cloud.parameters())
    assert mass == cloud.mass
    assert_close(centre, com, ROUNDING)
    assert_close(inertia, about_com, tolerance)


def test_a_body_without_mass_has_its_centre_at_the_origin():
    mass, com, inertia = parameters_to_com([1, 2, 3, 4, 5, 6, 0, 0, 0, 0])
    assert mass == 0.0
    assert not com.any()
    assert np.array_equal(inertia, [[1, 2, 3], [2, 4, 5], [3, 5, 6]])


@given(seeds)
def test_moved_parameters_are_those_of_the_moved_particles(seed):
    rng = np.random.default_rng(seed)
    cloud, frame = random_cloud(rng), random_frame(rng)
    moved = parameter_transform(frame) @ cloud.parameters()
    assert_close(moved, cloud.seen_from(frame).parameters(), ROUNDING * size_of(cloud, frame))


@given(seeds)
def test_transforms_compose_as_their_frames(seed):
    rng = np.random.default_rng(seed)
    a, b = random_frame(rng), random_frame(rng)
    scale = ROUNDING * np.linalg.norm(parameter_transform(a)) * np.linalg.norm(parameter_transform(b))
    assert_close(parameter_transform(a @ b), parameter_transform(a) @ parameter_transform(b), scale)
    assert_close(parameter_transform(a) @ parameter_transform(a.inverse()), np.eye(10), 10 * scale)


@given(arrays(np.float64, 6, elements=st.floats(-10, 10)))
def test_six_entries_make_a_tensor(entries):
    assert np.array_equal(six(tensor(entries)), entries)
    assert np.array_equal(tensor(entries), tensor(entries).T)


# --- pseudo-inertia -----------------------------------------------------------------------------------


@given(seeds)
def test_pseudo_inertia_is_the_second_moment_of_the_particles(seed):
    rng = np.random.default_rng(seed)
    cloud, frame = random_cloud(rng), random_frame(rng)
    r = np.column_stack([cloud.points, np.ones(len(cloud.masses))])
    S = (r.T * cloud.masses) @ r
    tolerance = ROUNDING * size_of(cloud, frame)
    assert_close(pseudo_inertia(cloud.parameters()), S, tolerance)
    assert_close(from_pseudo_inertia(S), cloud.parameters(), tolerance)
    T = homogeneous(frame)
    assert_close(pseudo_inertia(parameter_transform(frame) @ cloud.parameters()), T @ S @ T.T, tolerance)


def test_pseudo_inertia_of_a_stack():
    rng = np.random.default_rng(0)
    stack = rng.normal(size=(2, 3, 10))
    found = pseudo_inertia(stack)
    assert found.shape == (2, 3, 4, 4)
    assert np.array_equal(found[1, 2], pseudo_inertia(stack[1, 2]))


@given(arrays(np.float64, 10, elements=st.floats(-10, 10)))
def test_pseudo_inertia_round_trip(phi):
    assert_close(from_pseudo_inertia(pseudo_inertia(phi)), phi, ROUNDING * 10)


@given(seeds)
def test_physical_parameters_are_those_of_some_particles(seed):
    """Four particles, built from the eigenvectors, have any parameters that are called physical."""
    rng = np.random.default_rng(seed)
    L = rng.normal(size=(4, 4))
    phi = from_pseudo_inertia(L @ L.T)
    assert is_physical(phi)
    values, directions = np.linalg.eigh(pseudo_inertia(phi))
    weight = directions[3]
    particles = Cloud(values * weight**2, (directions[:3] / weight).T)
    assert_close(particles.parameters(), phi, ROUNDING * size_of(particles))


@given(seeds)
def test_parameters_that_no_particles_have_are_not_physical(seed):
    """A weighted square distance from a plane cannot be negative: make it so, and nothing has it."""
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.normal(size=(4, 4))).Q
    values = np.array([-(10.0 ** rng.uniform(-9, 1)), *rng.uniform(0.1, 3.0, 3)])
    assert not is_physical(from_pseudo_inertia(directions @ np.diag(values) @ directions.T))


@pytest.mark.parametrize(
    ("phi", "physical"),
    [
        ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0], True),  # nothing at all
        ([0, 0, 0, 0, 0, 0, 0, 0, 0, 2], True),  # a point mass at the origin
        ([2, 0, 0, 2, 0, 0, 0, 0, 0, 1], True),  # a thin rod: equality in the triangle inequality
        ([1, 0, 0, 1, 0, 2.1, 0, 0, 0, 1], False),  # violates the triangle inequality
        ([1, 0, 0, 1, 0, 1, 0, 0, 0, -1], False),  # negative mass
        ([1, 0, 0, 1, 0, 1, 2, 0, 0, 1], False),  # the first moment asks for more inertia than there is
        ([1, 0, 0, 1, 0, 1, 1e-3, 0, 0, 0], False),  # a first moment without mass
        ([np.nan, 0, 0, 1, 0, 1, 0, 0, 0, 1], False),
        ([np.inf, 0, 0, 1, 0, 1, 0, 0, 0, 1], False),
    ],
)
def test_bodies_at_and_beyond_the_border(phi, physical):
    assert is_physical(phi) is physical
