"""Logs to files: read back by dynid's reader and, format by format, by one that is not ours."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from dynid import ArgumentError, load_robot, read_log
from dynid.log.log import Log, Provenance
from dynid.log.write import WRITERS, write_log

ROBOT = load_robot("planar2")
EPOCH = 1_700_000_000_123_456_789


def log(*, epoch: int = 0, count: int = 20, velocity: bool = True, extra: bool = False) -> Log:
    """Numbers with all their digits and steps of 10 ms less or more some nanoseconds."""
    rng = np.random.default_rng(1)
    position, speed, effort, spring = rng.normal(size=(4, count, 2)) / 3.0
    stamps = epoch + 10_000_000 * np.arange(count) + rng.integers(0, 1000, count)
    return Log(
        joint_names=ROBOT.joint_names,
        stamp_ns=stamps,
        epoch_ns=int(stamps[0]) if epoch else 0,
        position=position,
        velocity=speed if velocity else None,
        effort=effort,
        extra=MappingProxyType({"spring": spring} if extra else {}),
        provenance=Provenance("test", ""),
    )


@pytest.mark.parametrize("suffix", list(WRITERS))
@pytest.mark.parametrize("epoch", [0, EPOCH])
@pytest.mark.parametrize("velocity", [True, False])
def test_our_reader_reads_every_bit(tmp_path: Path, suffix: str, epoch: int, velocity: bool) -> None:
    written, path = log(epoch=epoch, velocity=velocity), tmp_path / f"log ä{suffix}"
    write_log(written, path)
    read = read_log(path, ROBOT)
    np.testing.assert_array_equal(read.stamp_ns, written.stamp_ns)
    np.testing.assert_array_equal(read.position, written.position)
    np.testing.assert_array_equal(read.effort, written.effort)
    assert (read.velocity is None) == (not velocity)
    if velocity:
        np.testing.assert_array_equal(read.velocity, written.velocity)


def test_csv_as_the_csv_module_reads_it(tmp_path: Path) -> None:
    written = log(extra=True)
    write_log(written, tmp_path / "log.csv")
    with (tmp_path / "log.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    first, second = ROBOT.joint_names
    quantities = ("position", "velocity", "effort", "extra.spring")
    assert header == ["time", *(f"{joint}.{what}" for what in quantities for joint in (first, second))]
    table = np.array(rows, dtype=float)
    np.testing.assert_array_equal(np.round(table[:, 0] * 1e9), written.stamp_ns)
    np.testing.assert_array_equal(table[:, 1:3], written.position)
    np.testing.assert_array_equal(table[:, 7:], written.extra["spring"])


def test_stamps_keep_their_nanoseconds_in_csv(tmp_path: Path) -> None:
    write_log(log(epoch=EPOCH), tmp_path / "log.csv")
    with (tmp_path / "log.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["stamp_ns"]) for row in rows] == log(epoch=EPOCH).stamp_ns.tolist()


def test_parquet_as_pyarrow_reads_it(tmp_path: Path) -> None:
    from pyarrow import parquet

    written = log(epoch=EPOCH)
    write_log(written, tmp_path / "log.parquet")
    table = parquet.read_table(tmp_path / "log.parquet")
    np.testing.assert_array_equal(table["stamp_ns"].to_numpy(), written.stamp_ns)
    for k, joint in enumerate(ROBOT.joint_names):
        np.testing.assert_array_equal(table[f"{joint}.effort"].to_numpy(), written.effort[:, k])


def test_mcap_as_rosbags_reads_it(tmp_path: Path) -> None:
    from mcap.reader import make_reader
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    written = log(epoch=EPOCH)
    write_log(written, tmp_path / "log.mcap")
    with (tmp_path / "log.mcap").open("rb") as file:
        messages = list(make_reader(file).iter_messages())
    schema = messages[0][0]
    assert (schema.name, schema.encoding) == ("sensor_msgs/msg/JointState", "ros2msg")
    described = get_types_from_msg(schema.data.decode(), schema.name)  # the file explains itself
    assert "sensor_msgs/msg/JointState" in described
    types = get_typestore(Stores.ROS2_JAZZY)
    states = [types.deserialize_cdr(message.data, schema.name) for _, _, message in messages]
    assert all(channel.topic == "/joint_states" for _, channel, _ in messages)
    assert states[0].name == list(ROBOT.joint_names)
    stamps = [state.header.stamp.sec * 10**9 + state.header.stamp.nanosec for state in states]
    assert stamps == written.stamp_ns.tolist() == [message.log_time for _, _, message in messages]
    np.testing.assert_array_equal([state.position for state in states], written.position)
    np.testing.assert_array_equal([state.effort for state in states], written.effort)


@pytest.mark.parametrize("suffix", list(WRITERS))
def test_the_same_log_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    paths = [tmp_path / f"{k}{suffix}" for k in range(2)]
    for path in paths:
        write_log(log(), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("suffix", list(WRITERS))
def test_nothing_is_overwritten_without_force(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"log{suffix}"
    path.write_text("mine")
    with pytest.raises(ArgumentError, match="--force"):
        write_log(log(), path)
    assert path.read_text() == "mine"
    write_log(log(), path, force=True)
    assert len(read_log(path, ROBOT)) == 20


def failing(when: Callable[[], Log], path: Path) -> str:
    with pytest.raises(ArgumentError) as caught:
        write_log(when(), path)
    return str(caught.value)


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "log.mcap"
    assert "no place for extra columns" in failing(lambda: log(extra=True), path)
    assert "before zero" in failing(lambda: replace(log(), stamp_ns=log().stamp_ns - 10**9), path)
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    assert "cannot be written" in failing(log, tmp_path / "no such directory" / "log.csv")
    (tmp_path / "directory.csv").mkdir()
    assert "is a directory" in failing(log, tmp_path / "directory.csv")
    assert "'.csv'" in failing(log, tmp_path / "log.txt")
