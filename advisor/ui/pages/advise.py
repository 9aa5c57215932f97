"""The Advise page, from top to bottom."""

import streamlit as st

from advisor.errors import AdvisorError
from advisor.formatting import show_money_in
from advisor.ui.advise import page
from advisor.ui.advise.answer import answer
from advisor.ui.parts.waiting import waiting
from advisor.ui.sidebar import form, machine_panel, permalink

WAIT = "Reading the model and working out the answer."

if "link_problems" not in st.session_state:
    said = st.query_params.to_dict()
    names = permalink.respelled(said)
    if names and "link_respelled" not in st.session_state:
        # Widgets take their values from the address before this page runs, so it runs again: once.
        st.session_state["link_respelled"] = True
        st.query_params.update(names)
        st.rerun()
    st.session_state["link_problems"] = permalink.problems(said)

# The first answer may have to wait for the network.
with waiting("" if "link_choices" in st.session_state else WAIT):
    wanted, chosen = form.choices()
    show_money_in(chosen.paying())
    # What was wrong with the link matters until something is changed.
    if st.session_state.setdefault("link_choices", chosen) != chosen:
        st.session_state["link_problems"] = ()
    failure = None
    if not wanted.problem:
        st.session_state["last_asked"] = wanted.picked, chosen
        try:
            advice = answer(chosen, wanted.picked, machine_panel.calibrated_at())
        except AdvisorError as error:
            failure = error
if wanted.problem:
    page.unanswered(wanted.problem, st.session_state["link_problems"])
elif failure:
    page.impossible(wanted.picked, chosen, failure)
else:
    page.show(advice, st.session_state["link_problems"])
