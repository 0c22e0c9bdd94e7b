"""The command line: exit status, streams, JSON, and what it says when something is wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import dynid
from dynid.cli import main


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def failed(capsys, *arguments: str) -> str:
    """The one message of a command that produces nothing."""
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert out == ""
    assert "Traceback" not in err
    assert err.count("\n") == 1
    return err


# --- manners ------------------------------------------------------------------------------------------


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"dynid {dynid.__version__}\n", "")


def test_help_lists_the_commands_that_exist(capsys):
    status, out, _ = run(capsys, "--help")
    assert status == 0
    listed = set(re.findall(r"^    (\w+)", out, re.MULTILINE))
    assert {"robots", "base"} <= listed
    for command in listed:
        status, out, _ = run(capsys, command, "--help")
        assert status == 0
        assert {"--json", "--quiet", "--seed"} <= set(re.findall(r"--\w+", out))


@pytest.mark.parametrize("arguments", [(), ("frobnicate",), ("base",), ("base", "panda", "--colour", "red")])
def test_usage_errors(capsys, arguments):
    assert "--help" in failed(capsys, *arguments)


def test_the_installed_command_is_the_module():
    command = [sys.executable, "-m", "dynid", "robots", "--json"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "panda" in [robot["name"] for robot in json.loads(printed.stdout)["robots"]]
    assert printed.stderr == ""


def test_a_closed_pipe_is_no_error():
    text = f"{sys.executable} -m dynid base panda --json | head -c 10"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {text}"], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""


@pytest.mark.parametrize("arguments", ["base scara", "base scara --json", "robots --json"])
def test_a_full_disk_behind_stdout_is_said(arguments):
    command = ["bash", "-c", f"{sys.executable} -m dynid {arguments} > /dev/full"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert re.fullmatch(r"dynid \w+: No space left on device\n", done.stderr)


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_error(closed):
    command = ["bash", "-c", f"{sys.executable} -m dynid base scara --json {closed}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == ""


def test_importing_loads_nothing_heavy():
    check = (
        "import sys, dynid; print([m for m in ('numpy', 'scipy', 'llvmlite', 'rich') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", check], text=True).strip() == "[]"


# --- robots -------------------------------------------------------------------------------------------


def test_robots_are_listed(capsys):
    status, out, _ = run(capsys, "robots")
    assert status == 0
    for name in ("stanford", "puma560", "puma260", "gk3", "panda", "scara"):
        assert re.search(rf"^{name} ", out, re.MULTILINE)


def test_a_robot_is_shown_with_its_options(capsys):
    status, out, err = run(
        capsys, "robots", "scara", "--gravity", "-9.81,0,0", "--joints", "shoulder,wrist", "--json"
    )
    assert (status, err) == (0, "")
    record = json.loads(out)
    robot = dynid.load_robot("scara", gravity=(-9.81, 0, 0), joints=["shoulder", "wrist"])
    assert record["gravity"] == [-9.81, 0, 0]
    assert [joint["name"] for joint in record["joints"]] == list(robot.joint_names)
    assert np.array_equal(record["parameters"], robot.parameters)


def test_json_has_null_for_what_is_not_known(capsys, tmp_path):
    joint = 'type = "revolute"\nalpha = 0.0\na = 0.0\ntheta = 0.0\nd = 0.0\n'
    (tmp_path / "bare.toml").write_text(f'convention = "modified"\n[[joint]]\n{joint}')
    status, out, _ = run(capsys, "robots", str(tmp_path / "bare.toml"), "--json")
    assert status == 0
    assert json.loads(out)["parameters"] == [None] * 10
    assert json.loads(out)["joints"][0]["effort"] is None


def test_names_from_files_are_printed_as_they_are(capsys, tmp_path):
    """Terminal markup and escape sequences in names are text, not orders."""
    name = "[bold red]arm[/] %n"
    file = tmp_path / "odd.toml"
    joint = 'type = "revolute"\nalpha = 0.0\na = 0.0\ntheta = 0.0\nd = 0.0\n'
    file.write_text(f'name = "{name}"\nconvention = "modified"\n[[joint]]\nname = "{name}"\n{joint}')
    assert name in run(capsys, "robots", str(file))[1]


# --- base ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["exact", "gautier-khalil", "lin", "numeric"])
def test_base_json_is_the_api(capsys, method):
    status, out, _ = run(capsys, "base", "stanford", "--method", method, "--armature", "--json")
    assert status == 0
    record = json.loads(out)
    base = dynid.base_parameters(dynid.load_robot("stanford"), method=method, armature=True)
    assert record["count"] == base.count
    for key in ("names", "expressions", "columns", "no_effect"):
        assert record[key] == list(getattr(base, key))
    assert np.array_equal(record["matrix"], base.matrix)
    assert record["bound"] == 7 * 5 + 4 * 1 - 3 - 1


def test_base_as_a_table(capsys):
    status, out, err = run(capsys, "base", "puma560")
    assert (status, err) == (0, "")
    assert "36 base parameters" in out
    assert "at most 38" in out
    assert "0.2093783325 (M4 + M5 + M6)" in " ".join(out.split())
    assert re.search(r"MZ2: .*frame 2", out)


@pytest.mark.parametrize("terms", ["--armature", "--friction", "--offset"])
def test_the_bound_is_of_links_alone(capsys, terms):
    assert "of at most 17" in run(capsys, "base", "gk3")[1]
    assert "of at most" not in run(capsys, "base", "gk3", terms)[1]


def test_gautier_khalil_is_printed_with_symbols(capsys):
    _, out, _ = run(capsys, "base", "puma560", "--method", "gautier-khalil", "--json")
    first = json.loads(out)["formulas"][0]
    assert first == "ZZR1 = ZZ1 + YY2 + YY3 + 2 R3 MZ3 + (D3^2 + R3^2)(M3+M4+M5+M6) + D4^2 (M4+M5+M6)"
    _, out, _ = run(capsys, "base", "puma560", "--method", "gautier-khalil")
    assert first in " ".join(out.split())


def test_base_as_markdown_and_latex(capsys):
    _, out, _ = run(capsys, "base", "gk3", "--markdown")
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", out, re.MULTILINE)
    assert len(rows) == 15
    assert dict(rows)["MXR2"] == "MX2 + 0.5 M3"
    _, out, _ = run(capsys, "base", "gk3", "--latex")
    assert r"mX_{R2} &= mX_{2} + 0.5 m_{3} \\" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("base", "puma56"), ["'puma560'", ".urdf"]),
        (("base", "panda", "--model", "torqe"), ["'torque'", "gravity"]),
        (("base", "panda", "--method", "magic"), ["exact", "numeric"]),
        (("base", "panda", "--gravity", "1,2"), ["three numbers"]),
        (("base", "panda", "--joints", "nobody"), ["'nobody'", "'panda_joint1'"]),
        (("robots", "missing.urdf"), ["missing.urdf"]),
        (("robots", "/"), ["'/'"]),
    ],
)
def test_messages_name_what_is_wrong_and_what_is_valid(capsys, arguments, words):
    message = failed(capsys, *arguments)
    for word in words:
        assert word in message


def test_a_directory_and_a_binary_file_are_no_robots(capsys, tmp_path):
    (tmp_path / "folder.urdf").mkdir()
    assert "folder.urdf" in failed(capsys, "robots", str(tmp_path / "folder.urdf"))
    (tmp_path / "binary.toml").write_bytes(bytes(range(256)))
    assert "binary.toml" in failed(capsys, "robots", str(tmp_path / "binary.toml"))
