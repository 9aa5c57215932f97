"""Servers that answer as no sound one does: what each sends, byte by byte, to whoever connects."""

import gc
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count

OK = b"HTTP/1.1 200 OK\r\n"
Sent = Callable[[], Iterator[bytes]]


def _once(*pieces: bytes) -> Sent:
    return lambda: iter(pieces)


def _page(text: str | bytes, head: bytes = OK) -> Sent:
    body = text.encode() if isinstance(text, str) else text
    return _once(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)


def _slowly(start: bytes, piece: bytes) -> Sent:
    """A start, then a piece every tenth of a second without end."""

    def sent() -> Iterator[bytes]:
        yield start
        for _ in count():
            yield b""  # a pause
            yield piece

    return sent


def _always(start: bytes, piece: bytes) -> Sent:
    """A start, then pieces without end."""

    def sent() -> Iterator[bytes]:
        yield start
        for _ in count():
            yield piece

    return sent


COUNTERS = "llamacpp:tokens_predicted_total {0}\nllamacpp:tokens_predicted_seconds_total {1}\n"
HOSTILE: dict[str, Sent] = {
    "an SSH port": _once(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "nothing, then closed": _once(),
    "nothing, and open": _slowly(b"", b""),
    "half a status": _once(b"HTTP/1.1 2"),
    "a status of letters": _once(b"HTTP/1.1 abc OK\r\n\r\n"),
    "a status of 40 digits": _once(b"HTTP/1.1 " + b"9" * 40 + b" OK\r\n\r\n"),
    "zero bytes": _once(b"\0" * 5000),
    "a status without end": _always(b"HTTP/1.1 200 ", b"x" * 10_000),
    "continue without end": _always(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a header line now and then": _slowly(OK, b"X-A: b\r\n"),
    "headers without end": _always(OK, b"X-A: b\r\n"),
    "one header of a megabyte": _once(OK + b"X-A: " + b"b" * 2**20 + b"\r\n\r\n"),
    "a header without a colon": _once(OK + b"nothing\r\n\r\nbody"),
    "a body now and then": _slowly(OK + b"\r\n", b"llamacpp:x 1\n"),
    "a body without end": _always(OK + b"\r\n", b"llamacpp:x 1\n" * 1000),
    "less than it announces": _once(OK + b"Content-Length: 1000\r\n\r\nshort"),
    "a negative length": _once(OK + b"Content-Length: -5\r\n\r\nbody"),
    "a length of words": _once(OK + b"Content-Length: many\r\n\r\nbody"),
    "a length of 10^30": _once(OK + b"Content-Length: 1" + b"0" * 30 + b"\r\n\r\nbody"),
    "wrong chunks": _once(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nbody\r\n"),
    "a chunk of 2^60": _once(OK + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\nbody"),
    "a negative chunk": _once(OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nbody"),
    "packed": _once(OK + b"Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08"),
    "another host": _once(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/metrics\r\n\r\n"),
    "a file": _once(b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n"),
    "itself again": _once(b"HTTP/1.1 302 Found\r\nLocation: /metrics\r\n\r\n"),
    "a failure": _once(b"HTTP/1.1 500 Failure\r\nContent-Length: 0\r\n\r\n"),
    "a login": _once(b"HTTP/1.1 401 No\r\nWWW-Authenticate: Basic\r\n\r\n"),
    "a page of the web": _page("<html><body>hello</body></html>"),
    "one line of a megabyte": _page("llamacpp:tokens_predicted_total{" + "a" * 2**20),
    "labels that never end": _page('llamacpp:tokens_predicted_total{a="' * 20_000),
    "blanks": _page("llamacpp:tokens_predicted_total" + " " * 10**6),
    "no UTF-8": _page(b"llamacpp:tokens_predicted_total \xff\xfe\n"),
    "negative counters": _page(COUNTERS.format(-3000, -30)),
    "a time below zero": _page(COUNTERS.format(3000, -30)),
    "counters past every float": _page(COUNTERS.format("1e999", "1e999")),
    "counters of 10^300": _page(COUNTERS.format("1e300", "1e-300")),
    "counters of words": _page(COUNTERS.format("many", "few")),
    "counters of 5,000 digits": _page(COUNTERS.format("9" * 5000, "9" * 5000)),
    "a model's name of a megabyte": _page(
        'vllm:inter_token_latency_seconds_count{model_name="' + "a" * 2**20 + '"} 5\n'
    ),
    "a model's name that is a command of a terminal": _page(
        'vllm:inter_token_latency_seconds_count{model_name="\x1b[2J\x07"} 5000\n'
        'vllm:inter_token_latency_seconds_sum{model_name="\x1b[2J\x07"} 50\n'
    ),
    "nested JSON": _page("[" * 100_000),
    "a JSON of numbers": _page('{"models": [{"size": 1e999, "size_vram": 1e999}]}'),
}
"""What each sends, by what it is."""


def let_go() -> None:
    """Wait for exchanges that were left, and collect what they held, so that no later test does."""
    for thread in threading.enumerate():
        if thread.name == "exchange":
            thread.join(10)
    gc.collect()


@contextmanager
def hostile(sent: Sent) -> Iterator[str]:
    """Address of a server that sends it to whoever connects."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)

        def serve() -> None:
            while not stop.is_set():
                with suppress(TimeoutError, OSError):
                    connection, _ = listening.accept()
                    threading.Thread(target=_send, args=(connection, sent, stop)).start()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            stop.set()
            thread.join()


def _send(connection: socket.socket, sent: Sent, stop: threading.Event) -> None:
    with connection, suppress(OSError):
        connection.settimeout(1)
        connection.recv(4096)
        for piece in sent():
            if stop.is_set():
                return
            if piece:
                connection.sendall(piece)
            else:
                stop.wait(0.1)
