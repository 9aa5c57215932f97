"""The Accuracy page: published speeds beside predictions, and the errors."""

import streamlit as st

from advisor.ui.accuracy import groups, own_results, points, scores
from advisor.ui.accuracy.claims import claims_section
from advisor.ui.accuracy.ledger import judged
from advisor.ui.parts.markup import block, show
from advisor.ui.parts.waiting import waiting

WAIT = (
    "Predicting every published figure anew from constants that do not know it. This takes some "
    "seconds, once for as long as the server runs."
)

show(block("oa-title", "Accuracy", "h1"))
with waiting("" if st.session_state.get("ledger_seen") else WAIT):
    accuracy = judged()
st.session_state["ledger_seen"] = True
scores.verdict(accuracy)
scores.regimes(accuracy)
groups.section(accuracy)
points.figures((*accuracy.points, *own_results.points()))
scores.formulas(accuracy)
scores.method()
claims_section()
