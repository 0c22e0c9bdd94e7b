"""From a robot to a trajectory that excites all its parameters, within all its limits.

    limits, model, criterion -> many short searches from random motions -> the best few refined
                             -> each made safe, with a certificate -> the best of them

The same seed gives the same trajectory, however many processors there are; only a time limit or an
interruption can change it, and then the best so far is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from dynid.blas import single_thread
from dynid.errors import ArgumentError, choices
from dynid.excite.bases import Basis, fourier, spline
from dynid.excite.certificate import Certificate, certify
from dynid.excite.criteria import Criterion, condition_number, scaling_measure
from dynid.excite.effort import Effort, prior_effort
from dynid.excite.known import known_from
from dynid.excite.limits import Bounds, bounds_of
from dynid.excite.observation import Observation, observe
from dynid.excite.options import Options
from dynid.excite.points import Points
from dynid.excite.scale import fastest, scaled
from dynid.excite.search import Candidate, Search, Watch, side_by_side
from dynid.excite.smooth import Smooth
from dynid.excite.space import Space, space_of
from dynid.log.log import Log
from dynid.robot import Robot
from dynid.spatial import Array
from dynid.trajectory import Trajectory

Report = Callable[[str], None]
Status = Literal["done", "interrupted", "stalled", "undetermined", "unsafe"]
REFINED = 8  # starts at least, or one in REFINED of them
NOT_LOOKED_AT = (
    "collisions are not looked at without a floor, a box or self-collision: see the motion first, and let it "
    "run slowly (scale) before it runs fast"
)
HOPELESS = 50.0  # logarithms beyond it are of penalties
IMPROVED = 1e-6  # of the criterion's logarithm; less is no improvement


@dataclass(frozen=True, eq=False)
class Setting:
    """What a trajectory has to keep and what it is judged by."""

    observation: Observation
    criterion: Criterion
    bounds: Bounds
    effort: Effort | None
    space: Space | None
    notes: tuple[str, ...]

    def condition(self, candidate: Candidate) -> float:
        """The 2-norm condition number of the unscaled, unweighted regressor."""
        return condition_number(replace(self.observation, weights=None).matrix(candidate.motion))

    def measure(self, candidate: Candidate) -> float:
        """The criterion of a candidate; infinite if it is not safe."""
        safe = candidate.certificate.safe
        return self.criterion.measure(self.observation.matrix(candidate.motion)) if safe else np.inf


@dataclass(frozen=True, eq=False, kw_only=True)
class Excitation:
    """A trajectory, what it is worth, and how it was found."""

    robot: Robot
    setting: Setting
    trajectory: Trajectory
    certificate: Certificate
    condition: float
    condition_with_logs: float | None  # of the regressor of the motion and of the logs before it
    scaling: float  # S of [GK1992]
    points: tuple[Array, Array] | None  # q and qd, (r + 1, n) each, for the basis of points
    starts: int  # that were tried
    status: Status
    reason: str  # why it is not done, else empty
    seconds: float

    @property
    def duration(self) -> float:
        return float(self.trajectory.times[-1] - self.trajectory.times[0])

    @property
    def notes(self) -> tuple[str, ...]:
        return self.setting.notes


def exciting_trajectory(
    robot: Robot,
    *,
    after: Sequence[Log] = (),
    report: Report | None = None,
    watch: Watch | None = None,
    **options: Any,
) -> Excitation:
    """An exciting trajectory of a robot within its limits.

    `after` are logs that are recorded already and count as known. `report` is told what is being done. All
    other options are those of `Options`.
    """
    chosen = checked_options(options)
    watch = watch or Watch(np.inf if chosen.seconds is None else chosen.seconds)
    say = report or _silently
    setting = setting_of(robot, chosen, after)
    search = _search(robot, chosen, setting)
    say(f"exciting {setting.observation.base.count} parameters; compiling")
    search.prepare()
    with single_thread():
        variables, improved = _tried(search, chosen, watch, say)
        candidate = _best(search, setting, variables, watch, say)
    candidate = _at_speed(candidate, setting, chosen.scale)
    status, reason = _verdict(setting, candidate, len(variables), chosen, improved, watch)
    return excitation(robot, setting, candidate, len(variables), status, reason, watch.elapsed)


def judged(robot: Robot, trajectory: Trajectory, **options: Any) -> Excitation:
    """What a given trajectory is worth, and whether it keeps the limits; no search."""
    began = Watch()
    chosen = checked_options(options)
    setting = setting_of(robot, chosen)
    certificate = certify(trajectory, setting.bounds, setting.effort, setting.space)
    candidate = Candidate(trajectory, certificate, [trajectory.q, trajectory.qd, trajectory.qdd])
    if chosen.scale != 1.0:
        candidate = _at_speed(candidate, setting, chosen.scale)
    status, reason = "done", ""
    if not candidate.certificate.safe:
        status, reason = "unsafe", f"a limit is exceeded: {candidate.certificate.worst(setting.bounds.names)}"
    elif not np.isfinite(setting.condition(candidate)):
        status, reason = "undetermined", _undetermined(setting)
    return excitation(robot, setting, candidate, 0, status, reason, began.elapsed)


def excitation(
    robot: Robot,
    setting: Setting,
    candidate: Candidate,
    starts: int,
    status: Status,
    reason: str,
    seconds: float,
) -> Excitation:
    """What a candidate is worth."""
    known = setting.criterion.known
    at_points = len(candidate.motion[0]) != len(candidate.trajectory.times)
    W = setting.observation.matrix(candidate.motion)
    return Excitation(
        robot=robot,
        setting=setting,
        trajectory=candidate.trajectory,
        certificate=candidate.certificate,
        condition=setting.condition(candidate),
        condition_with_logs=None if known is None else condition_number(W, known),
        scaling=scaling_measure(W),
        points=(candidate.motion[0], candidate.motion[1]) if at_points else None,
        starts=starts,
        status=status,
        reason=reason,
        seconds=seconds,
    )


def _silently(_: str) -> None:
    """No report."""


def checked_options(options: dict[str, Any]) -> Options:
    """Options by their names, of which none is unknown."""
    for name in options:
        if name not in Options.__dataclass_fields__:
            raise ArgumentError(f"option {choices(name, Options.__dataclass_fields__)}")
    return Options(**options)


# --- what is asked for ---------------------------------------------------------------------------------


def setting_of(robot: Robot, chosen: Options, after: Sequence[Log] = ()) -> Setting:
    """Limits, model and criterion of a robot; errors if they cannot be met at all."""
    bounds = bounds_of(
        robot,
        position=chosen.position_limits,
        velocity=chosen.velocity_limits,
        acceleration=chosen.acceleration_limits,
        jerk=chosen.jerk_limits,
        effort=chosen.effort_limits,
    )
    effort, more = prior_effort(robot, bounds.effort)
    space = space_of(
        robot,
        radius=chosen.link_radius,
        tool=chosen.tool,
        floor=chosen.floor,
        box=chosen.box,
        self_collision=chosen.self_collision,
    )
    observation = observe(
        robot,
        chosen.chosen_model,
        armature=chosen.armature,
        friction=chosen.friction,
        offset=chosen.offset,
        weights=None if chosen.noise is None else 1.0 / np.array(chosen.noise, dtype=np.float64),
    )
    criterion = Criterion(
        chosen.criterion,
        known=known_from(observation, after, chosen.period) if after else None,
        scaling_weight=chosen.scaling_weight,
        possible=observation.possible,
    )
    notes = (*bounds.notes, *more, *(() if space else (NOT_LOOKED_AT,)))
    setting = Setting(observation, criterion, bounds, effort, space, notes)
    for which in ("start", "end"):
        pose = chosen.pose(which, robot)
        if pose is not None:
            check_pose(which, pose, setting)
    return setting


def check_pose(which: str, pose: Array, setting: Setting) -> None:
    """Refuse a pose (n,) at which the robot cannot rest within its limits."""
    bounds = setting.bounds
    for name, q, low, high in zip(bounds.names, pose, bounds.lower, bounds.upper, strict=True):
        if not low <= q <= high:
            raise ArgumentError(
                f"the {which} pose: {name!r} at {q:g} is outside its limits {low:g} .. {high:g}"
            )
    if setting.space is not None and (touching := setting.space.touching(pose)):
        raise ArgumentError(f"the {which} pose is in collision: {'; '.join(touching[:3])}")
    if setting.effort is not None:
        rest = np.zeros((1, len(pose)))
        efforts = np.abs(setting.effort.recorded.values([pose[None], rest, rest])[0])
        weak = efforts > bounds.effort
        if weak.any():
            k = int(np.argmax(weak))
            raise ArgumentError(
                f"the {which} pose: holding {bounds.names[k]!r} takes {efforts[k]:.3g} by the robot's own "
                f"parameters, more than its limit {bounds.effort[k]:g}"
            )


def _search(robot: Robot, chosen: Options, setting: Setting) -> Search:
    start, end = chosen.pose("start", robot), chosen.pose("end", robot)
    if chosen.basis == "points":
        return Points(
            setting.observation,
            setting.criterion,
            setting.bounds,
            chosen.rows(robot, setting.observation.base.count) + 1,
            chosen.rate_hz,
            setting.effort,
            setting.space,
            start,
            end,
        )
    return Smooth(
        setting.observation,
        setting.criterion,
        _basis(chosen, start, end),
        setting.bounds,
        chosen.rate_hz,
        setting.effort,
        setting.space,
        start,
        end,
    )


def _basis(chosen: Options, start: Array | None, end: Array | None) -> Basis:
    loop = end is None or start is None or np.array_equal(start, end)
    if chosen.basis == "fourier":
        if not loop:
            raise ArgumentError("a Fourier series ends where it starts; for another end pose: basis 'spline'")
        return fourier(chosen.period, chosen.harmonics)
    if chosen.periodic and not loop:
        raise ArgumentError("a periodic motion ends where it starts: leave out the end pose")
    return spline(chosen.period, chosen.pieces, closed=end is not None, periodic=chosen.periodic)


# --- the search ------------------------------------------------------------------------------------------


def _tried(search: Search, chosen: Options, watch: Watch, say: Report) -> tuple[dict[int, Array], bool]:
    """Variables by the number of their start, the best first, and whether any start made progress."""
    before: dict[int, float] = {}

    def one(k: int) -> tuple[Array, float]:
        x = search.first(np.random.default_rng([chosen.seed, k]))
        before[k] = search.value(x)
        x = search.solve(x, watch)
        return x, search.value(x)

    count = chosen.chosen_starts

    def told(k: int, found: tuple[Array, float]) -> None:
        values.append(found[1])
        if found[1] == min(values):
            say(f"start {len(values)} of {count}: {_in_words(chosen.criterion, found[1])}")

    values: list[float] = []
    found = side_by_side(one, range(count), watch, told)
    order = sorted(found, key=lambda k: (found[k][1], k))
    improved = any(found[k][1] < before[k] - IMPROVED for k in found)
    return {k: found[k][0] for k in order}, improved


def _best(
    search: Search, setting: Setting, variables: dict[int, Array], watch: Watch, say: Report
) -> Candidate:
    """The best safe candidate from the best starts, refined; from all others, if none of these is safe."""
    order = list(variables)
    chosen = order[: max(REFINED, -(-len(order) // REFINED))]
    say(f"refining the best {len(chosen)}")
    refined = side_by_side(lambda k: search.refine(variables[k], watch), chosen, watch)
    values = {k: search.value(x) for k, x in refined.items()}
    best, least = None, np.inf
    for k in sorted(refined, key=lambda k: (values[k], k)):
        if least <= values[k]:  # being made safe costs something, if anything
            break
        candidate = search.result(refined[k])
        measure = setting.measure(candidate)
        if best is None or measure < least:
            best, least = candidate, measure
    for k in order if least == np.inf else ():
        best = search.result(variables[k])
        if best.certificate.safe:
            break
    if best is None or not best.certificate.safe:
        closest = f" (of the last one: {best.certificate.worst(setting.bounds.names)})" if best else ""
        raise ArgumentError(
            f"no motion within the limits was found{closest}: give a start pose at which the robot can rest "
            "with little effort and far from what is in the way, a larger box, or higher limits"
        )
    return best


def _at_speed(candidate: Candidate, setting: Setting, scale: float | Literal["max"]) -> Candidate:
    """The candidate at another speed."""
    if scale == 1.0:
        return candidate
    limits = (setting.bounds, setting.effort, setting.space)
    if scale == "max":
        return scaled(candidate, fastest(candidate.trajectory, *limits), *limits)
    found = scaled(candidate, scale, *limits)
    if not found.certificate.safe:
        top = fastest(candidate.trajectory, *limits)
        raise ArgumentError(
            f"at {scale:g} times the speed a limit is exceeded: "
            f"{found.certificate.worst(setting.bounds.names)}; this trajectory allows a scale up to {top:.6g}"
        )
    return found


def _verdict(
    setting: Setting, candidate: Candidate, tried: int, chosen: Options, improved: bool, watch: Watch
) -> tuple[Status, str]:
    if watch.interrupted.is_set():
        return "interrupted", f"interrupted after {tried} of {chosen.chosen_starts} starts: the best so far"
    count = setting.observation.base.count
    if not np.isfinite(setting.condition(candidate)):
        return "undetermined", _undetermined(setting)
    if not improved and count > 1:
        return "stalled", "the search did not improve on random motions: the best of them"
    return "done", ""


def _undetermined(setting: Setting) -> str:
    return f"the motion does not determine all {setting.observation.base.count} parameters"


def _in_words(criterion: str, value: float) -> str:
    if value > HOPELESS:
        return "limits are not kept yet"
    return f"condition {np.exp(value):.4g}" if criterion == "condition" else f"{criterion} {value:.4g}"
