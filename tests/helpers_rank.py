"""Random robots, and what sampled regressors say about them: an oracle for base parameters.

The regressors come from the world-frame kinematics of `helpers_rnea`, which shares no formula with the
package; the rank comes from singular values of columns of unit length.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid.robot import Joint, Link, Robot
from dynid.spatial import Frame, cross_matrix, rotation_about
from helpers_rnea import motions

_UNITS = [
    np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=float) for xx, xy, xz, yy, yz, zz in np.eye(6)
]


def effort_rows(robot: Robot, model: str, rng: np.random.Generator, samples: int) -> np.ndarray:
    """Efforts per unit of each link parameter at random states, (samples * dof, 10 * links)."""
    if model == "inertia":
        robot = replace(robot, gravity=np.zeros(3))
    rows = []
    for _ in range(samples):
        q, qd, qdd = rng.uniform(-2, 2, (3, robot.dof))
        if model == "gravity":
            qd, qdd = 0 * qd, 0 * qdd
        rows.append(np.hstack([_link_rows(m, robot.gravity) for m in motions(robot, q, qd, qdd)]))
    return np.concatenate(rows)


def _link_rows(m, gravity) -> np.ndarray:
    """Efforts of one link per unit of its ten parameters, (dof, 10)."""
    W, Wd = cross_matrix(m.w), cross_matrix(m.wd)
    tensors = [m.R @ unit @ m.R.T for unit in _UNITS]
    about_origin = np.column_stack([t @ m.wd + W @ t @ m.w for t in tensors])
    a = m.a - gravity
    out = np.zeros((m.Jw.shape[1], 10))
    out[:, :6] = m.Jw.T @ about_origin
    out[:, 6:9] = m.Jv.T @ (Wd + W @ W) @ m.R - m.Jw.T @ cross_matrix(a) @ m.R
    out[:, 9] = m.Jv.T @ a
    return out


def energy_rows(robot: Robot, rng: np.random.Generator, samples: int) -> np.ndarray:
    """Energies less that of one state at rest, per unit of each link parameter, (samples, 10 * links)."""

    def energies(q, qd) -> np.ndarray:
        blocks = []
        for m in motions(robot, q, qd, 0 * q):
            w, v = m.w, m.Jv @ qd
            kinetic = [0.5 * w @ m.R @ unit @ m.R.T @ w for unit in _UNITS]
            moment = np.cross(v, w) @ m.R - robot.gravity @ m.R
            blocks.append(np.concatenate([kinetic, moment, [0.5 * v @ v - robot.gravity @ m.p]]))
        return np.concatenate(blocks)

    rest = energies(np.zeros(robot.dof), np.zeros(robot.dof))
    return np.array([energies(*rng.uniform(-2, 2, (2, robot.dof))) - rest for _ in range(samples)])


def drive_rows(robot: Robot, model: str, rng: np.random.Generator, samples: int, letters: str) -> np.ndarray:
    """`effort_rows` with columns for motor inertia (I), friction (F: viscous, Coulomb) and offset (O)."""
    if model == "inertia":
        robot = replace(robot, gravity=np.zeros(3))
    T = np.eye(robot.dof) if robot.transmission is None else np.asarray(robot.transmission)
    down = np.linalg.inv(T)
    side = down if robot.friction_side == "motor" else np.eye(robot.dof)
    rows = []
    for _ in range(samples):
        q, qd, qdd = rng.uniform(-2, 2, (3, robot.dof))
        if model == "gravity":
            qd, qdd = 0 * qd, 0 * qdd
        blocks = [_link_rows(m, robot.gravity) for m in motions(robot, q, qd, qdd)]
        if "I" in letters:
            blocks.append(down.T @ np.diag(down @ qdd))
        if "F" in letters:
            blocks += [side.T @ np.diag(side @ qd), side.T @ np.diag(np.sign(side @ qd))]
        if "O" in letters:
            blocks.append(side.T)
        rows.append(np.hstack(blocks))
    return np.concatenate(rows)


def row_space(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Column sizes, an orthonormal basis of the rows over columns of unit length, and the gap between
    the smallest singular value counted and the largest not counted."""
    sizes = np.linalg.norm(rows, axis=0)
    sizes[sizes < 1e-11 * sizes.max(initial=1.0)] = np.inf
    _, s, vt = np.linalg.svd(rows / sizes, full_matrices=False)
    rank = int(np.sum(s > 1e-9 * max(s[0], 1.0)))
    dropped = s[rank] if rank < len(s) else 0.0
    return sizes, vt[:rank], (s[rank - 1] if rank else np.inf) / max(dropped, 1e-300)


def same_row_space(matrix: np.ndarray, rows: np.ndarray) -> float:
    """How far the rows of `matrix` are from the span of `rows`, 0 for equal spaces; inf for other ranks."""
    sizes, basis, _ = row_space(rows)
    finite = np.where(np.isinf(sizes), 1.0, sizes)
    scaled = matrix / finite
    if len(matrix) != len(basis):
        return np.inf
    if not len(matrix):
        return 0.0
    scaled = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return float(np.abs(scaled - scaled @ basis.T @ basis).max())


# --- random robots ----------------------------------------------------------------------------------

_RATIONAL = ((3 / 5, 4 / 5), (5 / 13, -12 / 13), (-8 / 17, 15 / 17), (7 / 25, 24 / 25))
_RIGHT = [rotation_about(axis, turn * np.pi / 2) for axis in np.eye(3) for turn in range(4)]


def random_rotation(rng: np.random.Generator, kind: str) -> np.ndarray:
    """Mostly right angles; otherwise one oblique angle, rational or not, or oblique throughout."""
    if kind == "right" or rng.random() < 0.5:
        return _RIGHT[rng.integers(len(_RIGHT))]
    axis = np.eye(3)[rng.integers(3)]
    if kind == "rational":
        c, s = _RATIONAL[rng.integers(len(_RATIONAL))]
        K = cross_matrix(axis)
        return np.eye(3) + s * K + (1 - c) * K @ K
    if rng.random() < 0.7:
        return rotation_about(axis, rng.choice([np.pi / 6, np.pi / 4, np.pi / 3, 0.3]))
    v = rng.normal(size=3)
    return rotation_about(v / np.linalg.norm(v), rng.uniform(0.3, 2.5))


def random_offset(rng: np.random.Generator) -> np.ndarray:
    """Nothing, along one axis, or general; lengths as a drawing gives them."""
    offset = np.round(rng.uniform(-0.5, 0.5, 3), 2) + 0.007
    return offset * (rng.random(3) < rng.choice([0.0, 0.3, 0.6, 1.0]))


def random_robot(seed: int, *, serial: bool, kind: str, joints: int = 5, distal: float = 0.2) -> Robot:
    """A robot with up to that many joints; `kind` is right, rational or oblique; some frames are distal."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, joints + 1))
    slides = rng.choice([0.0, 0.3, 0.7])
    made = []
    for j in range(count):
        axis = np.eye(3)[2 if rng.random() < 0.7 else rng.integers(3)]
        after = Frame(random_rotation(rng, kind), random_offset(rng)) if rng.random() < distal else Frame()
        made.append(
            Joint(
                name=f"j{j}",
                kind="prismatic" if rng.random() < slides else "revolute",
                parent=j - 1 if serial else int(rng.integers(-1, j)),
                before=Frame(random_rotation(rng, kind), random_offset(rng)),
                axis=axis,
                after=after,
            )
        )
    directions = [(0, 0, -1), (0, 1, 0), (0, 0.6, -0.8), (0, 0, 0)]
    if kind == "oblique":
        directions.append((0.3, -0.5, 0.81))
    gravity = 9.81 * np.array(directions[rng.integers(len(directions))], dtype=float)
    links = tuple(Link(name=f"l{j}", parameters=rng.normal(size=10)) for j in range(count))
    return Robot(name=f"random {seed}", joints=tuple(made), links=links, gravity=gravity)
