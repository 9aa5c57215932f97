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
    """Page of a list of reports."""

    heads: tuple[ReportHead, ...]  # the reports, newest first
    total: int  # number of reports on all pages


@dataclass(frozen=True, kw_only=True)
class FilterChoices:
    """Values that the filters offer, sorted."""

    models: tuple[str, ...]
    gpus: tuple[str, ...]
    tags: tuple[str, ...]
