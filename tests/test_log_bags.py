"""Bags: the message, the clock, the topic, other publishers, and recordings that end too early."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcap.writer import CompressionType
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import StoragePlugin

from dynid.log.joint_state import decode
from dynid.log.log import Log, LogError
from dynid.log.read import read_log, stream_log
from helpers_logs import (
    JOINT_STATE,
    TOPIC,
    TYPES,
    Recording,
    bag_of,
    joint_state,
    mcap_of,
    messages,
    recording,
    robot_of,
)

ROBOT = robot_of("a", "b")


def bag(tmp_path: Path, topics: dict[str, list[bytes]] | Sequence[bytes], **options: object) -> Path:
    topics = topics if isinstance(topics, dict) else {TOPIC: list(topics)}
    return mcap_of(tmp_path / "log.mcap", topics, **options)


# --- the message ------------------------------------------------------------------------------------------


doubles = st.floats(allow_nan=True, allow_infinity=True)
stamps = st.integers(-(2**31) * 10**9, 2**31 * 10**9 - 1).filter(bool)


@given(
    stamp_ns=stamps,
    names=st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), max_size=5),
    frame=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=9),
    little_endian=st.booleans(),
    data=st.data(),
)
def test_messages_are_read_as_rosbags_reads_them(
    stamp_ns: int, names: list[str], frame: str, little_endian: bool, data: st.DataObject
) -> None:
    channels = [
        np.array(
            data.draw(st.one_of(st.just([]), st.lists(doubles, min_size=len(names), max_size=len(names))))
        )
        for _ in range(3)
    ]
    written = joint_state(stamp_ns, names, *channels, frame=frame, little_endian=little_endian)
    read, expected = decode(written), TYPES.deserialize_cdr(written, JOINT_STATE)
    assert read.stamp_ns == expected.header.stamp.sec * 10**9 + expected.header.stamp.nanosec == stamp_ns
    assert list(read.names) == expected.name == names
    for quantity, values in zip(("position", "velocity", "effort"), channels, strict=True):
        np.testing.assert_array_equal(getattr(read, quantity), getattr(expected, quantity))
        np.testing.assert_array_equal(getattr(read, quantity), values)


@given(st.data())
def test_torn_messages_are_refused(data: st.DataObject) -> None:
    whole = joint_state(1, ["a", "bb", "ccc"], np.arange(3), np.arange(3), np.arange(3))
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(ValueError, match=r"ends too early|plain CDR"):
        decode(whole[:cut])


@given(st.binary(max_size=200))
def test_rubbish_is_no_message(content: bytes) -> None:
    """Lengths that promise more than there is must not be believed."""
    for head in (b"\0\1\0\0", b"\0\0\0\0"):
        with suppress(ValueError):
            decode(head + content)


def test_a_message_at_odds_with_itself(tmp_path: Path) -> None:
    good = joint_state(1, ["a", "b"], np.zeros(2))
    bad = joint_state(2, ["a", "b"], np.zeros(2), np.zeros(3))
    with pytest.raises(LogError, match=r"message 2 of /joint_states: 3 values of velocity for 2 names"):
        read_log(bag(tmp_path, [good, bad]), ROBOT)


def test_joints_named_twice(tmp_path: Path) -> None:
    sent = [joint_state(k, ["a", "b", "a"], np.zeros(3)) for k in (1, 2)]
    with pytest.raises(LogError, match=r"'a\.position' occurs 2 times"):
        read_log(bag(tmp_path, sent), ROBOT)


# --- the clock --------------------------------------------------------------------------------------------


def test_the_stamp_of_the_header_comes_before_the_time_of_logging(tmp_path: Path) -> None:
    sent = [joint_state(stamp, ["a", "b"], np.zeros(2)) for stamp in (50, 70, 60)]
    log = read_log(bag(tmp_path, sent, log_times=[1000, 2000, 3000]), ROBOT)
    assert log.stamp_ns.tolist() == [50, 70, 60]  # as recorded, backwards or not
    assert log.epoch_ns == 50
    assert "logging" not in " ".join(log.notes)


def test_the_time_of_logging_stands_in_for_stamps_not_set(tmp_path: Path) -> None:
    big = 1_700_000_000_123_456_789
    sent = [joint_state(stamp, ["a", "b"], np.zeros(2)) for stamp in (0, big, 0)]
    log = read_log(bag(tmp_path, sent, log_times=[big - 1, 5, big + 2]), ROBOT)
    assert log.stamp_ns.tolist() == [big - 1, big, big + 2]
    expected = "messages without a stamp of their own, the time of logging is used: 2 (first: message 1)"
    assert expected in log.notes


def test_times_no_clock_shows(tmp_path: Path) -> None:
    sent = [joint_state(0, ["a", "b"], np.zeros(2))] * 2
    with pytest.raises(LogError, match=r"message 1 of /joint_states: \d+ ns cannot be a time"):
        read_log(bag(tmp_path, sent, log_times=[2**63, 2**63 + 1]), ROBOT)


# --- topics and publishers --------------------------------------------------------------------------------


def test_the_only_topic_of_the_type_is_read(tmp_path: Path) -> None:
    what = recording("a", "b")
    log = read_log(bag(tmp_path, {"/left arm/états": messages(what)}), ROBOT)
    assert log.position.tolist() == what.position.tolist()
    assert log.provenance.options["topic"] == "/left arm/états"


def test_one_of_several_topics(tmp_path: Path) -> None:
    left, right = recording("a", "b", seed=1), recording("a", "b", seed=2)
    path = bag(tmp_path, {"/left": messages(left), "/right": messages(right)})
    for topic, what in (("/left", left), ("/right", right)):
        assert read_log(path, ROBOT, topic=topic).position.tolist() == what.position.tolist()
    with pytest.raises(LogError, match=r"several topics could be read \(/left, /right\); name one"):
        read_log(path, ROBOT)
    with pytest.raises(LogError, match=r"topic '/rigth' is unknown. Did you mean '/right'"):
        read_log(path, ROBOT, topic="/rigth")


def test_joint_states_is_the_usual_topic(tmp_path: Path) -> None:
    what, commands = recording("a", "b", seed=1), recording("a", "b", seed=2)
    log = read_log(bag(tmp_path, {"/commands": messages(commands), TOPIC: messages(what)}), ROBOT)
    assert log.position.tolist() == what.position.tolist()
    assert "topic /joint_states was read, though there is also /commands" in log.notes


def test_topics_of_other_types(tmp_path: Path) -> None:
    path = bag(tmp_path, messages(recording("a", "b")), kind="sensor_msgs/msg/Image")
    with pytest.raises(LogError, match=r"no topic of type sensor_msgs/msg/JointState; .*'/joint_states'"):
        read_log(path, ROBOT)
    with pytest.raises(LogError, match="has messages of type 'sensor_msgs/msg/Image'"):
        read_log(path, ROBOT, topic=TOPIC)


def test_messages_of_ros_1(tmp_path: Path) -> None:
    path = bag(tmp_path, messages(recording("a", "b")), encoding="ros1")
    with pytest.raises(LogError, match="is encoded as 'ros1'"):
        read_log(path, ROBOT)


def test_a_topic_without_messages(tmp_path: Path) -> None:
    path = bag_of(tmp_path / "bag", [], StoragePlugin.SQLITE3)
    with pytest.raises(LogError, match="no joint states on topic /joint_states"):
        read_log(path, ROBOT)


def test_messages_of_other_publishers_are_left_out_and_counted(tmp_path: Path) -> None:
    """A gripper on the same topic, an arm that changes its order, and an arm with a joint more."""
    what = recording("a", "b", samples=9)
    arm = messages(what)
    arm[4] = messages(what.shuffled([1, 0]))[4]
    arm[5] = joint_state(
        int(what.stamp_ns[5]),
        ["x", "b", "a"],
        *([0, *row[::-1]] for row in (what.position[5], what.velocity[5], what.effort[5])),
    )
    sent: list[bytes] = []
    for message in arm:
        sent += [joint_state(7, ["finger"], np.zeros(1)), message, joint_state(8, ["a"], np.zeros(1))]
    log = read_log(bag(tmp_path, sent), ROBOT)
    assert log.position.tolist() == what.position.tolist()
    assert log.effort is not None
    assert log.effort.tolist() == what.effort.tolist()
    assert log.stamp_ns.tolist() == what.stamp_ns.tolist()
    assert log.left_out == 0  # they are no rows of this robot's log
    assert "messages left out, they lack joints of the robot: 18 (first: message 1)" in log.notes


def test_drivers_without_velocity_or_effort(tmp_path: Path) -> None:
    sent = [joint_state(k, ["a", "b"], np.full(2, k)) for k in range(1, 5)]
    log = read_log(bag(tmp_path, sent), ROBOT)
    assert log.position[:, 0].tolist() == [1, 2, 3, 4]
    assert log.velocity is None
    assert log.effort is None
    assert "effort is missing in every sample: the log counts as one without" in log.notes


# --- recordings that end too early ------------------------------------------------------------------------


def saved(path: Path, what: Recording) -> Log:
    """The log of a damaged bag, which must be the beginning of `what`, bit for bit."""
    log = read_log(path, ROBOT)
    kept = len(log)
    assert log.position.tobytes() == what.position[:kept].tobytes()
    assert log.stamp_ns.tolist() == what.stamp_ns[:kept].tolist()
    parts = list(stream_log(path, ROBOT, chunk=64))
    assert sum(map(len, parts)) == kept
    assert parts[-1].notes[-1] == log.notes[-1]
    return log


CHUNKS = [
    {"use_chunking": False},
    {"compression": CompressionType.NONE},
    {"compression": CompressionType.LZ4},
    {"compression": CompressionType.ZSTD},
    {"compression": CompressionType.ZSTD, "chunk_size": 20_000},
]


@pytest.mark.parametrize("options", CHUNKS, ids=lambda options: " ".join(map(str, options.values())))
@pytest.mark.parametrize("share", [0.3, 0.5, 0.95])
def test_a_bag_cut_anywhere_is_saved_as_far_as_it_goes(
    options: dict[str, object], share: float, tmp_path: Path
) -> None:
    """Also when all of it is one chunk, which the cut leaves unfinished."""
    what = recording("a", "b", samples=5000)
    path = bag(tmp_path, messages(what), **options)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    log = saved(path, what)
    assert len(log) > (share - 0.15) * len(what)  # what is less was in a block that cannot be unpacked
    assert f"log.mcap is incomplete, {len(log)} messages were saved: the file ends in byte " in log.notes[-1]
    assert "all that came after is lost" in log.notes[-1]


@pytest.mark.parametrize("options", CHUNKS, ids=lambda options: " ".join(map(str, options.values())))
def test_every_single_cut(options: dict[str, object], tmp_path: Path) -> None:
    """Wherever the file ends, there is a beginning of the log or an error of ours, never a wrong sample."""
    what = recording("a", "b", samples=12)
    path = bag(tmp_path, messages(what), **options)
    content = path.read_bytes()
    kept: set[int] = set()
    for end in range(0, len(content), 7):
        path.write_bytes(content[:end])
        try:
            log = read_log(path, ROBOT)
        except LogError:
            continue
        kept.add(len(log))
        assert log.effort is not None
        assert log.effort.tobytes() == what.effort[: len(log)].tobytes()
        assert len(log) == len(what) or "incomplete" in log.notes[-1]
    assert max(kept) == len(what)
    assert min(kept) >= 2


def test_a_file_that_lacks_only_its_summary(tmp_path: Path) -> None:
    """All messages are there; still the end is missing, and nobody knows what else was."""
    what = recording("a", "b", samples=100)
    path = bag(tmp_path, messages(what), compression=CompressionType.NONE, use_statistics=False)
    content = path.read_bytes()
    path.write_bytes(content[: content.rindex(struct.pack("<BQ", 0x0F, 4))])
    log = saved(path, what)
    assert len(log) == 100
    assert "100 messages were saved: the file ends in byte" in log.notes[-1]


def test_a_damaged_chunk_ends_the_log(tmp_path: Path) -> None:
    what = recording("a", "b", samples=1000)
    path = bag(tmp_path, messages(what), compression=CompressionType.NONE, chunk_size=20_000)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x10
    path.write_bytes(content)
    log = saved(path, what)
    assert 300 < len(log) < 600
    assert "is damaged (checksum)" in log.notes[-1]


@pytest.mark.parametrize("share", [0.4, 0.7, 0.95])
def test_a_sqlite_bag_cut_short(share: float, tmp_path: Path) -> None:
    what = recording("a", "b", samples=3000)
    folder = bag_of(tmp_path / "bag", messages(what), StoragePlugin.SQLITE3)
    (file,) = folder.glob("*.db3")
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    log = saved(folder, what)
    assert len(log) > (share - 0.15) * len(what)
    assert f"{file.name} is incomplete, {len(log)} messages were saved" in log.notes[-1]


def test_a_sqlite_bag_still_being_written(tmp_path: Path) -> None:
    """What is in the journal beside the file counts."""
    what = recording("a", "b", samples=300)
    folder = bag_of(tmp_path / "bag", messages(what)[:200], StoragePlugin.SQLITE3)
    (file,) = folder.glob("*.db3")
    (folder / "metadata.yaml").unlink()
    with closing(sqlite3.connect(file)) as recorder:
        recorder.execute("PRAGMA journal_mode=WAL")
        recorder.executemany(
            "INSERT INTO messages (topic_id, timestamp, data) VALUES (1, ?, ?)",
            enumerate(messages(what)[200:]),
        )
        recorder.commit()
        assert len(saved_without_notes(folder)) == 300


def saved_without_notes(path: Path) -> Log:
    log = read_log(path, ROBOT)
    assert log.notes == ()
    return log


# --- directories ------------------------------------------------------------------------------------------


def test_files_of_a_split_bag_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    what = recording("a", "b", samples=120)
    folder = tmp_path / "bag"
    folder.mkdir()
    sent = messages(what)
    for part in range(12):
        mcap_of(folder / f"bag_{part}.mcap", {TOPIC: sent[10 * part : 10 * part + 10]})
    log = saved_without_notes(folder)
    assert log.stamp_ns.tolist() == what.stamp_ns.tolist()


def test_one_file_of_a_split_bag_cut_short(tmp_path: Path) -> None:
    what = recording("a", "b", samples=120)
    folder = tmp_path / "bag"
    folder.mkdir()
    for part in range(3):
        sent = messages(what)[40 * part : 40 * part + 40]
        mcap_of(folder / f"bag_{part}.mcap", {TOPIC: sent}, use_chunking=False)
    middle = folder / "bag_1.mcap"
    middle.write_bytes(middle.read_bytes()[:4000])
    log = read_log(folder, ROBOT)
    lost = len(what) - len(log)
    assert 0 < lost < 40
    assert log.stamp_ns.tolist() == np.delete(what.stamp_ns, range(80 - lost, 80)).tolist()
    assert f"bag_1.mcap is incomplete, {40 - lost} messages were saved" in log.notes[-1]


@pytest.mark.parametrize("storage", list(StoragePlugin))
def test_rosbags_reads_the_same(storage: StoragePlugin, tmp_path: Path) -> None:
    what = recording("a", "b")
    path = bag_of(tmp_path / "bag", messages(what), storage)
    with AnyReader([path]) as reader:
        expected = [reader.deserialize(data, c.msgtype) for c, _, data in reader.messages()]
    log = read_log(path, ROBOT)
    assert [message.position.tolist() for message in expected] == log.position.tolist()
    single = next(path.glob("*.mcap" if storage is StoragePlugin.MCAP else "*.db3"))
    assert read_log(single, ROBOT).position.tolist() == log.position.tolist()


def test_packed_bags_are_explained(tmp_path: Path) -> None:
    (tmp_path / "bag_0.db3.zstd").write_bytes(b"\x28\xb5\x2f\xfd")
    with pytest.raises(LogError, match="unpacked first: zstd -d"):
        read_log(tmp_path, ROBOT)


def test_reading_leaves_bags_alone(tmp_path: Path) -> None:
    path = bag_of(tmp_path / "bag", messages(recording("a", "b")), StoragePlugin.SQLITE3)
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    read_log(path, ROBOT)
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


def test_renamed_joints_in_messages(tmp_path: Path) -> None:
    what = recording("a", "b")
    renamed = replace(what, names=("robot/a", "robot/b"))
    path = bag(tmp_path, [joint_state(5, ["finger"], np.zeros(1)), *messages(renamed)])
    log = read_log(path, ROBOT, joints={"robot/a": "a", "robot/b": "b"})
    assert log.position.tolist() == what.position.tolist()
