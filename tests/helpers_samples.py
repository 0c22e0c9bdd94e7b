"""Logs of `planar2` on sums of sines: velocities, accelerations and the gains of filters are formulas."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from dynid import load_robot
from dynid.base import base_parameters
from dynid.log.clean import clean
from dynid.log.log import Log, Provenance
from dynid.log.samples import Samples, condition

ARM = load_robot("planar2")
BASE = base_parameters(ARM)
TRUE = BASE.values(ARM.parameters)
RATE = 150.0
STEP_NS = round(1e9 / RATE)
LINES_HZ = np.array([[0.3, 0.9, 1.6], [0.4, 1.1, 2.0]])  # of each joint
AMPLITUDES = np.array([[0.8, 0.25, 0.1], [0.9, 0.3, 0.1]])
PHASES = np.array([[0.0, 1.0, 2.0], [3.0, 0.5, 4.0]])
BAND_HZ = 2.0
W = 2.0 * np.pi * LINES_HZ


def motion(time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    angle = W * time[:, None, None] + PHASES
    sine, cosine = AMPLITUDES * np.sin(angle), AMPLITUDES * np.cos(angle)
    return sine.sum(-1), (W * cosine).sum(-1), -(W**2 * sine).sum(-1)


@cache
def exact(seconds: float = 60.0) -> Log:
    """A log without noise."""
    stamps = STEP_NS * np.arange(int(seconds * RATE), dtype=np.int64)
    return log_of(stamps, *motion(stamps / 1e9))


def log_of(stamps: np.ndarray, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Log:
    return Log(
        joint_names=ARM.joint_names,
        stamp_ns=stamps,
        epoch_ns=0,
        position=q,
        velocity=None,
        effort=ARM.inverse_dynamics(q, qd, qdd),
        provenance=Provenance("made.csv", "0" * 64),
    )


def samples_of(log: Log, cutoff_hz: float, **options) -> Samples:
    return condition(clean(log, ARM), cutoff_hz, **options)


def equations(samples: Samples) -> tuple[np.ndarray, np.ndarray]:
    """The filtered base regressor (rows, count) and efforts."""
    kept = [ARM.parameter_names.index(name) for name in BASE.kept]
    regressor = ARM.regressor(samples.q, samples.qd, samples.qdd).reshape(len(samples.q), ARM.dof, -1)
    columns = samples.filtered(regressor[..., kept])
    return columns.reshape(-1, BASE.count), samples.filtered(samples.tau).ravel()


def fitted(samples: Samples) -> np.ndarray:
    return np.linalg.lstsq(*equations(samples), rcond=None)[0]


def rms(values: np.ndarray) -> np.ndarray:
    return np.sqrt(np.mean(values**2, axis=0))


def noisy(seconds: float = 60.0, position: float = 2e-5, effort: float = 0.1) -> Log:
    log, rng = exact(seconds), np.random.default_rng(4)
    return replace(
        log,
        position=log.position + position * rng.normal(size=log.position.shape),
        effort=log.effort + effort * rng.normal(size=log.position.shape),
    )
