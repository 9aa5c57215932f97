"""The Accuracy page in a real browser: wait, filter, click a point, open its source."""

from driving import page, scrolls_sideways, settle

FIRST = 90_000  # the fit, on a machine that is busy with other tests [ms]


def opened(one):
    one.get_by_role("link", name="Accuracy").click()
    one.locator("h1", has_text="Accuracy").wait_for()
    one.locator(".js-plotly-plot .points path").first.wait_for(timeout=FIRST)
    settle(one)


def test_filter_and_click_a_point_to_its_source(chromium, address):
    with page(chromium, address, viewport={"width": 1280, "height": 2400}) as one:
        opened(one)
        assert one.get_by_text("Click a point").is_visible()
        one.get_by_role("combobox", name="Kind of run").click()
        one.keyboard.type("dense split")  # the list is longer than its box
        one.get_by_role("option", name="dense split", exact=True).click()
        one.keyboard.press("Escape")
        settle(one)
        marks = one.locator(".js-plotly-plot .points path")
        one.wait_for_function("document.querySelectorAll('.points path').length < 20")
        box = marks.first.bounding_box()
        one.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        link = one.get_by_role("link", name="Open the source")
        link.wait_for()
        assert link.get_attribute("href").startswith("https://")
        assert "measured" in one.locator(".st-key-ledger_details").inner_text()


def test_it_fits_a_phone(chromium, address):
    phone = {"width": 390, "height": 2400}
    with page(chromium, f"{address}/?model=Qwen3-8B", viewport=phone) as one:
        one.get_by_test_id("stExpandSidebarButton").click()
        opened(one)
        assert not scrolls_sideways(one)
