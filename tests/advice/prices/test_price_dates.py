"""The age of a price, judged by a day that is given."""

from datetime import date

import pytest

from advisor.advice.prices.price import age_remark
from advisor.advice.prices.rows import is_stale, last_day, oldest

TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("when", "day"),
    [
        ("2026-08-24", date(2026, 8, 24)),
        ("2026-02", date(2026, 2, 28)),
        ("2024-02", date(2024, 2, 29)),
        ("2025", date(2025, 12, 31)),
        ("", None),
        ("last week", None),
        ("2026-13", None),
    ],
)
def test_a_month_or_a_year_counts_from_its_end(when: str, day: date | None) -> None:
    assert last_day(when) == day


def test_ninety_days_are_not_old_and_ninety_one_are() -> None:
    # 24 August to 22 November: 7 + 30 + 31 + 22 = 90 days
    assert not is_stale("2026-08-24", TODAY)
    assert is_stale("2026-08-23", TODAY)


def test_an_undated_price_is_old() -> None:
    assert is_stale("", TODAY)


def test_the_oldest_part_dates_the_whole() -> None:
    assert oldest(("2026-06", "2025-07-23", "2026-08-01")) == "2025-07-23"
    assert oldest(("2026-06", "")) == ""
    assert oldest(()) == ""


def test_the_remark_on_an_old_price_never_ends_without_its_date() -> None:
    assert age_remark("2025-01-07", listed=True, stale=True) == " (launch price of 2025-01-07)"
    assert age_remark("2025-07-23", listed=False, stale=True) == " (old price of 2025-07-23)"
    assert age_remark("", listed=False, stale=True) == " (no date)"
    assert age_remark("2026-11-01", listed=False, stale=False) == ""
