"""Address that the page was opened with: choices of other pages, and its problems."""

from collections.abc import Hashable, Mapping

import streamlit as st

from advisor.ui.sidebar import permalink
from advisor.ui.sidebar.field_kinds import Field

ALWAYS = "machine"
"""The input that the address always states."""
_PAGE, _CARRIED = "page_shown", "carried_inputs"
"""Where a session keeps its page, and inputs as their pages' addresses had them."""


def read(page: str, known: Mapping[str, Field]) -> None:
    """Take over choices of another page, and record problems of the address.

    Widgets take their values from the address before a page runs, so where the address is changed
    the page runs again: once. What is typed into a widget stays as typed: the widget writes it.

    Args:
        page: name of the page in the session.
        known: inputs of the page.
    """
    stated = st.query_params.to_dict()
    opened = {key: text for key, text in stated.items() if key not in st.session_state}
    added = _carried(page, known, stated) | permalink.respelled(opened)
    if added:
        st.query_params.update(added)
        st.rerun()
    if f"{page}_problems" not in st.session_state:
        st.session_state[f"{page}_problems"] = permalink.problems(stated, known)


def _carried(page: str, known: Mapping[str, Field], stated: Mapping[str, str]) -> dict[str, str]:
    """Choices of earlier pages that the address lacks; empty within one page."""
    before = st.session_state.get(_PAGE)
    st.session_state[_PAGE] = page
    if before in (None, page):
        return {}
    inputs: dict[str, str] = st.session_state.get(_CARRIED, {})
    added = {key: text for key, text in inputs.items() if key in known and key not in stated}
    if ALWAYS in added:
        # It is kept in the address by hand, and the other page's widget has it in the session.
        st.session_state[ALWAYS] = added[ALWAYS]
    return added


def keep(known: Mapping[str, Field]) -> None:
    """Remember the page's inputs for the other pages.

    Args:
        known: inputs of all pages.
    """
    before: dict[str, str] = st.session_state.get(_CARRIED, {})
    here = {key: text for key, text in st.query_params.to_dict().items() if key in known}
    elsewhere = {key: text for key, text in before.items() if key not in st.session_state}
    st.session_state[_CARRIED] = elsewhere | here


def problems(page: str, chosen: Hashable) -> tuple[str, ...]:
    """Problems of the address, until a choice changes."""
    if st.session_state.setdefault(f"{page}_choices", chosen) != chosen:
        st.session_state[f"{page}_problems"] = ()
    wrong: tuple[str, ...] = st.session_state[f"{page}_problems"]
    return wrong


def first(page: str) -> bool:
    """Whether this is the page's first answer in the session."""
    return f"{page}_choices" not in st.session_state
