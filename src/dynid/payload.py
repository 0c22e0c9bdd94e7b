"""A load at the end of the arm, from logs without it and with it.

The load is one more body fixed to the last link: it adds B_L phi to the base values, B_L the columns of that
link's ten standard parameters in the base matrix. With the data of the two runs as triangles,

    without   |R0 (beta, f0) - r0|^2            with   |R1 (beta + B_L phi, f1) - r1|^2

in the rigid base values beta, which the runs share, friction f0 and f1, which may have changed from one run
to the other, and phi. Whatever is wrong with the model of the arm in both runs cancels. On an arm whose
bodies are known, beta is theirs, only motor inertias stay free, and the first run may be missing.

The values are those of the best body that can exist; deviations are of the unconstrained fit, with the
coloured noise of both runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from dynid.errors import ArgumentError, choices
from dynid.estimate import Estimate
from dynid.fit.identify import identify
from dynid.log.log import Log
from dynid.physical.body import nearest_body
from dynid.robot import Robot
from dynid.spatial import PARAMETER_LETTERS, Array, frozen, parameters_to_com
from dynid.statistics import interval_factor

Method = Literal["auto", "difference", "known"]
METHODS: tuple[Method, ...] = get_args(Method)
Status = Literal["trusted", "weak"]
Source = Log | str | os.PathLike[str]
Report = Callable[[str], None]

MOMENTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # Ixx Iyy Izz Ixy Ixz Iyz, as in our TOML files
DEPENDENT = 1e-8  # of a load parameter's column: what is left of it, if it depends on others
INVOLVED = 1e-6  # of a direction that the data do not determine
CERTAIN = 2.0  # standard deviations
ROUGH = 0.2  # of the mass: a deviation beyond which nobody should build on it
FAR = 4.0  # standard deviations that a possible body may be away from the unconstrained values


@dataclass(frozen=True, eq=False, kw_only=True)
class Payload:
    """A load, in the frame of the link that carries it; what no data determine has an infinite `std`."""

    link: str
    method: Method
    parameters: Array  # (10,), about the frame's origin
    covariance: Array  # (10, 10), of these
    undetermined: tuple[str, ...]  # names among the ten parameters
    freedom: float
    status: Status
    advice: tuple[str, ...]
    distance: float  # of the body from the unconstrained values, in standard deviations
    choices: Mapping[str, Any]

    @property
    def mass(self) -> float:
        return float(self.parameters[9])

    @property
    def com(self) -> Array:
        """Centre of mass, (3,)."""
        return parameters_to_com(self.parameters)[1]

    @property
    def inertia(self) -> Array:
        """Ixx Iyy Izz Ixy Ixz Iyz about the centre of mass, along the link's axes, (6,)."""
        return _body(self.parameters)[4:]

    @cached_property
    def std(self) -> Array:
        """Standard deviations of mass, centre of mass and inertia, (10,)."""
        return frozen(deviations_of_body(self.parameters, self.covariance))

    def as_dict(self) -> dict[str, Any]:
        """What `dynid payload --json` prints."""
        factor = interval_factor(self.freedom)
        body = _body(self.parameters)
        ends = np.column_stack([body - factor * self.std, body + factor * self.std])
        return {
            "mass": self.mass,
            "com": self.com,
            "inertia": self.inertia,
            "std": _named(self.std),
            "interval": _named(ends),
            "parameters": dict(zip(PARAMETER_LETTERS, self.parameters.tolist(), strict=True)),
            "link": self.link,
            "method": self.method,
            "undetermined": self.undetermined,
            "distance_standard_deviations": self.distance,
            "status": self.status,
            "advice": self.advice,
            "choices": self.choices,
        }


def payload(
    robot: Robot,
    without: Source | Sequence[Source],
    with_load: Source | Sequence[Source],
    *,
    link: str | None = None,
    method: Method = "auto",
    report: Report | None = None,
    **options: Any,
) -> Payload:
    """The load that was on the robot in the logs `with_load` and not in `without`.

    method: "difference" compares the runs; "known" takes the bodies of the robot's file for right, and needs
    no run without. "auto" compares if there is one. `link` carries the load, by default the last. Options are
    those of `identify` (cutoff_hz=, friction=, ...).
    """
    if method not in METHODS:
        raise ArgumentError(f"method {choices(method, METHODS)}")
    number = link_number(robot, link)
    loaded_only = not isinstance(without, Log | str | os.PathLike) and not without
    if method == "auto":
        method = "known" if loaded_only else "difference"
    if method == "difference" and loaded_only:
        raise ArgumentError("the method 'difference' needs a log without the load; 'known' does not")
    options = {"prior": "none", **options}
    runs: list[Estimate] = []
    for what, logs in (("without the load", without), ("with the load", with_load)):
        if what == "with the load" or not loaded_only:
            fixed = settings_of(runs[0]) if runs else {}
            say = None if report is None else _prefixed(report, what)
            runs.append(identify(robot, logs, report=say, **{**options, **fixed}))
    return between(runs[:-1], runs[-1], number, method)


def settings_of(estimate: Estimate) -> dict[str, Any]:
    """Options of `identify` that one run chose and another one to be compared with it must share."""
    said = estimate.choices
    return {
        "cutoff_hz": said["cutoff_hz"],
        "width": estimate.terms.width,
        "presliding": estimate.terms.presliding,
        "delay": said["delay_s"],
    }


def link_number(robot: Robot, link: str | None) -> int:
    """The number of the link that carries the load."""
    names = [one.name for one in robot.links]
    if link is None:
        return len(names) - 1
    if link not in names:
        raise ArgumentError(f"link {choices(link, names)}")
    return names.index(link)


def between(without: Sequence[Estimate], loaded: Estimate, number: int, method: Method) -> Payload:
    """The load on link `number` of a run, beside runs without it."""
    robot = loaded.robot
    A, b, roots = _equations(without, loaded, number, method)
    scale = _column_sizes(A)
    U, s, Vt = np.linalg.svd(A / scale)  # all of Vt: with few equations, more directions than singular values
    rank = int(np.count_nonzero(s > DEPENDENT * s[0]))
    solve = (Vt[:rank].T / s[:rank]) @ U[:, :rank].T / scale[:, None]
    null = Vt[rank:, -10:]
    lost = np.abs(null).max(axis=0) > INVOLVED if len(null) else np.zeros(10, dtype=np.bool_)
    free = (solve @ b)[-10:]
    spread = solve[-10:] @ roots
    covariance = spread @ spread.T
    covariance[lost, lost] = np.inf
    information = np.asarray(np.linalg.qr(A, mode="r"), dtype=np.float64)[-10:, -10:]
    body = nearest_body(information, information @ free)
    distance = float(np.linalg.norm(information @ (body.parameters - free)))
    found = Payload(
        link=robot.links[number].name,
        method=method,
        parameters=body.parameters,
        covariance=frozen(covariance),
        undetermined=tuple(np.array(PARAMETER_LETTERS)[lost].tolist()),
        freedom=min(estimate.freedom for estimate in (*without, loaded)),
        status="trusted",
        advice=(),
        distance=distance,
        choices=settings_of(loaded),
    )
    reasons = [*_of_runs(without, loaded), *body.advice, *_doubts(found, free)]
    return replace(found, status="weak" if reasons else "trusted", advice=tuple(reasons))


def _equations(
    without: Sequence[Estimate], loaded: Estimate, number: int, method: Method
) -> tuple[Array, Array, Array]:
    """A, b with the least |A x - b|, the load last in x; and the root of the covariance of b."""
    base, robot = loaded.base, loaded.robot
    runs = [*without, loaded]
    width, p = 10 * len(robot.links), len(loaded.names)
    rigid = np.array([k for k, name in enumerate(base.kept) if not name.startswith("F")])
    own = np.setdiff1d(np.arange(p), rigid)  # of each run alone
    shared, known = base.matrix[rigid][:, []], np.zeros(len(rigid))
    if method == "known":
        known = base.matrix[rigid, :width] @ _known_parameters(robot)
        shared = base.matrix[rigid][:, [k for k, name in enumerate(base.columns) if name.startswith("Ia")]]
        shared = shared[:, shared.any(axis=0)]
    else:
        shared = np.eye(len(rigid))
    added = base.matrix[rigid, 10 * number : 10 * number + 10]
    rows: list[Array] = []
    right: list[Array] = []
    noise: list[Array] = []
    for k, run in enumerate(runs):
        R, r = run.information[:, :p], run.information[:, p]
        drives = np.zeros((len(R), len(runs) * len(own)))
        drives[:, k * len(own) : (k + 1) * len(own)] = R[:, own]
        load = R[:, rigid] @ added if run is loaded else np.zeros((len(R), 10))
        rows.append(np.concatenate([R[:, rigid] @ shared, drives, load], axis=1))
        right.append(r - R[:, rigid] @ known)
        noise.append(R @ _root(run.covariance))
    return np.concatenate(rows), np.concatenate(right), _block_diagonal(noise)


def _known_parameters(robot: Robot) -> Array:
    if np.isnan(robot.parameters).any():
        names = [link.name for link in robot.links if np.isnan(link.parameters).any()]
        raise ArgumentError(
            f"the method 'known' needs all inertias in the robot's file, which {robot.name} lacks for "
            f"{', '.join(map(repr, names))}: give a log without the load, for 'difference'"
        )
    return robot.parameters


def _root(covariance: Array) -> Array:
    """C with C C' the covariance, zero where nothing is determined."""
    finite = np.where(np.isfinite(covariance), covariance, 0.0)
    values, vectors = np.linalg.eigh(finite)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def _block_diagonal(blocks: Sequence[Array]) -> Array:
    found = np.zeros((sum(len(block) for block in blocks), sum(block.shape[1] for block in blocks)))
    row = column = 0
    for block in blocks:
        found[row : row + len(block), column : column + block.shape[1]] = block
        row, column = row + len(block), column + block.shape[1]
    return found


def _column_sizes(A: Array) -> Array:
    sizes = np.linalg.norm(A, axis=0)
    return np.where(sizes > 0.0, sizes, 1.0)


# --- what it is worth --------------------------------------------------------------------------------


def _of_runs(without: Sequence[Estimate], loaded: Estimate) -> list[str]:
    """What is wrong with the runs themselves."""
    named = [*(("without", run) for run in without), ("with", loaded)]
    return [
        f"the fit of the run {which} the load failed: {' '.join(run.advice[:1])}"
        for which, run in named
        if run.status == "failed"
    ]


def _doubts(found: Payload, free: Array) -> list[str]:
    """Why the load should not be built on."""
    deviation = float(np.sqrt(found.covariance[9, 9]))
    if not np.isfinite(deviation):
        return [
            "these motions do not tell the load's mass: move the joints before the last against gravity, and "
            "with larger accelerations"
        ]
    if free[9] < -CERTAIN * deviation:
        return [
            f"the load comes out at {free[9]:.3g} kg, less than nothing: the logs without and with it may be "
            "swapped"
        ]
    if free[9] < CERTAIN * deviation:
        return [f"no load can be told from none: {free[9]:.3g} kg with a deviation of {deviation:.2g} kg"]
    reasons: list[str] = []
    if deviation > ROUGH * free[9]:
        reasons.append(
            f"the mass is known to {100.0 * deviation / free[9]:.0f} % only: longer logs with larger motions"
        )
    if found.distance > FAR:
        reasons.append(
            f"the nearest body that can exist is {found.distance:.1f} standard deviations from what the data "
            "say: the arm itself may have changed between the logs (tool, calibration, temperature)"
        )
    return reasons


def deviations_of_body(parameters: Array, covariance: Array) -> Array:
    """Deviations of mass, centre of mass and inertia about it, (10,), to first order."""
    lost = ~np.isfinite(np.diag(covariance))
    finite = np.where(np.isfinite(covariance), covariance, 0.0)
    slopes = np.empty((10, 10))
    sizes = np.maximum(np.abs(parameters), 1e-3)
    for k, step in enumerate((1e-6 * sizes).tolist()):
        ahead, back = (_body(parameters + sign * step * np.eye(10)[k]) for sign in (1.0, -1.0))
        slopes[:, k] = (ahead - back) / (2.0 * step)
    std = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", slopes, finite, slopes), 0.0))
    return np.where((np.abs(slopes[:, lost]) > INVOLVED).any(axis=1), np.inf, std)


def _body(parameters: Array) -> Array:
    """Mass, centre of mass and the six moments about it, (10,)."""
    mass, com, inertia = parameters_to_com(parameters)
    return np.concatenate([[mass], com, [inertia[i, j] for i, j in MOMENTS]])


def _named(body: Array) -> dict[str, Array]:
    return {"mass": body[0], "com": body[1:4], "inertia": body[4:]}


def _prefixed(report: Report, what: str) -> Report:
    return lambda text: report(f"{what}: {text}")
