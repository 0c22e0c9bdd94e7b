"""Reductions: small triangles that say all that the rows said, whatever the method and the parts."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dynid.errors import ArgumentError
from dynid.fit.arrays import samples_from_arrays
from dynid.fit.panels import all_panels, chunks_of
from dynid.fit.reduction import (
    METHODS,
    PROBED,
    Reduction,
    _Gram,
    nothing,
    reduce,
    reduce_blocks,
    total,
    triangle,
)
from dynid.fit.solve import solve, weighted
from dynid.log.prepare import prepare
from helpers_fit import arm, log_of, samples_of, stacked, waves


@pytest.fixture(scope="module")
def many():
    """More rows than are probed for R0, with noise."""
    robot = arm("scara")
    return robot, samples_of(robot, waves(robot.robot, seconds=30.0, rate_hz=200.0), effort_noise=0.1)


@pytest.fixture(scope="module")
def logged():
    """A log through all filters, some of whose rows have no weight."""
    robot = arm("planar2")
    motion = waves(robot.robot, seconds=20.0, rate_hz=200.0)
    log = log_of(robot, motion, position_noise=1e-4, effort_noise=0.02)
    samples = prepare(log, robot.robot, cutoff_hz=10.0)
    weights = samples.weights.copy()
    weights[50:90, 1] = 0.0
    return robot, replace(samples, weights=weights)


def products(reduction: Reduction) -> list[np.ndarray]:
    return [R.T @ R for R in reduction.triangles]


def same(one: Reduction, other: Reduction, rel: float = 1e-12) -> bool:
    """Whether two reductions are of the same rows: entries of W'W by the lengths of both columns."""
    assert one.rows == pytest.approx(other.rows, rel=1e-12)
    for a, b in zip(products(one), products(other), strict=True):
        lengths = np.sqrt(np.diag(b))
        size = np.outer(lengths, lengths)
        assert (np.abs(a - b) <= rel * size + 1e-300).all()
    return True


# --- against NumPy ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_products_are_those_of_the_rows(many, method):
    robot, samples = many
    assert len(samples.time) > PROBED
    W, tau = stacked(robot, samples)
    n = robot.robot.dof
    found = reduce(robot.system, samples, method=method)
    assert found.names == robot.system.names
    assert found.rows == pytest.approx(np.full(n, len(samples.time)))
    for joint, (columns, R) in enumerate(zip(found.columns, found.triangles, strict=True)):
        rows = np.column_stack([W[joint::n][:, columns], tau[joint::n]])
        lengths = np.linalg.norm(rows, axis=0)
        error = np.abs(R.T @ R - rows.T @ rows) / np.outer(lengths, lengths)
        assert error.max() < 1e-13
        assert not np.tril(R, -1).any()
        left_out = np.setdiff1d(np.arange(len(found.names)), columns)
        assert not np.abs(W[joint::n][:, left_out]).any()


@pytest.mark.parametrize("method", METHODS)
def test_values_are_those_of_numpy(many, method):
    robot, samples = many
    W, tau = stacked(robot, samples)
    expected = np.linalg.lstsq(W, tau, rcond=None)[0]
    found = solve(reduce(robot.system, samples, method=method), np.ones(robot.robot.dof))
    assert found.values == pytest.approx(expected, rel=1e-10, abs=1e-11)


@pytest.mark.parametrize("method", METHODS)
def test_residuals_keep_their_digits(many, method):
    """Also with noise of 1e-6 of the efforts, where tau'tau - beta'W'tau would have 4 digits left."""
    robot, _ = many
    samples = samples_of(robot, waves(robot.robot, seconds=30.0, rate_hz=200.0), effort_noise=1e-6)
    W, tau = stacked(robot, samples)
    expected = np.sum((W @ robot.truth - tau).reshape(len(samples.time), -1) ** 2, axis=0)
    found = reduce(robot.system, samples, method=method)
    assert found.residuals(robot.truth) == pytest.approx(expected, rel=1e-6)
    assert found.efforts == pytest.approx(np.sum(samples.tau**2, axis=0), rel=1e-12)


def test_methods_agree_on_a_filtered_log(logged):
    robot, samples = logged
    same(reduce(robot.system, samples), reduce(robot.system, samples, method="qr"))


def test_filtered_rows_are_filtered_regressors(logged):
    """The samples' filter over the columns of NumPy's regressor, efforts and weights."""
    robot, samples = logged
    W, tau = stacked(robot, samples)
    n = robot.robot.dof
    roots = np.sqrt(samples.weights)
    filtered = samples.filtered(W.reshape(-1, n, W.shape[1])) * roots[:, :, None]
    efforts = samples.filtered(tau.reshape(-1, n)) * roots
    found = reduce(robot.system, samples)
    assert found.rows == pytest.approx(samples.weights.sum(axis=0))
    for joint, (columns, R) in enumerate(zip(found.columns, found.triangles, strict=True)):
        rows = np.column_stack([filtered[:, joint, columns], efforts[:, joint]])
        lengths = np.linalg.norm(rows, axis=0)
        assert (np.abs(R.T @ R - rows.T @ rows) <= 1e-11 * np.outer(lengths, lengths)).all()


def test_weights_are_as_many_rows(many):
    robot, samples = many
    twice = reduce(robot.system, samples, weights=np.full(samples.weights.shape, 2.0))
    same(twice, reduce(robot.system, samples) + reduce(robot.system, samples))


# --- parts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_parts_add_up(many, method):
    robot, samples = many
    whole = reduce(robot.system, samples, method=method)
    parts = []
    for a, b in pairwise([0, 1, 700, 5000, len(samples.time)]):
        q, qd, qdd, tau = (getattr(samples, name)[a:b] for name in ("q", "qd", "qdd", "tau"))
        parts.append(reduce(robot.system, samples_from_arrays(robot.robot, q, qd, qdd, tau), method=method))
    same(total(parts), whole)
    same(parts[3] + (parts[1] + (parts[2] + parts[0])), whole)
    same(whole + nothing(robot.system), whole)


def test_threads_change_nothing(many):
    """Bit by bit: parts are cut by the rows, not by the threads."""
    robot, _ = many
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-1.0, 1.0, (3, 50_000, robot.robot.dof))
    samples = samples_from_arrays(robot.robot, q, qd, qdd, robot.model.efforts(q, qd, qdd))
    one, two = (reduce(robot.system, samples, threads=threads) for threads in (1, 2))
    assert all((a == b).all() for a, b in zip(one.triangles, two.triangles, strict=True))


def test_blocks_between_instants(logged):
    robot, samples = logged
    edges = [3.0, 7.5, 7.5, 12.0]
    blocks = reduce_blocks(robot.system, samples, edges)
    assert len(blocks) == 5
    same(total(blocks), reduce(robot.system, samples))
    instants = samples.time[samples.rows]
    counts = np.histogram(instants, [-np.inf, 3.0, 7.5, 12.0, np.inf], weights=samples.weights[:, 0])[0]
    assert [block.rows[0] for block in blocks] == pytest.approx(
        [counts[0], counts[1], 0.0, counts[2], counts[3]]
    )


def test_chunks_cover_every_row_once(logged):
    _, samples = logged
    rows = np.concatenate([np.arange(c.rows.start, c.rows.stop) for c in chunks_of(samples, [5.0, 5.01])])
    assert rows.tolist() == list(range(len(samples.weights)))
    cut = replace(samples, segments=((0, 900), (900, len(samples.time))))
    covered = [
        rows
        for rows, _ in all_panels(arm("planar2").system, replace(cut, weights=np.ones((len(cut.rows), 2))))
    ]
    assert np.concatenate(covered).tolist() == list(range(len(cut.rows)))


def test_different_unknowns_do_not_add_up(many):
    robot, samples = many
    other = arm("scara", armature=False)
    with pytest.raises(ArgumentError, match="different unknowns"):
        reduce(robot.system, samples) + reduce(other.system, samples)


# --- hard data --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("exponent", "allowed"), [(3, 1e-11), (6, 1e-8), (8, 1e-5)])
def test_the_preconditioned_sum_is_as_good_as_reflections(exponent, allowed):
    """Columns of condition 10^exponent: normal equations would lose twice as many digits."""
    rng = np.random.default_rng(1)
    rows, k = 20_000, 12
    mix = (
        np.linalg.qr(rng.normal(size=(k, k)))[0]
        * np.logspace(0, -exponent, k)
        @ np.linalg.qr(rng.normal(size=(k, k)))[0]
    )
    X = rng.normal(size=(rows, k)) @ mix
    data = np.column_stack([X, X @ np.ones(k)])
    start = triangle(data[:2000])
    start[-1, -1] = np.linalg.norm(data[:2000, -1])
    gram = _Gram(start)
    for a in range(0, rows, 500):
        gram.absorb(data[a : a + 500].T)
    R = gram.triangle()
    found = np.linalg.lstsq(R[:, :-1], R[:, -1], rcond=None)[0]
    by_reflections = np.linalg.lstsq(X, data[:, -1], rcond=None)[0]
    error = np.abs(found - 1.0).max()
    assert error < max(allowed, 100.0 * np.abs(by_reflections - 1.0).max())
    if exponent == 8:
        plain = np.linalg.solve(X.T @ X, X.T @ data[:, -1])
        assert np.abs(plain - 1.0).max() > 100.0 * error


@pytest.mark.parametrize("method", METHODS)
def test_columns_of_very_different_size(method):
    """Units of 1e-8 and 1e8 are the log's affair, here an extra column's: nothing is lost to the others."""
    robot = arm("planar2", extra=("spring", "cable"))
    motion = waves(robot.robot, seconds=30.0, rate_hz=200.0)
    rng = np.random.default_rng(2)
    extra = {"spring": 1e8 * rng.normal(size=motion.q.shape), "cable": 1e-8 * rng.normal(size=motion.q.shape)}
    samples = samples_of(robot, motion, extra=extra)
    samples = replace(samples, tau=samples.tau + 3e-8 * extra["spring"] + 2e8 * extra["cable"])
    found = weighted(reduce(robot.system, samples, method=method))
    assert not found.undetermined.any()
    assert found.values[-2:] == pytest.approx([3e-8, 2e8], rel=1e-10)
    assert found.values[:-2] == pytest.approx(robot.truth, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_rank_deficient_rows(many, method):
    """A joint at rest in more rows than are probed: zero columns, and columns that equal each other."""
    robot, samples = many
    still = [1.0, 0.0, 1.0, 1.0]
    q, qd, qdd = (getattr(samples, name) * still for name in ("q", "qd", "qdd"))
    tau = robot.model.efforts(q, qd, qdd)
    rest = samples_from_arrays(robot.robot, q, qd, qdd, tau)
    found = weighted(reduce(robot.system, rest, method=method))
    names = {robot.system.names[k] for k in np.flatnonzero(found.undetermined)}
    assert {"Fv2", "Fc2"} <= names
    W, _ = stacked(robot, rest)
    assert (
        int(np.linalg.matrix_rank(W / np.maximum(np.linalg.norm(W, axis=0), 1e-300), tol=1e-9)) < W.shape[1]
    )
    assert W @ found.values == pytest.approx(tau.ravel(), abs=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_what_only_the_last_rows_show(method):
    """R0 comes from chunks all over the rows; a joint that moves in 1 % of them is not lost."""
    robot = arm("planar2")
    motion = waves(robot.robot, seconds=60.0, rate_hz=200.0)
    share = np.ones_like(motion.q)
    share[: int(0.99 * len(share)), 1] = 0.0
    q, qd, qdd = motion.q * share, motion.qd * share, motion.qdd * share
    samples = samples_from_arrays(robot.robot, q, qd, qdd, robot.model.efforts(q, qd, qdd))
    found = weighted(reduce(robot.system, samples, method=method))
    assert not found.undetermined.any()
    assert found.values == pytest.approx(robot.truth, abs=1e-8)


def test_an_unknown_method_is_named(many):
    with pytest.raises(ArgumentError, match="gram"):
        reduce(many[0].system, many[1], method="svd")
