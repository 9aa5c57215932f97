"""A file of a repository on Hugging Face, of which only parts are read."""

from advisor.errors import InputError, NetworkError, UnknownName
from advisor.model.hub.client import Limits, fetch
from advisor.model.hub.repository import DEFAULT_LIMITS, address, refuse_status, repository

READ_AHEAD = 2 * 2**20
"""Bytes asked for at least, since headers are read in small pieces one after another."""
LARGEST_READ = 64 * 2**20


class RemoteFile:
    """A file of a repository of which only parts are read.

    Args:
        identity: `owner/name`.
        name: path within the repository.
        revision: branch, tag or commit; the main branch where empty.
        limits: time and retries of each request.

    Raises:
        UnknownName: no such file; the rest as `repository`.
    """

    def __init__(
        self,
        identity: str,
        name: str,
        revision: str | None = None,
        *,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        repo = repository(identity, revision, limits=limits)
        if name not in repo.files:
            raise UnknownName(f"file of {identity}", name, repo.files)
        self.name = name
        self.size = repo.files[name]
        self._url = address(identity, repo.commit, name)
        self._limits = limits
        self._start, self._held = 0, b""

    def read_at(self, offset: int, count: int) -> bytes:
        """Bytes from an offset on, fewer only at the end of the file.

        Raises:
            InputError: a place before the file, or more than 64 MiB at once.
            NetworkError: the server does not send that part.
        """
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
        answer = fetch(self._url, cap=end - start, limits=self._limits, headers=wanted)
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
