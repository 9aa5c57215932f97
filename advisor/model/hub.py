"""Models of repositories on the Hugging Face Hub, from their config.json and weights files.

Nothing is executed and no weights are loaded; `RemoteFile` reads the beginning of GGUF files. There
is one host, https://huggingface.co or HF_ENDPOINT; redirects are followed within it and to its
content network, and the token (HF_TOKEN, nothing else) never leaves the host. Every answer has a
size cap and the whole request a time cap. ADVISOR_OFFLINE=1 or HF_HUB_OFFLINE=1 forbids all of it.

References:
    [1] https://huggingface.co/docs/hub/api (GET /api/models/{id}/revision/{revision}?blobs=true).
    [2] https://huggingface.co/docs/safetensors/metadata_parsing (`safetensors.parameters`).
"""

import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin, urlsplit

from advisor.deadline import Late, within
from advisor.errors import AdvisorError, InputError, Refusal, UnknownName
from advisor.failures import NetworkError
from advisor.model.config.by_tensors import StoredTensor, header_tensors
from advisor.model.config.read import describe, describe_by_tensors
from advisor.model.config.stored_format import BESIDE
from advisor.model.model import Described
from advisor.paths import data_folder
from advisor.permission import permitted

if TYPE_CHECKING:
    from httpx2 import Response

DEFAULT_ENDPOINT = "https://huggingface.co"
CONTENT_HOSTS = ("huggingface.co", "hf.co")
"""Domains of the Hub and its content network (cdn-lfs.huggingface.co, cas-bridge.xethub.hf.co)."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
MAX_REDIRECTS = 5
BUSY = (429, 500, 502, 503, 504)
REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Time limits of a request."""

    seconds: float = 10.0  # for the whole of it, retries included [s]
    retries: int = 2  # how often a busy server is asked again
    pause: float = 0.5  # wait before the first retry, doubled each time [s]


LIMITS = Limits()


@dataclass(frozen=True, kw_only=True, slots=True)
class HubResponse:
    """HTTP response with a body of bounded size."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def endpoint() -> str:
    """Address of the host, without a slash at its end."""
    chosen = os.environ.get("HF_ENDPOINT", "").strip().rstrip("/") or DEFAULT_ENDPOINT
    parts = urlsplit(chosen)
    local = parts.scheme == "http" and parts.hostname in LOOPBACK
    if not parts.hostname or not (parts.scheme == "https" or local):
        raise InputError(f"HF_ENDPOINT is {chosen[:80]!r}; it must be an https address.")
    return chosen


def offline() -> bool:
    """Whether the person forbade network requests."""
    names = ("ADVISOR_OFFLINE", "HF_HUB_OFFLINE")
    return any(os.environ.get(name, "").casefold() in ("1", "true", "yes", "on") for name in names)


def fetch(
    url: str, *, cap: int, headers: Mapping[str, str] | None = None, limits: Limits | None = None
) -> HubResponse:
    """Answer to a GET on the endpoint, which is repeated while the server is busy and time is left.

    Raises:
        NetworkError: offline, unreachable, too slow, above `cap` [B], or a redirect elsewhere.
    """
    if offline():
        raise NetworkError(
            "Network requests are switched off (ADVISOR_OFFLINE or HF_HUB_OFFLINE is set). Unset "
            "it, or give the model's config.json or GGUF file."
        )
    limits = limits or LIMITS
    try:
        return within(limits.seconds, lambda: _fetched(url, cap, dict(headers or {}), limits))
    except Late as error:
        raise _too_slow(urlsplit(url).hostname) from error


def _fetched(url: str, cap: int, headers: dict[str, str], limits: Limits) -> HubResponse:
    deadline = time.monotonic() + limits.seconds
    for attempt in range(limits.retries + 1):
        answer = _ask(url, cap, deadline, headers)
        pause = max(limits.pause * 2**attempt, _asked_to_wait(answer))
        if answer.status not in BUSY or time.monotonic() + pause >= deadline:
            break
        if attempt < limits.retries:
            time.sleep(pause)
    return answer


def _asked_to_wait(answer: HubResponse) -> float:
    """Seconds that a busy server asks to wait; 0 where it does not say."""
    text = answer.headers.get("retry-after", "")
    if text.isascii() and text.isdigit() and len(text) < 6:
        return float(text)
    return 0.0


def _ask(url: str, cap: int, deadline: float, headers: dict[str, str]) -> HubResponse:
    # huggingface_hub takes a second to import, and most commands never need it.
    import httpx2
    from huggingface_hub import get_session

    host = urlsplit(url).hostname
    try:
        for _ in range(MAX_REDIRECTS):
            request = get_session().stream(
                "GET",
                url,
                headers=_headers(url) | headers,
                follow_redirects=False,
                timeout=_left(deadline, host),
            )
            with request as response:
                if response.status_code not in REDIRECTS:
                    return _read(response, cap, deadline)
                url = _next_address(url, response.headers.get("Location", ""))
    except httpx2.TimeoutException as error:
        raise _too_slow(host) from error
    except httpx2.TransportError as error:
        raise NetworkError(
            f"{host} could not be reached ({str(error)[:120] or type(error).__name__}). Check the "
            f"connection{_instead(host)}."
        ) from error
    raise NetworkError(f"{host} redirects without end. Try again later.")


def _headers(url: str) -> dict[str, str]:
    # Documented there, but not listed in the module's __all__.
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # exported without a type

    at_home = urlsplit(url).netloc == urlsplit(endpoint()).netloc
    # False keeps a token that was saved on this machine out of it.
    own = at_home and permitted().token
    token = (os.environ.get("HF_TOKEN") if own else None) or False
    built: dict[str, str] = build_hf_headers(token=token, library_name="offload-advisor")
    return built


def _read(response: "Response", cap: int, deadline: float) -> HubResponse:
    host = response.url.host
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > cap:
            raise NetworkError(
                f"{host} sends more than the {cap:,} bytes that are allowed for this answer."
            )
        _left(deadline, host)
    return HubResponse(
        status=response.status_code,
        headers={name.casefold(): value for name, value in response.headers.items()},
        body=bytes(body),
    )


def _next_address(url: str, location: str) -> str:
    target = urljoin(url, location)
    parts = urlsplit(target)
    home = urlsplit(endpoint())
    homes = [(place.scheme, place.netloc) for place in (home, urlsplit(url))]
    if not location or (parts.scheme, parts.netloc) in homes:
        return target
    host = parts.hostname or ""
    known = any(host == allowed or host.endswith(f".{allowed}") for allowed in CONTENT_HOSTS)
    if parts.scheme != "https" or not known:
        raise NetworkError(
            f"{home.hostname} redirects to {host[:80]!r}, which is not part of Hugging Face. "
            "Nothing was read from there."
        )
    return target


def _left(deadline: float, host: str | None) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise _too_slow(host)
    return left


def _too_slow(host: str | None) -> NetworkError:
    return NetworkError(f"{host} did not answer in time. Try again{_instead(host)}.")


def _instead(host: str | None) -> str:
    """Advice for a person where the Hub does not answer; empty for other hosts."""
    if host != urlsplit(endpoint()).hostname:
        return ""
    return ", or give the model's config.json or GGUF file"


# Listing of a repository at a commit, and its files.

IDENTITY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
COMMIT = re.compile(r"[0-9a-f]{40}")
FILE_NAME = re.compile(r"[\w.+ -]+(/[\w.+ -]+){0,8}", re.ASCII)
SMALL_FILE = 1_000_000
LISTING = 8_000_000


@dataclass(frozen=True, kw_only=True)
class Repository:
    """Repository at one commit."""

    identity: str  # `owner/name`
    commit: str  # the commit of its main branch
    files: Mapping[str, int]  # size of each file by path [B]
    # numbers in its safetensors files by type, as the Hub counted them [2]
    parameters: Mapping[str, int]
    note: str = ""  # empty, or that this is an earlier answer


# Answers are kept in the data folder: `refs/main.json` says which commit the main branch meant and
# what files it had, with the server's ETag; `<commit>/` has small files, which never change.


def _kept_answer(path: Path) -> bytes | None:
    """Kept answer; None where there is none."""
    try:
        return path.read_bytes()
    except OSError:
        return None


MOST_KEPT = 300  # repositories whose answers are kept
MOST_BYTES = 200_000_000  # most that is kept of all [B]


def _keep(path: Path, body: bytes) -> None:
    """Write an answer atomically; a full or read-only disk only means a new fetch later."""
    try:
        if not path.exists():
            _make_room(len(body))
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(body)
        Path(name).replace(path)
    except OSError:
        return


def _make_room(size: int) -> None:
    """Drop the repositories that were asked for longest ago, where more would be kept than may."""
    held = size
    folders = sorted((data_folder() / "hub").glob("*/*"), key=_asked_at, reverse=True)
    for number, folder in enumerate(folders, start=1):
        held += sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        if number >= MOST_KEPT or held > MOST_BYTES:
            shutil.rmtree(folder, ignore_errors=True)


def _asked_at(folder: Path) -> float:
    """When a repository was asked for last; its listing is written anew each time [s]."""
    try:
        return (folder / "refs" / "main.json").stat().st_mtime
    except OSError:
        return 0.0


def _folder(identity: str) -> Path:
    return data_folder() / "hub" / identity


def repository(identity: str) -> Repository:
    """Listing of a repository; an earlier one, with a note, where the Hub does not answer."""
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
    """Earlier answer, unless it is damaged."""
    body = _kept_answer(_folder(identity) / "refs" / "main.json")
    try:
        listing = json_object(body or b"", identity)
        _from_listing(identity, listing)
    except NetworkError:
        return None
    return listing


def _asked_listing(identity: str, kept: Mapping[str, object]) -> Mapping[str, object]:
    url = f"{endpoint()}/api/models/{identity}/revision/main?blobs=true"
    tag = kept.get("etag")
    if isinstance(tag, str) and tag:
        headers = {"If-None-Match": tag}
    else:
        headers = {}
    answer = fetch(url, cap=LISTING, headers=headers)
    if kept and answer.status == 304:
        with suppress(OSError):
            (_folder(identity) / "refs" / "main.json").touch()
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
    commit = listing.get("sha")
    siblings = listing.get("siblings")
    if (
        not isinstance(commit, str)
        or not COMMIT.fullmatch(commit)
        or not isinstance(siblings, list)
    ):
        raise NetworkError(f"The server's answer about {identity} is not as expected. Try again.")
    counted = listing.get("safetensors")
    if isinstance(counted, Mapping):
        numbers = counted.get("parameters")
    else:
        numbers = None
    if isinstance(numbers, Mapping):
        counts = numbers
    else:
        counts = {}
    return Repository(
        identity=identity,
        commit=commit,
        files=dict(filter(None, map(_name_and_size, siblings))),
        parameters={str(kind): count for kind, count in counts.items() if isinstance(count, int)},
    )


def _name_and_size(sibling: object) -> tuple[str, int] | None:
    if not isinstance(sibling, Mapping):
        return None
    name = sibling.get("rfilename")
    size = sibling.get("size")
    usable = isinstance(name, str) and FILE_NAME.fullmatch(name) and ".." not in name
    if usable:
        return (str(name), size if isinstance(size, int) and size >= 0 else 0)
    return None


def small_file(repo: Repository, name: str) -> bytes:
    """File of up to 1 MB, kept once read."""
    path = _folder(repo.identity) / repo.commit / name
    kept = _kept_answer(path)
    if kept is not None:
        return kept
    answer = fetch(_address(repo, name), cap=SMALL_FILE)
    refuse_status(answer, f"{repo.identity}/{name}", (200,))
    _keep(path, answer.body)
    return answer.body


def _address(repo: Repository, name: str) -> str:
    return f"{endpoint()}/{repo.identity}/resolve/{repo.commit}/{quote(name)}"


def json_object(body: bytes, what: str) -> Mapping[str, object]:
    """Answer that must be a JSON object."""
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
    if answer.status == 429:
        kind = "is busy"
    else:
        kind = "has a problem"
    raise NetworkError(
        f"Hugging Face {kind} (status {answer.status} for {what}). Try again in a minute, or give "
        "the model's config.json or GGUF file."
    )


# A file of a repository on Hugging Face, of which only parts are read.

READ_AHEAD = 2 * 2**20
"""Bytes asked for at least, since headers are read in small pieces one after another."""
LARGEST_READ = 64 * 2**20


class RemoteFile:
    """File of a repository of which only parts are read."""

    def __init__(
        self,
        identity: str,
        name: str,
        listed: Repository | None = None,
        ahead: int = READ_AHEAD,
    ) -> None:
        repo = listed or repository(identity)
        if name not in repo.files:
            raise UnknownName(f"file of {identity}", name, repo.files)
        self.name = name
        self._ahead = ahead
        self.size = repo.files[name]
        self._url = _address(repo, name)
        self._start = 0
        self._held = b""

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
            self._held = self._range(offset, min(max(end, offset + self._ahead), self.size))
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


# Model of a repository.

UNPACKED = ("BF16-hf", "FP8")
"""Formats whose checkpoints count one number per weight; packed ones count words of several."""
TOLERANCE = 0.005


def describe_repository(identity: str) -> Described:
    """Model of a repository's config.json, checked against the sizes of its weights files."""
    repo = repository(identity)
    if "config.json" not in repo.files:
        raise InputError(_without_config(repo))
    text = small_file(repo, "config.json").decode(errors="replace")
    beside = None
    file = next((name for name in BESIDE if name in repo.files), "")
    if file:
        beside = json_object(small_file(repo, file), f"{identity}/{file}")
    described = _described(repo, text, beside)
    return replace(
        described,
        source=f"{endpoint()}/{identity}/blob/{repo.commit}/config.json",
        notes=(*described.notes, *_checks(repo, described)),
        facts={**described.facts, **_findings(repo)},
    )


def _described(repo: Repository, text: str, beside: Mapping[str, object] | None) -> Described:
    """Model by its config.json; by the shapes of its tensors where that does not tell them."""
    name = repo.identity.split("/")[1]
    try:
        described = describe(text, name, beside)
    except AdvisorError as refusal:
        try:
            return describe_by_tensors(text, name, stored_tensors(repo), beside)
        except AdvisorError:
            raise refusal from None
    if described.architecture.shape_uncertainty:
        with suppress(AdvisorError):
            return describe_by_tensors(text, name, stored_tensors(repo), beside)
    return described


MOST_FILES = 150  # files of weights whose headers are read
MOST_HEADERS = 64_000_000  # most that is read of their headers together [B]
HEADER_AHEAD = 2**16  # asked for at least of each [B]
HEADER_SECONDS = 60.0  # time for all of them [s]


def stored_tensors(repo: Repository) -> tuple[StoredTensor, ...]:
    """Tensors that a repository's safetensors files list, without their numbers; empty without such
    files.

    Raises:
        InputError: a file that is no safetensors file, or too many of them.
        NetworkError: they cannot be read, or not in time.
    """
    names = sorted(weight_files(repo))
    if len(names) > MOST_FILES:
        raise InputError(f"{repo.identity} has {len(names)} files of weights, too many to look at.")
    deadline = time.monotonic() + HEADER_SECONDS
    left = MOST_HEADERS
    tensors: list[StoredTensor] = []
    for name in names:
        _left(deadline, urlsplit(endpoint()).hostname)
        file = RemoteFile(repo.identity, name, repo, HEADER_AHEAD)
        length = int.from_bytes(file.read_at(0, 8), "little")
        if not 0 < length <= left:
            raise InputError(f"{name} of {repo.identity} is no file in safetensors.")
        left -= length
        tensors += header_tensors(file.read_at(8, length), name)
    return tuple(tensors)


def _without_config(repo: Repository) -> str:
    gguf = [name for name in sorted(repo.files) if name.endswith(".gguf")]
    if gguf:
        return (
            f"{repo.identity} has no config.json but {len(gguf)} GGUF files. "
            f"Name one of them: {repo.identity}/{gguf[0]}."
        )
    return (
        f"{repo.identity} has no config.json, so it is no model that can be described (perhaps "
        "an adapter or a data set). Give the repository of the model itself."
    )


def weight_bytes(repo: Repository) -> int:
    """Bytes of the safetensors files of the model [B]."""
    return sum(weight_files(repo).values())


def weight_files(repo: Repository) -> Mapping[str, int]:
    """Sizes of the safetensors files at the top; copies in folders are other formats [B]."""
    sizes = {
        name: size
        for name, size in repo.files.items()
        if PurePosixPath(name).match("*.safetensors") and "/" not in name
    }
    of_model = {name: size for name, size in sizes.items() if name.startswith("model")}
    return of_model or sizes


def _findings(repo: Repository) -> dict[str, str]:
    stored = weight_bytes(repo)
    return {
        "commit": repo.commit,
        **({"weight_bytes": str(stored)} if stored else {}),
        **{f"parameters {kind}": str(count) for kind, count in sorted(repo.parameters.items())},
    }


def _checks(repo: Repository, described: Described) -> tuple[str, ...]:
    notes = (repo.note,) if repo.note else ()
    counted = sum(repo.parameters.values())
    if not counted or described.format not in UNPACKED:
        return notes
    derived = described.architecture.params
    if abs(counted / derived - 1) <= TOLERANCE:
        return notes
    return (
        *notes,
        f"Its files hold {counted / 1e9:.3f}e9 numbers, {counted / derived - 1:+.1%} beside the "
        f"{derived / 1e9:.3f}e9 derived from config.json: towers for images or sound, layers for "
        "predicting several tokens, or something that config.json does not say.",
    )
