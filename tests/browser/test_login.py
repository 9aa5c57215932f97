"""Login by OpenID Connect, with an issuer of the tests and a real browser.

Reports belong to who saved them, a shared link shows one to everybody, and can be taken back.
"""

from contextlib import contextmanager

import pytest
from driving import STILL, server, settle
from issuer import issuer


@pytest.fixture
def running(port, tmp_path):
    with issuer() as people:
        secrets = tmp_path / "secrets.toml"
        secrets.write_text(people.secrets_toml(f"http://127.0.0.1:{port}"))
        with server(port, tmp_path, STREAMLIT_SECRETS_FILES=str(secrets)) as address:
            yield address


@contextmanager
def visitor(chromium, address, person=None):
    """A browser of its own, logged in as a person."""
    context = chromium.new_context(**STILL)
    tab = context.new_page()
    tab.set_default_timeout(60_000)
    if person is not None:
        go(tab, f"{address}/reports")
        tab.click(".st-key-log_in button")
        tab.click(f"a:has-text('{person}')")
        tab.wait_for_url(f"{address}/")
    try:
        yield tab
    finally:
        context.close()


def go(tab, address):
    tab.goto(address)
    settle(tab)


def test_reports_belong_to_who_saved_them_until_they_are_shared(chromium, running):
    with (
        visitor(chromium, running, "robin") as robin,
        visitor(chromium, running, "kim") as kim,
        visitor(chromium, running) as stranger,
    ):
        settle(robin)
        robin.click(".st-key-save_report button")
        robin.wait_for_selector(".st-key-report_name input")
        robin.fill(".st-key-report_name input", "only for Robin")
        robin.click(".st-key-save_now button")
        robin.wait_for_selector("text=Saved under Reports as only for Robin.")
        go(robin, f"{running}/reports?report=1")
        assert "only for Robin" in robin.inner_text("body")
        assert "Made by Robin, " in robin.inner_text("body")

        go(kim, f"{running}/reports")
        assert "No reports yet" in kim.inner_text("body")
        go(kim, f"{running}/reports?report=1")
        assert "No report has the number 1" in kim.inner_text("body")
        go(stranger, f"{running}/reports?report=1")
        assert "Log in to see your reports" in stranger.inner_text("body")
        assert "only for Robin" not in kim.inner_text("body") + stranger.inner_text("body")

        robin.click(".st-key-share_1 button")
        robin.click(".st-key-public_1 label")
        link = robin.inner_text(".oa-code code >> text=shared=").strip()
        assert link.startswith(f"{running}/reports?shared=")
        for other in (kim, stranger):
            go(other, link)
            assert "only for Robin" in other.inner_text("body")
            assert not other.is_visible(".st-key-delete_1")

        robin.click(".st-key-public_1 label")
        robin.wait_for_selector("text=Only those who can open this list see it.")
        go(stranger, link)
        assert "This link shows no report" in stranger.inner_text("body")
        assert "only for Robin" not in stranger.inner_text("body")
