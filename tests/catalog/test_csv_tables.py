"""Rows of a CSV file as typed records, and errors for invalid rows."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from advisor.catalog.csv_tables import read
from advisor.errors import DataError


@dataclass(frozen=True, kw_only=True)
class Card:
    """One column of each type that data files have."""

    name: str
    lanes: int
    speed: float
    unified: bool
    power: float | None
    note: str
    share: float = 1.0


HEADER = "name,lanes,speed,unified,power,note,share"


@pytest.fixture
def rows(tmp_path: Path):
    """Reads lines as a file cards.csv."""

    def of(*lines: str, header: str = HEADER) -> tuple[Card, ...]:
        path = tmp_path / "cards.csv"
        path.write_text("\n".join([header, *lines, ""]), encoding="utf-8")
        return read(path, Card)

    return of


def test_each_field_has_the_type_of_its_annotation(rows) -> None:
    (card,) = rows("RTX 3090,16,936.2,false,350,two slots,0.5")
    assert card == Card(
        name="RTX 3090",
        lanes=16,
        speed=936.2,
        unified=False,
        power=350.0,
        note="two slots",
        share=0.5,
    )
    assert [type(value) for value in (card.lanes, card.speed, card.unified)] == [int, float, bool]


def test_an_empty_field_takes_its_default_else_none_else_empty_text(rows) -> None:
    (card,) = rows("GB10,4,273,true,,,")
    assert (card.share, card.power, card.note) == (1.0, None, "")


def test_blanks_around_a_value_do_not_count(rows) -> None:
    (card,) = rows(" L4 , 16 , 300 , TRUE , 72 ,  , ")
    assert (card.name, card.lanes, card.unified, card.share) == ("L4", 16, True, 1.0)


def test_commas_and_quotes_inside_a_value(rows) -> None:
    (card,) = rows('"RAID 0, 2x",4,7,false,,"the ""fast"" one",')
    assert (card.name, card.note) == ("RAID 0, 2x", 'the "fast" one')


def test_a_file_may_hold_no_rows(rows) -> None:
    assert rows() == ()


@pytest.mark.parametrize(
    ("line", "column", "value", "kind"),
    [
        ("A,sixteen,1,false,,,", "lanes", "sixteen", "int"),
        ("A,16.5,1,false,,,", "lanes", "16.5", "int"),
        ("A,,1,false,,,", "lanes", "", "int"),
        ("A,16,fast,false,,,", "speed", "fast", "float"),
        ("A,16,1,maybe,,,", "unified", "maybe", "bool"),
        ("A,16,1,false,350 W,,", "power", "350 W", "float"),
        ("A,16,1,false,,,half", "share", "half", "float"),
    ],
)
def test_a_wrong_value_names_file_line_column_and_value(rows, line, column, value, kind) -> None:
    with pytest.raises(DataError) as error:
        rows("good,1,1,true,,,", line)
    assert str(error.value) == f"data/cards.csv line 3, {column}: {value!r} is not a {kind}."


@pytest.mark.parametrize("line", ["A,16,1,false", "A,16,1,false,,,,more"])
def test_a_row_of_another_length_names_its_line(rows, line) -> None:
    with pytest.raises(DataError, match=r"cards\.csv line 2: the number of values differs"):
        rows(line)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (HEADER.removesuffix(",share"), "columns missing: share; unknown: none"),
        (HEADER + ",colour", "columns missing: none; unknown: colour"),
        (HEADER.replace("lanes", "lane"), "columns missing: lanes; unknown: lane"),
        ("lanes,name,speed,unified,power,note,share", "or out of order"),
        ("", "columns missing: name, lanes"),
    ],
)
def test_other_columns_are_named(rows, header, words) -> None:
    with pytest.raises(DataError, match=words):
        rows(header=header)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"absent\.csv cannot be read: No such file"):
        read(tmp_path / "absent.csv", Card)
