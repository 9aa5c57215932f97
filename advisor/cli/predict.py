"""`predict`: speeds for the rows of a measurement file, written as they are read."""

import argparse
import csv
import multiprocessing
import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import suppress
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import TextIO, TypeAlias

from advisor import given_files
from advisor.cli.command import output
from advisor.errors import InputError
from advisor.evidence.published.row import ANSWERED, STATED
from advisor.formatting import inert

Cells: TypeAlias = dict[str, str]  # cells of a row by column
Prediction: TypeAlias = dict[str, object]  # cells of an answer by column
TOGETHER = 250  # rows that a process answers at once
WAITING = 3  # groups of rows in work or waiting, for each process: what is read ahead stays small
MODEL_COLUMNS = ("model", "params_b")
"""Columns of which a table needs at least the first, or the second for models without a name."""
NO_UTF8 = "\ufffd"  # what stands in the text for bytes that are not UTF-8


def run(args: argparse.Namespace) -> None:
    """Run `predict`."""
    from tqdm import tqdm

    file = given_files.opened(args.rows)
    with TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="") as text:
        if args.output and args.output.exists() and args.output.samefile(args.rows):
            raise InputError(f"{args.output} is the file that is read; give another name.")
        rows = _rows(text, args.rows)
        bar = tqdm(total=args.rows.stat().st_size, unit="B", unit_scale=True, disable=None)
        with output(args.output) as out, bar:
            writer = csv.DictWriter(out, ANSWERED, lineterminator="\n")
            writer.writeheader()
            for prediction in _answered(rows):
                # No spreadsheet runs their texts as formulas.
                texts = {name: inert(str(prediction[name])) for name in ("id", "note")}
                writer.writerow(prediction | texts)
                bar.update(file.tell() - bar.n)


def _rows(text: TextIO, path: Path) -> Iterator[Cells]:
    """Rows of a table, read as they are needed, after a look at its first lines."""
    reader = csv.DictReader(text)
    try:
        header = reader.fieldnames or ()
        rows = _readable(reader)
        first = next(rows, None)
    except csv.Error as error:
        raise InputError(f"{path} cannot be read as a CSV file: {error}.") from error
    if any(NO_UTF8 in column or "\0" in column for column in header):
        raise InputError(f"{path} cannot be read as a CSV file: it is no text in UTF-8.")
    if first is None:
        raise InputError(f"{path} holds no rows; a header and at least one row are needed.")
    if not set(MODEL_COLUMNS) & set(header):
        raise InputError(
            f"{path} has no column {' or '.join(map(repr, MODEL_COLUMNS))}; "
            f"`python -m advisor predict --help` lists the columns that are read."
        )
    return chain((first,), rows)


def _readable(reader: "csv.DictReader[str]") -> Iterator[Cells]:
    """Rows with the columns that are read; a row that cannot be read is empty and is answered."""
    while True:
        try:
            row = next(reader, None)
        except csv.Error:
            row = {}
        if row is None:
            return
        yield {name: cell for name, cell in row.items() if cell and name in ("id", *STATED)}


def _answered(rows: Iterator[Cells]) -> Iterator[Prediction]:
    """Answers in the order of the rows; of many rows, by a process on each core."""
    groups = iter(lambda: list(islice(rows, TOGETHER)), [])
    first = next(groups, [])
    workers = os.cpu_count() or 1
    if len(first) < TOGETHER or workers < 2:
        for group in chain((first,), groups):
            yield from _predictions(group)
        return
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        yield from _in_turn(pool, chain((first,), groups), WAITING * workers)


def _in_turn(
    pool: ProcessPoolExecutor, groups: Iterable[list[Cells]], ahead: int
) -> Iterator[Prediction]:
    """Answers of groups of rows in their order, with at most `ahead` groups in work."""
    waiting: deque[tuple[list[Cells], Future[list[Prediction]] | None]] = deque()
    for rows in groups:
        future = None
        with suppress(BrokenExecutor):
            future = pool.submit(_predictions, rows)
        waiting.append((rows, future))
        if len(waiting) == ahead:
            yield from _result(*waiting.popleft())
    for rows, future in waiting:
        yield from _result(rows, future)


def _result(rows: list[Cells], future: Future[list[Prediction]] | None) -> list[Prediction]:
    """Answers of a group; computed here where its process was ended, by a lack of memory, say."""
    try:
        if future:
            return future.result()
        return _predictions(rows)
    except BrokenExecutor:
        return _predictions(rows)


def _predictions(rows: list[Cells]) -> list[Prediction]:
    """Answers of a group; imported here, since what hands out groups needs none."""
    from advisor.evidence.published.predict import predictions

    return list(predictions(rows))
