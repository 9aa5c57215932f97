"""File formats of a report."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from advisor.reports.files.csv_table import csv
from advisor.reports.files.markdown import markdown
from advisor.reports.store.saved import SavedReport, report_json


@dataclass(frozen=True, kw_only=True)
class FileForm:
    """File format of a report.

    Attributes:
        label: common name.
        suffix: suffix of its files, and the format's name on the command line.
        mime: media type.
        make: content of the file.
    """

    label: str
    suffix: str
    mime: str
    make: Callable[[SavedReport], bytes]


def _html(report: SavedReport) -> bytes:
    from advisor.reports.files.html import (
        html,  # draws with Matplotlib, which takes most of a second
    )

    return html(report).encode()


def _pdf(report: SavedReport) -> bytes:
    from advisor.reports.files.pdf import pdf  # likewise

    return pdf(report)


def _json(report: SavedReport) -> bytes:
    return (json.dumps(report_json(report), indent=1, ensure_ascii=False) + "\n").encode()


FORMS = {
    form.suffix: form
    for form in (
        FileForm(label="HTML", suffix="html", mime="text/html", make=_html),
        FileForm(label="PDF", suffix="pdf", mime="application/pdf", make=_pdf),
        FileForm(label="CSV", suffix="csv", mime="text/csv", make=lambda own: csv(own).encode()),
        FileForm(
            label="Markdown", suffix="md", mime="text/markdown",
            make=lambda own: markdown(own).encode(),
        ),
        FileForm(label="JSON", suffix="json", mime="application/json", make=_json),
    )
}  # fmt: skip
"""Formats by suffix."""
