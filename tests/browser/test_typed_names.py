"""Names as a new user types them, in a real browser: the right thing is taken or offered."""

from driving import page, settle


def type_in(tab, field, text):
    """Type into a combobox and confirm, as a person does."""
    tab.get_by_role("combobox", name=field, exact=True).fill(text)
    tab.keyboard.press("Enter")
    tab.wait_for_timeout(300)
    settle(tab)


def test_short_names_are_taken_or_offered_and_said(chromium, address):
    with page(chromium, f"{address}/?machine=Another+machine&model=Llama-3.1-8B") as tab:
        settle(tab)
        type_in(tab, "GPU", "rtx 4090")  # listed, in another case
        tab.locator("h1.oa-title", has_text="RTX 4090").wait_for()
        type_in(tab, "Model", "glm 4.6")
        tab.locator("h1.oa-title", has_text="GLM-4.6").wait_for()
        type_in(tab, "Model", "gemma 27")
        sidebar = tab.locator("section[data-testid=stSidebar]")
        sidebar.get_by_role("button", name="Gemma-3-27B").first.wait_for()
        type_in(tab, "GPU", "4090 laptop")
        tab.get_by_text("Taken as RTX 4090 Laptop 16GB.").wait_for()
        tab.get_by_test_id("stMain").get_by_role("button", name="Gemma-3-27B").click()
        tab.locator("h1.oa-title", has_text="Gemma-3-27B").wait_for()


def test_a_machine_is_typed_as_people_call_it(chromium, address):
    with page(chromium, f"{address}/?machine=By+name&model=Llama-3.1-8B") as tab:
        settle(tab)
        type_in(tab, "Machine", "m3 ultra 512")
        tab.locator("h1.oa-title", has_text="M3 Ultra").wait_for()
        assert "512" in tab.locator("h1.oa-title").inner_text()
