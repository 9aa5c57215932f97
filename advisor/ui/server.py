"""Start of the server before the first answer: it warms up, and sends the page its style early.

A style sheet that arrives with the first run moves everything that was drawn without it, and each
kind of widget is a file that the browser would ask for only when it meets one.
"""

import asyncio
import gc
import logging
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st
from markupsafe import Markup

from advisor.request.request import Request
from advisor.ui import preview
from advisor.ui.question import current, model_list, this_machine
from advisor.ui.question.models import pick

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOG = logging.getLogger(__name__)
SHEET, SCRIPT = (Path(__file__).parent / "parts" / name for name in ("style.css", "page.js"))
SCRIPTS = Path(st.__file__).parent / "static" / "static" / "js"
WIDGETS = ("Html", "TextInput", "Selectbox", "ButtonGroup", "Popover", "Tabs", "Button")
"""Kinds of element on the first screen, as Streamlit's files are called."""
LATER = 3.0
"""Seconds from the start until the other pages are loaded, where nobody visits before [s]."""
ANSWERED = threading.Event()
RUNNING = set[int]()
"""Set when a visitor has an answer, and the threads that work on one: the other pages are loaded
after the first answer, while nobody is served."""
FIRST = dict[int, bytes]()
"""Answer of a first visit as the page will draw it and shown until it does, by the time of the last
measurement."""
PARTLY = {b"range", b"if-none-match"}  # headers of who asks for another part or state of a script
EARLY = Markup("<div class='oa-early'><div class='st-key-answer'>{}</div></div>")
_TITLE = re.compile(rb"<title>[^<]*</title>")
_PRELOADED = re.compile(r"\./static/js/([\w.-]+\.js)")
_IMPORTED = re.compile(r"(?:from|import)\"\./([\w.-]+\.js)\"")


@st.cache_resource(show_spinner=False)
def freeze_after(page: str) -> None:  # noqa: ARG001 - the cache runs it once for each page
    """Leave loaded objects out of Python's garbage collection, after the first drawing of a page.

    The catalogues are hundreds of thousands of objects that stay for good. With them, and with
    remembered answers, a full collection takes 60 to 100 ms. Streamlit's setting to collect after
    every run is therefore off: a change of an input leaves a hundred objects in cycles.
    """
    gc.collect()
    gc.freeze()


class EarlyPage:
    """Middleware that puts what a first visit needs into the page, and answers from memory.

    It is the style sheet, the script, the answer of a first visit and the names of needed files of
    Streamlit's, which it serves.
    """

    def __init__(self, app: "ASGIApp") -> None:
        self.app = app

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request: the page itself with what it needs first, its scripts from memory."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)  # the socket of a page has no method
            return
        fields = dict(scope["headers"])
        agent = fields.get(b"user-agent", b"").decode("latin-1")
        if scope["method"] != "GET" or not _wants_a_page(fields, scope["path"], agent):
            whole = fields and scope["method"] == "GET" and not fields.keys() & PARTLY
            if whole:
                script = _needed().get(scope["path"])
            else:
                script = None
            await (script or self.app)(scope, receive, send)
            return
        # Whole and plain, so that it can be added to; what the browser has kept is not asked for.
        dropped = {b"accept-encoding", b"if-modified-since", *PARTLY}
        headers = [each for each in scope["headers"] if each[0] not in dropped]
        held: list[Message] = []

        async def hold(message: "Message") -> None:
            held.append(message)

        await self.app({**scope, "headers": headers}, receive, hold)
        first = scope["path"] == "/" and not scope["query_string"]
        if first:
            answer = FIRST.get(this_machine.calibrated_at(), b"")
        else:
            answer = b""
        titled = await preview.of_link(scope) if preview.reads_only(agent) else preview.general()
        for message in _dressed(held, answer, titled):
            await send(message)


def _wants_a_page(fields: Mapping[bytes, bytes], path: str, agent: str) -> bool:
    """Whether a request is for a page: that of a browser says so; one of a program that draws
    previews may take anything, as Facebook's, or name nothing.
    """
    accepted = fields.get(b"accept", b"")
    if b"text/html" in accepted:
        return True
    any_kind = not accepted or b"*/*" in accepted
    return any_kind and "." not in path and "/_stcore" not in path and preview.reads_only(agent)


@cache
def _needed() -> "Mapping[str, Response]":
    """Scripts that the first screen needs, by path.

    Streamlit opens each anew, in other threads: together they took it 0.1 s of a core for every new
    visitor. Their names change with them.
    """
    from starlette.responses import Response

    page = (SCRIPTS.parents[1] / "index.html").read_text(encoding="utf-8")
    names = (*_PRELOADED.findall(page), *_scripts())
    files = {name: SCRIPTS / name for name in names}
    for_good = {"cache-control": "public, immutable, max-age=31536000"}
    return {
        f"/static/js/{name}": Response(file.read_bytes(), 200, for_good, "text/javascript")
        for name, file in files.items()
        if file.exists()
    }


def _dressed(messages: "list[Message]", answer: bytes, titled: bytes) -> "list[Message]":
    """Page with style sheet and answer in its body, and title and scripts in its head; the rest
    unchanged.
    """
    start, *rest = messages
    headers = dict(start["headers"])
    if not headers.get(b"content-type", b"").startswith(b"text/html"):
        return messages
    body = b"".join(part.get("body", b"") for part in rest)
    links, sheet = _early()
    head = b"".join(link for name, link in links.items() if name not in body) + b"</head>"
    body = _TITLE.sub(b"", body, count=1)
    body = body.replace(b"</head>", titled + head, 1).replace(b"<body>", sheet + answer, 1)
    kept = [each for each in start["headers"] if each[0] not in (b"content-length", b"etag")]
    length = (b"content-length", str(len(body)).encode())
    return [{**start, "headers": [*kept, length]}, {"type": "http.response.body", "body": body}]


@cache
def _early() -> tuple[dict[bytes, bytes], bytes]:
    """Links to scripts, and the beginning of the body, whose style sheet follows Streamlit's own.

    The files come after what the page asks for by itself: behind them, its first calls waited 0.1
    s.
    """
    link = '<link rel="modulepreload" fetchpriority="low" crossorigin href="./static/js/{}">'
    links = {name.encode(): link.format(name).encode() for name in _scripts()}
    sheet = SHEET.read_bytes()
    script = SCRIPT.read_bytes()
    return links, b"<body><style>" + sheet + b"</style><script>" + script + b"</script>"


def _scripts() -> list[str]:
    """Files of the widgets on the first screen, and those that they import."""
    waiting = [file.name for name in WIDGETS for file in SCRIPTS.glob(f"{name}.*.js")]
    needed: dict[str, None] = {}
    while waiting:
        name = waiting.pop()
        file = SCRIPTS / name
        if name not in needed and file.exists():
            needed[name] = None
            waiting += _IMPORTED.findall(file.read_text())
    return list(needed)


@contextmanager
def serving() -> Iterator[None]:
    """Context of a visitor's run, during which no other page is loaded."""
    thread = threading.get_ident()
    RUNNING.add(thread)
    try:
        yield
    finally:
        RUNNING.discard(thread)
        ANSWERED.set()


@asynccontextmanager
async def warm(_app: "st.App") -> AsyncIterator[dict[str, Any] | None]:
    """Load what the first page needs before the server says that it is ready, and the rest after
    the first answer.
    """
    await asyncio.to_thread(_load, advise)
    rest = [asyncio.create_task(_load_others()), asyncio.create_task(_order_models())]
    yield None
    for task in rest:
        task.cancel()


async def _load_others() -> None:
    until = time.monotonic() + LATER
    while not ANSWERED.is_set() and time.monotonic() < until:
        await asyncio.sleep(0.05)
    for page in (models, machines, reports, accuracy):
        while RUNNING:
            await asyncio.sleep(0.05)
        await asyncio.to_thread(_load, page)


async def _order_models() -> None:
    """Find the best models of machines for the list of models, while nobody is served."""
    while True:
        await asyncio.sleep(0.2)
        if model_list.WANTED and not RUNNING:
            await asyncio.to_thread(_load, model_list.compute)


def _load(page: Callable[[], None]) -> None:
    """Answer the example on a page, whose programs and catalogues every answer there needs."""
    try:
        page()
    except Exception:
        LOG.exception("A page cannot be prepared; its visitors are told why.")
    freeze_after(page.__name__)


# Imported in each, so that the command line and an empty page do not wait for all of them.


def advise() -> None:
    """Compute the answer of a first visit."""
    from advisor.ui.advise import page, ways
    from advisor.ui.question.answer import answer

    this_machine.seen()
    request = current.begun(Request())
    calibrated = this_machine.calibrated_at()
    shown = answer(request, pick(request.model), calibrated)
    drawn = EARLY.format(page.drawn(shown, ways.ways(shown)))
    FIRST[calibrated] = str(drawn).encode()


def models() -> None:
    """Compute the models on the example's machine."""
    from advisor.ui.runnable import page

    page.answer(_example(), this_machine.calibrated_at(), rated=True, whole=False)


def machines() -> None:
    """Load machines for the example's model, other models on them, and what tables need."""
    import pandas  # noqa: F401  Streamlit imports it with the first table

    from advisor.ui.find import heat_map, page

    request = page.target(_example())
    every = page.answer(request, pick(request.model), this_machine.calibrated_at())
    heat_map.other_models(every, heat_map.cheapest(every.best))


def reports() -> None:
    """Load the programs of the store and of its file formats."""
    from advisor.ui.reports import listing, view  # noqa: F401  they load the store


def accuracy() -> None:
    """Load the shipped ledger."""
    from advisor.ui.accuracy import page  # noqa: F401  it loads the claims
    from advisor.ui.accuracy.scores import judged

    judged()


def _example() -> Request:
    return Request(model=current.MODEL, machine=current.EXAMPLE)
