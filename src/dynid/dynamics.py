"""The array interface: many samples at once, through whichever back end this machine has.

Arrays of one sample have shape (n,), of N samples (N, n), with n = robot.dof; any mixture broadcasts. They
may be of any strides and are never copied if they are float64. The result has the samples in front: (n,)
becomes (N, n). A NaN makes its own sample NaN and no other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from dynid import equations
from dynid.backends.layout import Rows, Signature, Tile
from dynid.errors import ArgumentError
from dynid.mechanism import Mechanism, body_parameters, mechanism
from dynid.program import Expr, Graph, Program, Scalar
from dynid.robot import Robot
from dynid.spatial import Array

# Sums of angles larger than this would lose digits that matter; NumPy brings such angles into one turn first.
LARGEST_ANGLE = 1e3
TILE_BYTES = 1 << 19  # a regressor tile this large stays in the second-level cache
_PADDING = 8  # samples; keeps the columns of a tile off the same cache lines


class Kernel(Protocol):
    """What both back ends offer."""

    def bind(
        self, arrays: Sequence[Array], common: Array | None, out: Array
    ) -> Callable[[int, int], None]: ...

    def run_all(self, arrays: Sequence[Array], common: Array | None, out: Array, count: int) -> None: ...


@cache
def back_end() -> Callable[[Program, Signature, Rows | Tile], Kernel]:
    """llvmlite if it is there, NumPy otherwise or if DYNID_BACKEND says so."""
    if os.environ.get("DYNID_BACKEND", "llvm") != "numpy":
        try:
            from dynid.backends.kernel import compile_program
        except ImportError:
            pass
        else:
            return compile_program
    from dynid.backends.reference import interpret

    return interpret


class RegressorTile(NamedTuple):
    """Columns of the regressor for samples first .. last - 1: values[k] belongs to rows[k], columns[k]."""

    first: int
    last: int
    rows: tuple[int, ...]  # joint of each column
    columns: tuple[int, ...]  # parameter of each column
    values: Array  # (columns, last - first); the memory is used again for the next tile


class Dynamics:
    """Compiled functions of one robot; each is traced and compiled when it is first called."""

    def __init__(self, robot: Robot) -> None:
        self.name = robot.name
        self.dof = robot.dof
        self.mechanism: Mechanism = mechanism(robot)
        self.size = 10 * len(robot.links)
        self._own = robot.parameters
        self._links = [link.name for link in robot.links]
        self._to_body = body_parameters(self.mechanism)

    # -- programs: which inputs, which outputs, where they go ------------------------------------------

    def _trace(self, width: int, with_parameters: bool = True) -> tuple[Graph, Signature, Any]:
        """A graph with inputs q, qd, qdd (as many as `width`) and p, and the signature that names them."""
        graph = Graph()
        arrays = tuple((stem, self.dof) for stem in ("q", "qd", "qdd")[:width])
        signature = Signature(arrays, ("p", self.size) if with_parameters else None)
        every = [*arrays, ("p", self.size)] if with_parameters else arrays
        return graph, signature, [graph.inputs(stem, count) for stem, count in every]

    def _dense(self, graph: Graph, signature: Signature, outputs: Sequence[Scalar]) -> Kernel:
        program = Program(graph, signature.inputs, tuple(outputs))
        return back_end()(program, signature, Rows(tuple(range(len(outputs)))))

    @cached_property
    def _inverse_dynamics(self) -> Kernel:
        graph, signature, (q, qd, qdd, p) = self._trace(3)
        return self._dense(graph, signature, equations.inverse_dynamics(self.mechanism, q, qd, qdd, p))

    @cached_property
    def _mass_matrix(self) -> Kernel:
        graph, signature, (q, p) = self._trace(1)
        D, _ = equations.inertia_matrix_and_gravity(self.mechanism, q, p)
        return self._dense(graph, signature, [entry for row in D for entry in row])

    @cached_property
    def _gravity(self) -> Kernel:
        graph, signature, (q, p) = self._trace(1)
        _, efforts = equations.inertia_matrix_and_gravity(self.mechanism, q, p)
        return self._dense(graph, signature, efforts)

    @cached_property
    def _velocity(self) -> Kernel:
        graph, signature, (q, qd, p) = self._trace(2)
        return self._dense(graph, signature, equations.velocity_torque(self.mechanism, q, qd, p))

    @cached_property
    def _kinetic(self) -> Kernel:
        graph, signature, (q, qd, p) = self._trace(2)
        columns = equations.kinetic_energy_columns(self.mechanism, q, qd)
        return self._dense(graph, signature, [_sum(columns, p)])

    @cached_property
    def _potential(self) -> Kernel:
        graph, signature, (q, p) = self._trace(1)
        columns = equations.potential_energy_columns(self.mechanism, q)
        return self._dense(graph, signature, [_sum(columns, p)])

    @cached_property
    def _energy_regressor(self) -> Kernel:
        graph, signature, (q, qd) = self._trace(2, with_parameters=False)
        kinetic = equations.kinetic_energy_columns(self.mechanism, q, qd)
        potential = equations.potential_energy_columns(self.mechanism, q)
        return self._dense(graph, signature, [t + u for t, u in zip(kinetic, potential, strict=True)])

    def regressor_program(self) -> tuple[Program, Signature, tuple[int, ...]]:
        """The regressor's entries that are not zero for every motion, and their places in row-major order."""
        graph, signature, (q, qd, qdd) = self._trace(3, with_parameters=False)
        rows = equations.regressor(self.mechanism, q, qd, qdd)
        entries = [entry for row in rows for entry in row]
        places = tuple(k for k, entry in enumerate(entries) if isinstance(entry, Expr) or entry != 0.0)
        return Program(graph, signature.inputs, tuple(entries[k] for k in places)), signature, places

    # -- the interface of `Robot` ----------------------------------------------------------------------

    def inverse_dynamics(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, parameters: ArrayLike | None = None
    ) -> Array:
        body = self._to_body @ self._given(parameters)
        return self._call(lambda: self._inverse_dynamics, (q, qd, qdd), body, (self.dof,))

    def mass_matrix(self, q: ArrayLike, parameters: ArrayLike | None = None) -> Array:
        body = self._to_body @ self._given(parameters)
        return self._call(lambda: self._mass_matrix, (q,), body, (self.dof, self.dof))

    def gravity_torque(self, q: ArrayLike, parameters: ArrayLike | None = None) -> Array:
        body = self._to_body @ self._given(parameters)
        return self._call(lambda: self._gravity, (q,), body, (self.dof,))

    def velocity_torque(self, q: ArrayLike, qd: ArrayLike, parameters: ArrayLike | None = None) -> Array:
        body = self._to_body @ self._given(parameters)
        return self._call(lambda: self._velocity, (q, qd), body, (self.dof,))

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike, parameters: ArrayLike | None = None) -> Array:
        return self._call(lambda: self._kinetic, (q, qd), self._given(parameters), ())

    def potential_energy(self, q: ArrayLike, parameters: ArrayLike | None = None) -> Array:
        return self._call(lambda: self._potential, (q,), self._given(parameters), ())

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        arrays, single = self._samples((q, qd, qdd))
        out = np.zeros((len(arrays[0]), self.dof, self.size))
        for tile in self.regressor_tiles(*arrays):
            out[tile.first : tile.last, tile.rows, tile.columns] = tile.values.T
        with np.errstate(invalid="ignore", over="ignore"):
            out[~np.isfinite(sum(array.sum(axis=1) for array in arrays))] = np.nan
        return out[0] if single else out

    def energy_regressor(self, q: ArrayLike, qd: ArrayLike) -> Array:
        return self._call(lambda: self._energy_regressor, (q, qd), None, (self.size,))

    def regressor_tiles(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Iterator[RegressorTile]:
        """The regressor of N samples, a tile at a time and never whole: what estimators should use.

        A NaN reaches what depends on it and nothing else; the whole sample is for the caller to leave out.
        """
        arrays, _ = self._samples((q, qd, qdd))
        kernel, rows, columns = self._tiled
        size = self._tile_samples(len(rows))
        values = self._tile_layout(len(rows)).empty(len(rows))
        fill = kernel.bind(arrays, None, values)
        whole = values[:, :size]
        for first in range(0, len(arrays[0]), size):
            last = min(first + size, len(arrays[0]))
            fill(first, last)
            filled = whole if last - first == size else values[:, : last - first]
            yield RegressorTile(first, last, rows, columns, filled)

    @cached_property
    def _tiled(self) -> tuple[Kernel, tuple[int, ...], tuple[int, ...]]:
        program, signature, places = self.regressor_program()
        kernel = back_end()(program, signature, self._tile_layout(len(places)))
        return kernel, tuple(k // self.size for k in places), tuple(k % self.size for k in places)

    @classmethod
    def _tile_layout(cls, columns: int) -> Tile:
        return Tile(cls._tile_samples(columns) + _PADDING)

    @staticmethod
    def _tile_samples(columns: int) -> int:
        """Samples of a tile, a multiple of 16: at most 512, and at least 96, or calls cost more than sums."""
        return min(max(TILE_BYTES // (8 * max(columns, 1)) // 16, 6), 32) * 16

    # -- arguments -------------------------------------------------------------------------------------

    def _given(self, parameters: ArrayLike | None) -> Array:
        if parameters is None:
            unknown = [
                name
                for name, ten in zip(self._links, self._own.reshape(-1, 10), strict=True)
                if np.isnan(ten).any()
            ]
            if unknown:
                raise ArgumentError(
                    f"{self.name} has no inertial parameters for {', '.join(map(repr, unknown))}: "
                    "complete the robot's file, or pass parameters="
                )
            return self._own
        given = np.ascontiguousarray(_real("parameters", parameters))
        if given.shape != (self.size,):
            raise ArgumentError(
                f"parameters have shape {given.shape}; {self.name} needs ({self.size},), "
                "in the order of robot.parameter_names"
            )
        return given

    def _samples(self, motion: Sequence[ArrayLike]) -> tuple[list[Array], bool]:
        """The arrays as (N, n), broadcast against each other, and whether there was one sample without N."""
        names = ("q", "qd", "qdd")
        arrays = [_real(name, x) for name, x in zip(names, motion, strict=False)]
        for name, array in zip(names, arrays, strict=False):
            if array.ndim not in (1, 2) or array.shape[-1] != self.dof:
                raise ArgumentError(
                    f"{name} has shape {array.shape}; {self.name} needs ({self.dof},) or (N, {self.dof}), "
                    "joints in the order of robot.joint_names"
                )
        try:
            shape = np.broadcast_shapes(*(array.shape for array in arrays))
        except ValueError:
            shapes = ", ".join(str(array.shape) for array in arrays)
            raise ArgumentError(f"q, qd and qdd differ in their number of samples: {shapes}") from None
        lowest, highest = arrays[0].min(initial=0.0), arrays[0].max(initial=0.0)
        if not (lowest >= -LARGEST_ANGLE and highest <= LARGEST_ANGLE):  # or one of them is NaN
            arrays[0] = self._reduced(arrays[0])
        arrays = [np.atleast_2d(np.broadcast_to(array, shape)) for array in arrays]
        return arrays, len(shape) == 1

    def _reduced(self, q: Array) -> Array:
        """Positions with the very large angles of joints that only turn brought into one turn."""
        turning = np.array(
            [
                all(
                    not body.prismatic and abs(body.multiplier) == 1.0
                    for body in self.mechanism.bodies
                    if body.coordinate == k
                )
                for k in range(self.dof)
            ]
        )
        with np.errstate(invalid="ignore", over="ignore"):
            turns = np.arctan2(np.sin(q), np.cos(q))
            return np.where(turning & (np.abs(q) > LARGEST_ANGLE), turns, q)

    def _call(
        self,
        kernel: Callable[[], Kernel],
        motion: Sequence[ArrayLike],
        common: Array | None,
        shape: tuple[int, ...],
    ) -> Array:
        arrays, single = self._samples(motion)
        count = len(arrays[0])
        out = np.zeros((count, int(np.prod(shape, dtype=int))))
        if count:
            kernel().run_all(arrays, common, out, count)
        return out.reshape(shape if single else (count, *shape))


def _real(name: str, values: ArrayLike) -> Array:
    """The values as float64, or an error that names them."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biuf":
            array = np.array(array.tolist(), dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ArgumentError(f"{name} is not an array of real numbers: {problem}") from problem
    return np.asarray(array, dtype=np.float64)


def _sum(columns: Sequence[Scalar], parameters: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for column, parameter in zip(columns, parameters, strict=True):
        total = total + column * parameter
    return total


_known: WeakKeyDictionary[Robot, Dynamics] = WeakKeyDictionary()


def dynamics_of(robot: Robot) -> Dynamics:
    """The compiled functions of a robot, kept as long as the robot is."""
    found = _known.get(robot)
    if found is None:
        found = _known[robot] = Dynamics(robot)
    return found
