"""Reports for tests: a sample, saved, and one full of hostile text."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from advisor.reports.document import ReportDocument, from_json
from advisor.reports.files.export import FORMS
from advisor.reports.from_advice import MeasuredResult
from advisor.reports.store.saved import SavedReport

SAMPLE = Path(__file__).parents[1] / "samples" / "report.json"
KEPT_TABLES = SAMPLE.with_name("reports-2026-11-23.sqlite")
KEPT_NAMES = ["Laptop", "Team server", "Split experts"]
WHEN = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
RESULT = MeasuredResult(
    runtime="llama.cpp",
    placement="cpu-offload",
    decode_tps=3.1,
    prefill_tps=210.0,
    source="llama-bench, llama 70B Q4_K - Medium",
    when="2026-11-19T20:00:00+00:00",
    note="after the upgrade",
)
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=http://evil.example/x onerror=alert(1)>',
    "![x](http://evil.example/beacon)",
    "=HYPERLINK(1)",
    "--> ]]> </svg></style> {{ 7 * 7 }}",
    "$x_{ 漢字 \x07\n| a |",
)


def sample() -> ReportDocument:
    """A whole document."""
    return from_json(json.loads(SAMPLE.read_text(encoding="utf-8")))


def saved(document: ReportDocument | None = None, **fields: Any) -> SavedReport:
    """A saved report; other arguments are its fields."""
    kept = document or sample()
    plain: dict[str, Any] = {
        "id": 7,
        "name": "3090 against A6000",
        "created_at": WHEN,
        "notes": "ask Kim\nabout power",
        "tags": ("lab", "70B"),
        "author": "Robin Lee",
        "app_version": kept.version,
        "summary": kept.verdict,
        "model": kept.model,
        "gpu": kept.gpu,
        "share": "",
        "share_until": None,
        "deleted_at": None,
        "document": kept,
        "results": (RESULT,),
    }
    return SavedReport(**{**plain, **fields})


def hostile(bad: str) -> SavedReport:
    """A report with `bad` in place of every text."""
    document = sample()
    series = replace(document.cost_curves[0], name=bad, x_label=bad, y_label=bad)
    return saved(
        replace(
            document,
            title=bad,
            verdict=bad,
            version=bad,
            inputs={bad: bad},
            request={bad: bad},
            model=bad,
            gpu=bad,
            placements=tuple(
                replace(
                    card,
                    title=bad,
                    runtime=bad,
                    bottleneck=bad,
                    explanation=bad,
                    command=f"{bad}\n```",
                )
                for card in document.placements
            ),
            options=tuple(
                replace(row, name=bad, price_note=bad, price_date=bad, verdict=bad)
                for row in document.options
            ),
            memory=tuple(replace(use, part=bad) for use in document.memory),
            token_time=tuple(replace(part, part=bad) for part in document.token_time),
            layer_sweep=series,
            cost_curves=(series, series),
            assumptions=tuple(
                replace(figure, what=bad, value=bad, kind=bad, source=bad, date=bad)
                for figure in document.assumptions
            ),
            command=bad,
            link=bad,
            caveats=(bad,),
        ),
        name=bad,
        notes=bad,
        tags=(bad,),
        author=bad,
        results=(replace(RESULT, runtime=bad, source=bad, note=bad),),
    )


def html(report: SavedReport) -> str:
    return FORMS["html"].make(report).decode()


def markdown(report: SavedReport) -> str:
    return FORMS["md"].make(report).decode()


def csv(report: SavedReport) -> str:
    return FORMS["csv"].make(report).decode()


def pdf(report: SavedReport, *, appendix: bool = False) -> bytes:
    return FORMS["full.pdf" if appendix else "pdf"].make(report)
