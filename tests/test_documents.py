"""Documents that describe the code name existing things, and the floors of the imports."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
DESCRIBING = ("CONTRIBUTING.md", "README.md", "docs/architecture.md", "docs/python.md")


@pytest.mark.parametrize("document", DESCRIBING)
def test_every_path_it_names_is_there(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    paths = set(re.findall(r"`((?:advisor|data|tests|docs|benchmarks)/[\w./]*)`", text))
    assert {path for path in paths if not (ROOT / path).exists()} == set()


@pytest.mark.parametrize("document", DESCRIBING)
def test_every_page_it_links_to_is_there(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    pages = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert [page for page in pages if not (ROOT / document).parent.joinpath(page).exists()] == []


def test_the_drawing_has_the_floors_that_are_held():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    held = [set(re.findall(r"\w+", layer)) for layer in contract["layers"]]
    drawn = [
        set(re.findall(r"\w+", line.rsplit("|", 1)[0]))
        for line in ARCHITECTURE.split("```")[1].splitlines()
        if line.startswith("  | ")
    ]
    above, ground = drawn[:-1], drawn[-1]
    assert above == held[: len(above)]
    assert ground == set.union(*held[len(above) :])


def test_every_room_has_its_line():
    rooms = {path.parent.name for path in (ROOT / "advisor").glob("*/__init__.py")}
    assert rooms == set(re.findall(r"^\| `(\w+)` \|", ARCHITECTURE, re.MULTILINE)) - {"advisor"}
