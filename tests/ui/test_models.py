"""Any model on the Advise page: name, file, paste, upload, repository; and errors."""

import json
from pathlib import Path

import llama_config
import pytest
from gguf import GGMLQuantizationType
from gguf_files import LLAMA_KEYS, llama_tensors, write
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.testing.v1.element_tree import Selectbox
from ui_app import app, copied, page_text, run, shared_link, tab, unfolded

from advisor.model import hub, installed, resolve
from advisor.model.config.read import describe
from advisor.model.installed import InstalledModel, Survey
from advisor.reports.store.store import open_store
from advisor.ui.parts import session
from advisor.ui.question import inputs, models

SAMPLES = Path(__file__).parents[1] / "samples" / "configs"
LLAMA = llama_config.LLAMA | {"_name_or_path": "somebody/My-Llama-8B"}
IMAGE = "![x](http://evil.example/x.png)<img src=http://evil.example/y.png>"


@pytest.fixture(autouse=True)
def _alone(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "data"))
    session.store.clear()  # opened in another test's folder
    monkeypatch.setenv("ADVISOR_OFFLINE", "1")
    monkeypatch.setenv("ADVISOR_LOCAL_FILES", "on")
    monkeypatch.setattr(Selectbox, "_widget_state", property(_typed))


def _typed(box):
    """As a browser sends it; AppTest knows the options of a list alone, not text beside them."""
    state = WidgetState(id=box.id)
    if box.value is not None:
        state.string_value = box.format_func(box.value)
    return state


@pytest.fixture
def gguf_file(tmp_path):
    tensors = llama_tensors(GGMLQuantizationType.Q4_K)
    return write(tmp_path / "small.gguf", "llama", LLAMA_KEYS, tensors)


def sample(name):
    return json.loads((SAMPLES / f"{name}.json").read_text())["config"]


def paste(test, text):
    unfolded(test, "more_settings")
    test.text_area(key="pasted_config").set_value(text)
    test.button(key="use_paste").click()
    return run(test)


def title(test):
    """Title of the answer, as a report of it would be called."""
    return unfolded(test, "save_report").text_input(key="report_name").placeholder


def link_button(test):
    return next(
        element.proto.popover
        for element in test.get("popover")
        if element.proto.popover.label == "Share"
    )


def details(test):
    """Sources of the answer, with the parts of the model."""
    return page_text(tab(test, "Sources"))


def test_a_name_of_the_catalogue_shows_its_match():
    text = details(app(model="DeepSeek-R1", gpu="RTX 3090", ram_gb="512"))
    for words in ("routed experts", "shared experts", "latent attention", "8 of 256 in 58 layers"):
        assert words in text
    assert "href='https://" in text


def test_a_name_in_another_spelling_is_found():
    test = app(model="llama 3.1 8b")
    assert "Llama-3.1-8B, Q4_K_M" in title(test)
    assert "Please note." not in page_text(test)


def test_an_unknown_name_offers_close_ones_and_answers_for_no_other_model():
    test = app(model="Lama 3.1 8")
    text = page_text(test)
    assert "I know no model called \u201cLama 3.1 8\u201d" in text
    assert "There is no answer until this is clear." in text
    test.button(key="meant_Llama-3.1-8B").click()
    run(test)
    assert test.selectbox(key="in_model").value == "Llama-3.1-8B"
    assert "Llama-3.1-8B, Q4_K_M" in title(test)
    assert "Please note." not in page_text(test)


def test_the_last_model_that_was_understood_is_not_answered_for():
    test = app(model="Qwen3-8B")
    test.selectbox(key="in_model").set_value("no such thing")
    assert "There is no answer until this is clear." in page_text(run(test))
    assert "Qwen3-8B" not in page_text(test)


def test_a_gguf_file_comes_in_its_own_format_and_others_can_be_tried(gguf_file):
    test = app(model=str(gguf_file))
    assert "Small Llama, Q4_K_M" in title(test)
    assert "as the file has them, tensor by tensor" in details(test)
    unfolded(test, "more_settings").selectbox(key="in_format").select("Q8_0")
    assert "Small Llama, Q8_0" in title(run(test))
    assert "it is stored as Q4_K_M" in details(test)
    link = shared_link(test)
    assert "small.gguf" in link
    assert "format=Q8_0" in link
    assert not link_button(test).disabled


def test_a_file_that_was_replaced_is_read_again(gguf_file):
    test = app(model=str(gguf_file))
    keys = LLAMA_KEYS | {"general.name": "Another Llama"}
    write(gguf_file, "llama", keys, llama_tensors(GGMLQuantizationType.Q8_0))
    assert "Another Llama" in title(run(test))


def test_a_config_and_its_folder(tmp_path):
    folder = tmp_path / "My-Gemma"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(sample("Gemma-3-27B")))
    for path in (folder, folder / "config.json"):
        test = app(model=str(path))
        assert "gemma3 model" in title(test)
        assert "gemma3 model, BF16" in title(test)
        # 62 layers, every sixth with full attention: 10.
        text = details(test)
        assert "with window of 1,024</abbr></td><td class='oa-right'>52" in text
        assert "with full attention</abbr></td><td class='oa-right'>10" in text


def test_a_paste_is_used_and_cannot_be_linked():
    test = paste(app(model="Qwen3-8B"), json.dumps(LLAMA))
    assert test.selectbox(key="in_model").value == "pasted: My-Llama-8B"
    assert "My-Llama-8B" in title(test)
    text = details(test)
    # 8,030,261,248 weights; a token keeps 2 x 8 heads x 128 values x 32 layers x 2 bytes.
    assert "parameters</abbr></td><td class='oa-right'>8.03B" in text
    assert "for each token</abbr></td><td class='oa-right'>128 KB" in text
    assert link_button(test).disabled
    assert "pasted" in link_button(test).help
    assert not any(text.startswith("http") for text in copied(test))


def test_the_command_of_a_report_names_a_file():
    test = paste(app(), json.dumps(LLAMA))
    unfolded(test, "save_report").button(key="save_now").click()
    run(test)
    (head,) = open_store().list()
    document = open_store().load(head.id).document
    assert "--model config.json" in document.command
    assert document.link == ""


def test_two_pastes_of_one_name_are_distinguished():
    test = paste(app(), json.dumps(LLAMA))
    paste(test, json.dumps(LLAMA | {"num_hidden_layers": 16}))
    assert "layers</abbr></td><td class='oa-right'>16" in details(test)


def test_a_paste_into_the_field_for_names_is_read_as_a_paste():
    test = app()
    test.selectbox(key="in_model").set_value(json.dumps(LLAMA))
    assert "My-Llama-8B" in title(run(test))
    assert test.selectbox(key="in_model").value == "pasted: My-Llama-8B"


def test_a_link_to_a_paste_says_that_no_link_can_carry_it():
    text = page_text(app(model="pasted: My-Llama-8B"))
    assert "A link cannot carry what was pasted" in text
    assert "There is no answer until this is clear." in text


@pytest.mark.parametrize("text", ["", "no config", "{", "[]", '{"model_type": "nonsense"}', IMAGE])
def test_a_paste_that_is_no_config_changes_nothing(text):
    test = paste(app(model="Qwen3-8B"), text)
    assert "Not possible." in page_text(test)
    assert "Qwen3-8B, Q4_K_M" in title(test)
    assert "Not possible." in page_text(run(test))  # another run takes nothing away
    test.selectbox(key="in_model").select("Qwen3-32B")
    assert "Not possible." not in page_text(run(test))


def test_a_header_is_uploaded(gguf_file):
    test = unfolded(app(), "more_settings")
    assert "head -c 32M model.gguf > header.gguf" in copied(test)
    header = gguf_file.read_bytes()[:4096]
    test.file_uploader(key="uploaded_model").upload("header.gguf", header)
    assert "Small Llama, Q4_K_M" in title(run(test))
    assert test.selectbox(key="in_model").value == "uploaded: header.gguf"
    assert link_button(test).disabled


def test_an_upload_that_ends_too_soon_says_how_much_is_needed(gguf_file):
    test = unfolded(app(), "more_settings")
    test.file_uploader(key="uploaded_model").upload("header.gguf", gguf_file.read_bytes()[:200])
    assert "the header is longer than the part given" in page_text(run(test))


def test_a_config_is_uploaded():
    test = unfolded(app(), "more_settings")
    test.file_uploader(key="uploaded_model").upload("config.json", json.dumps(LLAMA).encode())
    assert "My-Llama-8B, BF16" in title(run(test))


def test_hostile_text_is_shown_as_text(gguf_file):
    for text in (IMAGE, "../../etc/passwd\0.json", "//evil.example/share/a.gguf", "x" * 5000):
        test = app(model=text)
        assert "There is no answer until this is clear." in page_text(test)
        assert "<img" not in page_text(test)
        assert "evil.example" not in "".join(
            quantity.value for quantity in (*test.markdown, *test.caption)
        )
    named = write(gguf_file, "llama", LLAMA_KEYS | {"general.name": IMAGE}, llama_tensors())
    text = details(app(model=str(named)))
    assert "&lt;img src=" in text
    assert "<img" not in text


@pytest.mark.parametrize("path", ["//evil/share/a.gguf", r"\\evil\share\a.gguf", "/\\evil/a.gguf"])
def test_files_of_other_machines_are_not_even_offered(path, monkeypatch):
    monkeypatch.setattr(models, "Path", lambda text: pytest.fail("was looked at"))
    assert "lead to other machines" in page_text(app(model=path))


def test_a_repository_without_the_network_can_be_tried_again(monkeypatch):
    test = app(model="nobody/nothing")
    text = page_text(test)
    assert "Network requests are switched off" in text
    assert "There is no answer until this is clear." in text
    described = describe(json.dumps(LLAMA), "nothing")
    monkeypatch.setattr(hub, "describe_repository", lambda identity: described)
    assert "switched off" in page_text(run(test))  # the answer is remembered
    next(button for button in test.button if button.label == "Try again").click()
    run(test)
    assert "nothing, BF16" in title(test)
    assert "model=nobody%2Fnothing" in shared_link(test)


def test_local_files_switched_off(gguf_file, monkeypatch):
    monkeypatch.setenv("ADVISOR_LOCAL_FILES", "off")
    monkeypatch.setattr(resolve, "from_file", lambda *_: pytest.fail("was read"))
    monkeypatch.setattr(installed, "survey", lambda *_: pytest.fail("was searched"))
    test = app(model=str(gguf_file))
    text = page_text(test)
    assert "files of this computer are not read here" in text
    assert "There is no answer until this is clear." in text
    assert "look_for_models" not in {button.key for button in test.button}


def test_installed_models_are_searched_on_request_and_offered_by_name(gguf_file, monkeypatch):
    model = InstalledModel(name="small:1m", kind="Ollama", path=gguf_file, size=2**30)
    request = []

    def survey():
        request.append(1)
        return Survey(models=(model,), notes=("One folder was skipped.",))

    monkeypatch.setattr(inputs, "survey", survey)
    inputs._survey.clear()
    test = unfolded(app(), "more_settings")
    assert request == []
    test.button(key="look_for_models").click()
    run(test)
    assert request == [1]
    assert "One folder was skipped." in page_text(test)
    offered = test.selectbox(key="installed_model")
    assert offered.options == ["small:1m, 1.0 GB, Ollama"]
    offered.select_index(0)
    assert "Small Llama" in title(run(test))
    assert test.selectbox(key="in_model").value == str(gguf_file)
    inputs._survey.clear()


def test_of_an_upload_its_header_alone_is_kept(gguf_file, monkeypatch):
    held = []
    drop = MemoryUploadedFileManager.remove_file

    def dropped(manager, session_id, file_id):
        drop(manager, session_id, file_id)
        held.append(manager.get_files(session_id, [file_id]))

    monkeypatch.setattr(MemoryUploadedFileManager, "remove_file", dropped)
    test = unfolded(app(), "more_settings")
    test.file_uploader(key="uploaded_model").upload("small.gguf", gguf_file.read_bytes())
    test = run(test)
    assert "Small Llama" in title(test)
    assert held == [[]]
    assert test.session_state["uploaded_model"].getvalue() == b""
    assert "Small Llama" in title(run(test))  # also at later runs, which draw the widget again
