"""Exported reports: whole, alone, inert, and with every number in them."""

import csv as csv_files
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest

from advisor.reports import export
from advisor.reports.document import (
    PlacementCard,
    ReportDocument,
    SweepSeries,
    TierUse,
    TimePart,
    from_json,
)

SAMPLE = Path(__file__).parents[1] / "samples" / "report-format-1.json"
VOID = {"meta", "br", "hr", "img", "link", "input"}
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=http://evil.example/x onerror=alert(1)>',
    "![x](http://evil.example/beacon)",
    "=HYPERLINK(1)",
    "--> ]]> </svg></style> {{ 7 * 7 }}",
    "$x_{ 漢字 \x07\n| a |",
)


@pytest.fixture
def document() -> ReportDocument:
    """A whole report."""
    return from_json(json.loads(SAMPLE.read_text(encoding="utf-8")))


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


def hostile(document: ReportDocument, bad: str) -> ReportDocument:
    """The document with `bad` wherever text goes."""
    series = replace(document.cost_curves[0], name=bad, x_label=bad, y_label=bad)
    return replace(
        document,
        title=bad,
        verdict=bad,
        version=bad,
        inputs={bad: bad},
        placements=tuple(
            replace(
                one, title=bad, runtime=bad, bottleneck=bad, explanation=bad, command=f"{bad}\n```"
            )
            for one in document.placements
        ),
        upgrades=tuple(
            replace(one, gpu=bad, price_note=bad, verdict=bad) for one in document.upgrades
        ),
        memory=tuple(replace(one, part=bad) for one in document.memory),
        token_time=tuple(replace(one, part=bad) for one in document.token_time),
        layer_sweep=series,
        cost_curves=(series, series),
        assumptions=tuple(
            replace(one, what=bad, value=bad, kind=bad, source=bad, date=bad)
            for one in document.assumptions
        ),
        command=bad,
        link=bad,
    )


def table(text: str) -> list[dict[str, str]]:
    """The rows of a CSV."""
    return list(csv_files.DictReader(StringIO(text, newline="")))


# HTML


def test_the_page_is_whole(document: ReportDocument) -> None:
    page = Page(export.html(document))
    assert page.open == []
    assert [tag for tag, _ in page.tags].count("svg") == 5
    assert page.text.index(document.verdict) < page.text.index("does not fit")
    for said in (
        "19.0 GiB short",
        "2.9 tokens/s",
        "2.4 to 3.4 tokens/s",
        "first token after 2.3 s (1.8 to 2.9 s)",
        "bound by RAM bandwidth",
        "0.25 tokens/s",
        "$290",
        "27 hours",
        "-3.6 hours",
        "no price",
        "22.6 GiB",
        "of 24.0 GiB",
        "341 ms",
        "922 MiB",
        "12 November 2026, 14:03 UTC",
        "Offload Advisor 0.1.0",
        document.command,
        document.link,
    ):
        assert said in page.text, said
    for one in document.assumptions:
        for said in (one.what, one.value, one.kind, one.source, one.date):
            assert said in page.text


def test_the_page_asks_for_nothing(document: ReportDocument) -> None:
    text = export.html(document)
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
        one["content"] for _, one in page.tags if one.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert "default-src 'none'" in policy


def test_the_page_is_the_same_each_time(document: ReportDocument) -> None:
    assert export.html(document) == export.html(document)


def test_parts_of_different_charts_do_not_mix(document: ReportDocument) -> None:
    ids = re.findall(r'\sid="([^"]+)"', export.html(document))
    assert len(ids) == len(set(ids))


def test_charts_follow_the_theme_of_the_page(document: ReportDocument) -> None:
    text = export.html(document)
    assert "prefers-color-scheme: dark" in text
    assert "fill: var(--ink)" in text
    assert "#01020" not in text


def test_hostile_text_is_only_text(document: ReportDocument, bad: str) -> None:
    plain = Page(export.html(document))
    page = Page(export.html(hostile(document, bad)))
    assert page.open == []
    assert {tag for tag, _ in page.tags} <= {tag for tag, _ in plain.tags}
    assert " ".join(bad.split()) in page.text
    assert "evil.example" not in "".join(
        str(one.get("href", "")) + str(one.get("src", "")) for _, one in page.tags
    )


@pytest.mark.parametrize("link", ["javascript:alert(1)", "data:text/html,x", "?model=x", "http:x"])
def test_only_web_addresses_become_links(document: ReportDocument, link: str) -> None:
    plain = replace(document, link=link, assumptions=())
    assert all(tag != "a" for tag, _ in Page(export.html(plain)).tags)
    assert f"<{link}>" not in export.markdown(plain)


def test_a_report_with_nothing_but_a_verdict_is_a_page(document: ReportDocument) -> None:
    bare = ReportDocument(
        title="t",
        verdict="v",
        created_at=document.created_at,
        version="1",
        inputs={},
        placements=(),
    )
    assert Page(export.html(bare)).open == []
    assert "# t" in export.markdown(bare)
    assert table(export.csv(bare))[0]["value"] == "t"


@pytest.mark.parametrize("size", [0.0, 5e-324, 1e-30, 1e24])
def test_charts_take_any_number(document: ReportDocument, size: float) -> None:
    series = SweepSeries(name="s", x_label="x", y_label="y", x=(0.0, size), y=(size, 1.0))
    extreme = replace(
        document,
        placements=tuple(
            PlacementCard(
                runtime="r",
                placement="cpu-offload",
                title="t",
                fits=True,
                decode_tps=size,
                decode_tps_low=size,
                decode_tps_high=one,
            )
            for one in (None, size)
        ),
        memory=(TierUse(placement="cpu-offload", tier="RAM", part="p", bytes=size),),
        token_time=(TimePart(placement="cpu-offload", part="p", seconds=size),),
        layer_sweep=series,
        cost_curves=(series, replace(series, x=(size, 1.0)), replace(series, x=(), y=())),
    )
    assert Page(export.html(extreme)).open == []


# CSV


def test_numbers_of_the_table_stay_numbers(document: ReportDocument) -> None:
    rows = table(export.csv(document))
    found = {(one["section"], one["item"], one["part"], one["quantity"]): one for one in rows}
    speed = found["placements", "Offload to RAM", "llama.cpp", "decode_tps"]
    assert (float(speed["value"]), speed["unit"]) == (2.93, "tokens/s")
    saved = found["upgrades", "RTX 4060 Ti 16 GB", "", "saves_hours"]
    assert float(saved["value"]) == -3.6  # begins with "-", and is a number all the same
    assert found["placements", "In the GPU", "llama.cpp", "decode_tps"]["value"] == ""


def test_every_number_is_in_the_table(document: ReportDocument) -> None:
    values = {one["value"] for one in table(export.csv(document))}
    parts = {one["part"] for one in table(export.csv(document))}
    wanted = [one.bytes for one in document.memory]
    wanted += [one.seconds for one in document.token_time]
    wanted += [one.monthly_usd for one in document.upgrades if one.monthly_usd is not None]
    for series in (document.layer_sweep, *document.cost_curves):
        assert series is not None
        wanted += series.y
        assert {str(x) for x in series.x} <= parts
    assert {str(one) for one in wanted} <= values


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", " =", "\r"])
def test_no_cell_of_text_is_a_formula(document: ReportDocument, start: str) -> None:
    bad = f"{start}cmd|' /C calc'!A0"
    rows = csv_files.reader(StringIO(export.csv(hostile(document, bad)), newline=""))
    cells = [cell for row in rows for cell in row]
    assert f"'{bad}" in cells
    for cell in cells:
        if cell.strip()[:1] in set("=+-@"):
            float(cell)


# Markdown


def test_markdown_says_the_same(document: ReportDocument) -> None:
    text = export.markdown(document)
    for said in (
        "does not fit: 19.0 GiB short",
        "| Offload to RAM | llama.cpp | 2.9 tokens/s | 2.4 to 3.4 | 2.3 s | RAM bandwidth |",
        "| 2 x RTX 3090 24 GB | 16 tokens/s | 13 to 18 | $8.75 | 28 hours |",
        "| RAM bandwidth | 65 GB/s | measured |",
        f"```sh\n{document.command}\n```",
        f"<{document.link}>",
    ):
        assert said in text, said


def test_markdown_shows_hostile_text_as_it_is(document: ReportDocument, bad: str) -> None:
    lines = export.markdown(hostile(document, bad)).splitlines()
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
