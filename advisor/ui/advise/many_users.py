"""Users under load: how many a server supports, how long they wait, and the machines that serve all
of them, in a folded part.

Each answer takes some simulations, which are made when the part is opened and then remembered.
"""

import numpy as np
import streamlit as st
from markupsafe import Markup

from advisor.advice.advise import Answer
from advisor.advice.arrivals.load import ServerLoad, load_on, sentences
from advisor.advice.serving import (
    NONE_SERVES,
    ServingFleet,
    aged,
    heading,
    machines,
    serving_fleets,
)
from advisor.formatting import money
from advisor.request.request import Request
from advisor.ui.advise.answer import name_of
from advisor.ui.parts.drawing import curves
from advisor.ui.parts.markup import say, show, table
from advisor.ui.question import inputs


def load_and_servers(answer: Answer) -> None:
    """Chart of waiting times against the number of users, with the limits marked; servers."""
    inputs.several(LOAD, columns=len(LOAD))
    question = answer.nouns.request
    load = _simulated(answer, question)
    words = " ".join(sentences(load))
    say(words, "oa-strong")
    if load is not None:
        show(_chart(load, words))
        say(MEANING)
    _fleets(answer, question)


LOAD = ("user_tps", "first_token_within", "requests_per_hour", "length_spread")
MEANING = (
    "Simulated: each user sends the next request as soon as a reply is there, prompts and replies "
    "vary about the lengths chosen, and memory holds what they come to, not the whole context. "
    "The work of the engine's web server is not counted."
)


@st.cache_resource(
    max_entries=32, ttl=3600, show_spinner=False, hash_funcs={Answer: name_of, Request: repr}
)
def _simulated(answer: Answer, question: Request) -> ServerLoad | None:
    """Load on the chosen runtime, else on the fastest that queues requests."""
    advice = answer.advice
    wanted = (each for each in advice.estimates if advice.chosen in (None, each.how))
    return load_on(wanted, question)


def _fleets(answer: Answer, question: Request) -> None:
    """Machines that serve all users, cheapest first."""
    advice = answer.advice
    users = int(advice.question.work.users)
    if users < 2:
        say(ALONE)
        return
    say(heading(users, question), "oa-strong")
    fleets = _served(answer, question)
    if not fleets:
        say(NONE_SERVES)
        return
    rows = [
        (machines(fleet), money(fleet.monthly), money(fleet.upfront) if fleet.upfront else "",
         f"{fleet.users:,}", aged(fleet).strip(" ()"))
        for fleet in fleets
    ]  # fmt: skip
    show(table(HEADINGS, rows, label="Machines that serve all users", numeric=(1, 2, 3)))


HEADINGS = ("Machines", "A month", "At once", "Users in all", "Price")
ALONE = "Type more than one user under Use to see the machines that serve all of them."


@st.cache_resource(
    max_entries=32, ttl=3600, show_spinner="Comparing machines",
    hash_funcs={Answer: name_of, Request: repr},
)  # fmt: skip
def _served(answer: Answer, question: Request) -> tuple[ServingFleet, ...]:
    """Machines that serve all users."""
    return serving_fleets(answer.advice.question, question, answer.advice.chosen)


def _chart(load: ServerLoad, alt: str) -> Markup:
    users = np.array([point.users for point in load.curve])
    limit, marks = load.request.first_token_within, {}
    if load.users_supported > 1:
        marks[float(load.users_supported)] = f"{load.users_supported} served well"
    fitting = float(np.floor(load.together))
    if 1 < fitting < users[-1]:
        marks[fitting] = f"memory holds {fitting:.0f}"
    named = {
        "one in twenty": (users, np.array([point.first_p95 for point in load.curve])),
        "median": (users, np.array([point.first_p50 for point in load.curve])),
    }
    return curves(
        named, marks, level=(limit, f"{limit:g} s"), x_label="users at once",
        y_label="first token (s)", alt=alt,
    )  # fmt: skip
