"""Exported reports: whole, alone, inert, and with every number in them."""

import csv as csv_files
import io
import re
from dataclasses import fields, replace
from html.parser import HTMLParser
from io import StringIO

import pytest
from pypdf import PdfReader
from saved_reports import HOSTILE, csv, hostile, html, markdown, pdf, sample, saved

from advisor.errors import InputError
from advisor.formatting import inert, money_shown_in
from advisor.reports import charts
from advisor.reports.content import front_page, sections
from advisor.reports.document import (
    TIME_PARTS,
    AssumptionRow,
    OptionRow,
    PlacementCard,
    ReportDocument,
    SensitivityRow,
    SweepSeries,
    TierUse,
    TimePart,
)
from advisor.reports.files.export import FORMS, literal
from advisor.reports.store.saved import SavedReport

VOID = {"meta", "br", "hr", "img", "link", "input"}


@pytest.fixture
def report() -> SavedReport:
    """A whole report."""
    return saved()


@pytest.fixture(params=HOSTILE)
def bad(request: pytest.FixtureRequest) -> str:
    """Text that some reader would act on."""
    return str(request.param)


class Page(HTMLParser):
    """Tags, attributes and text of a page; fails where tags do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        """What a reader sees, in one line."""
        return " ".join(" ".join(self.words).split())


def table(text: str) -> list[dict[str, str]]:
    """The rows of a CSV."""
    return list(csv_files.DictReader(StringIO(text, newline="")))


def changed(report: SavedReport, **fields: object) -> SavedReport:
    """The report with another document."""
    document = replace(report.document, **fields)  # type: ignore[arg-type]
    return replace(report, document=document)


# HTML


def test_the_page_is_whole(report: SavedReport) -> None:
    page = Page(html(report))
    assert page.open == []
    kinds = [(tag, attributes.get("class")) for tag, attributes in page.tags]
    assert [tag for tag, _ in kinds].count("svg") == 2  # speed by layers, cost by tokens
    bars = len(report.document.options) + len({use.tier for use in report.document.memory})
    assert kinds.count(("div", "track")) >= bars
    assert page.text.index(report.name) < page.text.index(report.document.verdict)
    assert page.text.index(report.document.verdict) < page.text.index("does not fit")
    for words in (
        "19.0 GB short",
        "2.9 tokens/s",
        "2.4 to 3.4 tokens/s",
        "first token after 2.3 s (1.8 to 2.9 s)",
        "limited by RAM bandwidth",
        "0.25 tokens/s",
        "$290 a month",
        "saves 27 hours",
        "costs 3.6 hours",
        "no price known",
        "22.6 GB",
        "of 24.0 GB",
        "341 ms",
        "922 MB",
        "Measured with llama.cpp: 3.1 tokens/s; predicted 2.9 tokens/s (2.4 to 3.4): inside",
        "ask Kim about power",
        "Tags: lab, 70B.",
        "Made by Robin Lee, 12 November 2026, 14:03 UTC, with Offload Advisor 0.1.0.",
        report.document.command,
    ):
        assert words in page.text, words
    for figure in report.document.assumptions:
        for words in (figure.what, figure.value, figure.kind, figure.source, figure.date):
            assert words in page.text


def test_the_first_page_comes_first(report: SavedReport) -> None:
    front, behind = html(report).split('<section class="behind">')
    for words in ("3090 against A6000", "Offload to NVMe", "What it would cost", "Robin Lee"):
        assert words in front
    for words in ("Every runtime and placement", "Values and sources", "Commands"):
        assert words in behind
        assert words not in front


@pytest.mark.parametrize("form", ["html", "md", "csv"])
def test_readers_see_words_in_place_of_keys(report: SavedReport, form: str) -> None:
    parts = tuple(TimePart(placement="cpu-offload", part=part, seconds=0.1) for part in TIME_PARTS)
    text = FORMS[form].make(changed(report, token_time=parts)).decode()
    for words in TIME_PARTS.values():
        assert words in text
    records = (PlacementCard, OptionRow, TierUse, TimePart, AssumptionRow, type(report.document))
    names = {entry.name for record in records for entry in fields(record) if "_" in entry.name}
    for key in ("in_place", "in\\_place", "crossings", "resident<", *names, *map(literal, names)):
        assert key not in text


def test_each_kind_of_option_stands_on_the_first_page(report: SavedReport) -> None:
    kinds = ("keep", "change", "change", "add", "rent", "rent", "api")
    rows = tuple(
        OptionRow(kind=kind, name=f"{kind} {place}", decode_tps=9.0, monthly_usd=float(place))
        for place, kind in enumerate(kinds)
    )
    unknown = replace(rows[-1], decode_tps=None)
    page = front_page(changed(report, options=(*rows[:-1], unknown)))
    (table,) = page.options.tables
    names = ["what you have: keep 0", "change 1", "add: add 3", "rent: rent 4", "API: api 6"]
    assert [name for name, *_ in table.rows] == names
    assert [bar.head for chart in page.options.charts for bar in chart.bars] == names
    assert "speed not published" in html(changed(report, options=(*rows[:-1], unknown)))


@pytest.fixture
def sensitive(report: SavedReport) -> SavedReport:
    """With a verdict that turns on a card, in euros of two dollars each."""
    rows = (
        SensitivityRow(
            name="replies a day", low=20.0, high=80.0, gain_low_usd=-40.0, gain_high_usd=960.0
        ),
        SensitivityRow(name="price", low=24.0, high=48.0, gain_low_usd=700.0, gain_high_usd=676.0),
    )
    return changed(
        report,
        turns_on="RTX 3090, 2 in all",
        what_changes="It would pay from 15 replies a day.",
        sensitivity=rows,
        currency="EUR",
        usd_per_unit=2.0,
    )


@pytest.mark.parametrize("form", ["html", "md", "pdf"])
def test_what_the_verdict_depends_on_is_in_every_file_for_readers(
    sensitive: SavedReport, form: str
) -> None:
    made = FORMS[form].make(sensitive)
    if form == "pdf":
        text = " ".join(text_of(made))
    else:
        text = made.decode()
    for words in (
        "What the verdict depends on: RTX 3090, 2 in all",
        "It would pay from 15 replies a day.",
        "20 to 80",
        "\u20ac12 to \u20ac24 a month",
        "-\u20ac20",
        "\u20ac480",
        "\u20ac350",
    ):
        assert words in text, words


def test_bars_of_what_it_depends_on_are_as_wide_as_the_difference(sensitive: SavedReport) -> None:
    # (960 + 40) / 2 and (700 - 676) / 2 euros
    with money_shown_in(sensitive.document.shown_in):
        chart = charts.sensitivity(sensitive.document.sensitivity)
    assert [part.size for bar in chart.bars for part in bar.parts] == [500.0, 12.0]
    assert chart.unit == "EUR a month"


def test_costs_of_a_table_and_of_a_chart_are_in_the_currency_too(sensitive: SavedReport) -> None:
    euros = table(csv(sensitive))
    dollars = table(csv(changed(sensitive, currency="USD", usd_per_unit=1.0)))
    assert not [row for row in euros if "USD" in row["quantity"] or "USD" in row["unit"]]
    costs = {
        code: [
            float(row["value"])
            for row in rows
            if row["value"] and (row["section"] == "cost against tokens" or code in row["unit"])
        ]
        for code, rows in (("EUR", euros), ("USD", dollars))
    }
    assert costs["EUR"]
    assert [2.0 * cost for cost in costs["EUR"]] == pytest.approx(costs["USD"])


def test_amounts_are_in_the_currency_of_whoever_made_it(report: SavedReport) -> None:
    euros = changed(report, currency="EUR", usd_per_unit=2.0)
    for make in (html, markdown):
        assert "$290 a month" in make(report)
        assert "\u20ac145 a month" in make(euros)
        assert "$290 a month" in make(report)  # the next report is in its own again
    with pytest.raises(InputError, match="usd_per_unit is 0"):
        changed(report, usd_per_unit=0.0)


def test_the_verdict_begins_with_the_answer_alone(report: SavedReport) -> None:
    verdict = "Offloading gives 2.9 tokens/s for $5.19 a month. A card pays. Else: a rented one."
    page = front_page(changed(report, verdict=verdict))
    assert page.verdict == "Offloading gives 2.9 tokens/s for $5.19 a month."
    assert page.reasons == "A card pays. Else: a rented one."


def test_figures_of_the_placements_shown_come_first(report: SavedReport) -> None:
    first, *others = report.document.assumptions
    document = replace(report.document, assumptions=(*others, replace(first, shown=True)))
    tables = {
        section.title: section.tables[0].rows for section in sections(document) if section.tables
    }
    assert [row[0] for row in tables["Values and sources"]] == [first.what]
    assert len(tables["Values of other runtimes"]) == len(others)


def test_runtimes_that_cannot_run_it_are_one_line(report: SavedReport) -> None:
    card = replace(report.document.placements[0], runtime="vLLM", missing_bytes=1.0)
    page = html(changed(report, placements=(*report.document.placements, card)))
    front, _ = page.split('<section class="behind">')
    assert "Runtimes that cannot run it here: vLLM." in front
    assert front.count("<article") == 3


def test_options_that_do_not_fit_have_no_colour_of_their_own(report: SavedReport) -> None:
    classes = re.findall(r'<article class="([^"]+)"', html(report))
    assert classes == ["card gpu-resident", "card cpu-offload fits", "card nvme-offload fits"]


def test_a_large_report_stays_small(report: SavedReport) -> None:
    cards = report.document.placements * 12
    figures = report.document.assumptions * 12
    large = changed(report, placements=cards, assumptions=figures)
    assert len(html(large).encode()) < 1_000_000


@pytest.mark.parametrize("host", ["127.0.0.1:8501", "localhost:8501", "[::1]:8501", "0.0.0.0:80"])
def test_no_link_leads_to_the_machine_of_whoever_made_it(report: SavedReport, host: str) -> None:
    own = changed(report, link=f"http://{host}/?model=x", assumptions=())
    assert host not in html(own)
    assert host not in markdown(own)


def test_the_page_asks_for_nothing(report: SavedReport) -> None:
    text = html(report)
    page = Page(text)
    for tag, attributes in page.tags:
        assert tag not in {"script", "iframe", "object", "embed", "img", "link", "form", "base"}
        for name, value in attributes.items():
            assert not name.startswith("on")
            if tag != "a" and not name.startswith("xmlns"):
                assert "http://" not in (value or "")
                assert "https://" not in (value or "")
    styles = "".join(re.findall(r"<style.*?</style>", text, re.DOTALL))
    assert "@import" not in styles
    assert "url(" not in styles
    policy = next(
        tag["content"] for _, tag in page.tags if tag.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert "default-src 'none'" in policy


@pytest.mark.parametrize("form", FORMS)
def test_the_file_is_the_same_each_time(report: SavedReport, form: str) -> None:
    first = FORMS[form].make(report)
    assert FORMS[form].make(report) == first


def test_parts_of_different_charts_do_not_mix(report: SavedReport) -> None:
    ids = re.findall(r'\sid="([^"]+)"', html(report))
    assert len(ids) == len(set(ids))


def test_charts_follow_the_theme_of_the_page(report: SavedReport) -> None:
    text = html(report)
    assert "prefers-color-scheme: dark" in text
    assert "fill: var(--ink)" in text
    assert "#01020" not in text


def test_hostile_text_is_only_text(report: SavedReport, bad: str) -> None:
    plain = Page(html(report))
    page = Page(html(hostile(bad)))
    assert page.open == []
    assert {tag for tag, _ in page.tags} <= {tag for tag, _ in plain.tags}
    assert " ".join(bad.split()) in page.text
    assert "evil.example" not in "".join(
        str(tag.get("href", "")) + str(tag.get("src", "")) for _, tag in page.tags
    )


@pytest.mark.parametrize("link", ["javascript:alert(1)", "data:text/html,x", "?model=x", "http:x"])
def test_only_web_addresses_become_links(report: SavedReport, link: str) -> None:
    plain = changed(report, link=link, assumptions=())
    assert all(tag != "a" for tag, _ in Page(html(plain)).tags)
    assert f"<{link}>" not in markdown(plain)


def bare() -> SavedReport:
    """A report with nothing but a verdict."""
    document = ReportDocument(
        title="t",
        verdict="v",
        created_at=sample().created_at,
        version="1",
        inputs={},
        placements=(),
    )
    return saved(document, name="n", notes="", tags=(), author="", results=())


def test_a_report_with_nothing_but_a_verdict_is_a_page() -> None:
    assert Page(html(bare())).open == []
    assert "# n" in markdown(bare())
    assert table(csv(bare()))[0]["value"] == "n"
    assert "v" in text_of(pdf(bare()))[0]


@pytest.mark.parametrize("size", [0.0, 5e-324, 1e-30, 1e24])
def test_charts_take_any_number(report: SavedReport, size: float) -> None:
    series = SweepSeries(name="s", x_label="x", y_label="y", x=(0.0, size), y=(size, 1.0))
    extreme = changed(
        report,
        placements=tuple(
            PlacementCard(
                runtime="r",
                placement="cpu-offload",
                title="t",
                fits=True,
                decode_tps=size,
                decode_tps_low=size,
                decode_tps_high=high,
            )
            for high in (None, size)
        ),
        options=tuple(replace(row, decode_tps=size) for row in report.document.options),
        memory=(TierUse(placement="cpu-offload", tier="RAM", part="p", bytes=size),),
        token_time=(TimePart(placement="cpu-offload", part="p", seconds=size),),
        layer_sweep=series,
        cost_curves=(series, replace(series, x=(size, 1.0)), replace(series, x=(), y=())),
    )
    assert Page(html(extreme)).open == []


# PDF


def text_of(content: bytes) -> list[str]:
    """The text of each page of a PDF, in one line."""
    pages = PdfReader(io.BytesIO(content)).pages
    return [" ".join(page.extract_text().split()) for page in pages]


def test_the_pdf_says_the_same(report: SavedReport) -> None:
    pages = text_of(pdf(report))
    for words in ("3090 against A6000", "2.9 tokens/s", "$290 a month", "Robin Lee", "ask Kim"):
        assert words in pages[0]
    assert "in_place" not in " ".join(pages)
    figure = report.document.assumptions[0].source
    assert len(pages) <= 3
    assert "In the appendix, on request: " in pages[-1]
    assert figure in " ".join(text_of(pdf(report, appendix=True)))


def test_the_pdf_runs_nothing_and_asks_for_nothing() -> None:
    content = pdf(hostile(" ".join(HOSTILE)))
    for mark in (b"/JavaScript", b"/JS", b"/Launch", b"/EmbeddedFile"):
        assert mark not in content
    reader = PdfReader(io.BytesIO(content))
    links = [
        str(note.get_object()["/A"]) for page in reader.pages for note in page.get("/Annots", [])
    ]
    assert not any("evil" in link for link in links)


# CSV


def test_numbers_of_the_table_stay_numbers(report: SavedReport) -> None:
    rows = table(csv(report))
    by_section = {(row["section"], row["item"], row["part"], row["quantity"]): row for row in rows}
    speed = by_section["placements", "Offload to RAM", "llama.cpp", "speed"]
    assert (float(speed["value"]), speed["unit"]) == (2.93, "tokens/s")
    saved = by_section["options", "RTX 4060 Ti 16 GB", "replace", "waiting saved"]
    assert float(saved["value"]) == -3.6  # begins with "-", and is a number all the same
    assert by_section["placements", "In the GPU", "llama.cpp", "speed"]["value"] == ""


def test_every_number_is_in_the_table(report: SavedReport) -> None:
    values = {record["value"] for record in table(csv(report))}
    parts = {record["part"] for record in table(csv(report))}
    wanted = [use.bytes for use in report.document.memory]
    wanted += [case.seconds for case in report.document.token_time]
    wanted += [
        option.monthly_usd for option in report.document.options if option.monthly_usd is not None
    ]
    for series in (report.document.layer_sweep, *report.document.cost_curves):
        assert series is not None
        wanted += series.y
        assert {str(x) for x in series.x} <= parts
    assert {str(entry) for entry in wanted} <= values


@pytest.mark.parametrize(
    "start",
    ["=", "+", "-", "@", "\t=", " =", "\r", "\uff1d", "\ufeff=", "\u200b=", "\u200b\ufeff+",
     "\u00a0=", "\u3000\uff20", "\uff0d", "\ufe66", "\u2060="],
)  # fmt: skip
def test_no_cell_of_text_is_a_formula(start: str) -> None:
    bad = f"{start}cmd|' /C calc'!A0"
    rows = csv_files.reader(StringIO(csv(hostile(bad)), newline=""))
    cells = [cell for row in rows for cell in row]
    assert f"'{bad}" in cells
    assert bad not in cells


@pytest.mark.parametrize("text", ["a=b", "RTX 3090", "", "20-inch", "漢字", "µ-arch"])
def test_other_text_of_the_table_stays_as_it_is(text: str) -> None:
    assert inert(text) == text


# Markdown


def test_markdown_says_the_same(report: SavedReport) -> None:
    text = markdown(report)
    for words in (
        "# 3090 against A6000",
        "| llama.cpp | In the GPU | does not fit | 19.0 GB short | - |",
        "| llama.cpp | Offload to RAM | 2.9 tokens/s | 2.4 to 3.4 | 2.3 s | RAM bandwidth |",
        "| add: 2x RTX 3090 24 GB | 16 tokens/s (13 to 18) | $8.75 a month "
        "| saves 28 hours a month |",
        "| RAM bandwidth | 65 GB/s | measured |",
        f"```sh\n{report.document.command}\n```",
    ):
        assert words in text, words


def test_a_public_link_is_in_the_text(report: SavedReport) -> None:
    link = "https://advisor.example/?model=x"
    assert f"<{link}>" in markdown(changed(report, link=link))


def test_markdown_shows_hostile_text_as_it_is(report: SavedReport, bad: str) -> None:
    lines = markdown(hostile(bad)).splitlines()
    fence = ""
    for line in lines:
        if fence:
            fence = "" if line == fence else fence
        elif line.startswith("```"):
            fence = line.removesuffix("sh")
        else:
            assert not re.search(r"(?<!\\)[<\[]", line), line
            assert len(re.findall(r"(?<!\\)\|", line)) in {0, 3, 4, 5, 6, 7, 8}
    assert fence == ""


@pytest.mark.parametrize("letter", ["x", "x "])
def test_a_cell_that_is_longer_than_a_page_is_cut(letter: str) -> None:
    content = pdf(hostile(letter * 3000), appendix=True)
    assert "x..." in " ".join(text_of(content))
