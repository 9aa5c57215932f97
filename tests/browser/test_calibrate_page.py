"""The Calibrate page in a real browser: bring a machine, look at it, on a phone as well."""

import json

from driving import page, scrolls_sideways, settle

PROBED = [
    {
        "name": name, "value": value, "unit": "B/s", "spread": 0.02, "threads": 64,
        "when": "2026-11-20T10:00:00+00:00", "note": "",
    }
    for name, value in (("ram_read", 150e9), ("disk_read_direct", 6.4e9))
]  # fmt: skip


def bring(one, name):
    one.get_by_role("link", name="Calibrate").click()
    one.locator("h1", has_text="Calibrate").wait_for()
    one.get_by_text("Bring a machine that was measured elsewhere").click()
    content = json.dumps(PROBED).encode()
    file = {"name": "machine.json", "mimeType": "application/json", "buffer": content}
    one.locator("input[type=file]").set_input_files(file)
    one.get_by_text("machine.json").first.wait_for()
    one.get_by_role("textbox", name="Name").fill(name)
    one.keyboard.press("Tab")
    settle(one)
    one.get_by_role("button", name="Import").click()
    one.get_by_text(f"{name} is here").wait_for()


def test_bring_a_machine_and_look_at_it(chromium, address):
    with page(chromium, address) as one:
        bring(one, "server")
        one.get_by_role("combobox", name="Machine").click()
        one.get_by_role("option", name="server").click()
        one.get_by_text("server reads its RAM at 150 GB/s").wait_for()
        assert one.locator(".oa-gauge").count() == 2
        one.set_viewport_size({"width": 390, "height": 1600})
        settle(one)
        assert not scrolls_sideways(one)
        assert one.get_by_text("server reads its RAM at 150 GB/s").is_visible()


def test_a_wrong_file_is_refused_and_the_form_stays_open(chromium, address):
    with page(chromium, address) as one:
        one.get_by_role("link", name="Calibrate").click()
        one.get_by_text("Bring a machine that was measured elsewhere").click()
        file = {"name": "other.json", "mimeType": "application/json", "buffer": b'{"a": 1}'}
        one.locator("input[type=file]").set_input_files(file)
        one.get_by_text("other.json").first.wait_for()
        one.get_by_role("button", name="Import").click()
        one.get_by_text("other.json holds no measurements of a machine").wait_for()
        settle(one)
        assert one.get_by_role("textbox", name="Name", exact=True).is_visible()
