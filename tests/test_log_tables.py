"""Parquet and NPZ: types, orders and shapes that people store, and memory that does not grow with the log."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dynid.formats.load import load_robot
from dynid.log.log import Log, LogError
from dynid.log.read import read_log, stream_log
from helpers_logs import recording, robot_of, write_npz

ROBOT = robot_of("a", "b")
DATA = Path(os.environ.get("DYNID_DATA", "../shared/data"))


def parquet(tmp_path: Path, **changes: Any) -> Log:
    columns = {
        "time": np.array([0.0, 0.001, 0.002]),
        "a.position": np.array([1.0, 2.0, 3.0]),
        "b.position": np.array([4.0, 5.0, 6.0]),
    }
    columns = {name: column for name, column in (columns | changes).items() if column is not None}
    pq.write_table(pa.table(columns), tmp_path / "log.parquet")
    return read_log(tmp_path / "log.parquet", ROBOT)


def npz(tmp_path: Path, **changes: Any) -> Log:
    arrays: dict[str, Any] = {
        "time": np.array([0.0, 0.001, 0.002]),
        "position": np.array([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]),
    }
    arrays = {name: array for name, array in (arrays | changes).items() if array is not None}
    np.savez(tmp_path / "log.npz", **arrays)
    return read_log(tmp_path / "log.npz", ROBOT)


# --- Parquet --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["float64", "float32", "float16", "int8", "uint64", "int32"])
def test_parquet_numbers_of_any_type(kind: str, tmp_path: Path) -> None:
    log = parquet(tmp_path, **{"a.position": np.array([1, 2, 3], dtype=kind)})
    assert log.position.dtype == np.float64
    assert log.position.tolist() == [[1, 4], [2, 5], [3, 6]]


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("a.position", ["1", "2", "3"], "column 'a.position' holds string; numbers were expected"),
        ("a.position", [True, False, True], "column 'a.position' holds bool"),
        ("a.position", [[1.0], [2.0], [3.0]], "column 'a.position' holds list"),
        ("stamp_ns", [1.0, 2.0, 3.0], "column 'stamp_ns' holds double; stamps are int64 nanoseconds"),
    ],
)
def test_parquet_columns_that_are_no_numbers(
    column: str, values: list[Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(LogError, match=message):
        parquet(tmp_path, **{column: values})


def test_parquet_columns_nobody_needs_may_hold_anything(tmp_path: Path) -> None:
    log = parquet(tmp_path, mode=["x", "y", "z"])
    assert "columns not used: 'mode'" in log.notes


def test_parquet_nulls_are_missing_values(tmp_path: Path) -> None:
    log = parquet(tmp_path, **{"a.position": [1.0, None, 3.0], "b.effort": [None, 2.0, 7.0]})
    assert log.position.tolist() == [[1, 4], [3, 6]]
    assert log.left_out == 1
    log = parquet(tmp_path, time=None, stamp_ns=[10, None, 2**62 + 1])
    assert log.stamp_ns.tolist() == [10, 2**62 + 1]
    assert any("first: row 2, column 'stamp_ns'" in note for note in log.notes)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Paris"])
def test_parquet_dates_are_stamps(unit: str, zone: str | None, tmp_path: Path) -> None:
    stamps = np.array([1_700_000_000, 1_700_000_001, 1_700_000_003]).astype(f"datetime64[{'s'}]")
    log = parquet(
        tmp_path, time=pa.array(stamps.astype(f"datetime64[{unit}]")).cast(pa.timestamp(unit, zone))
    )
    assert log.stamp_ns.tolist() == [1_700_000_000 * 10**9, 1_700_000_001 * 10**9, 1_700_000_003 * 10**9]
    assert log.time.tolist() == [0, 1, 3]


def test_parquet_names_that_are_beginnings_of_others(tmp_path: Path) -> None:
    """A column asked for by name must not bring others along."""
    log = parquet(tmp_path, **{"a.position.x": ["no", "number", "here"], "a": [7, 7, 7]})
    assert log.position.tolist() == [[1, 4], [2, 5], [3, 6]]


def test_parquet_duplicate_columns(tmp_path: Path) -> None:
    column = pa.array([1.0, 2.0])
    names = ["time", "a.position", "b.position", "a.position"]
    pq.write_table(pa.Table.from_arrays([column] * 4, names=names), tmp_path / "log.parquet")
    with pytest.raises(LogError, match=r"'a.position' occurs 2 times \(columns 2, 4\)"):
        read_log(tmp_path / "log.parquet", ROBOT)


def test_coarse_clocks_are_noted(tmp_path: Path) -> None:
    fine = parquet(tmp_path, time=np.array([8.0, 8.001, 8.002]))
    coarse = parquet(tmp_path, time=np.array([8.0, 8.001, 8.002], dtype=np.float32))
    assert not [note for note in fine.notes if "coarser" in note]
    assert [note for note in coarse.notes if note.startswith("times stored as float32 seconds are coarser")]


# --- NPZ ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", ">i2", "u1"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npz_numbers_of_any_type_and_order(kind: str, order: Any, tmp_path: Path) -> None:
    position = np.array([[1, 4], [2, 5], [3, 6]], dtype=kind, order=order)
    log = npz(tmp_path, position=position)
    assert log.position.dtype == np.float64
    assert log.position.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert log.notes[0] == "no joint_names: columns are the robot's joints in order"


def test_npz_stored_by_columns_streams_the_same(tmp_path: Path) -> None:
    what = recording("a", "b", samples=100)
    np.savez(tmp_path / "log.npz", stamp_ns=what.stamp_ns, position=np.asfortranarray(what.position))
    parts = list(stream_log(tmp_path / "log.npz", ROBOT, chunk=7))
    assert np.concatenate([part.position for part in parts]).tobytes() == what.position.tobytes()


class Trap:
    """Unpickling it leaves a file behind."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("name", ["position", "effort", "joint_names", "other"])
def test_npz_never_unpickles(name: str, tmp_path: Path) -> None:
    trap = np.array([[Trap(tmp_path / "sprung")] * 2] * 3, dtype=object)
    if name == "other":
        assert "columns not used: 'other'" in npz(tmp_path, **{name: trap}).notes
    else:
        with pytest.raises(LogError, match=r"[oO]bject"):
            npz(tmp_path, **{name: trap})
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"time": None}, "no column 'time' .* or 'stamp_ns'"),
        ({"position": None}, "no position of 'a', 'b'"),
        ({"position": np.zeros((3, 3))}, r"position has 3 columns for 2 joints \(a, b\)"),
        ({"joint_names": np.array(["a", "b", "c"])}, r"position has 2 columns for 3 joints \(a, b, c\)"),
        ({"joint_names": np.array(["a", "z"])}, "no position of 'b'"),
        ({"velocity": np.zeros((2, 2))}, r"velocity has shape \(2, 2\), time has shape \(3,\)"),
        ({"position": np.zeros((3, 2, 1))}, r"position has shape \(3, 2, 1\)"),
        ({"time": np.zeros((3, 1))}, r"time has shape \(3, 1\)"),
        ({"time": np.array(1.0)}, r"time has shape \(\)"),
        ({"position": np.array([["1", "2"]] * 3)}, "position holds <U1; numbers were expected"),
        ({"effort": np.ones((3, 2), dtype=complex)}, "effort holds complex128"),
        ({"stamp_ns": np.array([1.0, 2.0, 3.0])}, "stamp_ns holds float64; int64 nanoseconds"),
        ({"position": np.array([[1, 2], [3, 1e293], [5, 6]])}, r"row 2, column 'b.position': 1e\+293"),
        ({"time": np.array([0.0, np.nan, np.nan])}, r"2 of 3 rows .*first: row 2, column 'time'"),
    ],
)
def test_npz_errors_name_the_array(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(LogError, match=message) as caught:
        npz(tmp_path, **changes)
    assert str(caught.value).startswith(str(tmp_path / "log.npz"))


def test_npz_headers_that_lie(tmp_path: Path) -> None:
    """An array that is not as long as its header says is an error; nobody trusts its size beforehand."""
    np.savez(tmp_path / "log.npz", time=np.arange(3.0), position=np.zeros((3, 2)))
    with zipfile.ZipFile(tmp_path / "log.npz") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for old, new in ((b"(3,", b"(9,"), (b"(3,", b"(1,")):
        with zipfile.ZipFile(tmp_path / "bad.npz", "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content.replace(old, new))
        with pytest.raises(LogError, match="not a whole NPZ archive"):
            read_log(tmp_path / "bad.npz", ROBOT)
    with zipfile.ZipFile(tmp_path / "bad.npz", "w") as archive:
        for name, content in members.items():
            huge = content.replace(b"(3,", b"(4000000000000,").replace(b" " * 12, b"", 1)
            archive.writestr(name, huge)
    with pytest.raises(LogError, match="not a whole NPZ archive"):
        read_log(tmp_path / "bad.npz", ROBOT)


def test_npz_with_an_array_twice(tmp_path: Path) -> None:
    write_npz(recording("a", "b"), tmp_path)
    with zipfile.ZipFile(tmp_path / "log.npz", "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("position.npy", archive.read("position.npy"))
    with pytest.raises(LogError, match="array 'position' occurs 2 times"):
        read_log(tmp_path / "log.npz", ROBOT)


def test_npz_of_one_joint_may_be_flat(tmp_path: Path) -> None:
    np.savez(tmp_path / "log.npz", time=np.arange(3.0), position=np.array([5.0, 6.0, 7.0]))
    assert read_log(tmp_path / "log.npz", robot_of("a")).position.tolist() == [[5], [6], [7]]


# --- memory ---------------------------------------------------------------------------------------------

STREAM = """
import resource, sys
from dynid.log.read import stream_log
from helpers_logs import robot_of
logs = stream_log(sys.argv[1], robot_of("a", "b"))
first = len(next(logs))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
count = first + sum(len(log) for log in logs)
print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux reports it")
@pytest.mark.parametrize("format", ["parquet, one row group", "parquet", "npz", "csv"])
def test_streaming_needs_no_more_memory_than_its_first_piece(format: str, tmp_path: Path) -> None:
    samples = 1_000_000 if format != "csv" else 300_000
    rng = np.random.default_rng(0)
    channels = {f"{joint}.{of}": rng.random(samples) for of in ("position", "velocity") for joint in "ab"}
    columns = {"time": np.arange(samples) * 1e-3, **channels}
    path = tmp_path / f"log.{format[:7].strip()}"
    if format == "npz":
        stacked = np.column_stack(list(channels.values()))
        np.savez(path, time=columns["time"], position=stacked[:, :2], velocity=stacked[:, 2:])
    elif format == "csv":
        line = ",".join(f"{column[0]:.17f}" for column in columns.values())
        path.write_text("\n".join([",".join(columns), *[line] * samples]))
    else:
        pq.write_table(pa.table(columns), path, row_group_size=samples if "one" in format else 100_000)
    size = path.stat().st_size // 1024
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", STREAM, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    count, grown = map(int, done.stdout.split())
    assert count == samples
    assert size > 20_000  # KiB: enough to be seen if it were held
    assert grown < 8_000


# --- measurements of a real arm ---------------------------------------------------------------------------

PANDA = DATA / "panda"


@pytest.mark.skipif(not PANDA.exists(), reason=f"no recordings at {DATA} (set DYNID_DATA to their folder)")
def test_recording_of_an_arm_in_single_columns(tmp_path: Path) -> None:
    """One value per line becomes an archive with one line each, and that is read with the built-in robot."""

    def values(name: str) -> np.ndarray:
        return np.loadtxt(PANDA / f"exciting_traj_{name}.txt")

    arrays = {
        "position": values("positions").reshape(-1, 7),
        "velocity": values("velocity").reshape(-1, 7),
        "effort": values("torques").reshape(-1, 7),
    }
    np.savez(tmp_path / "panda.npz", time=values("time"), **arrays)
    log = read_log(tmp_path / "panda.npz", load_robot("panda"))
    assert log.position.tobytes() == arrays["position"].tobytes()
    assert log.velocity is not None
    assert log.velocity.tobytes() == arrays["velocity"].tobytes()
    assert log.effort is not None
    assert log.effort.tobytes() == arrays["effort"].tobytes()
    assert (np.all(np.diff(log.position, axis=0) == 0, axis=1)).sum() == 1255
    assert log.time.tobytes() == values("time").tobytes()
    assert (np.diff(log.time) > 1.5e-3).sum() == 504
    assert log.left_out == 0
