"""Which files are generated, and how they come to the disk: all of them or none."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from dynid.codegen.c_library import header, source
from dynid.codegen.cmake import EXAMPLE, SELF_TEST, cmake_lists
from dynid.codegen.listing import Listing
from dynid.codegen.scripts import casadi_module, jax_module, matlab_function, python_module
from dynid.codegen.self_test import self_test
from dynid.codegen.two_rates import two_rates
from dynid.errors import ArgumentError, choices, quote_path
from dynid.files import refuse_existing

TARGETS = {
    "c": "C99 header and source, self-test, example, CMake package",
    "python": "a Python module without dependencies",
    "casadi": "a Python module with casadi.Function objects",
    "jax": "a Python module of JAX functions",
    "matlab": "one .m file per function",
}


def check_targets(targets: Sequence[str]) -> tuple[str, ...]:
    for target in targets:
        if target not in TARGETS:
            raise ArgumentError(f"target {choices(target, TARGETS)}")
    return tuple(dict.fromkeys(targets))


def files_of(listing: Listing, targets: Sequence[str]) -> dict[str, str]:
    """Texts by path inside the output directory."""
    prefix = listing.prefix
    files: dict[str, str] = {}
    for target in check_targets(targets):
        match target:
            case "c":
                files[f"{prefix}.h"] = header(listing)
                files[f"{prefix}.c"] = source(listing)
                files[SELF_TEST.format(prefix)] = self_test(listing)
                files[EXAMPLE.format(prefix)] = two_rates(listing)
                files["CMakeLists.txt"] = cmake_lists(listing)
            case "python":
                files[f"{prefix}_dynamics.py"] = python_module(listing)
            case "casadi":
                files[f"{prefix}_casadi.py"] = casadi_module(listing)
            case "jax":
                files[f"{prefix}_jax.py"] = jax_module(listing)
            case _:
                for function in listing.functions:
                    files[f"{listing.name(function)}.m"] = matlab_function(listing, function)
    return files


def names_of(prefix: str, targets: Sequence[str]) -> list[str]:
    """Paths of which at least these will be written: enough to see early whether something is in the way."""
    names = {
        "c": [*(f.format(prefix) for f in ("{}.h", "{}.c", SELF_TEST, EXAMPLE)), "CMakeLists.txt"],
        "python": [f"{prefix}_dynamics.py"],
        "casadi": [f"{prefix}_casadi.py"],
        "jax": [f"{prefix}_jax.py"],
        "matlab": [f"{prefix}_inverse_dynamics.m"],
    }
    return [name for target in check_targets(targets) for name in names[target]]


def refuse_present(directory: Path, names: Sequence[str], force: bool) -> None:
    """Raise if something in the directory must not be overwritten, or if it can be no directory."""
    if directory.exists() and not directory.is_dir():
        raise ArgumentError(f"{quote_path(directory)} is not a directory; -o needs the name of one")
    for name in names:
        target = directory / name
        if target.exists():
            refuse_existing(target, force)


def write(directory: Path, files: Mapping[str, str], *, force: bool = False) -> None:
    """Write all files; nothing is written before all texts are on the same disk."""
    refuse_present(directory, list(files), force)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".dynid-", dir=directory) as scratch:
            for number, text in enumerate(files.values()):
                Path(scratch, str(number)).write_text(text, encoding="utf-8", newline="\n")
            for number, name in enumerate(files):
                target = directory / name
                target.parent.mkdir(exist_ok=True)
                os.replace(Path(scratch, str(number)), target)
    except OSError as problem:
        raise ArgumentError(
            f"{quote_path(directory)} cannot be written: {problem.strerror or problem}"
        ) from problem
