"""What the set-up promises: a lock that pins everything and names no address."""

import re
import tomllib
from pathlib import Path

import dynid

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LOCK = (ROOT / "requirements.lock").read_text("utf-8")


def canonical(requirement):
    """The name in a requirement, as package registries compare names."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement).group()).lower()


def test_the_lock_names_no_address():
    assert not re.search(r"://|file:|index|find-links|@", LOCK)


def test_the_lock_pins_and_hashes_everything():
    for entry in LOCK.replace("\\\n", " ").splitlines():
        assert re.match(r"[\w.-]+==\S+ ", entry)
        assert re.search(r"--hash=sha256:[0-9a-f]{64}( |$)", entry)


def test_everything_the_project_asks_for_is_locked():
    groups = [
        PROJECT["build-system"]["requires"],
        PROJECT["project"]["dependencies"],
        *PROJECT["project"]["optional-dependencies"].values(),
        *PROJECT["dependency-groups"].values(),
    ]
    locked = {canonical(entry) for entry in re.findall(r"^[\w.-]+(?===)", LOCK, re.MULTILINE)}
    assert {canonical(requirement) for group in groups for requirement in group} <= locked


def test_the_version_is_one():
    assert dynid.__version__ == PROJECT["project"]["version"]
