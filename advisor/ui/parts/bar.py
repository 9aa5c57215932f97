"""The bar above every page: pages, and the buttons that save and share the answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st
from markupsafe import Markup

from advisor.ui.parts.markup import show

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage

SKIP = Markup("<a class='oa-skip' href='#verdict'>Skip to the answer</a>")
BRAND = Markup("<b class='oa-brand'>Offload Advisor</b>")


def links(pages: Sequence["StreamlitPage"], here: "StreamlitPage", stated: dict[str, str]) -> None:
    """Links of the bar; on a phone a row that scrolls sideways."""
    show(SKIP + BRAND if here is pages[0] else BRAND)
    with st.container(horizontal=True, key="bar_links", gap="xsmall", wrap=False):
        for page in pages:
            st.page_link(page, label=page.title, query_params=stated)
