"""Pictures of the README, from a running app in a browser: `python -m benchmarks.pictures`."""

from urllib.parse import urlencode

from benchmarks.pages import CHROMIUM, READY, ROOT, missing, server

ASKED = {"model": "Llama-3.3-70B", "machine": "gaming PC with a 3090 24GB and 64 GB RAM"}


def main() -> None:
    """Draw docs/advise.png."""
    if lacking := missing():
        print(f"No picture was drawn: {lacking}.")
        return
    from playwright.sync_api import sync_playwright

    with server() as (address, _), sync_playwright() as play:
        browser = play.chromium.launch(executable_path=str(CHROMIUM))
        page = browser.new_page(viewport={"width": 1240, "height": 900}, reduced_motion="reduce")
        page.goto(f"{address}/?{urlencode(ASKED)}")
        page.wait_for_selector("#verdict")
        page.wait_for_selector(READY)
        page.wait_for_timeout(1000)
        page.screenshot(path=ROOT / "docs" / "advise.png")
        browser.close()


if __name__ == "__main__":
    main()
