"""Find and "What can I run?" in a real browser: from the navigation, a target typed, a phone."""

import pytest
from driving import page, scrolls_sideways, settle

FIRST = 120_000  # every GPU tried, on a machine that is busy with other tests [ms]


def test_a_target_is_typed_kept_in_the_address_and_opens_advise(chromium, address):
    with page(chromium, f"{address}/?machine=Another+machine&model=Llama-3.1-8B") as test:
        test.get_by_role("link", name="Find").click()
        test.get_by_text("machines reach 10 tokens/s with Llama-3.1-8B").wait_for(timeout=FIRST)
        speed = test.get_by_role("spinbutton", name="Least speed (tokens/s)")
        speed.fill("60")
        speed.press("Enter")
        test.get_by_text("machines reach 60 tokens/s").wait_for(timeout=FIRST)
        assert "leasttps=60" in test.url
        settle(test)
        assert test.get_by_text("--min-tps 60").is_visible()
        assert test.get_by_text("Models on these machines").is_visible()


@pytest.mark.parametrize(
    ("link", "words"), [("Find", "machines reach"), ("What can I run?", "Without a published")]
)
def test_a_page_fits_a_phone(chromium, address, link, words):
    phone = {"width": 390, "height": 2400}
    with page(chromium, address, viewport=phone, color_scheme="dark") as test:
        test.get_by_test_id("stExpandSidebarButton").click()
        test.get_by_role("link", name=link).click()
        test.get_by_text(words).first.wait_for(timeout=FIRST)
        settle(test)
        assert not scrolls_sideways(test)
