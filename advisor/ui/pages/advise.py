"""The Advise page, from top to bottom."""

import streamlit as st

from advisor.errors import AdvisorError
from advisor.ui.advise import page
from advisor.ui.advise.answer import answer
from advisor.ui.parts import markup
from advisor.ui.sidebar import form, machine_panel, permalink

if "link_problems" not in st.session_state:
    said = st.query_params.to_dict()
    if names := permalink.respelled(said):
        # Widgets take their values from the address before this page runs, so it runs again.
        st.query_params.update(names)
        st.rerun()
    st.session_state["link_problems"] = permalink.problems(said)

waiting = st.empty()
if "link_choices" not in st.session_state:
    # The first answer may have to wait for the network.
    with waiting.container():
        markup.show(markup.block("oa-soft", "Reading the model and working out the answer."))
        st.skeleton(height=420)
wanted, chosen = form.choices()
# What was wrong with the link matters until something is changed.
if st.session_state.setdefault("link_choices", chosen) != chosen:
    st.session_state["link_problems"] = ()
if wanted.problem:
    waiting.empty()
    page.unanswered(wanted.problem, st.session_state["link_problems"])
    st.stop()
st.session_state["last_asked"] = wanted.picked, chosen
try:
    advice = answer(chosen, wanted.picked, machine_panel.calibrated_at())
except AdvisorError as error:
    waiting.empty()
    page.impossible(wanted.picked, chosen, error)
else:
    waiting.empty()
    page.show(advice, st.session_state["link_problems"])
