"""The Accuracy page: published speeds beside ours, and how far off we are."""

import streamlit as st

from advisor.ui import accuracy_figures, accuracy_scores
from advisor.ui.claim_list import claims_section
from advisor.ui.judging import judged
from advisor.ui.markup import block, show

WAIT = (
    "Predicting every published figure anew from constants that do not know it. This takes some "
    "seconds, once for as long as the server runs."
)

show(block("oa-title", "Accuracy", "h1"))
waiting = st.empty()
if not st.session_state.get("ledger_seen"):
    with waiting.container():
        show(block("oa-soft", WAIT, "p"))
        st.skeleton(height=420)
found = judged()
st.session_state["ledger_seen"] = True
waiting.empty()
accuracy_scores.verdict(found)
accuracy_scores.regimes(found)
accuracy_figures.figures(found.points)
accuracy_scores.formulas(found)
accuracy_scores.method()
claims_section()
