"""`dynid codegen`: C and other code that computes a model's dynamics with few operations."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from dynid.codegen.functions import Generated, generate
from dynid.codegen.listing import Listing
from dynid.codegen.names import checked_prefix, identifier
from dynid.codegen.package import check_targets, files_of, names_of, refuse_present, write
from dynid.codegen.runtime import FIXED, Runtime, both, payload
from dynid.codegen.sources import Source, read_source
from dynid.codegen.trials import EXACT
from dynid.commands.output import print_json, remark
from dynid.errors import ArgumentError, choices
from dynid.friction import friction_of
from dynid.model import DynamicModel
from dynid.steps import Operations

FRICTIONS = ("model", "sign", "smooth", "none")
_CLEAR_LINE = "\r\x1b[K"


def run(options: argparse.Namespace) -> int:
    started = time.perf_counter()
    quiet = options.quiet or options.json
    targets = check_targets(options.target or ["c"])
    if options.real not in ("double", "float"):
        raise ArgumentError(f"--real {choices(options.real, ('double', 'float'))}")
    found = read_source(options.model, gravity=options.gravity, joints=options.joints)
    prefix = identifier(found.model.robot.name) if options.prefix is None else checked_prefix(options.prefix)
    directory = Path(options.output)
    refuse_present(directory, names_of(prefix, targets), options.force)  # before seconds are spent
    model = _with_friction(found.model, options.friction, options.friction_width)
    generated = generate(model, _runtime(found, options), None if quiet else _progress)
    if not quiet and sys.stderr.isatty():
        sys.stderr.write(_CLEAR_LINE)
    listing = Listing(generated, prefix, found.origin, options.real)
    files = files_of(listing, targets)
    write(directory, files, force=options.force)
    notes = [*found.notes, *_notes(generated)]
    for note in notes:
        remark(f"note: {note}", quiet)
    if options.json:
        print_json(
            {
                "robot": model.robot.name,
                "prefix": prefix,
                "joints": list(model.robot.joint_names),
                "functions": {f.name: _record(f.operations) for f in generated.functions},
                "error": generated.error,
                "files": [str(directory / name) for name in files],
                "notes": notes,
                "seconds": time.perf_counter() - started,
            }
        )
    else:
        _show(generated, directory, list(files))
    return 0 if generated.error <= 10.0 * EXACT else 1


def _runtime(found: Source, options: argparse.Namespace) -> Runtime:
    for option, value in (("--payload", options.payload), ("--variables", options.variables)):
        if value not in ("constant", "runtime"):
            raise ArgumentError(f"{option} {choices(value, ('constant', 'runtime'))}")
    load = payload(found.model.robot) if options.payload == "runtime" else FIXED
    if options.variables == "constant":
        return load
    if not found.variables.names:
        raise ArgumentError(f"{found.origin} has no variables that could stay arguments of the code")
    return both(load, found.variables)


def _with_friction(model: DynamicModel, kind: str, width: float) -> DynamicModel:
    """The model with its friction written as asked for."""
    if kind not in FRICTIONS:
        raise ArgumentError(f"--friction {choices(kind, FRICTIONS)}")
    if not (np.isfinite(width) and width > 0.0):
        raise ArgumentError(f"--friction-width must be a positive velocity, not {width:g}")
    if kind == "model":
        return model
    if kind == "none":
        none = dict.fromkeys(("viscous", "coulomb", "offset"), np.zeros(model.robot.dof))
        return replace(model, friction=replace(friction_of(model.robot), **none))
    return replace(model, friction=replace(model.friction, width=0.0 if kind == "sign" else width))


def _notes(generated: Generated) -> list[str]:
    notes: list[str] = []
    if generated.error > 10.0 * EXACT:
        notes.append(
            f"the code differs from the model by {generated.error:.1e} of its largest magnitude: its numbers "
            "are of such different sizes that rounding shows"
        )
    if generated.model.friction.constants.get("Fl", np.zeros(1)).any():
        notes.append("load-dependent friction is in inverse_dynamics only: velocities alone do not decide it")
    return notes


def _record(n: Operations) -> dict[str, int]:
    return {"mul": n.mul, "add": n.add, "neg": n.neg, "sincos": n.sincos}


def _progress(name: str, so_far: Operations) -> None:
    """How the search goes: a line that changes, on a terminal; nothing elsewhere."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{_CLEAR_LINE}{name}: {so_far.mul} multiplications, {so_far.add} additions")
        sys.stderr.flush()


def _show(generated: Generated, directory: Path, files: list[str]) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("operations of")
    for heading in ("mul", "add", "neg", "sin/cos"):
        table.add_column(heading, justify="right")
    for function in generated.functions:
        n = function.operations
        table.add_row(function.name, *(str(x) for x in (n.mul, n.add, n.neg, n.sincos)))
    Console().print(table)
    print(f"largest difference from the model: {generated.error:.1e} of its largest magnitude")
    print(f"in {directory}: {', '.join(files)}")
