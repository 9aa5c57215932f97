"""Users served together, and whether to stream: two parts of the Advise page, folded until asked.

What they show takes up to some hundred estimates, which are made when a part is opened.
"""

from collections.abc import Iterable

import numpy as np
import streamlit as st

from advisor.advice import concurrency
from advisor.advice.compare import decode_tps
from advisor.advice.concurrency import READING, USERS, Together
from advisor.advice.crossover import Crossover
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.formatting import memory, number, tokens_per_second
from advisor.model.model import Floats
from advisor.ui.advise.answer import AdviseAnswer
from advisor.ui.advise.estimate_choice import choose
from advisor.ui.parts.log_curves import Curve, CurveMark, curves
from advisor.ui.parts.markup import block, show
from advisor.ui.parts.plot import draw


def users_together(answer: AdviseAnswer) -> None:
    """Total speed and that of each user, over their number."""
    ready = sorted(
        (one for one in answer.advice.estimates if bool(one.fits)), key=decode_tps, reverse=True
    )
    if not ready:
        return
    part = st.expander("Users served together", key="open_users", on_change="rerun")
    if part.open:
        with part:
            _together(answer, ready)


def _together(answer: AdviseAnswer, ready: list[Estimate]) -> None:
    left, right = st.columns([2, 1])
    with left:
        chosen = choose("Served by", ready, answer.advice.best, key="users_of")
    target = right.number_input(
        "Tokens/s for each", 0.1, 1000.0, READING, 1.0, key="reading", format="%g",
        help="Speed that each user should have at least. People read about 5 tokens a second.",
    )  # fmt: skip
    found = concurrency.together(chosen, target, answer.choices.settings())
    if found is None:
        show(block("oa-why", "Not even one user fits with these choices.", "p"))
        return
    show(block("oa-why", " ".join(limits(found)), "p"))
    draw(_users_chart(found), key="users_chart", alt=" ".join(limits(found)))


def limits(found: Together) -> Iterable[str]:
    """What the chart says: gain, cache, where memory ends, where the speed asked for does."""
    alone, most = tokens_per_second(float(found.each[0])), int(found.users[-1])
    yield f"One user gets {alone}" + (
        f"; {most} users together get {tokens_per_second(float(found.total[-1]))}, "
        f"{number(found.gain)} times as much."
        if most > 1
        else "."
    )
    yield f"The cache of each takes {memory(found.kv_bytes)}."
    if found.memory_ends is None:
        yield f"Memory holds more than {USERS[-1]} users."
    else:
        yield f"Memory ends at {most} {'users' if most > 1 else 'user'}."
    target = tokens_per_second(found.target)
    if found.target_ends is None:
        yield f"Each of them still gets {target} or more, so memory is the limit."
    elif found.target_ends == 0:
        yield f"Not even a single user gets {target}."
    else:
        yield f"Up to {found.target_ends} get {target} each, so speed is the limit."


def _users_chart(found: Together) -> dict[str, object]:
    lines = (
        Curve(name="all together", x=found.users, y=found.total),
        Curve(name="each", x=found.users, y=found.each),
    )
    marks = [CurveMark(text=f"{found.target:g} tokens/s for each", y=found.target)]
    if found.memory_ends is not None and found.memory_ends > 1:
        marks.append(
            CurveMark(text=f"memory ends at {found.memory_ends}", x=float(found.memory_ends))
        )
    if found.target_ends:
        marks.append(
            CurveMark(text=f"{found.target_ends} at that speed", x=float(found.target_ends))
        )
    return curves(lines, marks, x_label="users", y_label="tokens/s")


def in_place_or_streamed(answer: AdviseAnswer) -> None:
    """Weights in RAM: read by the processor or carried to the GPU, by users and by prompt."""
    estimates = answer.advice.estimates
    whole = any(
        bool(one.fits) and one.strategy is PlacementStrategy.GPU_RESIDENT for one in estimates
    )
    if whole or not answer.machine.gpus:
        return
    part = st.expander("In place or streamed", key="open_streaming", on_change="rerun")
    if part.open:
        with part:
            _crossovers(answer)


def _crossovers(answer: AdviseAnswer) -> None:
    users, prompt = answer.crossovers
    if users is None or prompt is None:
        show(block("oa-why", "Only one of the two ways works here.", "p"))
        return
    show(block("oa-why", MEANING, "p"))
    left, right = st.columns(2, gap="medium")
    with left:
        _crossover(users, "users", "tokens/s, all together", by_users_words(users))
    with right:
        _crossover(prompt, "tokens of the prompt", "prompt tokens/s", by_prompt_words(prompt))
    show(block("oa-soft", COPIED, "p"))


MEANING = (
    "In place, the processor reads the weights where they lie and computes for every token. "
    "Streamed, they cross the link once for all tokens of a step, and the GPU computes."
)


def _crossover(found: Crossover, x_label: str, y_label: str, words: str) -> None:
    show(block("oa-strong", words, "p"))
    lines = (
        Curve(name="in place", x=found.at, y=found.in_place.speed),
        Curve(name="streamed", x=found.at, y=found.streamed.speed),
    )
    at = found.overtakes
    between = at is not None and at > found.at[0]
    marks = [CurveMark(text=f"from {np.ceil(at):,.0f}", x=at)] if at is not None and between else []
    figure = curves(lines, marks, x_label=x_label, y_label=y_label)
    draw(figure, key=f"crossover_{x_label}", alt=words)


def by_users_words(found: Crossover) -> str:
    """Where streaming overtakes, in users."""
    at, limit = found.overtakes, _last_of(found.at, found.streamed.speed)
    if at is None:
        return f"Streaming does not overtake up to {limit} users, which is what its memory holds."
    if at <= found.at[0]:
        return f"Streaming is faster from the first user on ({_who(found, at)})."
    return f"From about {np.ceil(at):.0f} users on, streaming is faster ({_who(found, at)})."


def by_prompt_words(found: Crossover) -> str:
    """Where streaming overtakes, in tokens of the prompt."""
    at = found.overtakes
    if at is None:
        longest = _last_of(found.at, found.streamed.speed)
        return f"Streaming does not overtake with prompts of up to {longest:,} tokens."
    if at <= found.at[0]:
        return f"Streaming reads prompts of every length sooner ({_who(found, at)})."
    length = f"{np.ceil(at):,.0f} tokens"
    return f"From prompts of about {length} on, streaming is faster ({_who(found, at)})."


def _last_of(at: Floats, speed: Floats) -> int:
    there = at[np.isfinite(speed)]
    return int(there[-1]) if there.size else 0


def _who(found: Crossover, at: float) -> str:
    """The two runtimes where streaming has just overtaken; one where it alone is left."""
    place = min(int(np.searchsorted(found.at, at)), len(found.at) - 1)
    over = found.in_place.runtimes[place]
    return found.streamed.runtimes[place] + (f" over {over}" if over else "")


COPIED = (
    "llama.cpp and its kin stream by themselves in steps of 32 tokens and more, and count so here. "
    "In place, prompts are read in micro-batches of 16, which stay on the processor."
)
