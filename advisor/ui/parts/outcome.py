"""Outcome of a visitor's last action, shown until the next one or until the page is left.

Callbacks keep it and pages show it. A message that the showing run takes away is lost where another
run overtakes that one, as a file that arrives late makes it do.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from advisor.errors import AdvisorError
from advisor.ui.parts.markup import notice

_LAST = "last_outcome"
_PAGE = "page_of_outcome"
"""Session keys of the outcome and of the page being visited."""


def keep(place: str, *sentences: tuple[str, str]) -> None:
    """Replace the outcome of a part of a page by sentences of kinds (for callbacks)."""
    st.session_state[_LAST] = place, sentences


def attempt(place: str, action: Callable[[], str]) -> None:
    """Do something, and keep its sentence, or the reason why it was refused (for callbacks)."""
    try:
        kind = "note"
        text = action()
    except AdvisorError as error:
        kind = "error"
        text = str(error)
    keep(place, *([(kind, text)] if text else []))


def button(
    words: str,
    place: str,
    action: Callable[[], str],
    *,
    key: str,
    submits: bool = False,
    **look: Any,
) -> None:
    """Button that attempts something; with `submits` it is a form's."""
    make = st.form_submit_button if submits else st.button
    make(words, key=key, on_click=attempt, args=(place, action), **look)


def forget() -> None:
    """Drop the outcome (for callbacks that go elsewhere)."""
    st.session_state.pop(_LAST, None)


def show(place: str) -> None:
    """Notices of the last action, where it belongs to this place."""
    last_place, sentences = st.session_state.get(_LAST, ("", ()))
    for kind, text in sentences if last_place == place else ():
        notice(text, kind)


def visit(page: str) -> None:
    """Forget the outcome of another page."""
    if st.session_state.get(_PAGE) != page:
        st.session_state[_PAGE] = page
        forget()
