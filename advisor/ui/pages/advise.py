"""The Advise page, from top to bottom."""

import streamlit as st

from advisor.errors import AdvisorError
from advisor.formatting import show_money_in
from advisor.ui.advise import page
from advisor.ui.advise.answer import current_answer
from advisor.ui.question import current, row

show_money_in(current.present().paying)
row.question()
failure: AdvisorError | None = None
try:
    answer = current_answer()
except AdvisorError as error:
    failure = error
if failure is not None:
    from advisor.ui.question import refused

    refused.refused(failure)
else:
    page.shown(answer)
    st.set_page_config(page_title=page.title(answer))
