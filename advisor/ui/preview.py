"""Preview of a link: title, description and picture, without a session.

Programs that draw a preview read a page's head and fetch the picture that it names (Open Graph,
https://ogp.me; Twitter's cards take the same). They run no script, so that the head is written by
the server: with the answer for such programs, in general words for people, who would wait for it.
"""

import asyncio
import os
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from markupsafe import Markup

from advisor.errors import AdvisorError, InputError
from advisor.formatting import money_shown_in
from advisor.reports.card import Card, card_of
from advisor.request import texts
from advisor.request.request import Request
from advisor.ui.parts.session import PUBLIC_VARIABLE, base
from advisor.ui.question import current, models, this_machine
from advisor.ui.question.answer import answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request as HttpRequest
    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import Scope

TITLE = "Offload Advisor"
ABOUT = "How fast a language model runs on your machine, and whether a bigger GPU would pay."
PICTURE = "card.png"
DRAWING = "card.svg"
BADGE = "badge.svg"
"""Files of an answer, below the address of the Advise page, with the question behind."""
DAY = 86_400  # time for which a picture may be kept by others [s]
READERS = re.compile(
    r"bot|crawl|spider|preview|embed|facebookexternalhit|whatsapp|mastodon|curl|wget|python",
    re.IGNORECASE,
)
"""Words in the names of programs that read a page without running its script."""
HOST = re.compile(r"[\w.-]+(?::\d+)?|\[[0-9a-f:]+\](?::\d+)?", re.IGNORECASE)
HEAD = Markup(
    "<title>{title}</title><meta name='description' content='{about}'>"
    "<meta property='og:site_name' content='Offload Advisor'>"
    "<meta property='og:type' content='website'><meta property='og:title' content='{title}'>"
    "<meta property='og:description' content='{about}'>"
)
IMAGE = Markup(
    "<meta property='og:image' content='{address}'><meta property='og:image:type' "
    "content='image/png'><meta property='og:image:width' content='1200'>"
    "<meta property='og:image:height' content='630'><meta property='og:image:alt' "
    "content='{alt}'><meta name='twitter:card' content='summary_large_image'>"
)
DRAWN_ALONE = asyncio.Semaphore(1)
"""Answers for previews come one at a time, so that visitors are served beside them."""


def reads_only(agent: str) -> bool:
    """Whether a program of this name reads a page without running its script."""
    return bool(READERS.search(agent))


def general() -> bytes:
    """Head of a page for people, whose script sets the title of the tab once it has the answer."""
    return str(HEAD.format(title=TITLE, about=ABOUT)).encode()


async def of_link(scope: "Scope") -> bytes:
    """Head of an address with its answer; a general one where it has none."""
    parameters = dict(parse_qsl(scope["query_string"].decode("latin-1")))
    try:
        card = await _card(parameters)
    except AdvisorError:
        return general()
    about = f"{card.gives} {card.way}"
    address = f"{_origin(scope)}{PICTURE}?{urlencode(parameters)}"
    head = HEAD.format(title=f"{card.title}, {TITLE}", about=about)
    return str(head + IMAGE.format(address=address, alt=card.text)).encode()


def _origin(scope: "Scope") -> str:
    """Address of the Advise page: the public one where it is set, or that which the reader used."""
    if os.environ.get(PUBLIC_VARIABLE, "").strip():
        return base()
    fields = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    host = fields.get("host", "")
    if not HOST.fullmatch(host):
        return base()
    secure = fields.get("x-forwarded-proto", scope.get("scheme", "http")) == "https"
    return f"{'https' if secure else 'http'}://{host}/"


# The answer behind an address, and its files.


def request_of(parameters: Mapping[str, str]) -> Request:
    """Request of an address, as a visitor's.

    Raises:
        InputError: an address whose model only a session has, or whose values cannot be read.
    """
    known = {key: text for key, text in parameters.items() if key in current.KEYS}
    opened = texts.from_address(known)
    if opened.problems:
        raise InputError(opened.problems[0])
    if models.is_given(opened.request.model):
        raise InputError(models.NO_LINK)
    return current.begun(opened.request, former=texts.is_former(known))


def card(request: Request) -> Card:
    """Card of a request, by the answer that a visitor sees; raises AdvisorError where there is
    none.
    """
    with money_shown_in(request.paying):
        calibrated = this_machine.calibrated_at()
        return card_of(answer(request, models.pick(request.model), calibrated))


async def _card(parameters: Mapping[str, str]) -> Card:
    async with DRAWN_ALONE:
        return await asyncio.to_thread(lambda: card(request_of(parameters)))


@lru_cache(maxsize=256)
def drawn(file: str, shown: Card) -> bytes:
    """File of a card."""
    from advisor.reports.files import picture

    draw: Mapping[str, Callable[[], bytes]] = {
        PICTURE: lambda: picture.png(shown),
        DRAWING: lambda: picture.svg(shown).encode(),
        BADGE: lambda: picture.badge(shown).encode(),
    }
    return draw[file]()


KINDS = {PICTURE: "image/png", DRAWING: "image/svg+xml", BADGE: "image/svg+xml"}
HEADERS = {
    "cache-control": f"public, max-age={DAY}",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
}


async def served(request: "HttpRequest") -> "Response":
    """Answer to the request of a file."""
    from starlette.responses import PlainTextResponse, Response

    file = request.url.path.rpartition("/")[2]
    try:
        shown = await _card(request.query_params)
    except AdvisorError as error:
        return PlainTextResponse(str(error), 404)
    body = await asyncio.to_thread(drawn, file, shown)
    return Response(body, 200, HEADERS, KINDS[file])


def routes() -> "Sequence[BaseRoute]":
    """Routes of the files."""
    from starlette.routing import Route

    return [Route(f"/{file}", served) for file in KINDS]
