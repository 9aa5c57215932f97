"""What compose.yaml starts, without containers: two replicas, one PostgreSQL, the proxy."""

import os
from contextlib import ExitStack

import postgresql
import proxy
import pytest
from driving import STILL, free_port, server, settle
from saved_reports import sample

from advisor.reports.store.store import open_store

COOKIE = "advisor_replica"
CSP = "Content Security Policy"
SECRET = "the same for both replicas"


@pytest.fixture(scope="module", autouse=True)
def _servers_needed():
    for name, there in (("Caddy", proxy.program()), ("PostgreSQL", postgresql.programs())):
        assert there or not os.environ.get("CI"), f"{name} is not installed; .ci/run installs it"
        if not there:
            pytest.skip(f"{name} is not installed (Debian: apt-get install {name.lower()})")


def test_a_visitor_stays_with_one_replica_and_goes_on_with_the_other(chromium, tmp_path):
    first, second, port = (free_port() for _ in range(3))
    with ExitStack() as stack:
        url = stack.enter_context(postgresql.server()).new_database()
        store = open_store(url)
        store.save(sample(), "seen through both")
        store.close()
        settings = {"ADVISOR_DATABASE_URL": url, "STREAMLIT_SERVER_COOKIE_SECRET": SECRET}
        replicas = {
            at: stack.enter_context(ExitStack()) for at in (first, second)
        }  # each can be ended by itself
        for at, own in replicas.items():
            own.enter_context(server(at, tmp_path, **settings))
        names = {"app1": f"127.0.0.1:{first}", "app2": f"127.0.0.1:{second}"}
        site = stack.enter_context(proxy.proxy(port, names, tmp_path))

        cookies = {}
        for _ in range(40):  # a new visitor each time; each replica gets some of them
            context = chromium.new_context(**STILL)
            context.request.get(f"{site}/_stcore/health")
            cookies.setdefault(replica_of(context), context)
            if len(cookies) == 2:
                break
        assert len(cookies) == 2

        context = next(iter(cookies.values()))
        tab = context.new_page()
        tab.set_default_timeout(60_000)
        refused: list[str] = []
        tab.on("console", lambda line: refused.append(line.text) if CSP in line.text else None)
        mine = replica_of(context)
        for _ in range(2):
            shows_the_report(tab, site)
            assert replica_of(context) == mine
        headers = tab.request.get(site).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        for page in ("", "run", "find", "accuracy", "method", "calibrate"):
            tab.goto(f"{site}/{page}")
            settle(tab)
        assert refused == [], "a page needs what the proxy's headers forbid"
        for at, own in replicas.items():  # one of the two is the visitor's
            own.close()
            shows_the_report(tab, site)
            if replica_of(context) != mine:
                break
            own.enter_context(server(at, tmp_path, **settings))
        assert replica_of(context) != mine


def replica_of(context):
    """The cookie that tells the proxy which replica a visitor has."""
    return next(cookie["value"] for cookie in context.cookies() if cookie["name"] == COOKIE)


def shows_the_report(tab, site):
    for _ in range(20):  # a replica may just be starting or ending: reload, as a visitor would
        answer = tab.request.get(f"{site}/_stcore/health", fail_on_status_code=False)
        if answer.ok:
            break
        tab.wait_for_timeout(500)
    tab.goto(f"{site}/reports")
    settle(tab)
    assert "seen through both" in tab.inner_text("body")
