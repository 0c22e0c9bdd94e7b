"""What an identification finds: values with their uncertainty, and all that says how far to trust them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynid.base import BaseParameters
from dynid.errors import ArgumentError, choices
from dynid.fit.judge import Status
from dynid.fit.system import System, Terms
from dynid.friction import Friction
from dynid.log.log import Log, Provenance
from dynid.log.samples import Samples
from dynid.model import DynamicModel
from dynid.robot import Robot
from dynid.spatial import Array, frozen
from dynid.statistics import deviations, interval_factor
from dynid.validation import Comparison, Score, compare, scores


@dataclass(frozen=True)
class RobotSource:
    """The text of the robot's file, where it was one that an export can patch."""

    format: str  # urdf
    text: str
    sha256: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimate:
    """Values of p unknowns, in SI units, and what they rest on.

    names: base parameters, then motor inertias and friction constants, then further terms and extra columns.
    """

    system: System
    values: Array  # (p,)
    covariance: Array  # (p, p), of coloured noise; infinite on the diagonal where nothing is determined
    white_std: Array  # (p,) by the papers' formula, as if every row had noise of its own
    information: (
        Array  # (p, p + 1) triangle [R r], rows of unit noise: cost(beta) = |R beta - r|^2 + residual
    )
    residual: float
    freedom: float  # independent rows beyond the unknowns
    condition: float  # of the weighted base regressor, 2-norm
    scaled_condition: float  # with columns of one length
    samples: int
    status: Status
    advice: tuple[str, ...]
    choices: Mapping[str, Any]
    train: Mapping[str, Score]
    held_out: Mapping[str, float]  # per cent, on parts of the training logs that were left out
    validation: Mapping[str, Mapping[str, Score]] = field(default_factory=lambda: MappingProxyType({}))
    parameters: Array | None = None  # (10 L,), if a physically consistent set was asked for and found
    origins: tuple[str, ...] = ()  # of each of `parameters`: measured, grouped or prior
    physical: bool | None = None  # None: not asked for
    source: RobotSource | None = None
    logs: tuple[Provenance, ...] = ()
    seconds: float = 0.0

    @property
    def robot(self) -> Robot:
        return self.system.robot

    @property
    def terms(self) -> Terms:
        return self.system.terms

    @property
    def base(self) -> BaseParameters:
        return self.system.base

    @property
    def names(self) -> tuple[str, ...]:
        return self.system.names

    @property
    def expressions(self) -> tuple[str, ...]:
        """What each name stands for, as linear texts."""
        return (*self.base.expressions, *self.names[self.base.count :])

    @cached_property
    def std(self) -> Array:
        """Standard deviations (p,), infinite where nothing is determined."""
        return frozen(deviations(self.covariance))

    def interval(self, level: float = 0.95) -> Array:
        """Lower and upper ends of the confidence intervals, (p, 2)."""
        half = interval_factor(self.freedom, level) * self.std
        return np.column_stack([self.values - half, self.values + half])

    @property
    def friction(self) -> Friction:
        return self.model.friction

    @cached_property
    def model(self) -> DynamicModel:
        """The robot with these numbers: the physical set's, or a completion of the base values."""
        found = self.system.model(self.values)
        if self.parameters is None:
            return found
        return replace(found, parameters=self.parameters, armature=self._armature, physical=True)

    @cached_property
    def _armature(self) -> Array:
        """Motor inertias that go with `parameters`: what of the base values these do not account for."""
        base, width = self.base, 10 * len(self.robot.links)
        assert self.parameters is not None
        rest = self.values[: base.count] - base.matrix[:, :width] @ self.parameters
        columns = [k for k, name in enumerate(base.columns) if name.startswith("Ia")]
        found = np.zeros(self.robot.dof)
        if columns:
            solved = np.linalg.lstsq(base.matrix[:, columns], rest, rcond=None)[0]
            found[[int(base.columns[k][2:]) - 1 for k in columns]] = np.maximum(solved, 0.0)
        return frozen(found)

    # -- prediction -------------------------------------------------------------------------------------

    def predict(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        extra: Mapping[str, ArrayLike] | None = None,
        *,
        in_order: bool = False,
    ) -> Array:
        """Joint efforts of a motion, (n,) or (N, n); `extra` has the extra columns, of the same shape.

        in_order: the samples follow on each other in time, so that friction may remember reversals.
        """
        sliding = self.friction.sliding(q, qd) if in_order else None
        efforts = self.model.efforts(q, qd, qdd, sliding)
        for name in self.terms.extra:
            if name not in (extra or {}):
                raise ArgumentError(f"extra={{{name!r}: ...}} is needed: the fit has this extra column")
            efforts = efforts + self.value(name) * np.asarray((extra or {})[name], dtype=np.float64)
        return efforts

    def value(self, name: str) -> float:
        """The value of a parameter by its name."""
        if name not in self.names:
            raise ArgumentError(f"parameter {choices(name, self.names)}")
        return float(self.values[self.names.index(name)])

    def compare(self, log: Log) -> Comparison:
        """Measured and predicted efforts of a log through the validation filter."""
        missing = [name for name in self.terms.extra if name not in log.extra]
        if missing:
            raise ArgumentError(
                f"{log.provenance.source}: the extra column {missing[0]!r} is missing, which the fit has: "
                f"<joint>.extra.{missing[0]}"
            )

        def predict(samples: Samples) -> Array:
            return np.concatenate([stretch(samples, slice(a, b)) for a, b in samples.segments])

        def stretch(samples: Samples, rows: slice) -> Array:
            extra = {name: values[rows] for name, values in samples.extra.items()}
            return self.predict(samples.q[rows], samples.qd[rows], samples.qdd[rows], extra, in_order=True)

        return compare(self.robot, log, predict)

    def validate(self, log: Log | Sequence[Log]) -> Mapping[str, Score]:
        """Scores by joint on a log that the fit has not seen, or on several together."""
        logs = [log] if isinstance(log, Log) else list(log)
        return scores([self.compare(one) for one in logs])

    # -- as text and as a file ---------------------------------------------------------------------------

    def summary(self) -> str:
        """A page for a person: verdict, scores, parameters."""
        from dynid.summary import summary  # what only reading needs is loaded when somebody reads

        return summary(self)

    def _repr_html_(self) -> str:
        from dynid.notebook import estimate_html

        return estimate_html(self)

    def plot(self, *logs: Log) -> dict[str, Any]:
        """Figures of the report by name, as plotly figures: of the values, and of logs if there are any."""
        from dynid.notebook import figures

        return figures(self, logs)

    def as_dict(self) -> dict[str, Any]:
        """What `dynid identify --json` prints."""
        from dynid.estimate_file import record

        return record(self)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """As JSON, whole, with the robot in it: `load_estimate` needs no other file."""
        from dynid.estimate_file import save

        save(self, path, force=force)
