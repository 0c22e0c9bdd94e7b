"""Many starts of one minimiser, side by side, the same for the same seed, and stopped at any time.

Threads share the compiled kernels and work at once, since kernels and linear algebra release Python's lock.
Every start draws from its own stream of random numbers, so nothing depends on which one is first.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from importlib import import_module
from threading import Event
from typing import Any, Protocol, TypeVar

import numpy as np

from dynid.excite.certificate import Certificate
from dynid.excite.recorded import Motion
from dynid.spatial import Array
from dynid.trajectory import Trajectory

Objective = Callable[[Array], tuple[float, Array]]  # a value and its slope
Report = Callable[[str], None]
R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class Candidate:
    """A trajectory, whether it is safe, and the samples of it that the criterion looks at."""

    trajectory: Trajectory
    certificate: Certificate
    motion: Motion


class Search(Protocol):
    """A kind of motion, described by variables, and how to find good ones."""

    def prepare(self) -> None:
        """Compile what several threads will need."""
        ...

    def first(self, rng: np.random.Generator) -> Array:
        """Random variables."""
        ...

    def solve(self, x: Array, watch: Watch) -> Array:
        """Better ones from random ones, in a short time."""
        ...

    def refine(self, x: Array, watch: Watch) -> Array:
        """Still better ones, in a longer time."""
        ...

    def value(self, x: Array) -> float:
        """What `solve` makes small."""
        ...

    def result(self, x: Array) -> Candidate:
        """The motion, made safe if that can be."""
        ...


@dataclass(eq=False)
class Watch:
    """Says when to stop: after some seconds, or because the user has seen enough."""

    seconds: float = np.inf
    began: float = field(default_factory=time.perf_counter)
    interrupted: Event = field(default_factory=Event)

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.began

    @property
    def late(self) -> bool:
        return self.elapsed > self.seconds

    @property
    def over(self) -> bool:
        return self.late or self.interrupted.is_set()


def minimise(
    objective: Objective, x: Array, watch: Watch, iterations: int, tolerance: float = 1e-5
) -> tuple[Array, float]:
    """The best point of a quasi-Newton search (L-BFGS) from x, and its value; the best so far if stopped."""
    optimize: Any = import_module("scipy.optimize")  # it has no types
    best: list[Any] = [x, np.inf]

    def kept(point: Array) -> tuple[float, Array]:
        value, slope = objective(point)
        if value < best[1]:
            best[:] = [point.copy(), value]
        return value, slope

    def watched(intermediate_result: Any) -> None:
        if watch.over:
            raise StopIteration

    options = {"maxiter": iterations, "maxcor": 30, "ftol": tolerance, "gtol": 1e-9}
    with np.errstate(all="ignore"):
        optimize.minimize(kept, x, jac=True, method="L-BFGS-B", callback=watched, options=options)
    return best[0], float(best[1])


def side_by_side(
    task: Callable[[int], R],
    numbers: Sequence[int],
    watch: Watch,
    done: Callable[[int, R], None] | None = None,
) -> dict[int, R]:
    """task(k) of those numbers whose turn came before the watch was over; the first's always does."""
    workers = max(1, min(len(numbers), _cores()))
    found: dict[int, R] = {}
    waiting: dict[Future[R], int] = {}
    ahead = list(reversed(numbers))
    with ThreadPoolExecutor(workers) as pool:
        while True:
            try:
                while ahead and len(waiting) < workers and (not watch.over or ahead[-1] == numbers[0]):
                    k = ahead.pop()
                    waiting[pool.submit(task, k)] = k
                if not waiting:
                    return found
                for future in wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED).done:
                    k = waiting.pop(future)
                    found[k] = future.result()
                    if done is not None:
                        done(k, found[k])
            except KeyboardInterrupt:
                if watch.interrupted.is_set():
                    raise  # asked a second time
                watch.interrupted.set()


def _cores() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
