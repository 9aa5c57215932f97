"""The style sheet of the pages' own parts; colours of Streamlit's are in .streamlit/config.toml."""

from pathlib import Path

import streamlit as st


def style() -> None:
    """Send the style sheet; it takes no room on the page."""
    st.html(Path(__file__).parent / "style.css")
