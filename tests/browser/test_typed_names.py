"""Names as a new user types them, in a real browser: the right thing is taken or offered."""

from driving import page, settle

PC = "gaming+PC+with+a+3060+12GB+and+32+GB+RAM"


def type_machine(tab, text):
    field = tab.get_by_role("textbox", name="Your machine, in your own words")
    field.fill(text)
    field.press("Enter")


def type_model(tab, text):
    """Type into the model's box and confirm, as a person does."""
    tab.get_by_role("combobox", name="Model", exact=True).fill(text)
    tab.keyboard.press("Enter")
    tab.wait_for_timeout(300)
    settle(tab)


def test_short_names_are_taken_or_offered_and_said(chromium, address):
    with page(chromium, f"{address}/?machine={PC}&model=Llama-3.1-8B") as tab:
        type_machine(tab, "rtx 4090 with 64 gb")
        tab.locator(".oa-chip", has_text="RTX 4090").wait_for()
        type_model(tab, "glm 4.6")
        tab.wait_for_function("document.title.includes('GLM-4.6')")
        type_machine(tab, "4090 laptop")
        tab.locator(".oa-chip", has_text="RTX 4090 Laptop").wait_for()
        type_model(tab, "gemma 27")
        tab.get_by_role("button", name="Gemma-3-27B").click()
        tab.wait_for_function("document.title.startsWith('Gemma-3-27B')")


def test_an_unknown_card_has_buttons_that_keep_the_rest(chromium, address):
    with page(chromium, f"{address}/?machine={PC}&model=Llama-3.1-8B") as tab:
        type_machine(tab, "rtx 9090 with 32 GB RAM")
        tab.get_by_role("button", name="RTX 5090").click()
        tab.locator(".oa-chip", has_text="RTX 5090").wait_for()
        tab.locator(".oa-chip", has_text="32 GB RAM").wait_for()


def test_a_machine_is_typed_as_people_call_it(chromium, address):
    with page(chromium, f"{address}/?model=Llama-3.1-8B") as tab:
        type_machine(tab, "m3 ultra 512")
        tab.locator(".oa-chip", has_text="512 GB shared memory").wait_for()
        tab.wait_for_function("document.title.includes('M3 Ultra')")


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
        assert tab.get_by_role("button", name="Lately").count() == 0


def test_the_browsers_back_undoes_a_change_and_a_reload_keeps_it(chromium, address):
    with page(chromium, f"{address}/?machine={PC}&model=Llama-3.1-8B") as tab:
        before = tab.locator("#verdict").inner_text()
        tab.get_by_text("24 GB card", exact=True).click()
        tab.locator(".oa-chip", has_text="RTX 3090").wait_for()
        settle(tab)
        after = tab.locator("#verdict").inner_text()
        tab.reload()
        settle(tab)
        assert tab.locator("#verdict").inner_text() == after
        tab.go_back()
        tab.locator(".oa-chip", has_text="RTX 3060").wait_for()
        settle(tab)
        assert tab.locator("#verdict").inner_text() == before
