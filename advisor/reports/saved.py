"""Saved reports as they are handed out, and their JSON file, which imports again without loss."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import wraps
from typing import Any, TypeVar

from advisor.errors import InputError
from advisor.formatting import show_money_in, shown_currency
from advisor.reports.document import ReportDocument, from_json, to_json
from advisor.reports.measured import JudgedResult, MeasuredResult, judged
from advisor.reports.schema import checked

Form = TypeVar("Form", str, bytes)


@dataclass(frozen=True, kw_only=True)
class ReportHead:
    """A saved report without its contents.

    Attributes:
        id: its number in this store; never used again after it is deleted.
        name: as the person called it.
        created_at: when it was saved, in UTC.
        notes: the person's own.
        tags: the person's own, in alphabetical order.
        author: who made it, as they call themselves; empty where they do not say.
        app_version: of the program that made it.
        summary: the verdict.
        model: its name; empty where it was not kept.
        gpu: likewise.
        share: the secret part of its public link; empty where it is private.
        deleted_at: when it was deleted; None while it is kept.
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
    """A saved report with its contents.

    Attributes:
        document: the comparison.
        results: what was measured of it, oldest first.
    """

    document: ReportDocument
    results: tuple[MeasuredResult, ...] = ()

    @property
    def judged(self) -> tuple[JudgedResult, ...]:
        """The results beside their predictions."""
        return tuple(judged(result, self.document) for result in self.results)


def in_its_currency(make: Callable[[SavedReport], Form]) -> Callable[[SavedReport], Form]:
    """Makes a form of a report with amounts in the currency that they were asked for in."""

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
    """What the JSON of a report holds, beside its number and the time it was saved.

    Attributes:
        document: the comparison.
        name: empty for the document's title.
        notes: the person's own.
        tags: likewise.
        author: who made it.
        results: what was measured of it.
    """

    document: ReportDocument
    name: str = ""
    notes: str = ""
    tags: tuple[str, ...] = ()
    author: str = ""
    results: tuple[MeasuredResult, ...] = ()


def report_json(report: SavedReport) -> dict[str, Any]:
    """A report as JSON can hold it; all but `saved` comes back by `read_report`."""
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
    """The report that `report_json` wrote, in this version or an older one.

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
