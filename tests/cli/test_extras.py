"""The core answers without the packages of the extras; a command that needs one says which."""

import subprocess
import sys
from pathlib import Path

from advisor.cli.main import EXTRAS

ROOT = Path(__file__).parents[2]
BLOCKED = """
import sys
from importlib.abc import MetaPathFinder

class Absent(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in {absent}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
from advisor.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
DESKTOP = ("--gpu", "RTX 3090", "--ram-gb", "64")
ANSWERED = (
    ("estimate", "--model", "Llama-3.1-8B", *DESKTOP),
    ("advise", "--model", "Llama-3.1-8B", *DESKTOP),
    ("model", "Qwen3-32B"),
    ("machine", "Mac Studio M3 Ultra 512GB"),
    ("find", "--machine", "Mac mini M4 Pro 64GB", "--json"),
    ("diagnose", "--model", "Llama-3.1-8B", *DESKTOP, "--measured", "20"),
    ("prices",),
)
NEEDS = {
    ("app",): "app",
    ("report", "list"): "reports",
    ("model", "nobody-at-all/no-such-model-here"): "hub",
}


def without_extras(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = BLOCKED.format(absent=set(EXTRAS))
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_core_answers_without_any_extra() -> None:
    failed = {}
    for arguments in ANSWERED:
        done = without_extras(*arguments)
        if done.returncode or not done.stdout:
            failed[arguments] = done.stderr[-300:]
    assert failed == {}


def test_a_command_says_which_extra_it_needs() -> None:
    for arguments, extra in NEEDS.items():
        done = without_extras(*arguments)
        assert done.returncode == 2, arguments
        assert f"pip install 'offload-advisor[{extra}]'" in done.stderr, arguments
        assert "Traceback" not in done.stderr
