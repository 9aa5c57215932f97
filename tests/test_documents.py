"""Documents and comments name existing things, and the floors of the imports."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
DOCUMENTS = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("", "docs", "data/measurements")
    for path in (ROOT / folder).glob("*.md")
)
OF_OTHERS = ("docs/multi-gpu.md", "advisor/runtimes/llama_cpp/example.py")
"""A file of llama.cpp that docs/runtimes.md cites, and one that a walkthrough writes."""
OF_OTHER_PROGRAMS = ("py", "yaml", "launch", "distributed_config", "numCpuExpertLayersRatio")
"""Files, and names of MLX and LM Studio, that begin like a module of ours."""
NAMED = re.compile(
    r"(?<![\w/.-])(?:advisor|data|tests|benchmarks|lab)/[\w./-]*\.(?:py|csv(?:\.xz)?|md)\b"
)
"""Path of a file of this repository; folders called `docs` are mostly those of other projects."""
PRETENDED = {"tests/catalog/test_csv_tables.py", "tests/test_documents.py"}
"""Tests that name files which are not there."""


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_path_it_names_is_there(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    paths = set(re.findall(r"`((?:advisor|data|tests|docs|benchmarks|lab)/[\w./]*)`", text))
    assert {path for path in paths if not (ROOT / path).exists()} <= {*OF_OTHERS}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_page_it_links_to_is_there(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    pages = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert [page for page in pages if not (ROOT / document).parent.joinpath(page).exists()] == []


def test_every_file_that_code_and_data_name_is_there():
    sources = [
        path
        for folder in ("advisor", "tests", "benchmarks", "lab", "data")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".csv", ".md")
        and path.relative_to(ROOT).as_posix() not in PRETENDED
    ]
    missing = {
        (source.relative_to(ROOT).as_posix(), named)
        for source in (*sources, *ROOT.glob("*.txt"), ROOT / "pyproject.toml")
        for named in NAMED.findall(source.read_text(encoding="utf-8"))
        if not (ROOT / named).exists() and not named.startswith("advisor/installed/")
    }
    assert missing == set()


def names_within(tree: ast.AST) -> set[str]:
    """Names that a module or class defines or hands on, and the attributes of its objects."""
    return {
        name
        for node in ast.walk(tree)
        for name in (
            getattr(node, "name", None),
            getattr(node, "asname", None),
            getattr(node, "attr", None),
            getattr(node, "id", None),
        )
        if isinstance(name, str)
    }


def test_every_name_of_a_module_or_class_in_comments_is_there():
    """`known_runs.TimedRun` is a name of that module, `Estimate.again` one of that class."""
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "advisor").rglob("*.py")}
    named: dict[str, set[str]] = {}
    for path, text in texts.items():
        tree = ast.parse(text)
        inner = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        named.setdefault(path.parent.name, set()).add(path.stem)
        named.setdefault(path.parent.parent.name, set()).add(path.parent.name)
        if path.stem != "__init__":
            named.setdefault(path.stem, set()).update(names_within(tree))
        for node in inner:
            named.setdefault(node.name, set()).update(names_within(node))
    stale = {
        (path.relative_to(ROOT).as_posix(), f"{owner}.{name}")
        for path, text in texts.items()
        for owner, name in re.findall(r"`(\w+)\.(\w+)`", text)
        if name not in (*named.get(owner, (name,)), *OF_OTHER_PROGRAMS)
    }
    assert stale == set()


def test_the_drawing_has_the_floors_that_are_held():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    held = [set(re.findall(r"\w+", layer)) for layer in contract["layers"]]
    drawn = [
        set(re.findall(r"\w+", line.rsplit("|", 1)[0]))
        for line in ARCHITECTURE.split("```")[1].splitlines()
        if line.startswith("  | ")
    ]
    above = drawn[:-1]
    ground = drawn[-1]
    assert above == held[: len(above)]
    assert ground == set.union(*held[len(above) :])


def test_every_room_has_its_line():
    rooms = {path.parent.name for path in (ROOT / "advisor").glob("*/__init__.py")}
    assert rooms == set(re.findall(r"^\| `(\w+)` \|", ARCHITECTURE, re.MULTILINE)) - {"advisor"}
