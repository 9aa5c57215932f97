"""HTTP answer of a server that a person names: one GET, to that address alone.

The server may be anything, an SSH port or a hostile one. So no redirect is followed and no proxy is
asked, the whole exchange has one deadline, and no more than a few megabytes are read.
"""

import http.client
import socket
import threading
from contextlib import closing, suppress
from dataclasses import dataclass
from urllib.parse import SplitResult

from advisor.deadline import Late, within
from advisor.failures import ProbeError
from advisor.permission import LONGEST_SHOWN

SECONDS = 3.0  # longest wait for a whole answer [s]
MOST = 8_000_000  # most bytes of an answer that are read [B]
FOUND = 200  # status of an answer that holds what was asked for


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpAnswer:
    """Status and text of an answer."""

    status: int
    text: str


def got(place: SplitResult, path: str) -> HttpAnswer:
    """Answer to a GET of a path at the host and port of an address.

    Raises:
        ProbeError: nothing answers there in time, or it speaks no HTTP.
    """
    # Without what may stand before the host: a name and a password.
    url = f"{place.scheme}://{place.netloc.rpartition('@')[2]}{path}"[:LONGEST_SHOWN]
    seconds = SECONDS
    kind = http.client.HTTPSConnection if place.scheme == "https" else http.client.HTTPConnection
    try:
        connection = kind(place.hostname or "", place.port, timeout=seconds)
        return _in_time(connection, path, seconds)
    except Late as error:
        raise ProbeError(
            f"{url} gave no whole answer within {seconds:g} s. Wait until the server is less "
            "busy, or correct the address."
        ) from error
    except http.client.HTTPException as error:
        raise ProbeError(
            f"{url} answers, but not as a web server does ({_printable(error)}). Give the port "
            "of the model's server, such as http://localhost:8000."
        ) from error
    except (OSError, ValueError) as error:
        raise ProbeError(
            f"{url} does not answer: {_printable(error)}. Start the server, or correct the address."
        ) from error


def _in_time(connection: http.client.HTTPConnection, path: str, seconds: float) -> HttpAnswer:
    """Answer within a deadline, at which the exchange is ended."""
    opened: list[socket.socket] = []
    over = threading.Event()

    def exchange() -> HttpAnswer:
        with closing(connection):
            connection.connect()
            opened.append(connection.sock)
            if over.is_set():
                raise Late
            return _answer(connection, path)

    try:
        return within(seconds, exchange)
    finally:
        over.set()
        for each in opened:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)  # wakes a thread that still reads


def _answer(connection: http.client.HTTPConnection, path: str) -> HttpAnswer:
    connection.request("GET", path, headers={"Accept": "*/*", "Connection": "close"})
    with connection.getresponse() as response:
        text = response.read(MOST).decode("utf-8", "replace")
        return HttpAnswer(status=response.status, text=text)


def _printable(error: Exception) -> str:
    """What an error says, in one short line."""
    words = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return "".join(letter if letter.isprintable() else "?" for letter in words[:120])
