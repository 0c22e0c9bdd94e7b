"""The documents are right: their examples run, their links lead somewhere, their citations exist."""

import re
import shlex
from pathlib import Path

import pytest

from dynid.cli import main

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"Of a file `([\w.]+)` with\s*\Z")


def name(value):
    return str(value.relative_to(ROOT))


def examples(document):
    """Code of a document in its order: language, text, and the file it is said to be, if any."""
    text = document.read_text("utf-8")
    for found in FENCE.finditer(text):
        said = FILE.search(text[: found.start()])
        yield found[1], found[2], said[1] if said else None


def runnable(document):
    """Whether anything in the document can be run here: setting up a checkout cannot."""
    return any(
        language == "python" or (language == "console" and "$ dynid " in text)
        for language, text, _ in examples(document)
    )


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if runnable(d)], ids=name)
def test_examples_run(document, tmp_path, monkeypatch, capsys):
    """In the order of the document and in one folder, as a reader would."""
    monkeypatch.chdir(tmp_path)
    python = {"__name__": "__main__"}
    for language, text, file in examples(document):
        if file is not None:
            Path(file).write_text(text, encoding="utf-8")
        elif language == "python":
            exec(compile(text, name(document), "exec"), python)
        elif language == "console":
            run_console(text, capsys)


def run_console(text, capsys):
    """Commands after `$ dynid`; lines below one begin lines that it prints, an error if they say so."""
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE)
    for command, shown in commands:
        if not command.startswith("dynid "):
            continue
        capsys.readouterr()
        status = main(shlex.split(command.removeprefix("dynid ")))
        printed = "".join(capsys.readouterr())
        for line in shown.splitlines():
            assert any(real.startswith(line) for real in printed.splitlines()), f"{command}: {printed}"
        refused = re.match(r"dynid [a-z]+: ", shown) is not None
        assert status == (2 if refused else 0), f"{command}: {printed}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_links_lead_somewhere(document):
    targets = re.findall(r"\]\(([^)#]+)", document.read_text("utf-8"))
    assert [t for t in targets if "://" not in t and not (document.parent / t).exists()] == []


def test_every_citation_is_in_the_bibliography():
    keys = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "docs/references.bib").read_text("utf-8"), re.MULTILINE))
    sources = [*ROOT.glob("src/**/*.py"), *ROOT.glob("src/**/*.toml"), *ROOT.glob("tests/*.py"), *DOCUMENTS]
    cited = {
        key: name(source)
        for source in sources
        for key in re.findall(r"\[([A-Z][A-Za-z]*(?:19|20)\d\d)\]", source.read_text("utf-8"))
    }
    assert cited
    assert {key: where for key, where in cited.items() if key not in keys} == {}


def test_every_command_is_in_the_readme():
    commands = {path.stem for path in (ROOT / "src/dynid/commands").glob("*.py")}
    helpers = {"__init__", "logs", "output"}
    listed = set(re.findall(r"`dynid ([a-z]+)", (ROOT / "README.md").read_text("utf-8")))
    assert commands - helpers <= listed
