"""What the server does before the first answer."""

import contextlib
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from ui_app import app

from advisor.ui import server

PAGE = b"<html><head><title>x</title></head><body><div id='root'></div></body></html>"


def answered(
    accept=b"text/html",
    kind=b"text/html; charset=utf-8",
    method="GET",
    path="/",
    kept=b"old",
    query=b"",
):
    """Headers and body that reach a browser, and the headers that reached the program behind."""
    seen = {}
    sent = []

    async def program(scope, _receive, send):
        seen.update(scope["headers"])
        length = str(len(PAGE)).encode()
        headers = [(b"content-type", kind), (b"content-length", length), (b"etag", b"old")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": PAGE[:40], "more_body": True})
        await send({"type": "http.response.body", "body": PAGE[40:]})

    async def keep(message):
        sent.append(message)

    headers = [(b"accept", accept), (b"accept-encoding", b"gzip"), (b"if-none-match", kept)]
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query,
        "headers": headers[: 3 if kept else 2],
    }
    with pytest.raises(StopIteration):  # nothing of it waits, so no loop is needed
        server.EarlyPage(program)(scope, None, keep).send(None)
    body = b"".join(message.get("body", b"") for message in sent)
    return dict(sent[0]["headers"]), body, seen


def test_a_page_brings_its_style_before_anything_is_drawn():
    headers, body, seen = answered()
    assert body.index(b"<style>") < body.index(b"id='root'")
    assert b".oa-verdict" in body
    assert int(headers[b"content-length"]) == len(body)
    assert b"etag" not in headers  # a browser must not keep an older style
    assert seen == {b"accept": b"text/html"}


def test_a_first_visit_reads_its_answer_in_the_page_itself(monkeypatch, tmp_path):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(server, "FIRST", {})
    server.advise()
    _, body, _ = answered()
    drawn = app().get("html")
    early = next(each.proto.body for each in drawn if "id='verdict'" in each.proto.body)
    assert early in body.decode()
    for other in ({"query": b"gpu=RTX+4090"}, {"path": "/run"}):
        assert b"id='verdict'" not in answered(**other)[1]
    monkeypatch.setattr(server.this_machine, "calibrated_at", lambda: 1)  # measured since then
    assert b"id='verdict'" not in answered()[1]


def test_the_scripts_of_the_first_screen_are_asked_for_at_once():
    _, body, _ = answered()
    for kind in ("Html", "TextInput", "Selectbox", "ButtonGroup"):
        assert f"./static/js/{kind}.".encode() in body[: body.index(b"</head>")]
    assert body.count(b'fetchpriority="low"') > 20  # behind what the page asks for by itself


def test_anything_else_passes_as_it_is():
    for headers, body, _ in (answered(accept=b"*/*"), answered(kind=b"text/plain")):
        assert (body, headers[b"etag"]) == (PAGE, b"old")


def test_the_socket_of_a_page_passes_as_it_is():
    """A scope of ASGI's type websocket has no method."""
    seen = []

    async def program(scope, _receive, _send):
        seen.append(scope)

    scope = {"type": "websocket", "path": "/_stcore/stream", "headers": []}
    with pytest.raises(StopIteration):  # nothing of it waits, so no loop is needed
        server.EarlyPage(program)(scope, None, None).send(None)
    assert seen == [scope]


def test_scripts_of_the_first_screen_come_whole_from_memory():
    """All that the page names, until a browser asks for another part or state of one."""
    _, page, _ = answered()
    named = re.findall(rb"\./(static/js/[\w.-]+\.js)", page)
    assert len(named) > 20
    for path in (f"/{name.decode()}" for name in named):
        file = server.SCRIPTS.parents[1] / path.removeprefix("/")
        headers, body, seen = answered(b"*/*", path=path, kept=None)
        assert body == file.read_bytes()
        assert (headers[b"content-type"], seen) == (b"text/javascript; charset=utf-8", {})
        for other in ({"kept": b"old"}, {"kept": None, "method": "HEAD"}):
            assert answered(b"*/*", path=path, **other)[1] == PAGE
    assert answered(b"*/*", path="/static/js/../../app.py", kept=None)[1] == PAGE


def test_other_pages_are_loaded_when_nobody_is_served(monkeypatch):
    loaded = []
    beside = []
    monkeypatch.setattr(server, "LATER", 0.0)
    monkeypatch.setattr(server, "_load", lambda page: (loaded.append(page), run.close()))
    monkeypatch.setattr(server.asyncio, "sleep", lambda _: _waited())

    async def _waited():
        beside.append(len(loaded))
        run.close()  # the visitor has his answer

    run = contextlib.ExitStack()
    run.enter_context(server.serving())
    with ThreadPoolExecutor(1) as thread:  # a browser test leaves a loop in this one
        thread.submit(lambda: server.asyncio.run(server._load_others())).result()
    assert beside == [0]  # looked once while somebody was served, and loaded nothing then
    assert len(loaded) == 4
    assert server.ANSWERED.is_set()
