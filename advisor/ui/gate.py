"""Gate before the server, which refuses messages that a program without a page may not send.

The pages need three of the ways in that Streamlit opens: its files, a visitor's messages, uploads.
Here uploads are counted by visitor and in all, and ways that serve an operator are closed.
"""

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime import Runtime

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

UPLOADS = "/_stcore/upload_file/"
INTERNAL = "/_stcore/"
OPEN = ("health", "host-config", "stream", "upload_file")
"""Internal ways that the pages use; others tell of all visitors, or drive pages for programs."""
OF_PAGES = ("rerun_script", "stop_script", "file_urls_request", "app_heartbeat",
            "backend_operation_request")  # fmt: skip
"""Messages that the pages send; others clear what every visitor shares, or serve developers."""
EACH = 70 * 2**20  # uploads that are held of a visitor, one of the largest among them [B]
ALL = 4 * EACH  # uploads that are held of all visitors [B]
BURST = 30
PAUSE = 0.25
"""Messages of a visitor that are taken at once, and the time between further ones [s]."""


class Gate:
    """Middleware that bounds uploads and messages, and closes the ways of an operator."""

    def __init__(self, app: "ASGIApp") -> None:
        self.app = app
        self.arriving: Counter[str] = Counter()  # uploads on their way, by session [B]

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Pass a request on, or refuse it."""
        path = scope.get("path", "")
        if scope["type"] == "websocket":
            await self.app(scope, _paced(receive), send)
        elif scope["type"] == "http" and _is_closed(path):
            await _refuse(send, 404, "There is no such page.")
        elif scope["type"] == "http" and scope["method"] == "PUT" and path.startswith(UPLOADS):
            await self._upload(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _upload(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"")
        # Of a body in chunks the stated length is not read (RFC 9112, section 6.3).
        in_chunks = b"transfer-encoding" in headers
        if in_chunks or not length.isdigit() or len(length) > len(str(ALL)):
            await _refuse(send, 411, "An upload must say how long it is.")
            return
        session = scope["path"].removeprefix(UPLOADS).partition("/")[0]
        size = int(length)
        held = _held_uploads()
        of_visitor = held[session] + self.arriving[session]
        of_all = held.total() + self.arriving.total()
        if size + of_visitor > EACH or size + of_all > ALL:
            await _refuse(send, 413, "More was uploaded than is held; remove a file first.")
            return
        self.arriving[session] += size
        try:
            await self.app(scope, receive, send)
        finally:
            self.arriving[session] -= size
            self.arriving += Counter()  # drops the sessions that have none


def _is_closed(path: str) -> bool:
    """Whether a path is an internal one that no page uses, wherever the server's address ends."""
    _, internal, way = path.partition(INTERNAL)
    return bool(internal) and way.partition("/")[0] not in OPEN


def _held_uploads() -> Counter[str]:
    """Uploads that are held, by session [B]."""
    held: Counter[str] = Counter()
    if Runtime.exists():
        files = Runtime.instance().uploaded_file_mgr.file_storage  # type: ignore[attr-defined]  # of the one in memory, which is the server's
        for session, records in list(files.items()):
            held[session] = sum(len(record.data) for record in list(records.values()))
    return held


def _paced(receive: "Receive") -> "Receive":
    """Messages of a visitor: no others than the pages send, and no more than a page can."""
    left = float(BURST)
    then = asyncio.get_running_loop().time()

    async def paced() -> "Message":
        nonlocal left, then
        while True:
            message = await receive()
            data = message.get("bytes")
            if data is None:
                return message
            now = asyncio.get_running_loop().time()
            left = min(left + (now - then) / PAUSE, float(BURST)) - 1
            then = now
            if left < 0:
                await asyncio.sleep(PAUSE)
            if _of_a_page(data):
                return message

    return paced


def _of_a_page(data: bytes) -> bool:
    """Whether a message is of a kind that the pages send; also of damaged ones, which Streamlit
    refuses itself.
    """
    message = BackMsg()
    try:
        message.ParseFromString(data)
    except Exception:  # noqa: BLE001 - Streamlit refuses it in its own way
        return True
    return message.WhichOneof("type") in OF_PAGES


async def _refuse(send: "Send", status: int, words: str) -> None:
    body = words.encode()
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
