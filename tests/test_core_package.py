"""The core as a package of its own: its files, its requirements, and the program's own digits."""

import importlib.util
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from advisor import describe_machine, estimate, find_model

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "deploy" / "core"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
FENCE = "The core imports nothing of the rest"


def settings(folder: Path) -> dict:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the built package and, of other packages, its requirements alone."""
    folder = tmp_path_factory.mktemp("core")
    command = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    subprocess.run(command, cwd=FOLDER, capture_output=True, check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    for needed in ("numpy", "numpy.libs"):
        place = Path(str(importlib.util.find_spec(needed.partition(".")[0]).origin)).parent
        present = place.with_name(needed)
        if present.exists():
            (folder / needed).symlink_to(present)
    return folder


def printed(code: str, folder: Path) -> str:
    """Output of a program that sees no other package."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = (sys.executable, "-S", "-P", "-c", code)
    run = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_its_modules_are_those_of_the_fence() -> None:
    contracts = settings(ROOT)["tool"]["importlinter"]["contracts"]
    (fenced,) = (row["source_modules"] for row in contracts if row["name"] == FENCE)
    packed = settings(FOLDER)["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    modules = {
        place.removesuffix(".py").replace("/", ".")
        for place in packed.values()
        if place.startswith("advisor/") and not place.startswith("advisor/installed/")
    }
    assert {name for name in modules if not name.endswith(".__init__")} == set(fenced)


def test_it_needs_numpy_alone_of_the_release_that_the_program_needs() -> None:
    needed = settings(FOLDER)["project"]["dependencies"]
    assert set(needed) <= set(settings(ROOT)["project"]["dependencies"])
    assert [text.split(">")[0] for text in needed] == ["numpy"]


def test_the_three_lines_of_its_readme_give_the_digits_of_the_program(installed: Path) -> None:
    code = README.split("```python\n")[1].split("```")[0].replace('"tokens/s"', "''")
    whole = estimate(find_model("Llama-3.1-8B"), describe_machine(gpu="RTX 3090"))
    assert len([line for line in code.splitlines() if line]) == 3
    assert float(printed(code, installed)) == float(whole.decode.value)


def test_every_runtime_places_every_kind_of_model(installed: Path) -> None:
    code = """
from advisor.core import estimates, machine, model
from advisor.runtimes import ASIDE, RUNTIMES
placed = 0
for name in ("Llama-3.1-8B", "Qwen3-30B-A3B", "DeepSeek-V3"):
    for gpu in ("RTX 3090", "Apple M4 Max 40c", "2x RTX 4090"):
        for runtime in (*RUNTIMES, *ASIDE):
            for each in estimates(model(name), machine(gpu=gpu), runtime=runtime.name):
                placed += each.decode is not None and bool(each.command)
print(placed)
"""
    assert int(printed(code, installed)) > 50


def test_what_the_core_lacks_says_where_it_is(installed: Path) -> None:
    code = """
import advisor
try:
    advisor.advise
except AttributeError as error:
    print(error)
"""
    assert "offload-advisor" in printed(code, installed)
