"""Rows of the report database: creation, queries, edits, deletion."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, func, or_, select
from sqlalchemy.orm import Session, selectinload

from advisor.catalog.records import checked
from advisor.reports.document import ReportDocument, from_json, to_json
from advisor.reports.from_advice import MeasuredResult
from advisor.reports.store.database import ContentRow, ReportRow, TagRow
from advisor.reports.store.saved import ReportHead, SavedReport, Value

# Queries of saved reports: words, filters, pages.


PAGE = 20
"""Reports of a page of the list."""


@dataclass(frozen=True, kw_only=True)
class ReportQuery:
    """Conditions on reports, all of which must hold; omitted ones always hold."""

    # words that must occur in name, notes, tags, author, verdict or request, ignoring case
    words: str = ""
    model: str = ""  # exact name of the model
    gpu: str = ""  # exact name of the GPU
    tag: str = ""  # exact name of a tag
    since: datetime | None = None  # saved at this time or later
    until: datetime | None = None  # saved before this time
    deleted: bool = False  # deleted reports instead of the others

    def conditions(self, dialect: str) -> list[ColumnElement[bool]]:
        """Conditions in SQL."""
        find = func.strpos if dialect == "postgresql" else func.instr
        deleted = ReportRow.deleted_at
        conditions: list[ColumnElement[bool]] = [
            deleted.is_not(None) if self.deleted else deleted.is_(None)
        ]
        conditions += [
            or_(
                find(ReportRow.annotation_text, word) > 0,
                find(ReportRow.document_text, word) > 0,
            )
            for word in self.words.casefold().split()
        ]
        if self.model:
            conditions.append(ReportRow.model == self.model)
        if self.gpu:
            conditions.append(ReportRow.gpu == self.gpu)
        if self.tag:
            tagged = select(TagRow.report_id).where(TagRow.tag == self.tag)
            conditions.append(ReportRow.id.in_(tagged))
        if self.since is not None:
            conditions.append(ReportRow.created_at >= self.since)
        if self.until is not None:
            conditions.append(ReportRow.created_at < self.until)
        return conditions


@dataclass(frozen=True, kw_only=True)
class ReportPage:
    """Page of a list of reports."""

    heads: tuple[ReportHead, ...]  # the reports, newest first
    total: int  # number of reports on all pages


@dataclass(frozen=True, kw_only=True)
class FilterChoices:
    """Values that the filters offer, sorted."""

    models: tuple[str, ...]
    gpus: tuple[str, ...]
    tags: tuple[str, ...]


_COLUMNS = [name for name in ReportHead.__dataclass_fields__ if name != "tags"]
NEWEST = ReportRow.id.desc()
"""Order of lists: numbers follow the time of saving, and need no sorting."""
_OF_ITS_MAKING = ("created_at", "link")
"""Fields of a document that differ each time the same comparison is made."""


def new(
    document: ReportDocument,
    *,
    name: str,
    notes: str,
    tags: Iterable[str],
    author: str,
    results: Sequence[MeasuredResult],
    owner: str,
) -> ReportRow:
    """Row of a new report, with its texts unchanged."""
    row = ReportRow(
        name=name,
        created_at=datetime.now(UTC),
        notes=notes,
        app_version=document.version,
        summary=document.verdict,
        author=author,
        model=document.model,
        gpu=document.gpu,
        document_text=document_text(document),
        owner=owner,
        share="",
        result_count=len(results),
        tags=[TagRow(tag=tag) for tag in tags],
        content=ContentRow(
            document=to_json(document), results=[asdict(result) for result in results]
        ),
    )
    row.digest = digest(row, document)
    row.annotation_text = annotation_text(row)
    return row


def head(row: ReportRow) -> dict[str, Any]:
    """Fields of `ReportHead` from a row."""
    tags = tuple(sorted(each.tag for each in row.tags))
    return {name: getattr(row, name) for name in _COLUMNS} | {"tags": tags}


def page(
    session: Session, conditions: Sequence[ColumnElement[bool]], offset: int, limit: int | None
) -> ReportPage:
    """Page of heads, newest first."""
    # One look through the texts, which is what a search takes long for, gives total and page.
    # Sorted here: asked for an order, SQLite reads every text even where an index would do.
    numbers = sorted(session.scalars(select(ReportRow.id).where(*conditions)), reverse=True)
    if limit is not None:
        conditions = [ReportRow.id.in_(numbers[offset : offset + limit])]
    chosen = select(ReportRow).where(*conditions)
    heads = session.scalars(chosen.order_by(NEWEST))
    return ReportPage(heads=tuple(ReportHead(**head(row)) for row in heads), total=len(numbers))


def choices(session: Session, conditions: Iterable[ColumnElement[bool]]) -> FilterChoices:
    """Models, GPUs and tags of the reports that meet the conditions."""
    where = list(conditions)
    models, gpus = (
        session.scalars(select(column).distinct().where(*where, column != ""))
        for column in (ReportRow.model, ReportRow.gpu)
    )
    tagged = select(TagRow.tag).distinct().join(ReportRow).where(*where)
    return FilterChoices(
        models=tuple(sorted(models)),
        gpus=tuple(sorted(gpus)),
        tags=tuple(sorted(session.scalars(tagged))),
    )


def report(row: ReportRow) -> SavedReport:
    """Report of a row, with its contents."""
    return SavedReport(
        **head(row),
        document=from_json(row.content.document),
        results=checked(tuple[MeasuredResult, ...], row.content.results, "results"),
    )


def whole(chosen: Select[ReportRow]) -> Select[ReportRow]:
    """Reports of several rows, with their contents."""
    return chosen.options(selectinload(ReportRow.content))


def document_text(document: ReportDocument) -> str:
    """Words of a document, for searches."""
    inputs = (*document.inputs.values(), *document.request.values())
    parts = (document.title, document.verdict, document.model, document.gpu, *inputs)
    return "\n".join(parts).casefold()


def annotation_text(row: ReportRow) -> str:
    """Words of the annotations, for searches."""
    return "\n".join((row.name, row.notes, row.author, *(each.tag for each in row.tags))).casefold()


def digest(row: ReportRow, document: ReportDocument) -> str:
    """Hash of everything that is saved, in hexadecimal; equal for a repeated save."""
    data = {key: value for key, value in to_json(document).items() if key not in _OF_ITS_MAKING}
    tags = sorted(each.tag for each in row.tags)
    words = [row.owner, row.name, row.notes, row.author, tags, row.content.results, data]
    return hashlib.sha256(json.dumps(words, sort_keys=True).encode()).hexdigest()


def change(row: ReportRow, field: str, value: Value) -> None:
    """Set a field that can be edited."""
    if isinstance(value, str):
        setattr(row, field, value)
        return
    remaining = [each for each in row.tags if each.tag in value]
    new = set(value) - {each.tag for each in remaining}
    row.tags = [*remaining, *(TagRow(tag=tag) for tag in sorted(new))]


def forget(session: Session, before: datetime) -> None:
    """Remove reports that were deleted before a time."""
    old = select(ReportRow.id).where(ReportRow.deleted_at < before)
    for table in (ContentRow, TagRow):
        session.execute(delete(table).where(table.report_id.in_(old)))
    session.execute(delete(ReportRow).where(ReportRow.deleted_at < before))


def numbers(session: Session, conditions: Iterable[ColumnElement[bool]]) -> str:
    """Existing report numbers in words, for the message about a missing one."""
    chosen = select(ReportRow.id).where(*conditions).order_by(ReportRow.id.desc()).limit(10)
    newest = session.scalars(chosen).all()
    if not newest:
        return "none is saved yet."
    return f"the newest are {', '.join(map(str, newest))}."
