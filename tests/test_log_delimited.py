"""Logs as text: every way people write tables, and errors that name the line and the column."""

from __future__ import annotations

import csv
import os
import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynid.errors import ArgumentError
from dynid.formats.load import load_robot
from dynid.log import delimited
from dynid.log.log import Log, LogError
from dynid.log.read import read_log, stream_log
from helpers_logs import recording, robot_of, text_of

ROBOT = robot_of("a", "b")
HEADER = "time,a.position,b.position,a.effort"
ROWS = ["0.0,1.0,2.0,3.0", "0.1,1.1,2.1,3.1", "0.2,1.2,2.2,3.2"]
DATA = Path(os.environ.get("DYNID_DATA", "../shared/data"))


def read(tmp_path: Path, text: str | bytes, **options: Any) -> Log:
    path = tmp_path / "log.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_log(path, ROBOT, **options)


def lines(*rows: str, header: str = HEADER) -> str:
    return "\n".join((header, *rows)) + "\n"


def assert_rows(log: Log) -> None:
    """The log of `HEADER` and `ROWS`."""
    assert log.time.tolist() == [0.0, 0.1, 0.2]
    assert log.position.tolist() == [[1.0, 2.0], [1.1, 2.1], [1.2, 2.2]]
    assert log.effort is not None
    assert log.effort[:, 0].tolist() == [3.0, 3.1, 3.2]
    assert np.isnan(log.effort[:, 1]).all()
    assert log.velocity is None


# --- ways to write a table ------------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t", " ", "   ", ", ", " ;  "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("last", [True, False])
def test_delimiters_line_ends_and_marks(
    delimiter: str, end: str, mark: bytes, last: bool, tmp_path: Path
) -> None:
    text = end.join(line.replace(",", delimiter) for line in (HEADER, *ROWS)) + end * last
    assert_rows(read(tmp_path, mark + text.encode()))


@pytest.mark.parametrize(
    "text",
    [
        f"# a comment\n\n  # another, with commas\n{lines(*ROWS)}",
        lines(ROWS[0], "", "# in between", "   ", *ROWS[1:], "# at the end"),
        f"# time,a.position,b.position,a.effort\n{chr(10).join(ROWS)}",  # numpy.savetxt
        lines(*ROWS).replace("1.1", '"1.1"').replace("a.position", '"a.position"'),
        lines(*ROWS).replace(",", " , "),
        lines(*(f"{row},seven" for row in ROWS), header=f"{HEADER},mode"),
        lines(*(f"{k},{row}" for k, row in enumerate(ROWS)), header=f",{HEADER}"),  # pandas with an index
    ],
    ids=["comments first", "comments between", "savetxt", "quotes", "blanks", "text in others", "index"],
)
def test_tables_as_people_write_them(text: str, tmp_path: Path) -> None:
    assert_rows(read(tmp_path, text))


@pytest.mark.parametrize("delimiter", [";", "\t", " "])
def test_decimal_commas(delimiter: str, tmp_path: Path) -> None:
    header = HEADER.replace(",", delimiter)
    rows = [row.replace(",", delimiter).replace(".", ",") for row in ROWS]
    log = read(tmp_path, lines(*rows, header=header))
    assert_rows(log)
    assert "lines with decimal commas: 3 (first: line 2)" in log.notes
    if delimiter != " ":  # without a header, "0,1 2,3" could as well be three columns
        assert_rows(read(tmp_path, "\n".join(rows), columns=HEADER.split(",")))


def test_no_header(tmp_path: Path) -> None:
    columns = ["time", "-", "a.position", "", "b.position", "a.effort"]
    text = "".join(",".join([t, "9", a, "x", b, e]) + "\n" for t, a, b, e in (row.split(",") for row in ROWS))
    log = read(tmp_path, text, columns=columns)
    assert_rows(log)
    assert log.provenance.options["columns"] == "time,-,a.position,,b.position,a.effort"


def test_names_given_for_a_file_with_header(tmp_path: Path) -> None:
    log = read(tmp_path, lines(*ROWS, header="t,q1,q2,tau1"), columns=HEADER.split(","))
    assert_rows(log)
    assert "the header is not used: names of the columns were given" in log.notes


def test_columns_that_are_not_used_are_noted(tmp_path: Path) -> None:
    log = read(tmp_path, lines("0,1,2,3,4", "1,1,2,3,4", header=f"{HEADER},a.acceleration"))
    assert "columns not used: 'a.acceleration'" in log.notes
    assert "no effort of 'b'" in log.notes
    assert "the log has no velocity" in log.notes


def test_columns_without_a_name_are_noted(tmp_path: Path) -> None:
    log = read(tmp_path, "time,a.position,,b.position,\n0,1,,2,x\n1,1,7,2,\n")
    assert log.position.tolist() == [[1, 2], [1, 2]]
    assert "columns without a name, not used: 2" in log.notes


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_names_of_joints_may_hold_any_mark(tmp_path: Path, delimiter: str) -> None:
    robot, path = robot_of("a;b", "c,d", "e\tf"), tmp_path / "log.csv"
    with path.open("w", newline="") as file:
        table = csv.writer(file, delimiter=delimiter)
        table.writerow(["time", *(f"{name}.position" for name in robot.joint_names)])
        table.writerows([[0.0, 1.0, 2.0, 3.0], [0.1, 1.1, 2.1, 3.1]])
    assert read_log(path, robot).position.tolist() == [[1.0, 2.0, 3.0], [1.1, 2.1, 3.1]]


def test_stamps_win_over_seconds(tmp_path: Path) -> None:
    text = "time,stamp_ns,a.position,b.position\n0,1700000000123456789,1,2\n9,1700000000123456790,1,2\n"
    log = read(tmp_path, text)
    assert log.stamp_ns.tolist() == [1700000000123456789, 1700000000123456790]
    assert log.time.tolist() == [0.0, 1e-9]


def test_seconds_come_back_as_they_were(tmp_path: Path) -> None:
    """Times of up to nine decimals are the doubles nearest to whole nanoseconds, before and after."""
    rng = np.random.default_rng(0)
    times = [f"{t:.9f}" for t in np.sort(rng.uniform(0, 5000, 500))]
    log = read(tmp_path, lines(*(f"{t},1,2,3" for t in times)))
    assert log.time.tolist() == [float(t) for t in times]
    assert log.epoch_ns == 0
    assert not [note for note in log.notes if "coarse" in note]


def test_coarse_seconds_are_noted(tmp_path: Path) -> None:
    log = read(tmp_path, lines("1700000000.001,1,2,3", "1700000000.002,1,2,3"))
    assert "times stored as float64 seconds are coarser than 10 ns; a column 'stamp_ns' is exact" in log.notes


# --- the fast and the careful parser agree ---------------------------------------------------------------


cells = st.one_of(
    st.floats(-1e9, 1e9).map(repr),
    st.floats(-1e9, 1e9).map(lambda x: f"{x:.3e}"),
    st.integers(-(10**9), 10**9).map(str),
    st.sampled_from(
        ["+1", "-0.0", ".5", "5.", "1e-320", "007", "1E3", " 4 ", "nan", "NaN", "inf", "-Infinity"]
    ),
    st.sampled_from(
        ['"2.5"', "1_0", "0x1p3", "1d3", "", "one", "--", "1 2", "１", "1e", "1f", "nan(1)", "1j"]
    ),
)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=6))
def test_both_parsers_read_the_same(rows: list[tuple[str, str]]) -> None:
    text = delimited._Text(  # pyright: ignore[reportPrivateUsage]
        source="x.csv", delimiter=",", names=("time", "v"), start=0, lines_before=0
    )
    written = [f"{a},{b}\n".encode() for a, b in rows]
    fast = delimited._parsed(written, text, [0, 1])  # pyright: ignore[reportPrivateUsage]
    numbers = np.arange(1, len(rows) + 1)
    if fast is not None:
        slow = delimited._read_by_field(written, numbers, text, [0, 1])  # pyright: ignore[reportPrivateUsage]
        for name, column in fast.items():
            np.testing.assert_array_equal(column, slow[name])
    elif not any("" in (a, b) or '"' in a + b for a, b in rows):
        with pytest.raises(LogError, match="is not a number"):
            delimited._read_by_field(written, numbers, text, [0, 1])  # pyright: ignore[reportPrivateUsage]


@given(st.lists(st.floats(-1e12, 1e12), min_size=4, max_size=40), st.sampled_from([",", ";", "\t", " "]))
def test_what_python_writes_comes_back(values: list[float], delimiter: str) -> None:
    what = recording("a", samples=len(values))
    what = replace(what, position=np.array(values)[:, None])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "log.csv"
        path.write_text(text_of(what.columns(), delimiter))
        log = read_log(path, robot_of("a"))
    assert log.position[:, 0].tolist() == values
    assert log.stamp_ns.tolist() == what.stamp_ns.tolist()


# --- what is wrong, and where -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("\n\n# only this\n", "the file is empty, or holds nothing but comments"),
        (HEADER, "a header and no samples"),
        (f"{HEADER}\n# later\n\n", "a header and no samples"),
        (lines(ROWS[0]), "1 sample: a log needs at least two"),
        (lines(ROWS[0], "0.1,1.1,2.1"), "line 3 has 3 columns, 4 were expected"),
        (lines(ROWS[0], "", "# x", "0.1,1.1,2.1,3,4"), "line 5 has 5 columns, 4 were expected"),
        (lines(ROWS[0], "0.1,one,2.1,3"), "line 3, column 'a.position': 'one' is not a number"),
        (lines("0,1,2,3", "0.1,1,2,3 # x"), "line 3, column 'a.effort': '3 # x' is not a number"),
        (lines(ROWS[0], "0.1,1.1,2.1,1_000"), "line 3, column 'a.effort': '1_000' is not a number"),
        (lines(ROWS[0], "0.1,1.1,\x00,3"), r"line 3, column 'b.position': '\x00' is not a number"),
        (
            lines(ROWS[0], "0.1,1e293,2,3"),
            "line 3, column 'a.position': 1e+293 cannot be a measured position",
        ),
        (lines(ROWS[0], "1e293,1,2,3"), "line 3, column 'time': 1e+293 cannot be a time in seconds"),
        (
            lines(*ROWS, header="time,a.position,b.position,a.position"),
            "'a.position' occurs 2 times (columns 2, 4)",
        ),
        (lines(*ROWS, header="t,a.position,b.position,a.effort"), "no column 'time' (in s) or 'stamp_ns'"),
        (lines(*ROWS, header="time,c.position,d.position,c.effort"), "Joints of the log: 'c', 'd'"),
        (lines(*ROWS, header="time,a.position,b.effort,a.effort"), "no position of 'b'"),
        ("\n".join(ROWS), "line 1: numbers where the header should be; name all 4 columns"),
        ("hello world\nthis is\n", "no column 'time'"),
        ("1.5,a.position\n1,2\n", "numbers where the header should be"),
        (
            lines("1.0,1,2", "2,1,2", header="stamp_ns,a.position,b.position"),
            "'1.0' is not whole nanoseconds",
        ),
        (
            lines("9223372036854775808,1,2", "2,1,2", header="stamp_ns,a.position,b.position"),
            "'9223372036854775808' does not fit 64 bits",
        ),
    ],
)
def test_errors_name_the_place(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(LogError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(str(tmp_path / "log.csv"))
    assert message in str(caught.value)


@pytest.mark.parametrize("number", [2, 77, 499, 500, 501])
def test_line_numbers_hold_in_every_chunk(number: int, tmp_path: Path) -> None:
    """Lines are counted as an editor counts them, comments and all."""
    written = [HEADER, *(f"{k}e-3,1,2,3" for k in range(500))]
    written[number - 1] = "0,1,2,3,4"
    written[400:400] = ["# a comment", ""]
    expected = number + 2 * (number > 400)
    path = tmp_path / "log.csv"
    path.write_text("\n".join(written))
    for chunk in (1, 10, 333, 10_000):
        with pytest.raises(LogError, match=f"line {expected} has 5 columns"):
            list(stream_log(path, ROBOT, chunk=chunk))


def test_empty_fields_are_missing_values(tmp_path: Path) -> None:
    log = read(tmp_path, lines("0,1,2,3", "1,1,2,", "2,,2,3", ",1,2,3", "4,1,2,3", "5,1,2,3"))
    assert log.time.tolist() == [0, 1, 4, 5]
    assert log.left_out == 2
    assert log.effort is not None
    assert np.isnan(log.effort[:, 0]).tolist() == [False, True, False, False]
    assert "rows left out, time or position not finite: 2 (first: line 4, column 'a.position')" in log.notes
    assert "effort not finite in column 'a.effort': 1 (first: line 3)" in log.notes


def test_missing_stamps(tmp_path: Path) -> None:
    log = read(tmp_path, "stamp_ns,a.position,b.position\n,1,2\n5,1,2\n6,1,2\n")
    assert log.stamp_ns.tolist() == [5, 6]
    assert log.epoch_ns == 5
    assert any("1 (first: line 2, column 'stamp_ns')" in note for note in log.notes)


def test_a_row_torn_where_no_column_is_used(tmp_path: Path) -> None:
    """Rows must be whole also in the part that is skipped."""
    columns = ["time", "a.position", "b.position", "-", "-"]
    with pytest.raises(LogError, match="line 2 has 4 columns, 5 were expected"):
        read(tmp_path, "0,1,2,3,4\n1,1,2,3\n2,1,2,3,4\n", columns=columns)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["time", "a.position", "b.position"], "line 1: 4 columns, but 3 names are given for them"),
        (["time", "a.position", "b.position", "b.position"], "'b.position' occurs 2 times"),
        (["time", "a.position", "-", "-"], "no position of 'b'"),
    ],
)
def test_lists_of_names_that_do_not_fit(columns: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(LogError, match=re.escape(message)):
        read(tmp_path, "\n".join(ROWS), columns=columns)


def test_text_in_another_encoding(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="line 1: not UTF-8 text"):
        read(tmp_path, lines(*ROWS, header="time,é.position,b.position,x").encode("latin-1"))
    with pytest.raises(LogError, match="line 1: not UTF-8 text"):
        read(tmp_path, lines(*ROWS).encode("utf-16"))


def test_chunks_are_not_empty(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(lines(*ROWS))
    with pytest.raises(ArgumentError, match="chunk: at least one"):
        stream_log(path, ROBOT, chunk=0)


# --- measurements of a real arm ---------------------------------------------------------------------------


UR10E = DATA / "ur10e" / "ur-20_02_10-30sec_12harm.csv"
GAIN = [10.0, 10.6956, 8.4566, 9.0029, 9.4800, 10.1232]


@pytest.mark.skipif(not UR10E.exists(), reason=f"no recordings at {DATA} (set DYNID_DATA to their folder)")
def test_recording_of_an_arm_without_header() -> None:
    """31 columns without header, efforts as currents; compared with the csv module and plain arithmetic."""
    robot = load_robot(DATA / "ur10e" / "ur10e.urdf")
    names = robot.joint_names
    assert len(names) == 6
    columns = ["time", *(f"{joint}.{of}" for of in ("position", "velocity", "effort") for joint in names)]
    log = read_log(UR10E, robot, columns=[*columns, *["-"] * 12], effort="current", gain=GAIN)
    with UR10E.open(newline="") as file:
        expected = np.array([[float(cell) for cell in row] for row in csv.reader(file)])
    assert log.time.tolist() == expected[:, 0].tolist()
    assert log.position.tobytes() == expected[:, 1:7].tobytes()
    assert log.velocity is not None
    assert log.effort is not None
    assert log.velocity.tobytes() == expected[:, 7:13].tobytes()
    assert log.effort.tobytes() == (expected[:, 13:19] * GAIN).tobytes()
    assert log.left_out == 0
    assert log.notes == ()
