"""Algorithm 2 of [Lin1992]: which joint moves, where the others stand, and what that tells.

    1    each slide alone                                            -> m^_k, Eq. (60)
    2    from the last joint to joint s: joint r turns while
    2.1    rotational joint j stands at three positions              -> its U and k, Eq. (56); where it is
                                                                        perpendicular to r, alone for U_33
    2.2    slide j waits and joint s stands at two positions         -> k_j, Eq. (61)
    3    from the joint before s to r, which are parallel to r
    3.1    a rotational joint: joint r turns (a), or one before it   -> U_33, k_x, k_y, Eqs. (56) and (59)
           that is not on one line with it (b), or r turns and a
           slide moves (c)
    3.2    a slide: joint r turns                                    -> kappa_1 and kappa_2, Eq. (57)

r is the first rotational joint, s the first one behind it that is not parallel to it. In case (b) the paper
has one motion; the coefficients of Property 1.1(d) are independent only over positions of joint j too, so
there are two. A drive's own constants (motor inertia, friction) need its joint to move alone, which Eq. (58)
does anyway; where the paper would not, that experiment is added behind the joint's step, as step "drive".
What is still not determined, as without gravity or for motor inertias of some slides, gets the experiments
that determine it, as step "more".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.base.composite import velocities_of_frames
from dynid.base.composite_sets import PARALLEL, parallel
from dynid.plan.bench import Bench
from dynid.plan.judge import judge, open_at_last
from dynid.plan.properties import case_of
from dynid.plan.rank import told, undetermined
from dynid.spatial import Array

POSITIONS = 3  # of joint j in step 2.1
ALWAYS = 12  # postures in which axes are compared to call them perpendicular in all

MASS, MOMENTS, ABOUT_AXIS, DRIVE = "m", "k", r"U\d+_33", "[IF]"  # names of unknowns
BODY, BUT_ABOUT_AXIS = "[Ukm]", r"k|U\d+_(?!33)"


@dataclass(frozen=True, eq=False)
class Experiment:
    """One motion of one joint; joints are counted from 0."""

    step: str
    moves: int
    posture: Array  # (n,) where the joints stand; of the one that moves, where it starts
    reads: int  # the joint whose effort is read
    estimates: tuple[str, ...]
    condition: float  # of the small problem, 2-norm, unscaled
    why: str


@dataclass(frozen=True, eq=False)
class Wanted:
    """Experiments whose postures are still to be chosen."""

    step: str
    moves: int
    reads: int
    unknowns: NDArray[np.intp]
    positions: int = 1
    turned: tuple[
        int, ...
    ] = ()  # a joint that stands at so many positions; others to try if it does not help


def algorithm_2(bench: Bench) -> list[Experiment]:
    """The experiments of a serial robot, in order."""
    wanted = [one for one in _steps(bench) if len(one.unknowns)]
    found = [experiment for one in wanted for experiment in _chosen(bench, one)]
    return _with_the_rest(bench, found + _missing(bench, found))


def given(bench: Bench, motions: Sequence[tuple[int, Array]]) -> list[Experiment]:
    """Experiments at postures (n,) that somebody else has chosen, with what each tells by itself."""
    return [_given(bench, moving, posture) for moving, posture in motions]


# --- the steps ------------------------------------------------------------------------------------------


def _steps(bench: Bench) -> Iterator[Wanted]:
    """All steps, in the order of Algorithm 2."""
    of_joint, axes = bench.unknowns.of_joint, bench.axes
    for k in np.flatnonzero(axes.prismatic).tolist():
        turning = tuple(i for i in range(k) if not axes.prismatic[i])
        yield Wanted("1", k, k, of_joint(k, f"{MASS}|{DRIVE}"), 2, turning)
    for j in reversed(range(axes.s, bench.dof)):
        if axes.prismatic[j]:
            yield Wanted("2.2", axes.r, j, of_joint(j, MOMENTS), 2, (axes.s,))
        else:
            yield from _step_21(bench, j)
    for j in reversed(range(axes.r, axes.s)):
        if axes.prismatic[j]:
            yield Wanted("3.2", axes.r, j, of_joint(j, MOMENTS))
        else:
            yield from _step_31(bench, j)


def _step_21(bench: Bench, j: int) -> Iterator[Wanted]:
    of_joint, axes = bench.unknowns.of_joint, bench.axes
    if not _always_perpendicular(bench, axes.r, j):
        yield Wanted("2.1", axes.r, j, of_joint(j, BODY), POSITIONS, (j,))
        yield _drive(bench, j)
        return
    yield Wanted("2.1", axes.r, j, of_joint(j, BUT_ABOUT_AXIS), POSITIONS, (j,))
    turning = (i for i in range(axes.s, j) if not axes.prismatic[i])
    oblique = next((i for i in turning if not _always_perpendicular(bench, i, j)), None)
    if oblique is None or f"Ia{j + 1}" not in bench.unknowns.names:
        yield Wanted("2.1", j, j, of_joint(j, f"{ABOUT_AXIS}|{DRIVE}"))
    else:  # U_33 apart from the motor's inertia, which turns with it when joint j moves
        yield Wanted("2.1", oblique, j, of_joint(j, ABOUT_AXIS), 1, (j,))
        yield _drive(bench, j)


def _step_31(bench: Bench, j: int) -> Iterator[Wanted]:
    of_joint, axes, r = bench.unknowns.of_joint, bench.axes, bench.axes.r
    if not axes.along_gravity(r):
        if j == r:
            yield Wanted("3.1(a)", j, j, of_joint(j))
            return
        yield Wanted("3.1(a)", r, j, of_joint(j, BODY), 1, (j,))
        yield _drive(bench, j)
        return
    apart = [i for i in range(r, j) if not axes.prismatic[i] and not _one_line(bench, i, j)]
    if apart:
        yield Wanted("3.1(b)", apart[0], j, of_joint(j, BODY), 2, (j,))
        yield _drive(bench, j)
        return
    slides = [k for k in range(j) if axes.prismatic[k] and not axes.parallel(k, j)]
    if slides:
        yield Wanted("3.1(c)", slides[0], j, of_joint(j, MOMENTS), 2, (j,))
    if j == r:
        yield Wanted("3.1(c)", j, j, of_joint(j, f"{ABOUT_AXIS}|{DRIVE}"))
    else:
        yield Wanted("3.1(c)", r, j, of_joint(j, ABOUT_AXIS))
        yield _drive(bench, j)


def _drive(bench: Bench, j: int) -> Wanted:
    """Joint j alone, for its drive."""
    return Wanted("drive", j, j, bench.unknowns.of_joint(j, DRIVE))


def _always_perpendicular(bench: Bench, i: int, j: int) -> bool:
    """Whether joint j is perpendicular to joint i at all postures."""
    postures = np.random.default_rng(0).uniform(-3.0, 3.0, (ALWAYS, bench.dof))
    return all(abs(velocities_of_frames(bench.chain, q)[j][1 + i, 2]) < PARALLEL for q in postures)


def _one_line(bench: Bench, i: int, j: int) -> bool:
    """Whether joints i and j, which are parallel, are on one line whatever slides between them do."""
    axes = bench.axes
    moved = [axes.directions[k] for k in range(i + 1, j) if axes.prismatic[k]]
    return all(parallel(v, axes.directions[j]) for v in (axes.origins[j] - axes.origins[i], *moved))


# --- their postures -------------------------------------------------------------------------------------


def _chosen(bench: Bench, wanted: Wanted) -> list[Experiment]:
    """The experiments at their best postures; one is enough for step 1 if it tells all."""
    moves, reads, own = wanted.moves, wanted.reads, wanted.unknowns
    tried: list[tuple[int | None, int]] = [(joint, wanted.positions) for joint in wanted.turned]
    if wanted.step == "1" or not tried:
        tried.insert(0, (None, 1))
    postures, size = bench.best(moves, reads, own, *tried[0])
    for turned, positions in tried[1:]:
        if np.isfinite(size):
            break
        postures, size = bench.best(moves, reads, own, turned, positions)
    if not np.isfinite(size):  # the rest has to come from other experiments
        rows = [bench.all_rows(moves, reads, posture) for posture in postures]
        own, size = told(np.concatenate(rows), own)
    estimates = bench.unknowns.named(own)
    reason = case_of(bench.chain, moves, reads, postures[0])
    why = f"joint {reads + 1} alone, for its drive" if wanted.step == "drive" else str(reason)
    return [Experiment(wanted.step, moves, posture, reads, estimates, size, why) for posture in postures]


def _missing(bench: Bench, found: Sequence[Experiment]) -> list[Experiment]:
    """Experiments beyond Algorithm 2 for what it leaves open."""
    more: list[Experiment] = []
    for j in reversed(range(bench.dof)):
        rows = [bench.rows(e.moves, j, e.posture) for e in found]
        own = bench.unknowns.of_joint(j)
        for i in range(j + 1):
            open_now = undetermined(rows, own)
            if not len(open_now):
                break
            postures, _ = bench.best(i, j, open_now, j, 2)
            extra = [bench.rows(i, j, posture) for posture in postures]
            gained = np.setdiff1d(open_now, undetermined([*rows, *extra], own))
            if len(gained):
                rows += extra
                more += _chosen(bench, Wanted("more", i, j, gained, 2, (j,)))
    return more


def _with_the_rest(bench: Bench, found: list[Experiment]) -> list[Experiment]:
    """The experiments with unknowns that they tell only together, listed where these act first."""
    named = {name for one in found for name in one.estimates}
    open_still = open_at_last(judge(bench, [(one.moves, one.posture) for one in found]))
    for k, name in enumerate(bench.unknowns.names):
        if name in named or name in open_still:
            continue
        acting = (one for one in found if bench.rows(one.moves, one.reads, one.posture)[:, k].any())
        first = next(acting, found[-1])
        step = (first.step, first.moves, first.reads)
        found = [
            replace(one, estimates=(*one.estimates, name))
            if (one.step, one.moves, one.reads) == step
            else one
            for one in found
        ]
    return found


def _given(bench: Bench, moving: int, posture: Array) -> Experiment:
    """What a motion tells of all the joints behind it, each by its own effort."""
    start = bench.started(moving, posture)
    estimates: list[str] = []
    reasons: list[str] = []
    conditions: list[float] = []
    for joint in reversed(range(moving, bench.dof)):
        rows = bench.all_rows(moving, joint, start)
        own, size = told(rows, bench.unknowns.of_joint(joint))
        if len(own):
            estimates += bench.unknowns.named(own)
            reasons.append(str(case_of(bench.chain, moving, joint, start)))
            conditions.append(size)
    why = "; ".join(reasons)
    return Experiment("given", moving, start, moving, tuple(estimates), max(conditions, default=np.inf), why)
