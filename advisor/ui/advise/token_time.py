"""Tab Where the time goes: placements, bytes and time, faster changes, an agent's session.

It also shows weights read in RAM or streamed.
"""

import math
from collections.abc import Iterable

import numpy as np
import streamlit as st
from markupsafe import Markup

from advisor.advice.advise import Answer
from advisor.advice.curves import Crossover, by_prompt, by_users, page_cache_for
from advisor.advice.edits.in_tiers import what_it_asks
from advisor.advice.table.option import OptionKind
from advisor.advice.table.ram_and_drive import NUMBERS_OF_DRIVES
from advisor.advice.task import sentences
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.schedule import Route
from advisor.formatting import capitalised
from advisor.reports import charts, from_advice
from advisor.reports.document import PLACEMENTS
from advisor.runtimes.compare import decode_tps, usable
from advisor.ui.advise import placements
from advisor.ui.advise.run_it import fitting
from advisor.ui.parts import tabs
from advisor.ui.parts.drawing import curves, headed
from advisor.ui.parts.glossary import explained, explained_in_turn
from advisor.ui.parts.markup import (
    block,
    facts,
    head,
    joined,
    listed,
    plain_words,
    say,
    show,
    two_lines,
)
from advisor.ui.question.answer import name_of
from advisor.units import UNKNOWN, memory, range_of, seconds, tokens_per_second


def shown(answer: Answer) -> None:
    """Tab of the time of a token, by part."""
    advice = answer.advice
    machine = answer.nouns.machine
    if answer.nouns.session is not None:
        agent_session(answer)
    cards(answer)
    names = {key: placements.name(answer, PlacementStrategy(key)) for key in PLACEMENTS}
    left, right = st.columns(2, gap="medium")
    with left:
        if rows := from_advice.memory_use(advice, machine):
            headed(charts.memory_use(rows, names), anchor="bytes")
        sweep = from_advice.layer_sweep(advice, machine)
        if sweep is not None and len(sweep.x) > 1 and not machine.unified:
            headed(charts.layers(sweep), anchor="layers")
    with right:
        if parts := from_advice.token_time(advice):
            headed(charts.token_time(parts, names), anchor="time")
        if advice.best is not None:
            st.subheader("Faster, in order of gain", anchor="faster")
            changes = advice.what_ifs[:7]
            told = explained_in_turn(plain_words(change.words) for change in changes)
            show(
                listed(
                    (
                        two_lines(name, plain_words(change.cost)),
                        "" if change.of_prompt else f"+{100 * (change.gain - 1):.0f} %",
                        change.effect
                        if change.of_prompt
                        else tokens_per_second(change.speed.decode),
                    )
                    for name, change in zip(told, changes, strict=True)
                )
            )
            if not changes:
                say("No smaller change makes it notably faster.")
    _ram_and_drive(answer)
    _in_place_or_streamed(answer)
    if answer.nouns.session is None:
        tabs.folded("An agent's session", "open_session", lambda: say(HOW_TO_ASK))


# Text that appears as fast as the model would write it.
#
# The style sheet uncovers each line in steps of one token. Those who asked for less motion see the
# text at rest; the seconds for a reply stand beside it in words.

TOKEN = 4  # characters; about what a token of English takes
LINES = (
    "The quick brown fox jumps   ",
    "over the lazy dog, and every",
    "token takes as long as this.",
)
PAUSE = 2.5  # seconds at the end, so that a fast model does not flicker


def typing(speed: float) -> Markup:
    """Lines that are typed at a speed, each covered by its own width and that of earlier lines
    [tokens/s].
    """
    wide = len(LINES[0])
    steps = math.ceil(len(LINES) * wide / TOKEN + PAUSE * speed)
    line = Markup(
        "<div style='--from:{}ch;--to:{}ch;animation-duration:{:.3f}s;"
        "animation-timing-function:steps({})'>{}</div>"
    )
    typed = joined(
        line.format(place * wide, place * wide - TOKEN * steps, steps / speed, steps, words)
        for place, words in enumerate(LINES, 1)
    )
    return Markup(
        "<div class='oa-type' aria-hidden='true'><span>at this speed</span>{}</div>"
    ).format(typed)


PROMISED = 0.5  # least speed that articles promise for a 70B model on a drive of 7 GB/s [tokens/s]


def cards(answer: Answer) -> None:
    """Show facts on placements that the cards above lack, in the order of the cards."""
    each = ((strategy, answer.advice.card(strategy)) for strategy in PlacementStrategy)
    told = (
        (placements.name(answer, strategy), joined(_details(answer, strategy, estimate)))
        for strategy, estimate in each
    )
    drawn = (block("oa-card", head(name) + details) for name, details in told if details)
    show(block("oa-cards", joined(drawn)))


def _details(
    answer: Answer, strategy: PlacementStrategy, estimate: Estimate | None
) -> Iterable[Markup]:
    if estimate is not None and bool(estimate.fits):
        yield from _running(answer, estimate)
    elif strategy is PlacementStrategy.GPU_RESIDENT:
        yield from _would_hold(answer)
    elif estimate is not None:
        yield block("oa-why", f"{memory(float(estimate.missing))} more RAM would hold it.", "p")


def _would_hold(answer: Answer) -> Iterable[Markup]:
    """Cheapest option per month that holds the whole model in GPUs."""
    holding = (OptionKind.ADD, OptionKind.REPLACE, OptionKind.RENT)
    whole = (
        (option.monthly, option.speed, option.name)
        for option in answer.advice.options
        if option.kind in holding and option.speed and option.speed.whole and option.monthly
    )
    if cheapest := min(whole, key=lambda row: row[0], default=None):
        _, speed, name = cheapest
        told = Markup("Would reach <b>{} tokens/s</b> with {}, the cheapest that holds it.")
        yield block("oa-why", told.format(range_of(speed.low, speed.high), name), "p")


def _running(answer: Answer, estimate: Estimate) -> Iterable[Markup]:
    yield _facts(answer, estimate)
    yield typing(decode_tps(estimate))
    length = answer.nouns.request.output
    yield block("oa-caption", f"A reply of {length} tokens takes {seconds(float(estimate.reply))}.")
    yield from _remarks(answer, estimate)


def _facts(answer: Answer, estimate: Estimate) -> Markup:
    first = estimate.first_token
    placement = estimate.placement
    named: dict[str, Markup | str] = {
        "First token": seconds(float(first.value)) if first else UNKNOWN,
        "Limited by": explained(estimate.bottleneck),
        "Runtime": explained(f"{estimate.runtime.name}, {estimate.model.format}"),
    }
    whole = estimate.strategy is PlacementStrategy.GPU_RESIDENT
    if not whole and answer.nouns.machine.gpus and placement:
        named["On the GPU"] = f"{int(placement.gpu_layers)} of {estimate.model.layers} layers"
    return facts(named)


def _remarks(answer: Answer, estimate: Estimate) -> Iterable[Markup]:
    """Remarks that matter when this card is compared with the others."""
    remarks: list[Markup | str] = []
    if estimate.strategy is PlacementStrategy.CPU_OFFLOAD:
        if _fits(answer, PlacementStrategy.GPU_RESIDENT):
            remarks.append("Nothing needs offloading; this is what RAM would give.")
        remarks += _other_ways(answer, estimate)
    if estimate.strategy is PlacementStrategy.NVME_OFFLOAD and estimate.placement is not None:
        remarks += _of_the_drive(answer, estimate, float(estimate.placement.page_cache))
    if estimate.format_note:
        note = estimate.format_note.removesuffix(".")
        remarks.append(f"{capitalised(note)}.")
    remarks += filter(None, [estimate.work.drafting_note])
    if remarks:
        yield block("oa-ways", joined(block("", remark, "p") for remark in remarks))


def _fits(answer: Answer, strategy: PlacementStrategy) -> bool:
    estimate = answer.advice.card(strategy)
    return estimate is not None and bool(estimate.fits)


def _of_the_drive(answer: Answer, estimate: Estimate, cached: float) -> Iterable[str]:
    """Remarks on the part of the file that RAM keeps [B], and on the drive that a speed promised by
    articles would take.
    """
    speed = decode_tps(estimate)
    if _fits(answer, PlacementStrategy.CPU_OFFLOAD):
        yield f"Your RAM holds this; from the drive it would be {tokens_per_second(speed)}."
    elif cached > 0:
        yield f"{memory(cached)} of RAM keep parts of the file cached."
    yield from _faster_from_the_drive(answer, estimate)
    if speed < PROMISED:
        needed = page_cache_for(estimate, PROMISED)
        takes = "no page cache reaches that here"
        if needed is not None:
            takes = f"that takes {memory(needed)} of the file in RAM"
        yield f"Articles promise {PROMISED} tokens/s from a drive; {takes}."


def _faster_from_the_drive(answer: Answer, shown: Estimate) -> Iterable[str]:
    """Fastest engine of all that reads from the drive, where it is another than the shown."""
    placed = answer.advice.placed(PlacementStrategy.NVME_OFFLOAD)
    fastest = max(usable(placed), key=decode_tps, default=shown)
    if fastest.runtime is shown.runtime or decode_tps(fastest) <= decode_tps(shown):
        return
    asks = what_it_asks(fastest)
    yield (
        f"{fastest.runtime.name} reads it from the drive at "
        f"{tokens_per_second(decode_tps(fastest))}: {asks}."
    )


def _other_ways(answer: Answer, shown: Estimate) -> Iterable[Markup]:
    """Speed of the other way to use weights in RAM, and why it differs."""
    in_place = Route.STREAMED not in shown.routes
    others = usable(answer.advice.placed(PlacementStrategy.CPU_OFFLOAD))
    other = next((other for other in others if (Route.STREAMED in other.routes) == in_place), None)
    if other is None:
        return
    text = Markup("{} instead: <b>{}</b> ({}, {}), limited by {}.")
    yield text.format(
        "Streamed to the GPU" if in_place else "Computed in place",
        tokens_per_second(decode_tps(other)),
        other.runtime.name,
        explained(other.model.format),
        other.bottleneck,
    )
    yield explained(
        "In place, the processor reads the weights where they lie. Streamed, they are copied over "
        "the link for each token."
    )


POINTS = 12  # turns that a curve has a point for
HOW_TO_ASK = (
    "How long does an agent's task take here? Choose a session in More settings, or state its "
    "turns and the tokens that each adds."
)


def agent_session(answer: Answer) -> None:
    """Show the session of the request."""
    st.subheader("An agent's session", anchor="session")
    task = answer.advice.task
    if task is None:
        say("The session does not fit here.")
        return
    words = " ".join(sentences(task))
    say(plain_words(words), "oa-why")
    show(
        listed(
            (
                two_lines(plain_words(saved.edit.words), saved.edit.cost),
                "",
                f"saves {seconds(saved.seconds)}",
            )
            for saved in task.saves
        )
    )
    turns = np.arange(1.0, task.session.turns + 1.0)
    steps = np.unique(np.geomspace(1, len(turns), POINTS).round().astype(int)) - 1
    named = {
        "prompts": (turns[steps], task.prefill_tps[steps]),
        "replies": (turns[steps], task.decode_tps[steps]),
    }
    show(curves(named, {}, x_label="turn", y_label="tokens/s", alt=words))


# Weights read in RAM against weights streamed.

MEANING = (
    "In place, the processor reads the weights where they lie and computes for every token. "
    "Streamed, they cross the link once for all tokens of a step, and the GPU computes."
)
COPIED = (
    "llama.cpp and its forks stream by themselves in steps of 32 tokens and more; such steps count "
    "as streamed. In place, prompts are read in micro-batches of 16, which stay on the processor."
)
OVERTAKES = {
    "users": (
        "with up to {:,} users, the most that it has memory for",
        "from the first user on",
        "From about {:,} users on",
        "tokens/s, all together",
    ),
    "tokens of the prompt": (
        "with prompts of up to {:,} tokens",
        "with prompts of every length",
        "From prompts of about {:,} tokens on",
        "prompt tokens/s",
    ),
}
"""Where streaming is never, always and later faster, and the label of its speed, by what grows."""


def _ram_and_drive(answer: Answer) -> None:
    """Chart of the speed over sizes of RAM, with one drive and with two; nothing where neither
    changes it.
    """
    tried = answer.advice.ram_and_drive
    if tried is None:
        return
    st.subheader("RAM against the drive", anchor="ram-and-drive")
    say(tried.words, "oa-strong")
    named = {
        words: (
            np.array([point.ram_gib for point in tried.along(drives)]),
            np.array([point.decode or np.nan for point in tried.along(drives)]),
        )
        for drives, words in NUMBERS_OF_DRIVES.items()
    }
    marks = {tried.now.ram_gib: "yours"}
    alt = "Tokens a second over GB of RAM, with one drive and with two"
    show(curves(named, marks, x_label="GB of RAM", y_label="tokens/s", alt=alt))
    engines = dict.fromkeys(point.runtime for point in tried.points if point.runtime)
    say(f"Each point in the fastest of {', '.join(engines)}.", "oa-why")


def _in_place_or_streamed(answer: Answer) -> None:
    """Charts of both ways, by users and by prompt length."""
    placed = {estimate.strategy for estimate in fitting(answer.advice.estimates)}
    if PlacementStrategy.GPU_RESIDENT not in placed and answer.nouns.machine.gpus:
        title = "Weights read in RAM, or copied to the GPU"
        tabs.folded(title, "open_streaming", lambda: _crossovers(answer))


def _crossovers(answer: Answer) -> None:
    both = _compared(answer)
    if None in both:
        say("Only one of the two ways works here.", "oa-why")
        return
    say(explained(MEANING), "oa-why")
    for column, crossover, grows in zip(st.columns(2, gap="medium"), both, OVERTAKES, strict=True):
        if crossover is not None:
            with column:
                _crossover(crossover, grows)
    say(explained(COPIED))


@st.cache_resource(max_entries=8, ttl=3600, show_spinner=False, hash_funcs={Answer: name_of})
def _compared(answer: Answer) -> tuple[Crossover | None, Crossover | None]:
    return by_users(answer.advice.estimates), by_prompt(answer.advice.estimates)


def _crossover(crossover: Crossover, grows: str) -> None:
    """Chart of both speeds under a sentence on where they cross."""
    never, always, later, y_label = OVERTAKES[grows]
    at = crossover.overtakes
    marks = dict[float, str]()
    if at is None:
        reached = crossover.at[np.isfinite(crossover.streamed.speed)]
        words = f"Streaming is not faster {never.format(int(reached[-1]) if reached.size else 0)}."
    else:
        place = min(int(np.searchsorted(crossover.at, at)), len(crossover.at) - 1)
        over = crossover.in_place.runtimes[place]  # empty where the other is left alone
        who = crossover.streamed.runtimes[place] + (f" over {over}" if over else "")
        words = f"Streaming is faster {always} ({who})."
        if at > crossover.at[0]:
            words = f"{later.format(int(np.ceil(at)))}, streaming is faster ({who})."
            marks = {at: f"from {np.ceil(at):,.0f}"}
    say(words, "oa-strong")
    named = {
        "in place": (crossover.at, crossover.in_place.speed),
        "streamed": (crossover.at, crossover.streamed.speed),
    }
    show(curves(named, marks, x_label=grows, y_label=y_label, alt=words))
