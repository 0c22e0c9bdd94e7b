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
does anyway; where the paper would not, that experiment is added behind the joint's step. What is still not
determined, as without gravity or for motor inertias of some slides, gets the experiments that determine it,
as step "more".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.base.composite import Chain, chain_of, velocities_of_frames
from dynid.base.composite_sets import Axes, axes_of
from dynid.base.geometry import squared_up
from dynid.fit.solve import condition as condition_of
from dynid.plan.bench import Bench
from dynid.plan.unknowns import Unknowns
from dynid.spatial import Array

POSITIONS = 3  # of joint j in step 2.1
ALWAYS = 12  # postures in which axes are compared to call them perpendicular in all
TINY = 1e-9


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
    """An experiment whose postures are still to be chosen."""

    step: str
    moves: int
    reads: int
    unknowns: NDArray[np.intp]
    turned: int | None  # the joint that stands at several positions
    positions: int
    why: str
    helpers: tuple[int, ...] = ()  # joints to turn, to a second posture, if one posture does not tell all


def algorithm_2(unknowns: Unknowns, bench: Bench) -> list[Experiment]:
    """The experiments of a serial robot, in order."""
    chain = chain_of(squared_up(unknowns.robot)[0])
    found: list[Experiment] = []
    for wanted in _wanted(unknowns, chain):
        found += _chosen(wanted, unknowns, bench)
    return found + _missing(found, unknowns, bench)


def _chosen(wanted: Wanted, unknowns: Unknowns, bench: Bench) -> list[Experiment]:
    """The experiment at its best postures."""
    own = wanted.unknowns
    postures, condition = bench.best(wanted.moves, wanted.reads, own, wanted.turned, wanted.positions)
    for helper in wanted.helpers:
        if np.isfinite(condition):
            break
        postures, condition = bench.best(wanted.moves, wanted.reads, own, helper, 2)
    if not np.isfinite(condition):  # the rest has to come from other experiments
        rows = [bench.all_rows(wanted.moves, wanted.reads, posture) for posture in postures]
        own, condition = _told(np.concatenate(rows), own)
    return [
        Experiment(
            step=wanted.step,
            moves=wanted.moves,
            posture=posture,
            reads=wanted.reads,
            estimates=unknowns.named(own),
            condition=condition,
            why=wanted.why,
        )
        for posture in postures
    ]


def given(motions: Sequence[tuple[int, Array]], bench: Bench) -> list[Experiment]:
    """Experiments at postures (n,) that somebody else has chosen, with what each tells by itself."""
    unknowns = bench.unknowns
    found: list[Experiment] = []
    for moving, posture in motions:
        bench.check(moving, posture)
        start = posture.copy()
        start[moving] = bench.moves[moving].q[0]
        told: list[str] = []
        conditions: list[float] = []
        for joint in reversed(range(moving, unknowns.robot.dof)):
            own, condition = _told(bench.all_rows(moving, joint, start), unknowns.of_joint(joint))
            told += unknowns.named(own)
            conditions += [condition] * bool(len(own))
        why = "given"
        found.append(
            Experiment("given", moving, start, moving, tuple(told), max(conditions, default=np.inf), why)
        )
    return found


# --- the steps ------------------------------------------------------------------------------------------


def _wanted(unknowns: Unknowns, chain: Chain) -> list[Wanted]:
    """All steps, in the order of Algorithm 2."""
    axes = axes_of(_unit(chain))
    found = [_slide_alone(unknowns, k) for k in range(chain.dof) if chain.prismatic[k]]
    for j in reversed(range(axes.s, chain.dof)):
        found += _step_22(unknowns, axes, j) if chain.prismatic[j] else _step_21(unknowns, chain, axes, j)
    for j in reversed(range(axes.r, axes.s)):
        found += _step_32(unknowns, axes, j) if chain.prismatic[j] else _step_31(unknowns, axes, j)
    return [wanted for wanted in found if len(wanted.unknowns)]


def _unit(chain: Chain) -> Chain:
    """The chain in units in which its longest offset and gravity are one."""
    longest = max(float(np.abs(pose.translation).max()) for pose in chain.poses)
    return chain.scaled(longest or 1.0, float(np.linalg.norm(chain.gravity)) or 1.0)


def _slide_alone(unknowns: Unknowns, k: int) -> Wanted:
    own = np.concatenate([_named(unknowns, k, lambda name: name.startswith("m")), _drive(unknowns, k)])
    why = "the slide carries its composite body, Eq. (60), Property 2.2(a)"
    return Wanted(
        "1",
        k,
        k,
        own,
        None,
        1,
        why,
        helpers=tuple(j for j in range(k) if not unknowns.robot.joints[j].prismatic),
    )


def _step_21(unknowns: Unknowns, chain: Chain, axes: Axes, j: int) -> list[Wanted]:
    always = _always_perpendicular(chain, axes.r, j)
    about = _named(unknowns, j, lambda name: name.endswith("_33"))
    others = _named(unknowns, j, lambda name: not name.endswith("_33"))
    if always:
        why = f"joint {j + 1} is perpendicular to joint {axes.r + 1}: all but U_33, Eq. (56), Property 1.1(b)"
        steps = [Wanted("2.1", axes.r, j, others, j, POSITIONS, why)]
        tilted = _tilted(unknowns, chain, axes, j, about) if f"Ia{j + 1}" in unknowns.names else []
        return [*steps, *tilted, _alone(unknowns, j, about[:0] if tilted else about)]
    why = f"joint {j + 1} is oblique to joint {axes.r + 1}: all of U and k, Eq. (56), Property 1.1(a)"
    both = np.sort(np.concatenate([about, others]))
    return [Wanted("2.1", axes.r, j, both, j, POSITIONS, why), _alone(unknowns, j, about[:0])]


def _tilted(unknowns: Unknowns, chain: Chain, axes: Axes, j: int, about: NDArray[np.intp]) -> list[Wanted]:
    """U_33 by itself from a joint that is not perpendicular to j, if there is one."""
    for i in range(axes.s, j):
        if not axes.prismatic[i] and not _always_perpendicular(chain, i, j):
            why = f"joint {j + 1} is not perpendicular to joint {i + 1}: U_33 without the motor, Eq. (56)"
            return [Wanted("2.1", i, j, about, j, 1, why)]
    return []


def _step_22(unknowns: Unknowns, axes: Axes, j: int) -> list[Wanted]:
    moments = _named(unknowns, j, lambda name: name.startswith("k"))
    why = f"joint {axes.s + 1} turns joint {axes.r + 1}'s axis about in body {j + 1}: k, Eq. (61)"
    return [Wanted("2.2", axes.r, j, moments, axes.s, 2, why)]


def _step_31(unknowns: Unknowns, axes: Axes, j: int) -> list[Wanted]:
    r = axes.r
    about = _named(unknowns, j, lambda name: name.endswith("_33"))
    moments = _named(unknowns, j, lambda name: name.startswith("k"))
    all_of_j = np.sort(np.concatenate([about, moments]))
    own = _alone(unknowns, j, all_of_j if j == r and not axes.along_gravity(r) else about[: int(j == r)])
    if not axes.along_gravity(r):
        if j == r:
            return [
                replace(own, step="3.1(a)", why="joint r is not along gravity: Eq. (58), Property 1.3(a)")
            ]
        why = f"joint {j + 1} is parallel to joint {r + 1}, not along gravity: Eq. (56), Property 1.1(d)"
        return [Wanted("3.1(a)", r, j, all_of_j, j, 1, why), own]
    apart = [i for i in range(r, j) if not axes.prismatic[i] and not _one_line(axes, i, j)]
    if apart:
        why = f"joint {j + 1} is parallel to joint {apart[0] + 1}, not on one line: Eq. (56), Property 1.1(d)"
        return [Wanted("3.1(b)", apart[0], j, all_of_j, j, 2, why), own]
    steps: list[Wanted] = []
    if j > r:
        why = f"joint {j + 1} is on one line with joint {r + 1} along gravity: U_33, Property 1.1(c)"
        steps.append(Wanted("3.1(c)", r, j, about, None, 1, why))
    slides = [k for k in range(j) if axes.prismatic[k] and not axes.parallel(k, j)]
    if slides and len(moments):
        why = f"slide {slides[0] + 1} is not parallel to joint {j + 1}: k, Eq. (59), Property 2.1(a)"
        steps.append(Wanted("3.1(c)", slides[0], j, moments, j, 2, why))
    return [*steps, replace(own, step="3.1(c)" if j == r else own.step)]


def _step_32(unknowns: Unknowns, axes: Axes, j: int) -> list[Wanted]:
    kappas = _named(unknowns, j, lambda name: name.startswith("kappa"))
    why = f"slide {j + 1} is not parallel to joint {axes.r + 1}: kappa, Eq. (57), Property 1.2(b)"
    return [Wanted("3.2", axes.r, j, kappas, None, 1, why)]


def _alone(unknowns: Unknowns, j: int, rigid: NDArray[np.intp]) -> Wanted:
    """Joint j by itself, for these constants of its body and for its drive."""
    what = "U_33, Eq. (58), Property 1.3(a)" if len(rigid) else "its drive"
    step = "2.1" if len(rigid) else "drive"
    return Wanted(
        step, j, j, np.concatenate([rigid, _drive(unknowns, j)]), None, 1, f"joint {j + 1} alone: {what}"
    )


def _missing(found: Sequence[Experiment], unknowns: Unknowns, bench: Bench) -> list[Experiment]:
    """Experiments beyond Algorithm 2 for what it leaves open."""
    more: list[Experiment] = []
    for j in reversed(range(unknowns.robot.dof)):
        rows = [bench.rows(e.moves, j, e.posture) for e in found]
        own = unknowns.of_joint(j)
        for i in range(j + 1):
            open_now = undetermined(rows, own)
            if not len(open_now):
                break
            postures, _ = bench.best(i, j, open_now, j, 2)
            extra = [bench.rows(i, j, posture) for posture in postures]
            gained = np.setdiff1d(open_now, undetermined([*rows, *extra], own))
            if len(gained):
                rows += extra
                wanted = Wanted("more", i, j, gained, j, 2, "what the steps before leave open")
                more += _chosen(wanted, unknowns, bench)
    return more


def _told(rows: Array, own: NDArray[np.intp]) -> tuple[NDArray[np.intp], float]:
    """The first of the unknowns `own` that rows (m, p) tell apart, and the condition of their columns."""
    kept: list[int] = []
    candidates: list[int] = own.tolist()
    for k in candidates:
        if not len(undetermined([rows], np.array([*kept, k], dtype=np.intp))):
            kept.append(k)
    return np.array(kept, dtype=np.intp), condition_of(rows[:, kept])


def undetermined(rows: Sequence[Array], own: NDArray[np.intp]) -> NDArray[np.intp]:
    """Which of the unknowns `own` the rows (m, p) of one joint's equation leave open."""
    if not rows or not len(own):
        return own
    A = np.concatenate(rows)[:, own]
    lengths = np.linalg.norm(A, axis=0)
    silent = lengths <= TINY * max(float(lengths.max(initial=0.0)), 1.0)
    s, vt = np.linalg.svd(A / np.where(silent, 1.0, lengths), full_matrices=True)[1:]
    rank = int(np.sum(s > TINY * max(float(s.max(initial=0.0)), TINY)))
    involved = np.abs(vt[rank:]).max(axis=0, initial=0.0) > 1e-6
    return own[involved | silent]


# --- axes and names -------------------------------------------------------------------------------------


def _always_perpendicular(chain: Chain, i: int, j: int) -> bool:
    """Whether joint j is perpendicular to joint i at all postures."""
    postures = np.random.default_rng(0).uniform(-3.0, 3.0, (ALWAYS, chain.dof))
    return all(abs(velocities_of_frames(chain, q)[j][1 + i, 2]) < TINY for q in postures)


def _one_line(axes: Axes, i: int, j: int) -> bool:
    """Whether joints i and j, which are parallel, are on one line whatever slides between them do."""
    apart = axes.origins[j] - axes.origins[i]
    moved = [axes.directions[k] for k in range(i + 1, j) if axes.prismatic[k]]
    return all(np.linalg.norm(np.cross(v, axes.directions[j])) < TINY for v in (apart, *moved))


def _named(unknowns: Unknowns, j: int, wanted: Callable[[str], bool]) -> NDArray[np.intp]:
    """Unknowns of the body of joint j whose names are wanted."""
    own: list[int] = unknowns.of_joint(j).tolist()
    return np.array(
        [k for k in own if unknowns.drives[k] is None and wanted(unknowns.names[k])], dtype=np.intp
    )


def _drive(unknowns: Unknowns, j: int) -> NDArray[np.intp]:
    """Unknowns of the drives that joint j moves last."""
    own: list[int] = unknowns.of_joint(j).tolist()
    return np.array([k for k in own if unknowns.drives[k] is not None], dtype=np.intp)
