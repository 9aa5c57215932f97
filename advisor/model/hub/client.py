"""Requests to Hugging Face: one host, small answers, little time.

The host is https://huggingface.co or HF_ENDPOINT; redirects are followed within it and to its
content network, and the token (HF_TOKEN, nothing else) never leaves the host. Every answer has a
size cap and the whole request a time cap. ADVISOR_OFFLINE=1 or HF_HUB_OFFLINE=1 forbids all of it.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from advisor.errors import InputError, NetworkError

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
    """The host that is asked, without a slash at its end."""
    chosen = os.environ.get("HF_ENDPOINT", "").strip().rstrip("/") or DEFAULT_ENDPOINT
    parts = urlsplit(chosen)
    local = parts.scheme == "http" and parts.hostname in LOOPBACK
    if not parts.hostname or not (parts.scheme == "https" or local):
        raise InputError(f"HF_ENDPOINT is {chosen[:80]!r}; it must be an https address.")
    return chosen


def offline() -> bool:
    """The person forbade network requests."""
    names = ("ADVISOR_OFFLINE", "HF_HUB_OFFLINE")
    return any(os.environ.get(name, "").casefold() in ("1", "true", "yes", "on") for name in names)


def fetch(
    url: str, *, cap: int, headers: Mapping[str, str] | None = None, limits: Limits | None = None
) -> HubResponse:
    """The answer to a GET on the endpoint, asked again while the server is busy and time is left.

    Args:
        url: address.
        cap: most bytes of its body [B].
        headers: further headers.
        limits: times; None for `LIMITS`.

    Raises:
        NetworkError: offline, unreachable, too slow, too large, or a redirect elsewhere.
    """
    if offline():
        raise NetworkError(
            "Network requests are switched off (ADVISOR_OFFLINE or HF_HUB_OFFLINE is set). Unset "
            "it, or give the model's config.json or GGUF file."
        )
    limits = limits or LIMITS
    deadline = time.monotonic() + limits.seconds
    for attempt in range(limits.retries + 1):
        answer = _ask(url, cap, deadline, dict(headers or {}))
        pause = limits.pause * 2**attempt
        if answer.status not in BUSY or time.monotonic() + pause >= deadline:
            break
        if attempt < limits.retries:
            time.sleep(pause)
    return answer


def _ask(url: str, cap: int, deadline: float, headers: dict[str, str]) -> HubResponse:
    # huggingface_hub takes a second to import, and most commands never need it.
    import httpx2
    from huggingface_hub import get_session

    host = urlsplit(endpoint()).hostname
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
            "connection, or give the model's config.json or GGUF file."
        ) from error
    raise NetworkError(f"{host} redirects without end. Try again later.")


def _headers(url: str) -> dict[str, str]:
    # Documented there, but not listed in the module's __all__.
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # exported without a type

    at_home = urlsplit(url).netloc == urlsplit(endpoint()).netloc
    # False keeps a token that was saved on this machine out of it.
    token = (os.environ.get("HF_TOKEN") if at_home else None) or False
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
    parts, home = urlsplit(target), urlsplit(endpoint())
    if not location or (parts.scheme, parts.netloc) == (home.scheme, home.netloc):
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
    return NetworkError(
        f"{host} did not answer in time. Try again, or give the model's config.json or GGUF file."
    )
