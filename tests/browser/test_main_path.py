"""The main path in a real browser: choose, read, save, restart, reopen."""

import re

from driving import page, server, settle


def test_choose_read_save_restart_and_reopen(chromium, port, tmp_path):
    with (
        server(port, tmp_path) as address,
        page(chromium, f"{address}/?model=Qwen3-32B&gpu=RTX+3060+12GB&ram_gb=32") as test,
    ):
        test.get_by_role("button", name="assumed: DDR5").click()
        test.get_by_role("textbox", name="RAM (GB/s)").fill("61")
        test.keyboard.press("Enter")
        test.wait_for_url(re.compile("ram_gbs=61"))
        test.get_by_role("button", name="Close").click()
        settle(test)
        for title in ("In the graphics card", "Offload to RAM", "Offload to NVMe"):
            assert test.locator(".oa-name", has_text=title).is_visible()
        test.get_by_role("button", name="Save", exact=True).click()
        test.get_by_role("textbox", name="Name", exact=True).fill("from the browser")
        test.locator(".st-key-save_now button").click()
        test.get_by_text("Saved under Reports as from the browser.").wait_for()
    with server(port, tmp_path) as address, page(chromium, address) as test:
        test.get_by_role("link", name="Reports").click()
        test.get_by_text("from the browser").wait_for()
        test.get_by_role("button", name="Open").click()
        link = test.get_by_role("link", name="Open in Advise")
        link.wait_for()
        settle(test)
        test.goto(link.get_attribute("href"))
        settle(test)
        assert "ram_gbs=61" in test.url
        assert test.locator(".oa-chip", has_text="RAM 61 GB/s").is_visible()
        assert test.title().startswith("Qwen3-32B")
