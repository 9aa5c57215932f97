"""The drawer More settings in a real browser."""

from driving import page, settle

PC = "gaming+PC+with+a+3060+12GB+and+32+GB+RAM"


def test_a_look_into_the_drawer_changes_nothing(chromium, address):
    with page(chromium, f"{address}/?machine={PC}&model=Llama-3.1-8B") as tab:
        opened = tab.url
        tab.get_by_role("button", name="assumed: DDR5").click()
        tab.get_by_text("Kind of RAM").wait_for()
        for group in ("Model", "Software", "Request", "Session", "Money", "What you have"):
            tab.locator(".st-key-settings_group").get_by_text(group, exact=True).click()
            settle(tab)
        tab.get_by_role("button", name="Close").click()
        settle(tab)
        assert tab.url == opened
        assert tab.get_by_role("button", name="Undo: ").count() == 0
