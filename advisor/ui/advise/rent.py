"""SkyPilot task file that rents a GPU of the table, in a folded part."""

import streamlit as st

from advisor.advice.table.option import OptionKind
from advisor.advice.upgrades import skypilot
from advisor.advice.upgrades.upgrades import Upgrade, first_choice
from advisor.errors import Refusal
from advisor.ui.advise.answer import AdviseAnswer
from advisor.ui.parts.code_block import copyable
from advisor.ui.parts.markup import block, notice, show


def task_file(answer: AdviseAnswer) -> None:
    """Choice among the rented GPUs and the file; nothing if none is rented."""
    if not any(option.kind is OptionKind.RENT for option in answer.advice.options):
        return
    part = st.expander("Rent one with SkyPilot", key="open_renting", on_change="rerun")
    if not part.open:
        return
    rented = {
        upgrade.name: upgrade
        for upgrade in answer.advice.upgrades
        if upgrade.offer is not None and upgrade.offer.kind == "rent"
    }
    with part:
        if rented:
            _task(answer, rented)
        else:
            show(block("oa-soft", "No machine for rent is faster than what you have.", "p"))


def _task(answer: AdviseAnswer, rented: dict[str, Upgrade]) -> None:
    if st.session_state.get("rented") not in rented:
        first = first_choice(answer.advice.upgrades)
        known = first is not None and first.name in rented
        st.session_state["rented"] = first.name if known and first else next(iter(rented))
    name = st.selectbox("GPU to rent", rented, key="rented")
    try:
        text = skypilot.task(rented[name])
    except Refusal as refusal:
        notice(str(refusal))
        return
    show(block("oa-soft", f"A task file for {skypilot.VERSION}. {ABOUT}", "p"))
    copyable(text)
    st.download_button(
        "Download task.yaml", text, "task.yaml", "application/yaml", on_click="ignore",
        key="task_file",
    )  # fmt: skip


ABOUT = (
    "It takes the cheapest GPU of this kind among the clouds you have keys for, which may not be "
    "the one whose price stands above. Rent runs until you end it."
)
