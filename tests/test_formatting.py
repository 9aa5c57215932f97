"""Numbers as people say them; the examples are worked by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor import formatting, units

GIB = 2.0**30
SPEAKERS = (
    units.number,
    formatting.short,
    units.tokens_per_second,
    units.memory,
    formatting.rate,
    units.seconds,
    formatting.money,
    formatting.money_per_hour,
    formatting.hours,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (6.43, "6.4"),
        (9.96, "10"),
        (0.0996, "0.10"),
        (0.251, "0.25"),
        (127.4, "127"),
        (2431.0, "2,431"),
        (-3.6, "-3.6"),
        (4.2e-9, "4.2e-09"),
        (1e20, "1.0e+20"),
    ],
)
def test_two_significant_digits_and_every_whole_digit(value: float, text: str) -> None:
    assert units.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.25, "0.25"),
        (950, "950"),
        (1e3, "1k"),
        (1.5e6, "1.5M"),
        (2e9, "2B"),
        (-2e6, "-2M"),
    ],
)
def test_ticks_are_short(value: float, text: str) -> None:
    assert formatting.short(value) == text


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (6.43, "6.4 tokens/s"),
        (127.4, "127 tokens/s"),
        (0.251, "0.25 tokens/s"),
        (0.01, "0.010 tokens/s"),
        (0.004, "a token every 4.2 min"),  # 1 / 0.004 = 250 s
        (1e-5, "a token every 28 h"),  # 100,000 s / 3,600
        (1e-300, "0 tokens/s"),
        (0, "0 tokens/s"),
    ],
)
def test_speeds(rate: float, text: str) -> None:
    assert units.tokens_per_second(rate) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (24 * GIB, "24.0 GB"),
        (19.04 * GIB, "19.0 GB"),
        (0.5 * GIB, "512 MB"),
        (1023.99 * 2**20, "1.0 GB"),
        (1863 * GIB, "1.8 TB"),
        (4096, "4 KB"),
        (12, "12 bytes"),
        (0, "0 bytes"),
    ],
)
def test_memory_is_binary(size: float, text: str) -> None:
    assert units.memory(size) == text


@pytest.mark.parametrize(
    ("speed", "text"),
    [
        (65e9, "65 GB/s"),
        (5.1e9, "5.1 GB/s"),
        (3.352e12, "3,352 GB/s"),
        (450e6, "450 MB/s"),
        (999.9e6, "1.0 GB/s"),
        (2e3, "2.0 kB/s"),
        (0, "0 B/s"),
    ],
)
def test_rates_are_decimal(speed: float, text: str) -> None:
    assert formatting.rate(speed) == text


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (2.31, "2.3 s"),
        (0.345, "345 ms"),
        (0.9996, "1.0 s"),
        (0.0036, "3.6 ms"),
        (75, "75 s"),
        (150, "2.5 min"),
        (7200, "2.0 h"),
        (864_000, "10 days"),
        (0, "0 ms"),
    ],
)
def test_times(duration: float, text: str) -> None:
    assert units.seconds(duration) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (290.2, "$290"),
        (1599, "$1,599"),
        (8.75, "$8.75"),
        (9.996, "$10"),
        (0.42, "$0.42"),
        (0.0006, "$0.00060"),
        (0, "$0.00"),
        (-12.3, "-$12"),
    ],
)
def test_money(amount: float, text: str) -> None:
    assert formatting.money(amount) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0.42, "$0.42 an hour"),
        (12.5, "$12.50 an hour"),
        (98.32, "$98.32 an hour"),
        (250, "$250 an hour"),
    ],
)
def test_rent(amount: float, text: str) -> None:
    assert formatting.money_per_hour(amount) == text


@pytest.mark.parametrize(
    ("duration", "text"),
    [(27.3, "27 hours"), (2.5, "2.5 hours"), (1, "1 hour"), (0.4, "24 min"), (-3.6, "-3.6 hours")],
)
def test_hours(duration: float, text: str) -> None:
    assert formatting.hours(duration) == text


def test_a_range_says_its_unit_once() -> None:
    assert units.range_of(2.41, 3.42) == "2.4 to 3.4"
    assert units.range_of(1.84, 2.93, units.seconds) == "1.8 to 2.9 s"
    assert units.range_of(0.9, 1.2, units.seconds) == "900 ms to 1.2 s"
    assert units.range_of(280, 310, formatting.money) == "$280 to $310"


def test_a_range_whose_ends_read_alike_is_one_number() -> None:
    assert units.range_of(2.91, 2.94) == "2.9"


def test_a_moment_is_reported_in_utc() -> None:
    assert formatting.moment("2026-11-12T01:03:00+02:00") == "11 November 2026, 23:03 UTC"


@pytest.mark.parametrize("say", SPEAKERS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_infinite_values_are_unknown(say: object, value: float) -> None:
    assert callable(say)
    assert say(value) == units.UNKNOWN


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_fits_one_short_line(value: float) -> None:
    for say in SPEAKERS:
        text = say(value)
        assert text == text.strip() != ""
        assert "nan" not in text
        assert len(text) < 40 or abs(value) > 1e9


@given(st.floats(min_value=1e-5, max_value=1e14))
def test_a_printed_number_is_within_half_a_digit(value: float) -> None:
    assert float(units.number(value).replace(",", "")) == pytest.approx(value, rel=0.0501)


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (38.3e9, "B/s", "38 GB/s"),
        (8.0 * 2**20, "B", "8 MB"),
        (3.01e10, "FLOP/s", "30 GFLOP/s"),
        (4.2e-4, "s", "0.42 ms"),
        (16.0, "lanes", "16 lanes"),
        (float("nan"), "lanes", "unknown"),
    ],
)
def test_a_measured_figure_in_words(value, unit, words):
    assert formatting.quantity(value, unit) == words


@pytest.mark.parametrize(
    "text", ["\x1b[2J", "\x1b]0;title\x07", "\x1b[8mhidden\x1b[0m", "a\rb", "\x9b2J", "\u202eabc"]
)
def test_no_text_of_others_commands_a_terminal(text):
    shown = formatting.harmless(text)
    assert "?" in shown
    assert all(letter.isprintable() for letter in shown.replace("\x1b[0m", ""))


def test_own_styles_and_lines_stay():
    text = "\x1b[1;31ma\x1b[0m\n\tb"
    assert formatting.harmless(text) == text


@pytest.mark.parametrize("text", ["=1+1", " @SUM(A1)", "\t-1", "\uff1dcmd"])
def test_no_cell_is_run_by_a_spreadsheet(text):
    assert formatting.inert(text) == f"'{text}"
