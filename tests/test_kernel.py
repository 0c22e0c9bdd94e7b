"""Compiled kernels: accuracy of sine and cosine, layouts, strides, lanes, and the cache on disk."""

from __future__ import annotations

import dataclasses
import math
import random
import stat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynid.backends import cache, kernel
from dynid.backends.layout import Rows, Signature, Tile
from dynid.backends.reference import interpret
from dynid.program import Expr, Graph, Program, cos, sin

SIGNATURE = Signature((("q", 3), ("qd", 2)), ("p", 2))
seeds = st.integers(0, 2**32 - 1)


def hosts() -> list[kernel.Host]:
    """This machine, and the narrower or simpler machines it can stand for."""
    real = kernel.host()
    simple = ",".join(f for f in real.features.split(",") if "fma" not in f and "avx" not in f)
    found = [real]
    if real.lanes > 4:
        found.append(dataclasses.replace(real, lanes=4))
    if real.lanes > 2:
        found.append(dataclasses.replace(real, lanes=2))
        found.append(kernel.Host("x86-64", simple, 2, False))
    return found


def host_name(host: kernel.Host) -> str:
    return f"{host.lanes} lanes{'' if host.fma else ' without fma'}"


@pytest.fixture(params=hosts(), ids=host_name)
def any_host(request, monkeypatch):
    monkeypatch.setattr(kernel, "host", lambda: request.param)
    monkeypatch.setenv("DYNID_CACHE", "")
    return request.param


def random_program(seed: int, size: int = 60) -> Program:
    rng = random.Random(seed)
    graph = Graph()
    pool: list = [graph.input(name) for name in SIGNATURE.inputs]
    steps = (
        lambda a, b: a * b,
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, _: sin(a),
        lambda a, _: cos(a),
        lambda a, _: -0.5 * a,
    )
    for _ in range(size):
        made = rng.choice(steps)(rng.choice(pool[-20:]), rng.choice(pool))
        pool.append(sin(made) if isinstance(made, Expr) else graph.input("q1"))
    outputs = [rng.choice(pool) for _ in range(4)]
    return Program(graph, SIGNATURE.inputs, (outputs[0], -outputs[1], 2.5, outputs[2], outputs[3]))


def samples(seed: int, count: int) -> tuple[list[np.ndarray], np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-3, 3, (count, 3)), rng.uniform(-3, 3, (count, 2))], rng.uniform(-2, 2, 2)


# --- sine and cosine ----------------------------------------------------------------------------------


def ulps(computed: np.ndarray, exact: np.ndarray) -> float:
    """Largest error in units in the last place; the reference has eleven more bits."""
    error = np.abs(computed.astype(np.longdouble) - exact)
    return float((error / np.spacing(np.abs(exact.astype(np.float64)))).max())


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="long double is no better than double here")
def test_sine_and_cosine_to_one_ulp(any_host):
    graph = Graph()
    x = graph.input("q1")
    signature = Signature((("q", 1),))
    compiled = kernel.compile_program(Program(graph, ("q1",), (sin(x), cos(x))), signature, Rows((0, 1)))
    rng = np.random.default_rng(0)
    near = (np.arange(-60_000, 60_000) * (math.pi / 2))[:, None] + rng.normal(0, 1e-6, (1, 3))
    x = np.concatenate(
        [
            rng.uniform(-1e5, 1e5, 200_000),
            rng.uniform(-10, 10, 200_000),
            near.ravel(),  # where cancellation is worst
            10.0 ** rng.uniform(-300, 0, 20_000),
            [0.0, -0.0, 5e-324, 1e5, -1e5],
        ]
    )
    out = np.empty((len(x), 2))
    compiled.run_all([x[:, None]], None, out, len(x))
    wide = x.astype(np.longdouble)
    # 0.79 ulp with fused multiply-add; the split constants of other hosts cost a little
    assert ulps(out[:, 0], np.sin(wide)) < 1.0
    assert ulps(out[:, 1], np.cos(wide)) < 1.0
    assert np.all(np.sign(out[:, 0]) == np.sign(np.sin(x)))


def test_sine_of_nan_and_infinity_is_nan(any_host):
    graph = Graph()
    x = graph.input("q1")
    compiled = kernel.compile_program(
        Program(graph, ("q1",), (sin(x), cos(x))), Signature((("q", 1),)), Rows((0, 1))
    )
    out = np.zeros((5, 2))
    compiled.run_all([np.array([[0.5], [np.nan], [np.inf], [-np.inf], [1.0]])], None, out, 5)
    assert np.isnan(out[1:4]).all()
    assert out[[0, 4], 0] == pytest.approx(np.sin([0.5, 1.0]), rel=1e-15)


# --- programs -----------------------------------------------------------------------------------------


@given(seeds)
def test_kernels_agree_with_the_interpreter(seed):
    program = random_program(seed)
    arrays, common = samples(seed, 37)
    out, expected = np.zeros((2, 37, 5))
    kernel.compile_program(program, SIGNATURE, Rows((0, 1, 2, 3, 4))).run_all(arrays, common, out, 37)
    interpret(program, SIGNATURE, Rows((0, 1, 2, 3, 4))).run_all(arrays, common, expected, 37)
    # every node is a sine, so values are at most 1 and an error of one node grows at most by the sums
    assert np.abs(out - expected).max() < 1e-13


def test_every_host_computes_the_same(any_host):
    program = random_program(7)
    arrays, common = samples(7, 50)
    out, expected = np.zeros((2, 50, 5))
    kernel.compile_program(program, SIGNATURE, Rows((0, 1, 2, 3, 4))).run_all(arrays, common, out, 50)
    interpret(program, SIGNATURE, Rows((0, 1, 2, 3, 4))).run_all(arrays, common, expected, 50)
    assert np.abs(out - expected).max() < 1e-13


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 40])
def test_nothing_is_written_past_the_samples(any_host, count):
    program = random_program(3)
    arrays, common = samples(3, count)
    out = np.full((count + 9, 8), -7.0)
    compiled = kernel.compile_program(program, SIGNATURE, Rows((1, 2, 4, 5, 6)))
    compiled.bind(arrays, common, out)(0, count)
    assert np.all(out[count:] == -7.0)
    assert np.all(out[:, [0, 3, 7]] == -7.0)
    assert not np.any(out[:count, [1, 2, 5, 6]] == -7.0)


def test_tiles_hold_the_columns(any_host):
    program = random_program(5)
    arrays, common = samples(5, 30)
    rows = np.zeros((30, 5))
    kernel.compile_program(program, SIGNATURE, Rows((0, 1, 2, 3, 4))).bind(arrays, common, rows)(0, 30)
    tile = np.zeros((5, 24))
    kernel.compile_program(program, SIGNATURE, Tile(24)).bind(arrays, common, tile)(11, 27)
    assert np.array_equal(tile[:, :16].T, rows[11:27])


def test_any_strides(any_host):
    program = random_program(11)
    arrays, common = samples(11, 33)
    layout = Rows((0, 1, 2, 3, 4))
    compiled = kernel.compile_program(program, SIGNATURE, layout)
    expected = np.zeros((33, 5))
    compiled.bind(arrays, common, expected)(0, 33)
    wide = np.full((66, 9), np.nan)
    wide[::2, 1:7:2] = arrays[0]
    views = [
        ([np.asfortranarray(a) for a in arrays], np.zeros((33, 5))),
        ([wide[::2, 1:7:2], arrays[1][::-1][::-1]], np.zeros((33, 11))[:, 3:]),
        ([arrays[0][:, ::-1].copy()[:, ::-1], arrays[1]], np.zeros((33, 5))),
    ]
    for given_arrays, out in views:
        compiled.bind(given_arrays, common, out)(0, 33)
        assert np.array_equal(out[:, :5], expected)


def test_a_nan_stays_in_its_sample_and_reaches_all_of_it(any_host):
    graph = Graph()
    q1 = graph.input("q1")
    program = Program(graph, SIGNATURE.inputs, (sin(q1), 4.0))
    compiled = kernel.compile_program(program, SIGNATURE, Rows((0, 1)))
    arrays, common = samples(1, 20)
    arrays[1][13, 1] = np.nan  # an input that the outputs do not use
    out = np.zeros((20, 2))
    compiled.bind(arrays, common, out)(0, 20)
    assert np.isnan(out).all(axis=1).tolist() == [k == 13 for k in range(20)]
    assert np.isfinite(np.delete(out, 13, axis=0)).all()


# --- cache --------------------------------------------------------------------------------------------


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNID_CACHE", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


def run_once() -> np.ndarray:
    arrays, common = samples(2, 10)
    out = np.zeros((10, 5))
    compiled = kernel.compile_program(random_program(2), SIGNATURE, Rows((0, 1, 2, 3, 4)))
    compiled.bind(arrays, common, out)(0, 10)
    return out


def test_the_second_compilation_is_read_from_disk(empty_cache, monkeypatch):
    first = run_once()
    assert len(list(empty_cache.glob("*.o"))) == 1
    text = []
    real = kernel.llvm.parse_assembly
    monkeypatch.setattr(kernel.llvm, "parse_assembly", lambda t, *a: (text.append(t), real(t, *a))[1])
    assert np.array_equal(run_once(), first)
    assert text == [""]  # nothing was compiled


def test_a_damaged_entry_is_compiled_again(empty_cache):
    first = run_once()
    (entry,) = empty_cache.glob("*.o")
    content = entry.read_bytes()
    entry.write_bytes(content[:-20])
    assert np.array_equal(run_once(), first)
    assert entry.read_bytes() == content


def test_a_folder_others_can_write_to_is_not_trusted(empty_cache):
    empty_cache.mkdir()
    empty_cache.chmod(0o777)
    assert cache.folder() is None
    run_once()
    assert list(empty_cache.iterdir()) == []
    empty_cache.chmod(stat.S_IRWXU)
    assert cache.folder() == empty_cache


def test_a_cache_that_cannot_be_made_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DYNID_CACHE", str(tmp_path / "file" / "kernels"))
    assert run_once().shape == (10, 5)
