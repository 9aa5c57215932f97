"""The main path in a real browser: choose, read, save, restart, reopen."""

import re

from driving import VIEW, page, server, settle


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


PC = "gaming+PC+with+a+3060+12GB+and+32+GB+RAM"


def everything(test):
    """All that is read on a page, and the title of its tab."""
    settle(test)
    return test.title(), test.inner_text("[data-testid=stMain]")


def test_a_way_out_is_taken_and_back_leads_to_the_question_before(chromium, address):
    with page(chromium, f"{address}/?machine={PC}&model=Llama-3.3-70B") as test:
        before = test.locator("#verdict").inner_text()
        assert "minutes per answer" in before
        for way, words in (("Use this model", "Runs well"), ("Try it", "tokens a second")):
            test.get_by_role("button", name=way).click()
            test.locator("#verdict", has_text=words).wait_for()
            test.wait_for_function("words => document.querySelector('#verdict').innerText != words",
                                   arg=before)  # fmt: skip
            settle(test)
            test.go_back()
            test.locator("#verdict", has_text="minutes per answer").wait_for()
            settle(test)
            assert test.locator("#verdict").inner_text() == before


def test_reload_copy_and_a_new_browser_give_the_same_page_to_the_letter(chromium, address):
    with page(chromium, f"{address}/?machine={PC}&model=Qwen3-32B") as test:
        test.context.grant_permissions(["clipboard-read", "clipboard-write"])
        test.locator(".st-key-use button").first.click()
        test.get_by_text("Coding helper", exact=True).click()
        test.wait_for_url(re.compile("cached_share=0.8"))
        test.keyboard.press("Escape")
        settle(test)
        test.reload()
        reloaded = everything(test)
        assert reloaded[0].startswith("Qwen3-32B, RTX 3060 12GB")
        assert "tokens/s" in reloaded[0]
        test.get_by_role("button", name="Share").click()
        test.get_by_text("This address reopens the page").wait_for()
        settle(test)
        test.locator(".oa-code", has_text=address).get_by_role("button", name="Copy").click()
        test.locator(".oa-code", has_text=address).get_by_text("Copied").wait_for()
        copied = test.evaluate("navigator.clipboard.readText()")
    other = chromium.new_context(viewport=VIEW, reduced_motion="reduce")
    test = other.new_page()
    test.goto(copied)
    assert everything(test) == reloaded
    other.close()
