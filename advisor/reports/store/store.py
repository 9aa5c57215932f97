"""Saved reports: save, list, load, annotate, attach results, share, delete and restore.

    store = open_store()
    saved = store.save(document, "3090 against a rented A6000")
    store.load(saved.id).document == document

Several tabs and programs may use one store at the same time.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, delete, func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, selectinload

from advisor.catalog.records import checked, like
from advisor.errors import InputError, UnknownName
from advisor.failures import StoreError
from advisor.reports.document import ReportDocument, from_json, to_json
from advisor.reports.from_advice import MeasuredResult
from advisor.reports.store import saved
from advisor.reports.store.database import (
    ContentRow,
    EventRow,
    ReportRow,
    Sessions,
    TagRow,
    database_url,
    place,
)

PAGE = 20  # reports of a page of the list


@dataclass(frozen=True, kw_only=True)
class ReportQuery:
    """Conditions on reports, which must all hold; an omitted one always holds."""

    # words that must occur in name, notes, tags, author, verdict or request, ignoring case
    words: str = ""
    model: str = ""  # exact name of the model
    gpu: str = ""  # exact name of the GPU
    tag: str = ""  # exact name of a tag
    since: datetime | None = None  # saved at this time or later
    until: datetime | None = None  # saved before this time
    deleted: bool = False  # deleted reports instead of the others

    def conditions(self, dialect: str) -> list[ColumnElement[bool]]:
        """Conditions of a query in SQL; raises UnknownName for a search of too many words."""
        UnknownName.check("report", self.words)
        if dialect == "postgresql":
            find = func.strpos
        else:
            find = func.instr
        deleted = ReportRow.deleted_at
        conditions: list[ColumnElement[bool]] = [
            deleted.is_not(None) if self.deleted else deleted.is_(None)
        ]
        conditions += [
            or_(find(ReportRow.annotation_text, word) > 0, find(ReportRow.document_text, word) > 0)
            for word in self.words.casefold().split()
        ]
        exact = ((ReportRow.model, self.model), (ReportRow.gpu, self.gpu))
        conditions += [column == name for column, name in exact if name]
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

    heads: tuple[saved.ReportHead, ...]  # the reports, newest first
    total: int  # number of reports on all pages


@dataclass(frozen=True, kw_only=True)
class FilterChoices:
    """Values that the filters offer, sorted."""

    models: tuple[str, ...]
    gpus: tuple[str, ...]
    tags: tuple[str, ...]


KEPT_DELETED = timedelta(days=30)  # time for which a deleted report can be restored
KEPT_EVENTS = timedelta(days=400)  # time for which it is known what happened to reports
OPENED_ONCE = timedelta(hours=1)  # time in which a link that is opened again is no further event
MOST_REPORTS = 1000
REPORTS_EACH = "ADVISOR_REPORTS_EACH"
"""Reports that an owner may keep, with deleted ones that can be restored, and the setting with
another number."""
MOST_RESULTS = 100  # measured results of a report
_LARGEST_ID = 2**63 - 1  # of an integer column
_COLUMNS = [name for name in saved.ReportHead.__dataclass_fields__ if name != "tags"]
_NEWEST = ReportRow.id.desc()
"""Order of lists: numbers follow the time of saving, and need no sorting."""
_OF_ITS_MAKING = ("created_at", "link")
"""Fields of a document that differ each time the same comparison is made."""
_WHOLE = select(ReportRow).options(selectinload(ReportRow.content))  # reports with their contents


class ReportStore:
    """Reports of one database, of one owner or of all (None), made by `open_store`.

    Every method raises StoreError when the database cannot do what was asked, or when it has no
    such report.
    """

    def __init__(self, sessions: Sessions, owner: str | None = None) -> None:
        self._sessions = sessions
        self._owner = owner

    @property
    def place(self) -> str:
        """File or address of the database, without password."""
        return place(self._sessions.url)

    def of(self, owner: str) -> "ReportStore":
        """Store with the reports of one owner."""
        return ReportStore(self._sessions, owner)

    def save(
        self,
        document: ReportDocument,
        name: str,
        notes: str = "",
        *,
        tags: Iterable[str] = (),
        author: str = "",
        results: Iterable[MeasuredResult] = (),
    ) -> saved.SavedReport:
        """Save a report under a new number; the same report under the same name is saved once.

        An owner's reports are no more than the server keeps of each (`MOST_REPORTS`).
        """
        row = ReportRow(
            name=saved.clean_name(name),
            created_at=datetime.now(UTC),
            notes=saved.clean_notes(notes),
            app_version=document.version,
            summary=document.verdict,
            author=saved.clean_author(author),
            model=document.model,
            gpu=document.gpu,
            document_text=_document_text(document),
            owner=self._owner or "",
            share="",
            tags=[TagRow(tag=tag) for tag in saved.clean_tags(tags)],
            content=ContentRow(
                document=to_json(document), results=[asdict(result) for result in results]
            ),
        )
        row.result_count = len(row.content.results)
        row.digest = _digest(row)
        row.annotation_text = _annotation_text(row)
        try:
            with self._sessions.writing() as session:
                same = self._same(session, row.digest)
                if same is None:
                    self._check_room(session)
                    session.add(row)
        except StoreError as error:
            # Another program saved the same one between the look and the commit.
            if not isinstance(error.__cause__, IntegrityError):
                raise
            with self._sessions.reading() as session:
                same = self._same(session, row.digest)
            if same is None:
                raise
        return self._saved(row if same is None else same)

    def list(self, search: str = "") -> tuple[saved.ReportHead, ...]:
        """Heads of all reports with the given words, newest first."""
        return self.page(ReportQuery(words=search), limit=None).heads

    def page(
        self, query: ReportQuery | None = None, *, offset: int = 0, limit: int | None = PAGE
    ) -> ReportPage:
        """Page of the heads that match a query, newest first."""
        with self._sessions.reading() as session:
            conditions = self._visible(
                (query or ReportQuery()).conditions(session.get_bind().dialect.name)
            )
            # One look through the texts, which is what a search takes long for, gives total and
            # page. Sorted here: asked for an order, SQLite reads every text even where an index
            # would do.
            numbers = sorted(session.scalars(select(ReportRow.id).where(*conditions)), reverse=True)
            if limit is not None:
                conditions = [ReportRow.id.in_(numbers[offset : offset + limit])]
            chosen = session.scalars(select(ReportRow).where(*conditions).order_by(_NEWEST))
            return ReportPage(heads=tuple(map(_head, chosen)), total=len(numbers))

    def choices(self) -> FilterChoices:
        """Values that the filters of a list offer to choose from."""
        with self._sessions.reading() as session:
            existing = self._visible([ReportRow.deleted_at.is_(None)])
            models, gpus = (
                session.scalars(select(column).distinct().where(*existing, column != ""))
                for column in (ReportRow.model, ReportRow.gpu)
            )
            tags = session.scalars(select(TagRow.tag).distinct().join(ReportRow).where(*existing))
            return FilterChoices(
                models=tuple(sorted(models)), gpus=tuple(sorted(gpus)), tags=tuple(sorted(tags))
            )

    def load(self, number: int) -> saved.SavedReport:
        """Report with its contents."""
        with self._sessions.reading() as session:
            return self._saved(self._row(session, number))

    def measured(self, limit: int = 200) -> tuple[saved.SavedReport, ...]:
        """Newest reports with measured results."""
        with self._sessions.reading() as session:
            existing = self._visible([ReportRow.result_count > 0, ReportRow.deleted_at.is_(None)])
            chosen = _WHOLE.where(*existing).order_by(_NEWEST).limit(limit)
            return tuple(map(self._saved, session.scalars(chosen)))

    def load_shared(self, secret: str) -> saved.SavedReport:
        """Report of a public link."""
        with self._sessions.reading() as session:
            now = datetime.now(UTC)
            shown = _WHOLE.where(
                ReportRow.share == secret,
                ReportRow.share != "",
                ReportRow.deleted_at.is_(None),
                or_(ReportRow.share_until.is_(None), ReportRow.share_until > now),
            )
            row = session.scalars(shown).one_or_none()
            if row is None:
                raise StoreError(
                    "This link shows no report, or not any more. Ask whoever sent it for a new one."
                )
            report = self._saved(row)
        self._note_opened(report.id)
        return report

    def _note_opened(self, number: int) -> None:
        """Keep that a link was opened, once an hour; a place that cannot be written keeps none."""
        since = datetime.now(UTC) - OPENED_ONCE
        with suppress(StoreError), self._sessions.writing() as session:
            lately = select(EventRow.id).where(
                EventRow.report_id == number, EventRow.what == "opened", EventRow.at > since
            )
            if session.scalars(lately.limit(1)).first() is None:
                self._note(session, number, "opened")

    def _note(self, session: Session, number: int, what: str) -> None:
        """Keep what happened to a report, and forget what is long past."""
        now = datetime.now(UTC)
        session.execute(delete(EventRow).where(EventRow.at < now - KEPT_EVENTS))
        session.add(
            EventRow(
                id=secrets.randbits(62), report_id=number, at=now, who=self._owner or "", what=what
            )
        )

    def events(self, number: int | None = None, limit: int = 200) -> tuple[saved.ReportEvent, ...]:
        """Events of a report, or of all visible reports, the newest first."""
        chosen = select(EventRow).order_by(EventRow.at.desc()).limit(limit)
        if number is not None:
            chosen = chosen.where(EventRow.report_id == number)
        if self._owner is not None:
            owned = select(ReportRow.id).where(ReportRow.owner == self._owner)
            chosen = chosen.where(EventRow.report_id.in_(owned))
        with self._sessions.reading() as session:
            return tuple(like(saved.ReportEvent, row) for row in session.scalars(chosen))

    def annotate(
        self,
        number: int,
        *,
        name: str | None = None,
        notes: str | None = None,
        tags: Iterable[str] | None = None,
        seen: saved.ReportHead | None = None,
    ) -> saved.AnnotatedReport:
        """Change name, notes or tags; None leaves a field unchanged.

        A field that somebody else changed since `seen` stays as they left it, and is told; without
        `seen` it is overwritten.
        """
        edits: dict[str, Any] = {"name": name, "notes": notes, "tags": tags}
        wanted = {
            field: clean(value)
            for field, clean in saved.CLEANERS.items()
            if (value := edits[field]) is not None
        }
        with self._sessions.writing() as session:
            row = self._row(session, number, lock=True)
            now = _head(row)
            conflicts = saved.conflicts_of(wanted, now, seen)
            refused = {conflict.field for conflict in conflicts}
            for field, value in wanted.items():
                same = seen is not None and value == getattr(seen, field)
                if field not in refused and not same:
                    _change(row, field, value)
            row.annotation_text = _annotation_text(row)
            return saved.AnnotatedReport(head=_head(row), conflicts=conflicts)

    def attach(self, number: int, result: MeasuredResult) -> saved.SavedReport:
        """Add a measured result to a report, once."""
        with self._sessions.writing() as session:
            row = self._row(session, number, lock=True)
            results = list(row.content.results)
            if asdict(result) not in results:
                results.append(asdict(result))
            if len(results) > MOST_RESULTS:
                raise InputError(f"Report {number} has {MOST_RESULTS} results; that is the most.")
            row.content.results = results
            row.result_count = len(results)
            return self._saved(row)

    def share(
        self, number: int, *, public: bool, until: datetime | None = None
    ) -> saved.ReportHead:
        """Make the report public for everyone with its link, until some time, or private again."""
        with self._sessions.writing() as session:
            row = self._row(session, number, lock=True)
            if public:
                row.share = row.share or secrets.token_urlsafe(24)
                row.share_until = until
                self._note(session, number, "shared")
            else:
                row.share = ""
                row.share_until = None
                self._note(session, number, "withdrawn")
            return _head(row)

    def delete(self, number: int) -> None:
        """Delete a report; it can be restored for 30 days."""
        with self._sessions.writing() as session:
            self._row(session, number, lock=True).deleted_at = datetime.now(UTC)
            self._note(session, number, "deleted")
            forgotten = ReportRow.deleted_at < datetime.now(UTC) - KEPT_DELETED
            _erase(session, forgotten)

    def erase(self, owner: str) -> int:
        """Number of an owner's reports that were erased, deleted ones included.

        Link, content and words of each are gone; the events remain.
        """
        with self._sessions.writing() as session:
            theirs = [*self._visible([ReportRow.owner == owner])]
            numbers = [*session.scalars(select(ReportRow.id).where(*theirs))]
            for number in numbers:
                self._note(session, number, "erased")
            _erase(session, ReportRow.id.in_(numbers))
            return len(numbers)

    def restore(self, number: int) -> saved.ReportHead:
        """Restore a deleted report."""
        with self._sessions.writing() as session:
            row = self._row(session, number, lock=True, deleted=True)
            if self._same(session, row.digest) is not None:
                row.digest = None  # the same was saved again meanwhile; both are kept
            row.deleted_at = None
            self._note(session, number, "restored")
            return _head(row)

    def close(self) -> None:
        """Close all connections; the store opens new ones when needed."""
        self._sessions.close()

    def _visible(self, conditions: Iterable[ColumnElement[bool]]) -> Sequence[ColumnElement[bool]]:
        of_owner = () if self._owner is None else (ReportRow.owner == self._owner,)
        return [*conditions, *of_owner]

    def _same(self, session: Session, digest: str | None) -> ReportRow | None:
        same = (ReportRow.digest == digest, ReportRow.deleted_at.is_(None))
        return session.scalars(_WHOLE.where(*same)).one_or_none()

    def _check_room(self, session: Session) -> None:
        """Refuse a further report of an owner who has all that the server keeps of each."""
        if self._owner is None:
            return
        setting = os.environ.get(REPORTS_EACH, "") or str(MOST_REPORTS)
        if not setting.isdecimal():
            raise StoreError(f"{REPORTS_EACH} is {setting!r}; it must be a whole number.")
        owned = select(func.count()).where(ReportRow.owner == self._owner)
        if (session.scalar(owned) or 0) >= int(setting):
            raise StoreError(
                f"You have {int(setting):,} saved reports, the most that this server keeps of each "
                f"person; delete some, which takes {KEPT_DELETED.days} days to free their places, "
                "or export this one. Nothing was saved."
            )

    def _row(
        self, session: Session, number: int, *, lock: bool = False, deleted: bool = False
    ) -> ReportRow:
        if deleted:
            state = ReportRow.deleted_at.is_not(None)
        else:
            state = ReportRow.deleted_at.is_(None)
        conditions = self._visible([state])
        chosen = _WHOLE.where(ReportRow.id == number, *conditions)
        if lock:
            chosen = chosen.with_for_update()
        possible = 0 < number <= _LARGEST_ID
        if possible:
            row = session.scalars(chosen).one_or_none()
        else:
            row = None
        if row is None:
            if deleted:
                which = "deleted report"
            else:
                which = "report"
            numbers = select(ReportRow.id).where(*conditions).order_by(_NEWEST).limit(10)
            newest = ", ".join(map(str, session.scalars(numbers)))
            if newest:
                there = f"the newest are {newest}."
            else:
                there = "none is saved yet."
            raise StoreError(f"No {which} has the number {number}; {there}")
        return row

    def _saved(self, row: ReportRow) -> saved.SavedReport:
        try:
            return saved.SavedReport(
                **vars(_head(row)),
                document=from_json(row.content.document),
                results=checked(tuple[MeasuredResult, ...], row.content.results, "results"),
            )
        except InputError as error:
            raise StoreError(f"Report {row.id} in {self.place} cannot be read: {error}") from error


def _erase(session: Session, chosen: ColumnElement[bool]) -> None:
    """Delete reports with their contents and tags."""
    for table in (ContentRow, TagRow):
        theirs = table.report_id.in_(select(ReportRow.id).where(chosen))
        session.execute(delete(table).where(theirs))
    session.execute(delete(ReportRow).where(chosen))


def _head(row: ReportRow) -> saved.ReportHead:
    tags = tuple(sorted(each.tag for each in row.tags))
    return saved.ReportHead(**{name: getattr(row, name) for name in _COLUMNS}, tags=tags)


def _document_text(document: ReportDocument) -> str:
    """Words of a document, for searches."""
    inputs = (*document.inputs.values(), *document.request.values())
    parts = (document.title, document.verdict, document.model, document.gpu, *inputs)
    return "\n".join(parts).casefold()


def _annotation_text(row: ReportRow) -> str:
    """Words of the annotations, for searches."""
    return "\n".join((row.name, row.notes, row.author, *(each.tag for each in row.tags))).casefold()


def _digest(row: ReportRow) -> str:
    """Hash of everything that is saved, in hexadecimal; equal for a repeated save."""
    content = row.content
    data = {key: value for key, value in content.document.items() if key not in _OF_ITS_MAKING}
    tags = sorted(each.tag for each in row.tags)
    words = [row.owner, row.name, row.notes, row.author, tags, content.results, data]
    return hashlib.sha256(json.dumps(words, sort_keys=True).encode()).hexdigest()


def _change(row: ReportRow, field: str, value: saved.Value) -> None:
    """Set a field that can be edited."""
    if isinstance(value, str):
        setattr(row, field, value)
        return
    remaining = [each for each in row.tags if each.tag in value]
    new = set(value) - {each.tag for each in remaining}
    row.tags = [*remaining, *(TagRow(tag=tag) for tag in sorted(new))]


def open_store(url: str | None = None) -> ReportStore:
    """Store of the user's reports, created if missing.

    The address is written as SQLAlchemy takes it; without one it is ADVISOR_DATABASE_URL, or else
    reports.sqlite in ADVISOR_DATA_DIR or the user's data folder. Nothing is changed in a place that
    cannot be understood.
    """
    return ReportStore(Sessions(database_url(url)))
