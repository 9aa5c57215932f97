"""A real PostgreSQL for tests, from the system's package; stopped after the tests."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

USER = "postgres"
"""Whom the package made; the server refuses to run as root."""


def programs() -> Path | None:
    """Folder of the server's programs; None where they are not installed."""
    if result := shutil.which("initdb"):
        return Path(result).resolve().parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if folders:
        return folders[-1]
    return None


class PostgreSQL:
    """A running server that listens on a socket in its own folder."""

    def __init__(self, folder: Path, bin_folder: Path) -> None:
        self.folder = folder
        self._bin = bin_folder
        self._made = 0

    def new_database(self) -> str:
        """Address, in SQLAlchemy's form, of an empty schema: a database of its own would have a
        thousand files, which take longer to delete than to test.
        """
        self._made += 1
        name = f"test_{self._made}"
        self.run("psql", "-h", str(self.folder), "-U", USER, "-c", f"CREATE SCHEMA {name}")
        return f"postgresql://{USER}@/{USER}?host={self.folder}&options=-csearch_path%3D{name}"

    def start(self) -> None:
        """Start the server; returns when it answers."""
        options = f"-c listen_addresses='' -k {self.folder} -c fsync=off"
        log = str(self.folder / "log")
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-l", log, "-o", options, "-w", "start")

    def stop(self) -> None:
        """Stop the server, connected clients or not."""
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")

    def run(self, program: str, *arguments: str) -> None:
        """Run one of the server's programs as its user."""
        other = os.geteuid() == 0
        subprocess.run(
            [str(self._bin / program), *arguments],
            cwd=self.folder,
            user=USER if other else None,
            group=USER if other else None,
            extra_groups=[] if other else None,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )


@contextmanager
def server() -> Iterator[PostgreSQL]:
    """A server that ends with the block."""
    bin_folder = programs()
    assert bin_folder is not None
    with tempfile.TemporaryDirectory(prefix="advisor-") as name:
        folder = Path(name)
        if os.geteuid() == 0:
            shutil.chown(folder, USER, USER)
        database = PostgreSQL(folder, bin_folder)
        database.run(
            "initdb",
            "-D",
            str(folder / "data"),
            "-U",
            USER,
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
        )
        database.start()
        try:
            yield database
        finally:
            database.stop()
