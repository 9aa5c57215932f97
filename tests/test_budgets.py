"""The ruler: what a reader of each folder must hold in the head.

Budgets count statements, conditional expressions, parameters over five and names taken from the
core, for the program, its tests, the lab and the benchmarks. Newlines are not counted: a value on
a line of its own costs nothing. A folder may outgrow its budget by `SLACK`; a commit that raises
a budget says which noun it adds, and `python tests/test_budgets.py --write` writes the table anew.
"""

import argparse
import ast
import csv
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUDGETS = Path(__file__).parent / "samples" / "budgets.csv"
SLACK = 0.03  # share by which a folder may outgrow its budget
BESIDE = ("tests", "lab", "benchmarks")  # beside the program, one folder each
MEASURES = ("files", "statements", "conditionals", "parameters", "core_names")
MANY_PARAMETERS = 5  # what a function may take without being counted
FENCE = "The core imports nothing of the rest"  # its contract in pyproject.toml
CORE_MODULES = 75  # most with a statement, which a newcomer reads to follow an answer
CORE_LIBRARIES = {"numpy"}
CORE_NAMES = 148  # most that the rest of the program takes from the core
ROWS = 4  # values from which a literal is a table
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@cache
def sources() -> dict[Path, ast.Module]:
    """Syntax tree of each file of Python, by its path from the root."""
    folders = ("advisor", *BESIDE)
    paths = [ROOT / "app.py", *(path for name in folders for path in (ROOT / name).rglob("*.py"))]
    return {
        path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(paths)
    }


@cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Nodes of a file, which all rules go through."""
    return tuple(ast.walk(tree))


@cache
def module_of(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


@cache
def core() -> frozenset[str]:
    """Modules of the core: those that the import contract fences."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    fenced = next(row["source_modules"] for row in contracts if row["name"] == FENCE)
    return frozenset(
        module
        for module in map(module_of, sources())
        if any(module == name or module.startswith(f"{name}.") for name in fenced)
    )


def names_taken(tree: ast.Module) -> Iterator[str]:
    """Names that a file imports from the core, each with its module."""
    for node in nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if node.module in core() and f"{node.module}.{alias.name}" not in core():
                    yield f"{node.module}.{alias.name}"
                yield from names_of_module(tree, f"{node.module}.{alias.name}", alias)


@cache
def attributes(tree: ast.Module) -> tuple[tuple[str, str], ...]:
    """Attributes of plain names in a file, each with the name: `timing.seconds`."""
    taken = (node for node in nodes(tree) if isinstance(node, ast.Attribute))
    return tuple((node.value.id, node.attr) for node in taken if isinstance(node.value, ast.Name))


def names_of_module(tree: ast.Module, module: str, alias: ast.alias) -> Iterator[str]:
    """Names that a file takes from an imported module of the core: `timing.seconds`."""
    if module not in core():
        return
    known_as = alias.asname or alias.name
    yield from (f"{module}.{name}" for within, name in attributes(tree) if within == known_as)


def parameters_over(tree: ast.Module) -> int:
    """Parameters beyond five, of all functions of a file."""
    functions = (node for node in nodes(tree) if isinstance(node, Function))
    return sum(
        max(len(taken.posonlyargs + taken.args + taken.kwonlyargs) - MANY_PARAMETERS, 0)
        for taken in (function.args for function in functions)
    )


def statements(tree: ast.Module) -> int:
    """Statements of a file; docstrings are none."""
    return sum(isinstance(node, ast.stmt) and not is_docstring(node) for node in nodes(tree))


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def folder_of(path: Path) -> str:
    """The row of a file in the table: a folder of `advisor/`, or one beside it."""
    if path.parts[0] in BESIDE:
        return path.parts[0]
    if len(path.parts) > 2:
        return path.parts[1]
    return "advisor"


def sizes() -> dict[str, Counter[str]]:
    """Sizes by folder; files of no folder are those of `advisor`."""
    counted: dict[str, Counter[str]] = {}
    taken: dict[str, set[str]] = {}
    for path, tree in sources().items():
        folder = counted.setdefault(folder_of(path), Counter())
        folder["files"] += 1
        folder["statements"] += statements(tree)
        folder["conditionals"] += sum(isinstance(node, ast.IfExp) for node in nodes(tree))
        folder["parameters"] += parameters_over(tree)
        if module_of(path) not in core():
            taken.setdefault(folder_of(path), set()).update(names_taken(tree))
    for name, names in taken.items():
        counted[name]["core_names"] = len(names)
    return counted


def write() -> None:
    """Write the sizes that are reached as budgets."""
    with BUDGETS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["folder", *MEASURES])
        for folder, size in sorted(sizes().items()):
            writer.writerow([folder, *(size[measure] for measure in MEASURES)])


def test_no_folder_outgrows_its_budget() -> None:
    with BUDGETS.open(encoding="utf-8", newline="") as file:
        budgets = {row["folder"]: row for row in csv.DictReader(file)}
    over = [
        f"{folder}: {size[measure]:,} {measure}, the budget is {int(budgets[folder][measure]):,}"
        if folder in budgets
        else f"{folder}: a new folder"
        for folder, size in sizes().items()
        for measure in MEASURES
        if folder not in budgets or size[measure] > (1 + SLACK) * int(budgets[folder][measure])
    ]
    assert not over, (
        "Make it simpler, or say in the commit which noun it adds and raise the budget "
        "(python tests/test_budgets.py --write):\n" + "\n".join(over)
    )


def test_the_core_is_small_and_stands_on_numpy() -> None:
    imported = {
        name
        for path, tree in sources().items()
        if module_of(path) in core()
        for node in nodes(tree)
        for name in imported_by(node)
    }
    libraries = {name.partition(".")[0] for name in imported} - sys.stdlib_module_names
    own = {name for name in imported if name.startswith("advisor.")}
    packages = {name.rpartition(".")[0] for name in core()}
    followed = [
        path for path, tree in sources().items() if module_of(path) in core() and statements(tree)
    ]
    assert len(followed) <= CORE_MODULES
    assert libraries - {"advisor"} == CORE_LIBRARIES
    assert own - packages <= core()


def imported_by(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        module = str(node.module)
        inner = [f"{module}.{alias.name}" for alias in node.names]
        return [name if name in modules() else module for name in inner]
    return []


@cache
def modules() -> frozenset[str]:
    """Modules of all files."""
    return frozenset(map(module_of, sources()))


def test_the_rest_takes_few_names_from_the_core() -> None:
    taken = {
        name
        for path, tree in sources().items()
        if path.parts[0] not in BESIDE and module_of(path) not in core()
        for name in names_taken(tree)
    }
    assert len(taken) <= CORE_NAMES


EMPTY_WORDS = ("each", "thing", "tmp", "obj", "res")
"""Words that name no value of the core: `layers`, `per_expert` and `core_rate` do."""


def test_names_of_values_in_the_core_say_what_they_are() -> None:
    empty = [
        f"{path}:{node.lineno}"
        for path, tree in sources().items()
        if module_of(path) in core()
        for node in nodes(tree)
        if isinstance(node, ast.Name | ast.arg)
        if (node.id if isinstance(node, ast.Name) else node.arg) in EMPTY_WORDS
    ]
    assert empty == []


def unlike_things(tree: ast.Module) -> Iterator[int]:
    """Lines of assignments of several values to several names, where none is an exchange."""
    for node in nodes(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
            targets = node.targets[0]
            unpacked = any(isinstance(value, ast.Starred) for value in node.value.elts)
            enumerated = len(node.targets) > 1  # names of the members, and of all of them
            several = isinstance(targets, ast.Tuple) and not (unpacked or enumerated)
            if several and not is_exchange(targets, node.value):
                yield node.lineno


def is_exchange(targets: ast.expr, values: ast.expr) -> bool:
    """Whether a value needs what another name held before: `a, b = b, a + b`."""
    changed = {ast.unparse(node) for node in ast.walk(targets) if isinstance(node, ast.expr)}
    read = {ast.unparse(node) for node in ast.walk(values) if isinstance(node, ast.expr)}
    return not changed.isdisjoint(read)


def crowded(tree: ast.Module) -> Iterator[int]:
    """Lines of conditional expressions within another one."""
    for node in nodes(tree):
        if isinstance(node, ast.IfExp):
            parts = [node.test, node.body, node.orelse]
            if any(isinstance(inner, ast.IfExp) for part in parts for inner in ast.walk(part)):
                yield node.lineno


def unchanged(tree: ast.Module) -> Iterator[int]:
    """Lines of a function that assign a name to itself."""
    for function in nodes(tree):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Assign) and ast.unparse(node).split(" = ")[0] == (
                    ast.unparse(node.value)
                ):
                    yield node.lineno


def asked_twice(tree: ast.Module) -> Iterator[int]:
    """Lines of an `if` with two branches whose condition the one before it has as well."""
    for node in nodes(tree):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if not isinstance(block, list):
                continue
            whole = [node for node in block if isinstance(node, ast.If) and node.orelse]
            for first, second in pairwise(block):
                alike = first in whole and second in whole
                if alike and ast.dump(first.test) == ast.dump(second.test):
                    yield second.lineno


def is_table(node: ast.expr | None) -> bool:
    """Whether an expression is a literal of several rows."""
    if isinstance(node, ast.Call):
        return any(is_table(taken) for taken in node.args)
    if isinstance(node, ast.Dict):
        return len(node.keys) >= ROWS
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        several = len(node.elts) > 1 and all(not isinstance(row, ast.Name) for row in node.elts)
        return len(node.elts) >= ROWS or several
    return False


def tables_end(tree: ast.Module) -> set[int]:
    """Last lines of literal tables: values of names, and rows of a parametrized test."""
    ends = set()
    for node in nodes(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and is_table(node.value):
            ends.add(node.end_lineno or 0)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            ends.update(row.end_lineno or 0 for row in node.decorator_list if is_table(row))
    return ends


def unformatted(path: Path, tree: ast.Module) -> list[int]:
    """Lines that the formatter skips although they end no table."""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    skipped = [number for number, line in enumerate(lines, 1) if line.endswith("# fmt: skip")]
    return [number for number in skipped if number not in tables_end(tree)]


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(lambda _path, tree: unlike_things(tree), id="one statement a line"),
        pytest.param(lambda _path, tree: crowded(tree), id="one condition an expression"),
        pytest.param(lambda _path, tree: unchanged(tree), id="no name stays what it is"),
        pytest.param(lambda _path, tree: asked_twice(tree), id="a condition once"),
        pytest.param(unformatted, id="the formatter skips tables alone"),
    ],
)
def test_text_is_not_packed(rule) -> None:
    packed = [f"{path}:{line}" for path, tree in sources().items() for line in rule(path, tree)]
    assert not packed


def test_the_ruler_measures_what_it_says() -> None:
    packed = ast.parse("a, b = 1, 2\nlow, high = high, low\nx = 1 if a else 2 if b else 3\n")
    assert list(unlike_things(packed)) == [1]
    assert list(crowded(packed)) == [3]
    twice = ast.parse(
        "def f(a):\n    if a:\n        b = 1\n    else:\n        a = a\n"
        "    if a:\n        c = 1\n    else:\n        c = 2\n    return c\n"
    )
    assert list(unchanged(twice)) == [5]
    assert list(asked_twice(twice)) == [6]
    long = ast.parse('def f(a, b, c, d, *, e, g):\n    """Sum."""\n    return a\n')
    assert parameters_over(long) == 1
    assert statements(long) == 2  # the function and its return
    numbers = sorted(tables_end(ast.parse("ROWS = (\n  (1, 2),\n  (3, 4),\n)\nx = f(1)\n")))
    assert list(pairwise([*numbers, 5])) == [(4, 5)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", required=True, help="write the budgets")
    parser.parse_args()
    write()
