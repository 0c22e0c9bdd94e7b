"""The documents are right: their examples run, their links lead somewhere, their citations exist."""

import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name(value):
    return str(value.relative_to(ROOT)) if isinstance(value, Path) else None


def blocks(document, language):
    return [text for found, text in FENCE.findall(document.read_text("utf-8")) if found == language]


def commands():
    """Every line `$ dynid ...` of a console block."""
    for document in DOCUMENTS:
        for block in blocks(document, "console"):
            for line in block.splitlines():
                if line.startswith("$ dynid "):
                    yield document, line.removeprefix("$ dynid ")


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if blocks(d, "python")], ids=name)
def test_python_examples_run(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile("\n".join(blocks(document, "python")), name(document), "exec"), {"__name__": "__main__"})


@pytest.mark.skipif(find_spec("dynid.cli") is None, reason="there is no command line yet")
@pytest.mark.parametrize(("document", "command"), list(commands()), ids=name)
def test_commands_run(document, command, tmp_path, monkeypatch):
    from dynid.cli import main

    monkeypatch.chdir(tmp_path)
    assert not main(shlex.split(command))


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
