"""Machines and Models in a real browser: from the navigation, a target typed, a phone."""

import re

import pytest
from driving import page, scrolls_sideways, settle

FIRST = 120_000  # every GPU tried, on a machine that is busy with other tests [ms]


def test_a_target_is_typed_kept_in_the_address_and_opens_advise(chromium, address):
    with page(chromium, f"{address}/?gpu=RTX+3090&ram_gb=64&model=Llama-3.1-8B") as test:
        test.get_by_role("link", name="Machines").click()
        test.get_by_text("machines reach 6.0 tokens/s with Llama-3.1-8B").wait_for(timeout=FIRST)
        test.locator(".st-key-target").get_by_text("40", exact=True).click()
        test.get_by_text("machines reach 40 tokens/s").wait_for(timeout=FIRST)
        test.wait_for_url(re.compile("min_tps=40"))
        settle(test)
        assert test.get_by_text("--min-tps 40").is_visible()
        assert test.get_by_text("Models on these machines").is_visible()


@pytest.mark.parametrize(
    ("link", "words"), [("Machines", "machines reach"), ("Models", "Best model here")]
)
def test_a_page_fits_a_phone(chromium, address, link, words):
    phone = {"width": 390, "height": 2400}
    with page(chromium, address, viewport=phone, color_scheme="dark") as test:
        test.get_by_role("link", name=link).click()
        test.get_by_text(words).first.wait_for(timeout=FIRST)
        settle(test)
        assert not scrolls_sideways(test)
