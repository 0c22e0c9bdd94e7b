"""Functions of a motion, compiled together with their adjoint.

A function f of q, qd, qdd is recorded once. `values` computes it for all samples, and `pull_back` the slope
of sum(weights * f) by the motion: reverse accumulation of one more expression, however many outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dynid.backends.layout import Rows, Signature
from dynid.dynamics import Kernel, back_end
from dynid.program import Expr, Graph, Program, Scalar, gradient
from dynid.spatial import Array

STEMS = ("q", "qd", "qdd")

Motion = Sequence[Array]  # q, qd, qdd or as many of them as are needed, (N, n) each


@dataclass(frozen=True, eq=False)
class Recorded:
    """m outputs as a function of the first `width` of q, qd, qdd of `dof` joints."""

    dof: int
    width: int
    trace: Callable[..., Sequence[Scalar]]  # called with `width` lists of scalars

    @cached_property
    def inputs(self) -> tuple[tuple[Expr, ...], ...]:
        graph = Graph()
        return tuple(tuple(graph.inputs(stem, self.dof)) for stem in STEMS[: self.width])

    @cached_property
    def outputs(self) -> tuple[Scalar, ...]:
        return tuple(self.trace(*(list(group) for group in self.inputs)))

    @cached_property
    def program(self) -> Program:
        return Program(self.inputs[0][0].graph, self._signature.inputs, self.outputs)

    @property
    def _signature(self) -> Signature:
        return Signature(tuple((stem, self.dof) for stem in STEMS[: self.width]))

    @cached_property
    def _forward(self) -> Kernel:
        return back_end()(self.program, self._signature, Rows(tuple(range(len(self.outputs)))))

    @cached_property
    def _backward(self) -> Kernel:
        signature = Signature((*self._signature.arrays, ("G", len(self.outputs))))
        weights = self.inputs[0][0].graph.inputs("G", len(self.outputs))
        total: Scalar = 0.0
        for weight, output in zip(weights, self.outputs, strict=True):
            total = total + weight * output
        slopes = gradient(total, [x for group in self.inputs for x in group])
        program = Program(self.inputs[0][0].graph, signature.inputs, tuple(slopes))
        return back_end()(program, signature, Rows(tuple(range(len(slopes)))))

    def prepare(self) -> None:
        """Compile both directions now: cached properties are not made for several threads at once."""
        _ = self._forward, self._backward

    def values(self, motion: Motion) -> Array:
        """The outputs, (N, m)."""
        arrays = [np.ascontiguousarray(array) for array in motion[: self.width]]
        out = np.empty((len(arrays[0]), len(self.outputs)))
        self._forward.run_all(arrays, None, out, len(out))
        return out

    def pull_back(self, motion: Motion, weights: Array) -> list[Array]:
        """d sum(weights * outputs) by q, qd, qdd, as many as there are, (N, n) each; weights (N, m)."""
        arrays = [np.ascontiguousarray(array) for array in (*motion[: self.width], weights)]
        out = np.empty((len(arrays[0]), self.width * self.dof))
        self._backward.run_all(arrays, None, out, len(out))
        return [out[:, k * self.dof : (k + 1) * self.dof] for k in range(self.width)]
