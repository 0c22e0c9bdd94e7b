"""Generated code: compiled strictly, called, and compared with Pinocchio and plain formulas."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import dynid
from dynid.codegen.functions import generate
from dynid.codegen.listing import Listing
from dynid.codegen.names import identifier
from dynid.codegen.package import files_of, write
from dynid.codegen.runtime import FIXED, payload
from dynid.codegen.trials import evaluate, trial_arguments
from dynid.friction import Friction
from dynid.model import DynamicModel, model_of
from helpers_code import COMPILERS, EACH_COMPILER, STRICT, Library, bodies, counted
from helpers_rnea import rnea
from helpers_robots import PinocchioTwin, random_robot

pytestmark = pytest.mark.skipif(not COMPILERS, reason="no C compiler")

SMALL = ("planar2", "gk3", "scara")
BIG = ("stanford", "puma260", "puma560", "panda")


QUICK = 4_000  # of effort, for tests of what no search changes
LONGER = 20_000  # enough to have come by every kind of choice


def library(model, directory, runtime=FIXED, real="double", prefix="robot", effort=QUICK) -> Library:
    listing = Listing(generate(model, runtime, effort=effort), prefix, "a test", real)
    write(directory, files_of(listing, ["c"]))
    return Library(directory, prefix, COMPILERS[0], real)


def random_model(seed: int) -> DynamicModel:
    """Trees with joints of both kinds in all directions, some with mimic joints, drives of every kind."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, int(rng.integers(1, 6)), serial=bool(seed % 2))
    n = robot.dof
    transmission = None
    if seed % 3 == 0:
        transmission = np.eye(n) + 0.3 * rng.uniform(-1, 1, (n, n))
        robot = replace(robot, transmission=transmission)
    names = ["Fa", "Fs", "Fr"] if seed % 2 else []
    drives = Friction(
        viscous=rng.uniform(0, 1, n),
        coulomb=rng.uniform(0, 1, n),
        offset=rng.uniform(-1, 1, n),
        further={name: rng.uniform(-1, 1, n) for name in names},
        side="motor" if seed % 4 == 0 else "joint",
        transmission=transmission,
        width=0.05 * (seed % 5 == 0),
    )
    armature = rng.uniform(0, 1, n) * (rng.random(n) < 0.7)
    return DynamicModel(robot=robot, parameters=robot.parameters, armature=armature, friction=drives)


def friction_by_hand(given: Friction, qd: np.ndarray) -> np.ndarray:
    """T^-T of what acts on the drives: the formulas of the module `dynid.friction`, one sample."""
    T = np.eye(len(qd)) if given.side == "joint" or given.transmission is None else given.transmission
    v = np.linalg.solve(T, qd)
    s = np.tanh(v / given.width) if given.width else np.sign(v)
    acts = given.viscous * v + given.coulomb * s + given.offset
    shapes = {"Fa": np.abs(v), "Fs": s * np.exp(-((v / 0.1) ** 2)), "Fr": s * np.sqrt(np.abs(v))}
    for name, constants in given.further.items():
        acts = acts + constants * shapes[name]
    return np.linalg.solve(T.T, acts)


def motors_by_hand(model: DynamicModel) -> np.ndarray:
    T = np.eye(model.robot.dof) if model.robot.transmission is None else model.robot.transmission
    return np.linalg.inv(T).T @ np.diag(model.armature) @ np.linalg.inv(T)


def check(code: Library, model: DynamicModel, tolerance: float, samples: int = 6, late=(), twin=None) -> None:
    """All functions on random motions, each within `tolerance` of its largest magnitude."""
    n = model.robot.dof
    rng = np.random.default_rng(5)
    errors: dict[str, list[float]] = {}
    sizes: dict[str, list[float]] = {}

    def compare(what: str, ours: np.ndarray, truth: np.ndarray) -> None:
        errors.setdefault(what, []).append(float(np.abs(ours - truth).max()))
        sizes.setdefault(what, []).append(float(np.abs(truth).max()))

    zero = np.zeros(n)
    for k in range(samples):
        q, qd, qdd = rng.uniform(-3, 3, (3, n)).astype(code.type).astype(float)
        if k == 0:
            qd = zero  # where the sign of velocities is zero
        if twin is None:

            def effort(q, qd, qdd):
                return rnea(model.robot, model.parameters, q, qd, qdd)

            gravity = effort(q, zero, zero)
            velocity = effort(q, qd, zero) - gravity
            M = np.array([effort(q, zero, row) - gravity for row in np.eye(n)]).T
        else:
            answers = twin.at(q, qd, qdd)
            M, gravity, velocity = answers.mass_matrix, answers.gravity_torque, answers.velocity_torque
        M = M + motors_by_hand(model)
        c = velocity + friction_by_hand(model.friction, qd)
        tau = M @ qdd + c + gravity
        our_M, our_g = code("inertia_gravity", (n * n, n), q, *late)
        (our_c,) = code("velocity_torque", (n,), q, qd, *late)
        (our_tau,) = code("inverse_dynamics", (n,), q, qd, qdd, *late)
        compare("M", our_M.reshape(n, n), M)
        compare("g", our_g, gravity)
        compare("c", our_c, c)
        compare("tau", our_tau, tau)
        compare("synchronous", code("synchronous", (n,), our_M, our_c, our_g, qdd)[0], tau)
        (Y,) = code("regressor", (n * 10 * len(model.robot.links),), q, qd, qdd)
        compare(
            "Y",
            Y.reshape(n, -1) @ model.parameters,
            M @ qdd - motors_by_hand(model) @ qdd + velocity + gravity,
        )
    for what, found in errors.items():
        assert max(found) <= tolerance * max(max(sizes[what]), 1e-3), what


# --- right ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMALL)
def test_small_built_ins(name, tmp_path):
    model = model_of(dynid.load_robot(name))
    check(library(model, tmp_path, effort=LONGER), model, 1e-12, twin=PinocchioTwin(model.robot))


@pytest.mark.parametrize("name", BIG)
def test_big_built_ins(name, tmp_path):
    model = model_of(dynid.load_robot(name))
    check(library(model, tmp_path, effort=LONGER), model, 1e-12, twin=PinocchioTwin(model.robot))


@pytest.mark.parametrize("seed", range(16))
def test_random_trees_with_drives(seed, tmp_path):
    model = random_model(seed)
    check(library(model, tmp_path), model, 1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_float(seed, tmp_path):
    model = random_model(seed)
    check(library(model, tmp_path, real="float"), model, 1e-4)


def test_parameters_that_are_zero_cost_nothing():
    """An estimate's completion: most standard parameters are zero, and so is a part of the base values."""
    robot = dynid.load_robot("gk3")
    base = dynid.base_parameters(robot)
    values = np.random.default_rng(0).uniform(0.1, 1.0, base.count)
    sparse = values * (np.arange(base.count) % 2)
    full, half = (replace(model_of(robot), parameters=base.completion(x)) for x in (values, sparse))
    dense, light = generate(full, effort=LONGER), generate(half, effort=LONGER)
    assert max(dense.error, light.error) < 1e-14
    assert (
        light.function("inverse_dynamics").operations.total
        < dense.function("inverse_dynamics").operations.total
    )


def test_load_dependent_friction_is_in_the_inverse_dynamics_alone():
    robot = dynid.load_robot("planar2")
    model = model_of(robot)
    rubbing = replace(model.friction, further={"Fl": np.array([0.2, 0.3])})
    model = replace(model, friction=rubbing)
    generated = generate(model, effort=QUICK)
    assert generated.error < 1e-14
    q, qd, qdd = np.random.default_rng(1).uniform(-2, 2, (3, 5, 2))
    rigid = robot.inverse_dynamics(q, qd, qdd)
    by_hand = rigid + np.array([0.2, 0.3]) * np.sign(qd) * np.abs(rigid)
    (ours,) = evaluate(generated.function("inverse_dynamics"), [q, qd, qdd])
    assert np.abs(ours - by_hand).max() < 1e-13
    (velocity,) = evaluate(generated.function("velocity_torque"), [q, qd])
    assert np.abs(velocity - robot.velocity_torque(q, qd)).max() < 1e-13


# --- a payload at runtime -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gk3", "scara"])
def test_a_load_at_runtime(name, tmp_path):
    robot = dynid.load_robot(name)
    model = model_of(robot)
    code = library(model, tmp_path, payload(robot))
    load = np.array([0.02, 0.003, -0.004, 0.03, 0.005, 0.025, 0.1, -0.2, 0.15, 1.3])
    carrying = replace(robot.links[-1], parameters=robot.links[-1].parameters + load)
    loaded = replace(robot, links=(*robot.links[:-1], carrying))
    check(code, replace(model, robot=loaded, parameters=loaded.parameters), 1e-12, late=(load,))
    check(code, model, 1e-12, late=(np.zeros(10),))


# --- operations ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 5, 9])
def test_counts_are_those_of_the_text(seed, tmp_path):
    listing = Listing(generate(random_model(seed), effort=QUICK), "robot", "a test")
    text = files_of(listing, ["c"])["robot.c"]
    found = bodies(text, "robot")
    assert set(found) == {function.name for function in listing.functions}
    for function in listing.functions:
        n = function.operations
        assert counted(found[function.name]) == {"mul": n.mul, "add": n.add, "neg": n.neg, "sincos": n.sincos}


def test_the_synchronous_task_costs_n_multiplications_a_joint():
    n = generate(model_of(dynid.load_robot("scara")), effort=QUICK).function("synchronous").operations
    assert (n.mul, n.add, n.neg, n.sincos) == (16, 12 + 8, 0, 0)  # c and g are two further additions


# --- as text ------------------------------------------------------------------------------------------

HOSTILE = (
    '"quoted"; int x = 1; /*',
    "*/ #error broken",
    "line\nbreak\r\n#error",
    "%n%s%d",
    "while",
    "7th axis",
    "über-Gelenk",
    "x" * 10_000,
    "??/",
    "back\\slash\\",
    "",
    "math",
    "a b",
    "a-b",
    "A b",
    '"""\nimport os\n"""',
)


HOSTILE_JOINTS = "".join(
    f'[[joint]]\nname = {json.dumps(name or "?")}\ntype = "prismatic"\n'
    "alpha = 0.3\na = 0.1\ntheta = 0.2\nd = 0.0\nFc = 0.1\n"
    "standard = { XX=0.1, XY=0.0, XZ=0.0, YY=0.1, YZ=0.0, ZZ=0.1, MX=0.1, MY=0.0, MZ=0.0, M=1.0 }\n"
    for name in HOSTILE
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """The code of a robot whose joints have such names."""
    path = tmp_path_factory.mktemp("hostile") / "robot.toml"
    path.write_text(f'name = "arm"\nconvention = "modified"\n{HOSTILE_JOINTS}', encoding="utf-8")
    return generate(model_of(dynid.load_robot(str(path))), effort=QUICK)


@pytest.mark.parametrize("name", ["*/ #error", "%n\n", "int", "3axes", "ñ" * 20_000, '"""', "math", "\\"])
def test_names_from_files_break_nothing(name, hostile, tmp_path):
    path = tmp_path / "robot.toml"
    path.write_text(f'name = {json.dumps(name)}\nconvention = "modified"\n{HOSTILE_JOINTS}', encoding="utf-8")
    robot = dynid.load_robot(str(path))
    prefix = identifier(robot.name)
    assert prefix.isidentifier()
    assert prefix.isascii()
    generated = replace(hostile, model=replace(hostile.model, robot=robot))
    files = files_of(Listing(generated, prefix, name), ["c", "python", "jax", "casadi", "matlab"])
    write(tmp_path / "out", files)
    code = Library(tmp_path / "out", prefix, COMPILERS[0])
    n = robot.dof
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, n))
    truth = model_of(robot).efforts(q, qd, qdd)
    assert np.allclose(code("inverse_dynamics", (n,), q, qd, qdd)[0], truth, atol=1e-11)
    for file in (tmp_path / "out").glob("*.py"):
        compile(file.read_text(), str(file), "exec")
    for text in files.values():
        assert text.isascii()
        assert max(map(len, text.splitlines())) < 20_000


@pytest.mark.parametrize("compiler", EACH_COMPILER)
@pytest.mark.parametrize("real", ["double", "float"])
@pytest.mark.parametrize("late", ["constant", "runtime"])
def test_the_self_test_passes_without_a_warning(compiler, real, late, tmp_path):
    robot = dynid.load_robot("gk3")
    listing = Listing(
        generate(
            random_model(1) if late == "constant" else model_of(robot),
            payload(robot) if late == "runtime" else FIXED,
            effort=QUICK,
        ),
        "arm",
        "a test",
        real,
    )
    write(tmp_path, files_of(listing, ["c"]))
    program = tmp_path / "self_test"
    files = [str(tmp_path / "arm.c"), str(tmp_path / "tests" / "arm_self_test.c")]
    subprocess.run([compiler, *STRICT, "-I", str(tmp_path), *files, "-lm", "-o", str(program)], check=True)
    ran = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    assert ran.stdout.count(": ok\n") == 5


def test_the_self_test_notices_a_wrong_line(tmp_path):
    listing = Listing(generate(model_of(dynid.load_robot("gk3")), effort=QUICK), "arm", "a test")
    files = files_of(listing, ["c"])
    right = files["arm.c"]
    files["arm.c"] = right.replace("tau[1] = ", "tau[1] = 1e-9 + ", 1)
    assert files["arm.c"] != right
    write(tmp_path, files)
    program = tmp_path / "self_test"
    sources = [str(tmp_path / "arm.c"), str(tmp_path / "tests" / "arm_self_test.c")]
    subprocess.run([COMPILERS[0], "-I", str(tmp_path), *sources, "-lm", "-o", str(program)], check=True)
    ran = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "inverse_dynamics" in ran.stdout.split("WRONG")[0].splitlines()[-1]


# --- other languages ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scripts():
    generated = generate(random_model(5), effort=QUICK)
    assert generated.model.friction.width  # smooth, and with further terms: all kinds of steps
    return Listing(generated, "arm", "a test")


def expected(listing, name, count=4):
    function = listing.generated.function(name)
    arguments = trial_arguments(function, count, seed=2)
    return arguments, evaluate(function, arguments)


def load_module(text: str) -> dict:
    names: dict = {}
    exec(compile(text, "generated", "exec"), names)
    return names


def test_python_for_one_sample_and_for_many(scripts):
    module = load_module(files_of(scripts, ["python"])["arm_dynamics.py"])
    for function in scripts.functions:
        arguments, truth = expected(scripts, function.name)
        single = module[function.name](*(array[0].tolist() for array in arguments))
        several = module[function.name](*(array.T for array in arguments), library=np)
        for k, wanted in enumerate(truth):
            one = single[k] if len(truth) > 1 else single
            many = several[k] if len(truth) > 1 else several
            many = np.stack([np.broadcast_to(x, 4) for x in many], axis=1)
            assert np.abs(np.array(one) - wanted[0]).max() <= 1e-14 * np.abs(wanted).max()
            assert np.abs(many - wanted).max() <= 1e-14 * np.abs(wanted).max()


@pytest.mark.slow
def test_jax(scripts):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        module = load_module(files_of(scripts, ["jax"])["arm_jax.py"])
        for name in ("inverse_dynamics", "inertia_gravity", "velocity_torque", "synchronous"):
            arguments, truth = expected(scripts, name)
            ours = jax.jit(jax.vmap(module[name]))(*arguments)
            for found, wanted in zip(ours if isinstance(ours, tuple) else (ours,), truth, strict=True):
                assert np.abs(np.asarray(found) - wanted).max() <= 1e-13 * np.abs(wanted).max()


def test_casadi(scripts):
    pytest.importorskip("casadi")
    module = load_module(files_of(scripts, ["casadi"])["arm_casadi.py"])
    for function in scripts.functions:
        arguments, truth = expected(scripts, function.name)
        ours = module["FUNCTIONS"][function.name](*(array[0] for array in arguments))
        for found, wanted in zip(ours if len(truth) > 1 else (ours,), truth, strict=True):
            assert np.abs(np.ravel(found) - wanted[0]).max() <= 1e-13 * np.abs(wanted).max()


def test_matlab_text(scripts):
    """No MATLAB here: its assignments, taken as Python's, must give the same numbers."""
    import re

    for function in scripts.functions:
        arguments, truth = expected(scripts, function.name)
        text = files_of(scripts, ["matlab"])[f"arm_{function.name}.m"]
        assert text.startswith(f"function [{', '.join(stem for stem, _ in function.outputs)}] = arm_")
        names = {"sin": np.sin, "cos": np.cos, "tanh": np.tanh, "abs": abs, "sqrt": np.sqrt, "exp": np.exp}
        names |= {"zeros": lambda rows, _: np.full(rows, np.nan), "sign": np.sign}
        values = {stem: array[0] for (stem, _), array in zip(function.inputs, arguments, strict=True)}
        stems = "|".join(stem for stem, _ in (*function.inputs, *function.outputs))
        for line in text.splitlines():
            if line.startswith(("function", "%", "end")) or "reshape" in line:
                continue
            statement = re.sub(
                rf"\b({stems})\((\d+)\)", lambda m: f"{m[1]}[{int(m[2]) - 1}]", line.rstrip(";")
            )
            exec(statement, names, values)
        for (stem, _), wanted in zip(function.outputs, truth, strict=True):
            assert np.abs(values[stem] - wanted[0]).max() <= 1e-14 * np.abs(wanted).max()
