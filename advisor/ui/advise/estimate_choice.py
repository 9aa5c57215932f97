"""Choice among estimates by runtime and placement."""

from collections.abc import Iterable

import streamlit as st

from advisor.advice.compare import TITLES
from advisor.cost_model.estimate import Estimate


def choose(
    label: str, estimates: Iterable[Estimate], best: Estimate | None, *, key: str
) -> Estimate:
    """Chosen estimate; an impossible choice falls back to the best, else to the first.

    Args:
        label: label of the choice.
        estimates: estimates, at least one.
        best: preselected estimate.
        key: key of the widget.
    """
    named = {f"{estimate.runtime}, {TITLES[estimate.strategy]}": estimate for estimate in estimates}
    if st.session_state.get(key) not in named:
        first = next(iter(named))
        st.session_state[key] = next((name for name in named if named[name] is best), first)
    return named[st.selectbox(label, named, key=key)]
