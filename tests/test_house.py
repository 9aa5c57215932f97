"""The house stands: who may import whom, who may draw, and what a command line need not load."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "advisor"

LAYERS = """
    app
    __main__
    cli ui
    commands
    claims
    accuracy
    fitting
    reports answers options
    diagnosis_text results
    diagnosis
    sweeps causes crossover skypilot
    cards
    advice
    upgrades
    what_ifs offers remarks
    compare predict concurrency
    stated_machine stated_model stated_batch
    stated_run engines stated_gpus
    models assemble seen_machine assemble_named
    calibrated
    calibration named_machines fingerprint probed estimate engine_constants
    assumptions intervals
    probes runtimes describe
    cost
    kernels processors
    schedule steps
    placement hardware
    catalog machine_catalog price_rows
    model
    naming records efficiency tables tensors mixers layers quantization recipes architecture model_spec
    money wording peers
    machine machine_inputs workload measurement
    kv_cache quantity
    cells
    errors units folders __init__
"""
"""Floors of the house, top first; a module or package imports from its own floor or below."""

FLOOR = {
    name: floor
    for floor, names in enumerate(reversed(LAYERS.strip().splitlines()))
    for name in names.split()
}
DRAWING = {"streamlit", "plotly"}
HEAVY = {"pandas", "streamlit", "plotly", "matplotlib", "sqlalchemy", "jinja2"}


def sources() -> list[Path]:
    return [*sorted(PACKAGE.rglob("*.py")), *ROOT.glob("app.py")]


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def room(module: str) -> str:
    """The name in `LAYERS` that stands for a module: "advisor.ui.cards" is in "ui"."""
    parts = module.removeprefix("advisor").strip(".").split(".")
    return parts[0] or "__init__"


@cache
def imports(path: Path) -> frozenset[str]:
    """Full names of all modules that a file imports, wherever in it."""
    return frozenset(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively; write advisor.name"
            yield from (_imported(str(node.module), name.name) for name in node.names)


def _imported(module: str, name: str) -> str:
    inner = ROOT / Path(*module.split(".")) / name
    return f"{module}.{name}" if inner.is_dir() or inner.with_suffix(".py").exists() else module


def own_imports(path: Path) -> set[str]:
    return {name for name in imports(path) if name.split(".")[0] == "advisor"}


@pytest.mark.parametrize("path", sources(), ids=module_of)
def test_every_module_has_its_floor(path: Path) -> None:
    assert room(module_of(path)) in FLOOR, "give it a place in LAYERS"


def test_every_room_exists() -> None:
    rooms = {room(module_of(path)) for path in PACKAGE.rglob("*.py")}
    assert set(FLOOR) - rooms <= {"app"}


@pytest.mark.parametrize("path", sources(), ids=module_of)
def test_imports_point_down(path: Path) -> None:
    floor = FLOOR[room(module_of(path))]
    upward = {name for name in own_imports(path) if FLOOR[room(name)] > floor}
    assert not upward


def test_no_modules_need_each_other() -> None:
    needs = {module_of(path): own_imports(path) for path in sources()}
    assert list(TopologicalSorter(needs).static_order())  # raises CycleError where some do


@pytest.mark.parametrize("path", sources(), ids=module_of)
def test_only_pages_draw_in_the_browser(path: Path) -> None:
    drawing = {name.split(".")[0] for name in imports(path)} & DRAWING
    assert not drawing or room(module_of(path)) in ("app", "ui")


@pytest.mark.parametrize("module", ["advisor", "advisor.cli", "advisor.predict"])
def test_an_answer_need_not_load_heavy_libraries(module: str) -> None:
    code = f"import json, sys, {module}; print(json.dumps(sorted(sys.modules)))"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert HEAVY.isdisjoint(json.loads(found.stdout))
