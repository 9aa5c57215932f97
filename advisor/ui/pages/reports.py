"""The Reports page: search, open, compare, annotate, share, export and delete reports."""

import streamlit as st

from advisor.errors import AdvisorError
from advisor.ui.parts.markup import notice
from advisor.ui.parts.session import login_configured, own_store, store
from advisor.ui.reports import compare, listing, view

try:
    if "shared" in st.query_params:
        view.view(store().load_shared(st.query_params["shared"]))
    elif (own := own_store()) is None:
        if login_configured():
            notice("Log in to see your reports; a shared link opens without.")
            st.button("Log in", on_click=st.login, key="log_in")
        else:
            notice(
                "Reports are not kept on this server: others reach it, and it has no login. "
                "Copy the link or the command of an answer, or download it."
            )
    elif "compare" in st.query_params:
        compare.view(listing.opened(own, st.query_params["compare"]))
    elif "report" in st.query_params:
        view.view(listing.opened(own, st.query_params["report"])[0], own)
    else:
        listing.listing(own)
except AdvisorError as error:
    notice(str(error), "error")
