"""A function of the generated code: its name, its arguments and the program that it runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from dynid.program import Program
from dynid.steps import Operations, count

Shapes: TypeAlias = tuple[tuple[str, int], ...]


@dataclass(frozen=True, eq=False)
class Signature:
    """What a function is called and does; array arguments are (name, length)."""

    name: str
    purpose: str
    inputs: Shapes
    outputs: Shapes

    @property
    def input_names(self) -> tuple[str, ...]:
        """What a program calls the entries of the arguments."""
        return tuple(f"{stem}{k + 1}" for stem, width in self.inputs for k in range(width))

    def by(self, program: Program) -> Function:
        return Function(self.name, self.purpose, self.inputs, self.outputs, program)


@dataclass(frozen=True, eq=False)
class Function(Signature):
    """A signature and a program with its inputs, whose outputs fill the output arrays one after the other."""

    program: Program

    @cached_property
    def operations(self) -> Operations:
        return count(self.program)
