"""How the pages look and move: phone, light and dark, labels, less motion."""

import pytest
from driving import page, scrolls_sideways

MOVING = "getComputedStyle(document.querySelector('.oa-type div')).animationName"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone_in_both_appearances(chromium, address, scheme):
    phone = {"width": 390, "height": 2400}
    moving = {"reduced_motion": "no-preference"}
    with page(chromium, address, viewport=phone, color_scheme=scheme, **moving) as test:
        assert not scrolls_sideways(test)
        assert test.evaluate(MOVING) != "none"
        test.get_by_role("button", name="Why this number?").nth(1).click()
        test.get_by_text("What it rests on").first.wait_for()
        assert not scrolls_sideways(test)


def test_inputs_survive_a_visit_to_the_reports(chromium, address):
    with page(chromium, f"{address}/?gpu=RTX+4090") as test:
        test.get_by_role("link", name="Reports").click()
        test.locator("h1", has_text="Reports").wait_for()
        test.get_by_role("link", name="Advise").click()
        test.locator("h1", has_text="RTX 4090").wait_for()


def test_labels_are_there_and_motion_stops_when_asked(chromium, address):
    with page(chromium, address, reduced_motion="reduce") as test:
        assert test.evaluate(MOVING) == "none"
        tree = test.locator("body").aria_snapshot()
        for name in ("Model", "Format", "GPU", "Why this number?", "Save report"):
            assert name in tree


def test_a_command_is_copied_and_a_point_tells_its_words(chromium, address):
    with page(chromium, address) as test:
        test.context.grant_permissions(["clipboard-read", "clipboard-write"])
        block = test.locator(".oa-code", has_text="llama-server")
        block.get_by_role("button", name="Copy").click()
        block.get_by_role("button", name="Copied").wait_for()
        command = test.evaluate("navigator.clipboard.readText()")
        assert command == block.locator("code").inner_text()
        point = test.locator(".oa-point.oa-star")  # what is kept
        point.evaluate("point => point.scrollIntoView({block: 'center'})")
        point.hover()
        words = point.evaluate("point => getComputedStyle(point, '::after').content")
        assert "tokens/s" in words
        lines = test.locator(".oa-lines").first
        image = lines.evaluate("lines => getComputedStyle(lines).backgroundImage")
        assert image.startswith('url("data:image/svg+xml')
        loaded = "performance.getEntriesByType('resource').map(file => file.name).join()"
        assert "Plotly" not in test.evaluate(loaded)
