"""Hardware inputs that accept any name, with a note of what the name was taken for."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from advisor.errors import UnknownName
from advisor.machine.catalog import cpu_named, gpu_named, machine_named
from advisor.machine.rows import GpuRow
from advisor.ui.parts import markup
from advisor.ui.sidebar.fields import AS_SEEN, NO_GPU, NONE, fields
from advisor.ui.sidebar.widgets import ask


def ask_card(key: str) -> tuple[str, GpuRow | None]:
    """GPU as typed or chosen, with its catalogue row; None for no GPU."""
    typed = str(ask(key))
    if typed in (AS_SEEN, NO_GPU, NONE):
        return typed, None
    known, meant = _looked_up(key, typed, gpu_named)
    if meant is None:
        return known, None
    counted = f"{meant.count}x " if meant.count > 1 else ""
    _say(known, f"{counted}{meant.row.name}", meant)
    return known, meant.row


def ask_processor(key: str) -> str:
    """Processor as typed or chosen."""
    known, meant = _looked_up(key, str(ask(key)), cpu_named)
    _say(known, meant.row.name, meant)
    return known


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
    known, meant = _looked_up(key, typed, machine_named)
    _say(known, meant.name, meant)
    return known


def _looked_up(key: str, typed: str, find: Callable[[str], Any]) -> tuple[str, Any]:
    """Meaning of a name; for an unknown name, the default and a warning."""
    try:
        return typed, find(typed)
    except UnknownName as error:
        default = fields()[key].default_text
        markup.notice(f"{error} Shown instead: {default}.", "warning")
        return default, None if default in (AS_SEEN, NO_GPU, NONE) else find(default)


def _say(typed: str, name: str, meant: Any) -> None:
    sentences = [] if typed.strip().casefold() == name.casefold() else [f"Taken as {name}."]
    sentences += meant.notes
    if meant.alternatives:
        sentences.append(f"It may also mean {', '.join(meant.alternatives[:3])}.")
    if sentences:
        st.caption(" ".join(sentences))
