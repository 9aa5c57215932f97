"""A server that others reach: no files, measurements, machines or reports of strangers."""

import json
import re
import tomllib
import urllib.request
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit

import pytest
from driving import STILL, free_port, server, settle
from llama_config import LLAMA
from steps import open_tab
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from advisor.probes.host import facts as host_facts
from advisor.reports.store.store import open_store

SETTINGS = tomllib.loads((Path(__file__).parents[2] / ".streamlit/config.toml").read_text())
LIMIT = SETTINGS["server"]["maxUploadSize"] * 2**20
"""Largest upload [B]."""


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    folder = tmp_path_factory.mktemp("public")
    with server(free_port(), folder, STREAMLIT_SERVER_ADDRESS="0.0.0.0") as url:
        yield url, folder


@pytest.fixture(scope="module")
def first(chromium):
    """A visitor's browser, which compiles the pages' scripts once."""
    context = chromium.new_context(**STILL)
    context.new_page()  # stays open, so that the process that compiled them does not end
    yield context
    context.close()


@pytest.fixture(scope="module")
def second(chromium):
    """Another visitor's browser."""
    context = chromium.new_context(**STILL)
    yield context
    context.close()


@contextmanager
def opened(visitor, url):
    tab = visitor.new_page()
    tab.goto(url)
    settle(tab)
    yield tab
    tab.close()


def words(visitor, url):
    with opened(visitor, url) as tab:
        return tab.inner_text("body")


def test_no_file_of_the_server_is_read(first, public):
    url, folder = public
    secret = folder / "config.json"
    secret.write_text('{"model_type": "llama", "hidden_size": 4096}')
    for path in (secret, "/etc/passwd"):
        text = words(first, f"{url}/?model={path}")
        assert "files of this computer are not read here" in text
        assert "4096" not in text


def test_the_computer_of_the_server_is_not_shown(first, public):
    url, _ = public
    for address in ("?machine=this", "calibrate", "run?machine=this", "find"):
        text = words(first, f"{url}/{address}")
        assert host_facts().name not in text, address
    text = words(first, f"{url}/?machine=this")
    assert "is the computer of this server, which is not shown" in text


def test_ways_of_an_operator_are_closed(public):
    url, _ = public
    for path in ("metrics", "script-health-check", "agent/interact", "agent/mcp"):
        with pytest.raises(HTTPError) as refused:
            urllib.request.urlopen(f"{url}/_stcore/{path}")
        refused.value.close()
        assert refused.value.code == 404


def test_nothing_is_measured_taken_in_or_changed(first, public):
    url, _ = public
    with opened(first, f"{url}/calibrate?machine_tab=Another+computer") as tab:
        text = tab.inner_text("body")
        assert "Measuring is switched off on this server" in text
        assert "Machines are neither taken in nor changed here." in text
        for key in ("calibrate_start", "import_now", "really_this"):
            assert tab.locator(f".st-key-{key}").count() == 0, key
        assert tab.locator("input[type=file]").count() == 0


def test_reports_are_kept_for_nobody_without_a_login(first, public):
    url, folder = public
    with opened(first, f"{url}/reports") as tab:
        assert "Reports are not kept on this server" in tab.inner_text("body")
        assert tab.get_by_role("button", name="Log in").count() == 0
    with opened(first, url) as tab:
        tab.locator(".st-key-save_report button").first.click()
        tab.locator(".st-key-save_now button").click()
        tab.get_by_text("Reports are not kept on this server").first.wait_for()
    store = open_store(f"sqlite:///{folder / 'reports.sqlite'}")
    try:
        assert store.list() == ()
    finally:
        store.close()


def socket(url, **options):
    address = f"{url.replace('http', 'ws', 1)}/_stcore/stream"
    return connect(
        address, subprotocols=[Subprotocol("streamlit")], max_size=None, proxy=None, **options
    )


def test_no_other_site_speaks_for_a_visitor(public):
    """Neither a page of another site, nor one whose name was made to point here."""
    url, _ = public
    with socket(url, origin=url):
        pass
    other = url.replace("127.0.0.1", "other.example")
    here = {"address": ("127.0.0.1", urlsplit(url).port)}
    for place, options in ((url, {"origin": other}), (other, here)):
        with pytest.raises(InvalidStatus) as refused, socket(place, **options):
            pass
        assert refused.value.response.status_code == 403


def test_no_upload_is_larger_than_the_limit(public):
    """Also of a program that asks no page: the server refuses it, and those of other sites."""
    url, _ = public
    with urllib.request.urlopen(f"{url}/_stcore/health") as healthy:
        token = re.search(r"_streamlit_xsrf=([^;]+)", str(healthy.headers))[1]
    with socket(url) as visitor:
        opening = BackMsg()
        opening.rerun_script.query_string = ""
        visitor.send(opening.SerializeToString())
        hello = ForwardMsg()
        while not hello.new_session.initialize.session_id:
            hello.ParseFromString(visitor.recv(30, decode=False))
        place = f"/_stcore/upload_file/{hello.new_session.initialize.session_id}/file"
        for size, sent, status in (
            (LIMIT - 1000, token, 204),
            (LIMIT + 1, token, 413),
            (1, "", 403),
            (LIMIT // 2, token, 413),
        ):
            assert uploaded(url, place, size, sent) == status
        assert in_chunks(url, place, token) == 411


def in_chunks(url, place, token):
    """Status of an upload that says it has 10 bytes, and comes in chunks without end."""
    form = {
        "Content-Type": "multipart/form-data; boundary=end", "Content-Length": "10",
        "Transfer-Encoding": "chunked", "Cookie": f"_streamlit_xsrf={token}",
        "X-Xsrftoken": token,
    }  # fmt: skip
    connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        connection.request("PUT", place, headers=form)
        return connection.getresponse().status
    finally:
        connection.close()


def uploaded(url, place, size, token):
    """Status of an upload; of one that is refused by its announced length nothing is sent."""
    head = '--end\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'
    content = head.encode() + b"x" * size + b"\r\n--end--"
    form = {
        "Content-Type": "multipart/form-data; boundary=end", "Content-Length": str(len(content)),
        "Cookie": f"_streamlit_xsrf={token}", "X-Xsrftoken": token,
    }  # fmt: skip
    connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        connection.request("PUT", place, headers=form)
        if size < LIMIT:
            connection.send(content)
        return connection.getresponse().status
    finally:
        connection.close()


def test_what_one_visitor_gave_no_other_sees(first, second, public):
    url, _ = public
    config = LLAMA | {"_name_or_path": "somebody/Confidential-7B"}
    with opened(first, url) as tab:
        tab.get_by_role("button", name="More settings").click()
        tab.get_by_text("Other ways to give a model").click()
        open_tab(tab, "Paste")
        tab.get_by_role("textbox", name="config.json").fill(json.dumps(config))
        tab.get_by_role("button", name="Use it").click()
        tab.wait_for_function("document.title.startsWith('Confidential-7B')")
        settle(tab)
        for page in ("", "run"):
            assert "Confidential" not in words(second, f"{url}/{page}")
        with opened(second, f"{url}/?model=pasted:+Confidential-7B") as other:
            assert "A link cannot carry what was pasted" in other.inner_text("body")
            assert "Confidential" not in other.title()
