"""How we know in a real browser, on a phone."""

from driving import page, scrolls_sideways, settle
from steps import open_tab


def opened(page):
    page.get_by_role("link", name="How we know").click()
    page.locator("h1", has_text="Half of").wait_for()
    open_tab(page, "Workshop")
    page.get_by_role("radio", name="Every figure").click()
    page.locator(".js-plotly-plot .points path").first.wait_for()
    settle(page)


def test_it_fits_a_phone(chromium, address):
    phone = {"width": 390, "height": 2400}
    with page(chromium, f"{address}/?model=Qwen3-8B", viewport=phone) as test:
        opened(test)
        assert not scrolls_sideways(test)
