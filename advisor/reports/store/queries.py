"""Queries of saved reports: words, filters, pages."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, func, or_, select

from advisor.reports.store.database import ReportRow, TagRow
from advisor.reports.store.saved import ReportHead

PAGE = 20
"""Reports of a page of the list."""


@dataclass(frozen=True, kw_only=True)
class ReportQuery:
    """Conditions on reports, all of which must hold; omitted ones always hold.

    Attributes:
        words: words that must occur in name, notes, tags, author, verdict or request, ignoring
            case.
        model: exact name of the model.
        gpu: exact name of the GPU.
        tag: exact name of a tag.
        since: saved at this time or later.
        until: saved before this time.
        deleted: deleted reports instead of the others.
    """

    words: str = ""
    model: str = ""
    gpu: str = ""
    tag: str = ""
    since: datetime | None = None
    until: datetime | None = None
    deleted: bool = False

    def conditions(self, dialect: str) -> list[ColumnElement[bool]]:
        """Conditions in SQL.

        Args:
            dialect: name of the SQL dialect in SQLAlchemy.
        """
        place = func.strpos if dialect == "postgresql" else func.instr
        deleted = ReportRow.deleted_at
        conditions: list[ColumnElement[bool]] = [
            deleted.is_not(None) if self.deleted else deleted.is_(None)
        ]
        conditions += [
            or_(
                place(ReportRow.annotation_text, word) > 0, place(ReportRow.document_text, word) > 0
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
    """Page of a list of reports.

    Attributes:
        heads: the reports, newest first.
        total: number of reports on all pages.
    """

    heads: tuple[ReportHead, ...]
    total: int


@dataclass(frozen=True, kw_only=True)
class FilterChoices:
    """Values that the filters offer, sorted."""

    models: tuple[str, ...]
    gpus: tuple[str, ...]
    tags: tuple[str, ...]
