"""Logs of any length: parts, states of killed runs, and clusters, against logs that are loaded."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dynid import identify
from dynid.cli import main
from dynid.errors import ArgumentError
from dynid.estimate import Estimate
from dynid.log import long
from dynid.log.log import Log
from dynid.log.long import LongLogs, read_logs
from dynid.log.write import write_log
from helpers_fit import Arm, arm, log_of, waves

PLAIN = {"cutoff_hz": 10.0, "prior": "none", "width": 0.05, "presliding": 0.0, "delay": 0.0}
PARTS = 1 << 11

# A run of its own, with parts short enough for a test, and slow enough to be killed between two of them.
SCRIPT = """
import sys, time
from dynid import identify
from dynid.fit import state
from dynid.log import long
from helpers_fit import arm
long.PART_ROWS, long.LONGEST_LOADED, long.EXCERPT_ROWS, state.SELDOM_S = {parts}, 0, {parts}, 0.0
identify(arm().robot, sys.argv[1], state=sys.argv[2], report=lambda text: time.sleep(0.3), **{plain!r})
"""


@pytest.fixture(scope="module")
def planar() -> Arm:
    return arm()


def recorded(planar: Arm, seed: int = 0, seconds: float = 60.0) -> Log:
    motion = waves(planar.robot, seconds=seconds, rate_hz=400.0, seed=seed + 1)
    return log_of(planar, motion, position_noise=1e-5, effort_noise=0.02, seed=seed)


@pytest.fixture(scope="module")
def path(planar: Arm, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some 12 parts of a log."""
    found = tmp_path_factory.mktemp("long") / "long.parquet"
    write_log(recorded(planar), found)
    return found


@pytest.fixture
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long, "PART_ROWS", PARTS)
    monkeypatch.setattr(long, "EXCERPT_ROWS", PARTS)
    monkeypatch.setattr(long, "LONGEST_LOADED", 0)
    monkeypatch.setattr("dynid.fit.long.SELDOM_S", 0.0)


def same(one: Estimate, other: Estimate, rel: float = 0.0) -> bool:
    assert one.names == other.names
    scale = np.abs(other.values).max()
    assert np.abs(one.values - other.values).max() <= rel * scale
    assert np.abs(one.covariance - other.covariance).max() <= rel * np.abs(other.covariance).max()
    return True


# --- parts --------------------------------------------------------------------------------------------------


def test_parts_are_all_rows_of_the_log_once(planar: Arm, path: Path, short_parts: None) -> None:
    whole = recorded(planar)
    found = read_logs(planar.robot, [path], {})
    assert isinstance(found, LongLogs)
    parts = list(found.logs[0].parts())
    assert len(parts) == -(-len(whole) // PARTS)
    assert np.array_equal(np.concatenate([part.stamp_ns for part in parts]), whole.stamp_ns)
    assert np.array_equal(np.concatenate([part.position for part in parts]), whole.position)


@pytest.mark.parametrize("group", [500, 5000, 100_000])
def test_an_excerpt_is_spread_over_the_row_groups(
    planar: Arm, path: Path, short_parts: None, tmp_path: Path, group: int
) -> None:
    """Pieces do not overlap, say which rows they are, and begin at row groups, of which there may be one."""
    parquet = pytest.importorskip("pyarrow.parquet")
    grouped = tmp_path / "grouped.parquet"
    parquet.write_table(parquet.read_table(path), grouped, row_group_size=group)
    whole = recorded(planar)
    found = read_logs(planar.robot, [grouped], {})
    assert isinstance(found, LongLogs)
    before = 0
    for piece in found.excerpt:
        first, last = (int(n) for n in piece.provenance.source.rpartition("rows ")[2].split("-"))
        assert first > before
        assert np.array_equal(piece.position, whole.position[first - 1 : last])
        before = last
    assert len(found.excerpt) == long.EXCERPT_PARTS if group != 5000 else len(found.excerpt) >= 4
    if group == 500:
        assert before == pytest.approx(len(whole), abs=PARTS)


def test_values_are_those_of_the_loaded_log(planar: Arm, path: Path, short_parts: None) -> None:
    """Parts lose their ends to the filters: their values differ by a fraction of what noise does."""
    loaded = identify(planar.robot, recorded(planar), **PLAIN)
    found = identify(planar.robot, path, **PLAIN)
    assert (np.abs(found.values - loaded.values) < loaded.std).all()
    assert (np.abs(found.values - planar.truth) < 4.0 * found.std).all()
    assert found.std == pytest.approx(loaded.std, rel=0.5)
    assert found.samples == pytest.approx(loaded.samples, rel=0.15)
    assert "of 24000 rows" in found.choices["excerpt"]
    assert [log.source for log in found.logs] == [str(path)]


@pytest.mark.parametrize("method", ["ols", "energy", "power", "momentum"])
def test_methods_that_see_every_sample_once_can_take_long_logs(
    planar: Arm, path: Path, short_parts: None, method: str
) -> None:
    loaded = identify(planar.robot, recorded(planar), method=method, **PLAIN)
    found = identify(planar.robot, path, method=method, **PLAIN)
    assert (np.abs(found.values - loaded.values) < 2.0 * loaded.std).all()


def test_other_methods_say_that_they_cannot(planar: Arm, path: Path, short_parts: None) -> None:
    with pytest.raises(ArgumentError, match=r"'irls' looks at all samples more than once.*: wls, ols"):
        identify(planar.robot, path, method="irls", **PLAIN)


def test_parts_of_which_nothing_can_be_used_are_said(planar: Arm, short_parts: None, tmp_path: Path) -> None:
    log = recorded(planar)
    effort = log.effort.copy()
    effort[3 * PARTS : 4 * PARTS] = np.nan
    broken = tmp_path / "broken.parquet"
    write_log(replace(log, effort=effort), broken)
    found = identify(planar.robot, broken, **PLAIN)
    assert any("parts left out: 1 (first: part 4: " in text for text in found.advice)


# --- states -------------------------------------------------------------------------------------------------


def test_a_killed_run_goes_on_with_equal_numbers(
    planar: Arm, path: Path, short_parts: None, tmp_path: Path
) -> None:
    state, said = tmp_path / "state.npz", list[str]()
    script = SCRIPT.format(parts=PARTS, plain=PLAIN)
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(path), str(state)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
    )
    while not state.exists() and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    found = identify(planar.robot, path, state=state, report=said.append, **PLAIN)
    done = next(int(text.split()[3]) for text in said if "were reduced before" in text)
    assert 0 < done < 12
    assert same(found, identify(planar.robot, path, **PLAIN))


def test_a_finished_state_is_all_that_the_next_run_needs(
    planar: Arm, path: Path, short_parts: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state.npz"
    first = identify(planar.robot, path, state=state, **PLAIN)
    monkeypatch.setattr("dynid.fit.whole._absorbed", None)  # would be called for a part that is not known
    assert same(identify(planar.robot, path, state=state, **PLAIN), first)


def test_the_state_of_another_run_is_refused(
    planar: Arm, path: Path, short_parts: None, tmp_path: Path
) -> None:
    state = tmp_path / "state.npz"
    identify(planar.robot, path, state=state, **PLAIN)
    with pytest.raises(ArgumentError, match="state of another run"):
        identify(planar.robot, path, state=state, **{**PLAIN, "cutoff_hz": 8.0})


@pytest.mark.parametrize("data", [b"", b"not an archive", b"PK\x03\x04 and then nothing"])
def test_a_damaged_state_is_refused(
    planar: Arm, path: Path, short_parts: None, tmp_path: Path, data: bytes
) -> None:
    state = tmp_path / "state.npz"
    state.write_bytes(data)
    with pytest.raises(ArgumentError, match=r"is not the state of a run .* remove it"):
        identify(planar.robot, path, state=state, **PLAIN)


def test_a_state_of_short_logs_changes_nothing(planar: Arm, path: Path, tmp_path: Path) -> None:
    """Logs that can be loaded are one part each, and looked at as a whole."""
    found = identify(planar.robot, path, state=tmp_path / "state.npz", **PLAIN)
    assert same(found, identify(planar.robot, path, **PLAIN))
    assert "excerpt" not in found.choices


def test_the_command_goes_on_from_a_state(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], short_parts: None
) -> None:
    command = ["identify", "planar2", str(path), "--cutoff-hz", "10", "--state", str(tmp_path / "state.npz")]
    records: list[dict[str, object]] = []
    for _ in range(2):
        assert main([*command, "--json"]) in (0, 1)
        records.append(json.loads(capsys.readouterr().out))
    assert records[0]["parameters"] == records[1]["parameters"]
    assert main([*command, "--friction", "viscous"]) == 2
    said = capsys.readouterr()
    assert not said.out
    assert "state of another run" in said.err


# --- clusters -----------------------------------------------------------------------------------------------


def test_a_cluster_finds_the_same_although_a_worker_dies(
    planar: Arm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dynid.fit.long.SELDOM_S", 0.0)
    distributed = pytest.importorskip("distributed")
    paths = [tmp_path / f"log{k}.parquet" for k in range(6)]
    for k, one in enumerate(paths):
        write_log(recorded(planar, seed=k, seconds=20.0), one)
    alone = identify(planar.robot, paths, **PLAIN)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        doomed = cluster.workers[0].pid
        killed: list[int] = []

        def kill(text: str) -> None:
            if "parts," in text and not killed:  # one log is done, others are under way
                os.kill(doomed, signal.SIGKILL)
                killed.append(doomed)

        found = identify(planar.robot, paths, dask=cluster.scheduler_address, report=kill, **PLAIN)
    assert killed
    assert same(found, alone, rel=1e-12)


def test_an_address_without_a_scheduler_is_said(
    planar: Arm, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("dynid.fit.cluster.CONNECT_S", 0.5)
    with pytest.raises(ArgumentError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9'"):
        identify(planar.robot, path, dask="tcp://127.0.0.1:9", **PLAIN)
