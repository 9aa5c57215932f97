"""Hardware inputs that accept any name, with a note of what the name was taken for."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from advisor.errors import UnknownName
from advisor.machine.catalog import cpu_named, gpu_named, machine_named
from advisor.machine.rows import GpuRow
from advisor.ui.sidebar.fields import fields
from advisor.ui.sidebar.option_words import AS_SEEN, NO_GPU, NONE
from advisor.ui.sidebar.widgets import ask

NOT_KNOWN = "Not known."
"""Mark under an input whose name is not known."""


def ask_card(key: str) -> tuple[str, GpuRow | None]:
    """GPU as typed or chosen, with its catalogue row; None for no GPU or an unknown one."""
    typed = str(ask(key))
    if typed in (AS_SEEN, NO_GPU, NONE):
        return typed, None
    meant = _looked_up(typed, gpu_named)
    if meant is None:
        return typed, None
    counted = f"{meant.count}x " if meant.count > 1 else ""
    _say(typed, f"{counted}{meant.row.name}", meant)
    return typed, meant.row


def ask_processor(key: str) -> str:
    """Processor as typed or chosen."""
    typed = str(ask(key))
    meant = _looked_up(typed, cpu_named)
    if meant is not None:
        _say(typed, meant.row.name, meant)
    return typed


def ask_machine(key: str, imported: tuple[str, ...]) -> str:
    """Machine as typed or chosen.

    Args:
        key: of the input.
        imported: names of imported machines, which take precedence.
    """
    listed = getattr(fields()[key], "options", ())
    typed = str(ask(key, options=tuple(dict.fromkeys((*listed, *imported)))))
    if typed.casefold() in map(str.casefold, imported):
        return typed
    meant = _looked_up(typed, machine_named)
    if meant is not None:
        _say(typed, meant.name, meant)
    return typed


def _looked_up(typed: str, find: Callable[[str], Any]) -> Any:
    """Meaning of a name; None and a mark for an unknown one, about which the page says more."""
    try:
        return find(typed)
    except UnknownName:
        st.caption(NOT_KNOWN)
        return None


def _say(typed: str, name: str, meant: Any) -> None:
    sentences = [] if typed.strip().casefold() == name.casefold() else [f"Taken as {name}."]
    sentences += meant.notes
    if meant.alternatives:
        sentences.append(f"It may also mean {', '.join(meant.alternatives[:3])}.")
    if sentences:
        st.caption(" ".join(sentences))
