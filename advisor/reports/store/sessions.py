"""Database sessions that notice a replaced or missing SQLite file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL
from sqlalchemy.orm import Session

from advisor.errors import StoreError
from advisor.reports.store.database import bring_up_to_date, connect, explained, file_of, place

Identity = tuple[int, int]


class Sessions:
    """Sessions of one database.

    A SQLite file is looked at before every session: one that was put in its place is opened, with
    its tables brought forward, and a missing one is an error instead of a new, empty file.

    Args:
        url: address of the database.

    Raises:
        StoreError: the place cannot be created, opened or read.
    """

    def __init__(self, url: URL) -> None:
        self.url = url
        self._engine = connect(url)
        self._file = file_of(url)
        self._identity = _identity(self._file)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Session for reading.

        Raises:
            StoreError: the database reports an error.
        """
        self._look()
        with explained(self.url), Session(self._engine) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Session whose changes are saved together when the block ends, or not at all.

        Raises:
            StoreError: the database reports an error.
        """
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
