"""Ways of a model's name, of an amount of money and of a machine's words through the program.

    python -m benchmarks.walk

Calls of one `advise` are watched: a file counts where one of its functions is called with the typed
name (a text, or a record that holds it) before the tensors are made, or with the typed amount (a
number, or a record that holds it) until the end.

Calls of one `estimate` show how a reader follows a machine's words until the machine is made. A
stay is a run of functions of one file that receive a text with the words for the first time;
tables of facts and errors, which take any text, are no stay. A climb is a step up between the rooms
of an answer (model and machine below the cost model, advice above), in the order in which their
functions are first called; some of them return from a figure alone, a property of a record that was
handed on. The tables are read before, for another machine.
"""

import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

from advisor.cli.main import main
from advisor.machine import catalog

ROOT = Path(__file__).resolve().parents[1]
NAME = "llama3.1-70b"
AMOUNT = 0.2345
QUESTION = (
    "advise", "--model", NAME, "--gpu", "RTX 3090", "--cpu", "Ryzen 9 7950X", "--ram-gb", "64",
    "--usd-per-kwh", str(AMOUNT), "--json",
)  # fmt: skip
MODEL = "llama3.1-8b"
MACHINE = "RTX 3090 + Ryzen 9 7950X, 64 GB"
WORDS = ("3090", "7950x")  # words of this machine, in lower case
BEFORE = "RTX 4090 + Ryzen 7 7700X, 32 GB"  # machine whose answer reads the tables
TAKE_ANY_TEXT = ("advisor/catalog/", "advisor/errors.py", "advisor/lazy.py")
ROOMS = {"machine": 0, "model": 0, "cost_model": 1, "advice": 2}  # heights of an answer's rooms
MADE = ("advisor/machine/from_spec.py", "machine")  # function that makes the machine
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


class MachineWalk:
    """Stays of a machine's words, and climbs of the answer."""

    def __init__(self) -> None:
        self.stays: list[tuple[str, str]] = []  # file and first function of each stay
        self.rooms: list[str] = []  # rooms in the order of first calls
        self.figures: list[bool] = []  # whether properties of records alone were called there
        self.made = False
        self._called: set[tuple[str, str]] = set()
        self._received: set[tuple[str, str]] = set()

    @property
    def climbs(self) -> int:
        """Number of steps up between rooms."""
        heights = [ROOMS[room] for room in self.rooms]
        return sum(after > before for before, after in pairwise(heights))

    @property
    def from_figures(self) -> int:
        """Number of those steps that return from properties of records."""
        visits = pairwise(zip(self.rooms, self.figures, strict=True))
        return sum(
            figure and ROOMS[after] > ROOMS[before] for (before, figure), (after, _) in visits
        )

    def watch(self, frame: FrameType, event: str, _: object) -> None:
        """Note a call, as `sys.setprofile` reports it."""
        code = frame.f_code
        if f"{ROOT}/advisor/" not in code.co_filename:
            return
        file = str(Path(code.co_filename).relative_to(ROOT))
        function = (file, code.co_name)
        self.made |= event == "return" and function == MADE
        if event != "call":
            return
        is_figure = code.co_name.startswith("<") or [*_parameters(frame)] == ["self"]
        self._enter(function, is_figure=is_figure)
        received = (frame.f_locals.get(name) for name in _parameters(frame))
        if not self.made and any(map(has_words, received)):
            self._receive(function)

    def _enter(self, function: tuple[str, str], *, is_figure: bool) -> None:
        room = function[0].split("/")[1]
        if function in self._called or room not in ROOMS:
            return
        self._called.add(function)
        if self.rooms[-1:] != [room]:
            self.rooms.append(room)
            self.figures.append(is_figure)
        self.figures[-1] &= is_figure

    def _receive(self, function: tuple[str, str]) -> None:
        if function in self._received or function[0].startswith(TAKE_ANY_TEXT):
            return
        self._received.add(function)
        if not self.stays or self.stays[-1][0] != function[0]:
            self.stays.append(function)


def has_words(value: object) -> bool:
    """Whether a value is a text with words of the machine."""
    return isinstance(value, str) and any(word in value.casefold() for word in WORDS)


class LookUps:
    """Names of the machine's parts that were looked up in the catalogue."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def counted(self, find: Callable[..., Any]) -> Callable[..., Any]:
        """A reader of names that notes those of the machine."""

        def noted(name: str, *more: Any) -> Any:
            if has_words(name):
                self.names.append(name)
            return find(name, *more)

        return noted


@contextlib.contextmanager
def looked_up() -> Iterator[LookUps]:
    """Look-ups of names while the catalogue is watched."""
    look_ups = LookUps()
    tables = {name: getattr(catalog, name) for name in ("GPUS", "HOSTS", "DISKS", "MACHINES")}
    for name, table in tables.items():
        find = look_ups.counted(table.find)
        setattr(catalog, name, replace(table, find=find, named=look_ups.counted(table.named)))
    try:
        yield look_ups
    finally:
        for name, table in tables.items():
            setattr(catalog, name, table)


def machine_walked() -> tuple[MachineWalk, LookUps]:
    """Way of a machine's words through one answer, and the look-ups of its parts."""
    walk = MachineWalk()
    quiet = contextlib.redirect_stderr(io.StringIO())
    with quiet, contextlib.redirect_stdout(io.StringIO()), looked_up() as look_ups:
        main(("estimate", "--model", MODEL, "--machine", BEFORE, "--json"))
        sys.setprofile(walk.watch)
        try:
            main(("estimate", "--model", MODEL, "--machine", MACHINE, "--json"))
        finally:
            sys.setprofile(None)
    return walk, look_ups


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
    way, look_ups = machine_walked()
    print(f"The machine's words: {len(way.stays)} stays, {len(look_ups.names)} look-ups of names")
    for stay in way.stays:
        print(f"  {stay[0]}: {stay[1]}")
    print(
        f"The answer: {way.climbs} climbs between {', '.join(ROOMS)}, {way.from_figures} of them "
        "from a figure"
    )
    taken = walked()
    for what, files in (("name until the tensors", taken.of_name), ("amount", taken.of_amount)):
        print(f"The {what}: {len(files)} files")
        for file, function in files.items():
            print(f"  {file}: {function}")
