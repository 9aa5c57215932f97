"""Offload Advisor: pages and navigation, nothing else. Start with `streamlit run app.py`."""

from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from markupsafe import Markup
from starlette.middleware import Middleware
from streamlit.navigation.page import StreamlitPage

import advisor.ui
from advisor.errors import InputError
from advisor.ui import preview, server
from advisor.ui.advise import save
from advisor.ui.gate import Gate
from advisor.ui.parts import audience, markup, outcome, unforeseen
from advisor.ui.question import current

UI = Path(advisor.ui.__file__).parent
SKIP = Markup("<a class='oa-skip' href='#verdict'>Skip to the answer</a>")
BRAND = Markup("<b class='oa-brand'>Offload Advisor</b>")
LINKS = Markup("<nav class='oa-pages' aria-label='Pages'>{}</nav>")
LINK = Markup("<a href='{}' target='_self'{}>{}</a>")


def visit() -> None:
    """One run of a page, for one visitor."""
    audience.start()
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
    with server.serving(), unforeseen.named():
        current.read(page.url_path)
        current.write()
        with st.container(horizontal=True, key="bar", vertical_alignment="center", gap="xsmall"):
            markup.show((SKIP if page is pages[0] else Markup()) + BRAND + links(page, pages[:5]))
            save.buttons()
        page.run()
        server.freeze_after(page.url_path)


def links(page: StreamlitPage, pages: Sequence[StreamlitPage]) -> Markup:
    """Links to the pages, with the present request; on a phone a row that scrolls sideways."""
    request = current.present()
    here = Markup(" aria-current='page'")
    lit = page if page in pages else pages[-1]  # the pages behind How we know are reached there
    return LINKS.format(
        markup.joined(
            LINK.format(
                current.link(request, each.url_path), here if each is lit else "", each.title
            )
            for each in pages
        )
    )


def check_settings() -> None:
    """End the program before it serves with a setting that is neither on nor off."""
    try:
        audience.start()
    except InputError as error:
        raise SystemExit(f"advisor: {error}") from error


if __name__ == Path(__file__).stem:  # the server imports it; in a visitor's run it is the program
    check_settings()
    early = [Middleware(Gate), Middleware(server.EarlyPage)]
    # Streamlit looks for these words, before it runs them.
    app = st.App(__file__, lifespan=server.warm, routes=preview.routes(), middleware=early)
else:
    visit()
