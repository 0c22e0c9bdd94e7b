"""`dynid codegen` as a user meets it, and what it writes: built, run, installed."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import dynid
from dynid.cli import main
from dynid.model import model_of
from helpers_code import COMPILERS, Library, bodies, counted
from helpers_estimate import estimate_of

FILES = [
    "planar2.h",
    "planar2.c",
    "tests/planar2_self_test.c",
    "examples/planar2_two_rates.cpp",
    "CMakeLists.txt",
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_json_says_what_the_text_costs(here, capsys):
    assert main(["codegen", "planar2", "-o", "out", "--json"]) == 0
    captured = capsys.readouterr()
    said = json.loads(captured.out)
    assert captured.err == ""
    assert said["files"] == [f"out/{name}" for name in FILES]
    text = bodies((here / "out" / "planar2.c").read_text(), "planar2")
    assert {name: counted(body) for name, body in text.items()} == said["functions"]
    assert said["error"] < 1e-14


def test_the_table_is_for_people(here, capsys):
    assert main(["codegen", "planar2", "-o", "out"]) == 0
    shown = capsys.readouterr().out
    assert "inertia_gravity" in shown
    assert "largest difference from the model" in shown


def test_nothing_is_overwritten_without_force(here, capsys):
    assert main(["codegen", "planar2", "-o", "out"]) == 0
    before = (here / "out" / "planar2.c").read_text()
    assert main(["codegen", "planar2", "-o", "out", "--real", "float"]) == 2
    assert "planar2.h" in capsys.readouterr().err
    assert (here / "out" / "planar2.c").read_text() == before
    assert main(["codegen", "planar2", "-o", "out", "--real", "float", "--force"]) == 0
    assert (here / "out" / "planar2.c").read_text() != before


ROBOT = (
    'name = "one"\nconvention = "modified"\n[[joint]]\nname = "j"\ntype = "revolute"\n'
    "alpha = 0.0\na = 0.0\ntheta = 0.0\nd = 0.0\n"
)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["robot.toml"], "link1"),  # no parameters
        (["nothing.toml"], "nothing.toml"),
        (["nothing.json"], "nothing.json"),
        (["broken.json"], "broken.json"),
        (["planar2", "--prefix", "7up"], "prefix"),
        (["planar2", "--prefix", "while"], "prefix"),
        (["planar2", "--target", "fortran"], "fortran"),
        (["planar2", "--real", "half"], "--real"),
        (["planar2", "--payload", "sometimes"], "--payload"),
        (["planar2", "--variables", "runtime"], "variables"),
        (["planar2", "--friction", "sticky"], "--friction"),
        (["planar2", "--friction-width", "nan"], "--friction-width"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(here, capsys, arguments, said):
    (here / "robot.toml").write_text(ROBOT, encoding="utf-8")
    (here / "broken.json").write_text("{", encoding="utf-8")
    assert main(["codegen", *arguments, "-o", "out"]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert "Traceback" not in captured.err
    assert not (here / "out").exists()


def test_a_file_in_the_place_of_the_directory(here, capsys):
    (here / "out").write_text("mine", encoding="utf-8")
    assert main(["codegen", "planar2", "-o", "out"]) == 2
    assert "not a directory" in capsys.readouterr().err
    assert (here / "out").read_text() == "mine"


@pytest.mark.skipif(not COMPILERS, reason="no C compiler")
def test_a_load_at_runtime(here):
    assert (
        main(["codegen", "planar2", "-o", "out", "--payload", "runtime", "--friction", "none", "--quiet"])
        == 0
    )
    header = (here / "out" / "planar2.h").read_text()
    assert "const double load[10]" in header
    assert "PLANAR2_LOAD_XX = 0" in header
    robot = dynid.load_robot("planar2")
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    load = np.array([0.1, 0.02, 0.03, 0.4, 0.05, 0.6, 0.1, 0.2, 0.3, 1.0])
    parameters = robot.parameters + np.concatenate([np.zeros(10), load])
    tau = Library(here / "out", "planar2")("inverse_dynamics", (2,), q, qd, qdd, load)[0]
    assert np.abs(tau - robot.inverse_dynamics(q, qd, qdd, parameters)).max() < 1e-13


@pytest.mark.skipif(
    not (COMPILERS and shutil.which("cmake") and shutil.which("c++")),
    reason="no cmake with C and C++ compilers",
)
def test_the_package_builds_tests_itself_and_installs(here):
    assert main(["codegen", "planar2", "-o", "out", "--quiet"]) == 0
    for command in (
        ["cmake", "-S", "out", "-B", "build", "-Dplanar2_EXAMPLES=ON", "-DCMAKE_INSTALL_PREFIX=installed"],
        ["cmake", "--build", "build"],
        ["ctest", "--test-dir", "build", "--output-on-failure"],
        ["cmake", "--install", "build"],
    ):
        subprocess.run(command, check=True, capture_output=True)
    assert list(here.glob("installed/lib*/cmake/planar2/planar2Config.cmake"))
    ran = subprocess.run(["build/planar2_two_rates"], check=True, capture_output=True, text=True)
    rows = [line.split() for line in ran.stdout.splitlines() if line.endswith("%")]
    errors = [float(row[-2]) for row in rows]  # of coefficients at 1000 Hz and ever more slowly
    assert errors[0] == 0.0
    assert errors == sorted(errors)
    assert errors[-1] > 0.1


# --- estimates ----------------------------------------------------------------------------------------


@pytest.fixture
def estimate(here):
    """An estimate's file, and what it holds."""
    found = estimate_of(model_of(dynid.load_robot("planar2")))
    found.save(here / "estimate.json")
    return found


@pytest.mark.skipif(not COMPILERS, reason="no C compiler")
def test_an_estimate_becomes_code(here, estimate):
    assert main(["codegen", "estimate.json", "-o", "out", "--prefix", "arm", "--quiet"]) in (0, 1)
    assert "estimate.json, SHA-256" in (here / "out" / "arm.h").read_text()
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    tau = Library(here / "out", "arm")("inverse_dynamics", (2,), q, qd, qdd)[0]
    assert np.abs(tau - estimate.model.efforts(q, qd, qdd)).max() < 1e-12 * np.abs(tau).max()


@pytest.mark.parametrize(("change", "said"), [("failed", "failed"), ("nan", "must hold numbers")])
def test_an_estimate_without_a_model_is_refused(here, estimate, capsys, change, said):
    content = json.loads((here / "estimate.json").read_text())
    if change == "failed":
        content["status"] = "failed"
    else:
        content["parameters"][0]["value"] = None
    (here / "estimate.json").write_text(json.dumps(content), encoding="utf-8")
    assert main(["codegen", "estimate.json", "-o", "out"]) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert "estimate.json" in shown
    assert not (here / "out").exists()
