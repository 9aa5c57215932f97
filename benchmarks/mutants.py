"""Share of small errors that the tests notice: `python -m benchmarks.mutants [COUNT] [SEED]`.

Each mutant is one function or constant with one change: another operator, a comparison or a
condition turned around, a number one larger (from `LARGE` on twice as large), the least for the
most. A sample of them, drawn with a
seed, is put in place one by one in a process of its own, where tests that call the function run:
those of its own folder first, then the quickest, until one fails. A mutant that no test notices
within `LONGEST` seconds of tests has survived; so has one that no test calls.

Bounds of comparisons (< to <=) are left alone: on continuous numbers both are alike. So are texts,
and `strict=True` of a zip, which itself is a check of its program and no result.
"""

import ast
import copy
import gc
import importlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
COUNT = 200
SEED = 1
MUTATED = (
    "advisor/cost_model", "advisor/request", "advisor/advice/table/cost.py",
    "advisor/advice/prices/power.py", "advisor/advice/table/choice.py",
)  # fmt: skip
"""Cost, placement and schedule; requests; money."""
TESTS = (
    "tests/cost_model", "tests/request", "tests/advice/table", "tests/advice/prices",
    "tests/advice/words", "tests/advice/test_advice.py",
    "tests/runtimes", "tests/properties",
)  # fmt: skip
LONGEST = 20.0  # tests of a mutant [s], as long as they take without it
LARGE = 100  # number from which one more may change no digit that is ever printed
LIMIT = 120.0  # time after which a mutant counts as noticed: it may never end [s]
OTHER_OPERATOR: dict[type[ast.AST], type[Any]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
OTHER_NAME = {
    "maximum": "minimum", "minimum": "maximum", "max": "min", "min": "max", "any": "all",
    "all": "any", "ceil": "floor", "floor": "ceil", "argmax": "argmin", "argmin": "argmax",
    "log": "sqrt", "exp": "sqrt",
}  # fmt: skip


@dataclass(frozen=True)
class Place:
    """A function or constant that a mutant changes."""

    path: str  # file
    name: str  # qualified name
    first: int  # first line, decorators included
    last: int  # last line
    constant: bool  # it is a number at the top of a file


@dataclass(frozen=True)
class Mutant:
    """One change."""

    place: Place
    node: int  # the changed node's number in a walk through the function
    line: int
    words: str  # what was changed to what


def main() -> None:
    """Draw mutants, judge them, print the share and the survivors."""
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    count, seed = (*numbers, *(COUNT, SEED)[len(numbers) :])
    only = tuple(word for word in sys.argv[1:] if not word.isdigit())
    drawn = [mutant for path in _files() for mutant in mutants(path)]
    drawn = [each for each in drawn if each.place.path.startswith(only or ("advisor",))]
    random.Random(seed).shuffle(drawn)
    sample = drawn[:count]
    print(f"{len(sample)} of {len(drawn):,} mutants, seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = folder
        options = ["-s", "-p", "no:cacheprovider", "-q", "--no-header", *TESTS]
        sys.exit(pytest.main(options, plugins=[Judge(sample)]))


def _files(parts: Sequence[str] = MUTATED) -> Iterator[str]:
    for part in parts:
        whole = ROOT / part
        for file in sorted(whole.rglob("*.py")) if whole.is_dir() else [whole]:
            yield str(file.relative_to(ROOT))


def mutants(path: str) -> Iterator[Mutant]:
    """All mutants of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    for place, node in _places(path, tree):
        for number, part in enumerate(_walk(node)):
            before = ast.unparse(part)
            changed = copy.deepcopy(part)
            if _change(changed):
                words = f"{before} -> {ast.unparse(changed)}"
                yield Mutant(place, number, getattr(part, "lineno", place.first), words)


def _places(path: str, tree: ast.AST, outer: str = "") -> Iterator[tuple[Place, ast.AST]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from _places(path, node, f"{outer}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            name = outer + node.name
            yield Place(path, name, first, node.end_lineno or first, constant=False), node
        elif isinstance(node, ast.Assign) and not outer and _number(node.value):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    line = node.lineno
                    yield Place(path, target.id, line, line, constant=True), node


def _number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Parts of a function that run when it is called, or of a constant: no texts, no types."""
    match node:
        case ast.FunctionDef():
            parts: Sequence[ast.AST] = node.body
        case ast.AnnAssign(value=value):
            parts = [value] if value else []
        case ast.Raise() | ast.JoinedStr() | ast.keyword(arg="strict"):
            parts = []
        case _:
            parts = list(ast.iter_child_nodes(node))
    yield node
    for part in parts:
        yield from _walk(part)


def _change(node: ast.AST) -> bool:
    """Change a node in place; False for one that has no mutant."""
    match node:
        case ast.BinOp() if any(map(_is_text, ast.walk(node))):
            return False
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign() if type(node.op) in OTHER_OPERATOR:
            node.op = OTHER_OPERATOR[type(node.op)]()
        case ast.Compare(ops=[first, *_]) if type(first) in OTHER_OPERATOR:
            node.ops[0] = OTHER_OPERATOR[type(first)]()
        case ast.UnaryOp(op=ast.USub()):
            node.op = ast.UAdd()
        case ast.UnaryOp(op=ast.Not()):
            node.operand = ast.UnaryOp(ast.Not(), node.operand)
        case _:
            return _changed_end(node)
    return True


def _is_text(node: ast.AST) -> bool:
    match node:
        case ast.JoinedStr() | ast.Constant(value=str()):
            return True
    return False


def _changed_end(node: ast.AST) -> bool:
    """Change a constant, or the name of a function that is called."""
    match node:
        case ast.Constant(value=bool(value)):
            node.value = not value
        case ast.Constant(value=int(value) | float(value)):
            if abs(value) >= LARGE:
                node.value = value * 2
            else:
                node.value = value + 1
        case ast.Call(func=ast.Attribute(attr=name) as called) if name in OTHER_NAME:
            called.attr = OTHER_NAME[name]
        case ast.Call(func=ast.Name(id=name) as called) if name in OTHER_NAME:
            called.id = OTHER_NAME[name]
        case _:
            return False
    return True


def put_in_place(mutant: Mutant) -> None:
    """Change the running program: its function's code, or the constant where it was imported."""
    path = ROOT / mutant.place.path
    place = mutant.place
    tree = ast.parse(path.read_text(encoding="utf-8"))
    (node,) = (node for other, node in _places(place.path, tree) if other == place)
    _change(next(part for at, part in enumerate(_walk(node)) if at == mutant.node))
    ast.fix_missing_locations(tree)
    if place.constant:
        value = node.value.value  # type: ignore[attr-defined]
        _rebind(place, value)
        return
    (code,) = (
        each
        for each in _codes(compile(tree, str(path), "exec"))
        if (each.co_qualname, each.co_firstlineno) == (place.name, place.first)
    )
    gc.unfreeze()  # what is frozen is not listed
    for live in gc.get_objects():
        if isinstance(live, FunctionType) and _key(live.__code__) == _key(code):
            live.__code__ = code


def _rebind(place: Place, value: float) -> None:
    module = sys.modules[place.path[: -len(".py")].replace("/", ".")]
    former = vars(module)[place.name]
    for other in list(sys.modules.values()):
        if getattr(other, "__name__", "").startswith("advisor"):
            names = vars(other)
        else:
            names = {}
        if names.get(place.name) is former:
            names[place.name] = value


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _codes(const)


def _key(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _readers() -> dict[str, list[Place]]:
    """Functions that read a name, by that name."""
    readers: dict[str, list[Place]] = {}
    for path in _files(["advisor"]):
        for place, node in _places(path, ast.parse((ROOT / path).read_text("utf-8"))):
            if not place.constant:
                for name in {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}:
                    readers.setdefault(name, []).append(place)
    return readers


class Judge:
    """Plugin of pytest that runs, in place of all tests, some of them for each mutant."""

    def __init__(self, sample: Sequence[Mutant]) -> None:
        self.sample = sample
        self.calls: dict[str, dict[str, set[int]]] = {}  # lines called, by test and file
        self.seconds: dict[str, float] = {}  # of each test
        self.users: dict[str, list[Place]] = {}  # functions that read a constant, by its name

    def pytest_collection(self) -> None:
        """No search for the least example that fails; it would take longer than all else."""
        from hypothesis import Phase, settings  # pytest rewrites its assertions before

        few = [Phase.explicit, Phase.generate]
        settings.register_profile("mutants", settings.get_profile("house"), phases=few)
        settings.load_profile("mutants")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Judge all mutants."""
        for path in _files():
            importlib.import_module(path[: -len(".py")].replace("/", "."))
        self.users = _readers()
        gc.freeze()
        start = time.perf_counter()
        self._trace(session)
        print(f"{len(session.items)} tests, traced in {time.perf_counter() - start:.0f} s")
        results: dict[str, list[bool]] = {}
        for mutant in self.sample:
            items = self._items(session, mutant)
            noticed = bool(items) and self._noticed(items, mutant)
            folder = str(Path(mutant.place.path).parent)
            results.setdefault(folder, []).append(noticed)
            if not noticed:
                where = f"{mutant.place.path}:{mutant.line} {mutant.place.name}"
                print(f"survived ({len(items)} tests) {where}: {mutant.words[:150]}", flush=True)
        for folder, judged in (*results.items(), ("all", [*chain(*results.values())])):
            share = sum(judged) / len(judged)
            print(f"{folder:<28} {sum(judged):>4} of {len(judged):>4} noticed, {share:.1%}")
        print(f"load {os.getloadavg()[0]:.1f}, {time.perf_counter() - start:.0f} s")
        return True

    def _trace(self, session: pytest.Session) -> None:
        """Which functions each test calls, and how long it takes, found in another process."""
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            _silent()
            with os.fdopen(into, "w") as pipe:
                json.dump(_traced(session), pipe)
            os._exit(0)
        os.close(into)
        with os.fdopen(out) as pipe:
            traced = json.load(pipe)
        os.waitpid(child, 0)
        for test, (seconds, files) in traced.items():
            self.seconds[test] = seconds
            self.calls[test] = {path: set(lines) for path, lines in files.items()}

    def _items(self, session: pytest.Session, mutant: Mutant) -> list[pytest.Item]:
        """Tests that call a mutant: those of its folder first, then the quickest."""
        place = mutant.place
        if place.constant:
            called = self.users.get(place.name, [])
        else:
            called = [place]
        folder = place.path.split("/")[1]
        chosen = [
            item
            for item in session.items
            if any(
                each.first <= line <= each.last
                for each in called
                for line in self.calls.get(item.nodeid, {}).get(each.path, ())
            )
        ]
        chosen.sort(key=lambda item: (folder not in item.nodeid, self.seconds[item.nodeid]))
        spent = 0.0
        within: list[pytest.Item] = []
        for item in chosen:
            spent += self.seconds[item.nodeid]
            if within and spent > LONGEST:
                break
            within.append(item)
        return within

    def _noticed(self, items: list[pytest.Item], mutant: Mutant) -> bool:
        """Whether one of the tests fails with a mutant."""
        child = os.fork()
        if child == 0:
            os.setsid()
            _silent()
            put_in_place(mutant)
            items[0].config.pluginmanager.register(_Ending())
            _run(items)
            os._exit(0)
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return status != 0
            time.sleep(0.02)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return True


class _Ending:
    """Plugin that ends the process at the first failure."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            os._exit(1)


def _silent() -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)


def _run(items: Sequence[pytest.Item]) -> None:
    for item, following in zip(items, (*items[1:], None), strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def _traced(session: pytest.Session) -> dict[str, tuple[float, dict[str, list[int]]]]:
    """Time and called lines of each test, by file."""
    traced = {}
    within = {str(ROOT / path): path for path in _files(["advisor"])}
    for item, following in zip(session.items, (*session.items[1:], None), strict=True):
        called: dict[str, set[int]] = {}

        def note(
            frame: object, event: str, _: object, called: dict[str, set[int]] = called
        ) -> None:
            if event == "call":
                code = frame.f_code  # type: ignore[attr-defined]
                path = within.get(code.co_filename)
                if path is not None:
                    called.setdefault(path, set()).add(code.co_firstlineno)

        start = time.process_time()
        sys.setprofile(note)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        sys.setprofile(None)
        lines = {path: sorted(each) for path, each in called.items()}
        traced[item.nodeid] = (time.process_time() - start, lines)
    return traced


if __name__ == "__main__":
    main()
