"""Which reports of a store are meant: words, filters, pages."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, func, or_, select

from advisor.reports.saved import ReportHead
from advisor.reports.tables import ReportRow, TagRow

PAGE = 20
"""Reports of a page of the list."""


@dataclass(frozen=True, kw_only=True)
class ReportQuery:
    """Conditions that all have to hold; those left out hold for every report.

    Attributes:
        words: that all have to occur in name, notes, tags, author, verdict or request, in any case.
        model: exact name.
        gpu: likewise.
        tag: likewise.
        since: saved at this time or later.
        until: saved before this time.
        deleted: those that were deleted, in place of those that are kept.
    """

    words: str = ""
    model: str = ""
    gpu: str = ""
    tag: str = ""
    since: datetime | None = None
    until: datetime | None = None
    deleted: bool = False

    def conditions(self, dialect: str) -> list[ColumnElement[bool]]:
        """The same for the database.

        Args:
            dialect: its name, as SQLAlchemy calls it.
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
    """A page of a list.

    Attributes:
        heads: newest first.
        total: reports on all pages.
    """

    heads: tuple[ReportHead, ...]
    total: int


@dataclass(frozen=True, kw_only=True)
class FilterChoices:
    """What the filters offer: values that occur, in alphabetical order."""

    models: tuple[str, ...]
    gpus: tuple[str, ...]
    tags: tuple[str, ...]
