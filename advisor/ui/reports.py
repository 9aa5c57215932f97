"""The Reports page: find, open, annotate, export and delete what was saved."""

import streamlit as st

from advisor.errors import AdvisorError
from advisor.ui import report_list, report_view
from advisor.ui.markup import notice
from advisor.ui.session import store

try:
    if "report" in st.query_params:
        report_view.view(store(), st.query_params["report"])
    else:
        report_list.listing(store())
except AdvisorError as error:
    notice(str(error), "error")
