"""The array interface of `Robot`: shapes, layouts, types, bad values, threads; with both back ends."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from dynid.dynamics import back_end
from dynid.errors import ArgumentError
from dynid.robot import Link, Mimic, Robot
from helpers_rnea import rnea
from helpers_robots import PinocchioTwin, random_motion, random_robot

# arguments of each function, and the shape of its result for one sample
FUNCTIONS = {
    "inverse_dynamics": (3, ("n",)),
    "mass_matrix": (1, ("n", "n")),
    "gravity_torque": (1, ("n",)),
    "velocity_torque": (2, ("n",)),
    "kinetic_energy": (2, ()),
    "potential_energy": (1, ()),
    "regressor": (3, ("n", "p")),
    "energy_regressor": (2, ("p",)),
}
FREE_OF_PARAMETERS = ("regressor", "energy_regressor")
every_function = pytest.mark.parametrize("function", FUNCTIONS)
SAMPLES = 11  # more than any vector, and no multiple of one


def serial_arm() -> Robot:
    """Five rotations, some of them about parallel axes."""
    robot = random_robot(np.random.default_rng(5), 5, mimic=0.0, prismatic=0.0)
    return replace(robot, name="serial arm", gravity=np.array([1.0, -2.0, -9.0]))


def tree() -> Robot:
    """Slides, distal frames and joints that follow others: four coordinates, six links."""
    robot = random_robot(np.random.default_rng(122), 6, serial=False, mimic=0.4, prismatic=0.4)
    return replace(robot, name="tree", gravity=np.array([1.0, -2.0, -9.0]))


@pytest.fixture(scope="module", params=["llvm", "numpy"])
def back(request, tmp_path_factory):
    """Everything computed while it lasts is computed by this back end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DYNID_BACKEND", request.param)
        patch.setenv("DYNID_CACHE", str(tmp_path_factory.mktemp("kernels", numbered=True)))
        back_end.cache_clear()
        module = {"llvm": "kernel", "numpy": "reference"}[request.param]
        assert back_end().__module__ == f"dynid.backends.{module}"
        yield request.param
    back_end.cache_clear()


@pytest.fixture(scope="module", params=[serial_arm, tree], ids=lambda make: make.__name__)
def robot(back, request) -> Robot:
    return request.param()


@pytest.fixture(scope="module")
def arm(back) -> Robot:
    return serial_arm()


def motion_of(robot: Robot, function: str, samples: int = SAMPLES, seed: int = 0) -> list[np.ndarray]:
    return list(random_motion(np.random.default_rng(seed), robot, samples)[: FUNCTIONS[function][0]])


def call(robot: Robot, function: str, motion) -> np.ndarray:
    return getattr(robot, function)(*motion)


def one_shape(robot: Robot, function: str) -> tuple[int, ...]:
    sizes = {"n": robot.dof, "p": 10 * len(robot.links)}
    return tuple(sizes[size] for size in FUNCTIONS[function][1])


def assert_close(ours, theirs, relative: float = 1e-13) -> None:
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= relative * np.abs(theirs).max()


# --- values and shapes ------------------------------------------------------------------------------


@every_function
def test_values_are_pinocchios(robot, function):
    motion = motion_of(robot, function)
    ours = call(robot, function, motion)
    if function in FREE_OF_PARAMETERS:
        ours = ours @ robot.parameters
    zero = np.zeros((SAMPLES, robot.dof))
    twin = PinocchioTwin(robot)
    theirs = [twin.at(*sample) for sample in zip(*[*motion, zero, zero][:3], strict=True)]
    truth = {
        "regressor": lambda one: one.inverse_dynamics,
        "energy_regressor": lambda one: one.kinetic_energy + one.potential_energy,
    }.get(function, lambda one: getattr(one, function))
    assert_close(ours, np.array([truth(one) for one in theirs]), 1e-12)


@every_function
def test_one_sample_has_no_sample_axis(robot, function):
    motion = motion_of(robot, function)
    many = call(robot, function, motion)
    assert many.shape == (SAMPLES, *one_shape(robot, function))
    assert many.dtype == np.float64
    for k in range(SAMPLES):
        one = call(robot, function, [x[k] for x in motion])
        assert one.shape == one_shape(robot, function)
        assert_close(np.asarray(one), many[k])
    assert_close(call(robot, function, [x[:1] for x in motion]), many[:1])


@every_function
@pytest.mark.parametrize("lead", [0, 1, 2])
def test_arguments_broadcast(robot, function, lead):
    """One sample beside many, with and without an axis for samples."""
    count = FUNCTIONS[function][0]
    if lead >= count:
        lead = 0
    motion = motion_of(robot, function)
    mixed = [x if k == lead else x[0] if (k + lead) % 2 else x[:1] for k, x in enumerate(motion)]
    full = [x if k == lead else np.tile(x[0], (SAMPLES, 1)) for k, x in enumerate(motion)]
    ours = call(robot, function, mixed)
    assert ours.shape == (SAMPLES, *one_shape(robot, function))
    assert_close(ours, call(robot, function, full))


@every_function
def test_no_samples_give_no_results(robot, function):
    empty = np.empty((0, robot.dof))
    count = FUNCTIONS[function][0]
    assert call(robot, function, [empty] * count).shape == (0, *one_shape(robot, function))
    beside_one = [empty, *[np.zeros(robot.dof)] * (count - 1)]
    assert call(robot, function, beside_one).shape == (0, *one_shape(robot, function))


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int64, np.int8, bool, ">f8", "<f4"])
def test_numbers_of_any_kind(robot, kind):
    motion = [(3 * x).astype(kind) for x in motion_of(robot, "inverse_dynamics")]
    ours = robot.inverse_dynamics(*motion)
    assert ours.dtype == np.float64
    assert ours.dtype.isnative
    assert_close(ours, robot.inverse_dynamics(*(x.astype(np.float64) for x in motion)))


def test_lists_and_tuples(robot):
    motion = motion_of(robot, "inverse_dynamics")
    ours = robot.inverse_dynamics(motion[0].tolist(), tuple(map(tuple, motion[1])), list(motion[2]))
    assert_close(ours, robot.inverse_dynamics(*motion))


def unaligned(x: np.ndarray) -> np.ndarray:
    raw = np.zeros(x.nbytes + 1, dtype=np.uint8)
    view = raw[1:].view(np.float64).reshape(x.shape)
    view[:] = x
    assert not view.flags.aligned
    return view


def read_only(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.setflags(write=False)
    return x


LAYOUTS = {
    "columns first": np.asfortranarray,
    "every third row": lambda x: np.repeat(x, 3, axis=0)[::3],
    "every other column": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "rows backwards": lambda x: x[::-1].copy()[::-1],
    "both backwards": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "part of a table": lambda x: np.hstack([x + 9, x, x - 9])[:, x.shape[1] : 2 * x.shape[1]],
    "part of records": lambda x: np.rec.fromarrays([x, x + 1, x - 1], names="a,b,c").b - 1.0,
    "not aligned": unaligned,
    "read-only": read_only,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@every_function
def test_memory_layout_does_not_matter(robot, function, layout):
    motion = motion_of(robot, function)
    laid_out = [LAYOUTS[layout](x) for x in motion]
    kept = [x.copy() for x in laid_out]
    assert_close(call(robot, function, laid_out), call(robot, function, motion), 1e-12)
    for x, before in zip(laid_out, kept, strict=True):
        np.testing.assert_array_equal(x, before)


def test_one_row_for_all_samples_is_not_copied_wrongly(robot):
    """A view whose rows are all the same memory."""
    motion = motion_of(robot, "inverse_dynamics")
    q = np.broadcast_to(motion[0][3], motion[0].shape)
    assert_close(robot.inverse_dynamics(q, *motion[1:]), robot.inverse_dynamics(q.copy(), *motion[1:]))


def test_results_belong_to_the_caller(robot):
    """No call writes into what an earlier one returned."""
    motion = motion_of(robot, "inverse_dynamics")
    first = robot.inverse_dynamics(*motion)
    kept = first.copy()
    robot.inverse_dynamics(*(2 * x for x in motion))
    np.testing.assert_array_equal(first, kept)


# --- bad and extreme values ---------------------------------------------------------------------------


@every_function
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_bad_number_spoils_its_sample_and_no_other(robot, function, bad):
    motion = motion_of(robot, function)
    good = call(robot, function, motion)
    for argument in range(len(motion)):
        for column in range(robot.dof):
            spoiled = [x.copy() for x in motion]
            row = (3 * column + argument) % SAMPLES
            spoiled[argument][row, column] = bad
            ours = call(robot, function, spoiled)
            others = np.arange(SAMPLES) != row
            np.testing.assert_array_equal(ours[others], good[others])
            assert np.isnan(ours[row]).all()


def test_a_bad_number_in_one_sample_alone(robot):
    q, qd, qdd = (x[0].copy() for x in motion_of(robot, "inverse_dynamics"))
    qdd[-1] = np.nan
    assert np.isnan(robot.inverse_dynamics(q, qd, qdd)).all()


@pytest.mark.filterwarnings("error")
def test_overflow_stays_in_its_sample(robot):
    motion = motion_of(robot, "inverse_dynamics")
    good = robot.inverse_dynamics(*motion)
    motion[1][4] = 1e200
    ours = robot.inverse_dynamics(*motion)
    others = np.arange(SAMPLES) != 4
    np.testing.assert_array_equal(ours[others], good[others])
    assert not np.isfinite(ours[4]).all()


@pytest.mark.parametrize("size", [1e3, 1e4, 1e5, 1.1e5, 1e9, 1e300])
@pytest.mark.parametrize("sign", [np.abs, np.negative, lambda x: -np.abs(x)], ids=["plus", "both", "minus"])
def test_angles_of_any_size(arm, size, sign):
    """The sine and cosine in the oracle reduce any angle exactly."""
    q, qd, qdd = motion_of(arm, "inverse_dynamics")
    q = sign(q) / 3 * size
    q[0] /= size  # large and small angles in one call
    kept = q.copy()
    truth = np.array([rnea(arm, None, *sample) for sample in zip(q, qd, qdd, strict=True)])
    assert_close(arm.inverse_dynamics(q, qd, qdd), truth, 1e-12)
    np.testing.assert_array_equal(q, kept)


def test_a_bad_number_beside_a_large_angle(arm):
    motion = motion_of(arm, "inverse_dynamics")
    motion[0][2] = 1e300
    good = arm.inverse_dynamics(*motion)
    motion[0][1, 0] = np.nan
    ours = arm.inverse_dynamics(*motion)
    np.testing.assert_array_equal(ours[2:], good[2:])


def test_whole_turns_of_a_leader_are_not_whole_turns_of_its_follower(back):
    """Half a turn per turn; the angle itself is rounded to 4000 * 2**-53."""
    arm = serial_arm()
    follower = replace(arm.joints[3], mimic=Mimic(1, 0.5, 0.3))
    robot = replace(arm, joints=(*arm.joints[:3], follower, arm.joints[4]))
    q, qd, qdd = motion_of(robot, "inverse_dynamics")
    q[:, 1] = np.linspace(2000, 4000, SAMPLES)
    truth = np.array([rnea(robot, None, *sample) for sample in zip(q, qd, qdd, strict=True)])
    assert_close(robot.inverse_dynamics(q, qd, qdd), truth, 1e-11)


def test_long_slides(back):
    """Positions of prismatic joints are lengths: nothing is reduced."""
    robot = random_robot(np.random.default_rng(4), 4, mimic=0.0, prismatic=0.5)
    slides = [joint.prismatic for joint in robot.joints]
    assert any(slides[1:])
    assert not slides[0]
    q, qd, qdd = motion_of(robot, "inverse_dynamics")
    q[:, slides] *= 1e6
    truth = np.array([rnea(robot, None, *sample) for sample in zip(q, qd, qdd, strict=True)])
    assert_close(robot.inverse_dynamics(q, qd, qdd), truth, 1e-12)


# --- many samples, several threads --------------------------------------------------------------------


@every_function
def test_many_samples_are_computed_as_few_are(arm, function):
    """On all cores and in pieces of any size: the same bits."""
    samples = 5_000 if function == "regressor" else 50_000
    motion = motion_of(arm, function, samples)
    whole = call(arm, function, motion)
    pieces = [slice(0, 1), slice(1, 1235), slice(1235, samples - 7), slice(samples - 7, samples)]
    parts = [call(arm, function, [x[piece] for x in motion]) for piece in pieces]
    np.testing.assert_array_equal(whole, np.concatenate(parts))


def test_several_threads_may_call_one_robot(back):
    """From the first call on, which traces and compiles."""
    robot, start = serial_arm(), threading.Barrier(4)
    motion = motion_of(robot, "inverse_dynamics", 9_000)

    def work(_: int) -> list[np.ndarray]:
        start.wait(timeout=30)
        names = ("inverse_dynamics", "gravity_torque", "velocity_torque")
        return [call(robot, name, motion[: FUNCTIONS[name][0]]) for name in names]

    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(work, range(4))
    for other in others:
        for a, b in zip(first, other, strict=True):
            np.testing.assert_array_equal(a, b)
    assert_close(first[0], serial_arm().inverse_dynamics(*motion))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_can_go_on_computing(back):
    """Multiprocessing forks on Linux; the threads of the parent do not exist in the child."""
    script = textwrap.dedent("""
        import os
        import signal
        import sys

        import numpy as np
        from test_dynamics import motion_of, serial_arm

        robot = serial_arm()
        motion = motion_of(robot, "inverse_dynamics", 20_000)
        before = robot.inverse_dynamics(*motion)
        child = os.fork()
        if child == 0:
            signal.alarm(5)
            same = np.array_equal(robot.inverse_dynamics(*motion), before)
            os._exit(0 if same else 1)
        sys.exit(os.waitpid(child, 0)[1] != 0)
    """)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()


def test_an_account_without_a_home_can_compute(back, monkeypatch):
    """In containers the user often is a bare number: kernels are compiled, but not kept on disk."""
    accounts = pytest.importorskip("pwd")
    for name in ("HOME", "XDG_CACHE_HOME", "DYNID_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(accounts, "getpwuid", {}.__getitem__)
    assert np.isfinite(serial_arm().gravity_torque(np.zeros(5))).all()


# --- parameters ---------------------------------------------------------------------------------------

takes_parameters = pytest.mark.parametrize("function", [f for f in FUNCTIONS if f not in FREE_OF_PARAMETERS])


@takes_parameters
def test_parameters_may_be_given(robot, function):
    motion = motion_of(robot, function)
    other = np.random.default_rng(3).normal(size=10 * len(robot.links))
    own = replace(robot, links=tuple(Link(name="l", parameters=p) for p in other.reshape(-1, 10)))
    expected = call(own, function, motion)
    compute = getattr(robot, function)
    assert_close(compute(*motion, other), expected)
    assert_close(compute(*motion, parameters=other.tolist()), expected)
    assert_close(compute(*motion, np.repeat(other, 2)[::2].astype(">f8")), expected)
    assert_close(compute(*motion, None), call(robot, function, motion))


@takes_parameters
@pytest.mark.parametrize("shape", [(), (1,), (9,), (50, 1), (1, 50), (51,)])
def test_parameters_of_a_wrong_shape_are_refused(arm, function, shape):
    with pytest.raises(ArgumentError, match=r"serial arm needs \(50,\), in the order of robot\."):
        getattr(arm, function)(*motion_of(arm, function), np.zeros(shape))


@takes_parameters
@pytest.mark.parametrize("missing", [range(10), [9], [4]], ids=["all", "mass", "YZ"])
def test_a_robot_without_parameters_names_its_links(arm, function, missing):
    unknown = arm.links[2].parameters.copy()
    unknown[list(missing)] = np.nan
    links = (*arm.links[:2], Link(name="elbow", parameters=unknown), *arm.links[3:4], Link(name="tool"))
    robot = replace(arm, links=links)
    motion = motion_of(robot, function)
    with pytest.raises(ArgumentError, match="no inertial parameters for 'elbow', 'tool'"):
        call(robot, function, motion)
    given = np.arange(50.0)
    assert_close(getattr(robot, function)(*motion, given), getattr(arm, function)(*motion, given))


def test_regressors_need_no_parameters(arm):
    robot = replace(arm, links=tuple(Link(name=link.name) for link in arm.links))
    for function in FREE_OF_PARAMETERS:
        motion = motion_of(robot, function)
        np.testing.assert_array_equal(call(robot, function, motion), call(arm, function, motion))


# --- wrong arguments ----------------------------------------------------------------------------------


@every_function
@pytest.mark.parametrize("shape", [(), (4,), (6,), (0,), (3, 4), (5, 1), (5, 0), (2, 3, 5)])
def test_wrong_widths_are_refused(arm, function, shape):
    for argument, name in enumerate(("q", "qd", "qdd")[: FUNCTIONS[function][0]]):
        motion = motion_of(arm, function)
        motion[argument] = np.zeros(shape)
        with pytest.raises(ArgumentError) as refused:
            call(arm, function, motion)
        message = str(refused.value)
        assert message.startswith(f"{name} has shape {shape}; serial arm needs (5,) or (N, 5)")


def test_different_numbers_of_samples_are_refused(arm):
    with pytest.raises(ArgumentError, match=r"samples: \(3, 5\), \(4, 5\), \(5,\)"):
        arm.inverse_dynamics(np.zeros((3, 5)), np.zeros((4, 5)), np.zeros(5))
    with pytest.raises(ArgumentError, match="number of samples"):
        arm.kinetic_energy(np.zeros((0, 5)), np.zeros((2, 5)))


@pytest.mark.parametrize("wrong", ["abc", [[1, 2], [3]], 1j * np.ones(50), object()])
def test_what_is_no_array_of_real_numbers_is_refused(arm, wrong):
    with pytest.raises(ArgumentError, match=r"^q .* real numbers"):
        arm.gravity_torque(wrong)
    with pytest.raises(ArgumentError, match=r"^parameters .* real numbers"):
        arm.gravity_torque(np.zeros(5), wrong)


def test_a_robot_that_cannot_move_has_empty_results(back):
    fixed = Robot(name="statue", joints=(), links=())
    for function, (count, _) in FUNCTIONS.items():
        assert call(fixed, function, [np.zeros((3, 0))] * count).shape == (3, *one_shape(fixed, function))


# --- tiles --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("samples", [0, 1, 511, 512, 1237])
def test_tiles_are_the_regressor(robot, samples):
    motion = motion_of(robot, "regressor", samples)
    whole = robot.regressor(*motion)
    pieced = np.zeros_like(whole)
    reached = 0
    for tile in robot._dynamics.regressor_tiles(*motion):
        assert tile.first == reached < tile.last <= samples
        reached = tile.last
        assert tile.values.shape == (len(tile.rows), tile.last - tile.first)
        assert len({*zip(tile.rows, tile.columns, strict=True)}) == len(tile.rows) == len(tile.columns)
        pieced[tile.first : tile.last, tile.rows, tile.columns] = tile.values.T
    assert reached == samples
    assert samples < 1237 or tile.first > 0  # it took several
    np.testing.assert_array_equal(pieced, whole)


def test_tiles_of_one_sample_and_of_views(robot):
    motion, tiles = motion_of(robot, "regressor"), robot._dynamics.regressor_tiles
    (backwards,) = tiles(*(x[::-2] for x in motion))
    (copied,) = tiles(*(x[::-2].copy() for x in motion))
    assert_close(backwards.values, copied.values)
    (one,) = tiles(*(x[0] for x in motion))
    assert_close(one.values[:, 0], robot.regressor(*(x[0] for x in motion))[one.rows, one.columns])


# --- back ends and lifetime ---------------------------------------------------------------------------


@pytest.mark.parametrize("make", [serial_arm, tree])
def test_back_ends_agree(monkeypatch, make):
    results = []
    for name in ("llvm", "numpy"):
        monkeypatch.setenv("DYNID_BACKEND", name)
        back_end.cache_clear()
        robot = make()
        results.append([call(robot, f, motion_of(robot, f, 200)) for f in FUNCTIONS])
    back_end.cache_clear()
    for compiled, interpreted in zip(*results, strict=True):
        assert_close(compiled, interpreted)


def test_numpy_takes_over_where_llvmlite_is_missing(monkeypatch):
    monkeypatch.delitem(sys.modules, "dynid.backends.kernel", raising=False)
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    monkeypatch.delenv("DYNID_BACKEND", raising=False)
    back_end.cache_clear()
    try:
        assert back_end().__module__ == "dynid.backends.reference"
    finally:
        back_end.cache_clear()


def test_a_robot_is_forgotten_with_its_last_reference(back):
    """Kernels are kept as long as their robot, results without it."""
    robot = serial_arm()
    results = [call(robot, f, motion_of(robot, f)) for f in ("inverse_dynamics", "regressor")]
    assert robot._dynamics is robot._dynamics  # or every call would compile again
    computing, gone = weakref.ref(robot._dynamics), weakref.ref(robot)
    del robot
    gc.collect()
    assert gone() is None
    assert computing() is None
    assert np.isfinite(results[0]).all()
