"""Other ways to give a model: installed models, pasted text, upload."""

from collections.abc import Callable

import streamlit as st

from advisor.errors import AdvisorError
from advisor.formatting import memory
from advisor.model.installed import InstalledModel, Survey, survey
from advisor.ui.parts import markup, outcome
from advisor.ui.parts.code_block import copyable
from advisor.ui.question import current, models, uploads

REMEMBERED = 600
"""Seconds until this machine is searched again [s]."""
CUT = "head -c 32M model.gguf > header.gguf"
_LOOKED, _PLACE = "looked_for_models", "other_model"
"""Session key of a search of this machine, and the place of outcomes."""


def show() -> None:
    """Expander below the model control."""
    with st.expander("Other ways to give a model", key="other_ways"):
        installed, pasted, uploaded = st.tabs(["On this machine", "Paste", "Upload"])
        with installed:
            _installed()
        with pasted:
            _paste()
        with uploaded:
            _upload()
    outcome.show(_PLACE)


def choose(text: str) -> None:
    """Put a text into the model control (for callbacks only)."""
    outcome.forget()
    current.change(f"Model: {text}", model=text, format=None)


def take_paste(text: str) -> None:
    """Use a pasted config.json, or show its problem (for callbacks only)."""
    _take(lambda: uploads.paste(text))


def _take(keep: Callable[[], str]) -> None:
    try:
        choose(keep())
    except AdvisorError as error:
        outcome.keep(_PLACE, ("error", str(error)))


def _installed() -> None:
    if not models.local_files():
        text = f"Files of this machine are not read here ({models.SWITCH})."
        markup.show(markup.block("oa-soft", text))
        return
    if not st.session_state.get(_LOOKED):
        st.button(
            "Look for models", key="look_for_models", on_click=_look, width="stretch",
            icon=":material/search:",
            help="In the folders of Ollama, LM Studio, Hugging Face and llama.cpp.",
        )  # fmt: skip
        return
    survey = _survey()
    if survey.models:
        _offer(survey.models)
    else:
        where = "No model in the folders of Ollama, LM Studio, Hugging Face and llama.cpp."
        markup.show(markup.block("oa-soft", where))
    for note in survey.notes:
        markup.show(markup.block("oa-soft", note, "p"))
    st.button("Look again", key="look_again", on_click=_survey.clear, type="tertiary")


def _look() -> None:
    st.session_state[_LOOKED] = True


@st.cache_resource(max_entries=1, ttl=REMEMBERED, show_spinner="Looking into their folders")
def _survey() -> Survey:
    return survey()


def _offer(models: tuple[InstalledModel, ...]) -> None:
    words = {
        str(model.path): f"{model.name}, {memory(model.size)}, {model.kind}"
        for model in sorted(models, key=lambda model: (model.kind, model.name))
    }
    st.selectbox(
        "Installed", list(words), index=None, format_func=lambda path: words.get(path, path),
        key="installed_model", on_change=_choose_installed, placeholder="Choose one",
    )  # fmt: skip


def _choose_installed() -> None:
    if path := st.session_state["installed_model"]:
        choose(path)
        st.session_state["installed_model"] = None


def _paste() -> None:
    with st.form("paste_config", border=False):
        st.text_area(
            "config.json", key="pasted_config", height=120, max_chars=uploads.LONGEST_PASTE,
            placeholder='{"model_type": "llama", ...}',
        )  # fmt: skip
        st.form_submit_button("Use it", on_click=_use_paste, width="stretch", key="use_paste")


def _use_paste() -> None:
    take_paste(st.session_state["pasted_config"])


def _upload() -> None:
    st.file_uploader(
        "config.json, or the beginning of a GGUF file", type=["json", "gguf"],
        key="uploaded_model", on_change=_use_upload,
    )  # fmt: skip
    markup.show(markup.block("oa-soft", "An upload sends the whole file, so cut it first:"))
    copyable(CUT)


def _use_upload() -> None:
    file = st.session_state["uploaded_model"]
    if file is not None:
        _take(lambda: uploads.upload(file.name, file.getvalue()))
