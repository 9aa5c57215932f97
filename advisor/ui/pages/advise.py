"""The Advise page, from top to bottom."""

import streamlit as st

from advisor.formatting import show_money_in
from advisor.ui.advise import page
from advisor.ui.question import current, refused, row
from advisor.ui.question.answer import current_answer

show_money_in(current.present().paying)
row.question()
if (answer := refused.tried(current_answer)) is not None:
    page.shown(answer)
    st.set_page_config(page_title=page.title(answer))
