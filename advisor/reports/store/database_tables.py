"""Tables of the report database, in the version that this program writes.

Contents lie apart from the heads, so that a list of thousands reads no contents.
"""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    String,
    Text,
    TypeDecorator,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from advisor.reports.store.annotations import LONGEST_NAME, LONGEST_TAG

NUMBER = BigInteger().with_variant(Integer, "sqlite")
"""Type of a report's number; SQLite numbers rows by itself in a column of this very type alone."""
KEPT = text("deleted_at IS NULL")


class UtcDateTime(TypeDecorator[datetime]):
    """Time in UTC, for databases without time zones."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(
        self,
        value: datetime | None,
        dialect: Dialect,  # noqa: ARG002  SQLAlchemy's signature
    ) -> datetime | None:
        """Time for the database: in UTC, without zone."""
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(
        self,
        value: Any | None,
        dialect: Dialect,  # noqa: ARG002  SQLAlchemy's signature
    ) -> datetime | None:
        """Time from the database: with its zone."""
        return None if value is None else value.replace(tzinfo=UTC)


class Base(DeclarativeBase):
    """Base of the tables."""


class SchemaRow(Base):
    """Single row with the version of the tables."""

    __tablename__ = "report_schema"

    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


class ReportRow(Base):
    """Saved report without its contents.

    Attributes:
        id: number of the report.
        name: name given by the author.
        created_at: time of saving.
        notes: notes of the author.
        app_version: version of the program that made it.
        summary: verdict.
        author: name of the author.
        model: name of the model, for filters.
        gpu: name of the GPU, for filters.
        document_text: words of the document in lower case, for searches.
        annotation_text: words of the annotations in lower case, for searches.
        digest: hash of everything saved, with name and owner; empty in rows of the first tables.
        owner: owner who is logged in; empty without login.
        share: secret part of its public link; empty for a private report.
        result_count: number of measured results.
        deleted_at: time of deletion; None for an existing report.
    """

    __tablename__ = "reports"

    id: Mapped[int] = mapped_column(NUMBER, primary_key=True)
    name: Mapped[str] = mapped_column(String(LONGEST_NAME))
    created_at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)
    notes: Mapped[str] = mapped_column(Text)
    app_version: Mapped[str] = mapped_column(Text)
    summary: Mapped[str] = mapped_column(Text)
    author: Mapped[str] = mapped_column(Text, server_default="")
    model: Mapped[str] = mapped_column(Text, server_default="")
    gpu: Mapped[str] = mapped_column(Text, server_default="")
    document_text: Mapped[str] = mapped_column(Text, server_default="")
    annotation_text: Mapped[str] = mapped_column(Text, server_default="")
    digest: Mapped[str | None] = mapped_column(String(64))
    owner: Mapped[str] = mapped_column(Text, server_default="")
    share: Mapped[str] = mapped_column(Text, server_default="")
    result_count: Mapped[int] = mapped_column(server_default="0", index=True)
    deleted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    content: Mapped["ContentRow"] = relationship(
        back_populates="report", cascade="all, delete-orphan", lazy="raise_on_sql"
    )
    tags: Mapped[list["TagRow"]] = relationship(
        cascade="all, delete-orphan", lazy="selectin", order_by="TagRow.tag"
    )

    __table_args__ = (
        Index(
            "reports_saved_once", "digest", unique=True, sqlite_where=KEPT, postgresql_where=KEPT
        ),
        # Without this SQLite gives the number of a deleted report to the next one.
        {"sqlite_autoincrement": True},
    )


class ContentRow(Base):
    """Document and measured results of a report.

    Attributes:
        report_id: number of the report.
        document: content of `document.to_json`.
        results: measured results, as JSON content.
    """

    __tablename__ = "report_contents"

    report_id: Mapped[int] = mapped_column(
        NUMBER, ForeignKey("reports.id"), primary_key=True, autoincrement=False
    )
    document: Mapped[dict[str, Any]] = mapped_column(JSON)
    results: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    report: Mapped[ReportRow] = relationship(back_populates="content")


class TagRow(Base):
    """A tag of a report."""

    __tablename__ = "report_tags"

    report_id: Mapped[int] = mapped_column(NUMBER, ForeignKey("reports.id"), primary_key=True)
    tag: Mapped[str] = mapped_column(String(LONGEST_TAG), primary_key=True, index=True)
