"""Migrations of older tables, each written once and never changed.

A step speaks SQL that SQLite and PostgreSQL both know, and not of the tables of today: they go on
to change.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Connection, text

_COLUMNS_2 = (
    "author TEXT DEFAULT '' NOT NULL",
    "model TEXT DEFAULT '' NOT NULL",
    "gpu TEXT DEFAULT '' NOT NULL",
    "document_text TEXT DEFAULT '' NOT NULL",
    "annotation_text TEXT DEFAULT '' NOT NULL",
    "digest VARCHAR(64)",
    "owner TEXT DEFAULT '' NOT NULL",
    "share TEXT DEFAULT '' NOT NULL",
    "result_count INTEGER DEFAULT 0 NOT NULL",
    "deleted_at TIMESTAMP",
)


def contents_apart(connection: Connection) -> None:
    """Migration to version 2: separate table of contents; tags, filters, owners, restorable
    deletes.
    """
    number = "BIGINT" if _is_postgresql(connection) else "INTEGER"
    if _is_postgresql(connection):
        _run(connection, "ALTER TABLE reports ALTER COLUMN id TYPE BIGINT")
        _run(connection, "ALTER SEQUENCE reports_id_seq AS BIGINT")
    _run(
        connection,
        f"CREATE TABLE report_contents (report_id {number} NOT NULL PRIMARY KEY "
        "REFERENCES reports (id), document JSON NOT NULL, results JSON NOT NULL)",
    )
    _run(
        connection,
        "INSERT INTO report_contents (report_id, document, results) "
        "SELECT id, content, '[]' FROM reports",
    )
    _run(
        connection,
        f"CREATE TABLE report_tags (report_id {number} NOT NULL REFERENCES reports (id), "
        "tag VARCHAR(40) NOT NULL, PRIMARY KEY (report_id, tag))",
    )
    _run(connection, "CREATE INDEX ix_report_tags_tag ON report_tags (tag)")
    for column in _COLUMNS_2:
        _run(connection, f"ALTER TABLE reports ADD COLUMN {column}")
    _run(connection, "CREATE INDEX ix_reports_result_count ON reports (result_count)")
    for row in connection.execute(text("SELECT id, name, notes, summary, inputs FROM reports")):
        _fill_search(connection, row._mapping)
    for column in ("content", "inputs"):
        _run(connection, f"ALTER TABLE reports DROP COLUMN {column}")
    _run(
        connection,
        "CREATE UNIQUE INDEX reports_saved_once ON reports (digest) WHERE deleted_at IS NULL",
    )


def _fill_search(connection: Connection, row: Mapping[Any, Any]) -> None:
    inputs = _texts(row["inputs"])
    connection.execute(
        text(
            "UPDATE reports SET document_text = :document, annotation_text = :annotation, "
            "model = :model, gpu = :gpu WHERE id = :id"
        ),
        {
            "document": "\n".join((row["summary"], *inputs.values())).casefold(),
            "annotation": f"{row['name']}\n{row['notes']}".casefold(),
            "model": inputs.get("model", ""),
            "gpu": inputs.get("gpu", ""),
            "id": row["id"],
        },
    )


def _texts(inputs: object) -> dict[str, str]:
    """Inputs of the first tables; empty where damaged, since the contents have them too."""
    try:
        values = json.loads(inputs) if isinstance(inputs, str) else inputs
    except json.JSONDecodeError:
        return {}
    if not isinstance(values, dict):
        return {}
    return {str(key): value for key, value in values.items() if isinstance(value, str)}


def _is_postgresql(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"


def _run(connection: Connection, statement: str) -> None:
    connection.execute(text(statement))


STEPS: tuple[Callable[[Connection], None], ...] = (contents_apart,)
"""STEPS[n] takes tables of version n + 1 to version n + 2; add one with every change of a table."""
