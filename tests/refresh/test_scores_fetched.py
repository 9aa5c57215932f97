"""Scores, exchange rates and prices for sale, fetched from servers on this machine."""

import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from advisor.advice.finder.runnable import quality_rows
from advisor.advice.prices.rows import price_rows
from advisor.catalog.csv_tables import DATA
from advisor.catalog.records import csv_text
from advisor.cli.main import main
from advisor.errors import InputError
from advisor.refresh import renewal, scores
from advisor.refresh.scores import rated, renewed
from advisor.request.money import rate_rows
from advisor.request.request import Request
from lab.leaderboard import as_csv


def line(name: str, rating: float, category: str = "overall", **more: object) -> dict[str, object]:
    return {
        "category": category,
        "model_name": name,
        "rating": rating,
        "rating_lower": rating - 5.6,
        "rating_upper": rating + 5.6,
        **more,
    }


def board(*rows: dict[str, object], day: str = "2026-11-20") -> str:
    return json.dumps({"meta": {"leaderboard_publish_date": day}, "rows": rows})


def test_the_overall_scores_of_a_copy_and_of_the_viewer_are_read() -> None:
    copy = board(line("a", 1437.6), line("a", 1500.0, "coding"))
    viewer = {"rows": [{"row": line("a", 1437.6, leaderboard_publish_date="2026-11-20")}]}
    for text in (copy, json.dumps(viewer)):
        (row,) = rated(text).values()
        assert (row.score, row.plus_minus, row.date) == (1438, 6, "2026-11-20")


def test_a_newer_score_replaces_an_older_one_and_none_goes() -> None:
    before = quality_rows()
    name = before["gpt-oss-20b"].rated_as
    new = renewed(before, rated(board(line(name, 1600.0))), "https://a.page", "2026-11-23")
    assert {row.model for row in new} == set(before)
    assert (new[0].model, new[0].score, new[0].source) == ("gpt-oss-20b", 1600, "https://a.page")
    old = renewed(before, rated(board(line(name, 1600.0), day="2025-01-01")), "x", "2026-11-23")
    assert set(old) == set(before.values())


def test_what_is_written_is_what_is_shipped() -> None:
    shipped = (DATA / "models/quality.csv").read_text(encoding="utf-8")
    assert as_csv(tuple(quality_rows().values())) == shipped


@pytest.mark.parametrize(
    "text", ["", "[]", '{"rows": 3}', '{"rows": []}', board(line("a", 1.0), day="soon")]
)
def test_another_file_is_refused_in_words(text: str) -> None:
    with pytest.raises(InputError, match=r"scores|day"):
        rated(text)


OVERALL = [line(row.rated_as, row.score + 1) for row in quality_rows().values()]


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A server that answers with what the test puts in, by the number of the page."""
    pages: list[bytes] = []
    asked_for: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            asked_for.append(self.path)
            offset = int(parse_qs(urlsplit(self.path).query).get("offset", ["0"])[0])
            body = pages[min(offset // scores.PAGE, len(pages) - 1)]
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("ADVISOR_OFFLINE", raising=False)
    for table in ("SCORES", "RATES", "PRICES"):
        monkeypatch.setenv(f"ADVISOR_{table}_URL", f"http://127.0.0.1:{server.server_port}/{table}")
    renewal.forget()
    yield pages, asked_for
    server.shutdown()
    server.server_close()
    thread.join()
    renewal.forget()


def test_newer_scores_of_the_board_count_and_are_taken_back(served, capsys) -> None:
    pages, asked_for = served
    before = quality_rows()
    first = OVERALL[: scores.PAGE]
    pages += [board(*first).encode(), board(*OVERALL[scores.PAGE :]).encode()]
    assert main(["refresh", "scores"]) == 0
    assert "changed" in capsys.readouterr().out
    assert "where=%22category%22%3D%27overall%27" in asked_for[0]
    assert len(asked_for) == 2
    after = quality_rows()
    assert {name: row.score for name, row in after.items()} == {
        name: row.score + 1 for name, row in before.items()
    }
    assert {row.date for row in after.values()} == {"2026-11-20"}
    assert main(["refresh", "scores", "--undo"]) == 0
    assert quality_rows() == before


@pytest.mark.parametrize("body", [b"", b"[]", b'{"error": "busy"}', b"[" * 9999, b"\xff"])
def test_a_board_that_sends_something_else_changes_nothing(body, served) -> None:
    pages, _ = served
    before = quality_rows()
    pages.append(body)
    assert main(["refresh", "scores"]) == 2
    assert quality_rows() == before


def test_a_board_of_impossible_scores_changes_nothing(served, capsys) -> None:
    pages, _ = served
    wild = [{**each, "rating": 9e9} for each in OVERALL[:60]]
    pages.append(board(*wild).encode())
    before = quality_rows()
    assert main(["refresh", "scores"]) == 2
    assert "cannot be right" in capsys.readouterr().err
    assert quality_rows() == before


ECB = """KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE
EXR.D.USD.EUR.SP00.A,D,USD,EUR,SP00,A,2026-11-27,1.1500
EXR.D.GBP.EUR.SP00.A,D,GBP,EUR,SP00,A,2026-11-27,0.8000
EXR.D.HRK.EUR.SP00.A,D,HRK,EUR,SP00,A,2022-12-30,7.5365
EXR.D.JPY.EUR.SP00.A,D,JPY,EUR,SP00,A,2026-11-27,0
"""
"""As the ECB's interface answers (format csvdata), with figures that are easy to reckon."""


def test_rates_are_what_a_unit_is_worth_in_dollars(served, capsys) -> None:
    pages, _ = served
    pages.append(ECB.encode())
    assert main(["refresh", "rates"]) == 0
    rows = rate_rows()
    # 1.15 dollars for a euro and 0.80 pounds for a euro: 1.4375 dollars for a pound
    assert {code: row.usd for code, row in rows.items()} == {"EUR": 1.15, "GBP": 1.4375}
    assert rows["EUR"].date == "2026-11-27"
    assert "HRK: its last rate is of 2022-12-30" in capsys.readouterr().out
    request = Request(currency="EUR")
    assert (request.paying.code, request.paying.usd) == ("EUR", 1.15)
    assert request.rate_note.startswith("One EUR counts as $1.15, ")
    assert Request(currency="EUR", usd_rate=1.2).paying.usd == 1.2
    assert not Request(currency="EUR", usd_rate=1.2).rate_note
    with pytest.raises(InputError, match="needs --usd-rate"):
        _ = Request(currency="VND").paying


@pytest.mark.parametrize("body", [b"", b"<html>", b"CURRENCY,TIME_PERIOD,OBS_VALUE\nGBP,2026,1"])
def test_an_answer_without_the_dollar_changes_nothing(body, served, capsys) -> None:
    pages, _ = served
    pages.append(body)
    assert main(["refresh", "rates"]) == 2
    assert "no rate of the dollar" in capsys.readouterr().err
    assert not rate_rows()


def test_prices_of_a_named_table_count(served, capsys) -> None:
    pages, _ = served
    shipped = next(row for row in price_rows() if row.kind == "purchase")
    new = replace(shipped, gpu="RTX 4090", usd=1234.0, provider="a shop", date="2026-11-27")
    odd = (
        replace(new, gpu="RTX 99090"),
        replace(new, usd=-5.0),
        replace(new, date="2031-01-01"),
        replace(new, kind="rent"),
    )
    pages.append(csv_text((new, *odd)).encode())
    assert main(["refresh", "prices"]) == 0
    assert "and 1 more" in capsys.readouterr().out
    assert price_rows()[0].usd == 1234.0
    pages[:] = [b"gpu,usd\nRTX 4090,1\n"]
    assert main(["refresh", "prices"]) == 2
    assert "is no table of prices" in capsys.readouterr().err


def test_without_a_named_table_prices_have_no_source(monkeypatch, capsys) -> None:
    monkeypatch.delenv("ADVISOR_PRICES_URL", raising=False)
    assert main(["refresh", "prices"]) == 2
    assert "ADVISOR_PRICES_URL may name" in capsys.readouterr().err
    assert "prices" not in renewal.chosen(())


def test_an_address_that_is_none_is_refused(monkeypatch, capsys) -> None:
    monkeypatch.setenv("ADVISOR_RATES_URL", "http://example.com/rates")
    assert main(["refresh", "rates"]) == 2
    assert "it must be an https address" in capsys.readouterr().err
