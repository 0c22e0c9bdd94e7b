"""What holds for logs of every format: they come back bit for bit, and what is wrong with them is said."""

from __future__ import annotations

import hashlib
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dynid
from dynid.log.log import Log, LogError
from dynid.log.read import read_log, stream_log
from helpers_logs import BAGS, TABLES, WRITERS, Recording, Write, recording, robot_of, write_csv

ROBOT = robot_of("a", "b", "c")
NOISE = np.random.default_rng(0).bytes(3000)
RUBBISH = [b"", b"\0" * 64, "1,2\n".encode("utf-16"), NOISE, b"PK\3\4", b"SQLite format 3\0", b"PAR1PAR1"]


@pytest.fixture(params=WRITERS, ids=str)
def write(request: pytest.FixtureRequest) -> Write:
    return WRITERS[request.param]


def same_bits(read: np.ndarray | None, written: np.ndarray) -> bool:
    return read is not None and read.dtype == written.dtype and read.tobytes() == written.tobytes()


def assert_is(log: Log, what: Recording) -> None:
    assert log.joint_names == what.names
    assert same_bits(log.stamp_ns, what.stamp_ns)
    assert same_bits(log.position, what.position)
    assert same_bits(log.velocity, what.velocity)
    assert same_bits(log.effort, what.effort)


def changed(what: Recording, quantity: str, *cells: tuple[int, int], to: float) -> Recording:
    values = getattr(what, quantity).copy()
    for cell in cells:
        values[cell] = to
    return replace(what, **{quantity: values})


# --- what goes in comes out -------------------------------------------------------------------------


def test_every_format_comes_back_bit_for_bit(write: Write, tmp_path: Path) -> None:
    what = recording("a", "b", "c")
    log = read_log(write(what, tmp_path), ROBOT)
    assert_is(log, what)
    assert log.notes == ()
    assert log.left_out == 0
    assert log.epoch_ns == what.stamp_ns[0]
    np.testing.assert_allclose(log.time, (what.stamp_ns - what.stamp_ns[0]) * 1e-9, rtol=1e-15)


def test_joints_are_found_by_name_whatever_their_order(write: Write, tmp_path: Path) -> None:
    what = recording("a", "b", "c")
    assert_is(read_log(write(what.shuffled([2, 0, 1]), tmp_path), ROBOT), what)


def test_joints_can_be_renamed_even_crosswise(write: Write, tmp_path: Path) -> None:
    what = recording("a", "b", "c")
    path = write(replace(what, names=("b", "a", "tilt/joint.3")), tmp_path)
    log = read_log(path, ROBOT, joints={"a": "b", "b": "a", "tilt/joint.3": "c"})
    assert_is(log, what)
    assert log.provenance.options["joints"] == "a=b,b=a,tilt/joint.3=c"


def test_joints_the_robot_lacks_are_noted(write: Write, tmp_path: Path) -> None:
    what = recording("a", "b", "c")
    log = read_log(write(what.shuffled([1, 2, 0]), tmp_path), robot_of("c", "a"))
    assert log.joint_names == ("c", "a")
    assert same_bits(log.position, what.position[:, [2, 0]])
    assert [note for note in log.notes if "'b'" in note]


def test_missing_joints_are_an_error_with_both_sets(write: Write, tmp_path: Path) -> None:
    path = write(recording("a", "x", "y"), tmp_path)
    with pytest.raises(LogError) as caught:
        read_log(path, ROBOT)
    message = str(caught.value)
    assert message.startswith(f"{path}: no position of 'b', 'c'")
    assert "Joints of the log: 'a', 'x', 'y'" in message
    assert "joints of the robot: 'a', 'b', 'c'" in message


def test_no_common_joint_is_an_error(write: Write, tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"no position of 'a', 'b', 'c'.*Joints of the log: 'x', 'y'"):
        read_log(write(recording("x", "y"), tmp_path), ROBOT)


@pytest.mark.parametrize("chunk", [1, 7, 50, 1000])
def test_a_stream_is_the_whole_log_in_pieces(write: Write, tmp_path: Path, chunk: int) -> None:
    what = recording("a", "b", "c")
    path = write(what.shuffled([1, 0, 2]), tmp_path)
    logs = list(stream_log(path, ROBOT, chunk=chunk))
    whole = read_log(path, ROBOT)
    assert all(len(log) <= chunk for log in logs)
    assert len(logs) >= len(what) / chunk
    assert {log.epoch_ns for log in logs} == {whole.epoch_ns}
    assert {log.provenance.sha256 for log in logs} == {whole.provenance.sha256}
    for name in ("stamp_ns", "position", "velocity", "effort"):
        assert same_bits(np.concatenate([getattr(log, name) for log in logs]), getattr(whole, name))


def test_arrays_cannot_be_changed(write: Write, tmp_path: Path) -> None:
    log = read_log(write(recording("a", "b", "c"), tmp_path), ROBOT)
    for array in (log.stamp_ns, log.position, log.velocity, log.effort):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("format", TABLES)
def test_extra_columns(format: str, tmp_path: Path) -> None:
    what = recording("a", "b", "c")
    springs = {"spring": what.position[:, ::-1].copy(), "sag.of.cable": np.cos(what.position)}
    log = read_log(TABLES[format](replace(what, extra=springs), tmp_path), ROBOT)
    assert set(log.extra) == set(springs)
    for name, values in springs.items():
        assert same_bits(log.extra[name], values)


def test_extra_columns_of_some_joints_are_zero_on_the_others(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("time,a.position,b.position,b.extra.spring\n0,1,2,3\n1,4,5,6\n")
    log = read_log(path, robot_of("a", "b"))
    assert log.extra["spring"].tolist() == [[0, 3], [0, 6]]
    assert log.velocity is None
    assert log.effort is None


def test_paths_with_blanks_and_other_scripts(write: Write, tmp_path: Path) -> None:
    folder = tmp_path / "Märzlauf 3 % #1? 測定"
    folder.mkdir()
    what = recording("a", "b", "c")
    path = write(what, folder)
    log = read_log(str(path), ROBOT)
    assert_is(log, what)
    assert log.provenance.source == str(path)
    assert "Märzlauf" in str(log.provenance.source)


def test_names_of_other_scripts(write: Write, tmp_path: Path) -> None:
    what = recording("épaule", "関節 2", "c")
    assert_is(read_log(write(what, tmp_path), robot_of(*what.names)), what)


def test_provenance_holds_the_hash_and_the_choices(tmp_path: Path) -> None:
    path = write_csv(recording("a", "b", "c"), tmp_path)
    log = read_log(path, ROBOT, effort="current", gain=[10.0, 0.1, -3], sign=[1, 1, -1], degrees=True)
    assert log.provenance.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert dict(log.provenance.options) == {
        "effort": "current",
        "gain": "10,0.1,-3",
        "sign": "1,1,-1",
        "positions": "joint",
        "angles": "degrees",
    }


def test_public_names() -> None:
    assert dynid.read_log is read_log
    assert dynid.Log is Log
    assert issubclass(dynid.LogError, dynid.DynidError)


# --- values that are missing --------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_rows_without_a_position_are_left_out_and_counted(write: Write, tmp_path: Path, bad: float) -> None:
    what = recording("a", "b", "c")
    log = read_log(write(changed(what, "position", (3, 1), (7, 0), (7, 2), to=bad), tmp_path), ROBOT)
    keep = np.delete(np.arange(len(what)), [3, 7])
    assert same_bits(log.position, what.position[keep])
    assert same_bits(log.effort, what.effort[keep])
    assert same_bits(log.stamp_ns, what.stamp_ns[keep])
    assert log.left_out == 2
    (note,) = log.notes
    assert note.startswith("rows left out, time or position not finite: 2 (first: ")
    assert "4, column 'b.position'" in note or "5, column 'b.position'" in note  # line 1 is the header


def test_missing_efforts_stay_as_nan_and_are_counted(write: Write, tmp_path: Path) -> None:
    what = recording("a", "b", "c")
    log = read_log(write(changed(what, "effort", (3, 1), (7, 1), to=np.nan), tmp_path), ROBOT)
    assert log.effort is not None
    assert np.argwhere(np.isnan(log.effort)).tolist() == [[3, 1], [7, 1]]
    (note,) = log.notes
    assert note.startswith("effort not finite in column 'b.effort': 2 (first: ")
    assert log.left_out == 0


def test_infinite_efforts_count_as_missing(write: Write, tmp_path: Path) -> None:
    what = recording("a", "b", "c")
    log = read_log(write(changed(what, "effort", (3, 1), to=-np.inf), tmp_path), ROBOT)
    assert log.effort is not None
    assert np.isnan(log.effort[3, 1])


def test_efforts_that_are_always_missing_count_as_none(write: Write, tmp_path: Path) -> None:
    what = recording("a", "b", "c")
    log = read_log(write(replace(what, effort=np.full_like(what.effort, np.nan)), tmp_path), ROBOT)
    assert log.effort is None
    assert same_bits(log.velocity, what.velocity)
    assert "effort is missing in every sample: the log counts as one without" in log.notes


def test_most_rows_unusable_is_an_error(write: Write, tmp_path: Path) -> None:
    what = recording("a", "b", "c")
    half = [(k, 0) for k in range(25)]
    assert len(read_log(write(changed(what, "position", *half, to=np.nan), tmp_path), ROBOT)) == 25
    more = tmp_path / "more"
    more.mkdir()
    path = write(changed(what, "position", *half, (25, 0), to=np.nan), more)
    with pytest.raises(LogError, match=r"26 of 50 rows cannot be used \(.*a\.position"):
        read_log(path, ROBOT)
    with pytest.raises(LogError, match="26 of 50 rows"):
        list(stream_log(path, ROBOT, chunk=5))
    none = tmp_path / "none"
    none.mkdir()
    path = write(replace(what, position=np.full_like(what.position, np.nan)), none)
    with pytest.raises(LogError, match=r"50 of 50 rows cannot be used \(.*a\.position"):
        read_log(path, ROBOT)


@pytest.mark.parametrize("quantity", ["position", "velocity", "effort"])
def test_garbage_is_an_error_with_its_place(write: Write, tmp_path: Path, quantity: str) -> None:
    path = write(changed(recording("a", "b", "c"), quantity, (12, 2), to=-6.9e293), tmp_path)
    with pytest.raises(LogError) as caught:
        read_log(path, ROBOT)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert f"column 'c.{quantity}': -6.9e+293 cannot be a measured {quantity}" in message
    assert "line 14" in message or "row 13" in message or "message 13" in message


def test_notes_of_pieces_add_up_to_those_of_the_whole(write: Write, tmp_path: Path) -> None:
    what = recording("a", "b", "c")
    path = write(changed(what, "position", *((k, 0) for k in range(0, 50, 3)), to=np.nan), tmp_path)
    logs = list(stream_log(path, ROBOT, chunk=4))
    assert sum(log.left_out for log in logs) == read_log(path, ROBOT).left_out == 17
    assert all(len(log) for log in logs)


@pytest.mark.parametrize("samples", [1, 2])
def test_one_sample_is_not_a_log(write: Write, tmp_path: Path, samples: int) -> None:
    path = write(recording("a", "b", "c", samples=samples), tmp_path)
    if samples == 2:
        assert len(read_log(path, ROBOT)) == 2
    else:
        with pytest.raises(LogError, match="1 sample: a log needs at least two"):
            read_log(path, ROBOT)


@pytest.mark.parametrize("format", ["parquet", "npz"])
def test_no_samples(format: str, tmp_path: Path) -> None:
    with pytest.raises(LogError, match="no samples: a log needs at least two"):
        read_log(TABLES[format](recording("a", "b", "c", samples=0), tmp_path), ROBOT)


# --- files that are not logs ----------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz", ".mcap", ".db3"])
@pytest.mark.parametrize("content", RUBBISH)
def test_files_of_rubbish(suffix: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"log{suffix}"
    path.write_bytes(content)
    with pytest.raises(LogError) as caught:
        read_log(path, ROBOT)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("format", ["parquet", "npz"])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.9, 0.999])
def test_truncated_tables(format: str, share: float, tmp_path: Path) -> None:
    path = TABLES[format](recording("a", "b", "c", samples=2000), tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(LogError, match="not a whole") as caught:
        read_log(path, ROBOT)
    assert str(caught.value).startswith(f"{path}: ")


def test_damage_is_never_anything_but_an_error_of_ours(write: Write, tmp_path: Path) -> None:
    """Whatever bytes are hit, no other exception gets out; most hits are seen by a checksum or a parser."""
    path = write(recording("a", "b", "c", samples=60), tmp_path)
    file = path if path.is_file() else next(file for file in path.iterdir() if file.suffix != ".yaml")
    content = file.read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(60):
        hit = bytearray(content)
        for place in rng.integers(len(hit), size=3):
            hit[place] = rng.integers(256)
        file.write_bytes(hit)
        with suppress(dynid.DynidError):
            read_log(path, ROBOT)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="there is no such file"):
        read_log(tmp_path / "none.csv", ROBOT)


def test_unknown_kind_of_file(tmp_path: Path) -> None:
    path = tmp_path / "log.xlsx"
    path.write_bytes(b"PK")
    with pytest.raises(LogError, match=r"\.csv.*\.parquet.*\.npz.*\.mcap"):
        read_log(path, ROBOT)


def test_directory_without_a_bag(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"directory without \.mcap or \.db3"):
        read_log(tmp_path, ROBOT)


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        ({"a": "z"}, "joints: robot joint 'z' is unknown"),
        ({"z": "a"}, "the mapped joint 'z' is unknown"),
        ({"a": "c", "b": "c"}, "'a' and 'b' are both mapped to 'c'"),
        ({"a": "b"}, "'a' is mapped to 'b', but the log has a joint 'b' too"),
    ],
)
def test_mappings_that_make_no_sense(
    joints: dict[str, str], message: str, write: Write, tmp_path: Path
) -> None:
    with pytest.raises(dynid.DynidError, match=message):
        read_log(write(recording("a", "b", "c"), tmp_path), ROBOT, joints=joints)


@pytest.mark.parametrize("format", ["parquet", "npz", "mcap"])
def test_names_of_columns_are_for_text(format: str, tmp_path: Path) -> None:
    with pytest.raises(dynid.ArgumentError, match="columns can be named for text files only"):
        read_log(WRITERS[format](recording("a"), tmp_path), robot_of("a"), columns=["time", "a.position"])


@pytest.mark.parametrize("format", TABLES)
def test_topics_are_for_bags(format: str, tmp_path: Path) -> None:
    with pytest.raises(dynid.ArgumentError, match="only bags have topics"):
        read_log(TABLES[format](recording("a"), tmp_path), robot_of("a"), topic="/joint_states")


@pytest.mark.parametrize(
    ("format", "package", "extra"), [("parquet", "pyarrow", "tables"), ("mcap", "mcap", "bags")]
)
def test_formats_whose_packages_are_missing(
    format: str, package: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = WRITERS[format](recording("a"), tmp_path)
    for module in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "dynid.log.mcap_file", raising=False)
    monkeypatch.delattr("dynid.log.mcap_file", raising=False)
    with pytest.raises(dynid.MissingExtraError, match=rf"'{package}'.*dynid\[{extra}\]"):
        read_log(path, robot_of("a"))


def test_every_format_is_tested() -> None:
    assert len(TABLES) + len(BAGS) == len(WRITERS) == 8
