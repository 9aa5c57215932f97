"""Users under load: how many a server supports and how long they wait, in a folded part.

Each answer takes some simulations, which are made when the part is opened and then remembered.
"""

import numpy as np
import streamlit as st
from markupsafe import Markup

from advisor.advice.arrivals.curves import together
from advisor.advice.arrivals.load import ServerLoad, load_on
from advisor.advice.arrivals.question import LoadQuestion
from advisor.advice.arrivals.words import sentences
from advisor.ui.advise.answer import AdviseAnswer
from advisor.ui.parts.log_curves import Curve, CurveMark, curves
from advisor.ui.parts.markup import block, show


def many_users(answer: AdviseAnswer) -> None:
    """Chart of waiting times against the number of users, with the limits marked."""
    part = st.expander("Users who come and go", key="open_load", on_change="rerun")
    if part.open:
        with part:
            _load(answer)


def _load(answer: AdviseAnswer) -> None:
    load = _simulated(answer, _question())
    words = " ".join(sentences(load))
    show(block("oa-strong", words, "p"))
    if load is not None:
        show(_chart(load, words))
        show(block("oa-soft", MEANING, "p"))


MEANING = (
    "Simulated: each user sends the next request as soon as a reply is there, prompts and replies "
    "vary about the lengths chosen, and memory holds what they come to, not the whole context. "
    "What the engine's web server costs is not counted."
)


def _question() -> LoadQuestion:
    default = LoadQuestion()
    speed, wait, rate = st.columns(3)
    per_hour = rate.number_input(
        "Requests an hour", 0.0, 1e8, 0.0, 100.0, key="load_rate", format="%g",
        help="Of all people together, at random times; 0 leaves it open.",
    )  # fmt: skip
    return LoadQuestion(
        user_tps=speed.number_input(
            "Tokens/s for each", 0.1, 1e4, default.user_tps, 1.0, key="load_tps", format="%g",
            help="What each user should have at least once a reply has begun.",
        ),
        first_token_within=wait.number_input(
            "First token within (s)", 0.01, 1e5, default.first_token_within, 0.5, key="load_wait",
            format="%g", help="Longest wait for it that each user should have.",
        ),
        requests_per_hour=per_hour or None,
    )  # fmt: skip


def _name(answer: AdviseAnswer) -> str:
    return f"{answer.choices!r} {answer.advice.title}"


@st.cache_resource(
    max_entries=32, ttl=3600, show_spinner=False,
    hash_funcs={AdviseAnswer: _name, LoadQuestion: repr},
)  # fmt: skip
def _simulated(answer: AdviseAnswer, question: LoadQuestion) -> ServerLoad | None:
    """Load on the chosen runtime, else on the fastest that queues requests."""
    advice = answer.advice
    wanted = (each for each in advice.estimates if advice.chosen in (None, each.how))
    return load_on(wanted, question)


def _chart(load: ServerLoad, alt: str) -> Markup:
    users = np.array([point.users for point in load.curve])
    lines = (
        Curve(name="one in twenty", x=users, y=np.array([point.first_p95 for point in load.curve])),
        Curve(name="median", x=users, y=np.array([point.first_p50 for point in load.curve])),
    )
    limit = load.question.first_token_within
    marks = [CurveMark(text=f"{limit:g} s", y=limit)]
    if load.users_supported > 1:
        text = f"{load.users_supported} served well"
        marks.append(CurveMark(text=text, x=float(load.users_supported)))
    fitting = np.floor(together(load.server, load.lengths))
    if 1 < fitting < users[-1]:
        marks.append(CurveMark(text=f"memory holds {fitting:.0f}", x=float(fitting)))
    return curves(
        lines, marks, x_label="users at once", y_label="first token (s)", unit="s", alt=alt
    )
