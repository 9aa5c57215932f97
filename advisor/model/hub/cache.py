"""Cache of Hugging Face's answers in the data folder.

One folder per repository: `refs/<revision>.json` says which commit a revision meant and what files
it had, with the server's ETag; `<commit>/` keeps small files, which never change.
"""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from advisor.paths import data_folder


def folder(identity: str) -> Path:
    """Folder of a repository's cached answers."""
    return data_folder() / "hub" / identity


def kept_listing(identity: str, revision: str) -> Mapping[str, object] | None:
    """Cached listing of a revision; None without a readable entry."""
    try:
        value = json.loads(_listing(identity, revision).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def keep_listing(identity: str, revision: str, listing: Mapping[str, object]) -> None:
    """Save the listing of a revision."""
    _write(_listing(identity, revision), json.dumps(listing).encode())


def kept_file(identity: str, commit: str, name: str) -> bytes | None:
    """A small file of a commit, None where it is not kept."""
    try:
        return (folder(identity) / commit / name).read_bytes()
    except OSError:
        return None


def keep_file(identity: str, commit: str, name: str, body: bytes) -> None:
    """Remember a small file of a commit."""
    _write(folder(identity) / commit / name, body)


def _listing(identity: str, revision: str) -> Path:
    return folder(identity) / "refs" / f"{quote(revision, safe='')}.json"


def _write(path: Path, body: bytes) -> None:
    """Atomic write; a full or read-only disk only means that the answer is fetched again."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(body)
        Path(name).replace(path)
    except OSError:
        return
