"""Ledger, computed once per server."""

import streamlit as st

from advisor.evidence.accuracy.ledger import ledger
from advisor.evidence.accuracy.result import Ledger


@st.cache_resource(show_spinner=False, max_entries=1)
def judged() -> Ledger:
    """Predictions beside the published figures, shared by all sessions."""
    return ledger()
