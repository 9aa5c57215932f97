"""The architecture: libraries allowed in each package, and imports of a command line."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

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
    return f"{module}.{name}" if inner.is_dir() or inner.with_suffix(".py").exists() else module


def test_only_pages_draw_in_the_browser() -> None:
    drawing = {
        module_of(path)
        for path in sources()
        if not DRAWING.isdisjoint(name.split(".")[0] for name in imports(path))
    }
    assert {module for module in drawing if package(module) not in ("app", "ui")} == set()


@pytest.mark.parametrize(
    "module", ["advisor", "advisor.cli.main", "advisor.evidence.published.predict"]
)
def test_an_answer_need_not_load_heavy_libraries(module: str) -> None:
    code = f"import json, sys, {module}; print(json.dumps(sorted(sys.modules)))"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert HEAVY.isdisjoint(json.loads(found.stdout))
