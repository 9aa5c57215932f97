"""The architecture: libraries allowed in each package, and imports of a command line."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor.cli.parser import COMMANDS

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "advisor"

DRAWING = {"streamlit", "plotly"}
HEAVY = {"pandas", "streamlit", "plotly", "matplotlib", "sqlalchemy", "jinja2"}


def sources() -> list[Path]:
    return [*sorted(PACKAGE.rglob("*.py")), *ROOT.glob("app.py")]


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def package(module: str) -> str:
    """The folder or file of `advisor/` that a module is in: "advisor.ui.parts" is in "ui"."""
    parts = module.removeprefix("advisor").strip(".").split(".")
    return parts[0] or "__init__"


def imports(path: Path) -> Iterator[str]:
    """Full names of all modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively; write advisor.name"
            yield from (_imported(str(node.module), name.name) for name in node.names)


def _imported(module: str, name: str) -> str:
    inner = ROOT / Path(*module.split(".")) / name
    if inner.is_dir() or inner.with_suffix(".py").exists():
        return f"{module}.{name}"
    return module


def test_only_pages_draw_in_the_browser() -> None:
    drawing = {
        module_of(path)
        for path in sources()
        if not DRAWING.isdisjoint(name.split(".")[0] for name in imports(path))
    }
    assert {module for module in drawing if package(module) not in ("app", "ui")} == set()


@pytest.mark.parametrize(
    "module",
    [
        "advisor",
        "advisor.cli.main",
        *(f"advisor.cli.{name}" for name in ("estimate", "advise", "find")),
        "advisor.evidence.published.predict",
    ],
)
def test_an_answer_need_not_load_heavy_libraries(module: str) -> None:
    assert HEAVY.isdisjoint(loaded_by(module))


def test_the_first_page_need_not_load_what_only_reports_need() -> None:
    assert {"pandas", "matplotlib", "sqlalchemy", "jinja2"}.isdisjoint(
        loaded_by("advisor.ui.advise.page, advisor.ui.question.row")
    )


def test_a_command_loads_no_other_command() -> None:
    modules = {f"advisor.cli.{row.run.partition('.')[0]}" for row in COMMANDS if row.run}
    assert modules.isdisjoint(loaded_by("advisor.cli.main"))
    assert modules.intersection(loaded_by("advisor.cli.estimate")) == {"advisor.cli.estimate"}


def test_opening_the_first_page_loads_few_modules() -> None:
    open_page = "streamlit.testing.v1.AppTest.from_file('app.py', default_timeout=300).run()"
    modules = [
        module
        for module in loaded_by("streamlit.testing.v1", open_page)
        if module.startswith("advisor")
    ]
    assert "advisor.ui.advise.page" in modules
    assert len(modules) <= 217, f"{len(modules)} of the program's own modules are loaded"


def loaded_by(modules: str, then: str = "") -> list[str]:
    """Names of all modules that importing some of them loads, and a statement after it."""
    code = f"import json, sys, {modules}\n{then}\nprint(json.dumps(sorted(sys.modules)))"
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return list(json.loads(run.stdout))
