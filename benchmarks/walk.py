"""Files through which a model's name and an amount of money pass on their way to the verdict.

    python -m benchmarks.walk

Calls of one `advise` are watched: a file counts where one of its functions is called with the typed
name (a text, or a record that holds it) before the tensors are made, or with the typed amount (a
number, or a record that holds it) until the end.
"""

import contextlib
import io
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from advisor.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
NAME = "llama3.1-70b"
AMOUNT = 0.2345
QUESTION = (
    "advise", "--model", NAME, "--gpu", "RTX 3090", "--cpu", "Ryzen 9 7950X", "--ram-gb", "64",
    "--usd-per-kwh", str(AMOUNT), "--json",
)  # fmt: skip
TENSORS = "build"  # function that makes the tensors of a known model (advisor/model/build.py)


def holds(value: Any, wanted: object, depth: int = 3) -> bool:
    """Whether a value is the wanted one, or a record or collection that holds it."""
    if isinstance(value, str | float):
        return value == wanted
    if depth == 0:
        return False
    if isinstance(value, dict):
        return any(holds(part, wanted, depth - 1) for part in list(value.values())[:60])
    if isinstance(value, list | tuple):
        return any(holds(part, wanted, depth - 1) for part in value[:60])
    if is_dataclass(value) and not isinstance(value, type):
        parts = (getattr(value, field.name, None) for field in fields(value))
        return any(holds(part, wanted, depth - 1) for part in parts)
    if type(value).__name__ == "Namespace":
        return holds(vars(value), wanted, depth - 1)
    return False


class Walk:
    """Files of the program whose functions receive a value, in order of their first call."""

    def __init__(self) -> None:
        self.of_name: dict[str, str] = {}
        self.of_amount: dict[str, str] = {}
        self.built = False

    def watch(self, frame: FrameType, event: str, _: object) -> None:
        """Note a call, as `sys.setprofile` reports it."""
        code = frame.f_code
        if event != "call" or f"{ROOT}/advisor/" not in code.co_filename:
            return
        file = str(Path(code.co_filename).relative_to(ROOT))
        self.built |= file == "advisor/model/build.py" and code.co_name == TENSORS
        received = [frame.f_locals[name] for name in _parameters(frame) if name in frame.f_locals]
        if not self.built and file not in self.of_name and holds(received, NAME):
            self.of_name[file] = code.co_name
        if file not in self.of_amount and holds(received, AMOUNT):
            self.of_amount[file] = code.co_name


def _parameters(frame: FrameType) -> Iterator[str]:
    code = frame.f_code
    return iter(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def walked() -> Walk:
    """Both ways through one answer."""
    walk = Walk()
    with contextlib.redirect_stdout(io.StringIO()):
        sys.setprofile(walk.watch)
        try:
            main(QUESTION)
        finally:
            sys.setprofile(None)
    return walk


if __name__ == "__main__":
    taken = walked()
    for what, files in (("name until the tensors", taken.of_name), ("amount", taken.of_amount)):
        print(f"The {what}: {len(files)} files")
        for file, function in files.items():
            print(f"  {file}: {function}")
