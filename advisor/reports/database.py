"""Where reports lie: the place, the connection, the tables and their versions.

SQLite in the user's data folder unless the environment says otherwise:

    ADVISOR_DATA_DIR       another folder for reports.sqlite
    ADVISOR_DATABASE_URL   another database altogether, as SQLAlchemy writes addresses
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    URL,
    Connection,
    DateTime,
    Dialect,
    Engine,
    String,
    Table,
    Text,
    TypeDecorator,
    create_engine,
    event,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from advisor.errors import StoreError
from advisor.paths import data_folder

BUSY_SECONDS = 5.0
"""How long one program waits for another that is writing [s]."""

STEPS: tuple[Callable[[Connection], None], ...] = ()
"""STEPS[n] takes tables of version n + 1 to version n + 2; add one with every change of a table."""


class UtcDateTime(TypeDecorator[datetime]):
    """A time in UTC, in databases that know no zones."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(
        self,
        value: datetime | None,
        dialect: Dialect,  # noqa: ARG002  SQLAlchemy's signature
    ) -> datetime | None:
        """To the database: in UTC, without the zone."""
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(
        self,
        value: Any | None,
        dialect: Dialect,  # noqa: ARG002  SQLAlchemy's signature
    ) -> datetime | None:
        """From the database: with the zone."""
        return None if value is None else value.replace(tzinfo=UTC)


class Base(DeclarativeBase):
    """Tables of the store."""


class SchemaRow(Base):
    """The one row that says which version the tables have."""

    __tablename__ = "report_schema"

    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


class ReportRow(Base):
    """A saved report."""

    __tablename__ = "reports"
    # Without this SQLite gives the number of a deleted report to the next one.
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)
    notes: Mapped[str] = mapped_column(Text)
    app_version: Mapped[str] = mapped_column(Text)
    inputs: Mapped[dict[str, str]] = mapped_column(JSON)
    summary: Mapped[str] = mapped_column(Text)
    content: Mapped[dict[str, Any]] = mapped_column(JSON)


def database_url(url: str | None = None) -> URL:
    """Address of the database: the given one, the environment's, or a file of the user.

    Raises:
        StoreError: not an address of a database that keeps what is written.
    """
    text = url or os.environ.get("ADVISOR_DATABASE_URL", "").strip()
    if not text:
        return URL.create("sqlite", database=str(data_folder() / "reports.sqlite"))
    try:
        address = make_url(text)
    except ArgumentError as error:
        # The text may hold a password, so the message does not repeat it.
        raise StoreError(
            "The address of the report database is not one; it looks like "
            "sqlite:////folder/reports.sqlite or postgresql://user@host/name. "
            "Mend ADVISOR_DATABASE_URL, or unset it to use a file."
        ) from error
    if address.get_backend_name() == "sqlite" and address.database in (None, "", ":memory:"):
        raise StoreError(f"{place(address)} forgets what is saved; name a file in it.")
    return address


def place(url: URL) -> str:
    """Where the database is, as a person would say it, without its password."""
    is_file = url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:")
    return str(url.database) if is_file else url.render_as_string(hide_password=True)


def connect(url: URL) -> Engine:
    """An engine whose tables exist and have this version.

    Raises:
        StoreError: the place cannot be made, opened or understood.
    """
    if url.get_backend_name() == "sqlite":
        _make_folder(url)
    try:
        engine = create_engine(url)
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        raise StoreError(
            f"No driver for {place(url)} is installed ({error}). Install it, or unset "
            "ADVISOR_DATABASE_URL to use a file."
        ) from error
    if url.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    with explained(url):
        _bring_up_to_date(engine)
    return engine


@contextmanager
def explained(url: URL) -> Iterator[None]:
    """Turns errors of the database into sentences.

    Raises:
        StoreError: the database could not do what was asked.
    """
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        cause = str(error.orig if isinstance(error, DBAPIError) else error)
        raise StoreError(_sentence(cause, place(url))) from error
    except json.JSONDecodeError as error:
        raise StoreError(_sentence(f"malformed JSON: {error}", place(url))) from error


def _sentence(cause: str, where: str) -> str:
    folded = cause.casefold()
    if "locked" in folded or "busy" in folded:
        return (
            f"Another program is writing to {where} and did not finish within "
            f"{BUSY_SECONDS:.0f} s. Try again, or close it; nothing was changed."
        )
    if "not a database" in folded or "malformed" in folded:
        return (
            f"{where} is damaged or not a report database ({cause}). Nothing was changed. Move the "
            "file elsewhere and keep it; a new one is made at the next start."
        )
    if "readonly" in folded or "read-only" in folded or "unable to open" in folded:
        return (
            f"{where} cannot be opened for writing ({cause}). Allow writing there, or set "
            "ADVISOR_DATA_DIR to another folder; nothing was changed."
        )
    if "full" in folded:
        return f"There is no room left for {where}. Free some and save again; nothing was changed."
    return f"The reports in {where} could not be used: {cause}"


def _make_folder(url: URL) -> None:
    if not url.database or url.database.startswith("file:"):
        return
    folder = Path(url.database).parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The folder {folder} for reports cannot be made ({error.strerror}). Set "
            "ADVISOR_DATA_DIR to a folder that you can write to."
        ) from error


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # Python's own transactions would start too late to guard the making of tables.
    connection.isolation_level = None
    # First of all, because setting the journal mode may already have to wait.
    connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000:.0f}")
    connection.execute("PRAGMA journal_mode = WAL")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("advisor_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def newest_version() -> int:
    """Version of the tables that this program writes."""
    return 1 + len(STEPS)


def _bring_up_to_date(engine: Engine) -> None:
    with engine.begin() as connection:
        if _version(connection) == newest_version():
            return
    # Looked at again under the lock: another program may have been quicker.
    with engine.connect().execution_options(advisor_writes=True) as writer, writer.begin():
        _migrate(writer, _version(writer))


def _version(connection: Connection) -> int | None:
    tables = set(inspect(connection).get_table_names())
    if SchemaRow.__tablename__ in tables:
        return connection.scalars(select(SchemaRow.version)).one_or_none()
    if ReportRow.__tablename__ in tables:
        raise StoreError(
            f"{place(connection.engine.url)} holds a table 'reports' of another program. Nothing "
            "was changed; name another file or database for Offload Advisor."
        )
    return None


def _migrate(connection: Connection, version: int | None) -> None:
    newest = newest_version()
    if version is None:
        Base.metadata.create_all(connection)
    elif version > newest:
        raise StoreError(
            f"{place(connection.engine.url)} was written by a newer Offload Advisor (tables of "
            f"version {version}, this one knows up to {newest}). Update the program; nothing was "
            "changed."
        )
    else:
        for step in STEPS[version - 1 :]:
            step(connection)
    schema = _table(SchemaRow)
    connection.execute(schema.delete())
    connection.execute(schema.insert().values(version=newest))


def _table(row: type[Base]) -> Table:
    return Base.metadata.tables[row.__tablename__]
