"""Records: printed by columns, made from others, checked as they are read."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from advisor.catalog.records import as_record, checked, columns, like
from advisor.errors import DataError, InputError

BAR = SimpleNamespace(name="price", low=-3.0, high=4.0, interval=SimpleNamespace(low=1.0, high=2.0))


@dataclass(frozen=True, kw_only=True)
class Measure:
    kind: str
    value: float
    days: tuple[int, ...] = ()


def test_a_record_has_the_columns_of_its_kind_in_their_order() -> None:
    record = as_record("sensitivity_row", BAR)
    assert list(record) == [column.name for column in columns("sensitivity_row")]
    assert record == {
        "name": "price",
        "low": 1.0,
        "high": 2.0,
        "gain_low_usd": -3.0,
        "gain_high_usd": 4.0,
    }
    assert as_record("sensitivity_row", BAR, name=None)["name"] is None


def test_what_is_not_there_is_none_and_what_no_record_has_is_an_error() -> None:
    unknown = SimpleNamespace(name="price", low=0.0, high=0.0, interval=None)
    assert as_record("sensitivity_row", unknown)["low"] is None
    with pytest.raises(DataError, match=r"columns\.csv"):
        as_record("sensitivity_row", SimpleNamespace(name="price"))


def test_a_record_is_made_from_another_even_with_fields_called_kind_and_source() -> None:
    before = SimpleNamespace(kind="rate", value=2.0, days=(1, 2), more="left out")
    assert like(Measure, before, kind="share") == Measure(kind="share", value=2.0, days=(1, 2))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"value": 1.0}, "file.kind is missing"),
        ({"kind": "rate", "value": "2"}, "file.value is '2'; it should be a number"),
        ({"kind": "rate", "value": 1.0, "days": [1, 2.5]}, r"file.days\[1\] is 2.5"),
        ([], "file is list; it should be an object"),
    ],
)
def test_content_of_a_wrong_shape_is_refused_by_its_field(content: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        checked(Measure, content, "file")
    assert checked(Measure, {"kind": "rate", "value": 1}, "file") == Measure(kind="rate", value=1.0)
