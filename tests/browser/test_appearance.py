"""How the pages look and move: phone, light and dark, labels, less motion."""

import pytest
from driving import page, scrolls_sideways


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone_in_both_appearances(chromium, address, scheme):
    phone = {"width": 390, "height": 2400}
    with page(chromium, address, viewport=phone, color_scheme=scheme) as one:
        assert not scrolls_sideways(one)
        one.get_by_role("button", name="Why this number?").nth(1).click()
        one.get_by_text("What it rests on").first.wait_for()
        assert not scrolls_sideways(one)


def test_inputs_survive_a_visit_to_the_reports(chromium, address):
    with page(chromium, f"{address}/?gpu=RTX+4090") as one:
        one.get_by_role("link", name="Reports").click()
        one.locator("h1", has_text="Reports").wait_for()
        one.get_by_role("link", name="Advise").click()
        one.locator("h1", has_text="RTX 4090").wait_for()


def test_labels_are_there_and_motion_stops_when_asked(chromium, address):
    with page(chromium, address, reduced_motion="reduce") as one:
        still = "getComputedStyle(document.querySelector('.oa-type div')).animationName"
        assert one.evaluate(still) == "none"
        tree = one.locator("body").aria_snapshot()
        for name in ("Model", "Format", "GPU", "Why this number?", "Save report"):
            assert name in tree
