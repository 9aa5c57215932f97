"""Tab All runtimes: runtimes with their effort and command, and users served together or under
load.

The last two take up to some hundred estimates or simulations, made when their part is opened.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import streamlit as st
from markupsafe import Markup

from advisor.advice import serving
from advisor.advice.advise import Answer
from advisor.advice.answered_servers import offered, server_load
from advisor.advice.arrivals.load import ServerLoad, sentences
from advisor.advice.curves import USERS, Together, together
from advisor.advice.fleets import Offered
from advisor.advice.serving import ServingFleet
from advisor.advice.table.demand import first_word_of
from advisor.cost_model.estimate import Estimate
from advisor.formatting import money
from advisor.runtimes.compare import decode_tps
from advisor.ui.advise.run_it import chosen_system, effort, fitting, told
from advisor.ui.parts import tabs
from advisor.ui.parts.drawing import curves
from advisor.ui.parts.glossary import explained
from advisor.ui.parts.markup import columned, say, show, table, two_lines
from advisor.ui.question import inputs
from advisor.ui.question.answer import name_of
from advisor.units import memory, number, range_of, seconds, tokens_per_second

COLUMNS: Mapping[str, Callable[[Estimate], object]] = {
    "Runtime": lambda row: two_lines(row.runtime.name, explained(row.format_note)),
    "Placement": lambda row: row.strategy.heading,
    "Speed": lambda row: _speed(row),
    "First token": lambda row: _first(row),
    "Limited by": lambda row: explained(row.bottleneck),
    "Setup": lambda row: effort(row.runtime.name),
}


def shown(answer: Answer) -> None:
    """Runtimes and placements that work, fastest first, users, and in a fold the others."""
    estimates = answer.advice.estimates
    if ready := fitting(estimates):
        with st.container(key="runtimes"):
            columns = _columns(float(answer.advice.question.work.users))
            show(columned(columns, ready, label="Runtimes, fastest first", numeric=(2, 3)))
        picked = choose("Command for", ready, answer.advice.best, key="command_of")
        told(picked, chosen_system(picked))
    if others := [estimate for estimate in estimates if not bool(estimate.fits)]:
        with st.expander(f"{len(others)} that do not work here, and why"):
            headings = ("Runtime", "Placement", "Why not")
            show(table(headings, _reasons(others), label="Runtimes that do not work"))
    if ready:
        tabs.folded("Users served together", "open_users", lambda: _together(answer, ready))
    tabs.folded("Users under load", "open_load", lambda: load_and_servers(answer))


OF_SEVERAL = "First token, mean load"  # heading of that column where several users ask


def _columns(users: float) -> Mapping[str, Callable[[Estimate], object]]:
    """Columns for a number of users: of several the first token is that of their mean load."""
    if users <= 1:
        return COLUMNS
    return {OF_SEVERAL if name == "First token" else name: row for name, row in COLUMNS.items()}


def _first(row: Estimate) -> str:
    """Time to the first token, of several users at their mean load."""
    if float(row.work.users) > 1:
        return seconds(first_word_of(row))
    if row.first_token:
        return seconds(float(row.first_token.value))
    return ""


def _speed(row: Estimate) -> Markup:
    speed = row.decode
    if speed:
        ends = range_of(float(speed.low), float(speed.high))
    else:
        ends = ""
    return two_lines(tokens_per_second(decode_tps(row)), ends)


def _reasons(others: Sequence[Estimate]) -> Iterable[tuple[object, object, object]]:
    """One row for all placements of a runtime with the same reason."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for other in others:
        why = other.refusal or f"{other.model.format} is {memory(float(other.missing))} too large."
        grouped.setdefault((other.runtime.name, why), []).append(other.strategy.heading)
    for (runtime, why), placements in grouped.items():
        yield runtime, ", ".join(placements), explained(why)


def choose(
    label: str, estimates: Iterable[Estimate], best: Estimate | None, *, key: str
) -> Estimate:
    """Estimate that the visitor chooses; the best, or the first, where that choice is
    impossible.
    """
    named = {
        f"{estimate.runtime.name}, {estimate.strategy.heading}": estimate for estimate in estimates
    }
    if st.session_state.get(key) not in named:
        first = next(iter(named))
        st.session_state[key] = next((name for name in named if named[name] is best), first)
    return named[st.selectbox(label, named, key=key)]


# speeds that can be asked for each user [tokens/s]
SLOWEST = 0.1
FASTEST = 1000.0


def _together(answer: Answer, ready: list[Estimate]) -> None:
    """Chart of total speed and speed per user against the number of users."""
    reading = min(max(answer.nouns.money.reading_tps, SLOWEST), FASTEST)
    left, right = st.columns([2, 1])
    with left:
        chosen = choose("Served by", ready, answer.advice.best, key="users_of")
    target = right.number_input(
        "Tokens/s for each",
        SLOWEST,
        FASTEST,
        reading,
        1.0,
        key="target_each",
        format="%g",
        help="Speed that each user should have at least: that of a reader, if open.",
    )
    shared = together(chosen, target)
    if shared is None:
        say("No user fits with these inputs.", "oa-why")
        return
    words = " ".join(limits(shared))
    marks = dict[float, str]()
    say(words, "oa-why")
    if shared.memory_ends is not None and shared.memory_ends > 1:
        marks[float(shared.memory_ends)] = f"memory ends at {shared.memory_ends}"
    if shared.target_ends:
        marks[float(shared.target_ends)] = f"{shared.target_ends} at that speed"
    show(
        curves(
            {"all together": (shared.users, shared.total), "each": (shared.users, shared.each)},
            marks,
            level=(target, f"{target:g} tokens/s for each"),
            x_label="users",
            y_label="tokens/s",
            alt=words,
        )
    )


def limits(together: Together) -> Iterable[str]:
    """Sentences on a chart of users: gain, cache, the end of the memory, the end of the wanted
    speed.
    """
    alone = tokens_per_second(float(together.each[0]))
    most = int(together.users[-1])
    yield f"One user gets {alone}" + (
        f"; {most} users together get {tokens_per_second(float(together.total[-1]))}, "
        f"{number(together.gain)} times as much."
        if most > 1
        else "."
    )
    yield f"The cache of a full context takes {memory(together.kv_bytes)}."
    users = "users" if most > 1 else "user"
    if together.estimate.runtime.at_once is not None:
        tokens = number(float(together.estimate.work.typical_tokens))
        holding = f"{users} with {tokens} tokens each, as these requests hold on average"
    else:
        holding = f"{users} with {'full contexts' if most > 1 else 'a full context'}"
    if together.memory_ends is None:
        enough = f"more than {USERS[-1]}"
    else:
        enough = str(most)
    yield f"Memory is enough for {enough} {holding}."
    target = tokens_per_second(together.target)
    if together.target_ends is None:
        yield f"Each of them still gets {target} or more, so memory is the limit."
    elif together.target_ends == 0:
        yield f"A single user gets less than {target}."
    else:
        yield f"Up to {together.target_ends} get {target} each, so speed is the limit."


# Users under load.

LOAD = ("user_tps", "first_token_within", "requests_per_hour", "length_spread")
MEANING = (
    "Simulated: each user sends the next request as soon as a reply is there, prompts and replies "
    "vary about the lengths chosen, and memory holds what they come to, and one whole context. "
    "The work of the engine's web server is not counted."
)
ALONE = "Type more than one user under Use to see the machines that serve all of them."
FLEETS: Mapping[str, Callable[[ServingFleet], object]] = {
    "Machines": serving.machines,
    "A month": lambda fleet: money(fleet.monthly),
    "At once": lambda fleet: money(fleet.upfront) if fleet.upfront else "",
    "Users in all": lambda fleet: f"{fleet.users:,}",
    "Price": lambda fleet: serving.aged(fleet).strip(" ()"),
    "But": lambda fleet: fleet.drawback,
}


def load_and_servers(answer: Answer) -> None:
    """Waiting times by users, with their limits; machines that serve all, cheapest first."""
    inputs.several(LOAD, columns=len(LOAD))
    load = _simulated(answer)
    words = " ".join(sentences(load, answer.advice.chosen))
    say(words, "oa-strong")
    if load is not None:
        show(_chart(load, words))
        say(MEANING)
    users = int(answer.advice.question.work.users)
    if users < 2:
        say(ALONE)
        return
    say(serving.heading(users, answer.nouns.request), "oa-strong")
    here, fleets = _served(answer)
    if not answer.advice.question.ownership.nothing:
        say(serving.of_yours(users, here.yours, keeps=answer.advice.decision.keeps))
    if fleets:
        label = "Machines that serve all users"
        show(columned(FLEETS, fleets, label=label, numeric=(1, 2, 3)))
    else:
        say(serving.NONE_SERVES)


@st.cache_resource(max_entries=32, ttl=3600, show_spinner=False, hash_funcs={Answer: name_of})
def _simulated(answer: Answer) -> ServerLoad | None:
    """Load on the chosen runtime, or on the fastest that queues requests."""
    return server_load(answer.advice, answer.nouns.request)


@st.cache_resource(
    max_entries=32, ttl=3600, show_spinner="Comparing machines", hash_funcs={Answer: name_of}
)
def _served(answer: Answer) -> Offered:
    return offered(answer.advice, answer.nouns.request)


def _chart(load: ServerLoad, alt: str) -> Markup:
    users = np.array([point.users for point in load.curve])
    limit = load.request.served_within
    marks = {}
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
        named,
        marks,
        level=(limit, f"{limit:g} s"),
        x_label="users at once",
        y_label="first token (s)",
        alt=alt,
    )
