"""Records of a CSV file from outside, where a damaged record leaves later ones readable.

A line without end is not read into memory, and behind a quote that is never closed the next line is
a record again: Python's reader would take all that follows for one cell.
"""

import csv
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO, TypeAlias

from advisor.errors import InputError
from advisor.given_files import reason

LONGEST = 100_000  # letters of a record
MOST_LINES = 20  # lines of a record, whose quoted cells may have several
Row: TypeAlias = "list[str] | Unreadable"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Record that cannot be read."""

    why: str


def records(text: TextIO) -> Iterator[Row]:
    """Cells of each record, or why it has none; empty lines are left out.

    Raises:
        InputError: the file's system does not give what follows, as of a damaged disk.
    """
    lines = _Lines(text)
    while (line := lines.next()) is not None:
        if isinstance(line, Unreadable):
            yield line
            continue
        whole = _whole(line, lines)
        if whole is None:
            yield Unreadable("a quote in this line is never closed; close it, or leave it out")
            continue
        try:
            yield from filter(None, csv.reader([whole]))
        except csv.Error as error:
            yield Unreadable(f"this line cannot be read as CSV: {error}")


class _Lines:
    """Lines of a file, of which some can be given back."""

    def __init__(self, text: TextIO) -> None:
        self.text = text
        self.again: deque[str | Unreadable] = deque()

    def next(self) -> str | Unreadable | None:
        """Next line, or that it is too long; None at the end."""
        if self.again:
            return self.again.popleft()
        line = self._piece(LONGEST + 1)
        if len(line) <= LONGEST:
            return line or None
        end = line
        while end and not end.endswith(("\n", "\r")):
            end = self._piece(LONGEST)
        return Unreadable(
            f"this line has more than {LONGEST:,} letters; none of ours has a thousand"
        )

    def _piece(self, most: int) -> str:
        """Next line, or the beginning of a longer one; empty at the end."""
        try:
            return self.text.readline(most)
        except OSError as error:
            raise InputError(f"The table cannot be read further: {reason(error)}.") from error


def _whole(line: str, lines: _Lines) -> str | None:
    """Record that begins with a line; None, with the other lines given back, where its quote is
    not closed in time.
    """
    record = line
    further: list[str | Unreadable] = []
    while _is_open(record):
        more = lines.next() if len(further) < MOST_LINES else None
        if more is not None:
            further.append(more)
        if not isinstance(more, str) or len(record) > LONGEST:
            lines.again.extendleft(reversed(further))
            return None
        record += more
    return record


def _is_open(record: str) -> bool:
    """Whether a text ends within a quoted cell; quotes inside other cells are text."""
    at = record.find(',"') + 1
    if record.startswith('"'):
        at = 0
    elif not at:
        return False
    while (end := _closed(record, at + 1)) is not None:
        at = record.find(',"', end) + 1
        if not at:
            return False
    return True


def _closed(record: str, at: int) -> int | None:
    """Index behind the quote that closes a cell; None without one. Doubled quotes are text."""
    while (quote := record.find('"', at)) >= 0:
        if not record.startswith('"', quote + 1):
            return quote + 1
        at = quote + 2
    return None
