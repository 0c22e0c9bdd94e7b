"""What is fitted: tau = W(q, qd, qdd) beta, the unknowns beta and the columns each joint's equation has.

Unknowns come in this order: base parameters of the bodies, then motor inertias, viscous, Coulomb and offset
constants as far as they can be told apart (all that is `System.base`), then further friction terms, then the
log's extra columns. W exists a panel at a time: of joint j, the columns that can act on it with its efforts
below them, time running along the rows, because that is how the kernel writes and how `reduction` reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid import equations
from dynid.backends.layout import Signature, Tile
from dynid.base import BaseParameters, base_parameters
from dynid.dynamics import Kernel, back_end
from dynid.errors import ArgumentError, choices
from dynid.friction import (
    FURTHER,
    SIMPLE,
    STRIBECK_SPEED,
    Friction,
    direction,
    motor_rates,
    term,
)
from dynid.log.samples import Samples
from dynid.mechanism import mechanism
from dynid.model import DynamicModel
from dynid.program import Expr, Graph, Program, Scalar
from dynid.robot import Robot
from dynid.spatial import Array, frozen

Indices = NDArray[np.intp]

COULOMB_SPEED = 0.05  # rad/s; where nobody has chosen a better one, Coulomb friction is tanh(v / this)
SLIDE_SHARE = 0.2  # m; a joint that slides has widths this many times those of a joint that turns
DRIVES = ("Ia", *SIMPLE)
TILE = 512  # samples
PADDING = 8  # samples; the kernel stores whole vectors, and columns stay off the same cache lines


@dataclass(frozen=True, eq=False, kw_only=True)
class Terms:
    """What is fitted beside the rigid bodies."""

    armature: bool = True
    friction: tuple[str, ...] = SIMPLE
    width: float = COULOMB_SPEED  # rad/s, of Coulomb friction's step; 0: the sign
    stribeck_speed: float = STRIBECK_SPEED  # rad/s
    presliding: float = 0.0  # rad, over which friction turns after a reversal; 0: it has no memory
    extra: tuple[str, ...] = ()  # names of the log's extra columns, one unknown each
    load_parameters: Array | None = field(default=None, repr=False)  # (10 L,), by which Fl knows its load

    def __post_init__(self) -> None:
        for letter in self.friction:
            if letter not in (*SIMPLE, *FURTHER):
                raise ArgumentError(f"friction term {choices(letter, (*SIMPLE, *FURTHER))}")
        if not (np.isfinite(self.width) and self.width >= 0.0):
            raise ArgumentError(f"the width of Coulomb friction must be 0 or more, not {self.width:g}")
        if not (np.isfinite(self.stribeck_speed) and self.stribeck_speed > 0.0):
            raise ArgumentError(f"the Stribeck speed must be positive, not {self.stribeck_speed:g}")
        if not (np.isfinite(self.presliding) and self.presliding >= 0.0):
            raise ArgumentError(f"the distance of presliding must be 0 or more, not {self.presliding:g}")


@dataclass(frozen=True, eq=False)
class System:
    """The linear system of a robot of n joints: p unknowns by name, and the panels of samples."""

    robot: Robot
    terms: Terms
    base: BaseParameters

    @cached_property
    def names(self) -> tuple[str, ...]:
        further = [f"{letter}{k + 1}" for letter in self._further for k in range(self.robot.dof)]
        return (*self.base.names, *further, *self.terms.extra)

    @cached_property
    def _further(self) -> tuple[str, ...]:
        return tuple(letter for letter in self.terms.friction if letter in FURTHER)

    @cached_property
    def _drives(self) -> tuple[tuple[str, int], ...]:
        """Letter and drive of all unknowns behind the rigid ones, the extra columns left out."""
        names = [name for name in self.base.kept if name[:2] in DRIVES]
        names += [name for name in self.names[self.base.count :] if name not in self.terms.extra]
        return tuple((name[:2], int(name[2:]) - 1) for name in names)

    @property
    def drives(self) -> tuple[tuple[int, str, int], ...]:
        """Unknowns that belong to a drive: their number, letter and drive."""
        first = len(self.rigid)
        return tuple((first + at, letter, k) for at, (letter, k) in enumerate(self._drives))

    @cached_property
    def rigid(self) -> tuple[int, ...]:
        """Columns of the robot's regressor that carry base parameters: the first unknowns."""
        kept = (self.base.columns.index(name) for name in self.base.kept)
        return tuple(column for column in kept if column < 10 * len(self.robot.links))

    @cached_property
    def _rates(self) -> Mapping[str, Array]:
        """Motor and friction speeds per joint speed, (n, n), by letter."""
        motors = motor_rates(self.robot.transmission, self.robot.dof)
        rubbing = self._shape.rates
        return {letter: motors if letter == "Ia" else rubbing for letter, _ in self._drives}

    @cached_property
    def widths(self) -> Array:
        """The width of each drive's Coulomb friction, (n,)."""
        return self.terms.width * self._scales

    @property
    def _speeds(self) -> Array:
        return (self.terms.stribeck_speed * self._scales)[:, None]

    @cached_property
    def _scales(self) -> Array:
        return np.array([SLIDE_SHARE if self.robot.joints[j].prismatic else 1.0 for j in self.robot.free])

    def shaped(self, terms: Terms) -> System:
        """The same unknowns with other widths, speeds or loads; what only the structure decides is kept."""
        if (terms.armature, terms.friction, terms.extra) != (
            self.terms.armature,
            self.terms.friction,
            self.terms.extra,
        ):
            return system_of(self.robot, terms)
        other = System(self.robot, terms, self.base)
        structure = (
            "names",
            "rigid",
            "columns",
            "panels",
            "_drives",
            "_drives_on",
            "_rates",
            "_trace",
            "_kernel",
            "usual",
        )
        other.__dict__.update({name: getattr(self, name) for name in structure})
        return other

    def extended(self, extra: tuple[str, ...]) -> System:
        """With more extra columns."""
        return System(self.robot, replace(self.terms, extra=(*self.terms.extra, *extra)), self.base)

    # -- which columns a joint's equation has -----------------------------------------------------------

    @cached_property
    def _trace(self) -> tuple[Graph, tuple[tuple[tuple[int, Scalar], ...], ...]]:
        """The regressor recorded; per joint, the rigid unknowns that act on it and their entries."""
        graph, n = Graph(), self.robot.dof
        q, qd, qdd = (graph.inputs(stem, n) for stem in ("q", "qd", "qdd"))
        rows = equations.regressor(mechanism(self.robot), q, qd, qdd)
        entries = (tuple(enumerate(row[column] for column in self.rigid)) for row in rows)
        return graph, tuple(
            tuple((unknown, entry) for unknown, entry in row if isinstance(entry, Expr) or entry != 0.0)
            for row in entries
        )

    @cached_property
    def _drives_on(self) -> tuple[tuple[int, ...], ...]:
        """Per joint, the entries of `_drives` that act on it."""
        return tuple(
            tuple(at for at, (letter, k) in enumerate(self._drives) if self._rates[letter][k, joint] != 0.0)
            for joint in range(self.robot.dof)
        )

    @cached_property
    def columns(self) -> tuple[Indices, ...]:
        """The unknowns that can act on each joint, in the order of its panel."""
        first, extras = len(self.rigid), range(len(self.names) - len(self.terms.extra), len(self.names))
        return tuple(
            np.array([*(unknown for unknown, _ in rigid), *(first + at for at in drives), *extras], np.intp)
            for rigid, drives in zip(self._trace[1], self._drives_on, strict=True)
        )

    @cached_property
    def panels(self) -> tuple[slice, ...]:
        """The rows of a tile that are joint j's panel: its columns, then its efforts."""
        ends = np.cumsum([len(columns) + 1 for columns in self.columns]).tolist()
        return tuple(slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True))

    # -- the numbers ------------------------------------------------------------------------------------

    @cached_property
    def _kernel(self) -> Kernel:
        """Writes whole tiles: rigid entries are computed, the others copied from the array `given`."""
        graph, rows = self._trace
        n, counts = self.robot.dof, [len(c) - len(r) + 1 for c, r in zip(self.columns, rows, strict=True)]
        signature = Signature((("q", n), ("qd", n), ("qdd", n), ("given", sum(counts))))
        given = iter(graph.inputs("given", sum(counts)))
        outputs: list[Scalar] = []
        for rigid, count in zip(rows, counts, strict=True):
            outputs += [entry for _, entry in rigid]
            outputs += [next(given) for _ in range(count)]
        return back_end()(Program(graph, signature.inputs, tuple(outputs)), signature, Tile(TILE + PADDING))

    @cached_property
    def usual(self) -> tuple[Array, ...]:
        """Per joint, the RMS of its columns over everyday motions: beside it, rounding is told from columns.

        It is that of the joint on which an unknown acts most: on another, all of a column may be rounding.
        Of drives one unit, of extra columns nothing, as nobody knows what is usual for them.
        """
        rng, n, m = np.random.default_rng(0), self.robot.dof, TILE
        q = rng.uniform(-np.pi, np.pi, (m, n))
        qd, qdd = rng.normal(size=(2, m, n))
        extra = {name: np.zeros((m, n)) for name in self.terms.extra}
        rows = self.fill(self.tile(), q, qd, qdd, np.zeros((m, n)), extra)
        rms = np.sqrt(np.mean(rows**2, axis=1))
        largest = np.zeros(len(self.names))
        for panel, columns in zip(self.panels, self.columns, strict=True):
            largest[columns] = np.maximum(largest[columns], rms[panel][:-1])
        return tuple(frozen(largest[columns]) for columns in self.columns)

    def tile(self) -> Array:
        """Memory for `fill`, (all panels' rows, `TILE`)."""
        return Tile(TILE + PADDING).empty(self.panels[-1].stop)

    def fill(
        self,
        out: Array,
        q: Array,
        qd: Array,
        qdd: Array,
        tau: Array,
        extra: Mapping[str, Array],
        sliding: Array | None = None,
    ) -> Array:
        """The panels of at most `TILE` samples (m, n), one below the other, (rows, m): a part of `out`.

        `sliding` is what friction has in place of the velocities' signs, as `remembering` finds it.
        """
        given = self._given(q, qd, qdd, tau, extra, sliding)
        self._kernel.bind([q, qd, qdd, given], None, out)(0, len(q))
        return out[:, : len(q)]

    def _given(
        self,
        q: Array,
        qd: Array,
        qdd: Array,
        tau: Array,
        extra: Mapping[str, Array],
        sliding: Array | None,
    ) -> Array:
        """Columns of drives, extra columns and efforts, (m, all of them), joint by joint."""
        on_drive: dict[str, Array] = {}
        rubbing = self._shape.rates @ qd.T
        s = direction(rubbing, self.widths[:, None]) if sliding is None else sliding.T
        for letter, rates in self._rates.items():  # what one unit does to its drive, (n, m)
            load = None
            if letter == "Fl" and self.terms.load_parameters is not None:
                rigid = self.robot.inverse_dynamics(q, qd, qdd, self.terms.load_parameters)
                load = np.asarray(np.linalg.solve(rates.T, rigid.T), dtype=np.float64)
            v = rates @ (qdd if letter == "Ia" else qd).T
            on_drive[letter] = v if letter == "Ia" else term(letter, v, s, self._speeds, load)
        given: list[Array] = []
        for joint, drives in enumerate(self._drives_on):
            for letter, k in (self._drives[at] for at in drives):
                rate = self._rates[letter][k, joint]
                given.append(on_drive[letter][k] if rate == 1.0 else rate * on_drive[letter][k])
            given += [extra[name][:, joint] for name in self.terms.extra]
            given.append(tau[:, joint])
        return np.array(given).T

    # -- what the unknowns mean ---------------------------------------------------------------------------

    def friction(self, values: ArrayLike | None = None) -> Friction:
        """The friction of values (p,), or its shape with constants zero."""
        n = self.robot.dof
        beta = np.zeros(len(self.names)) if values is None else np.asarray(values, dtype=np.float64)
        known = dict(zip(self._drives, beta[len(self.rigid) :], strict=False))  # extra columns come last

        def constants(letter: str) -> Array:
            return frozen(np.array([known.get((letter, k), 0.0) for k in range(n)]))

        return Friction(
            viscous=constants("Fv"),
            coulomb=constants("Fc"),
            offset=constants("Fo"),
            further={letter: constants(letter) for letter in self._further},
            side=self.robot.friction_side,
            transmission=self.robot.transmission,
            width=self.widths,
            stribeck_speed=self.terms.stribeck_speed * self._scales,
            presliding=self.terms.presliding * self._scales,
        )

    @cached_property
    def _shape(self) -> Friction:
        return self.friction()

    def remembering(self, samples: Samples) -> Samples:
        """The samples with the sense in which each drive slides, if friction has a memory here."""
        if not self.terms.presliding:
            return samples if samples.sliding is None else replace(samples, sliding=None)
        sliding = np.zeros_like(samples.q)
        for a, b in samples.segments:
            sliding[a:b] = self._shape.sliding(samples.q[a:b], samples.qd[a:b])
        return replace(samples, sliding=sliding)

    def model(self, values: ArrayLike) -> DynamicModel:
        """A model with these values (p,): everything that others were regrouped with is zero."""
        beta = np.asarray(values, dtype=np.float64)
        full = self.base.completion(beta[: self.base.count])
        width = 10 * len(self.robot.links)
        armature = np.array(
            [
                full[self.base.columns.index(f"Ia{k + 1}")] if f"Ia{k + 1}" in self.base.columns else 0.0
                for k in range(self.robot.dof)
            ]
        )
        return DynamicModel(
            robot=self.robot,
            parameters=frozen(full[:width]),
            armature=frozen(armature),
            friction=self.friction(beta),
        )


def system_of(robot: Robot, terms: Terms | None = None) -> System:
    """The system of a robot with these terms."""
    terms = terms or Terms()
    simple = set(terms.friction) & set(SIMPLE)
    base = base_parameters(
        robot, armature=terms.armature, friction=bool(simple & {"Fv", "Fc"}), offset="Fo" in simple
    )
    unwanted = {"Fv", "Fc"} - simple
    return System(robot, terms, base.without(unwanted))
