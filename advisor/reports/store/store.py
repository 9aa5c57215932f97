"""Saved reports: save, list, load, annotate, attach results, share, delete and restore.

    store = open_store()
    saved = store.save(document, "3090 against a rented A6000")
    store.load(saved.id).document == document

Several tabs and programs may use one store at the same time.
"""

import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import URL, ColumnElement, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from advisor.errors import InputError, StoreError
from advisor.reports.document import ReportDocument
from advisor.reports.from_advice import MeasuredResult
from advisor.reports.store import rows
from advisor.reports.store.database import (
    ReportRow,
    bring_up_to_date,
    connect,
    database_url,
    explained,
    file_of,
    place,
)
from advisor.reports.store.rows import PAGE, FilterChoices, ReportPage, ReportQuery
from advisor.reports.store.saved import (
    FIELDS,
    AnnotatedReport,
    ReportHead,
    SavedReport,
    Value,
    clean,
    clean_author,
    clean_name,
    clean_notes,
    clean_tags,
    conflicts_of,
)

# Database sessions that notice a replaced or missing SQLite file.


Identity = tuple[int, int]


class Sessions:
    """Sessions of one database.

    A SQLite file is looked at before every session: one that was put in its place is opened, with
    its tables brought forward, and a missing one is an error instead of a new, empty file.
    """

    def __init__(self, url: URL) -> None:
        self.url = url
        self._engine = connect(url)
        self._file = file_of(url)
        self._identity = _identity(self._file)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Session for reading."""
        self._look()
        with explained(self.url), Session(self._engine) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Session whose changes are saved together when the block ends, or not at all."""
        self._look()
        engine = self._engine.execution_options(advisor_writes=True)
        with explained(self.url), Session(engine, expire_on_commit=False) as session:
            yield session
            session.commit()
        if _identity(self._file) != self._identity:
            raise StoreError(self._gone())

    def close(self) -> None:
        """Close all connections; the next session opens a new one."""
        self._engine.dispose()

    def _look(self) -> None:
        if self._file is None:
            return
        self._identity = _identity(self._file)
        if self._identity is None:
            raise StoreError(self._gone())
        with explained(self.url):
            bring_up_to_date(self._engine)

    def _gone(self) -> str:
        return (
            f"{place(self.url)} is gone: it was moved or deleted while the program ran, and "
            "nothing was saved. Put it back and try again, or start the program anew for an empty "
            "one."
        )


def _identity(file: Path | None) -> Identity | None:
    """Identity of a file, apart from its name; None without a file."""
    try:
        facts = file.stat() if file is not None else None
    except OSError:
        return None
    return (facts.st_dev, facts.st_ino) if facts else None


KEPT_DELETED = timedelta(days=30)
"""Time for which a deleted report can be restored."""
MOST_REPORTS, REPORTS_EACH = 1000, "ADVISOR_REPORTS_EACH"
"""Reports that an owner may keep, with deleted ones that can be restored, and the setting with
another number."""
MOST_RESULTS = 100
"""Measured results of a report."""
_LARGEST_ID = 2**63 - 1  # of an integer column


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
    ) -> SavedReport:
        """Save a report under a new number; the same report under the same name is saved once.

        An owner's reports are no more than the server keeps of each (`MOST_REPORTS`).
        """
        row = rows.new(
            document,
            name=clean_name(name),
            notes=clean_notes(notes),
            tags=clean_tags(tags),
            author=clean_author(author),
            results=tuple(results),
            owner=self._owner or "",
        )
        try:
            with self._sessions.writing() as session:
                same = self._same(session, row.digest)
                if same is not None:
                    return self._saved(same)
                self._check_room(session)
                session.add(row)
        except StoreError as error:
            # Another program saved the same one between the look and the commit.
            if isinstance(error.__cause__, IntegrityError):
                with self._sessions.reading() as session:
                    same = self._same(session, row.digest)
                    if same is not None:
                        return self._saved(same)
            raise
        return self._saved(row)

    def list(self, search: str = "") -> tuple[ReportHead, ...]:
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
            return rows.page(session, conditions, offset, limit)

    def choices(self) -> FilterChoices:
        """Values that the filters of a list offer."""
        with self._sessions.reading() as session:
            existing = self._visible([ReportRow.deleted_at.is_(None)])
            return rows.choices(session, existing)

    def load(self, number: int) -> SavedReport:
        """Report with its contents."""
        with self._sessions.reading() as session:
            return self._saved(self._row(session, number))

    def measured(self, limit: int = 200) -> tuple[SavedReport, ...]:
        """Newest reports with measured results."""
        with self._sessions.reading() as session:
            existing = self._visible([ReportRow.result_count > 0, ReportRow.deleted_at.is_(None)])
            chosen = select(ReportRow).where(*existing).order_by(rows.NEWEST).limit(limit)
            return tuple(map(self._saved, session.scalars(rows.whole(chosen))))

    def load_shared(self, secret: str) -> SavedReport:
        """Report of a public link."""
        with self._sessions.reading() as session:
            shown = select(ReportRow).where(
                ReportRow.share == secret, ReportRow.share != "", ReportRow.deleted_at.is_(None)
            )
            row = session.scalars(rows.whole(shown)).one_or_none()
            if row is None:
                raise StoreError(
                    "This link shows no report, or not any more. Ask whoever sent it for a new one."
                )
            return self._saved(row)

    def annotate(
        self,
        number: int,
        *,
        name: str | None = None,
        notes: str | None = None,
        tags: Iterable[str] | None = None,
        seen: ReportHead | None = None,
    ) -> AnnotatedReport:
        """Change name, notes or tags; None leaves a field unchanged.

        A field that somebody else changed since `seen` stays as they left it, and is told; without
        `seen` it is overwritten.
        """
        edits: dict[str, Value | None] = {
            "name": name, "notes": notes, "tags": None if tags is None else tuple(tags),
        }  # fmt: skip
        wanted = {
            field: clean(field, value) for field in FIELDS if (value := edits[field]) is not None
        }
        with self._sessions.writing() as session:
            row = self._row(session, number, lock=True)
            now = ReportHead(**rows.head(row))
            conflicts = conflicts_of(wanted, now, seen)
            refused = {conflict.field for conflict in conflicts}
            for field, value in wanted.items():
                same = seen is not None and value == getattr(seen, field)
                if field not in refused and not same:
                    rows.change(row, field, value)
            row.annotation_text = rows.annotation_text(row)
            return AnnotatedReport(head=ReportHead(**rows.head(row)), conflicts=conflicts)

    def attach(self, number: int, result: MeasuredResult) -> SavedReport:
        """Add a measured result to a report, once."""
        with self._sessions.writing() as session:
            row = self._row(session, number, lock=True)
            results = list(row.content.results)
            if asdict(result) not in results:
                results.append(asdict(result))
            if len(results) > MOST_RESULTS:
                raise InputError(f"Report {number} has {MOST_RESULTS} results; that is the most.")
            row.content.results, row.result_count = results, len(results)
            return self._saved(row)

    def share(self, number: int, *, public: bool) -> ReportHead:
        """Make the report public for everyone with its link, or private again."""
        with self._sessions.writing() as session:
            row = self._row(session, number, lock=True)
            row.share = (row.share or secrets.token_urlsafe(24)) if public else ""
            return ReportHead(**rows.head(row))

    def delete(self, number: int) -> None:
        """Delete a report; it can be restored for 30 days."""
        with self._sessions.writing() as session:
            self._row(session, number, lock=True).deleted_at = datetime.now(UTC)
            rows.forget(session, datetime.now(UTC) - KEPT_DELETED)

    def restore(self, number: int) -> ReportHead:
        """Restore a deleted report."""
        with self._sessions.writing() as session:
            row = self._row(session, number, lock=True, deleted=True)
            if self._same(session, row.digest) is not None:
                row.digest = None  # the same was saved again meanwhile; both are kept
            row.deleted_at = None
            return ReportHead(**rows.head(row))

    def close(self) -> None:
        """Close all connections; the store opens new ones when needed."""
        self._sessions.close()

    def _visible(self, conditions: Iterable[ColumnElement[bool]]) -> Sequence[ColumnElement[bool]]:
        of_owner = () if self._owner is None else (ReportRow.owner == self._owner,)
        return [*conditions, *of_owner]

    def _same(self, session: Session, digest: str | None) -> ReportRow | None:
        same = (ReportRow.digest == digest, ReportRow.deleted_at.is_(None))
        return session.scalars(rows.whole(select(ReportRow).where(*same))).one_or_none()

    def _check_room(self, session: Session) -> None:
        """Refuse a further report of an owner who has all that the server keeps of each.

        Raises:
            StoreError: it has as many, or the setting is no number.
        """
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
        state = ReportRow.deleted_at.is_not(None) if deleted else ReportRow.deleted_at.is_(None)
        conditions = self._visible([state])
        chosen = rows.whole(select(ReportRow).where(ReportRow.id == number, *conditions))
        if lock:
            chosen = chosen.with_for_update()
        possible = 0 < number <= _LARGEST_ID
        row = session.scalars(chosen).one_or_none() if possible else None
        if row is None:
            which = "deleted report" if deleted else "report"
            numbers = rows.numbers(session, conditions)
            raise StoreError(f"No {which} has the number {number}; {numbers}")
        return row

    def _saved(self, row: ReportRow) -> SavedReport:
        try:
            return rows.report(row)
        except InputError as error:
            raise StoreError(f"Report {row.id} in {self.place} cannot be read: {error}") from error


def open_store(url: str | None = None) -> ReportStore:
    """Store of the user's reports, created if missing.

    The address is written as SQLAlchemy takes it; without one it is ADVISOR_DATABASE_URL, or else
    reports.sqlite in ADVISOR_DATA_DIR or the user's data folder. Nothing is changed in a place that
    cannot be understood.
    """
    return ReportStore(Sessions(database_url(url)))
