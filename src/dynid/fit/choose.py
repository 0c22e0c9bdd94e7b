"""Choices that nobody has to make: by blocked cross-validation inside the training logs.

Every log is cut into contiguous folds, with a guard on both sides of each cut as wide as the filters reach.
Fits on all folds but one predict that one in the band of validation; the mean over joints of the squared
error relative to the efforts decides. Nothing is random, and a candidate costs one reduction per fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dynid.fit.reduction import Reduction, reduce_blocks, total
from dynid.fit.solve import DEPENDENT, Prior, solve, weighted
from dynid.fit.system import System, Terms
from dynid.friction import FURTHER
from dynid.log.cutoff import in_validation_band
from dynid.log.samples import TRIM_PERIODS, Samples
from dynid.spatial import Array

FOLDS = 5
WIDTHS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)  # rad/s
DISTANCES = (5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2)  # rad
WEIGHTS = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1)
CLEARLY = 0.98  # times the error of the simpler choice: what a less simple one must reach
WORTH = 0.95  # the same for friction that remembers, and for further friction terms, one after the other
ILL = 1e4  # condition with columns of one length
LONGEST_GUARDS = 4.0  # a fold must be this many guards long
FILTER_PERIODS = 1.5  # of the cut-off, that the parallel filter reaches to each side


@dataclass(frozen=True, eq=False)
class Folds:
    """Reductions of each fold, for fitting and for judging."""

    fitted: tuple[Reduction, ...]
    judged: tuple[Reduction, ...]

    def errors(self, prior: Prior | None = None) -> Array:
        """RMS error on held-out folds by the RMS effort, per joint, (n,); NaN where a joint stands still."""
        sigma = weighted(total(self.fitted), prior).sigma  # weights do not depend on a fold
        squares = np.zeros(len(self.judged[0].triangles))
        for held, judge in enumerate(self.judged):
            kept = [fold for k, fold in enumerate(self.fitted) if k != held]
            squares += judge.residuals(solve(total(kept), sigma, prior).values)
        efforts = np.sum([judge.efforts for judge in self.judged], axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(np.where(efforts > 0.0, squares / efforts, np.nan))


def folds_of(system: System, logs: Sequence[Samples]) -> Folds | None:
    """The folds of all logs; None if these are too short to be cut."""
    fitted: list[list[Reduction]] = []
    judged: list[list[Reduction]] = []
    for samples in logs:
        edges = fold_edges(samples)
        if edges is None:
            continue
        fitted.append(reduce_blocks(system, samples, edges)[::2])
        judged.append(reduce_blocks(system, in_validation_band(samples), edges)[::2])
    if not fitted:
        return None
    together = [tuple(total(fold) for fold in zip(*parts, strict=True)) for parts in (fitted, judged)]
    return Folds(together[0], together[1])


def fold_edges(samples: Samples) -> list[float] | None:
    """Two instants (s) around each cut between folds."""
    instants = samples.time[samples.rows]
    guard = (FILTER_PERIODS + TRIM_PERIODS) / samples.cutoff_hz
    if not len(instants) or instants[-1] - instants[0] < FOLDS * LONGEST_GUARDS * guard:
        return None
    first, last = float(instants[0]), float(instants[-1])
    cuts = [first + (last - first) * k / FOLDS for k in range(1, FOLDS)]
    return [instant for cut in cuts for instant in (cut - guard, cut + guard)]


def score(errors: Array) -> float:
    """What candidates are compared by."""
    return float(np.sqrt(np.nanmean(errors**2))) if np.isfinite(errors).any() else float("nan")


@dataclass(frozen=True)
class Choice:
    """What was chosen and how the candidates did."""

    value: float
    candidates: tuple[float, ...]
    scores: tuple[float, ...]
    equations: tuple[Reduction, ...] = field(default=(), repr=False)  # of all folds, where candidates differ

    def __str__(self) -> str:
        tried = ", ".join(
            f"{c:g}: {100 * s:.2f} %" for c, s in zip(self.candidates, self.scores, strict=True)
        )
        return f"{self.value:g} (held-out error {tried})" if self.scores else f"{self.value:g} (not compared)"


def choose_width(system: System, logs: Sequence[Samples]) -> Choice:
    """The width of Coulomb friction's step that predicts held-out folds best, sought once more in between."""

    def tried(widths: Sequence[float]) -> list[Folds]:
        return _of_shapes(system, logs, [replace(system.terms, width=width) for width in widths])

    widths, folds = list(WIDTHS), tried(WIDTHS)
    if not folds:
        return Choice(system.terms.width, (), ())
    scores = [score(one.errors()) for one in folds]
    between = _least_of_parabola(WIDTHS, scores)
    if between is not None:
        at = int(np.searchsorted(widths, between))
        widths[at:at], folds[at:at] = [between], tried([between])
        scores.insert(at, score(folds[at].errors()))
    best = widths[int(np.argmin(scores))]
    return Choice(best, tuple(widths), tuple(scores), tuple(total(one.fitted) for one in folds))


def _least_of_parabola(candidates: Sequence[float], scores: Sequence[float]) -> float | None:
    """Where squared scores over logarithms, next to the best candidate, have their least; None at the ends.

    Two digits of it: where data are precise, values tell by how much the true width misses the candidates.
    """
    best = int(np.argmin(scores))
    if not 0 < best < len(scores) - 1:
        return None
    near = slice(best - 1, best + 2)
    x = np.log(np.divide(candidates[near], candidates[best]))
    curvature, slope, _ = np.polyfit(x, np.square(scores[near]), 2)
    found = float(f"{candidates[best] * np.exp(-0.5 * slope / curvature):.1e}") if curvature > 0.0 else None
    return None if found in candidates else found


def choose_presliding(system: System, logs: Sequence[Samples]) -> Choice:
    """The distance over which friction turns; 0 unless another predicts held-out folds clearly better."""
    distances = (0.0, *DISTANCES)
    folds = _of_shapes(system, logs, [replace(system.terms, presliding=one) for one in distances])
    if not folds:
        return Choice(0.0, (), ())
    scores = tuple(score(one.errors()) for one in folds)
    best = int(np.argmin(scores))
    chosen = best if scores[best] <= WORTH * scores[0] else 0
    return Choice(distances[chosen], distances, scores, tuple(total(one.fitted) for one in folds))


def _of_shapes(system: System, logs: Sequence[Samples], shapes: Sequence[Terms]) -> list[Folds]:
    """The folds with each of these shapes of friction; none if the logs are too short."""
    found: list[Folds] = []
    for terms in shapes:
        shaped = system.shaped(terms)
        folds = folds_of(shaped, [shaped.remembering(one) for one in logs])
        if folds is None:
            return []
        found.append(folds)
    return found


def choose_weight(system: System, logs: Sequence[Samples], target: Array) -> Choice:
    """The prior's weight; 0 unless another predicts held-out folds clearly better.

    Where data tell combinations of unknowns next to nothing, these predict well whatever their values are:
    then the prior has at least the smallest weight, which keeps them from becoming absurd.
    """
    folds = folds_of(system, logs)
    if folds is None:
        return Choice(WEIGHTS[2], (), ())  # so short a log tells little by itself
    sizes = weighted(total(folds.fitted)).scaled_sizes
    ill = np.any((sizes > DEPENDENT * sizes[0]) & (sizes < sizes[0] / ILL))
    weights = WEIGHTS if ill else (0.0, *WEIGHTS)
    tried = [(w, score(folds.errors(Prior(target, w) if w else None))) for w in weights]
    best = min(s for _, s in tried)
    enough = next(w for w, s in tried if CLEARLY * s <= best)
    return Choice(enough, tuple(w for w, _ in tried), tuple(s for _, s in tried))


def choose_further(system: System, logs: Sequence[Samples]) -> tuple[System, tuple[str, ...]]:
    """The system with those further friction terms that clearly pay in prediction, and what was tried."""
    folds = folds_of(system, logs)
    if folds is None:
        return system, ("too short to be compared",)
    current, remarks = score(folds.errors()), list[str]()
    waiting = [letter for letter in FURTHER if letter != "Fl" and letter not in system.terms.friction]
    while waiting:
        tried: list[tuple[float, str, System]] = []
        for letter in waiting:
            terms = replace(system.terms, friction=(*system.terms.friction, letter))
            larger = system.shaped(terms)
            candidate = folds_of(larger, logs)
            assert candidate is not None
            tried.append((score(candidate.errors()), letter, larger))
        best, letter, larger = min(tried, key=lambda entry: entry[0])
        remarks.append(f"{letter}: {100 * current:.2f} -> {100 * best:.2f} %")
        if best > WORTH * current:
            break
        current, system = best, larger
        waiting.remove(letter)
    return system, tuple(remarks)


def held_out(system: System, logs: Sequence[Samples], prior: Prior | None) -> Array | None:
    """Held-out errors (n,) of the fit as it was chosen, relative to the efforts."""
    folds = folds_of(system, logs)
    return None if folds is None else folds.errors(prior)
