"""Each walkthrough of docs/walkthroughs.md is carried out in a copy, as it is printed."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "walkthroughs.md").read_text(encoding="utf-8")
WALKS = {
    title.strip(): body
    for title, _, body in (part.partition("\n") for part in PAGE.split("\n## ")[1:])
}
STEP = re.compile(
    r"^In (?P<how>the new file|) ?`(?P<file>[^`]+)`"
    r"(?:, (?P<where>behind|in place of) the line that begins with `(?P<line>[^`]+)`)?:\n\n"
    r"```\w+\n(?P<text>.*?)```\n"
    r"|^In `(?P<changed>[^`]+)`, replace `` (?P<old>.+?) `` by `` (?P<new>.+?) ``\.$",
    re.MULTILINE | re.DOTALL,
)
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
COPIED = ("advisor", "data", "docs", "tests", "lab", "benchmarks", "deploy", ".streamlit")
LINT = (("ruff", "format", "--check", "."), ("ruff", "check", "."), ("lint-imports",))
"""Commands of `make lint` for every walkthrough."""
TYPES = ("mypy",)
"""Its command for walkthroughs that change code, part of `make soak`: half a minute to a minute for
each."""
CACHE = ".mypy_cache"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the repository without its history."""
    for folder in COPIED:
        shutil.copytree(
            ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    if (ROOT / CACHE).is_dir():
        shutil.copytree(ROOT / CACHE, tmp_path / CACHE)
    return tmp_path


def carry_out(step: re.Match[str], folder: Path) -> None:
    """Make the change of a step."""
    path = folder / (step["file"] or step["changed"])
    if step["how"]:
        assert not path.exists()
        path.write_text(step["text"], encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    if step["old"]:
        assert step["old"] in text
        path.write_text(text.replace(step["old"], step["new"]), encoding="utf-8")
        return
    lines = text.splitlines(keepends=True)
    at = [number for number, line in enumerate(lines) if line.startswith(step["line"])]
    assert at, f"{step['file']} has no line that begins with {step['line']!r}"
    kept = step["where"] == "behind"
    lines[at[0] : at[0] + 1] = [*([lines[at[0]]] if kept else []), step["text"]]
    path.write_text("".join(lines), encoding="utf-8")


def printed(command: str, folder: Path) -> str:
    """Output of a command of the page, run in the copy."""
    words = shlex.split(command)
    if words[0] == "pytest":
        words = ["python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *words[1:]]
    return passed([sys.executable, *words[1:]], folder)


def passed(command: list[str], folder: Path) -> str:
    """Output of a command that succeeds in the copy."""
    run = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(folder), "ADVISOR_DATA_DIR": str(folder / "kept")},
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    return run.stdout + run.stderr


@pytest.mark.parametrize("title", WALKS)
def test_a_walkthrough_is_whole(title: str, copy: Path) -> None:
    steps = list(STEP.finditer(WALKS[title]))
    assert len(steps) == len(re.findall(r"^In ", WALKS[title], re.MULTILINE))
    for step in steps:
        carry_out(step, copy)
    (console,) = CONSOLE.findall(WALKS[title])
    output = ""
    for line in console.splitlines():
        if line.startswith("$ "):
            output = printed(line.removeprefix("$ "), copy)
        else:
            assert line in output
    typed = any(str(step["file"]).endswith(".py") for step in steps)
    for tool, *arguments in (*LINT, *([TYPES] if typed and "ADVISOR_SOAK" in os.environ else [])):
        passed([str(Path(sys.executable).with_name(tool)), *arguments], copy)


def test_the_four_changes_are_there() -> None:
    assert list(WALKS) == [
        "Add a GPU",
        "Add an option",
        "Add a runtime",
        "Add an export column",
    ]
