"""The page Machines: machines that reach a target."""

import streamlit as st

from advisor.formatting import show_money_in
from advisor.ui.find import page
from advisor.ui.question import current, refused, row

show_money_in(current.present().paying)
row.question()
kind = page.choose()
with st.container(key="machines"):
    if (answer := refused.tried(page.present_answer)) is not None:
        page.shown(answer, kind)
