"""Model in the sidebar: one control for all ways to name it, and its format."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from advisor.errors import AdvisorError, NetworkError, UnknownName
from advisor.ui.parts import markup, outcome
from advisor.ui.sidebar import model_choice, other_model_sources, uploads
from advisor.ui.sidebar.field_kinds import Pick
from advisor.ui.sidebar.fields import fields
from advisor.ui.sidebar.model_choice import Picked
from advisor.ui.sidebar.option_words import AS_STORED
from advisor.ui.sidebar.widgets import ask

_LAST, _WORDS = "picked", "stored_words"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Model to show.

    Attributes:
        picked: requested model, else the last valid one, for the other controls.
        problem: problem with the requested model; empty if there is none.
        close: models that may be meant, likeliest first.
    """

    picked: Picked
    problem: str = ""
    close: tuple[str, ...] = ()


def show() -> Wanted:
    """Model control, its problem, and other ways to give a model."""
    text = ask("model", on_change=_pasted_here)
    # A container of its own: messages that come and go do not close the expander below.
    with st.container(key="model_hints", gap="xsmall"):
        wanted = _wanted(text)
    other_model_sources.show()
    return wanted


def _pasted_here() -> None:
    """Handle another text in the model control, which may be a pasted config.json."""
    outcome.forget()
    text = st.session_state["model"]
    if text and text.strip().startswith("{"):
        st.session_state["model"] = None
        other_model_sources.take_paste(text)


def _wanted(text: str) -> Wanted:
    try:
        picked = model_choice.pick(text)
    except AdvisorError as error:
        _ways_out(text, error)
        last = st.session_state.get(_LAST) or model_choice.pick(fields()["model"].default_text)
        sentence = f"{_sentence(error)} No answer is shown for another model."
        close = error.close if isinstance(error, UnknownName) else ()
        return Wanted(picked=last, problem=sentence, close=close)
    st.session_state[_LAST] = picked
    _taken_as(picked)
    if uploads.is_given(text):
        markup.show(markup.block("oa-soft", "Kept for this session; no link can carry it."))
    return Wanted(picked=picked)


def _taken_as(picked: Picked) -> None:
    """Model that the text was taken for, and what a stand-in's sizes rest on."""
    resolved = picked.resolved
    if resolved.taken_as:
        markup.show(markup.block("oa-soft", f"Taken as {resolved.taken_as}."))
    if resolved.model.architecture.shape_uncertainty:
        markup.show(markup.block("oa-soft", " ".join(resolved.notes)))


def _sentence(error: AdvisorError) -> str:
    """Problem in a sentence; remedies are beside the control."""
    if isinstance(error, UnknownName) and error.kind == "model":
        return (
            f"No model is called {error.name[:80]!r}. Choose one of the list, or give its GGUF "
            "file, config.json or owner/name on Hugging Face."
        )
    return str(error)


def _ways_out(text: str, error: AdvisorError) -> None:
    """Buttons for a model that was not found."""
    if isinstance(error, NetworkError):
        markup.show(markup.block("oa-soft", "Hugging Face did not answer."))
        st.button(
            "Try again", on_click=model_choice.ask_again, args=(text,), icon=":material/refresh:"
        )
    if isinstance(error, UnknownName):
        markup.show(
            markup.block("oa-soft", "Not known." + (" Did you mean:" if error.close else ""))
        )
        suggestions(error.close, "sidebar")


def suggestions(names: Iterable[str], place: str) -> None:
    """Buttons for models that may be meant.

    Args:
        names: likeliest first.
        place: where they stand, to tell the buttons of two places apart.
    """
    for name in names:
        st.button(
            name, key=f"{place}_{name}", on_click=other_model_sources.choose, args=(name,),
            type="tertiary", icon=":material/subdirectory_arrow_right:",
        )  # fmt: skip


def form(picked: Picked) -> dict[str, Any]:
    """Format: any for a model of the catalogue; that of a file or repository comes first."""
    if not picked.own_format:
        return {"format": ask("format")}
    own = picked.resolved.model.format

    def words(name: str) -> str:
        """Words for an option; the first one names its format."""
        if name != AS_STORED:
            return name
        form_name = own.removesuffix("-hf")
        return f"as stored: {form_name}" if picked.resolved.stored else f"usual: {form_name}"

    _tell_browser(words(AS_STORED))
    field = fields()["repack"]
    options = (
        tuple(option for option in field.options if option != own)
        if isinstance(field, Pick)
        else ()
    )
    return {"repack": ask("repack", options=options, format_func=words)}


def _tell_browser(words: str) -> None:
    """Set the value of the control again, since the browser shows its old words otherwise."""
    state = st.session_state
    if state.get(_WORDS) != words and state.get("repack") == AS_STORED:
        state["repack"] = AS_STORED
    state[_WORDS] = words
