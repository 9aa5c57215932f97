"""Database of the reports: address, connection and version of the tables.

SQLite in the user's data folder unless the environment says otherwise:

    ADVISOR_DATA_DIR       another folder for reports.sqlite
    ADVISOR_DATABASE_URL   another database altogether, as SQLAlchemy writes addresses
"""

import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from advisor.failures import StoreError
from advisor.paths import data_folder
from advisor.reports.store.saved import LONGEST_NAME, LONGEST_TAG

FIRST_VERSION = 2
"""Oldest version of the tables that is brought forward; none before it was released."""


def _with_events(connection: sa.Connection) -> None:
    """Version 3: links that end, and what happened to reports."""
    connection.execute(sa.text("ALTER TABLE reports ADD COLUMN share_until TIMESTAMP"))
    connection.execute(
        sa.text(
            "CREATE TABLE report_events (id BIGINT NOT NULL PRIMARY KEY, report_id BIGINT NOT NULL,"
            " at TIMESTAMP NOT NULL, who TEXT NOT NULL, what VARCHAR(20) NOT NULL)"
        )
    )
    connection.execute(sa.text("CREATE INDEX report_events_of ON report_events (report_id)"))


STEPS: tuple[Callable[[sa.Connection], None], ...] = (_with_events,)
"""STEPS[n] takes tables of version n + 2 to version n + 3; add one with every change of a table, in
SQL that SQLite and PostgreSQL both know, and not of the tables of today: they go on to change."""


# Tables of the report database, in the version that this program writes.
#
# Contents lie apart from the heads, so that a list of thousands reads no contents.

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""Type of a report's number; SQLite numbers rows by itself in a column of this very type alone."""
KEPT = sa.text("deleted_at IS NULL")


class UtcDateTime(sa.TypeDecorator[datetime]):
    """Time in UTC, for databases without time zones."""

    impl = sa.DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, _dialect: sa.Dialect) -> datetime | None:
        """Time for the database: in UTC, without zone."""
        if value is None:
            return None
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: Any | None, _dialect: sa.Dialect) -> datetime | None:
        """Time from the database: with its zone."""
        return None if value is None else value.replace(tzinfo=UTC)


class Base(DeclarativeBase):
    """Base of the tables."""


class SchemaRow(Base):
    """Single row with the version of the tables."""

    __tablename__ = "report_schema"

    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


class ReportRow(Base):
    """Saved report without its contents: `ReportHead`, and the columns of searches and filters."""

    __tablename__ = "reports"

    id: Mapped[int] = mapped_column(NUMBER, primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(LONGEST_NAME))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)
    notes: Mapped[str] = mapped_column(sa.Text)
    app_version: Mapped[str] = mapped_column(sa.Text)
    summary: Mapped[str] = mapped_column(sa.Text)
    author: Mapped[str] = mapped_column(sa.Text, server_default="")
    model: Mapped[str] = mapped_column(sa.Text, server_default="")
    gpu: Mapped[str] = mapped_column(sa.Text, server_default="")
    # words of the document, and of the annotations, in lower case
    document_text: Mapped[str] = mapped_column(sa.Text, server_default="")
    annotation_text: Mapped[str] = mapped_column(sa.Text, server_default="")
    # hash of everything saved, with name and owner; empty in rows of the first tables
    digest: Mapped[str | None] = mapped_column(sa.String(64))
    owner: Mapped[str] = mapped_column(sa.Text, server_default="")  # empty without login
    share: Mapped[str] = mapped_column(sa.Text, server_default="")
    share_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    result_count: Mapped[int] = mapped_column(server_default="0", index=True)
    deleted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    content: Mapped["ContentRow"] = relationship(
        back_populates="report", cascade="all, delete-orphan", lazy="raise_on_sql"
    )
    tags: Mapped[list["TagRow"]] = relationship(
        cascade="all, delete-orphan", lazy="selectin", order_by="TagRow.tag"
    )

    __table_args__ = (
        sa.Index(
            "reports_saved_once", "digest", unique=True, sqlite_where=KEPT, postgresql_where=KEPT
        ),
        # Without this SQLite gives the number of a deleted report to the next one.
        {"sqlite_autoincrement": True},
    )


class ContentRow(Base):
    """Document (`document.to_json`) and measured results of a report, as JSON content."""

    __tablename__ = "report_contents"

    report_id: Mapped[int] = mapped_column(
        NUMBER, sa.ForeignKey("reports.id"), primary_key=True, autoincrement=False
    )
    document: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    results: Mapped[list[dict[str, Any]]] = mapped_column(sa.JSON)
    report: Mapped[ReportRow] = relationship(back_populates="content")


class TagRow(Base):
    """Tag of a report."""

    __tablename__ = "report_tags"

    report_id: Mapped[int] = mapped_column(NUMBER, sa.ForeignKey("reports.id"), primary_key=True)
    tag: Mapped[str] = mapped_column(sa.String(LONGEST_TAG), primary_key=True, index=True)


class EventRow(Base):
    """Event of a report; it outlives the report."""

    __tablename__ = "report_events"

    # random, since the databases number rows in different ways
    id: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True, autoincrement=False)
    report_id: Mapped[int] = mapped_column(sa.BigInteger)
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    who: Mapped[str] = mapped_column(sa.Text)  # issuer and subject; empty without a login
    what: Mapped[str] = mapped_column(sa.String(20))  # a key of `saved.EVENTS`

    __table_args__ = (sa.Index("report_events_of", "report_id"),)


BUSY_SECONDS = 5.0  # longest wait for another program that is writing [s]
_OPTIONS = ("host", "port", "user", "password", "dbname", "sslmode", "options")
"""Names in a query that are no secret; another may be a password that was misplaced."""
MIGRATION_LOCK = 0x0FF_10AD
"""Number of PostgreSQL's lock under which tables are made; of this program alone."""


def database_url(url: str | None = None) -> sa.URL:
    """Address of the database: the given one, the environment's, or a file of the user."""
    given = url or os.environ.get("ADVISOR_DATABASE_URL", "").strip()
    if not given:
        return sa.URL.create("sqlite", database=str(data_folder() / "reports.sqlite"))
    try:
        address = sa.make_url(given)
    except (ArgumentError, ValueError) as error:
        # The text may hold a password, so the message does not repeat it.
        raise StoreError(
            "The address of the report database is not one; it looks like "
            "sqlite:////folder/reports.sqlite or postgresql://user@host/name. "
            "Mend ADVISOR_DATABASE_URL, or unset it to use a file."
        ) from error
    if address.get_backend_name() == "sqlite" and address.database in (None, "", ":memory:"):
        raise StoreError(f"{place(address)} forgets what is saved; name a file in it.")
    # The driver of the extra `postgres`, whichever of them SQLAlchemy would take.
    bare = address.drivername in ("postgresql", "postgres")
    if bare:
        return address.set(drivername="postgresql+psycopg")
    return address


def place(url: sa.URL) -> str:
    """Location of the database in words, without a password."""
    if url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:"):
        return str(url.database)
    shown = sa.URL.create(
        url.drivername, username=url.username, host=url.host, port=url.port, database=url.database
    )
    return shown.render_as_string()


def file_of(url: sa.URL) -> Path | None:
    """File of a SQLite database; None for a server or a URI."""
    database = url.database or ""
    is_file = url.get_backend_name() == "sqlite" and not database.startswith("file:")
    if is_file:
        return Path(database)
    return None


def connect(url: sa.URL) -> sa.Engine:
    """Engine for a database with tables of this version.

    A SQLite file where nobody may write is opened for reading.
    """
    file = file_of(url)
    if file is not None:
        _make_folder(file)
        # SQLite writes its journal beside the file, so the folder counts too.
        if file.exists() and not all(os.access(place, os.W_OK) for place in (file, file.parent)):
            return _open_to_read(url, file)
    engine = _engine(url)
    with explained(url):
        bring_up_to_date(engine)
    return engine


def _open_to_read(url: sa.URL, file: Path) -> sa.Engine:
    """Read-only engine, for a file or folder without write permission."""
    engine = _engine(url, creator=partial(_open_unchanged, file))
    with explained(url), engine.connect() as connection:
        version = _version(connection)
    if version != newest_version():
        raise StoreError(
            f"{file} has tables of version {version}; they cannot be brought to version "
            f"{newest_version()} where nothing may be written. Allow writing in {file.parent}, or "
            "copy the file elsewhere and set ADVISOR_DATA_DIR."
        )
    return engine


def _open_unchanged(file: Path) -> sqlite3.Connection:
    # Without a journal beside it SQLite would have to make the files that it shares with writers.
    journal = file.with_name(f"{file.name}-wal")
    written = journal.exists() and journal.stat().st_size > 0
    address = f"{file.absolute().as_uri()}?mode=ro{'' if written else '&immutable=1'}"
    return sqlite3.connect(address, uri=True, check_same_thread=False)


def _open_file(
    file: Path, dialect: sa.Dialect, _record: object, places: Sequence[Any], options: dict[str, Any]
) -> Any:
    """Connection to a file; on a full disk, where SQLite cannot make the files that it shares with
    writers, one for reading.
    """
    connection: Any = dialect.connect(*places, **options)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except (sqlite3.Error, UnicodeDecodeError):
        if not _is_full(file):
            return connection  # `_prepare_sqlite` says why
        connection.close()
        return _open_unchanged(file)
    return connection


LEAST_ROOM = 64 * 1024
"""Room on a disk that SQLite needs beside its file: 32 KiB of index and a page of journal [B]."""


def _is_full(file: Path | None) -> bool:
    with suppress(OSError):
        return file is not None and shutil.disk_usage(file.parent).free < LEAST_ROOM
    return False


def _engine(url: sa.URL, **options: Any) -> sa.Engine:
    sqlite = url.get_backend_name() == "sqlite"
    # A kept connection to a file would go on writing to it after it was deleted; one to a server
    # is tried first, since the server may have been restarted.
    pool: dict[str, Any] = {"poolclass": sa.NullPool} if sqlite else {"pool_pre_ping": True}
    try:
        engine = sa.create_engine(url, **pool, **options)
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        raise StoreError(
            f"No driver for {place(url)} is installed ({_without_secrets(str(error), url)}). "
            "PostgreSQL's comes with pip install 'offload-advisor[postgres]'; or unset "
            "ADVISOR_DATABASE_URL to use a file."
        ) from error
    if sqlite:
        file = file_of(url)
        if file is not None and not options:
            sa.event.listen(engine, "do_connect", partial(_open_file, file))
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


@contextmanager
def explained(url: sa.URL) -> Iterator[None]:
    """Context in which errors of the database become sentences."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        cause = str(error.orig if isinstance(error, DBAPIError) else error)
        if _is_full(file_of(url)) and re.search("disk I/O|readonly|unable to open", cause):
            cause = f"disk full: {cause}"
        raise StoreError(_sentence(_without_secrets(cause, url), place(url))) from error
    except (ValueError, TypeError) as error:
        # Bytes that are no text, JSON or time of day: SQLite hands them over unchecked.
        raise StoreError(_sentence(f"malformed: {error}", place(url))) from error


def _without_secrets(message: str, url: sa.URL) -> str:
    own_names = [name for name in url.query if name not in _OPTIONS]
    values = [url.password, *own_names, *url.query.values()]
    texts = (value if isinstance(value, tuple) else (value,) for value in values if value)
    secrets = [str(part) for parts in texts for part in parts]
    for secret in sorted(secrets, key=len, reverse=True):
        message = message.replace(secret, "***")
    return " ".join(message.split())


SENTENCES = {
    "locked|busy": (
        f"Another program is writing to {{where}} and did not finish within {BUSY_SECONDS:.0f} s. "
        "Try again, or close it; nothing was changed."
    ),
    "not a database|malformed|could not decode": (
        "{where} is damaged or not a report database ({cause}). Nothing was changed. Move the file "
        "elsewhere and keep it; a new one is made at the next start."
    ),
    "full|no space": (
        "There is no room left for {where}. Free some and save again; nothing was changed."
    ),
    "readonly|read-only|unable to open": (
        "{where} cannot be opened for writing ({cause}). Allow writing there, or set "
        "ADVISOR_DATA_DIR to another folder; nothing was changed."
    ),
    "connection|could not connect": (
        "The report database {where} does not answer ({cause}). Nothing was changed; start it or "
        "mend ADVISOR_DATABASE_URL, and try again."
    ),
    "": "The reports in {where} could not be used: {cause}",
}
"""What is said of a cause of the database, by words in it; the first that fit."""


def _sentence(cause: str, where: str) -> str:
    words = next(text for cue, text in SENTENCES.items() if re.search(cue, cause.casefold()))
    return words.format(where=where, cause=cause)


def _make_folder(file: Path) -> None:
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The folder {file.parent} for reports cannot be made ({error.strerror}). Set "
            "ADVISOR_DATA_DIR to a folder that you can write to."
        ) from error


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # Python's own transactions would start too late to guard the making of tables.
    connection.isolation_level = None
    try:
        # First of all, because setting the journal mode may already have to wait.
        connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000:.0f}")
        connection.execute("PRAGMA journal_mode = WAL")
        # A save that was confirmed outlives a loss of power, not only the end of the program.
        connection.execute("PRAGMA synchronous = FULL")
    except (sqlite3.Error, UnicodeDecodeError):
        connection.close()  # SQLAlchemy leaves one that it never had to the collector
        raise


def _begin_sqlite(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("advisor_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def newest_version() -> int:
    """Version of the tables that this program writes."""
    return FIRST_VERSION + len(STEPS)


def bring_up_to_date(engine: sa.Engine) -> None:
    """Create the tables, or migrate older ones."""
    with engine.begin() as connection:
        if _version(connection) == newest_version():
            return
    # Looked at again under the lock: another program may have been quicker.
    with engine.connect().execution_options(advisor_writes=True) as writer, writer.begin():
        if writer.dialect.name == "postgresql":
            writer.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
        _migrate(writer, _version(writer))


def _version(connection: sa.Connection) -> int | None:
    tables = set(sa.inspect(connection).get_table_names())
    if SchemaRow.__tablename__ in tables:
        return connection.scalars(sa.select(SchemaRow.version)).one_or_none()
    if ReportRow.__tablename__ in tables:
        raise StoreError(
            f"{place(connection.engine.url)} holds a table 'reports' of another program. Nothing "
            "was changed; name another file or database for Offload Advisor."
        )
    return None


def _migrate(connection: sa.Connection, version: int | None) -> None:
    newest = newest_version()
    if version is None:
        Base.metadata.create_all(connection)
    elif version > newest:
        raise StoreError(
            f"{place(connection.engine.url)} was written by a newer Offload Advisor (tables of "
            f"version {version}, this one knows up to {newest}). Update the program; nothing was "
            "changed."
        )
    elif version < FIRST_VERSION:
        raise StoreError(
            f"{place(connection.engine.url)} was written by an Offload Advisor older than its "
            f"first release (tables of version {version}). Move it elsewhere, and a new one is "
            "made; nothing was changed."
        )
    else:
        for step in STEPS[version - FIRST_VERSION :]:
            step(connection)
    schema = Base.metadata.tables[SchemaRow.__tablename__]
    connection.execute(schema.delete())
    connection.execute(schema.insert().values(version=newest))


Identity = tuple[int, int]


class Sessions:
    """Sessions of one database.

    A SQLite file is looked at before every session: one that was put in its place is opened, with
    its tables brought forward, and a missing one is an error instead of a new, empty file.
    """

    def __init__(self, url: sa.URL) -> None:
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
        if file is not None:
            facts = file.stat()
        else:
            facts = None
    except OSError:
        return None
    if facts:
        return (facts.st_dev, facts.st_ino)
    return None
