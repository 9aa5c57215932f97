"""The core answers without the packages of the extras; a command that needs one says which."""

import json
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
BLOCKED = """
import os, sys
from importlib.machinery import PathFinder

class Others(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        absent = name.partition(".")[0] in {absent}
        return None if absent else super().find_spec(name, path, target)

sys.meta_path = [Others if each is PathFinder else each for each in sys.meta_path]
os.environ |= {settings}
from advisor.cli.main import main
"""
ONCE = "sys.exit(main(sys.argv[1:]))"
EACH = """
import contextlib, io, json
failed = {}
for words in json.loads(sys.argv[1]):
    printed, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
        code = main(words)
    if code or not printed.getvalue():
        failed[" ".join(words)] = said.getvalue()[-300:]
print(json.dumps(failed))
"""
DESKTOP = ("--gpu", "RTX 3090", "--ram-gb", "64")
LLAMA = ("--model", "Llama-3.1-8B", *DESKTOP)
PROMISES = """
models: [Qwen3-8B]
machines: [{name: workstation, gpu: RTX 3090, ram_gb: 64}]
promises: {fits: true}
"""
FILE = "FILE.yaml"
ROWS = "ROWS.csv"
ANSWERED = (
    (),
    ("estimate", *LLAMA),
    ("estimate", *LLAMA, "--start", "compose"),
    ("advise", *LLAMA),
    ("model", "Qwen3-32B"),
    ("machine", "Mac Studio M3 Ultra 512GB"),
    ("find", "--machine", "Mac mini M4 Pro 64GB", "--json"),
    ("diagnose", *LLAMA, "--measured", "20"),
    ("check", FILE),
    ("report", "run", FILE),
    ("predict", ROWS),
    ("accuracy",),
    ("claims",),
    ("calibration", "list"),
    ("runs", "list"),
    ("prices",),
)
NEEDS = {
    "app": (("app",),),
    "reports": (("report", "list"), ("advise", *LLAMA, "--save", "kept")),
    "hub": (("model", "nobody-at-all/no-such-model-here"),),
    "mcp": (("mcp",),),
    "dask": (("find", "--model", "Llama-3.1-8B", "--scheduler", "tcp://127.0.0.1:1"),),
    "prices": (("prices", "refresh"),),
    "postgres": (("report", "list"),),
    "gpu": (("probe", "gpu"),),
}
"""Commands by the extra that they need."""
SETTINGS = {"postgres": {"ADVISOR_DATABASE_URL": "postgresql://nobody@127.0.0.1/none"}}
NO_COMMAND = {"dev", "oracles", "login"}
"""Extras of the tests, and of the pages' login, which a server's administrator sets up."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


@cache
def brought(extra: str) -> frozenset[str]:
    """Packages that an extra installs, with those that they need; of the core for no name."""
    waiting = [Requirement(text.replace("\\\n", " ")) for text in EXTRAS.get(extra, ())]
    if not extra:
        waiting = [Requirement(text) for text in PROJECT["dependencies"]]
    packages: set[str] = set()
    while waiting:
        needed = waiting.pop()
        name = canonicalize_name(needed.name)
        if name == "offload-advisor":
            packages |= frozenset[str]().union(*(brought(each) for each in needed.extras))
        elif name not in packages:
            packages.add(name)
            try:
                inner = map(Requirement, requires(name) or ())
            except PackageNotFoundError:  # of another system
                continue
            wanted = needed.extras or {""}
            waiting += [
                each
                for each in inner
                if not each.marker or any(each.marker.evaluate({"extra": name}) for name in wanted)
            ]
    return frozenset(packages)


def listed(extra: str) -> frozenset[str]:
    """Packages that an extra lists; what they need may be another extra's, too."""
    named = {canonicalize_name(Requirement(text).name) for text in EXTRAS[extra]}
    return frozenset(named - {"offload-advisor"}) or brought(extra)


@cache
def owners_of_modules() -> dict[str, set[str]]:
    """Installed packages by the modules that they bring; the list of every package's files is read
    for it.
    """
    return {
        module: {str(canonicalize_name(owner)) for owner in owners}
        for module, owners in packages_distributions().items()
    }


def modules(packages: frozenset[str]) -> list[str]:
    """Modules of packages that the core does not bring."""
    absent = packages - brought("")
    return sorted(module for module, owners in owners_of_modules().items() if owners & absent)


def without(
    absent: list[str],
    folder: Path,
    *arguments: str,
    each: bool = False,
    settings: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    stated = {"ADVISOR_DATA_DIR": str(folder / "data"), **(settings or {})}
    code = BLOCKED.format(absent=set(absent), settings=stated)
    code += EACH if each else ONCE
    (folder / FILE).write_text(PROMISES)
    rows = next((ROOT / "data/measurements").glob("llama_cpp.csv")).read_text(encoding="utf-8")
    (folder / ROWS).write_text("".join(rows.splitlines(keepends=True)[:3]), encoding="utf-8")
    words = [str(folder / word) if word in (FILE, ROWS) else word for word in arguments]
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_core_answers_without_any_extra(tmp_path: Path) -> None:
    everything = frozenset[str]().union(*(brought(extra) for extra in EXTRAS))
    absent = modules(everything)
    assert {"streamlit", "pandas", "sqlalchemy", "httpx2", "mcp", "cuda"} <= set(absent)
    assert not {"numpy", "yaml", "psutil", "rapidfuzz"} & set(absent)
    places = {name: str(tmp_path / name) for name in (FILE, ROWS)}
    commands = [[places.get(word, word) for word in words] or ["here"] for words in ANSWERED]
    done = without(absent, tmp_path, json.dumps(commands), each=True)
    assert json.loads(done.stdout.splitlines()[-1]) == {}, done.stderr


def test_a_command_says_which_extra_it_needs(tmp_path: Path) -> None:
    assert NEEDS.keys() | NO_COMMAND == EXTRAS.keys()
    wrong = {}
    for extra, commands in NEEDS.items():
        for arguments in commands:
            absent = modules(listed(extra))
            done = without(absent, tmp_path, *arguments, settings=SETTINGS.get(extra))
            named = f"pip install 'offload-advisor[{extra}]'" in done.stderr
            refused = done.returncode == (0 if extra == "gpu" else 2)  # a probe goes on without
            if not (named and refused) or "Traceback" in done.stderr:
                wrong[arguments] = json.dumps([sorted(absent)[:9], done.stderr[-300:]])
    assert wrong == {}
