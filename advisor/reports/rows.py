"""What the store does with single rows: text to search, digests, edits, and forgetting them."""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, select
from sqlalchemy.orm import Session, selectinload

from advisor.reports.annotations import Value
from advisor.reports.document import ReportDocument, to_json
from advisor.reports.saved import ReportHead
from advisor.reports.tables import ContentRow, ReportRow, TagRow

_COLUMNS = [name for name in ReportHead.__dataclass_fields__ if name != "tags"]
_OF_ITS_MAKING = ("created_at", "link")
"""Fields of a document that differ each time the same comparison is made."""


def head(row: ReportRow) -> dict[str, Any]:
    """Fields of a `ReportHead`."""
    tags = tuple(sorted(own.tag for own in row.tags))
    return {name: getattr(row, name) for name in _COLUMNS} | {"tags": tags}


def whole(chosen: Select[ReportRow]) -> Select[ReportRow]:
    """The same reports, with their contents."""
    return chosen.options(selectinload(ReportRow.content))


def document_text(document: ReportDocument) -> str:
    """The words of a document that a search looks through."""
    inputs = (*document.inputs.values(), *document.request.values())
    parts = (document.title, document.verdict, document.model, document.gpu, *inputs)
    return "\n".join(parts).casefold()


def annotation_text(row: ReportRow) -> str:
    """The words of a person that a search looks through."""
    return "\n".join((row.name, row.notes, row.author, *(own.tag for own in row.tags))).casefold()


def digest(row: ReportRow, document: ReportDocument) -> str:
    """A digest of all that a person saves, in hexadecimal; equal for the same save twice."""
    data = {key: value for key, value in to_json(document).items() if key not in _OF_ITS_MAKING}
    tags = sorted(own.tag for own in row.tags)
    words = [row.owner, row.name, row.notes, row.author, tags, row.content.results, data]
    return hashlib.sha256(json.dumps(words, sort_keys=True).encode()).hexdigest()


def change(row: ReportRow, field: str, value: Value) -> None:
    """Sets a field that a person may edit."""
    if isinstance(value, str):
        setattr(row, field, value)
        return
    kept = [own for own in row.tags if own.tag in value]
    new = set(value) - {own.tag for own in kept}
    row.tags = [*kept, *(TagRow(tag=tag) for tag in sorted(new))]


def forget(session: Session, before: datetime) -> None:
    """Removes for good what was deleted before a time."""
    old = select(ReportRow.id).where(ReportRow.deleted_at < before)
    for table in (ContentRow, TagRow):
        session.execute(delete(table).where(table.report_id.in_(old)))
    session.execute(delete(ReportRow).where(ReportRow.deleted_at < before))


def numbers(session: Session, conditions: Iterable[ColumnElement[bool]]) -> str:
    """The numbers that there are, for a message about one that there is not."""
    chosen = select(ReportRow.id).where(*conditions).order_by(ReportRow.id.desc()).limit(10)
    newest = session.scalars(chosen).all()
    if not newest:
        return "none is saved yet."
    return f"the newest are {', '.join(map(str, newest))}."
