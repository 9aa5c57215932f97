"""The ledger, worked out once for the server."""

import streamlit as st

from advisor.evidence.accuracy.ledger import Ledger, ledger


@st.cache_resource(show_spinner=False, max_entries=1)
def judged() -> Ledger:
    """Predictions beside what was published; all sessions share it."""
    return ledger()
