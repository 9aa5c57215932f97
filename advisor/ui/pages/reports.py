"""The Reports page: find, open, annotate, export and delete what was saved."""

import streamlit as st

from advisor.errors import AdvisorError
from advisor.ui.parts.markup import notice
from advisor.ui.parts.session import store
from advisor.ui.reports import listing, view

try:
    if "report" in st.query_params:
        view.view(store(), st.query_params["report"])
    else:
        listing.listing(store())
except AdvisorError as error:
    notice(str(error), "error")
