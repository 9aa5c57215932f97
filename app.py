"""Offload Advisor: pages and navigation, nothing else. Start with `streamlit run app.py`."""

from pathlib import Path

import streamlit as st

import advisor.ui
from advisor.ui.parts import code_block, heap, outcome, theme, unforeseen

UI = Path(advisor.ui.__file__).parent

st.set_page_config(
    page_title="Offload Advisor", page_icon=UI / "icon.png", layout="wide",
    initial_sidebar_state=340,
)  # fmt: skip
theme.style()
code_block.copying()
page = st.navigation(
    [
        st.Page(UI / "pages" / "advise.py", title="Advise", icon=":material/speed:", default=True),
        st.Page(UI / "pages" / "find.py", title="Find", icon=":material/search:", url_path="find"),
        st.Page(UI / "pages" / "runnable.py", title="What can I run?", icon=":material/checklist:",
                url_path="run"),
        st.Page(UI / "pages" / "calibrate.py", title="Calibrate", icon=":material/tune:",
                url_path="calibrate"),
        st.Page(UI / "pages" / "reports.py", title="Reports", icon=":material/description:",
                url_path="reports"),
        st.Page(UI / "pages" / "accuracy.py", title="Accuracy", icon=":material/target:",
                url_path="accuracy"),
        st.Page(UI / "pages" / "method.py", title="Method", icon=":material/function:",
                url_path="method"),
    ],
    position="top",
)  # fmt: skip
outcome.visit(page.url_path)
with unforeseen.named():
    page.run()
    heap.freeze_after(page.url_path)
