"""A session of an agent: its time, what would save most, speed over its turns."""

import numpy as np
import streamlit as st

from advisor.advice.advise import Answer
from advisor.advice.task import sentences
from advisor.formatting import seconds
from advisor.ui.parts.drawing import curves
from advisor.ui.parts.markup import listed, plain_words, say, show, two_lines

POINTS = 12
"""Turns that a curve has a point for."""
HOW_TO_ASK = (
    "How long does an agent's task take here? Choose a session in More settings, or state its "
    "turns and the tokens that each adds."
)


def agent_session(answer: Answer) -> None:
    """The session that is asked for."""
    st.subheader("An agent's session", anchor="session")
    task = answer.advice.task
    if task is None:
        say("The session does not fit here.")
        return
    words = " ".join(sentences(task))
    say(plain_words(words), "oa-why")
    show(listed(
        (two_lines(plain_words(saved.edit.words), saved.edit.cost), "",
         f"saves {seconds(saved.seconds)}")
        for saved in task.saves
    ))  # fmt: skip
    turns = np.arange(1.0, task.session.turns + 1.0)
    steps = np.unique(np.geomspace(1, len(turns), POINTS).round().astype(int)) - 1
    named = {
        "prompts": (turns[steps], task.prefill_tps[steps]),
        "replies": (turns[steps], task.decode_tps[steps]),
    }
    show(curves(named, {}, x_label="turn", y_label="tokens/s", alt=words))
