"""One thread for linear algebra while the threads that call it are our own.

OpenBLAS starts a thread per processor even for matrices of 40 columns, and where several threads call it at
once, these wait for each other most of the time: a search of 5 s takes a minute. Neither NumPy nor SciPy has
an interface for this, so the libraries that their wheels bring are asked themselves; others are left alone.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

FOLDERS = ("../numpy.libs", ".dylibs", "../scipy.libs", "../scipy/.dylibs")  # beside NumPy's modules
PREFIXES, SUFFIXES = ("scipy_openblas", "openblas"), ("64_", "")


@contextmanager
def single_thread() -> Generator[None]:
    """Linear algebra runs in the thread that calls it until the block or the decorated function ends."""
    libraries = _libraries()
    counts = [get() for get, _ in libraries]
    for _, put in libraries:
        put(1)
    try:
        yield
    finally:
        for (_, put), count in zip(libraries, counts, strict=True):
            put(count)


@cache
def _libraries() -> tuple[tuple[Callable[[], int], Callable[[int], object]], ...]:
    """Functions that get and set the number of threads."""
    home = Path(np.__file__).parent
    found: list[tuple[Callable[[], int], Callable[[int], object]]] = []
    for path in sorted(file for folder in FOLDERS for file in (home / folder).glob("*openblas*")):
        try:
            library: Any = ctypes.CDLL(str(path.resolve()))
        except OSError:
            continue
        for name in (f"{prefix}_%s_num_threads{suffix}" for prefix in PREFIXES for suffix in SUFFIXES):
            get, put = getattr(library, name % "get", None), getattr(library, name % "set", None)
            if get is not None and put is not None:
                found.append((get, put))
                break
    return tuple(found)
