"""The Advise page, from top to bottom."""

import streamlit as st

from advisor.errors import AdvisorError
from advisor.formatting import show_money_in
from advisor.ui.advise import page
from advisor.ui.advise.answer import answer
from advisor.ui.parts.waiting import waiting
from advisor.ui.sidebar import form, machine_panel, opened_link
from advisor.ui.sidebar.chosen_machine import machine_problems
from advisor.ui.sidebar.fields import fields
from advisor.ui.sidebar.target_fields import every_field

WAIT = "Reading the model and working out the answer."

opened_link.read("link", fields())

# The first answer may have to wait for the network.
with waiting(WAIT if opened_link.first("link") else ""):
    wanted, chosen = form.choices()
    show_money_in(chosen.paying)
    opened_link.keep(every_field())
    problems = opened_link.problems("link", chosen)
    failure = None
    if not wanted.problem:
        try:
            advice = answer(chosen, wanted.picked, machine_panel.calibrated_at())
            st.session_state["last_asked"] = wanted.picked, chosen
        except AdvisorError as error:
            failure = error
if wanted.problem:
    page.unanswered(wanted, (*problems, *machine_problems(chosen)))
elif failure:
    page.impossible(wanted.picked, chosen, failure)
else:
    page.show(advice, problems)
