"""The Advise page, from top to bottom."""

import streamlit as st

from advisor.errors import AdvisorError
from advisor.ui import answer_page, inputs, links, machine_panel
from advisor.ui.answering import answer

if "link_problems" not in st.session_state:
    st.session_state["link_problems"] = links.problems(st.query_params.to_dict())

chosen = inputs.choices()
# What was wrong with the link matters until something is changed.
if st.session_state.setdefault("link_choices", chosen) != chosen:
    st.session_state["link_problems"] = ()
try:
    found = answer(chosen, machine_panel.calibrated_at())
except AdvisorError as error:
    answer_page.impossible(chosen, error)
else:
    answer_page.show(found, st.session_state["link_problems"])
