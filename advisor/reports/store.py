"""Saved reports: save, list, load, rename, annotate, delete.

    store = open_store()
    saved = store.save(document, "3090 against a rented A6000")
    store.load(saved.id).document == document

Several tabs and programs may use one store at the same time.
"""

import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import URL, Engine, select
from sqlalchemy.orm import Session, load_only

from advisor.errors import InputError, StoreError
from advisor.reports.database import ReportRow, connect, database_url, explained, place
from advisor.reports.document import ReportDocument, from_json, to_json

LONGEST_NAME = 200
LONGEST_NOTES = 20_000
_LARGEST_ID = 2**63 - 1  # of an integer column
_OVERRIDES = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@dataclass(frozen=True, kw_only=True)
class ReportHead:
    """A saved report without its contents.

    Attributes:
        id: its number in this store; never used again after it is deleted.
        name: as the person called it.
        created_at: when it was saved, in UTC.
        notes: the person's own.
        app_version: of the program that saved it.
        inputs: query parameters that reopen the comparison.
        summary: the verdict.
    """

    id: int
    name: str
    created_at: datetime
    notes: str
    app_version: str
    inputs: dict[str, str]
    summary: str


@dataclass(frozen=True, kw_only=True)
class SavedReport(ReportHead):
    """A saved report with its contents.

    Attributes:
        document: the comparison.
    """

    document: ReportDocument


class ReportStore:
    """The reports of one database. Made by `open_store`.

    Every method raises StoreError when the database cannot do what was asked.
    """

    def __init__(self, engine: Engine, url: URL) -> None:
        self._engine = engine
        self._writer = engine.execution_options(advisor_writes=True)
        self._url = url

    @property
    def place(self) -> str:
        """File or address of the database, without a password."""
        return place(self._url)

    def save(self, document: ReportDocument, name: str, notes: str = "") -> SavedReport:
        """Keeps a report under a new number.

        Raises:
            InputError: a name or notes that cannot be used.
            StoreError: the database cannot keep it.
        """
        row = ReportRow(
            name=clean_name(name),
            created_at=datetime.now(UTC),
            notes=clean_notes(notes),
            app_version=document.version,
            inputs=document.inputs,
            summary=document.verdict,
            content=to_json(document),
        )
        with explained(self._url), Session(self._writer, expire_on_commit=False) as session:
            session.add(row)
            session.commit()
        return _saved(row, document)

    def list(self, search: str = "") -> tuple[ReportHead, ...]:
        """Heads of the reports, newest first.

        Args:
            search: words that all have to occur in name, notes, summary or inputs, in any case;
                empty for every report.
        """
        newest = (ReportRow.created_at.desc(), ReportRow.id.desc())
        heads = load_only(*(getattr(ReportRow, name) for name in ReportHead.__dataclass_fields__))
        with explained(self._url), Session(self._engine) as session:
            rows = session.scalars(select(ReportRow).options(heads).order_by(*newest))
            found = tuple(ReportHead(**_head(row)) for row in rows)
        words = search.casefold().split()
        return tuple(head for head in found if all(word in _haystack(head) for word in words))

    def load(self, number: int) -> SavedReport:
        """One report with its contents.

        Raises:
            StoreError: no report has this number, or its contents are damaged.
        """
        with explained(self._url), Session(self._engine) as session:
            row = self._row(session, number)
            try:
                return _saved(row, from_json(row.content))
            except InputError as error:
                raise StoreError(
                    f"Report {number} in {self.place} cannot be read: {error}"
                ) from error

    def rename(self, number: int, name: str) -> ReportHead:
        """Gives a report another name.

        Raises:
            InputError: a name that cannot be used.
            StoreError: no report has this number.
        """
        return self.annotate(number, name=name)

    def annotate(
        self, number: int, name: str | None = None, notes: str | None = None
    ) -> ReportHead:
        """Changes name, notes or both; None leaves one as it is.

        Raises:
            InputError: a name or notes that cannot be used.
            StoreError: no report has this number.
        """
        with explained(self._url), Session(self._writer, expire_on_commit=False) as session:
            row = self._row(session, number)
            row.name = row.name if name is None else clean_name(name)
            row.notes = row.notes if notes is None else clean_notes(notes)
            session.commit()
            return ReportHead(**_head(row))

    def delete(self, number: int) -> None:
        """Forgets a report for good.

        Raises:
            StoreError: no report has this number.
        """
        with explained(self._url), Session(self._writer) as session:
            session.delete(self._row(session, number))
            session.commit()

    def close(self) -> None:
        """Closes every connection; the store opens new ones when it is used again."""
        self._engine.dispose()

    def _row(self, session: Session, number: int) -> ReportRow:
        row = session.get(ReportRow, number) if 0 < number <= _LARGEST_ID else None
        if row is None:
            raise StoreError(f"No report has the number {number}; {_numbers(session)}")
        return row


def open_store(url: str | None = None) -> ReportStore:
    """The user's reports; the place is made when it does not exist.

    Args:
        url: address as SQLAlchemy writes it; None for ADVISOR_DATABASE_URL, or else for
            reports.sqlite in ADVISOR_DATA_DIR or the user's data folder.

    Raises:
        StoreError: the place cannot be made, opened or understood. Nothing in it was changed.
    """
    address = database_url(url)
    return ReportStore(connect(address), address)


def clean_name(name: str) -> str:
    """A name as it is kept: one line without spaces around it.

    Raises:
        InputError: empty, longer than 200 characters, or with control characters.
    """
    text = name.strip()
    if not text:
        raise InputError("The report has no name; give it one, such as the model and the GPU.")
    if len(text) > LONGEST_NAME:
        raise InputError(f"The name has {len(text)} characters; at most {LONGEST_NAME} fit.")
    if any(_is_control(letter) for letter in text):
        raise InputError(f"The name {text!r} holds line breaks or control characters; use letters.")
    return text


def clean_notes(notes: str) -> str:
    """Notes as they are kept: several lines, no spaces around them.

    Raises:
        InputError: longer than 20,000 characters, or with control characters.
    """
    text = notes.strip()
    if len(text) > LONGEST_NOTES:
        raise InputError(f"The notes have {len(text):,} characters; at most {LONGEST_NOTES:,} fit.")
    if any(_is_control(letter) and letter not in "\r\n\t" for letter in text):
        raise InputError("The notes hold control characters; use letters and line breaks.")
    return text


def _is_control(letter: str) -> bool:
    # Bidirectional overrides make a name read as another one.
    return unicodedata.category(letter) in {"Cc", "Cs", "Zl", "Zp"} or letter in _OVERRIDES


def _head(row: ReportRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ReportHead.__dataclass_fields__}


def _saved(row: ReportRow, document: ReportDocument) -> SavedReport:
    return SavedReport(**_head(row), document=document)


def _haystack(head: ReportHead) -> str:
    return "\n".join((head.name, head.notes, head.summary, *head.inputs.values())).casefold()


def _numbers(session: Session) -> str:
    newest = session.scalars(select(ReportRow.id).order_by(ReportRow.id.desc()).limit(10)).all()
    if not newest:
        return "none is saved yet."
    return f"the newest are {', '.join(str(one) for one in newest)}."
