"""Saving on the Advise page; the Reports page."""

import html
from dataclasses import replace

import pytest
from saved_reports import RESULT, sample
from ui_app import app, page_text, run, unfolded

from advisor.errors import InputError
from advisor.reports.store.store import open_store
from advisor.ui.accuracy import points
from advisor.ui.parts.session import base, store


@pytest.fixture(autouse=True)
def _own_reports(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("ADVISOR_DATABASE_URL", raising=False)
    store.clear()
    yield
    store.clear()


def save(name="", notes="", **parameters):
    usual = {"model": "Llama-3.1-70B", "gpu": "RTX 3090", "ram_gb": "64"}
    test = unfolded(app(**{**usual, **parameters}), "save_report")
    test.text_input(key="report_name").set_value(name)
    test.text_area(key="report_notes").set_value(notes)
    button = next(button for button in test.button if button.key == "save_now")
    button.click()
    return run(test)


def keep(name, notes=""):
    """A report in the store, as if it had been saved before."""
    open_store().save(sample(), name, notes)


def reports(report="", tab=""):
    return app(
        "reports", **{"report": report} if report else {}, **{"report_tab": tab} if tab else {}
    )


def noted(report):
    """A report at the tab of its notes and measurements."""
    return reports(report, "Notes and measurements")


def test_empty_list_says_what_to_do():
    assert "No reports yet" in page_text(reports())


def test_save_list_open_and_delete():
    saving = save("my 3090", "as is")
    assert "Saved under Reports" in page_text(saving)
    (link,) = [own for own in saving.get("page_link") if own.proto.label == "Open the report"]
    assert (link.proto.page, link.proto.query_string) == ("reports", "report=1")
    assert "Saved under Reports" in page_text(run(saving))
    # The name tells which comparison it was, once another stands on the page.
    saving.text_input(key="in_machine").set_value("RTX 3090 with 64 GB RAM")
    assert "under Reports as my 3090." in page_text(run(saving))
    saving.selectbox(key="in_model").select("Qwen3-32B")
    assert "Saved under Reports" not in page_text(run(saving))
    listed = reports()
    assert "my 3090" in page_text(listed)
    listed.button(key="open_1").click()
    opened = page_text(run(listed))
    assert "Offload to NVMe" in opened
    behind = reports("1", "Where the time goes")
    assert "Where the bytes are" in [quantity.value for quantity in behind.subheader]
    listed.button(key="delete_1").click()
    assert "Deleted: my 3090." in page_text(run(listed))
    assert open_store().list() == ()
    listed.button(key="undo_delete").click()
    assert "Restored: my 3090." in page_text(run(listed))
    assert [head.name for head in open_store().list()] == ["my 3090"]


def test_without_a_name_the_title_is_used():
    save()
    assert open_store().list()[0].name.startswith("Llama-3.1-70B, Q4_K_M")


def test_search_narrows_the_list():
    keep("one")
    keep("two")
    test = reports()
    test.text_input(key="report_search").set_value("two")
    text = page_text(run(test))
    assert "1 of 2 reports" in text
    assert ">one<" not in text


def test_names_and_notes_are_never_markdown_or_html():
    image = "![x](http://evil.example/x.png)<img src=x onerror=alert(1)>"
    keep(image, image)
    test = reports("1")
    assert "&lt;img src=x" in page_text(test)
    assert "<img" not in page_text(test)
    assert not any("evil.example" in markdown.value for markdown in test.markdown)


def test_open_in_advise_restores_every_input():
    save(model="Qwen3-8B", gpu="RTX 4090", ram_gbs="61.5")
    inputs = open_store().load(1).document.inputs
    assert (inputs["model"], inputs["gpu"], inputs["ram_gbs"]) == ("Qwen3-8B", "RTX 4090", "61.5")
    again = app(**inputs)
    assert "Please note" not in page_text(again)
    assert again.session_state["request"].gpu == "RTX 4090"


def test_notes_can_be_edited():
    keep("mine", "before")
    test = noted("1")
    test.text_area(key="text_1").set_value("after")
    next(button for button in test.button if button.key == "keep_1").click()
    assert "Saved." in page_text(run(test))
    assert open_store().load(1).notes == "after"
    assert "Saved." in page_text(run(test))


def test_downloads_in_six_forms():
    keep("mine")
    labels = [entry.label for entry in reports("1").get("download_button")]
    assert labels == ["HTML", "PDF", "PDF with appendix", "CSV", "Markdown", "JSON"]


def test_two_tabs_that_edit_one_report_lose_nothing():
    keep("mine", "before")
    first = noted("1")
    second = noted("1")
    first.text_area(key="text_1").set_value("theirs")
    saved(first)
    second.text_input(key="name_1").set_value("another name")
    assert "Saved." in page_text(saved(second))
    head = open_store().load(1)
    assert (head.name, head.notes) == ("another name", "theirs")
    first.text_input(key="name_1").set_value("a third name")
    told = page_text(saved(first))
    assert "Somebody else changed the name meanwhile" in told
    assert "a third name" in told
    assert open_store().load(1).name == "another name"


def saved(test):
    """The page after its changes were saved."""
    next(button for button in test.button if button.key == "keep_1").click()
    return run(test)


def test_reports_are_compared_side_by_side():
    save("one", gpu="RTX 3090", machine="Another machine")
    save("two", gpu="RTX 4090", machine="Another machine")
    test = reports()
    for number in (1, 2):
        test.checkbox(key=f"choose_{number}").check()
        run(test)
    test.button(key="compare_chosen").click()
    text = page_text(run(test))
    assert "Inputs that differ" in [own.value for own in test.subheader]
    assert "RTX 4090" in text
    # Each is named once, and a letter from there on.
    assert text.count(">A</b> one") == text.count(">B</b> two") == 1
    assert "<th class=''>A</th><th class=''>B</th>" in text
    test.button(key="compare_again").click()
    assert "today's answer is the same" in html.unescape(page_text(run(test)))
    assert "today's answer is the same" in html.unescape(page_text(run(test)))


def test_a_report_of_the_command_line_is_recomputed_by_it():
    command = "python -m advisor advise --model Llama-3.1-8B --gpu 'RTX 3090' --ram-gb 64"
    store().save(replace(sample(), inputs={}, command=command), "of the command line")
    test = reports("1")
    test.button(key="compare_again").click()
    text = html.unescape(page_text(run(test)))
    assert "Llama" in text
    assert "Changed answers" in [own.value.strip("*") for own in test.markdown]
    store().save(replace(sample(), inputs={}, command="rm -rf x"), "of nothing")
    test = reports("2")
    test.button(key="compare_again").click()
    assert "keeps no command that could be run again" in html.unescape(page_text(run(test)))


def test_a_report_of_a_server_file_is_not_recomputed_for_visitors(monkeypatch):
    monkeypatch.setenv("ADVISOR_LOCAL_FILES", "off")
    command = "python -m advisor advise --model=/srv/secret/model.gguf"
    store().save(replace(sample(), inputs={}, command=command), "of a file")
    test = reports("1")
    test.button(key="compare_again").click()
    assert "which this server may not read" in html.unescape(page_text(run(test)))


def test_a_measured_speed_is_judged():
    keep("mine")
    test = noted("1")
    test.number_input(key="result_speed_1").set_value(5000.0)
    next(button for button in test.button if button.key == "attach_1").click()
    text = page_text(run(test))
    assert "5,000 tokens/s" in text
    assert "Attached; it is shown" in text
    (result,) = open_store().load(1).results
    assert (result.decode_tps, result.source) == (5000.0, "typed")


def test_a_result_without_speed_or_file_is_refused():
    keep("mine")
    test = noted("1")
    next(button for button in test.button if button.key == "attach_1").click()
    assert "Type a speed or choose a file." in page_text(run(test))
    assert open_store().load(1).results == ()


def test_a_shared_report_opens_by_its_link_alone():
    keep("mine")
    secret = open_store().share(1, public=True).share
    test = app("reports", shared=secret)
    text = page_text(test)
    assert "mine" in text
    assert not [button for button in test.button if button.key == "delete_1"]
    test.query_params["shared"] = "wrong"
    assert "This link shows no report" in page_text(run(test))


def test_filters_and_pages():
    store = open_store()
    for place in range(25):
        store.save(sample(), f"report {place}", tags=["even"] if place % 2 == 0 else [])
    test = reports()
    assert "report 24" in page_text(test)
    assert "report 4<" not in page_text(test)
    test.selectbox(key="report_tag").set_value("even")
    assert "13 of 25 reports" in page_text(run(test))


@pytest.mark.parametrize("url", ["advisor.example", "ftp://x/", "http://"])
def test_a_public_address_that_is_none_is_reported(monkeypatch, url):
    monkeypatch.setenv("ADVISOR_PUBLIC_URL", url)
    with pytest.raises(InputError, match="ADVISOR_PUBLIC_URL"):
        base()


def test_links_use_the_public_address(monkeypatch):
    monkeypatch.setenv("ADVISOR_PUBLIC_URL", "https://advisor.example/tools")
    monkeypatch.setenv("ADVISOR_PUBLIC", "off")  # a team whose people are trusted
    save("mine")
    assert open_store().load(1).document.link.startswith("https://advisor.example/tools/?")


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


def test_a_measured_speed_is_a_point_of_ones_own_on_the_accuracy_page(monkeypatch):
    number = open_store().save(sample(), "mine").id
    open_store().attach(number, RESULT)
    (point,) = points.points()
    assert (point.measured, point.predicted, point.regime) == (3.1, 2.93, points.OWN)
    assert point.held
    assert f"report {number}" in point.source
    # ln(3.42 / 2.41) / 2
    half = (point.below + point.above) / 2
    assert half == pytest.approx(0.175, abs=0.0005)


def test_results_that_cannot_be_read_do_not_hide_the_accuracy_page(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "file"))
    store.clear()
    assert points.points() == ()


def logged_in(subject, report=""):
    """The Reports page where login is set up; `subject` is empty for a visitor without one."""
    test = app()
    test.secrets["auth"] = {"client_id": "x"}
    if subject:
        test.user = {"is_logged_in": True, "iss": "https://issuer", "sub": subject, "name": "Kim"}
    test.switch_page("advisor/ui/pages/reports.py")
    if report:
        test.query_params["report"] = report
    return run(test)


def test_with_login_each_sees_their_own_reports():
    mine = open_store().of("https://issuer#me").save(sample(), "mine of me")
    open_store().of("https://issuer#you").save(sample(), "yours of you")
    text = page_text(logged_in("me"))
    assert "mine of me" in text
    assert "yours of you" not in text
    assert "No report has the number" in page_text(logged_in("you", str(mine.id)))


def test_without_a_login_nothing_is_shown_but_the_way_in():
    open_store().save(sample(), "a report")
    test = logged_in("")
    assert "a report" not in page_text(test)
    assert [button.label for button in test.button if button.key == "log_in"] == ["Log in"]
