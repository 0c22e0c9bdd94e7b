"""What a choice leaves open: values that differ between candidates which explain the data alike.

A covariance knows the noise of one linear problem. Where the shape of a column was chosen from the same data
(the width of Coulomb friction's step), the values err with the choice, too. Every candidate k has its own
values beta_k and its likelihood

    log L_k = - 1/2 sum over joints of m log(residual sum of squares),   m independent rows

each joint's noise being unknown. With all candidates alike beforehand, the mean square of beta_k - beta over
them, weighted by L_k, is what the choice adds to the covariance (a mean over models, [Hoeting1999]).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dynid.fit.choose import Choice
from dynid.fit.methods import Answer
from dynid.fit.reduction import Reduction
from dynid.fit.solve import Prior, weighted
from dynid.spatial import Array, frozen


def widened(answer: Answer, choice: Choice, prior: Prior | None, names: Sequence[str]) -> Answer:
    """An answer in unknowns of these names, less sure of itself by what a choice leaves open."""
    if not choice.equations:
        return answer
    chosen = choice.candidates.index(choice.value)
    more = spread(choice.equations, chosen, answer.noise.independent, prior, names)
    return replace(answer, uncertainty=answer.uncertainty.widened(more))


def spread(
    candidates: Sequence[Reduction],
    chosen: int,
    independent: Array,
    prior: Prior | None,
    names: Sequence[str],
) -> Array:
    """Covariance (p, p) of values by these names, zero for those that the candidates do not have.

    independent: share of each joint's rows that count as independent of each other, (n,) or (1,).
    """
    known = candidates[0].names
    place = np.array([tuple(names).index(name) for name in known], dtype=np.intp)
    if prior is not None:
        prior = replace(prior, values=frozen(prior.values[place]))
    fits = [weighted(one, prior) for one in candidates]
    loss = np.array([_loss(one, fit.values, independent) for one, fit in zip(candidates, fits, strict=True)])
    likely = np.exp(-0.5 * (loss - loss.min()))
    apart = np.array([fit.values - fits[chosen].values for fit in fits])
    found = np.zeros((len(names), len(names)))
    root = apart * np.sqrt(likely / likely.sum())[:, None]
    found[np.ix_(place, place)] = root.T @ root  # symmetric to the last digit
    return found


def _loss(equations: Reduction, values: Array, independent: Array) -> float:
    """-2 log L, up to what all candidates share."""
    left = equations.residuals(values)
    counts = (equations.rows > 0.0) & (left > 0.0)
    return float(np.sum((equations.rows * independent * np.log(np.where(counts, left, 1.0)))[counts]))
