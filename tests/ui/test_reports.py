"""Saving on the Advise page; the Reports page."""

import pytest
from ui_app import app, page_text, run

from advisor.reports.store import open_store
from advisor.ui.parts.session import store


@pytest.fixture(autouse=True)
def _own_reports(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("ADVISOR_DATABASE_URL", raising=False)
    store.clear()
    yield
    store.clear()


def save(name="", notes="", **parameters):
    test = app(**parameters)
    test.text_input(key="report_name").set_value(name)
    test.text_area(key="report_notes").set_value(notes)
    button = next(one for one in test.button if one.key == "save_now")
    button.click()
    return run(test)


def reports(report=""):
    test = app()
    test.switch_page("advisor/ui/pages/reports.py")
    if report:
        test.query_params["report"] = report
    return run(test)


def test_empty_list_says_what_to_do():
    assert "No reports yet" in page_text(reports())


def test_save_list_open_and_delete():
    assert "Saved." in page_text(save("my 3090", "as is"))
    listed = reports()
    assert "my 3090" in page_text(listed)
    listed.button(key="open_1").click()
    opened = page_text(run(listed))
    assert "Offload to NVMe" in opened
    assert "Where the bytes are" in [one.value for one in listed.subheader]
    listed.button(key="really_1").click()
    assert "Deleted: my 3090." in page_text(run(listed))
    assert open_store().list() == ()


def test_without_a_name_the_title_is_used():
    save()
    assert open_store().list()[0].name.startswith("Llama-3.1-70B, Q4_K_M")


def test_search_narrows_the_list():
    save("one")
    save("two")
    test = reports()
    test.text_input(key="report_search").set_value("two")
    text = page_text(run(test))
    assert "1 of 2 reports" in text
    assert ">one<" not in text


def test_names_and_notes_are_never_markdown_or_html():
    image = "![x](http://evil.example/x.png)<img src=x onerror=alert(1)>"
    save(image, image)
    test = reports("1")
    assert "&lt;img src=x" in page_text(test)
    assert "<img" not in page_text(test)
    assert not any("evil.example" in one.value for one in test.markdown)


def test_open_in_advise_restores_every_input():
    save(model="Qwen3-8B", gpu="RTX 4090", ramspeed="61.5")
    inputs = open_store().load(1).document.inputs
    assert (inputs["model"], inputs["gpu"], inputs["ramspeed"]) == ("Qwen3-8B", "RTX 4090", "61.5")
    again = app(**inputs)
    assert "Please note" not in page_text(again)
    assert again.selectbox(key="gpu").value == "RTX 4090"


def test_notes_can_be_edited():
    save("mine", "before")
    test = reports("1")
    test.text_area(key="text_1").set_value("after")
    next(one for one in test.button if one.key == "keep_1").click()
    assert "Kept." in page_text(run(test))
    assert open_store().load(1).notes == "after"


def test_downloads_in_four_forms():
    save()
    labels = [one.label for one in reports("1").get("download_button")]
    assert labels == ["HTML", "CSV", "Markdown", "JSON"]


@pytest.mark.parametrize("number", ["99", "x", "-1", "\u0663"])
def test_unknown_number_is_a_sentence(number):
    assert "Not possible." in page_text(reports(number))


def test_store_that_cannot_be_written_is_a_sentence(monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(blocked))
    store.clear()
    assert "Not possible." in page_text(reports())
    assert "Not possible." in page_text(save("x"))
