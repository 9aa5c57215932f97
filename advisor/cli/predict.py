"""Command `predict`: speeds for the rows of a measurement file, written as the rows are read."""

import argparse
import csv
import multiprocessing
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeAlias

from advisor import given_files
from advisor.catalog.csv_records import Unreadable, records
from advisor.cli.command import output, tell
from advisor.errors import InputError
from advisor.evidence.published.row import ANSWERED, COLUMNS, STATED, UNREADABLE
from advisor.formatting import inert

if TYPE_CHECKING:
    from advisor.machine.machine import KnownRun

Cells: TypeAlias = dict[str, str]  # cells of a row by column
Prediction: TypeAlias = dict[str, object]  # cells of an answer by column
Known: TypeAlias = Mapping[str, tuple["KnownRun", ...]]  # known runs by machine
Group: TypeAlias = tuple["Rows", Future[list[Prediction]] | None]
"""Rows of a group, and the answers to come of its new ones."""
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
            f"{_other_separator(header)}`python -m advisor predict --help` lists the columns that "
            "are read."
        )
    twice = [name for name in COLUMNS if header.count(name) > 1]
    if twice:
        raise InputError(f"{path} has the column {twice[0]!r} twice; leave one of them out.")
    tell(_unread(header))
    return chain((first,), rows)


def _other_separator(header: Sequence[str]) -> str:
    """Words on a table whose columns another sign than a comma separates; empty for others."""
    separators = [sign for sign in ";\t|" if set(MODEL_COLUMNS) & set("".join(header).split(sign))]
    if separators:
        return f"its columns are separated by {separators[0]!r}: save it with commas. "
    return ""


def _unread(header: Sequence[str]) -> Iterator[str]:
    """Columns of a table that nothing reads, in a sentence."""
    unread = [name for name in header if name.strip() and name not in COLUMNS]
    if unread:
        yield f"Columns that are not read: {inert(', '.join(unread))[:200]}."


def _readable(
    read: Iterable[list[str] | Unreadable], header: Sequence[str], columns: Sequence[str]
) -> Iterator[Cells]:
    """Rows with the columns that are read; one that cannot be read says why, and is answered so."""
    wanted = {"id", *columns}
    names = [name if name in wanted else "" for name in header]
    for row in read:
        if isinstance(row, Unreadable):
            yield {UNREADABLE: row.why}
        else:
            cells = zip(names, row, strict=False)
            yield {name: cell for name, cell in cells if cell and name}


def _answered(rows: Iterator[Cells], known: Known) -> Iterator[Prediction]:
    """Answers in the order of the rows; of many rows, by a process on each core."""
    answers = Answers(known)
    groups = iter(lambda: list(islice(rows, TOGETHER)), [])
    first = next(groups, [])
    workers = os.cpu_count() or 1
    if len(first) < TOGETHER or workers < 2:
        for group in chain((first,), groups):
            read = answers.read(group)
            yield from answers.of(read, _predictions([*read.new.values()], known))
        return
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
        yield from _in_turn(pool, chain((first,), groups), WAITING * workers, answers)


KEPT = 20_000  # answers that are remembered, of rows that a table repeats


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a group, with the values that each states."""

    cells: list[Cells]
    stated: list[bytes]  # digest of each
    new: dict[bytes, Cells]  # rows that are not answered and not in work yet, by their digests


class Answers:
    """Answers of a table's rows: rows that state the same are answered once, in any process."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self._kept: dict[bytes, tuple[object, ...]] = {}  # cells, a third of a dictionary's size
        self._asked: set[bytes] = set()  # of groups in work

    def read(self, rows: list[Cells]) -> Rows:
        """Rows of a group; those not seen before are noted as being computed."""
        stated = [_stated(cells) for cells in rows]
        new = {
            digest: cells
            for digest, cells in zip(stated, rows, strict=True)
            if digest not in self._kept and digest not in self._asked
        }
        self._asked |= new.keys()
        return Rows(rows, stated, new)

    def of(self, rows: Rows, answers: Iterable[Prediction]) -> Iterator[Prediction]:
        """Answers of a group in its order, its new rows included."""
        for stated, answer in zip(rows.new, answers, strict=True):
            self._kept[stated] = tuple(answer[name] for name in ANSWERED)
        self._asked -= rows.new.keys()
        for cells, stated in zip(rows.cells, rows.stated, strict=True):
            kept = self._kept.get(stated)
            if kept is None:  # forgotten since
                answer = _predictions([cells], self.known)[0]
            else:
                answer = dict(zip(ANSWERED, kept, strict=True))
            yield answer | {"id": cells.get("id") or ""}
        for stated in [*islice(self._kept, max(len(self._kept) - KEPT, 0))]:
            del self._kept[stated]


def _stated(cells: Cells) -> bytes:
    """Digest of what a row states, but for its name."""
    text = repr([(name, cell) for name, cell in cells.items() if name != "id"])
    return blake2b(text.encode(errors="replace"), digest_size=16).digest()


def _in_turn(
    pool: ProcessPoolExecutor, groups: Iterable[list[Cells]], ahead: int, answers: Answers
) -> Iterator[Prediction]:
    """Answers of groups of rows in their order, with at most `ahead` groups in work. A group of
    known rows alone gives the processes nothing to do.
    """
    waiting: deque[Group] = deque()
    for group in groups:
        rows = answers.read(group)
        future = None
        if rows.new:
            with suppress(BrokenExecutor):
                known = _of_machines(group, answers.known)
                future = pool.submit(_predictions, [*rows.new.values()], known)
        waiting.append((rows, future))
        if len(waiting) == ahead:
            yield from _result(waiting.popleft(), answers)
    while waiting:
        yield from _result(waiting.popleft(), answers)


def _of_machines(rows: list[Cells], known: Known) -> Known:
    """Known runs of the machines of some rows."""
    machines = {cells.get("machine", "").strip() for cells in rows}
    return {machine: runs for machine, runs in known.items() if machine in machines}


def _result(group: Group, answers: Answers) -> Iterator[Prediction]:
    """Answers of a group; computed here where its process was ended, by a lack of memory, say."""
    rows, future = group
    if future:
        with suppress(BrokenExecutor):
            return answers.of(rows, future.result())
    return answers.of(rows, _predictions([*rows.new.values()], answers.known))


def _predictions(rows: list[Cells], known: Known) -> list[Prediction]:
    """Answers of a group; imported here, since what hands out groups needs none."""
    if not rows:
        return []
    from advisor.evidence.published.predict import predictions

    return list(predictions(rows, known))
