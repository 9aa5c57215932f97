"""Words of the code: names that say what a thing is, and a class name that means one class."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE, TESTS, BENCHMARKS, LAB = (
    ROOT / name for name in ("advisor", "tests", "benchmarks", "lab")
)

EMPTY_WORDS = ("one", "found", "asked", "said")
"""Words that name nothing: a row of a table is a `row`, an estimate an `estimate`."""


@cache
def trees(folder: Path) -> tuple[ast.Module, ...]:
    paths = sorted(folder.rglob("*.py"))
    return tuple(ast.parse(path.read_text(encoding="utf-8")) for path in paths)


def identifiers(tree: ast.AST) -> Iterator[str]:
    """Every name that a syntax tree binds, reads or passes; not its texts and comments."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.keyword(arg=str(name)) | ast.MatchAs(name=str(name)):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.alias(asname=str(name)):
                yield name


@cache
def counted(folder: Path) -> Counter[str]:
    every = (name for tree in trees(folder) for name in identifiers(tree))
    return Counter(name for name in every if name in EMPTY_WORDS)


@pytest.mark.parametrize(
    ("code", "times"),
    [
        ("for one in rows: print(one)", 2),
        ("def one(): ...", 1),
        ("self.one = made(one=1)", 2),
        ("text = 'one of them'  # one", 0),
        ("def counted(one: int) -> int: return one", 2),
        ("import counts as one", 1),
    ],
)
def test_a_name_counts_wherever_it_is_used(code, times):
    assert Counter(identifiers(ast.parse(code)))["one"] == times


@pytest.mark.parametrize(
    "folder", [PACKAGE, TESTS, BENCHMARKS, LAB], ids=lambda folder: folder.name
)
@pytest.mark.parametrize("word", EMPTY_WORDS)
def test_names_say_what_a_thing_is(word, folder):
    count = counted(folder)[word]
    assert not count, f"`{word}` is a name {count} times. Name the thing: gpu, row, layer."


def test_a_class_name_means_one_class():
    names = Counter(
        node.name
        for tree in (*trees(PACKAGE), *trees(LAB))
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    )
    several = sorted(name for name, classes in names.items() if classes > 1)
    assert not several, f"classes of one name: {', '.join(several)}"


OTHERWISE = re.compile(r"[;,:.] else\b|\bor else\b|^else\b")
"""A second meaning behind "else", which a reader has to find out."""


def docstrings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Names of a module's classes and functions, each with its docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "name", "module"), text


def test_the_first_sentence_of_a_docstring_says_one_thing() -> None:
    first = {
        name: " ".join(text.partition("\n\n")[0].split())
        for tree in trees(PACKAGE)
        for name, text in docstrings(tree)
    }
    assert {name: words for name, words in first.items() if OTHERWISE.search(words)} == {}


RIDDLE = re.compile(
    r"^(?:\d+ (?!%)|True where|False where|The same (?:where|as)|Said of)"
    r"|\b(?:as above|make it better|that counted|something more)\b"
)
"""Beginnings and words of docstrings that make a reader look elsewhere for what is meant."""


def test_a_docstring_begins_with_what_a_thing_is() -> None:
    riddles = [
        f"{name}: {text.splitlines()[0]}"
        for tree in trees(PACKAGE)
        for name, text in docstrings(tree)
        if RIDDLE.search(" ".join(text.partition("\n\n")[0].split()))
    ]
    assert riddles == []
