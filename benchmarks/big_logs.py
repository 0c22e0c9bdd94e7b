"""Logs as large as anybody wants: one block of motion over and over, on a clock that goes on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dynid.model import model_of
from dynid.robot import Robot

RATE_HZ = 1000.0
BLOCK = 100_000  # rows


def write_log(robot: Robot, path: Path, rows: int) -> None:
    """A Parquet file with positions, velocities and efforts of every joint, and noise on all of them."""
    columns = _block(robot)
    names = [f"{name}.{quantity}" for quantity in columns for name in robot.joint_names]
    values = [column for block in columns.values() for column in block.T]
    writer: pq.ParquetWriter | None = None
    for first in range(0, rows, BLOCK):
        count = min(BLOCK, rows - first)
        time = (first + np.arange(count)) / RATE_HZ
        table = pa.table({"time": time, **{n: v[:count] for n, v in zip(names, values, strict=True)}})
        writer = writer or pq.ParquetWriter(path, table.schema, compression="none", use_dictionary=False)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def _block(robot: Robot) -> dict[str, np.ndarray]:
    """Five harmonics whose periods fill the block, so that its end meets its beginning."""
    rng, n = np.random.default_rng(0), robot.dof
    t = np.arange(BLOCK) / RATE_HZ
    q, qd, qdd = np.zeros((3, BLOCK, n))
    for k in range(1, 6):
        w, a, phase = 0.2 * np.pi * k, rng.normal(size=n) / k, rng.uniform(0, 6, n)
        q += a * np.sin(w * t[:, None] + phase)
        qd += w * a * np.cos(w * t[:, None] + phase)
        qdd -= w * w * a * np.sin(w * t[:, None] + phase)
    tau = model_of(robot).efforts(q, qd, qdd) + 0.5 * qd + 0.3 * np.tanh(qd / 0.05)
    noise = rng.normal(size=(3, BLOCK, n))
    return {
        "position": q + 1e-5 * noise[0],
        "velocity": qd + 1e-3 * noise[1],
        "effort": tau + 0.02 * tau.std(axis=0) * noise[2],
    }
