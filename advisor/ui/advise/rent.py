"""SkyPilot task file that rents a GPU of the table, in a folded part."""

from collections.abc import Mapping

import streamlit as st

from advisor.advice import skypilot
from advisor.advice.table.option import OptionKind
from advisor.cost_model.estimate import Estimate
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
    with part:
        _task(skypilot.rented_estimates(answer.advice.question, answer.advice.options))


def _task(rented: Mapping[str, Estimate]) -> None:
    """File of a chosen machine, at first the one that leaves most of those with a name there."""
    if st.session_state.get("rented") not in rented:
        able = (name for name, estimate in rented.items() if skypilot.has_name(estimate))
        st.session_state["rented"] = next(able, next(iter(rented)))
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
