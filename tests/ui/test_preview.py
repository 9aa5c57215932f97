"""What a link shows before it is opened: its head and its picture, fetched without a session."""

import re
from html import unescape
from io import BytesIO
from urllib.parse import parse_qsl, urlsplit

import pytest
from PIL import Image
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from advisor.request.request import Request
from advisor.request.texts import to_address
from advisor.ui import preview, server

LINK = "/?machine=laptop+4060+16gb&model=gemma-4-26b&v=2026-11"
BOTS = (
    "Twitterbot/1.0",
    "facebookexternalhit/1.1",
    "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
    "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
    "WhatsApp/2.23",
    "python-urllib/3.11",
)
BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36"


async def _page(_request):
    return HTMLResponse("<html><head><title>Streamlit</title></head><body></body></html>")


@pytest.fixture(scope="module")
def client():
    routes = [Route("/", _page), *preview.routes()]
    app = Starlette(routes=routes, middleware=[Middleware(server.EarlyPage)])
    return TestClient(app, base_url="http://advisor.example")


def head(client, link, agent):
    text = client.get(link, headers={"accept": "text/html", "user-agent": agent}).text
    named = re.findall(r"<meta (?:property|name)='([^']+)' content='([^']*)'", text)
    return re.findall("<title>(.*?)</title>", text), {key: unescape(text) for key, text in named}


@pytest.mark.parametrize("agent", BOTS)
def test_a_program_that_draws_previews_reads_the_answer(client, agent):
    titles, named = head(client, LINK, agent)
    (title,) = titles
    assert title.startswith("Gemma 4 26B A4B on RTX 4060 Laptop 8 GB + 16 GB: ")
    assert title.endswith(" tokens/s, Offload Advisor")
    assert named["og:title"] == title
    assert "tokens a second" in named["og:description"]
    assert named["twitter:card"] == "summary_large_image"


@pytest.mark.parametrize("accepted", ["*/*", "", "text/*;q=0.5, */*;q=0.1"])
def test_a_program_that_takes_any_kind_of_answer_reads_the_head_too(client, accepted):
    fields = {"accept": accepted, "user-agent": BOTS[1], "range": "bytes=0-524287"}
    answer = client.get(LINK, headers=fields)
    assert answer.status_code == 200
    assert "og:image" in answer.text
    picture = client.get(f"/{preview.PICTURE}{LINK[1:]}", headers=fields)
    assert picture.headers["content-type"] == "image/png"


def test_the_picture_is_fetched_without_a_session(client):
    _, named = head(client, LINK, BOTS[0])
    address = named["og:image"]
    assert address.startswith("http://advisor.example/card.png?")
    assert dict(parse_qsl(urlsplit(address).query)) == dict(parse_qsl(urlsplit(LINK).query))
    answer = client.get(address)
    assert answer.headers["content-type"] == "image/png"
    assert "max-age" in answer.headers["cache-control"]
    assert Image.open(BytesIO(answer.content)).size == (1200, 630)
    size = int(named["og:image:width"]), int(named["og:image:height"])
    assert size == (1200, 630)


def test_a_person_is_not_kept_waiting_for_the_head(client, monkeypatch):
    monkeypatch.setattr(preview, "card", lambda _: pytest.fail("an answer was computed"))
    titles, named = head(client, LINK, BROWSER)
    assert titles == ["Offload Advisor"]
    assert named["og:title"] == "Offload Advisor"


@pytest.mark.parametrize(
    "query",
    [
        "model=nobody-at-all",
        "model=pasted: x",
        "users=-3",
        "machine=%3Cscript%3E%3C/script%3E",
    ],
)
def test_an_address_without_an_answer_has_a_general_head_and_no_picture(client, query):
    titles, named = head(client, f"/?{query}", BOTS[0])
    assert titles == ["Offload Advisor"]
    assert "og:image" not in named
    answer = client.get(f"/card.png?{query}")
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/plain")


def test_no_host_is_believed_that_is_none(client):
    fields = {"accept": "text/html", "user-agent": BOTS[0], "host": "a'><script>"}
    assert "<script>" not in client.get(LINK, headers=fields).text.partition("</head>")[0]


def test_the_public_address_is_named_where_it_is_set(client, monkeypatch):
    monkeypatch.setenv("ADVISOR_PUBLIC_URL", "https://advisor.example.org/tool")
    _, named = head(client, LINK, BOTS[0])
    assert named["og:image"].startswith("https://advisor.example.org/tool/card.png?")


def test_a_file_is_drawn_once(client):
    preview.drawn.cache_clear()
    for _ in range(3):
        client.get("/card.png?machine=laptop+4060+16gb&model=gemma-4-26b")
    assert preview.drawn.cache_info().misses == 1


def test_a_badge_and_a_drawing_are_svg_that_runs_nothing(client):
    for file in ("card.svg", "badge.svg"):
        answer = client.get(f"/{file}?machine=laptop+4060+16gb&model=gemma-4-26b")
        assert answer.headers["content-type"].startswith("image/svg+xml")
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "tok" in answer.text


def test_the_link_is_shorter_than_a_line():
    link = to_address(Request(model="gemma-4-26b", machine="laptop 4060 16gb"))
    assert list(link) == ["machine", "model", "v"]
