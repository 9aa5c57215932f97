"""What belongs to one visitor: the store of reports, the address of the page."""

import streamlit as st

from advisor.reports.store import ReportStore, open_store

LOCAL = "http://localhost:8501/"


@st.cache_resource(show_spinner=False, max_entries=1)
def store() -> ReportStore:
    """The reports, opened once for the server.

    Raises:
        StoreError: the place cannot be made, opened or understood.
    """
    return open_store()


def base() -> str:
    """Address of the Advise page."""
    url = (st.context.url or LOCAL).split("?")[0]
    return url.removesuffix("reports").removesuffix("calibrate").rstrip("/") + "/"
