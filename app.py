"""Offload Advisor: pages and navigation, nothing else. Start with `streamlit run app.py`."""

from pathlib import Path

import streamlit as st
from markupsafe import Markup
from starlette.middleware import Middleware

import advisor.ui
from advisor.ui import server
from advisor.ui.advise import save
from advisor.ui.parts import markup, outcome, unforeseen
from advisor.ui.question import current

UI = Path(advisor.ui.__file__).parent
SKIP = Markup("<a class='oa-skip' href='#verdict'>Skip to the answer</a>")
BRAND = Markup("<b class='oa-brand'>Offload Advisor</b>")


def visit() -> None:
    """One run of a page, for one visitor."""
    st.set_page_config(page_title="Offload Advisor", page_icon=UI / "icon.png", layout="wide")
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
    markup.copying()
    with server.serving(), unforeseen.named():
        current.read(page.url_path)
        current.write()
        with st.container(horizontal=True, key="bar", vertical_alignment="center"):
            markup.show(SKIP + BRAND if page is pages[0] else BRAND)
            with st.container(horizontal=True, key="bar_links", gap="xsmall", wrap=False):
                for each in pages[:5]:  # on a phone a row that scrolls sideways
                    stated = current.parameters(current.present())
                    st.page_link(each, label=each.title, query_params=stated)
            save.buttons()
        page.run()
        server.freeze_after(page.url_path)


if __name__ == Path(__file__).stem:  # the server imports it; in a visitor's run it is the program
    app = st.App(__file__, lifespan=server.warm, middleware=[Middleware(server.EarlyStyle)])
else:
    visit()
