"""Records of CSV files: as Python reads them, and none that swallows the others."""

import csv
import errno
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.catalog.csv_records import Unreadable, records
from advisor.errors import InputError

CELLS = st.lists(st.text('ab,"\n ', max_size=6), min_size=1, max_size=4)


def read(text: str) -> list[list[str] | Unreadable]:
    return list(records(io.StringIO(text, newline="")))


@given(st.lists(CELLS, max_size=6))
def test_what_is_written_is_read(rows: list[list[str]]) -> None:
    file = io.StringIO(newline="")
    csv.writer(file).writerows(rows)
    assert read(file.getvalue()) == list(filter(None, csv.reader(io.StringIO(file.getvalue()))))


def test_a_quote_within_a_cell_is_a_letter() -> None:
    assert read('24" screen,b\nc,"d ""e"""\n') == [['24" screen', "b"], ["c", 'd "e"']]


def test_an_unclosed_quote_costs_one_row() -> None:
    text = "a,b\n" * 10 + '"open,b\n' + "c,d\n" * 5000
    rows = read(text)
    assert len(rows) == 5011
    assert [isinstance(row, Unreadable) for row in rows].index(True) == 10
    assert rows[11:] == [["c", "d"]] * 5000


def test_a_quote_far_below_closes_no_cell() -> None:
    text = '"open,b\n' + "c,d\n" * 5000 + 'e,"f"\n'
    rows = read(text)
    assert isinstance(rows[0], Unreadable)
    assert rows[1:] == [["c", "d"]] * 5000 + [["e", "f"]]


def test_a_disk_that_fails_is_said() -> None:
    class Failing(io.StringIO):
        def readline(self, size: int | None = -1, /) -> str:
            if self.tell() > 3:
                raise OSError(errno.EIO, "Input/output error")
            return super().readline(size)

    read = records(Failing("a,b\n1,2\n"))
    assert next(read) == ["a", "b"]
    with pytest.raises(InputError, match="cannot be read further: Input/output error"):
        next(read)


def test_a_line_without_end_is_not_held() -> None:
    class Endless(io.StringIO):
        longest = 0

        def readline(self, size: int = -1, /) -> str:  # type: ignore[override]  # of texts
            line = super().readline(size)
            self.longest = max(self.longest, len(line))
            return line

    text = Endless("a,b\n" + "x" * 1_000_000 + "\nc,d\n")
    rows = list(records(text))
    assert rows[0] == ["a", "b"]
    assert isinstance(rows[1], Unreadable)
    assert rows[2:] == [["c", "d"]]
    assert text.longest <= 100_001


@pytest.mark.parametrize("text", ["", "\n\n", '"', '"\n', '"' * 99, "\0", "a" * 300_000])
def test_odd_files_are_rows_or_reasons(text: str) -> None:
    for row in read(text):
        assert isinstance(row, list | Unreadable)
