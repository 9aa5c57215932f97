"""Shipped ledger, read once per server."""

import streamlit as st

from advisor.evidence.accuracy.shipped import Ledger, shipped_ledger


@st.cache_resource(show_spinner=False, max_entries=1)
def judged() -> Ledger:
    """Predictions beside the published figures, shared by all sessions."""
    return shipped_ledger()
