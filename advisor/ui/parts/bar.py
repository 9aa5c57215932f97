"""The bar above every page: pages, and the buttons that save and share the answer."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import streamlit as st
from markupsafe import Markup

from advisor.ui.parts.markup import show

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage


def links(pages: Iterable["StreamlitPage"], stated: dict[str, str]) -> None:
    """Links of the bar; on a phone a row that scrolls sideways.

    Args:
        pages: pages of the bar.
        stated: parameters that they keep.
    """
    show(Markup("<b class='oa-brand'>Offload Advisor</b>"))
    with st.container(horizontal=True, key="bar_links", gap="xsmall", wrap=False):
        for page in pages:
            st.page_link(page, label=page.title, query_params=stated)
