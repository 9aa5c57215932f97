"""The main path in a real browser: choose, read, save, restart, reopen."""

import re

from driving import page, server, settle


def test_choose_read_save_restart_and_reopen(chromium, port, tmp_path):
    with (
        server(port, tmp_path) as address,
        page(chromium, f"{address}/?model=Qwen3-32B&ram=32") as one,
    ):
        one.get_by_role("textbox", name="RAM (GB/s)").fill("61")
        one.keyboard.press("Enter")
        one.wait_for_url(re.compile("ramspeed=61"))
        settle(one)
        for title in ("In the GPU", "Offload to RAM", "Offload to NVMe"):
            assert one.locator(".oa-name", has_text=title).is_visible()
        one.get_by_role("button", name="Save report").click()
        one.get_by_role("textbox", name="Name", exact=True).fill("from the browser")
        one.locator(".st-key-save_now button").click()
        one.get_by_text("Saved. You find it under Reports.").wait_for()
    with server(port, tmp_path) as address, page(chromium, address) as one:
        one.get_by_role("link", name="Reports").click()
        one.get_by_text("from the browser").wait_for()
        one.get_by_role("button", name="Open").click()
        link = one.get_by_role("link", name="Open in Advise")
        link.wait_for()
        settle(one)
        one.goto(link.get_attribute("href"))
        settle(one)
        assert one.get_by_role("textbox", name="RAM (GB/s)").input_value() == "61"
        assert one.locator("h1.oa-title").inner_text().startswith("Qwen3-32B")
