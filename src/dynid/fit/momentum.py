"""The momentum model: joint by joint as the torque model, but without acceleration.

Lagrange's equations through the parallel filter, with T and U the kinetic and the potential energy:

    d/dt (dT/dqd)  -  d(T - U)/dq  +  friction  =  tau

The momentum dT/dqd depends on positions and velocities alone, and is differentiated itself. So positions are
differentiated once where qdd takes two times, and the noise of qdd never meets the noise of qd in a product.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dynid import equations
from dynid.backends.layout import Signature, Tile
from dynid.dynamics import Kernel, back_end
from dynid.fit.reduction import Reduction, nothing, triangle
from dynid.fit.stretches import Stretch, motor_unknowns, still_panels, stretches
from dynid.fit.system import PADDING, TILE, System
from dynid.friction import motor_rates
from dynid.log.samples import Samples
from dynid.mechanism import mechanism
from dynid.program import Expr, Graph, Program, Scalar, gradient
from dynid.spatial import Array, frozen


class MomentumModel:
    """Momenta and generalised forces per unit of the p unknowns of a system."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._drives = motor_unknowns(system)
        self._rigid = [int(np.searchsorted(columns, len(system.rigid))) for columns in system.columns]
        self._motors = motor_rates(system.robot.transmission, system.robot.dof)

    @cached_property
    def _kernel(self) -> Kernel:
        """Of every joint, the momenta and then the forces of the rigid unknowns that act on it."""
        robot, graph = self.system.robot, Graph()
        q, qd = graph.inputs("q", robot.dof), graph.inputs("qd", robot.dof)
        kinetic = equations.kinetic_energy_columns(mechanism(robot), q, qd)
        potential = equations.potential_energy_columns(mechanism(robot), q)
        momenta = [gradient(kinetic[column], qd) for column in self.system.rigid]
        forces = [gradient(_less(potential[c], kinetic[c]), q) for c in self.system.rigid]
        outputs: list[Scalar] = []
        for joint, (columns, count) in enumerate(zip(self.system.columns, self._rigid, strict=True)):
            outputs += [momenta[int(k)][joint] for k in columns[:count]]
            outputs += [forces[int(k)][joint] for k in columns[:count]]
        signature = Signature((("q", robot.dof), ("qd", robot.dof)))
        return back_end()(Program(graph, signature.inputs, tuple(outputs)), signature, Tile(TILE + PADDING))

    def panels(self, samples: Samples, stretch: Stretch) -> list[Array]:
        """Per joint, (columns + 1, rows): as `PanelWriter.fill`, not weighted."""
        rigid = self._rigid_columns(samples, stretch.outer)
        given = still_panels(self.system, samples, stretch.inner)
        motors = stretch.derivative(samples.qd[stretch.outer] @ self._motors.T)
        margin = stretch.inner.start - stretch.outer.start
        found: list[Array] = []
        at = 0
        for joint, count in enumerate(self._rigid):
            panel = given[self.system.panels[joint]]
            momenta, forces = rigid[at : at + count], rigid[at + count : at + 2 * count, margin:-margin]
            panel[:count] = stretch.derivative(momenta.T).T + forces
            for row, unknown in enumerate(self.system.columns[joint][count:], count):
                drive = self._drives.get(int(unknown))
                if drive is not None:
                    panel[row] = self._motors[drive, joint] * motors[:, drive]
            found.append(samples.parallel.apply(panel.T).T)
            at += 2 * count
        return found

    def _rigid_columns(self, samples: Samples, where: slice) -> Array:
        """The kernel's outputs at m samples, (outputs, m)."""
        q, qd = samples.q[where], samples.qd[where]
        tile = Tile(TILE + PADDING).empty(2 * sum(self._rigid))
        run = self._kernel.bind([q, qd], None, tile)
        found = np.empty((len(tile), len(q)))
        for a in range(0, len(q), TILE):
            b = min(a + TILE, len(q))
            run(a, b)
            found[:, a:b] = tile[:, : b - a]
        return found


def reduce_momentum(system: System, samples: Samples) -> Reduction:
    """The momentum model's equations as a reduction, with the same unknowns as the torque model's."""
    model = MomentumModel(system)
    triangles = list(nothing(system).triangles)
    rows = np.zeros(system.robot.dof)
    for stretch in stretches(samples):
        weights = samples.weights[stretch.rows]
        for joint, panel in enumerate(model.panels(samples, stretch)):
            weighted = (panel * np.sqrt(weights[:, joint])).T
            triangles[joint] = triangle(np.concatenate([triangles[joint], weighted]))
        rows += weights.sum(axis=0)
    return Reduction(system.names, system.columns, tuple(frozen(R) for R in triangles), frozen(rows))


def _less(a: Scalar, b: Scalar) -> Expr | float:
    difference = a - b
    return difference if isinstance(difference, Expr) else float(difference)
