"""Two folded parts of the Advise page: users served together, and weights read in RAM or streamed.

What they show takes up to some hundred estimates, which are made when a part is opened.
"""

from collections.abc import Iterable

import numpy as np
import streamlit as st

from advisor.advice.advise import Answer
from advisor.advice.curves import USERS, Crossover, Together, by_prompt, by_users, together
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.formatting import memory, number, tokens_per_second
from advisor.model.model import Floats
from advisor.runtimes.serving import typical_tokens
from advisor.ui.advise.answer import name_of
from advisor.ui.advise.runtime_table import choose, fitting
from advisor.ui.parts import tabs
from advisor.ui.parts.drawing import curves
from advisor.ui.parts.glossary import explained
from advisor.ui.parts.markup import say, show


def users_together(answer: Answer) -> None:
    """Chart of total speed and speed per user against the number of users."""
    if ready := fitting(answer.advice.estimates):
        tabs.folded("Users served together", "open_users", lambda: _together(answer, ready))


SLOWEST, FASTEST = 0.1, 1000.0
"""Speeds that can be asked for each user [tokens/s]."""


def _together(answer: Answer, ready: list[Estimate]) -> None:
    reading = min(max(answer.nouns.money.reading_tps, SLOWEST), FASTEST)
    left, right = st.columns([2, 1])
    with left:
        chosen = choose("Served by", ready, answer.advice.best, key="users_of")
    target = right.number_input(
        "Tokens/s for each", SLOWEST, FASTEST, reading, 1.0, key="target_each",
        format="%g", help="Speed that each user should have at least: that of a reader, if open.",
    )  # fmt: skip
    shared = together(chosen, target)
    if shared is None:
        say("No user fits with these inputs.", "oa-why")
        return
    words, marks = " ".join(limits(shared)), dict[float, str]()
    say(words, "oa-why")
    if shared.memory_ends is not None and shared.memory_ends > 1:
        marks[float(shared.memory_ends)] = f"memory ends at {shared.memory_ends}"
    if shared.target_ends:
        marks[float(shared.target_ends)] = f"{shared.target_ends} at that speed"
    show(curves(
        {"all together": (shared.users, shared.total), "each": (shared.users, shared.each)}, marks,
        level=(target, f"{target:g} tokens/s for each"), x_label="users", y_label="tokens/s",
        alt=words,
    ))  # fmt: skip


def limits(together: Together) -> Iterable[str]:
    """Chart in words: gain, cache, where memory ends, where the target speed ends."""
    alone, most = tokens_per_second(float(together.each[0])), int(together.users[-1])
    yield f"One user gets {alone}" + (
        f"; {most} users together get {tokens_per_second(float(together.total[-1]))}, "
        f"{number(together.gain)} times as much."
        if most > 1
        else "."
    )
    yield f"The cache of a full context takes {memory(together.kv_bytes)}."
    users = "users" if most > 1 else "user"
    if together.estimate.how.at_once is not None:
        tokens = number(float(typical_tokens(together.estimate.work)))
        holding = f"{users} with {tokens} tokens each, as these requests hold on average"
    else:
        holding = f"{users} with {'full contexts' if most > 1 else 'a full context'}"
    enough = f"more than {USERS[-1]}" if together.memory_ends is None else str(most)
    yield f"Memory is enough for {enough} {holding}."
    target = tokens_per_second(together.target)
    if together.target_ends is None:
        yield f"Each of them still gets {target} or more, so memory is the limit."
    elif together.target_ends == 0:
        yield f"A single user gets less than {target}."
    else:
        yield f"Up to {together.target_ends} get {target} each, so speed is the limit."


def in_place_or_streamed(answer: Answer) -> None:
    """Chart of weights read in RAM against weights streamed, by users and by prompt length."""
    placed = {estimate.strategy for estimate in fitting(answer.advice.estimates)}
    if PlacementStrategy.GPU_RESIDENT in placed or not answer.nouns.machine.gpus:
        return
    title = "Weights read in RAM, or copied to the GPU"
    tabs.folded(title, "open_streaming", lambda: _crossovers(answer))


def _crossovers(answer: Answer) -> None:
    users, prompt = _compared(answer)
    if users is None or prompt is None:
        say("Only one of the two ways works here.", "oa-why")
        return
    say(explained(MEANING), "oa-why")
    left, right = st.columns(2, gap="medium")
    with left:
        _crossover(users, "users", "tokens/s, all together", by_users_words(users))
    with right:
        _crossover(prompt, "tokens of the prompt", "prompt tokens/s", by_prompt_words(prompt))
    say(explained(COPIED))


@st.cache_resource(max_entries=8, ttl=3600, show_spinner=False, hash_funcs={Answer: name_of})
def _compared(answer: Answer) -> tuple[Crossover | None, Crossover | None]:
    """Weights read in RAM against weights streamed, by users and by prompt length."""
    return by_users(answer.advice.estimates), by_prompt(answer.advice.estimates)


MEANING = (
    "In place, the processor reads the weights where they lie and computes for every token. "
    "Streamed, they cross the link once for all tokens of a step, and the GPU computes."
)


def _crossover(crossover: Crossover, x_label: str, y_label: str, words: str) -> None:
    say(words, "oa-strong")
    named = {
        "in place": (crossover.at, crossover.in_place.speed),
        "streamed": (crossover.at, crossover.streamed.speed),
    }
    at = crossover.overtakes
    between = at is not None and at > crossover.at[0]
    marks = {at: f"from {np.ceil(at):,.0f}"} if at is not None and between else {}
    show(curves(named, marks, x_label=x_label, y_label=y_label, alt=words))


def by_users_words(crossover: Crossover) -> str:
    """Number of users from which streaming is faster, in words."""
    at, limit = crossover.overtakes, _last_of(crossover.at, crossover.streamed.speed)
    if at is None:
        return f"Streaming is not faster with up to {limit} users, the most that it has memory for."
    if at <= crossover.at[0]:
        return f"Streaming is faster from the first user on ({_who(crossover, at)})."
    return f"From about {np.ceil(at):.0f} users on, streaming is faster ({_who(crossover, at)})."


def by_prompt_words(crossover: Crossover) -> str:
    """Length of the prompt from which streaming is faster, in words."""
    at = crossover.overtakes
    if at is None:
        longest = _last_of(crossover.at, crossover.streamed.speed)
        return f"Streaming is not faster with prompts of up to {longest:,} tokens."
    if at <= crossover.at[0]:
        return f"Streaming is faster with prompts of every length ({_who(crossover, at)})."
    length = f"{np.ceil(at):,.0f} tokens"
    return f"From prompts of about {length} on, streaming is faster ({_who(crossover, at)})."


def _last_of(at: Floats, speed: Floats) -> int:
    there = at[np.isfinite(speed)]
    return int(there[-1]) if there.size else 0


def _who(crossover: Crossover, at: float) -> str:
    """Runtimes on both sides of the crossing; one where only it is left."""
    place = min(int(np.searchsorted(crossover.at, at)), len(crossover.at) - 1)
    over = crossover.in_place.runtimes[place]
    return crossover.streamed.runtimes[place] + (f" over {over}" if over else "")


COPIED = (
    "llama.cpp and its forks stream by themselves in steps of 32 tokens and more; such steps count "
    "as streamed. In place, prompts are read in micro-batches of 16, which stay on the processor."
)
