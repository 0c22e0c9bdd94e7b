"""Generated C, compiled and called; and its operations, counted in its text by rules of our own."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

NAMES = ("gcc", "clang")
COMPILERS = [name for name in NAMES if shutil.which(name)]
EACH_COMPILER = [  # for parametrize
    pytest.param(name, marks=pytest.mark.skipif(name not in COMPILERS, reason=f"{name} is not installed"))
    for name in NAMES
]
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-pedantic"]


class Library:
    """The functions of `<prefix>.c`, called with arrays."""

    def __init__(self, directory: Path, prefix: str, compiler: str = "gcc", real: str = "double") -> None:
        self.prefix, self.type = prefix, np.float64 if real == "double" else np.float32
        target = directory / f"{prefix}_{compiler}.so"
        source = str(directory / f"{prefix}.c")
        command = [compiler, *STRICT, "-O1", "-shared", "-fPIC", source, "-lm", "-o", str(target)]
        subprocess.run(command, check=True)
        self.library = ctypes.CDLL(str(target))

    def __call__(self, name: str, outputs: tuple[int, ...], *arguments: np.ndarray) -> list[np.ndarray]:
        """Outputs of these lengths; they are filled with NaN first, so that every entry has to be written."""
        given = [np.ascontiguousarray(x, dtype=self.type) for x in arguments]
        made = [np.full(length, np.nan, dtype=self.type) for length in outputs]
        function = getattr(self.library, f"{self.prefix}_{name}")
        function(*(array.ctypes.data_as(ctypes.c_void_p) for array in (*given, *made)))
        return made


def bodies(source: str, prefix: str) -> dict[str, str]:
    """The text between the braces of every function."""
    found = re.findall(rf"^void {prefix}_(\w+)\([^)]*\)\n\{{\n(.*?)^\}}", source, re.MULTILINE | re.DOTALL)
    return dict(found)


def counted(body: str) -> dict[str, int]:
    """Operations in the text of a function: unlike the package, from characters alone."""
    text = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
    angles = set(re.findall(r"\b(?:sin|cos)f?\(([^()]*)\)", text))
    text = re.sub(r"\[\d+\]", "", text)
    text = re.sub(r"(\d)e[+-]?(\d)", r"\1\2", text)  # exponents are no operations
    found = {"mul": 0, "add": 0, "neg": 0, "sincos": len(angles)}
    for match in re.finditer(r"[-+*]", text):
        before = text[: match.start()].rstrip()
        binary = bool(before) and (before[-1].isalnum() or before[-1] in "_).")
        kind = "mul" if match[0] == "*" else "add" if binary else "neg"
        found[kind] += 1
    return found
