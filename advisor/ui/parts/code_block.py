"""Text to copy, such as a command or a file, with a button.

Streamlit's code block loads a highlighter of 1.6 MB before it shows a line.
"""

from pathlib import Path

import streamlit as st
from markupsafe import Markup

from advisor.ui.parts.markup import show

SCRIPT = Path(__file__).with_name("copy.js")


def copyable(text: str) -> None:
    """Text in a box, with a button that copies it."""
    box = Markup(
        "<div class='oa-code'><pre tabindex='0'><code>{}</code></pre>"
        "<button type='button' class='oa-copy'>Copy</button></div>"
    )
    show(box.format(text))


def copying() -> None:
    """Script of all copy buttons, sent once per page; it holds nothing that anybody typed."""
    with st.container(key="copying"):
        st.html(f"<script>{SCRIPT.read_text()}</script>", unsafe_allow_javascript=True)
