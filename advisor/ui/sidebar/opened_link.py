"""The address that a page was opened with: its names respelled, and what is wrong with it."""

from collections.abc import Hashable, Mapping

import streamlit as st

from advisor.ui.sidebar import permalink
from advisor.ui.sidebar.field_kinds import Field


def read(page: str, known: Mapping[str, Field]) -> None:
    """Remember what is wrong with the address, once for each page of a session.

    Args:
        page: its name in the session.
        known: its inputs.
    """
    if f"{page}_problems" in st.session_state:
        return
    stated = st.query_params.to_dict()
    names = permalink.respelled(stated)
    if names and f"{page}_respelled" not in st.session_state:
        # Widgets take their values from the address before this page runs, so it runs again: once.
        st.session_state[f"{page}_respelled"] = True
        st.query_params.update(names)
        st.rerun()
    st.session_state[f"{page}_problems"] = permalink.problems(stated, known)


def problems(page: str, chosen: Hashable) -> tuple[str, ...]:
    """What was wrong with the address, until something is chosen otherwise."""
    if st.session_state.setdefault(f"{page}_choices", chosen) != chosen:
        st.session_state[f"{page}_problems"] = ()
    wrong: tuple[str, ...] = st.session_state[f"{page}_problems"]
    return wrong


def first(page: str) -> bool:
    """Nothing was answered on the page in this session yet."""
    return f"{page}_choices" not in st.session_state
