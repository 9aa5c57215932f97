"""Prices and currencies that a person types on the command line."""

import json
import re

import pytest

from advisor.advice.advise import with_priced_names
from advisor.cli.main import main
from advisor.cli.parser import parser
from advisor.errors import InputError
from advisor.formatting import US_DOLLAR, Currency, money, money_per_hour, show_money_in
from advisor.request.command_line import from_args
from advisor.request.money import MoneyInputs
from advisor.request.request import Request

ASKED = ("advise", "--model", "Llama-3.1-8B", "--gpu", "RTX 3090")


def parsed(*words: str) -> Request:
    return from_args(parser().parse_args([*ASKED, *words]))


def money_of(*words: str) -> MoneyInputs:
    return with_priced_names(parsed(*words).nouns().money)


def test_amounts_are_in_the_currency_that_was_named() -> None:
    # 1 EUR = 1.25 USD: 30 EUR an hour are 37.50 USD, 800 EUR for a card 1000 USD
    spent = money_of("--currency", "eur", "--usd-rate", "1.25", "--own-price", "3090=800")
    assert spent.usd_per_hour_of_time == pytest.approx(37.5)
    assert spent.usd_per_kwh == pytest.approx(0.18 * 1.25)
    assert spent.own_price == (("RTX 3090", 1000.0),)
    assert spent.replies_per_day == 40


def test_amounts_are_written_in_it() -> None:
    try:
        show_money_in(Currency(code="EUR", usd=1.25))
        assert money(125) == "€100"
        assert money_per_hour(25) == "€20.00 an hour"
        show_money_in(Currency(code="CHF", usd=0.5))
        assert money(-3) == "-CHF 6.00"
    finally:
        show_money_in(US_DOLLAR)
    assert money(125) == "$125"


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        (("--currency", "VND"), "on record are the rates of EUR"),
        (("--usd-rate", "1.1"), "leave --usd-rate out"),
    ],
)
def test_a_rate_is_typed_or_on_record(words: tuple[str, ...], refused: str) -> None:
    with pytest.raises(InputError, match=refused):
        parsed(*words)


def test_euros_need_no_rate_and_its_date_is_said(capsys) -> None:
    """1.1435 dollars for a euro on 17 July 2026, the ECB's reference rate."""
    assert parsed("--currency", "EUR").paying == Currency(code="EUR", usd=1.1435)
    assert main([*ASKED, "--currency", "EUR"]) == 0
    told = capsys.readouterr()
    assert "One EUR counts as $1.1435, the rate of 2026-07-17" in told.err
    assert "\u20ac" in told.out


def test_a_typed_rate_comes_before_the_one_on_record(capsys) -> None:
    assert main([*ASKED, "--currency", "EUR", "--usd-rate", "1.2"]) == 0
    assert "the rate of" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "name"),
    [("dock=110", "dock"), ("PSU=90", "psu"), ("framework desktop 64gb=1800",
     "Framework Desktop, 64 GB, with 2 TB (Radeon 8060S (Ryzen AI Max+ 395))"),
     ("4090=1500", "RTX 4090")],
)  # fmt: skip
def test_anything_that_is_sold_can_be_priced(word: str, name: str) -> None:
    assert money_of("--own-price", word).own_price[0][0] == name


@pytest.mark.parametrize("text", ["5k", "\u20ac500", "30$", "1,000", "many", ""])
def test_an_amount_with_a_unit_is_refused_in_a_sentence(text: str, capsys) -> None:
    assert main([*ASKED, f"--resale={text}"]) == 2
    refused = f"{text!r} cannot be read; give a number alone, without unit or separators of "
    message = capsys.readouterr().err
    assert f"{refused}thousands; its currency is that of --currency." in message


@pytest.mark.parametrize(
    ("price", "refused"),
    [
        # 1,000,000 US dollars are 800,000 euros of 1.25 dollars each, 1,000 an hour 800
        (("--own-price", "3090=9e9"), "(--own-price) is 9e+09; allowed is 0.008 to 800,000 €."),
        (("--own-rent", "3090=900"), "(--own-rent) is 900; allowed is 0.0008 to 800 €/h."),
    ],
)
def test_limits_of_own_prices_are_in_the_typed_currency(price, refused, capsys) -> None:
    assert main([*ASKED, *price, "--currency", "EUR", "--usd-rate", "1.25"]) == 2
    assert refused in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--own-price", "3090=0"), "an amount above 0"),
        (("--own-price", "3090=-5"), "an amount above 0"),
        (("--own-price", "3090=inf"), "an amount above 0"),
        (("--own-price", "3090=cheap"), "an amount above 0"),
        (("--own-price", "=5"), "an amount above 0"),
        (("--own-rent", "3090=nan"), "an amount above 0"),
    ],
)
def test_an_absurd_price_gets_a_sentence(words, sentence) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        parsed(*words)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--own-price", "3090=5e7"), "Own price of 3090 (--own-price) is 50000000.0"),
        (("--own-price", "dock=0.001"), "Own price of dock"),
        (("--own-rent", "3090=2000"), "allowed is 0.001 to 1,000 $/h"),
        (("--api-usd-in", "5000", "--api-usd-out", "1"), "allowed is 0 to 1,000 $"),
        (("--resale", "9e9"), "allowed is 0 to 1,000,000 $"),
        (("--own-price", "a thing=5"), "a thing"),
        (("--currency", "euro", "--usd-rate", "1"), "three letters"),
        (("--rented-at", "-1"), "allowed is 0 to 1,000"),
    ],
)
def test_a_price_that_nobody_pays_gets_its_limits(words, sentence, capsys) -> None:
    assert main([*ASKED, *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_price_far_from_those_on_record_is_taken_with_a_remark(capsys) -> None:
    words = ("--own-price", "RTX 4090=50", "--own-price", "psu=200", "--own-rent", "RTX 4090=90")
    assert main([*ASKED, *words]) == 0
    remarks = [line for line in capsys.readouterr().err.splitlines() if "taken as typed" in line]
    assert len(remarks) == 2
    assert remarks[0].startswith("note: RTX 4090 at $50 is far from what is on record, $2,360;")
    assert "RTX 4090 at $90.00 an hour" in remarks[1] or "RTX 4090 at $90 an hour" in remarks[1]


def test_limits_are_those_of_dollars_in_any_currency() -> None:
    # 300 million VND at 0.00004 USD are 12,000 USD for an RTX PRO 6000
    words = ("--currency", "VND", "--usd-rate", "0.00004", "--own-price", "RTX PRO 6000=3e8")
    ((_, usd),) = money_of(*words).own_price
    assert usd == pytest.approx(12_000)


def test_half_of_an_api_price_gets_a_sentence(capsys) -> None:
    assert main([*ASKED, "--api-usd-in", "0.1"]) == 2
    assert "give both --api-usd-in and --api-usd-out" in capsys.readouterr().err


def test_a_typed_api_is_an_option_with_its_speed(capsys) -> None:
    # 40 x 30.4375 calls of 512 and 256 tokens: (512 x 0.10 + 256 x 0.40) / 1e6 x 1217.5
    words = ("--api-usd-in", "0.1", "--api-usd-out", "0.4", "--api-tps", "80", "--json")
    assert main([*ASKED, *words]) == 0
    answer = json.loads(capsys.readouterr().out)
    (mine,) = [option for option in answer["options"] if option["name"] == "Your API"]
    assert mine["monthly_usd"] == pytest.approx(1217.5 * (51.2 + 102.4) / 1e6)
    assert mine["decode_tps"] == 80
    assert mine["pays"] in (True, False)
    assert mine["pays_from_tps"] is None
    silent = [
        option
        for option in answer["options"]
        if option["kind"] == "api" and not option["decode_tps"]
    ]
    assert all(entry["pays"] is None and entry["pays_from_tps"] > 0 for entry in silent)
    # what the verdict turns on is an option, and the widest bar of its tornado comes first
    assert answer["turns_on"] in {option["name"] for option in answer["options"]}
    # nothing is said of turning points beyond ten times what is stated
    assert answer["what_changes"] is None
    swings = [abs(bar["high_usd"] - bar["low_usd"]) for bar in answer["tornado"]]
    assert swings == sorted(swings, reverse=True)


def test_a_card_that_stands_behind_others_is_printed_by_its_name(capsys) -> None:
    assert main([*ASKED, "--also", "rtx 5090"]) == 0
    printed = capsys.readouterr().out
    assert any(line.startswith("replace") and "RTX 5090" in line for line in printed.splitlines())
    assert main([*ASKED, "--also", "RTX 1234"]) == 0
    assert "RTX 1234: no card and no machine on sale is called that" in capsys.readouterr().out
