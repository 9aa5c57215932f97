"""Widgets of the inputs: each shows its value in the request and changes it."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import streamlit as st

from advisor.catalog.inputs import INPUTS, Input, Kind
from advisor.errors import AdvisorError, InputError, UnknownName
from advisor.formatting import US_DOLLAR, context_size, shown_currency
from advisor.model import resolve
from advisor.model.by_name import named
from advisor.model.installed import Survey, survey
from advisor.model.resolve import ReferenceKind
from advisor.request.lists import CLOSED, PAIRED, listed, respelled, takes
from advisor.request.request import DEFAULTS
from advisor.ui.parts import audience, outcome, uploads
from advisor.ui.parts.markup import copyable, notice, plain_words, say
from advisor.ui.question import current, model_list, models
from advisor.units import memory

# Other ways to give a model: installed models, pasted text, upload.

REMEMBERED = 600  # seconds until this machine is searched again [s]
CUT = "head -c 32M model.gguf > header.gguf"
_LOOKED = "looked_for_models"
_PLACE = "other_model"
"""Session key of a search of this machine, and the place of outcomes."""


def show() -> None:
    """Expander with other ways to give a model: installed files, pasted text, an upload."""
    with st.expander("Other ways to give a model", key="other_ways"):
        installed, pasted, uploaded = st.tabs(["On this machine", "Paste", "Upload"])
        with installed:
            _installed()
        with pasted, st.form("paste_config", border=False):
            st.text_area(
                "config.json",
                key="pasted_config",
                height=120,
                max_chars=models.LONGEST_PASTE,
                placeholder='{"model_type": "llama", ...}',
            )
            st.form_submit_button(
                "Use it",
                on_click=lambda: take_paste(st.session_state["pasted_config"]),
                width="stretch",
                key="use_paste",
            )
        with uploaded:
            st.file_uploader(
                "config.json, or the beginning of a GGUF file",
                type=["json", "gguf"],
                **current.taking(
                    "uploaded_model",
                    lambda file: _take(lambda: models.upload(file.name, uploads.taken(file))),
                ),
            )
            say("An upload sends the whole file, so cut it first:")
            copyable(CUT)
    outcome.show(_PLACE)


def choose(text: str) -> None:
    """Put a text into the model control (for callbacks only)."""
    outcome.forget()
    current.change(f"Model: {text}", model=text, format=None)


def take_paste(text: str) -> None:
    """Use a pasted config.json, or show its problem (for callbacks only)."""
    _take(lambda: models.paste(text))


def _take(keep: Callable[[], str]) -> None:
    try:
        choose(keep())
    except AdvisorError as error:
        outcome.keep(_PLACE, ("error", str(error)))


def _installed() -> None:
    if not audience.reads_local_files():
        say("Files of this machine are not read here.")
        return
    if not st.session_state.get(_LOOKED):
        st.button(
            "Look for models",
            key="look_for_models",
            width="stretch",
            icon=":material/search:",
            on_click=lambda: st.session_state.update({_LOOKED: True}),
            help="In the folders of Ollama, LM Studio, Hugging Face and llama.cpp.",
        )
        return
    survey = _survey()
    words = {
        str(model.path): f"{model.name}, {memory(model.size)}, {model.kind}"
        for model in sorted(survey.models, key=lambda model: (model.kind, model.name))
    }
    if words:
        st.selectbox(
            "Installed",
            list(words),
            index=None,
            format_func=lambda path: words.get(path, path),
            placeholder="Choose one",
            **current.taking("installed_model", _choose_installed),
        )
    else:
        say("No model in the folders of Ollama, LM Studio, Hugging Face and llama.cpp.")
    for note in survey.notes:
        say(note)
    st.button("Look again", key="look_again", on_click=_survey.clear, type="tertiary")


@st.cache_resource(max_entries=1, ttl=REMEMBERED, show_spinner="Looking into their folders")
def _survey() -> Survey:
    return survey()


def installed_of(kind: str) -> tuple[str, ...]:
    """Names of the models that a program's folder holds."""
    return tuple(sorted(model.name for model in _survey().models if model.kind == kind))


def _choose_installed(path: str) -> None:
    choose(path)
    st.session_state["installed_model"] = None


SWITCHES = (Kind.SWITCH, Kind.OFF)
CODE = "typed_currency"  # session key of a currency whose exchange rate is not typed yet


def ask(name: str, empty: str = "") -> None:
    """Show the widget of an input, with its error below; `empty` is the text for an open value."""
    entry = INPUTS[name]
    key = f"in_{name}"
    wrong = current.visit().unread.get(name)
    own = entry.in_money and "US $" not in entry.title  # in the currency that amounts are typed in
    sign = shown_currency().sign.strip()
    if own:
        words = entry.title.replace(US_DOLLAR.sign, sign)
    else:
        words = entry.title
    common: dict[str, Any] = {
        "key": key,
        "on_change": _typed,
        "args": (name,),
        "help": plain_words(entry.sentence) or None,
    }
    if entry.kind in SWITCHES:
        st.session_state[key] = bool(getattr(current.present(), name))
        st.toggle(words, **common)
    elif listed(name):
        _pick(entry, words, empty, common)
    else:
        value = getattr(current.present(), name)
        if value in (None, ()):
            known = ""
        else:
            known = entry.text(value)
        st.session_state[key] = wrong.text if wrong else known
        st.text_input(words, placeholder=empty or _empty(entry), **common)
    if wrong:
        notice(wrong.why, "warning")


def _pick(entry: Input, words: str, empty: str, common: dict[str, Any]) -> None:
    """Choice from a list; other text may be typed where the list is not complete."""
    value = getattr(current.present(), entry.name)
    key = common["key"]
    optional = DEFAULTS[entry.name] in (None, "") and entry.name != "model"
    chosen = _shown(entry, value)
    of_models = entry.name == "model"
    every = model_list.ordered(current.present()) if of_models else listed(entry.name)
    names = [*([""] if optional else []), *every]
    speeds = model_list.best(current.present()) if of_models else {}

    def told(name: str) -> str:
        """Words of an option: of the best models their speed, too."""
        if name in speeds and name != chosen:
            return f"{spoken(name.rpartition('/')[2])}: {speeds[name]}"
        return spoken(name) or usual

    # No two options of a list may read alike: the browser sends back their words.
    if empty:
        usual = f"{empty}, as understood"
    else:
        taken = _empty(entry)
        usual = taken if taken == "usual" else f"usual: {taken}"
    st.session_state[key] = chosen
    st.selectbox(
        words,
        names if chosen in names else [*names, chosen],
        format_func=told,
        accept_new_options=entry.name not in CLOSED or entry.name == PAIRED,
        **common,
    )


def _shown(entry: Input, value: Any) -> str:
    """Value as its list spells it."""
    if entry.name == "context":
        size = context_size(value)
        if size in listed("context"):
            return size
        return entry.text(value)
    if entry.name == "currency":
        return str(st.session_state.get(CODE, value))
    if value is None:
        return ""
    return str(value)


def spoken(name: str) -> str:
    """Name with spaces, as people type it to search."""
    if "/" not in name and not name.startswith("http"):
        return name.replace("-", " ")
    return name


def _empty(entry: Input) -> str:
    default = DEFAULTS[entry.name]
    return entry.empty or ("" if default in (None, "", ()) else entry.text(default))


def _read(entry: Input, text: str) -> Any:
    """Value of a text; raises InputError."""
    value = entry.read(respelled(entry.name, text))
    if entry.name == PAIRED and not takes(entry.name, value):
        raise UnknownName(entry.label, text, listed(entry.name))
    return value


def _typed(name: str) -> None:
    """Take over what a widget holds (for callbacks)."""
    entry = INPUTS[name]
    typed = st.session_state[f"in_{name}"]
    if entry.kind in SWITCHES:
        if entry.kind == Kind.OFF:
            value = typed
        else:
            value = typed or DEFAULTS[name]
        current.change(f"{entry.label}: {'on' if typed else 'off'}", **{name: value})
        return
    text = str(typed or "").strip()
    if name == "model" and text.startswith("{"):
        take_paste(text)
        return
    if name in ("currency", "usd_rate"):
        _take_currency(name, text)
        return
    if name == "model":  # one of the list may be typed with spaces for hyphens
        words = spoken(text).casefold()
        text = next((row for row in listed("model") if spoken(row).casefold() == words), text)
        text = _of_the_list(text)
    try:
        if text:
            value = _read(entry, text)
        else:
            value = DEFAULTS[name]
    except InputError as error:
        current.refuse(name, text, str(error))
        return
    current.change(f"{entry.label}: {text or 'as usual'}", **{name: value})


def _of_the_list(text: str) -> str:
    """First model of the list with the typed words, where they may mean several and name none."""
    if resolve.way(text) is not ReferenceKind.NAME:
        return text
    try:
        named.meant(text)
    except UnknownName:
        return model_list.meant(text) or text
    except AdvisorError:
        return text
    return text


def _take_currency(name: str, text: str) -> None:
    """Currency and its exchange rate, which are taken together."""
    state = st.session_state
    request = current.present()
    if name == "currency":
        code = text or US_DOLLAR.code
    else:
        code = state.get(CODE, request.currency)
    rate = text if name == "usd_rate" else ""
    dollars = code == US_DOLLAR.code
    state[CODE] = code
    why = ""
    worth = None
    from advisor.request.money import rate_on_record  # loaded for other money alone

    if not rate and not dollars and rate_on_record(code.upper()) is None:
        why = f"Type what one {code} is worth in US dollars: no rate of it is on record."
    elif rate and not dollars:
        try:
            worth = INPUTS[name].read(rate)
        except InputError as error:
            why = str(error)
    if why:
        current.refuse("usd_rate", rate, why)
        return
    state.pop(CODE)
    current.change(f"Currency: {code}", currency=code, usd_rate=worth)


def several(
    names: Sequence[str], columns: int = 2, assumed: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Show inputs side by side; `assumed` has the values of open ones by name."""
    for start in range(0, len(names), columns):
        group = names[start : start + columns]
        for column, name in zip(st.columns(columns, gap="small"), group, strict=False):
            with column:
                ask(name, assumed.get(name, ""))
