"""Parts common to all commands: the parser, the `--json` option, the output."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from advisor.errors import InputError
from advisor.formatting import harmless

Json = dict[str, Any]  # record that a command prints
INDENTED = 1000  # most records of a list that is indented
INSTALLED = "offload-advisor"  # the console command that an installed package offers


def program() -> str:
    """Name under which the program was started, for usage lines and hints."""
    if Path(sys.argv[0]).stem == INSTALLED:
        return INSTALLED
    return "python -m advisor"


def tell(notes: Iterable[str]) -> None:
    """Print notes on a machine on standard error."""
    for note in notes:
        print(harmless(f"advisor: {note}"), file=sys.stderr)


@contextmanager
def output(path: Path | None, mode: str = "w") -> Iterator[Any]:
    """File to write to, or standard output without a path; an error says what cannot be written."""
    if path is None:
        yield sys.stdout.buffer if "b" in mode else sys.stdout
        return
    try:
        text = "b" not in mode
        with path.open(
            mode, encoding="utf-8" if text else None, newline="" if text else None
        ) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error


_answers: ContextVar[list[tuple[object, str]] | None] = ContextVar("answers", default=None)
"""Answers that are collected in place of printing; None where they are printed."""


@contextmanager
def collected() -> Iterator[list[tuple[object, str]]]:
    """Records and texts of the commands that run within the block."""
    answers: list[tuple[object, str]] = []
    token = _answers.set(answers)
    try:
        yield answers
    finally:
        _answers.reset(token)


def remark(args: argparse.Namespace, notes: Iterable[str]) -> None:
    """Print notes on standard error, beside the text."""
    if not args.json or _answers.get() is not None:
        for note in notes:
            print(harmless(f"note: {note}"), file=sys.stderr)


def show(args: argparse.Namespace, answer: object, text: Callable[[], str]) -> None:
    """Print a record as JSON if `--json` was given, and as text if not.

    A long list has one record a line, which is several times quicker to write than an indented one.
    """
    answers = _answers.get()
    if answers is not None:
        answers.append((answer, text()))
    elif args.json and isinstance(answer, list) and len(answer) > INDENTED:
        lines = ",\n".join(json.dumps(record, allow_nan=False) for record in answer)
        print(f"[\n{lines}\n]")
    else:
        print(json.dumps(answer, indent=2, allow_nan=False) if args.json else harmless(text()))
