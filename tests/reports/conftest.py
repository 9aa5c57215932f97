"""Stores for tests of reports: in a file, and in a real PostgreSQL."""

import os
from collections.abc import Iterator
from pathlib import Path

import postgresql
import pytest

from advisor.reports.store.store import ReportStore, open_store


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[postgresql.PostgreSQL]:
    """A running server; skipped where none is installed, except where CI has to have one."""
    if postgresql.programs() is None:
        assert not os.environ.get("CI"), "PostgreSQL is not installed; .ci/run installs it"
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    with postgresql.server() as running:
        yield running


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's file, in a folder that does not exist yet."""
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "new" / "data"))
    monkeypatch.delenv("ADVISOR_DATABASE_URL", raising=False)
    return tmp_path / "new" / "data" / "reports.sqlite"


@pytest.fixture
def file_store(file: Path) -> Iterator[ReportStore]:
    """An empty store in the user's file."""
    store = open_store()
    yield store
    store.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, file: Path) -> Iterator[ReportStore]:
    """An empty store of each kind."""
    if request.param == "postgresql":
        server = request.getfixturevalue("postgresql_server")
    else:
        server = None
    store = open_store(server.new_database() if server else None)
    yield store
    store.close()
