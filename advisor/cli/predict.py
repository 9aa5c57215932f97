"""`predict`: speeds for the rows of a measurement file, written as they are read."""

import argparse
import csv
import multiprocessing
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import suppress
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import TextIO, TypeAlias

from advisor import given_files
from advisor.catalog.csv_records import Unreadable, records
from advisor.cli.command import output, tell
from advisor.errors import InputError
from advisor.evidence.published.row import ANSWERED, COLUMNS, STATED, UNREADABLE
from advisor.formatting import inert
from advisor.machine.known_run import KnownRun

Cells: TypeAlias = dict[str, str]  # cells of a row by column
Prediction: TypeAlias = dict[str, object]  # cells of an answer by column
Known: TypeAlias = Mapping[str, tuple[KnownRun, ...]]  # known runs by machine
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
        known = _known(args.known) if args.known else {}
        bar = tqdm(total=args.rows.stat().st_size, unit="B", unit_scale=True, disable=None)
        with output(args.output) as out, bar:
            writer = csv.DictWriter(out, ANSWERED, lineterminator="\n")
            writer.writeheader()
            for prediction in _answered(rows, known):
                # No spreadsheet runs their texts as formulas.
                texts = {name: inert(str(prediction[name])) for name in ("id", "note")}
                writer.writerow(prediction | texts)
                bar.update(file.tell() - bar.n)


def _known(path: Path) -> Known:
    """Known runs of a file by machine; which of its rows teach nothing is said."""
    from advisor.evidence.published.known import known_runs

    file = given_files.opened(path)
    with TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="") as text:
        runs = known_runs(_rows(text, path, COLUMNS))
    tell(runs.left_out)
    if not runs.by_machine:
        raise InputError(
            f"{path} holds no run that teaches anything; each needs a machine, as the rows of the "
            "other file have it, a model and a speed (tg_tps, tg_tps_total or pp_tps)."
        )
    return runs.by_machine


def _rows(text: TextIO, path: Path, columns: Sequence[str] = STATED) -> Iterator[Cells]:
    """Rows of a table, read as they are needed, after a look at its first lines."""
    read = records(text)
    header = next(read, [])
    if isinstance(header, Unreadable):
        raise InputError(f"{path} cannot be read as a CSV file: {header.why}.")
    rows = _readable(read, header, columns)
    first = next(rows, None)
    if any(NO_UTF8 in column or "\0" in column for column in header):
        raise InputError(f"{path} cannot be read as a CSV file: it is no text in UTF-8.")
    if first is None:
        raise InputError(f"{path} holds no rows; a header and at least one row are needed.")
    if not set(MODEL_COLUMNS) & set(header):
        raise InputError(
            f"{path} has no column {' or '.join(map(repr, MODEL_COLUMNS))}; "
            f"`python -m advisor predict --help` lists the columns that are read."
        )
    tell(_unread(header))
    return chain((first,), rows)


def _unread(header: Sequence[str]) -> Iterator[str]:
    """Columns of a table that nothing reads, in a sentence."""
    unread = [name for name in header if name.strip() and name not in COLUMNS]
    if unread:
        yield f"Columns that are not read: {inert(', '.join(unread))[:200]}."


def _readable(
    read: Iterable[list[str] | Unreadable], header: Sequence[str], columns: Sequence[str]
) -> Iterator[Cells]:
    """Rows with the columns that are read; one that cannot be read says why, and is answered so."""
    wanted = ("id", *columns)
    for row in read:
        if isinstance(row, Unreadable):
            yield {UNREADABLE: row.why}
        else:
            cells = zip(header, row, strict=False)
            yield {name: cell for name, cell in cells if cell and name in wanted}


def _answered(rows: Iterator[Cells], known: Known) -> Iterator[Prediction]:
    """Answers in the order of the rows; of many rows, by a process on each core."""
    groups = iter(lambda: list(islice(rows, TOGETHER)), [])
    first = next(groups, [])
    workers = os.cpu_count() or 1
    if len(first) < TOGETHER or workers < 2:
        for group in chain((first,), groups):
            yield from _predictions(group, known)
        return
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        yield from _in_turn(pool, chain((first,), groups), WAITING * workers, known)


def _in_turn(
    pool: ProcessPoolExecutor, groups: Iterable[list[Cells]], ahead: int, known: Known
) -> Iterator[Prediction]:
    """Answers of groups of rows in their order, with at most `ahead` groups in work."""
    waiting: deque[tuple[list[Cells], Future[list[Prediction]] | None]] = deque()
    for rows in groups:
        future = None
        with suppress(BrokenExecutor):
            future = pool.submit(_predictions, rows, _of_machines(rows, known))
        waiting.append((rows, future))
        if len(waiting) == ahead:
            yield from _result(*waiting.popleft(), known)
    for rows, future in waiting:
        yield from _result(rows, future, known)


def _of_machines(rows: list[Cells], known: Known) -> Known:
    """Known runs of the machines of some rows."""
    machines = {cells.get("machine", "").strip() for cells in rows}
    return {machine: runs for machine, runs in known.items() if machine in machines}


def _result(
    rows: list[Cells], future: Future[list[Prediction]] | None, known: Known
) -> list[Prediction]:
    """Answers of a group; computed here where its process was ended, by a lack of memory, say."""
    if future:
        with suppress(BrokenExecutor):
            return future.result()
    return _predictions(rows, known)


def _predictions(rows: list[Cells], known: Known) -> list[Prediction]:
    """Answers of a group; imported here, since what hands out groups needs none."""
    from advisor.evidence.published.predict import predictions

    return list(predictions(rows, known))
