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
        test.get_by_role("radio", name="Rent").click()
        test.get_by_role("heading", name="Cheapest to rent").wait_for(timeout=FIRST)
        test.wait_for_url(re.compile("offers=Rent"))
        test.get_by_role("tab", name="Command").click()
        test.get_by_text("--min-tps 40").wait_for()
        settle(test)


def test_a_card_of_a_model_changes_the_question_and_code_is_a_kind_in_the_address(
    chromium, address
):
    with page(chromium, f"{address}/?gpu=RTX+3090&ram_gb=64&model=Llama-3.1-8B") as test:
        test.get_by_role("link", name="Models").click()
        test.get_by_role("heading", name="Best model here").wait_for(timeout=FIRST)
        test.get_by_role("radio", name="Code").click()
        test.get_by_role("heading", name="Best code model here").wait_for(timeout=FIRST)
        test.wait_for_url(re.compile("kind=Code"))
        card = test.locator(".oa-models .oa-card").first
        name = card.locator(".oa-name").inner_text()
        card.get_by_role("link", name="See advice").click()
        test.wait_for_url(re.compile(f"/\\?.*model={name.replace(' ', '-')}"), timeout=FIRST)
        test.get_by_role("heading", name=re.compile("^Runs|^It runs")).wait_for(timeout=FIRST)


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
