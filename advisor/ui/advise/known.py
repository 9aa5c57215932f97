"""The field "Know its speed?": a speed of the machine is typed, and teaches the answer."""

from collections.abc import Callable, Iterator
from functools import partial

import streamlit as st
from markupsafe import Markup

from advisor.advice.advise import Answer
from advisor.errors import AdvisorError
from advisor.request.known import QuestionRun, known
from advisor.request.known_speed import read
from advisor.request.lists import listed
from advisor.ui.parts import audience, tabs
from advisor.ui.parts.markup import block, copyable, joined, notice, press, say
from advisor.ui.question import current, inputs

TITLE = "Know its speed?"
MODEL = "known_model"
SPEED = "known_tps"
FILE = "known_file"
"""Session keys of the model, of its speed and of a file with such."""
OLLAMA = "Ollama"


def row(answer: Answer) -> None:
    """Show a button that opens the field for a measured speed."""
    if answer.nouns.request.nothing:
        return
    tabs.popped(TITLE, "known_speed", partial(_form, answer), icon=":material/speed:")


def lines(answer: Answer) -> Markup:
    """Sentences on known speeds, and a button for each speed that makes the answer forget it."""
    told = joined(block("oa-known", text) for text in answer.of_known)
    buttons = (
        press(_key(number), f"Forget {text}", "oa-press oa-forget")
        for number, text in enumerate(answer.nouns.request.known)
    )
    return told + joined(buttons)


def actions(answer: Answer) -> dict[str, Callable[[], None]]:
    """Actions of the buttons that forget a known speed, by their keys."""
    return {
        _key(number): partial(_forget, text)
        for number, text in enumerate(answer.nouns.request.known)
    }


def _key(number: int) -> str:
    return f"forget_known_{number}"


def _form(answer: Answer) -> None:
    """Model and speed, a button, and the run that would tell most."""
    from advisor.advice.diagnosis.results import READ  # with the readers of tools, for who opens it

    say("What your Ollama or LM Studio prints for a model that you have is enough.")
    st.selectbox(
        "Model, with its format",
        list(_models()),
        index=None,
        placeholder="Qwen3-8B Q4_K_M",
        key=MODEL,
        accept_new_options=True,
        format_func=inputs.spoken,
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input("Speed (tokens/s)", key=SPEED, placeholder="41")
        st.button("Use it", key="use_known", type="primary", on_click=partial(_take, answer))
    st.file_uploader("Or a tool's results", type=list(READ), key=FILE, on_change=_take_file)
    if wrong := current.visit().unread.get("known"):
        notice(wrong.why, "warning")
    run = answer.next_run
    if run is not None:
        say(f"Or run this. It {run.words}:")
        copyable(run.command)
        model, _, behind = run.known.partition(" TPS")
        say(f"Its tg128 is the speed of {model}{f', typed as: 41{behind}' if behind else ''}.")


def _models() -> Iterator[str]:
    """Models to choose from: those of Ollama's own list first, then the catalogue's."""
    own = inputs.installed_of(OLLAMA) if audience.reads_local_files() else ()
    yield from own
    yield from (name for name in listed("model") if name not in own)


def _take(answer: Answer) -> None:
    """Add the typed speed to the request, or say what is wrong with it (for callbacks)."""
    state = st.session_state
    text = f"{state[MODEL] or ''} {str(state[SPEED] or '').strip()}".strip()
    try:
        known(read(text), answer.nouns.owned, QuestionRun())
    except AdvisorError as error:
        current.refuse("known", text, str(error))
        return
    every = (*answer.nouns.request.known, text)
    current.change(f"Known speed: {text}", known=every)


def _take_file() -> None:
    """Add the speeds of an uploaded file to the request, or say why not (for callbacks)."""
    file = st.session_state[FILE]
    if file is None:
        return
    from advisor.advice.known_files import known_texts  # with the readers of tools, for files alone

    name = file.name[:80]
    try:
        texts = known_texts(file.getvalue(), name)
    except AdvisorError as error:
        current.refuse("known", name, str(error))
        return
    every = tuple(dict.fromkeys((*current.present().known, *texts)))
    current.change(f"Known speeds of {name}", known=every)


def _forget(text: str) -> None:
    """Take a known speed out of the request (for callbacks)."""
    every = tuple(each for each in current.present().known if each != text)
    current.change(f"Known speed forgotten: {text}", known=every)
