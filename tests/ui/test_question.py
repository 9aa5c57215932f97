"""The question: every input within reach, state in the address, what was understood, and undo."""

import re
from urllib.parse import parse_qsl, urlsplit

import pytest
from ui_app import app, page_styles, page_text, press, run, shared_link, unfolded

from advisor.catalog.inputs import INPUTS
from advisor.request.request import Request
from advisor.request.texts import from_address, to_address
from advisor.ui.find.page import FILTERS
from advisor.ui.question import current, presets, row

OF_THE_ROW = {"machine", "model"}
PC = "gaming PC with a 3060 12GB and 32 GB RAM"


@pytest.fixture(autouse=True)
def _own_data(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))


def request_of(test) -> Request:
    return test.session_state["request"]


def stated(test) -> dict[str, str]:
    return {
        key: text if isinstance(text, str) else text[0] for key, text in test.query_params.items()
    }


def drawer(test, group):
    unfolded(test, "more_settings")
    test.pills(key="settings_group").set_value(group)
    return run(test)


def test_every_input_of_the_registry_is_within_reach():
    drawn = {name for names in row.SETTINGS.values() for name in names}
    beside = {"contexts", "known", "also"}  # of the page Machines, and below the answer
    assert {entry.name for entry in INPUTS.values()} == drawn | set(FILTERS) | OF_THE_ROW | beside


@pytest.mark.parametrize("group", row.SETTINGS)
def test_every_group_of_the_drawer_opens(group):
    test = drawer(app(), group)
    keys = {each.key for kind in ("text_input", "selectbox", "toggle") for each in test.get(kind)}
    assert {f"in_{name}" for name in row.SETTINGS[group]} <= keys


def test_extremes_of_a_group_are_answered_or_refused_in_words():
    bounds = {
        entry.name: (entry.low, entry.high) for entry in INPUTS.values() if entry.high is not None
    }
    for group, names in row.SETTINGS.items():
        for end, word in enumerate(("least", "most")):
            stated = {name: f"{bounds[name][end]:g}" for name in names if name in bounds}
            text = page_text(app(machine=PC, model="Qwen3-8B", **stated))
            assert re.search("id='verdict'|oa-notice oa-error|oa-empty", text), (group, word)
            assert "failure" not in text, (group, word)
            assert not re.search(r"\bnan\b|\binf\b|>None<", text), (group, word)


def assumed(test):
    """Words of the chips that open."""
    return re.findall(r"oa-assumed' data-press='\w+'>([^<]*)<", page_text(test))


def test_the_address_is_short_and_reopens_the_same_page():
    first = app()
    texts = stated(first)
    assert texts == to_address(request_of(first))
    assert texts.keys() == {"model", "machine", "v"}  # defaults are those of the month
    again = app(**texts)
    assert request_of(again) == request_of(first)
    assert page_text(again) == page_text(first)


def test_who_visits_first_sees_an_example_and_is_told_so():
    test = app()
    assert test.text_input(key="in_machine").value == PC
    assert ">Example<" in page_text(test)
    test.text_input(key="in_machine").set_value("2x RTX 3090 with 128 GB RAM")
    assert ">Example<" not in page_text(run(test))


def test_what_is_typed_is_understood_and_the_rest_is_marked_as_assumed():
    text = page_text(app(machine=PC, model="Gemma-3-27B"))
    assert "</b> RTX 3060 12GB</span>" in text
    assert "</b> 32 GB RAM</span>" in text
    test = app(machine=PC)
    chips = assumed(test)
    assert re.fullmatch(r"assumed: DDR5, \d+ GB/s", chips[0])
    assert any("drive" in words for words in chips)


def test_an_assumption_opens_the_drawer_where_it_is_set_and_which_stays_open():
    test = app(machine=PC)
    slow = app(machine=PC)
    press(slow, "open_machine")
    assert slow.pills(key="settings_group").value == row.MACHINE
    assert slow.text_input(key="in_ram_gbs").placeholder.endswith(", assumed")
    unfolded(slow, "more_settings")
    slow.segmented_control(key="memory_kind").set_value("DDR4")
    run(slow)
    assert request_of(slow).cpu == "Desktop DDR4-3200 dual-channel (typical)"
    assert page_text(slow) != page_text(test)
    slow.text_input(key="in_ram_gbs").set_value("61.5")
    text = page_text(run(slow))
    assert request_of(slow).ram_gbs == 61.5
    assert re.search(r"RAM 6[12][.\d]* GB/s, given", text)


@pytest.mark.parametrize("name", [name for name in presets.MACHINES if name != presets.HERE])
def test_every_preset_is_answered(name):
    test = app(model="Qwen3-8B")
    test.pills(key="preset_machine").set_value(name)
    run(test)
    wanted = presets.MACHINES[name]
    assert {key: getattr(request_of(test), key) for key in wanted} == wanted
    assert "oa-verdict" in page_text(test)
    assert test.pills(key="preset_machine").value == name


def test_a_use_changes_what_it_says_and_a_chat_is_the_default():
    test = app(model="Qwen3-8B", machine=PC)
    unfolded(test, "use")
    assert test.pills(key="preset_use").value == "Chat"
    test.pills(key="preset_use").set_value("Coding helper")
    run(test)
    assert request_of(test).context == 32_768
    assert request_of(test).replies_per_day == 100
    test.pills(key="preset_use").set_value("Chat")
    run(test)
    assert request_of(test).context == Request().context
    assert request_of(test).cached_share is None


def test_a_change_can_be_undone_and_so_can_the_one_before():
    test = app(model="Qwen3-8B", machine=PC)
    before = request_of(test)
    test.selectbox(key="in_model").select("Qwen3-32B")
    run(test)
    test.text_input(key="in_machine").set_value("RTX 4090 with 64 GB RAM")
    run(test)
    assert request_of(test).model == "Qwen3-32B"
    test.button(key="undo").click()
    run(test)
    assert (request_of(test).model, request_of(test).machine) == ("Qwen3-32B", PC)
    test.button(key="undo").click()
    assert request_of(run(test)) == before
    assert "undo" not in {button.key for button in test.button}


def test_another_address_is_obeyed_as_after_the_browsers_back():
    test = app(model="Qwen3-8B", machine=PC)
    before = stated(test)
    test.selectbox(key="in_model").select("Qwen3-32B")
    run(test)
    for key, text in before.items():
        test.query_params[key] = text
    assert request_of(run(test)).model == "Qwen3-8B"


def test_what_cannot_be_read_stands_under_its_input_and_changes_nothing():
    test = drawer(app(machine=PC), "Request")
    before = request_of(test)
    test.text_input(key="in_prompt").set_value("9 parsecs")
    text = page_text(run(test))
    assert "is no number of tokens; give it as 8192 or 128k" in text
    assert test.text_input(key="in_prompt").value == "9 parsecs"
    assert request_of(test) == before
    test.text_input(key="in_prompt").set_value("4k")
    assert "parsecs" not in page_text(run(test))
    assert request_of(test).prompt == 4096


def test_sizes_are_typed_with_their_units():
    test = drawer(app(machine=PC), row.MACHINE)
    test.text_input(key="in_ram_gb").set_value("0.5 TB")
    run(test)
    test.text_input(key="in_disk_gbs").set_value("3500MB/s")
    run(test)
    assert (request_of(test).ram_gb, request_of(test).disk_gbs) == (512, 3.5)


def test_a_currency_is_taken_with_its_rate():
    test = drawer(app(machine=PC), "Money")
    test.selectbox(key="in_currency").select("VND")
    text = page_text(run(test))
    assert "Type what one VND is worth in US dollars" in text
    assert request_of(test).currency == "USD"
    test.selectbox(key="in_currency").select("EUR")
    text = page_text(run(test))
    assert (request_of(test).currency, request_of(test).usd_rate) == ("EUR", None)
    assert "the rate of 2026-07-17" in text
    test.text_input(key="in_usd_rate").set_value("1.25")
    run(test)
    assert (request_of(test).currency, request_of(test).usd_rate) == ("EUR", 1.25)
    assert test.text_input(key="in_usd_per_hour_of_time").label == "Worth of an hour (\u20ac)"
    test.selectbox(key="in_currency").select("USD")
    run(test)
    assert (request_of(test).currency, request_of(test).usd_rate) == ("USD", None)


def test_changed_settings_are_counted_and_can_be_reset():
    test = app(machine=PC, usd_per_kwh="0.3", kv_type="q8_0")
    assert ": 2 changed" in page_styles(test)
    drawer(test, "Money").button(key="reset_settings").click()
    run(test)
    assert request_of(test).usd_per_kwh == Request().usd_per_kwh
    assert "changed" not in page_styles(test)


def test_former_links_ask_what_they_asked():
    record = {
        "machine": "Another machine", "model": "Qwen3-8B", "format": "Q8_0", "context": "16k",
        "users": "2", "gpu": "RTX 4090", "ram": "48", "ramspeed": "61.5", "kv": "q8_0",
        "hour": "12",
    }  # fmt: skip
    test = app(**record)
    request = request_of(test)
    assert (request.gpu, request.ram_gb, request.ram_gbs) == ("RTX 4090", 48, 61.5)
    assert (request.context, request.users, request.kv_type) == (16_384, 2, "q8_0")
    assert request.usd_per_hour_of_time == 12
    assert "Please note" not in page_text(test)


def test_the_link_that_is_shared_asks_the_same():
    test = app(model="Qwen3-8B", gpu="RTX 4090", ram_gb="48", reading_tps="9")
    address = shared_link(test)
    opened = from_address(dict(parse_qsl(urlsplit(address).query)))
    assert opened.problems == ()
    assert opened.request == request_of(test)


def test_wrong_values_of_a_link_are_said_until_something_changes():
    image = "![x](http://evil.example/x.png)"
    test = app(gpu="RTX 4090", ram_gb="abc", users="-3", unknown="1", kv_type=image)
    text = page_text(test)
    assert text.count("Please note.") == 3
    assert "--users" not in text
    assert image not in "".join(markdown.value for markdown in test.markdown)
    test.selectbox(key="in_model").select("Qwen3-8B")
    assert "Please note." not in page_text(run(test))


def test_pages_keep_what_was_asked_and_the_address_says_it():
    for page in ("find", "run", "accuracy"):
        test = app(page, model="Qwen3-8B", machine=PC)
        assert stated(test)["machine"] == PC
        assert request_of(test).model == "Qwen3-8B"


def test_the_address_of_a_page_keeps_what_the_page_itself_writes_there():
    test = app("reports", model="Qwen3-8B", report="12")
    assert stated(test)["report"] == "12"
    assert stated(test)["model"] == "Qwen3-8B"


def test_parts_that_another_machine_leaves_open_are_those_of_a_machine():
    plain = Request()
    assert all(hasattr(plain, name) for name in current.MACHINE)
    assert "model" not in current.MACHINE


def test_a_former_key_beside_a_machine_in_words_keeps_both() -> None:
    opened = from_address({"machine": "RTX 4090", "model": "Qwen3-32B", "ram": "32"})
    assert (opened.request.machine, opened.request.ram_gb) == ("RTX 4090", 32)
    wrong = from_address({"machine": "RTX 4090", "ram": "-5"})
    assert wrong.request.machine == "RTX 4090"
    assert "is -5" in " ".join(wrong.problems)


@pytest.mark.parametrize("page", ["", "run", "find"])
@pytest.mark.parametrize(
    "question",
    [
        {"draft": "nothing", "model": "DeepSeek-R1", "gpu": "RTX 3090"},
        {"machine": "nothing of the kind"},
        {"gpu": "nothing of the kind"},
        {"build": "x" * 400},
        {"session": "swe-bench", "turns": "3", "prompt": "10000000"},
        {"api_usd_in": "3"},
    ],
)
def test_every_page_says_what_it_cannot_answer(page, question):
    """In words, and never as a fault of the program: what is drawn first is drawn once."""
    text = page_text(app(page, **question))
    assert "this is a fault of the program" not in text


def test_the_last_answer_stays_pale_where_the_next_question_has_none():
    test = app(machine=PC, model="Qwen3-8B")
    assert "oa-pale" not in page_text(test)
    test.text_input(key="in_machine").set_value("toaster nine thousand")
    text = page_text(run(test))
    assert "I know no" in text or "There is no answer" in text
    pale = text[text.index("class='oa-pale'") :]
    assert "tokens a second" in pale
    assert text.count("id='verdict'") == 1
    test.text_input(key="in_machine").set_value("3090 with 64 GB")
    assert "oa-pale" not in page_text(run(test))


def use_of(model):
    test = app(machine=PC, model=model)
    unfolded(test, "use")
    return run(test)


def test_thinking_is_off_short_or_long_in_use():
    test = use_of("Qwen3.5-27B")
    pills = test.pills(key="thinking_pills")
    assert pills.options == ["Off", "Short", "Long"]
    assert pills.value is None
    pills.set_value("off")
    run(test)
    assert request_of(test).think == "off"
    test.pills(key="thinking_pills").set_value(None)
    run(test)
    assert request_of(test).think is None


def test_what_always_thinks_cannot_be_told_to_stop():
    assert "Off" not in use_of("gpt-oss-20b").pills(key="thinking_pills").options


def test_what_does_not_think_has_no_pills():
    test = use_of("Llama-3.1-8B")
    assert "thinking_pills" not in {pills.key for pills in test.pills}


@pytest.mark.parametrize(
    ("machine", "model", "words"),
    [
        ("qwen3-8b", "rtx 4090", "Machine and model are the other way round"),
        ("llama 3.3 70b", "Qwen3-8B", "is a model, not a machine. Name what it would run on"),
        (PC, "rtx 4090", "is a GPU (RTX 4090), not a model. It belongs to the machine"),
    ],
)
def test_a_name_in_the_place_of_another_is_told_without_options(machine, model, words) -> None:
    text = page_text(app(machine=machine, model=model))
    assert words in text
    assert "--m" not in text
    assert "--gpu" not in text
