"""Listing of a Hugging Face repository, cached.

References:
    [1] https://huggingface.co/docs/hub/api (GET /api/models/{id}/revision/{revision}?blobs=true).
    [2] https://huggingface.co/docs/safetensors/metadata_parsing (`safetensors.parameters`).
"""

import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from advisor.errors import InputError, NetworkError, Refusal, UnknownName
from advisor.model.hub.client import HubResponse, endpoint, fetch
from advisor.paths import data_folder

IDENTITY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
COMMIT = re.compile(r"[0-9a-f]{40}")
FILE_NAME = re.compile(r"[\w.+ -]+(/[\w.+ -]+){0,8}", re.ASCII)
SMALL_FILE = 1_000_000
LISTING = 8_000_000


@dataclass(frozen=True, kw_only=True)
class Repository:
    """A repository at one commit."""

    identity: str  # `owner/name`
    commit: str  # the commit of its main branch
    files: Mapping[str, int]  # size of each file by path [B]
    # numbers in its safetensors files by type, as the Hub counted them [2]
    parameters: Mapping[str, int]
    note: str = ""  # empty, or that this is an earlier answer


# Answers are kept in the data folder: `refs/main.json` says which commit the main branch meant and
# what files it had, with the server's ETag; `<commit>/` has small files, which never change.


def _kept(path: Path) -> bytes | None:
    """A kept answer; None where there is none."""
    try:
        return path.read_bytes()
    except OSError:
        return None


def _keep(path: Path, body: bytes) -> None:
    """Atomic write; a full or read-only disk only means that the answer is fetched again."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(body)
        Path(name).replace(path)
    except OSError:
        return


def _folder(identity: str) -> Path:
    return data_folder() / "hub" / identity


def repository(identity: str) -> Repository:
    """Listing of a repository.

    Raises:
        InputError: an identity that cannot be.
        UnknownName: no such repository, or a private one.
        Refusal: a gated repository.
        NetworkError: offline, unreachable, busy.
    """
    if not IDENTITY.fullmatch(identity) or len(identity) > 200 or ".." in identity:
        raise InputError(
            f"{identity[:80]!r} is not the name of a repository on Hugging Face; it must be "
            "owner/name, as in Qwen/Qwen3-8B."
        )
    kept = _kept_listing(identity)
    try:
        return _from_listing(identity, _asked_listing(identity, kept or {}))
    except NetworkError as error:
        if kept is None:
            raise
        note = f"Described from an earlier answer, as nothing new could be read: {error}"
        return replace(_from_listing(identity, kept), note=note)


def _kept_listing(identity: str) -> Mapping[str, object] | None:
    """An earlier answer, unless it is damaged."""
    body = _kept(_folder(identity) / "refs" / "main.json")
    try:
        listing = json_object(body or b"", identity)
        _from_listing(identity, listing)
    except NetworkError:
        return None
    return listing


def _asked_listing(identity: str, kept: Mapping[str, object]) -> Mapping[str, object]:
    url = f"{endpoint()}/api/models/{identity}/revision/main?blobs=true"
    tag = kept.get("etag")
    headers = {"If-None-Match": tag} if isinstance(tag, str) and tag else {}
    answer = fetch(url, cap=LISTING, headers=headers)
    if kept and answer.status == 304:
        return kept
    refuse_status(answer, identity, (200,))
    told = json_object(answer.body, identity)
    listing = {
        **{key: told.get(key) for key in ("sha", "siblings", "safetensors")},
        "etag": answer.headers.get("etag", ""),
    }
    _from_listing(identity, listing)
    _keep(_folder(identity) / "refs" / "main.json", json.dumps(listing).encode())
    return listing


def _from_listing(identity: str, listing: Mapping[str, object]) -> Repository:
    commit, siblings = listing.get("sha"), listing.get("siblings")
    if (
        not isinstance(commit, str)
        or not COMMIT.fullmatch(commit)
        or not isinstance(siblings, list)
    ):
        raise NetworkError(f"The server's answer about {identity} is not as expected. Try again.")
    counted = listing.get("safetensors")
    numbers = counted.get("parameters") if isinstance(counted, Mapping) else None
    return Repository(
        identity=identity,
        commit=commit,
        files=dict(filter(None, map(_name_and_size, siblings))),
        parameters=_counts(numbers),
    )


def _name_and_size(sibling: object) -> tuple[str, int] | None:
    if not isinstance(sibling, Mapping):
        return None
    name, size = sibling.get("rfilename"), sibling.get("size")
    usable = isinstance(name, str) and FILE_NAME.fullmatch(name) and ".." not in name
    return (str(name), size if isinstance(size, int) and size >= 0 else 0) if usable else None


def _counts(numbers: object) -> dict[str, int]:
    if not isinstance(numbers, Mapping):
        return {}
    return {str(kind): count for kind, count in numbers.items() if isinstance(count, int)}


def small_file(repo: Repository, name: str) -> bytes:
    """A file of up to 1 MB, kept once read."""
    path = _folder(repo.identity) / repo.commit / name
    kept = _kept(path)
    if kept is not None:
        return kept
    answer = fetch(_address(repo, name), cap=SMALL_FILE)
    refuse_status(answer, f"{repo.identity}/{name}", (200,))
    _keep(path, answer.body)
    return answer.body


def _address(repo: Repository, name: str) -> str:
    return f"{endpoint()}/{repo.identity}/resolve/{repo.commit}/{quote(name)}"


def json_object(body: bytes, what: str) -> Mapping[str, object]:
    """An answer that must be a JSON object."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise NetworkError(f"The server's answer about {what} is not readable JSON.") from error
    if not isinstance(value, dict):
        raise NetworkError(f"The server's answer about {what} is not as expected. Try again.")
    return value


def refuse_status(answer: HubResponse, what: str, expected: tuple[int, ...]) -> None:
    """Refuse an unexpected status with a sentence."""
    if answer.status in expected:
        return
    if answer.status == 403 or answer.headers.get("x-error-code") == "GatedRepo":
        raise Refusal(
            f"{what} is gated: its owner asks for consent. Accept its terms on its page at "
            f"{endpoint()} and set HF_TOKEN, or give its config.json."
        )
    if answer.status in (401, 404):
        raise UnknownName(
            "repository or file on Hugging Face",
            what,
            (),
            "Check its spelling; a private one needs HF_TOKEN.",
        )
    kind = "is busy" if answer.status == 429 else "has a problem"
    raise NetworkError(
        f"Hugging Face {kind} (status {answer.status} for {what}). Try again in a minute, or give "
        "the model's config.json or GGUF file."
    )


# A file of a repository on Hugging Face, of which only parts are read.

READ_AHEAD = 2 * 2**20
"""Bytes asked for at least, since headers are read in small pieces one after another."""
LARGEST_READ = 64 * 2**20


class RemoteFile:
    """A file of a repository of which only parts are read."""

    def __init__(self, identity: str, name: str) -> None:
        repo = repository(identity)
        if name not in repo.files:
            raise UnknownName(f"file of {identity}", name, repo.files)
        self.name = name
        self.size = repo.files[name]
        self._url = _address(repo, name)
        self._start, self._held = 0, b""

    def read_at(self, offset: int, count: int) -> bytes:
        """Bytes from an offset on, fewer only at the end of the file."""
        if offset < 0 or not 0 <= count <= LARGEST_READ:
            raise InputError(
                f"{self.name}: {count} bytes at {offset} cannot be read; ask for up to "
                f"{LARGEST_READ:,} bytes from 0 on."
            )
        end = min(offset + count, self.size)
        if offset >= end:
            return b""
        if not self._start <= offset <= end <= self._start + len(self._held):
            self._held = self._range(offset, min(max(end, offset + READ_AHEAD), self.size))
            self._start = offset
        begin = offset - self._start
        return self._held[begin : begin + end - offset]

    def _range(self, start: int, end: int) -> bytes:
        wanted = {"Range": f"bytes={start}-{end - 1}", "Accept-Encoding": "identity"}
        answer = fetch(self._url, cap=end - start, headers=wanted)
        refuse_status(answer, self.name, (200, 206))
        told = answer.headers.get("content-range", f"bytes {start}-")
        if answer.status == 200 and end - start < self.size:
            raise NetworkError(f"The server does not send parts of {self.name}; download it.")
        if len(answer.body) != end - start or not told.startswith(f"bytes {start}-"):
            raise NetworkError(
                f"The server sent {len(answer.body):,} bytes of {self.name} instead of "
                f"{end - start:,} from {start:,} on. Try again."
            )
        return answer.body
