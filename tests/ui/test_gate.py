"""Gate: uploads are counted by visitor and in all, and only messages of the pages pass."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.web.server.app_discovery import discover_asgi_app

from advisor.ui import gate
from advisor.ui.gate import ALL, EACH, Gate

PLACE = gate.UPLOADS
T = TypeVar("T")


def finished(work: Coroutine[Any, Any, T]) -> T:
    """Value of what runs in a loop, in a thread of its own: a browser test leaves one in this."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


class Server:
    """The application behind the gate: what reached it, and a wait before it answers."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.messages: list[bytes] = []
        self.go = asyncio.Event()
        self.go.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or take messages until there are no more."""
        if scope["type"] == "websocket":
            while (message := await receive()).get("bytes") is not None:
                self.messages.append(message["bytes"])
            return
        self.reached.append(scope["path"])
        await self.go.wait()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})


async def status(
    guarded: Gate,
    path: str,
    length: str | None = None,
    method: str = "PUT",
    more: Sequence[tuple[bytes, bytes]] = (),
) -> int:
    """Status of a request that announces a length, with more headers."""
    if length is None:
        headers = [*more]
    else:
        headers = [*more, (b"content-length", length.encode())]
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {"type": "http", "method": method, "path": path, "headers": headers}
    await guarded(scope, receive, send)
    return int(sent[0]["status"])


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Uploads that the server holds already, by session [B]."""
    counted: Counter[str] = Counter()
    monkeypatch.setattr(gate, "_held_uploads", lambda: Counter(counted))
    return counted


def test_an_upload_in_chunks_is_refused_whatever_it_states(held: Counter[str]) -> None:
    """Its stated length is not read, so that 10 bytes may be 60 MB."""
    server = Server()
    in_chunks = status(
        Gate(server), f"{PLACE}mine/file", "10", more=[(b"transfer-encoding", b"chunked")]
    )
    assert finished(in_chunks) == 411
    assert not server.reached


@pytest.mark.parametrize(
    ("of_visitor", "of_others", "length", "expected"),
    [
        (0, 0, "1000", 204),
        (0, 0, str(EACH), 204),
        (0, 0, str(EACH + 1), 413),
        (EACH - 1000, 0, "1000", 204),
        (EACH - 1000, 0, "1001", 413),
        (0, ALL - 1000, "1000", 204),
        (0, ALL - 1000, "1001", 413),
        (0, 0, None, 411),
        (0, 0, "", 411),
        (0, 0, "-5", 411),
        (0, 0, "9" * 5000, 411),
        (0, 0, "many", 411),
    ],
)
def test_uploads_are_counted_by_visitor_and_in_all(
    of_visitor: int, of_others: int, length: str | None, expected: int, held: Counter[str]
) -> None:
    held["mine"] = of_visitor
    held["theirs"] = of_others
    assert finished(status(Gate(Server()), f"{PLACE}mine/file", length)) == expected


def test_uploads_on_their_way_count_together(held: Counter[str]) -> None:
    """24 at a time from one visitor, of 60 MB each: one is taken."""

    async def many() -> list[int]:
        server = Server()
        guarded = Gate(server)
        server.go.clear()
        size = str(60 * 2**20)
        tries = [
            asyncio.create_task(status(guarded, f"{PLACE}mine/{number}", size))
            for number in range(24)
        ]
        await asyncio.sleep(0)
        server.go.set()
        statuses = list(await asyncio.gather(*tries))
        assert not guarded.arriving
        return statuses

    assert sorted(finished(many())) == [204] + [413] * 23


@pytest.mark.parametrize(
    "path",
    [
        "/_stcore/metrics", "/_stcore/script-health-check", "/_stcore/agent/interact",
        "/_stcore/agent/mcp", "/_stcore/", "/under/_stcore/metrics",
    ],
)  # fmt: skip
def test_ways_of_an_operator_are_closed(path: str) -> None:
    server = Server()
    assert finished(status(Gate(server), path, method="GET")) == 404
    assert not server.reached
    for way in ("/_stcore/health", "/", "/find", "/static/js/a.js", "/media/a"):
        assert finished(status(Gate(server), way, method="GET")) == 204


def message(kind: str) -> bytes:
    """A message of a kind, with nothing in it."""
    made = BackMsg()
    if BackMsg.DESCRIPTOR.fields_by_name[kind].message_type:
        getattr(made, kind).SetInParent()
    else:
        setattr(made, kind, True)
    return bytes(made.SerializeToString())


def passed(messages: Iterable[bytes]) -> list[bytes]:
    """Messages of a visitor that reach the server."""
    coming = iter([*({"bytes": each} for each in messages), {"type": "websocket.disconnect"}])
    server = Server()

    async def receive() -> Any:
        return next(coming)

    async def send(_: Any) -> None:
        pass

    finished(Gate(server)({"type": "websocket", "path": "/_stcore/stream"}, receive, send))
    return server.messages


def test_no_visitor_clears_what_all_share() -> None:
    kinds = [field.name for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields]
    assert "clear_cache" in kinds
    for kind in kinds:
        sent = message(kind)
        assert passed([sent]) == ([sent] if kind in gate.OF_PAGES else []), kind


def test_what_is_no_message_is_left_to_the_server_that_refuses_it() -> None:
    assert passed([b"\xff\xff\xff"]) == [b"\xff\xff\xff"]


def test_many_messages_are_paced(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", wait)
    rerun = message("rerun_script")
    assert passed([rerun] * gate.BURST) == [rerun] * gate.BURST
    assert not waits
    assert len(passed([rerun] * (gate.BURST + 10))) == gate.BURST + 10
    assert waits == [gate.PAUSE] * 10


def test_the_gate_stands_before_the_server() -> None:
    """Streamlit finds a server by the words of the file; one that it misses has no gate."""
    server_of_file = discover_asgi_app(Path(__file__).parents[2] / "app.py")
    assert server_of_file.is_asgi_app
    import app

    names = [middleware.cls.__name__ for middleware in app.app._user_middleware]
    assert names == ["Gate", "EarlyPage"]
