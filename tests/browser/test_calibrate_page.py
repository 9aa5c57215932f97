"""Your machine in a real browser: bring a machine, look at it, on a phone as well."""

import json
import re

from driving import page, scrolls_sideways, settle

PROBED = [
    {
        "name": name, "value": value, "unit": "B/s", "spread": 0.02, "threads": 64,
        "when": "2026-11-20T10:00:00+00:00", "note": "",
    }
    for name, value in (("ram_read", 150e9), ("disk_read_direct", 6.4e9))
]  # fmt: skip


def upload(page, name, content):
    """Choose a file and wait for its upload, while which the form cannot be sent."""
    file = {"name": name, "mimeType": "application/json", "buffer": content}
    with page.expect_response(lambda answer: "upload_file" in answer.url and answer.ok):
        page.locator("input[type=file]").set_input_files(file)


def open_page(page):
    page.get_by_role("link", name="How we know").click()
    page.get_by_role("link", name="Measure every part").click()
    page.locator("h1", has_text="easured").or_(page.locator("h1", has_text="reads")).wait_for()


def bring(page, name):
    open_page(page)
    page.get_by_role("tab", name="Another computer").click()
    upload(page, "machine.json", json.dumps(PROBED).encode())
    page.get_by_role("textbox", name="Name").fill(name)
    page.get_by_role("button", name="Import").click()
    page.get_by_text(f"Imported {name}").wait_for()


def test_bring_a_machine_and_look_at_it(chromium, address):
    with page(chromium, address) as test:
        bring(test, "server")
        test.get_by_role("heading", name="server reads its RAM at 150 GB/s").wait_for()
        settle(test)
        assert test.get_by_text("Imported server").is_visible()  # no other run takes it away
        test.get_by_role("tab", name="Beside the datasheet").click()
        test.locator(".oa-gauge").first.wait_for()
        assert re.search("measured=server", test.url)
        assert test.locator(".oa-gauge").count() == 2
        test.set_viewport_size({"width": 390, "height": 1600})
        settle(test)
        assert not scrolls_sideways(test)
        assert test.get_by_role("heading", name="server reads its RAM at 150 GB/s").is_visible()


def test_a_wrong_file_is_refused_and_the_form_stays_open(chromium, address):
    with page(chromium, address) as test:
        open_page(test)
        test.get_by_role("tab", name="Another computer").click()
        upload(test, "other.json", b'{"a": 1}')
        test.get_by_role("button", name="Import").click()
        test.get_by_text("other.json holds no measurements of a machine").wait_for()
        settle(test)
        assert test.get_by_role("textbox", name="Name", exact=True).is_visible()
