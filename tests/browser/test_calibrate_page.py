"""Your machine in a real browser: a file that holds no measurements."""

from driving import page, settle
from steps import open_tab


def upload(page, name, content):
    """Choose a file and wait for its upload, while which the form cannot be sent."""
    file = {"name": name, "mimeType": "application/json", "buffer": content}
    with page.expect_response(lambda answer: "upload_file" in answer.url and answer.ok):
        page.locator("input[type=file]").set_input_files(file)


def open_page(page):
    page.get_by_role("link", name="How we know").click()
    page.get_by_role("link", name="Measure every part").click()
    page.locator("h1", has_text="easured").or_(page.locator("h1", has_text="reads")).wait_for()


def test_a_wrong_file_is_refused_and_the_form_stays_open(chromium, address):
    with page(chromium, address) as test:
        open_page(test)
        open_tab(test, "Another computer")
        upload(test, "other.json", b'{"a": 1}')
        test.get_by_role("button", name="Import").click()
        test.get_by_text("other.json holds no measurements of a machine").wait_for()
        settle(test)
        assert test.get_by_role("textbox", name="Name", exact=True).is_visible()
