"""A server that others reach: no files, measurements, machines or reports of strangers."""

import pytest
from driving import STILL, free_port, server, settle

from advisor.reports.store.store import open_store


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    folder = tmp_path_factory.mktemp("public")
    with server(free_port(), folder, STREAMLIT_SERVER_ADDRESS="0.0.0.0") as url:
        yield url, folder


def opened(chromium, url):
    tab = chromium.new_context(**STILL).new_page()
    tab.goto(url)
    settle(tab)
    return tab


def test_no_file_of_the_server_is_read(chromium, public):
    url, folder = public
    secret = folder / "config.json"
    secret.write_text('{"model_type": "llama", "hidden_size": 4096}')
    for path in (secret, "/etc/passwd"):
        text = opened(chromium, f"{url}/?model={path}").inner_text("body")
        assert "Files of this machine are not read here" in text
        assert "4096" not in text


def test_nothing_is_measured_taken_in_or_changed(chromium, public):
    url, _ = public
    tab = opened(chromium, f"{url}/calibrate?machine_tab=Another+computer")
    text = tab.inner_text("body")
    assert "Measuring is switched off on this server" in text
    assert "Machines are neither taken in nor changed here." in text
    for key in ("calibrate_start", "import_now", "really_this"):
        assert tab.locator(f".st-key-{key}").count() == 0, key
    assert tab.locator("input[type=file]").count() == 0


def test_reports_are_kept_for_nobody_without_a_login(chromium, public):
    url, folder = public
    tab = opened(chromium, f"{url}/reports")
    assert "Reports are not kept on this server" in tab.inner_text("body")
    assert tab.get_by_role("button", name="Log in").count() == 0
    tab = opened(chromium, url)
    tab.locator(".st-key-save_report button").first.click()
    tab.locator(".st-key-save_now button").click()
    tab.get_by_text("Reports are not kept on this server").first.wait_for()
    store = open_store(f"sqlite:///{folder / 'reports.sqlite'}")
    try:
        assert store.list() == ()
    finally:
        store.close()
