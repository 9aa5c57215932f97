"""The page Machines: machines that reach a target."""

import streamlit as st

from advisor.errors import AdvisorError
from advisor.formatting import show_money_in
from advisor.ui.find import page
from advisor.ui.parts.markup import waiting
from advisor.ui.question import current, models, refused, row, this_machine

show_money_in(current.present().paying)
row.question()
kind = page.choose()
failure: AdvisorError | None = None
with st.container(key="machines"):
    with waiting("Trying every GPU of the catalogue in every number and format."):
        try:
            picked = models.pick(current.present().model)
            results = page.answer(page.target(), picked, this_machine.calibrated_at())
        except AdvisorError as error:
            failure = error
    if failure is not None:
        refused.refused(failure)
    else:
        page.shown(results, kind)
