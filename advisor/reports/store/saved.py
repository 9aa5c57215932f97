"""Saved reports, and their JSON file."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import wraps
from typing import Any, TypeVar

from advisor.errors import InputError
from advisor.formatting import show_money_in, shown_currency
from advisor.reports.document.document import ReportDocument, from_json, to_json
from advisor.reports.document.field_types import checked
from advisor.reports.document.measured import JudgedResult, MeasuredResult, judged

Form = TypeVar("Form", str, bytes)


@dataclass(frozen=True, kw_only=True)
class ReportHead:
    """A saved report without its contents.

    Attributes:
        id: number in this store; never reused after deletion.
        name: name given by the author.
        created_at: time of saving, in UTC.
        notes: notes of the author.
        tags: tags of the author, sorted.
        author: name of the author; may be empty.
        app_version: version of the program that made it.
        summary: verdict.
        model: name of the model; empty where unknown.
        gpu: name of the GPU; empty where unknown.
        share: secret part of its public link; empty for a private report.
        deleted_at: time of deletion; None for an existing report.
    """

    id: int
    name: str
    created_at: datetime
    notes: str
    tags: tuple[str, ...]
    author: str
    app_version: str
    summary: str
    model: str
    gpu: str
    share: str
    deleted_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class SavedReport(ReportHead):
    """Saved report with its contents.

    Attributes:
        document: the comparison.
        results: measured results, oldest first.
    """

    document: ReportDocument
    results: tuple[MeasuredResult, ...] = ()

    @property
    def judged(self) -> tuple[JudgedResult, ...]:
        """Results with their predictions."""
        return tuple(judged(result, self.document) for result in self.results)


def in_its_currency(make: Callable[[SavedReport], Form]) -> Callable[[SavedReport], Form]:
    """Format whose amounts are in the currency of the report."""

    @wraps(make)
    def made(report: SavedReport) -> Form:
        before = shown_currency()
        show_money_in(report.document.shown_in)
        try:
            return make(report)
        finally:
            show_money_in(before)

    return made


@dataclass(frozen=True, kw_only=True)
class ReportFile:
    """Content of a report's JSON file, without its number and time of saving.

    Attributes:
        document: the comparison.
        name: name; empty for the document's title.
        notes: notes of the author.
        tags: tags of the author.
        author: name of the author.
        results: measured results.
    """

    document: ReportDocument
    name: str = ""
    notes: str = ""
    tags: tuple[str, ...] = ()
    author: str = ""
    results: tuple[MeasuredResult, ...] = ()


def report_json(report: SavedReport) -> dict[str, Any]:
    """Report as JSON content; `read_report` restores all but `saved`."""
    return {
        **to_json(report.document),
        "saved": {"number": report.id, "at": report.created_at.isoformat()},
        "name": report.name,
        "notes": report.notes,
        "tags": list(report.tags),
        "author": report.author,
        "results": [asdict(result) for result in report.results],
    }


def read_report(data: object) -> ReportFile:
    """Report of JSON content, of this version or an older one.

    Raises:
        InputError: not a report, one of a newer format, or a field of the wrong shape; the message
            names the field.
    """
    if not isinstance(data, Mapping):
        raise InputError(f"A report is a JSON object, not {type(data).__name__}.")
    return ReportFile(
        document=from_json(data),
        name=checked(str, data.get("name", ""), "report.name"),
        notes=checked(str, data.get("notes", ""), "report.notes"),
        tags=checked(tuple[str, ...], data.get("tags", []), "report.tags"),
        author=checked(str, data.get("author", ""), "report.author"),
        results=checked(tuple[MeasuredResult, ...], data.get("results", []), "report.results"),
    )
