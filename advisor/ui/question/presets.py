"""Presets: machines that many people have, and uses of a model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import streamlit as st
from markupsafe import Markup

from advisor.catalog.csv_tables import DATA, read
from advisor.model.thinking import ThinkingMode
from advisor.request.request import DEFAULTS
from advisor.request.texts import from_texts
from advisor.request.wants import Think
from advisor.ui.parts import audience
from advisor.ui.parts.markup import show
from advisor.ui.question import current, this_machine

HERE = "This computer"
SERVER = "The server"
"""Words for the computer that the program runs on, to who sits at it and to others."""


@dataclass(frozen=True, kw_only=True)
class Preset:
    """Row of data/pages/presets.csv."""

    group: str  # "machine" or "use"
    name: str  # words on its pill
    inputs: str  # as in an address


def _presets(group: str) -> dict[str, Mapping[str, Any]]:
    rows = read(DATA / "pages" / "presets.csv", Preset)
    return {
        row.name: from_texts(dict(parse_qsl(row.inputs))).stated()
        for row in rows
        if row.group == group
    }


MACHINES = _presets("machine")
USES = _presets("use")
"""Machines, and what uses change in a chat of one person, by the words on their pills."""
OF_A_USE = ("context", "prompt", "cached", "cached_share", "output", "users", "replies_per_day")
_PILLS = "preset_machine"
_USES = "preset_use"
_THINKS = "thinking_pills"


def here() -> str:
    """Visitor's name for the computer that the program runs on."""
    if audience.is_public():
        return SERVER
    return HERE


def machines() -> None:
    """Pills of machines; none is marked where the request has another one."""
    seen = this_machine.seen() is not None
    names = [name for name in MACHINES if seen or name != HERE]
    st.session_state[_PILLS] = next((name for name in names if _is_machine(MACHINES[name])), None)
    with st.container(horizontal=True, key="presets", wrap=False, vertical_alignment="center"):
        st.pills(
            "Machines that many people have",
            names,
            label_visibility="collapsed",
            wrap=False,
            format_func=lambda name: here() if name == HERE else name,
            **current.taking(
                _PILLS, lambda name: current.another_machine(f"Machine: {name}", **MACHINES[name])
            ),
        )
        undo()


def undo() -> None:
    """Button that undoes the last change; before any change, an offer of the GPU that the browser
    names.
    """
    changes = current.visit().lately
    if not changes:
        if current.present().machine == current.EXAMPLE:
            show(Markup("<span class='oa-hint' hidden></span>"))
    else:
        st.button(
            _undone(changes[0].words),
            key="undo",
            icon=":material/undo:",
            type="tertiary",
            help=f"Undo {changes[0].words}",
            on_click=current.undo,
        )


def _undone(words: str) -> str:
    """Words of a button that undoes a change: "Undo: machine"."""
    what = words.partition(":")[0]
    return f"Undo: {what[:1].lower()}{what[1:]}"


def _is_machine(values: Mapping[str, Any]) -> bool:
    """Whether the machine of the request is the one of a preset, unchanged."""
    request = current.present()
    machine = current.of_machine(**values)
    return all(getattr(request, name) == value for name, value in machine.items())


def uses() -> None:
    """Pills of uses; none is marked where the request differs from all."""
    request = current.present()
    now = {key: getattr(request, key) for key in OF_A_USE}
    st.session_state[_USES] = next((name for name in USES if _inputs_of_use(name) == now), None)
    taking = current.taking(
        _USES, lambda name: current.change(f"Use: {name}", **_inputs_of_use(name))
    )
    st.pills("What for", list(USES), **taking)


def thinking() -> None:
    """Show pills for the length of a model's thinking; none for a model that does not think.

    No pill is marked at the model's default.
    """
    request = current.present()
    row = request.nouns().thinking
    if row is None or row.mode is ThinkingMode.NEVER or request.thinking_tokens is not None:
        return
    kinds = [str(Think.SHORT), str(Think.LONG)]
    if row.can_stop:
        kinds.insert(0, str(Think.OFF))
    st.session_state[_THINKS] = request.think if request.think in kinds else None
    st.pills("Thinking", kinds, format_func=str.capitalize, key=_THINKS, on_change=_take_thinking)


def _take_thinking() -> None:
    """Take over the pill; none marked is as the model does by itself (for callbacks)."""
    kind = st.session_state[_THINKS]
    current.change(f"Thinking: {kind or 'as usual'}", think=kind)


def _inputs_of_use(name: str) -> dict[str, Any]:
    """Inputs of a preset use of a model, by name; open ones have their defaults."""
    return {key: USES[name].get(key, DEFAULTS[key]) for key in OF_A_USE}
