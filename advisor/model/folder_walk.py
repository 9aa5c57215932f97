"""Bounded walk through a folder that never leaves it."""

import os
from collections.abc import Iterator
from pathlib import Path

MAX_ENTRIES = 20_000
"""Entries looked at below one folder; a collection of models has a few hundred."""
MAX_DEPTH = 6


class Walk:
    """One walk below a folder.

    Attributes:
        root: the folder; links are followed only where they end below it.
        notes: what was skipped, in sentences.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.notes: list[str] = []
        self._left = MAX_ENTRIES

    def files(self, folder: Path, depth: int = MAX_DEPTH) -> Iterator[Path]:
        """Regular files below a folder, in the order of their names."""
        for entry in self._entries(folder):
            if self._is_folder(entry):
                if depth > 1:
                    yield from self.files(Path(entry.path), depth - 1)
            elif self.inside(Path(entry.path)):
                yield Path(entry.path)

    def folders(self, folder: Path) -> Iterator[Path]:
        """Folders directly in a folder; links to folders are left out, so that none is circular."""
        return (Path(entry.path) for entry in self._entries(folder) if self._is_folder(entry))

    def inside(self, path: Path) -> bool:
        """A regular file that lies below the root, links resolved."""
        try:
            real = path.resolve(strict=True)
            return real.is_file() and real.is_relative_to(self.root)
        except (OSError, RuntimeError):
            # A dangling or circular link, or a folder that may not be entered.
            return False

    def size(self, path: Path) -> int:
        """Bytes of a file, 0 where it cannot be asked [B]."""
        try:
            return path.stat().st_size
        except OSError:
            return 0

    def text(self, path: Path, cap: int) -> str:
        """A small file's text, empty where it cannot be read or is larger than `cap` bytes."""
        try:
            if not self.inside(path) or path.stat().st_size > cap:
                return ""
            return path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            self.notes.append(f"{path} cannot be read and was skipped.")
            return ""

    def _entries(self, folder: Path) -> list[os.DirEntry[str]]:
        if self._left <= 0:
            return []
        try:
            with os.scandir(folder) as listing:
                entries = [entry for entry, _ in zip(listing, range(self._left), strict=False)]
        except FileNotFoundError:
            return []
        except OSError as error:
            self.notes.append(f"{folder} was skipped: {error.strerror}.")
            return []
        self._left -= len(entries)
        if self._left <= 0:
            self.notes.append(f"{self.root} has more than {MAX_ENTRIES:,} files; some are missing.")
        return sorted(entries, key=lambda entry: entry.name)

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        try:
            return entry.is_dir(follow_symlinks=False)
        except OSError:
            return False
