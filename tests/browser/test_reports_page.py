"""Exported reports and the Reports page in a real browser: hostile text, paper, a phone."""

import io
import unicodedata

import pytest
from driving import LOCAL, STILL, scrolls_sideways, settle, visitor
from pypdf import PdfReader
from saved_reports import HOSTILE, hostile, html, sample, saved

from advisor.reports.store.store import open_store


def words_of(text):
    """Words with one space between; without marks that show nothing, ligatures as letters."""
    return " ".join(unicodedata.normalize("NFKC", text.replace("\x07", " ")).split())


A4 = {"format": "A4", "print_background": True}


def opened(chromium, text, tmp_path, **options):
    """An exported report, and whatever it ran or asked for."""
    path = tmp_path / "report.html"
    path.write_text(text, encoding="utf-8")
    context = chromium.new_context(**{**STILL, **options})
    tab = context.new_page()
    events = []
    tab.on("dialog", lambda dialog: (events.append(dialog.message), dialog.dismiss()))
    tab.on("request", lambda sent: events.append(sent.url) if sent.url != path.as_uri() else 0)
    tab.on("pageerror", lambda error: events.append(str(error)))
    tab.goto(path.as_uri())
    return tab, events


@pytest.fixture(scope="module")
def long_report():
    """A report with every runtime and many figures, as real ones have."""
    document = sample()
    return saved(
        document.__class__(
            **{
                **document.__dict__,
                "placements": document.placements * 8,
                "options": document.options * 9,
                "assumptions": document.assumptions * 6,
            }
        )
    )


@pytest.mark.parametrize("bad", HOSTILE)
def test_hostile_text_runs_nothing_in_an_exported_report(chromium, tmp_path, bad):
    tab, events = opened(chromium, html(hostile(bad)), tmp_path)
    tab.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert words_of(bad) in words_of(tab.inner_text("body"))
    assert events == []
    tab.context.close()


def test_the_first_page_prints_on_fewer_than_two_sheets(chromium, tmp_path, long_report):
    tab, _ = opened(chromium, html(long_report), tmp_path)
    pages = PdfReader(io.BytesIO(tab.pdf(**A4))).pages
    assert len(pages) <= 2  # what is folded is named, and not printed
    front = " ".join(words_of(sheet.extract_text()) for sheet in pages)
    for words in ("3090 against A6000", "Offload to NVMe", "What it would cost", "Robin Lee"):
        assert words in front
    assert "not printed: Commands, Memory and time" in front
    tab.click("summary:has-text('Memory and time')")
    opened_one = PdfReader(io.BytesIO(tab.pdf(**A4))).pages
    assert "Where the bytes are" in " ".join(words_of(p.extract_text()) for p in opened_one)
    tab.context.close()


def test_details_behind_the_first_page_are_folded(chromium, tmp_path, long_report):
    tab, _ = opened(chromium, html(long_report), tmp_path)
    assert tab.evaluate("document.documentElement.scrollHeight") < 2_600
    assert not tab.is_visible("text=Where the bytes are")
    tab.click("summary:has-text('Memory and time')")
    assert tab.is_visible("text=Where the bytes are")
    tab.context.close()


def test_an_exported_report_fits_a_phone(chromium, tmp_path, long_report):
    tab, _ = opened(chromium, html(long_report), tmp_path, viewport={"width": 360, "height": 780})
    assert not scrolls_sideways(tab)
    sizes = tab.evaluate(
        "[...document.querySelectorAll('.card p, .card h3')]"
        ".map(one => parseFloat(getComputedStyle(one).fontSize))"
    )
    assert min(sizes) >= 12
    tab.context.close()


def test_hostile_text_is_text_on_every_page(chromium, address, shared_folder):
    bad = " ".join(text for text in HOSTILE if text.isprintable())
    store = open_store(f"sqlite:///{shared_folder / 'reports.sqlite'}")
    numbers = [
        store.save(
            hostile(bad).document,
            f"{bad[:150]} {place}",
            bad,
            author=bad,
            tags=(text[:40] for text in HOSTILE if text.isprintable()),
            results=hostile(bad).results,
        ).id
        for place in range(2)
    ]
    store.close()
    tab = visitor(chromium, address).new_page()
    events = []
    tab.on("dialog", lambda dialog: (events.append(dialog.message), dialog.dismiss()))
    tab.on("pageerror", lambda error: events.append(str(error)))
    tab.on("request", lambda made: None if LOCAL.match(made.url) else events.append(made.url))
    for where, shown in (
        ("", bad[:150]),
        (f"?report={numbers[0]}", bad),
        (f"?compare={numbers[0]},{numbers[1]}", bad),
    ):
        tab.goto(f"{address}/reports{where}")
        settle(tab)
        for part in tab.locator("[data-testid=stExpander] summary").all():
            part.click()
        settle(tab)
        assert words_of(shown) in words_of(tab.inner_text("body"))
        assert made_of(tab) == []
    assert events == []
    tab.close()


def made_of(tab):
    """Elements that were made of hostile text, as they are written."""
    return tab.evaluate(
        """() => [...document.querySelectorAll('[src], [href], [onerror], script')]
        .filter(own => own.hasAttribute('onerror')
            || /^[a-z]+:\\/\\/[^/]*evil/.test(own.src || own.href || '')
            || (own.tagName === 'SCRIPT' && own.textContent.includes('alert(1)')))
        .map(own => own.outerHTML)"""
    )
