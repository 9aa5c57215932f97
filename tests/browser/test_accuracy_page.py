"""How we know in a real browser: filter, click a point, open its source."""

from driving import page, scrolls_sideways, settle


def opened(page):
    page.get_by_role("link", name="How we know").click()
    page.locator("h1", has_text="Half within").wait_for()
    page.get_by_role("tab", name="Workshop").click()
    page.get_by_role("radio", name="Every figure").click()
    page.locator(".js-plotly-plot .points path").first.wait_for()
    settle(page)


def test_filter_and_click_a_point_to_its_source(chromium, address):
    with page(chromium, address, viewport={"width": 1280, "height": 2400}) as test:
        opened(test)
        assert test.get_by_text("Click a point").is_visible()
        test.get_by_role("combobox", name="Kind of run").click()
        test.keyboard.type("dense split")  # the list is longer than its box
        test.get_by_role("option", name="dense split", exact=True).click()
        test.keyboard.press("Escape")
        settle(test)
        marks = test.locator(".js-plotly-plot .points path")
        test.wait_for_function("document.querySelectorAll('.points path').length < 20")
        box = marks.first.bounding_box()
        test.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        link = test.get_by_role("link", name="Open the source")
        link.wait_for()
        assert link.get_attribute("href").startswith("https://")
        assert "measured" in test.locator(".st-key-ledger_details").inner_text()


def test_it_fits_a_phone(chromium, address):
    phone = {"width": 390, "height": 2400}
    with page(chromium, f"{address}/?model=Qwen3-8B", viewport=phone) as test:
        opened(test)
        assert not scrolls_sideways(test)
