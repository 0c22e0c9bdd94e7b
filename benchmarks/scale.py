"""Logs of millions of samples: reading them, identifying from them, and what that takes in memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pinocchio as pin

import dynid
from benchmarks.big_logs import RATE_HZ, write_log
from benchmarks.kernels import motion, pinocchio_seconds
from benchmarks.measure import Row, fastest
from dynid.fit.arrays import samples_from_arrays
from dynid.fit.reduction import reduce
from dynid.fit.runs import torque_runs
from dynid.fit.solve import ordinary, weighted
from dynid.fit.system import System, system_of
from dynid.log.prepare import prepare
from dynid.log.samples import Samples
from dynid.statistics import noise_of, uncertainty

STREAMED, IDENTIFIED = 10_000_000, 1_000_000
CUTOFF_HZ = 10.0

# Each in a process of its own, whose memory is then its peak above what importing costs.
STREAM = """
import time
from dynid.log.clean import clean
from dynid.log.read import stream_log
rows = sum(len(clean(part, robot).time) for part in stream_log(path, robot))
"""
IDENTIFY = """
estimate = dynid.identify(robot, path)
rows = estimate.samples
"""
CHILD = """
import json, re, sys, time
import dynid, dynid.fit.identify, pyarrow.parquet, scipy.fft, scipy.signal, scipy.interpolate, scipy.ndimage
path, robot = sys.argv[1], dynid.load_robot("panda")
peak = lambda: int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) / 1024
imported, begin, cpu = peak(), time.perf_counter(), time.process_time()
{body}
spent = dict(wall=time.perf_counter() - begin, cpu=time.process_time() - cpu)
print(json.dumps(dict(spent, rows=rows, peak=peak(), imported=imported)))
"""


def in_a_process(body: str, path: Path) -> dict[str, float]:
    """Seconds and megabytes of a piece of work, single-threaded but for what dynid does itself."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD.format(body=body), str(path)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=True,
        stdout=subprocess.PIPE,
    )
    return json.loads(done.stdout)


def streaming_rows(path: Path) -> list[Row]:
    found = in_a_process(STREAM, path)
    rate = found["rows"] / found["cpu"]
    return [
        Row(
            f"{STREAMED // 10**6} million samples of 7 joints from Parquet to clean columns, one core",
            f"{rate / 1e6:.2f} million/s",
            ">= 1 million/s",
            rate >= 1e6,
        ),
        Row("... peak memory, all told", f"{found['peak']:.0f} MB", "< 400 MB", found["peak"] < 400.0),
    ]


def identified(system: System, samples: Samples) -> None:
    """Reduction, both kinds of least squares, and honest statistics."""
    reduction = reduce(system, samples)
    runs = [torque_runs(system, samples)]
    ordinary(reduction)
    solution = weighted(reduction)
    uncertainty(solution, runs, noise_of(runs, solution), float(reduction.rows.sum()))


def identification_rows(path: Path) -> list[Row]:
    robot = dynid.load_robot("panda")
    system, loop = system_of(robot), pinocchio_seconds(pin.computeJointTorqueRegressor, robot)
    log = dynid.read_log(path, robot)
    whole = f"{IDENTIFIED // 10**6} million samples, {len(system.names)} unknowns: sums, OLS, WLS, statistics"
    rows: list[Row] = []
    for what, samples in (
        (
            f"{whole}, of a log at {RATE_HZ:g} Hz in a band of {CUTOFF_HZ:g} Hz",
            prepare(log, robot, cutoff_hz=CUTOFF_HZ),
        ),
        (
            f"{whole}, every sample an equation of each joint",
            samples_from_arrays(robot, *motion(7, IDENTIFIED), log.effort),
        ),
    ):
        seconds = fastest(partial(identified, system, samples))
        sums = fastest(partial(reduce, system, samples))
        ratio = IDENTIFIED * loop / seconds
        rows += [
            Row(what, f"{seconds:.2f} s", "< 1.5 s", seconds < 1.5),
            Row(
                "... as a share of Pinocchio's regressor loop alone", f"{ratio:.1f}x", ">= 40x", ratio >= 40.0
            ),
            Row("... the reduction alone", f"{sums:.2f} s, {IDENTIFIED * loop / sums:.1f}x"),
        ]
    return rows


def command_rows(path: Path, rows: int) -> list[Row]:
    """The whole of `identify`, choices included."""
    found = in_a_process("from dynid.log import long; long.LONGEST_LOADED = 0" + IDENTIFY, path)
    more = found["peak"] - found["imported"]
    what = f"dynid identify from {rows // 10**6} million samples in Parquet, all choices included"
    return [
        Row(what, f"{found['wall']:.1f} s"),
        Row("... memory above importing", f"{more:.0f} MB", "< 300 MB", more < 300.0),
    ]


def published_row() -> Row:
    """FIGAROH cannot be installed beside everything else here, so this is no ratio and meets nothing."""
    robot, samples = dynid.load_robot("panda"), 100_000
    q, qd, qdd = motion(7, samples)
    efforts = robot.inverse_dynamics(q, qd, qdd)
    seconds = fastest(partial(identified, system_of(robot), samples_from_arrays(robot, q, qd, qdd, efforts)))
    return Row(
        f"{samples} samples, each an equation of every joint (FIGAROH elsewhere, not measured here: 18.6 s)",
        f"{seconds:.2f} s",
    )


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as directory:
        small, large = Path(directory) / "small.parquet", Path(directory) / "large.parquet"
        robot = dynid.load_robot("panda")
        write_log(robot, small, IDENTIFIED)
        write_log(robot, large, STREAMED)
        return [
            *streaming_rows(large),
            *identification_rows(small),
            *command_rows(small, IDENTIFIED),
            *command_rows(large, STREAMED),
            published_row(),
        ]
