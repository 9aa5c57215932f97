"""Offload Advisor: pages and navigation, nothing else. Start with `streamlit run app.py`."""

from pathlib import Path

import streamlit as st

import advisor.ui
from advisor.ui.advise import save
from advisor.ui.parts import bar, heap, markup, outcome, palette, unforeseen
from advisor.ui.question import current

UI = Path(advisor.ui.__file__).parent
WIDTH = 1140
"""Most width of a page [pixels]."""


st.set_page_config(page_title="Offload Advisor", page_icon=UI / "icon.png", layout="wide")
palette.style()
pages = [
    st.Page(UI / "pages" / "advise.py", title="Advise", default=True),
    st.Page(UI / "pages" / "run.py", title="Models", url_path="run"),
    st.Page(UI / "pages" / "find.py", title="Machines", url_path="find"),
    st.Page(UI / "pages" / "reports.py", title="Reports", url_path="reports"),
    st.Page(UI / "pages" / "accuracy.py", title="How we know", url_path="accuracy"),
    st.Page(UI / "pages" / "calibrate.py", title="Your machine", url_path="calibrate"),
    st.Page(UI / "pages" / "method.py", title="How it works", url_path="method"),
]
page = st.navigation(pages, position="hidden")
outcome.visit(page.url_path)
# A width that the browser knows before the style sheet is there, and below it what takes no room:
# nothing moves when the sheet arrives.
with st.container(horizontal_alignment="center"):
    body = st.container(width=WIDTH, gap="small")
markup.copying()
with body, unforeseen.named():
    current.read(page.url_path)
    current.write()
    with st.container(horizontal=True, key="bar", vertical_alignment="center"):
        bar.links(pages[:5], current.parameters(current.present()))
        save.buttons()
    page.run()
    heap.freeze_after(page.url_path)
