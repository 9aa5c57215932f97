"""Failures that only a database server has: concurrent starts, restarts, passwords."""

import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from postgresql import PostgreSQL
from saved_reports import SAMPLE, sample

from advisor.failures import StoreError
from advisor.reports.store.database import database_url, place
from advisor.reports.store.store import open_store

ROOT = Path(__file__).parents[3]
STARTS = 24


def run_sql(url: str, *statements: str) -> list[tuple[object, ...]]:
    """Rows of the last statement."""
    with psycopg.connect(url) as connection:
        for statement in statements:
            cursor = connection.execute(statement.encode())
        if cursor.description:
            return cursor.fetchall()
        return []


def test_first_starts_side_by_side_share_the_tables(postgresql_server: PostgreSQL) -> None:
    url = postgresql_server.new_database()
    code = (
        "import json, sys; from concurrent.futures import ThreadPoolExecutor\n"
        "from advisor.reports.document import from_json\n"
        "from advisor.reports.store.store import open_store\n"
        "document = from_json(json.load(open(sys.argv[2])))\n"
        "def start(n):\n"
        "    store = open_store(sys.argv[1]); store.save(document, f'{sys.argv[3]} {n}')\n"
        "    store.save(document, 'of all'); store.close()\n"
        "with ThreadPoolExecutor(12) as pool: list(pool.map(start, range(12)))"
    )
    programs = [
        subprocess.Popen([sys.executable, "-c", code, url, str(SAMPLE), name], cwd=ROOT)
        for name in "ab"
    ]
    assert [program.wait(120) for program in programs] == [0, 0]
    store = open_store(url)
    assert len(store.list()) == STARTS + 1  # the one that all saved is one
    store.close()


def test_the_first_call_after_a_restart_of_the_server_works(postgresql_server: PostgreSQL) -> None:
    store = open_store(postgresql_server.new_database())
    number = store.save(sample(), "kept").id
    postgresql_server.stop()
    with pytest.raises(StoreError, match=r"does not answer .* Nothing was changed"):
        store.load(number)
    postgresql_server.start()
    assert store.load(number).name == "kept"
    postgresql_server.stop()
    postgresql_server.start()
    assert store.load(number).name == "kept"
    store.close()


def test_numbers_over_32_bits_are_numbers(postgresql_server: PostgreSQL) -> None:
    url = postgresql_server.new_database()
    store = open_store(url)
    run_sql(url, "ALTER SEQUENCE reports_id_seq RESTART WITH 5000000000")
    assert store.save(sample(), "large").id == 5_000_000_000
    assert store.load(5_000_000_000).name == "large"
    with pytest.raises(StoreError, match="No report has the number 9000000000"):
        store.load(9_000_000_000)
    store.close()


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:s3cret-word@127.0.0.1:1/reports",
        "postgresql://127.0.0.1:1/reports?user=me&password=s3cret-word",
        "postgresql://me@127.0.0.1:1/reports?password=s3cret-word&sslmode=nonsense",
        "postgresql://me@127.0.0.1:1/reports?s3cret-word=1",
        "postgresql://me:s3cret-word@127.0.0.1:port/reports",
    ],
)
def test_a_password_is_never_printed(address: str) -> None:
    with pytest.raises(StoreError) as refused:
        open_store(address)
    assert "s3cret-word" not in str(refused.value)


def test_the_place_of_a_server_is_its_host_and_name() -> None:
    url = database_url("postgresql://me:secret@db.example/reports?sslmode=require&password=x")
    assert place(url) == "postgresql+psycopg://me@db.example/reports"
